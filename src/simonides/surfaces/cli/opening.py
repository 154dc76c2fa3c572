"""From --store, --bank and the settings to an open bank.

The setting ``embedder`` names the embedder (``none`` = no model, ``auto`` = the default one); where no
setting names a store, it lies in the user's data folder. ``SIMONIDES_SPARSE`` names a sparse encoder (unset
or ``none`` = no such model, ``NAME:TERMS`` = with so many terms kept of a text).
"""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simonides.errors import InputError, NotFoundError
from simonides.surfaces.cli.output import say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simonides.bank import Bank
    from simonides.protocols import Embedder
    from simonides.retain.secrets import Policy
    from simonides.surfaces.cli.progress import Report

_REMEDY = "retain something there first, or check --store and --bank"


def home_folder() -> Path | None:
    """The user's; ``None`` where none is known."""
    try:
        return Path.home()
    except RuntimeError:
        return None


def program_path() -> str:
    """The whole path of this program, since another one starts programs with a search path of its own."""
    return shutil.which("simonides") or str(Path(sys.executable).with_name("simonides"))


def data_folder() -> Path:
    """Where a store lies when the caller names none, by the custom of the operating system."""
    home = home_folder()
    if home is None:
        raise InputError("--store", "no home folder is known here; give --store PATH")
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "simonides"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "simonides"
    # The XDG rule: a relative value is to be ignored.
    xdg = os.environ.get("XDG_DATA_HOME", "")
    return (Path(xdg) if Path(xdg).is_absolute() else home / ".local" / "share") / "simonides"


def store_path(option: str | None) -> Path:
    """The store's folder; ``InputError`` when the option is blank or cannot be a path."""
    if option is None:
        return data_folder()
    if not option.strip() or "\0" in option:
        raise InputError("--store", f"{option!r} is not a folder's path")
    # Unlike Path.expanduser, this leaves alone the home of a user who does not exist.
    return Path(os.path.expanduser(option))  # noqa: PTH111


def environment_embedder() -> str | None:
    """The embedder that is set (see ``configuration``): ``"auto"``, a name, or ``None`` for no model."""
    from simonides.surfaces.cli.configuration import value_of

    return embedder_choice(str(value_of("embedder")).strip() or "auto")


def environment_sparse() -> str | None:
    """The sparse encoder that ``SIMONIDES_SPARSE`` asks for; ``None`` for no model."""
    return embedder_choice(os.environ.get("SIMONIDES_SPARSE", "").strip() or "none")


def environment_heavy_reranker() -> str | None:
    """The reranker of the async tier that is set; ``None`` for none."""
    from simonides.surfaces.cli.configuration import value_of

    return embedder_choice(str(value_of("heavy_reranker") or "").strip() or "none")


def redaction(option: str | None = None) -> Policy:
    """What becomes of secrets.

    As the option says, else as it is set; else than off, mask, refuse is an error.
    """
    from simonides.retain.secrets import read_policy
    from simonides.surfaces.cli.configuration import value_of

    if option is not None:
        return read_policy(option, {}, "--redact")
    return read_policy(value_of("redact"), {}, "SIMONIDES_REDACT")


def zone_choice(option: str | None = None) -> dict[str, Any]:
    """Options to open a store with the zone of the option, else the bank's, the setting's, the system's."""
    from simonides.records.interval import VARIABLE, read_zone
    from simonides.surfaces.cli.configuration import found_value

    if option is not None:
        return {"zone": read_zone(option, "--zone")}
    found = found_value("zone")
    if found.value is None:
        return {}
    read_zone(found.value, found.origin if found.origin == VARIABLE else f"{found.origin}: zone")
    return {"environ": {**os.environ, VARIABLE: found.value}}


def embedder_choice(name: str) -> str | None:
    """``none`` (in any case) means no model; every other name is taken as it stands."""
    return None if name.lower() == "none" else name


@contextmanager
def open_for_reading(
    store: str | None,
    bank: str,
    *,
    embedder: str | None = None,
    progress: Report | None = None,
    later: bool = False,
    redact: str | None = None,
    zone: str | None = None,
) -> Iterator[Bank]:
    """A bank that must exist already (else ``NotFoundError``); creates no file or folder.

    *later* = with the models of the async tier, *redact* = what becomes of secrets, *zone* = of times that
    state none; ``None`` = as it is set.
    """
    path = store_path(store)
    if not path.is_dir():
        raise NotFoundError(f"--store: there is no store at {path}; {_REMEDY}")
    from simonides.store import open_store
    from simonides.surfaces.cli.language_model import environment_model

    with open_store(
        path,
        embedder=embedder,
        sparse=environment_sparse(),
        progress=progress,
        create=False,
        redact=redaction(redact),
        answerer=environment_model() if later else None,
        heavy_reranker=environment_heavy_reranker() if later else None,
        **zone_choice(zone),
    ) as opened:
        names = opened.list_banks()
        if bank not in names:
            there = f"banks there: {', '.join(map(repr, names))}" if names else "it holds no bank"
            raise NotFoundError(f"--bank: there is no bank {bank!r} in {path} ({there}); {_REMEDY}")
        yield opened.bank(bank)


@contextmanager
def open_for_writing(
    store: str | None,
    bank: str,
    *,
    progress: Report | None = None,
    encodes: bool = True,
    workers: int = 1,
    redact: str | None = None,
    zone: str | None = None,
) -> Iterator[Bank]:
    """A bank that is made when it does not exist; *encodes* = the embedder will be needed.

    With more than one of *workers*, so many processes encode. *redact* = what becomes of secrets, *zone* = of
    times that state none; ``None`` = as it is set.
    """
    path = store_path(store)
    policy = redaction(redact)
    new = store is None and not path.exists()
    from simonides.store import open_store

    with (
        _embedder_of(path, bank, workers if encodes else 1, progress) as embedder,
        open_store(
            path,
            embedder=embedder,
            sparse=environment_sparse(),
            progress=progress,
            redact=policy,
            **zone_choice(zone),
        ) as opened,
    ):
        # Fetched now if it must be, not inside the first batch, which no interruption cuts short.
        there = opened.bank(bank)
        if new:
            say(f"new store: {path}")
        if encodes:
            _ = there.embedder
            _ = opened.sparse
        yield there


@contextmanager
def _embedder_of(
    path: Path, bank: str, workers: int, progress: Report | None
) -> Iterator[str | Embedder | None]:
    name = environment_embedder()
    if name is None or workers == 1:
        yield name
        return
    from simonides.models.process_embedder import ProcessEmbedder
    from simonides.models.resolve import load_embedder

    name = _model_of(path, bank) if name == "auto" else name
    # Fetched here, once, if it must be, and not by every process.
    load_embedder(name, progress=progress)
    with ProcessEmbedder(partial(load_embedder, name, workers=1), workers) as embedder:
        yield embedder


def _model_of(path: Path, bank: str) -> str:
    """The model that a bank's vectors are of; the default one where there are none yet."""
    from simonides.models.catalogue import DEFAULT_EMBEDDER
    from simonides.store import open_store

    if path.is_dir():
        with open_store(path, embedder=None, sparse=None, create=False, redact="off") as opened:
            if bank in opened.list_banks():
                return opened.bank(bank).stats()["embedder"] or DEFAULT_EMBEDDER
    return DEFAULT_EMBEDDER
