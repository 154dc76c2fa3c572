"""From a model's name to the model: read from the cache, pulled first when missing and allowed.

``SIMONIDES_OFFLINE=1`` forbids every pull, whatever the caller says.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from simonides.errors import InputError, ModelDamagedError, ModelMissingError
from simonides.models.bert_graph import build_bert
from simonides.models.cache import (
    ON_A_SERVER,
    check_sizes,
    models_folder,
    publish,
    read_model,
    recorded_sums,
    remedy,
    write_model,
)
from simonides.models.catalogue import (
    CATALOGUE,
    CONFIG,
    DEFAULT_EMBEDDER,
    DEFAULT_RERANKER,
    READY,
    RERANKERS,
    SERVED,
    SPARSE,
    TOKENIZER,
    WEIGHTS,
    RerankerRecord,
    SparseRecord,
    find_record,
    find_reranker,
    find_sparse,
)
from simonides.models.fetch import fetch_sources, silent
from simonides.models.onnx_encoder import OnnxEmbedder, checked_dimension
from simonides.models.onnx_file import read_float_tensors
from simonides.models.onnx_reranker import OnnxReranker, build_pair_encoder
from simonides.models.onnx_sparse import MOST_TERMS, TERMS, OnnxSparseEncoder, build_sparse_encoder
from simonides.records.hygiene import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from simonides.models.cache import BuiltModel, Manifest
    from simonides.models.catalogue import ModelRecord, PulledRecord
    from simonides.models.fetch import Progress

_SCRATCH = ".pull-"
_BUILDERS = {RerankerRecord: build_pair_encoder, SparseRecord: build_sparse_encoder}
_ABANDONED_SECONDS = 86_400


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """How one model stands in the cache.

    Attributes:
        record: the model.
        state: ``ready``; ``missing`` (not there, or built by another recipe); or ``damaged``.
        folder: where it is or would be.
        size: bytes of its files, 0 unless ready.
        source: where it was pulled from, empty unless ready.
        problem: what is wrong and what puts it right, empty when ready.
    """

    record: PulledRecord
    state: Literal["ready", "missing", "damaged"]
    folder: Path
    size: int = 0
    source: str = ""
    problem: str = ""


def load_embedder(
    name: str = DEFAULT_EMBEDDER,
    *,
    progress: Progress | None = None,
    offline: bool | None = None,
    threads_per_text: int = 1,
    workers: int | None = None,
    dimension: int | None = None,
) -> OnnxEmbedder:
    """The embedder of that name, pulled first when it is not in the cache.

    Args:
        progress: told how far a pull has come.
        offline: True never pulls; None and False leave it to ``SIMONIDES_OFFLINE``.
        threads_per_text, workers, dimension: as for :class:`OnnxEmbedder`.

    Raises:
        UnknownNameError: no such model.
        ModelMissingError: not in the cache, and not to be had.
        ModelDamagedError: a file's sum is wrong; the message says how to pull it again.
    """
    record = find_record(name)
    checked_dimension(record, dimension)
    built = _built(record, progress, offline=offline)
    return OnnxEmbedder(
        record, built, threads_per_text=threads_per_text, workers=workers, dimension=dimension
    )


def _built(record: PulledRecord, progress: Progress | None, *, offline: bool | None) -> BuiltModel:
    folder = models_folder() / record.name
    try:
        return read_model(record, folder)
    except ModelMissingError:
        pull_model(record.name, progress=progress, offline=offline)
        return read_model(record, folder)


def load_reranker(
    name: str = DEFAULT_RERANKER,
    *,
    progress: Progress | None = None,
    offline: bool | None = None,
    workers: int | None = None,
) -> OnnxReranker:
    """The reranker of that name, pulled first when it is not in the cache; as :func:`load_embedder`."""
    record = find_reranker(name)
    return OnnxReranker(record, _built(record, progress, offline=offline), workers=workers)


def sparse_choice(choice: str) -> tuple[SparseRecord, int]:
    """The model and the number of terms kept of a text, from ``NAME`` or ``NAME:TERMS``.

    Raises:
        UnknownNameError: no sparse encoder has the name.
        InputError: the choice is blank, or the number is none from 1 to ``MOST_TERMS``.
    """
    if not choice.strip():
        raise InputError("sparse", "is blank; give a model's name or None")
    name, colon, number = choice.partition(":")
    record = find_sparse(name)
    if not colon:
        return record, TERMS
    # Six digits are too many already, and int() would refuse thousands of them in words of its own.
    terms = int(number) if number.isascii() and number.isdigit() and len(number) < 6 else 0
    if not 1 <= terms <= MOST_TERMS:
        reason = f"{shown(choice)}: after the colon give how many terms of a text to keep, 1 to {MOST_TERMS}"
        raise InputError("sparse", reason)
    return record, terms


def load_sparse(
    name: str,
    *,
    progress: Progress | None = None,
    offline: bool | None = None,
    workers: int | None = None,
) -> OnnxSparseEncoder:
    """The sparse encoder that :func:`sparse_choice` reads; the rest as of :func:`load_embedder`."""
    record, terms = sparse_choice(name)
    built = _built(record, progress, offline=offline)
    return OnnxSparseEncoder(record, built, terms=terms, workers=workers)


def pull_model(
    name: str = DEFAULT_EMBEDDER, *, progress: Progress | None = None, offline: bool | None = None
) -> ModelStatus:
    """Fetch, check and build a model into the cache, unless a sound one is there.

    As :func:`load_embedder`.
    """
    record = _record(name)
    status = verify_model(name)
    if status.state == "ready":
        return status
    if not isinstance(record, SparseRecord) and record.architecture != "bert":
        raise ModelMissingError(not_built(record))
    if offline or offline_by_environment():
        why = "SIMONIDES_OFFLINE is set" if offline_by_environment() else "offline was asked for"
        raise ModelMissingError(f"{status.problem} with network access ({why})")
    with (
        _writing(name, status.folder.parent) as home,
        tempfile.TemporaryDirectory(prefix=_SCRATCH, dir=home, ignore_cleanup_errors=True) as scratch,
    ):
        _sweep(Path(scratch))
        _pull(record, status.folder, Path(scratch), progress or silent)
    return verify_model(name)


@contextlib.contextmanager
def _writing(name: str, home: Path) -> Iterator[Path]:
    """The folder of models, made when missing; ``ModelMissingError`` when it cannot be written."""
    try:
        home.mkdir(parents=True, exist_ok=True)
        yield home
    except OSError as error:
        raise ModelMissingError(
            f"model {name} cannot be written to {home} ({error.strerror or error}); "
            "make room or set SIMONIDES_CACHE to another folder"
        ) from error


def not_built(record: ModelRecord | RerankerRecord) -> str:
    """Why a model of another architecture than BERT cannot be pulled, and what to do instead."""
    told = f"model {record.name} has the architecture {record.architecture}; only bert can be built here"
    if why := SERVED.get(record.architecture):
        return f"{told}, and {why}: {remedy(record)}"
    (source, *_) = record.sources
    ready = (
        f"{told}. Put {READY} (one file of at most 2 GB, inputs input_ids, attention_mask and perhaps "
        f"token_type_ids) and {TOKENIZER} from {source} into a folder and {remedy(record)}"
    )
    return f"{ready}, or {ON_A_SERVER}" if isinstance(record, RerankerRecord) else ready


def add_model(name: str, folder: Path) -> ModelStatus:
    """Copy a ready ONNX file and its tokenizer into the cache, where the model is found by its name.

    *folder* holds ``model.onnx`` and ``tokenizer.json``; sums are recorded, and checked by every load.

    Raises:
        UnknownNameError: no such model.
        InputError: the model can be pulled, or only a server can run it.
        ModelMissingError: a file is not in *folder*.
        ModelDamagedError: the files cannot be loaded as that model.
    """
    record = _record(name)
    if isinstance(record, SparseRecord) or record.architecture == "bert":
        raise InputError("name", f"{name} is built here; {remedy(record)}")
    if record.architecture in SERVED:
        raise InputError("name", not_built(record))
    try:
        files = {file.name: (folder / file.name).read_bytes() for file in record.files}
    except OSError as error:
        raise ModelMissingError(f"{error.filename}: {error.strerror}; {not_built(record)}") from error
    sums = {file: hashlib.sha256(data).hexdigest() for file, data in files.items()}
    home = models_folder()
    with (
        _writing(name, home),
        tempfile.TemporaryDirectory(prefix=_SCRATCH, dir=home, ignore_cleanup_errors=True) as scratch,
    ):
        made = Path(scratch) / "built"
        onnx, tokenizer = files[READY], files[TOKENIZER]
        write_model(record, made, source="a folder", sources=sums, onnx=onnx, tokenizer=tokenizer)
        built = read_model(record, made)
        # What cannot be loaded is not kept.
        _ = OnnxReranker(record, built) if isinstance(record, RerankerRecord) else OnnxEmbedder(record, built)
        publish(record, made, home / record.name)
    return verify_model(name)


def verify_model(name: str = DEFAULT_EMBEDDER) -> ModelStatus:
    """Read a model's files and check every sum; never fetches, never raises for what it finds."""
    return _status(name, lambda record, folder: read_model(record, folder).manifest)


def embedder_status(name: str = DEFAULT_EMBEDDER) -> ModelStatus:
    """As :func:`verify_model`, but looks only at the manifest and the files' sizes (well below 1 ms)."""
    return _status(name, check_sizes)


def list_models() -> tuple[ModelStatus, ...]:
    """The status of every model of the catalogue, in its order."""
    return tuple(embedder_status(record.name) for record in CATALOGUE)


def list_sparse() -> tuple[ModelStatus, ...]:
    """The status of every sparse encoder of the catalogue, in its order."""
    return tuple(embedder_status(record.name) for record in SPARSE)


def _record(name: str) -> ModelRecord | RerankerRecord | SparseRecord:
    """Of a model of any sort: no two share a name."""
    if name in {record.name for record in SPARSE}:
        return find_sparse(name)
    return find_reranker(name) if name in {record.name for record in RERANKERS} else find_record(name)


def _status(name: str, read: Callable[[PulledRecord, Path], Manifest]) -> ModelStatus:
    record = _record(name)
    folder = models_folder() / record.name
    try:
        manifest = read(record, folder)
    except ModelMissingError as error:
        return ModelStatus(record, "missing", folder, problem=str(error))
    except ModelDamagedError as error:
        return ModelStatus(record, "damaged", folder, problem=str(error))
    return ModelStatus(record, "ready", folder, sum(manifest.sizes.values()), manifest.source)


def _pull(
    record: ModelRecord | RerankerRecord | SparseRecord, folder: Path, scratch: Path, progress: Progress
) -> None:
    fetched = fetch_sources(record, scratch, recorded_sums(folder), progress)
    progress("build", 0, 1)
    build = _BUILDERS.get(type(record), build_bert)
    write_model(
        record,
        scratch / "built",
        source=fetched.source,
        sources=fetched.sums,
        onnx=build(read_float_tensors(fetched.folder / WEIGHTS), _read_config(fetched.folder / CONFIG)),
        tokenizer=(fetched.folder / TOKENIZER).read_bytes(),
    )
    publish(record, scratch / "built", folder)
    progress("build", 1, 1)


def _read_config(path: Path) -> Mapping[str, object]:
    try:
        config = json.loads(path.read_bytes())
    except ValueError as error:
        raise ModelDamagedError(f"{path.name} is not JSON ({error}); pull again") from error
    if not isinstance(config, dict):
        raise ModelDamagedError(f"{path.name} holds a {type(config).__name__}, not an object; pull again")
    return config


def _sweep(scratch: Path) -> None:
    """Delete what pulls that were killed more than a day ago left beside *scratch*."""
    made = scratch.stat().st_mtime
    for other in sorted(scratch.parent.glob(f"{_SCRATCH}*")):
        with contextlib.suppress(OSError):  # another pull may have just ended
            if made - other.stat().st_mtime > _ABANDONED_SECONDS:
                shutil.rmtree(other, ignore_errors=True)


def offline_by_environment() -> bool:
    """Whether ``SIMONIDES_OFFLINE`` forbids the network."""
    return os.environ.get("SIMONIDES_OFFLINE", "").strip().lower() not in {"", "0", "false", "no", "off"}
