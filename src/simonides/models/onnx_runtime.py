"""onnxruntime and tokenizers, as built models use them: imported late, without telemetry, on the CPU."""

from __future__ import annotations

import os
import re
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

from simonides.errors import ModelDamagedError, ModelError
from simonides.models.cache import remedy
from simonides.text.normalise import fold_characters

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import ModuleType

    from simonides.models.cache import BuiltModel
    from simonides.models.catalogue import PulledRecord


Item = TypeVar("Item")
Outcome = TypeVar("Outcome")


def open_model(record: PulledRecord, built: BuiltModel, threads: int = 1) -> tuple[Any, Any]:
    """Session and tokenizer of a built model; the tokenizer cuts at the model's length and never pads.

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


def in_threads(
    work: Callable[[Item], Outcome], items: Sequence[Item], workers: int, name: str
) -> list[Outcome]:
    """What *work* makes of each item, in order, in up to *workers* threads."""
    if workers == 1 or len(items) < 2:
        return list(map(work, items))
    with ThreadPoolExecutor(min(workers, len(items)), name) as pool:
        return list(pool.map(work, items))


def without_lone_surrogates(text: str) -> str:
    """*text* with U+FFFD for what is no character; tokenizers refuse those."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


# Full-width letters and digits, and the Latin ligatures.
_FORMS = re.compile("[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\ufb00-\ufb06]+")


class TextTokens:
    """Cuts texts into a model's tokens, and tells which of them the model knows.

    Full-width letters and digits and Latin ligatures are read as plain ones. What the model does not know is
    read once more as words are folded for the lexical channel (``text.normalise.fold_characters``), and stays
    so if fewer tokens are unknown then. Nothing else is folded, so a text that the model knows altogether has
    the same tokens as ever.
    """

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        name = getattr(tokenizer.model, "unk_token", None)
        found = None if name is None else tokenizer.token_to_id(name)
        self._unknown: int = -1 if found is None else found  # no token has the number -1

    def ids(self, text: str) -> list[int]:
        """Token ids of *text*, the model's own marks around them."""
        text = without_lone_surrogates(text)
        if not text.isascii():
            text = _FORMS.sub(lambda found: unicodedata.normalize("NFKC", found[0]), text)
        encoding = self._tokenizer.encode(text)
        if self._unknown not in encoding.ids or text.isascii():
            return list(encoding.ids)
        folded, position = [], 0
        for token, (start, stop) in zip(encoding.ids, encoding.offsets, strict=True):
            if token == self._unknown:
                folded += [text[position:start], fold_characters(text[start:stop])]
                position = stop
        again: list[int] = self._tokenizer.encode("".join(folded) + text[position:]).ids
        return again if again.count(self._unknown) < encoding.ids.count(self._unknown) else list(encoding.ids)

    def known(self, ids: Sequence[int]) -> list[bool]:
        """Which of *ids* are tokens that the model knows."""
        return [token != self._unknown for token in ids]

    def says_nothing(self, ids: Sequence[int]) -> bool:
        """Whether *ids*, the marks left out, hold an unknown token and beside such ones only punctuation.

        Whatever such texts say, the model sees the same in all of them.
        """
        return self._unknown in ids and not any(
            any(map(str.isalnum, self._tokenizer.id_to_token(token)))
            for token in ids
            if token != self._unknown
        )
