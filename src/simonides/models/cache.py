"""Built models on disk: ``<cache>/models/NAME/`` with ``model.onnx``, ``tokenizer.json`` and ``model.json``.

``model.json`` (the manifest) states what the model was built from and the sum of every built file. A folder
is written aside, flushed to disk, and then moved into place as a whole, so a reader never meets half a model;
of two processes that pull at once the second finds the first one's folder and drops its own. Each load reads
a file once, checks its sum (about 15 ms for 23 MB) and hands on those bytes: no unchecked byte reaches the
runtime.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from simonides.errors import ModelDamagedError, ModelMissingError
from simonides.files import SHARED, sync_folder, write_new
from simonides.models.catalogue import READY, SERVED, TOKENIZER

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simonides.models.catalogue import ModelRecord, PulledRecord, SparseRecord

MODEL, MANIFEST = READY, "model.json"

RECIPE = 1
"""Version of the way from source files to vectors; raise it when the graph or the encoder changes them."""

ON_A_SERVER = "hand in a server that runs it (models.remote_reranker.RemoteReranker)"
_ATTEMPTS = 5
_UNREADABLE = (OSError, ValueError, TypeError, KeyError, AttributeError)


@dataclass(frozen=True, slots=True)
class Manifest:
    """What ``model.json`` holds; *recipe* is :data:`RECIPE` of the version that built the model.

    *sources* and *built* map file names to SHA-256 sums, *sizes* built files to bytes.
    """

    name: str
    recipe: int
    source: str
    licence: str
    sources: Mapping[str, str]
    built: Mapping[str, str]
    sizes: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class BuiltModel:
    """The checked bytes of a model, ready to load."""

    onnx: bytes
    tokenizer: bytes
    manifest: Manifest


def models_folder(environment: Mapping[str, str] = os.environ, platform: str = sys.platform) -> Path:
    """The folder of all models.

    ``$SIMONIDES_CACHE/models``, else ``simonides/models`` in the user's cache.
    """
    if chosen := environment.get("SIMONIDES_CACHE"):
        return Path(chosen).expanduser() / "models"
    try:
        home = Path(environment.get("HOME") or Path.home())
    except RuntimeError as error:
        raise ModelMissingError(
            "no home folder to keep models in; set SIMONIDES_CACHE to a folder"
        ) from error
    if platform == "win32":
        base = Path(environment.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif platform == "darwin":
        base = home / "Library" / "Caches"
    else:
        base = Path(environment.get("XDG_CACHE_HOME") or home / ".cache")
    return base / "simonides" / "models"


def fingerprint(record: ModelRecord, manifest: Manifest, dimension: int | None = None) -> str:
    """``NAME:`` and 32 hexadecimal digits that change whenever the vectors would.

    *dimension* is the length to which vectors are cut; ``None`` = they are not.
    """
    material: dict[str, object] = {
        "recipe": RECIPE,
        "sources": dict(manifest.sources),
        "pooling": record.pooling,
        "max_tokens": record.max_tokens,
        "query_prefix": record.query_prefix,
        "text_prefix": record.text_prefix,
    }
    if dimension is not None:
        material |= {"dimension": dimension, "centred": record.centred_cut}
    digest = hashlib.sha256(json.dumps(material, sort_keys=True).encode())
    return f"{record.name}:{digest.hexdigest()[:32]}"


def sparse_fingerprint(record: SparseRecord, manifest: Manifest, terms: int) -> str:
    """``NAME:`` and 32 hexadecimal digits that change whenever the entries of a text would."""
    material = {
        "recipe": RECIPE,
        "sources": dict(manifest.sources),
        "max_tokens": record.max_tokens,
        "terms": terms,
    }
    digest = hashlib.sha256(json.dumps(material, sort_keys=True).encode())
    return f"{record.name}:{digest.hexdigest()[:32]}"


def remedy(record: PulledRecord) -> str:
    """What puts a model right, for error messages."""
    if record.architecture in SERVED:
        return ON_A_SERVER
    if record.architecture == "bert":
        return f"run `simonides models pull {record.name}`"
    return f"run `simonides models add {record.name} FOLDER` with a folder of {READY} and {TOKENIZER}"


def read_manifest(record: PulledRecord, folder: Path) -> Manifest:
    """The manifest of a built model, checked against the catalogue.

    Raises:
        ModelMissingError: there is none, or another recipe built it.
        ModelDamagedError: it cannot be read, or states other sources than the catalogue.
    """
    path = folder / MANIFEST
    try:
        manifest = _parse(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        raise ModelMissingError(f"model {record.name} is not in {folder.parent}; {remedy(record)}") from None
    except _UNREADABLE as error:
        raise ModelDamagedError(f"{path} cannot be read ({error}); {remedy(record)}") from error
    if manifest.recipe != RECIPE:
        raise ModelMissingError(
            f"model {record.name} in {folder} was built by recipe {manifest.recipe}, this version needs "
            f"{RECIPE}; {remedy(record)}"
        )
    if manifest.name != record.name:
        raise ModelDamagedError(f"{path} is of model {manifest.name}, not {record.name}; {remedy(record)}")
    for file in record.files:
        found = manifest.sources.get(file.name)
        if found is None or found != (file.sha256 or found):
            raise ModelDamagedError(
                f"{path} states sha256 {found} for {file.name}, the catalogue {file.sha256}; {remedy(record)}"
            )
    return manifest


def recorded_sums(folder: Path) -> Mapping[str, str]:
    """Source file name → sha256 of an earlier pull, whatever its recipe; empty when nothing can be read."""
    try:
        return _parse((folder / MANIFEST).read_bytes()).sources
    except _UNREADABLE:
        return {}


def check_sizes(record: PulledRecord, folder: Path) -> Manifest:
    """The manifest of a built model whose files have the right sizes.

    Sums are not checked, see ``read_model``.
    """
    manifest = read_manifest(record, folder)
    for path in (folder / MODEL, folder / TOKENIZER):
        expected, found = manifest.sizes.get(path.name), path.stat().st_size if path.is_file() else 0
        if found != expected:
            raise ModelDamagedError(f"{path} has {found} bytes, not {expected}; {remedy(record)}")
    return manifest


def read_model(record: PulledRecord, folder: Path) -> BuiltModel:
    """Read a built model and check every sum.

    Raises:
        ModelMissingError: it is not there.
        ModelDamagedError: a file is absent, cut or changed.
    """
    manifest = read_manifest(record, folder)
    contents = {name: _read_checked(record, manifest, folder / name) for name in (MODEL, TOKENIZER)}
    return BuiltModel(contents[MODEL], contents[TOKENIZER], manifest)


def _read_checked(record: PulledRecord, manifest: Manifest, path: Path) -> bytes:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ModelDamagedError(f"{path} cannot be read ({error.strerror}); {remedy(record)}") from error
    if hashlib.sha256(data).hexdigest() != manifest.built.get(path.name):
        raise ModelDamagedError(
            f"{path} ({len(data):,} bytes, {manifest.sizes.get(path.name, 0):,} expected) is damaged: "
            f"its sha256 is wrong; {remedy(record)}"
        )
    return data


def write_model(
    record: PulledRecord,
    folder: Path,
    *,
    source: str,
    sources: Mapping[str, str],
    onnx: bytes,
    tokenizer: bytes,
) -> None:
    """Write a built model and its manifest into a new *folder*, flushed to disk."""
    files = {MODEL: onnx, TOKENIZER: tokenizer}
    manifest = Manifest(
        name=record.name,
        recipe=RECIPE,
        source=source,
        licence=record.licence,
        sources=dict(sources),
        built={name: hashlib.sha256(data).hexdigest() for name, data in files.items()},
        sizes={name: len(data) for name, data in files.items()},
    )
    folder.mkdir()
    files[MANIFEST] = json.dumps(asdict(manifest), indent=2, sort_keys=True).encode()
    for name, data in files.items():
        write_new(folder / name, [data], SHARED)
    sync_folder(folder)


def publish(record: PulledRecord, built: Path, folder: Path) -> None:
    """Move the finished folder *built* to *folder*, unless a sound model is there by now.

    A damaged or outdated folder is moved beside *built*, whose parent the caller deletes.
    """
    for attempt in range(_ATTEMPTS):
        try:
            built.replace(folder)
        except OSError:
            if attempt == _ATTEMPTS - 1 or not folder.exists():
                raise
        else:
            sync_folder(folder.parent)
            return
        try:
            read_model(record, folder)
        except (ModelMissingError, ModelDamagedError):
            folder.replace(built.with_name(f"replaced-{attempt}"))
        else:
            return


def _parse(data: bytes) -> Manifest:
    fields = json.loads(data)
    return Manifest(
        name=str(fields["name"]),
        recipe=int(fields["recipe"]),
        source=str(fields["source"]),
        licence=str(fields["licence"]),
        sources={str(name): str(digest) for name, digest in fields["sources"].items()},
        built={str(name): str(digest) for name, digest in fields["built"].items()},
        sizes={str(name): int(size) for name, size in fields["sizes"].items()},
    )
