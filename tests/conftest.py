"""What every test has at hand: clock, embedders, bank, data, hypothesis profiles, a model cache of its own.

A missing model or data folder skips the tests that need it, with a reason; where ``CI`` is ``true`` it fails
them instead, so that a green run there has run everything.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import os
import shutil
import ssl
import tempfile
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

import pytest
from hypothesis import HealthCheck, settings

import simonides
from simonides.backends.embedded import bank as embedded_bank
from simonides.backends.embedded import connection, migrations
from simonides.backends.embedded.encryption import encrypts
from simonides.errors import ModelMissingError
from simonides.files import make_empty
from simonides.profiles.environment import NAMES
from simonides.testing.clock import FrozenClock
from simonides.testing.embedder import StubEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from _typeshed import HasFileno

    from simonides.bank import Bank
    from simonides.protocols import Embedder
    from simonides.retain.secrets import Policy
    from simonides.store import Store

ROOT = Path(__file__).parents[1]
IN_CI = os.environ.get("CI") == "true"

# `fast` for every run, `nightly` to search deeper: HYPOTHESIS_PROFILE=nightly make test. `thorough` is for
# bench/run_reliability.py (RELIABILITY_EXAMPLES = other than 10,000), `mutation` for bench/run_mutation.py, which runs the tests once per mutant.
# No deadline and no check for slow generation: on a shared machine both fail without a fault.
_THOROUGH = int(os.environ.get("RELIABILITY_EXAMPLES", "10000"))
for _name, _examples in {"fast": 50, "nightly": 2_000, "thorough": _THOROUGH, "mutation": 15}.items():
    settings.register_profile(
        _name,
        max_examples=_examples,
        deadline=None,
        derandomize=IN_CI or _name == "mutation",
        suppress_health_check=[HealthCheck.too_slow],
    )
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fast"))


# Collection makes some million objects that all stay; looking for garbage among them took a tenth of the run.
gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


def _missing(what: str) -> NoReturn:
    if IN_CI:
        pytest.fail(f"missing: {what}")
    pytest.skip(f"missing: {what}")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Let only tests about durability wait for the disk and run the migrations of every new bank.

    Set before any fixture opens a bank. Programs that a test starts run as the product does.
    """
    durable = "reliability" in item.path.parts or item.get_closest_marker("durable") is not None
    connection.SYNCHRONOUS = "FULL" if durable else "OFF"
    os.fsync = _fsync if durable else _do_not_sync  # type: ignore[assignment] # one signature, two protocols
    vars(embedded_bank)["make_empty"] = make_empty if durable else _make_with_tables


_fsync = os.fsync


def _do_not_sync(_handle: int | HasFileno) -> None:
    """Leave a file to the operating system."""


_RELEASED = migrations.MIGRATIONS


def _make_with_tables(path: Path) -> bool:
    """``make_empty`` of a bank whose tables are there already; they take two thirds of the time of a new bank.

    The file comes into being whole, so that of several threads or processes one makes it.
    """
    if path.name != "memory.db" or migrations.MIGRATIONS is not _RELEASED or encrypts():
        return make_empty(path)
    whole = path.with_name(f"{uuid.uuid4().hex}.new")
    with contextlib.ExitStack() as cleanup:
        try:
            make_empty(whole)
            cleanup.callback(whole.unlink)
            whole.write_bytes(_tables())
            path.hardlink_to(whole)
        except FileExistsError:
            return False
    return True


@functools.cache
def _tables() -> bytes:
    """The database of a bank that holds nothing yet, as the migrations make it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.db"
        connections = connection.Connections(path)
        migrations.migrate(connections)
        connections.close()
        return path.read_bytes()


@pytest.fixture(scope="session", autouse=True)
def _own_folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep tests, and the processes they start, out of the user's folders and off the network."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SIMONIDES_CACHE", str(home / "cache"))
        patch.setenv("SIMONIDES_OFFLINE", "1")
        patch.setenv("XDG_DATA_HOME", str(home / "data"))
        patch.setenv("XDG_CONFIG_HOME", str(home / "config"))
        patch.setenv("TZ", "UTC")
        # Programs that tests start would compile every module anew, which takes longer than the rest of a start.
        patch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
        for name in (
            "SIMONIDES_STORE",
            "SIMONIDES_BANK",
            "SIMONIDES_EMBEDDER",
            "SIMONIDES_SPARSE",
            "SIMONIDES_TRACEBACK",
            "SIMONIDES_KEY",
            "SIMONIDES_KEY_FILE",
            "SIMONIDES_REDACT",
            "SIMONIDES_ZONE",
            *NAMES,
        ):
            patch.delenv(name, raising=False)
        yield


@pytest.fixture
def clock() -> FrozenClock:
    """A clock that stands at 2026-03-01T09:00Z until it is set or advanced."""
    return FrozenClock()


@pytest.fixture
def stub_embedder() -> StubEmbedder:
    """A deterministic embedder of dimension 32 that needs no weights."""
    return StubEmbedder(dimension=32)


@pytest.fixture
def redact() -> Policy | None:
    """What becomes of secrets in ``store``; tests of redaction override it."""
    return None


@pytest.fixture
def store(
    tmp_path: Path, clock: FrozenClock, stub_embedder: StubEmbedder, redact: Policy | None
) -> Iterator[Store]:
    """An empty store with the stub embedder."""
    with simonides.open(
        tmp_path / "store", clock=clock, embedder=stub_embedder, environ={}, redact=redact
    ) as opened:
        yield opened


@pytest.fixture
def bank(store: Store) -> Bank:
    """The owner's view of an empty bank with the stub embedder."""
    return store.bank("diary")


class CopyOf(Protocol):
    def __call__(self, name: str, make: Callable[[Path], Any], to: Path) -> Any: ...


@pytest.fixture(scope="session")
def copy_of(tmp_path_factory: pytest.TempPathFactory) -> CopyOf:
    """Copies a folder of a name to a place; *make* fills the folder where it is asked for first.

    What *make* returned is returned for every copy. It must leave nothing open.
    """
    made: dict[str, tuple[Path, Any]] = {}

    def copy(name: str, make: Callable[[Path], Any], to: Path) -> Any:
        if name not in made:
            folder = tmp_path_factory.mktemp("made")
            made[name] = folder, make(folder)
        folder, result = made[name]
        shutil.copytree(folder, to, dirs_exist_ok=True)
        return result

    return copy


class BankWith(Protocol):
    def __call__(self, name: str, fill: Callable[[Bank], object], bank: str = "diary") -> Bank: ...


@pytest.fixture
def bank_with(store: Store, copy_of: CopyOf) -> BankWith:
    """``bank`` with what *fill* stores; written once under a name, then copied."""

    def with_(name: str, fill: Callable[[Bank], object], bank: str = "diary") -> Bank:
        def make(folder: Path) -> None:
            embedder = StubEmbedder(dimension=32)
            with simonides.open(folder, clock=FrozenClock(), embedder=embedder, environ={}) as made:
                fill(made.bank(bank))

        copy_of(name, make, store.folder)
        return store.bank(bank)

    return with_


@pytest.fixture
def dense_only(tmp_path: Path) -> Path:
    """A profile of the dense channel alone."""
    profile = tmp_path / "dense.toml"
    profile.write_text(
        'extends = "lexical"\norder = ["embedding", "dense", "reciprocal_rank", "token_budget"]\n'
        "[stages.dense]\ndepth = 100\nrescore = 8192\n",
        encoding="utf-8",
    )
    return profile


@pytest.fixture
def plain_http(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests with a server of their own: no proxy on the way, and no second spent on certificates."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(ssl.SSLContext, "load_verify_locations", lambda *_, **__: None)


# Read at import, before `_own_folders` hides it.
_USER_CACHE = os.environ.get("SIMONIDES_CACHE")


@pytest.fixture(scope="session")
def default_embedder() -> Embedder:
    """The real default embedder, read from the user's model cache and never fetched."""
    from simonides.models.resolve import load_embedder  # noqa: PLC0415 - most tests need no model code

    with pytest.MonkeyPatch.context() as patch:
        _use_user_cache(patch)
        try:
            return load_embedder(offline=True)
        except ModelMissingError as error:
            _missing(f"the default embedder's weights; run `simonides models pull` ({error})")


@pytest.fixture
def user_cache(default_embedder: Embedder, monkeypatch: pytest.MonkeyPatch) -> Embedder:
    """Let this test, and the processes it starts, read models from the user's cache (still offline)."""
    _use_user_cache(monkeypatch)
    return default_embedder


def _use_user_cache(patch: pytest.MonkeyPatch) -> None:
    if _USER_CACHE is None:
        patch.delenv("SIMONIDES_CACHE", raising=False)
    else:
        patch.setenv("SIMONIDES_CACHE", _USER_CACHE)


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder that holds LoCoMo and MuSiQue: ``$SIMONIDES_DATA``, else ``../shared/data``."""
    folder = Path(os.environ.get("SIMONIDES_DATA") or ROOT.parent / "shared" / "data")
    if not folder.is_dir():
        _missing(f"the benchmark data; there is no folder {folder}; set SIMONIDES_DATA to one")
    return folder
