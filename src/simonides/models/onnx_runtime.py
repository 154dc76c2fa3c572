"""onnxruntime and tokenizers, as built models use them: imported late, without telemetry, on the CPU."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from simonides.errors import ModelDamagedError, ModelError
from simonides.models.cache import remedy

if TYPE_CHECKING:
    from types import ModuleType

    from simonides.models.cache import BuiltModel
    from simonides.models.catalogue import ModelRecord, RerankerRecord, SparseRecord


def open_model(
    record: ModelRecord | RerankerRecord | SparseRecord, built: BuiltModel, threads: int = 1
) -> tuple[Any, Any]:
    """Session and tokenizer of a built model; the tokenizer cuts at the model's length and never pads.

    Args:
        record: what the model is.
        built: its checked files.
        threads: for one run.

    Raises:
        ModelDamagedError: the files have the right sums, but cannot be loaded.
        ModelError: onnxruntime or tokenizers cannot be imported.
    """
    runtime, tokenizers = import_runtime()
    try:
        session = open_session(runtime, built.onnx, threads)
        tokenizer = tokenizers.Tokenizer.from_str(built.tokenizer.decode())
        # The packaged file may pad, and cut earlier than the model allows.
        tokenizer.no_padding()
        tokenizer.enable_truncation(max_length=record.max_tokens, strategy="longest_first")
    except Exception as error:  # both libraries raise bare exceptions
        raise ModelDamagedError(
            f"model {record.name} cannot be loaded ({error}); {remedy(record)}"
        ) from error
    return session, tokenizer


def import_runtime() -> tuple[ModuleType, ModuleType]:
    """The packages onnxruntime and tokenizers; ``ModelError`` if they cannot be imported."""
    # Official onnxruntime builds report usage over the network unless told not to before they are imported,
    # or by a call if something else imported them earlier. This engine promises to use no network by itself.
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    os.environ.setdefault("ORT_TELEMETRY_DISABLED", "1")
    try:
        import onnxruntime  # noqa: PLC0415 - 0.2 s, and recall without a model works without it
        import tokenizers  # noqa: PLC0415 - same
    except ImportError as error:
        raise ModelError(
            f"embedders need onnxruntime and tokenizers, which cannot be imported ({error}); reinstall "
            "simonides, or open the store with embedder=None"
        ) from error
    if os.environ["ORT_DISABLE_TELEMETRY"] == "1":
        onnxruntime.disable_telemetry_events()
    return onnxruntime, tokenizers


def open_session(runtime: ModuleType, model: bytes, threads: int) -> Any:
    """A session of onnxruntime on the CPU, with so many threads for one run."""
    options = runtime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # On x86 without VNNI the fast int8 product saturates at 16 bits (measured: vectors at a cosine of 0.98 to
    # those of other machines); this asks for the exact product there and changes nothing elsewhere.
    options.add_session_config_entry("session.x64quantprecision", "1")
    return runtime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def cores() -> int:
    """How many cores this process may use."""
    # Containers are often given fewer cores than the machine has; not every system can tell.
    allowed = getattr(os, "sched_getaffinity", None)
    return len(allowed(0)) if allowed else os.cpu_count() or 1


def without_lone_surrogates(text: str) -> str:
    """*text* with U+FFFD for what is no character; tokenizers refuse those."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
