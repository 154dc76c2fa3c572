"""A store: a folder of banks, one embedder, one clock."""

from __future__ import annotations

import os
import threading
import time
from contextlib import suppress
from datetime import UTC, datetime, tzinfo
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from simonides.bank import Bank
from simonides.deprecations import STORE_METHODS, answers_old_names
from simonides.errors import (
    InputError,
    NotFoundError,
    ReplacedError,
    SimonidesError,
    StoreError,
    UnavailableError,
)
from simonides.files import disk_errors, make_folder
from simonides.forking import Origin
from simonides.models.on_demand import (
    EmbedderSource,
    RerankerSource,
    SparseSource,
    check_models,
    check_parts,
)
from simonides.models.token_counters import load_token_counter
from simonides.profiles.environment import environment_overrides
from simonides.recall.helping.running import Threads
from simonides.records.hygiene import clean_label, clean_text, shown
from simonides.records.interval import default_zone, parse_time, read_zone
from simonides.retain.expansion import QuestionRules
from simonides.retain.extraction.extractor import RuleExtractor
from simonides.retain.screening import Redactor
from simonides.retain.secrets import read_policy
from simonides.services.context import StoreParts
from simonides.services.guarding import Guard
from simonides.storage.folder import folder_name, sweep_store
from simonides.storage.storage import check_audit_key, open_storage, read_key
from simonides.text.analyser import TextAnalyser
from simonides.text.times.expressions import find_stated_times

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from simonides.models.fetch import Progress
    from simonides.protocols import (
        Answerer,
        Clock,
        Embedder,
        Expander,
        Extractor,
        Judge,
        Reranker,
        SparseEncoder,
        TokenCounter,
    )
    from simonides.retain.secrets import Policy
    from simonides.storage.bank import BankStorage


_MOST_CHANNEL_THREADS = 64
_LONGEST_PATH = 4096


def open_store(
    path: str | Path,
    *,
    clock: Clock | None = None,
    embedder: str | Embedder | None = "auto",
    dimension: int | None = None,
    sparse: str | SparseEncoder | None = None,
    language: str = "english",
    zone: tzinfo | str | None = None,
    tokens: str | TokenCounter = "approximate",
    extractor: Extractor | None = None,
    expander: Literal["rules"] | Expander | None = "rules",
    reranker: str | Reranker | None = None,
    judge: Judge | None = None,
    token_codes: bool = True,
    create: bool = True,
    progress: Progress | None = None,
    environ: Mapping[str, str] | None = None,
    redact: Policy | None = None,
    audit_key: bytes | None = None,
    answerer: Answerer | None = None,
    timer: Callable[[], float] = time.perf_counter,
    key: bytes | PathLike[str] | None = None,
    heavy_reranker: str | Reranker | None = None,
    warm: bool = False,
    channel_threads: int = 0,
) -> Store:
    """Open a folder of banks; it is made when it is missing.

    Args:
        path: the folder.
        clock: callable that returns an aware datetime; default: the system's clock.
        embedder: ``"auto"`` (the default model, fetched at first use), the name of a catalogued model, your
            own ``protocols.Embedder``, or ``None`` for keyword search only.
        dimension: to which the vectors of a catalogued embedder are cut, as far as it was trained for that;
            ``None`` = not cut. A bank keeps the dimension it began with.
        sparse: the name of a catalogued sparse encoder such as ``"splade-tiny"`` (fetched at first use), your
            own ``protocols.SparseEncoder``, or ``None`` (the default): memories get no learned sparse terms,
            and the channel that needs them is passed over. ``"splade-tiny:32"`` keeps the 32 heaviest terms
            of a text in place of 128: 3 bytes a term. A bank keeps the number it began with.
        language: of stemming and stop-words; ``"none"`` for neither.
        zone: of times that state none, and of the days that words such as "yesterday" mean: a ``tzinfo`` or a
            name such as ``"Europe/Berlin"``. ``None`` = each bank's own (``Bank.set_zone``), else the
            variable ``SIMONIDES_ZONE``, else the system's.
        extractor: finds names, relations and dates in what is retained; default: built-in rules.
        expander: asks the questions that a memory answers, which are searched beside its text: ``"rules"``
            (built-in), your own ``protocols.Expander``, or ``None`` for none.
        tokens: counts tokens for budgets: ``"approximate"`` (no vocabulary, the same everywhere),
            ``"wordpiece"``, ``"cl100k_base"``, ``"o200k_base"``, or your own ``protocols.TokenCounter``.
        reranker: reads query and memory together, in profiles that have a place for it: the name of a
            catalogued model (fetched at first use), your own ``protocols.Reranker`` (such as
            ``models.remote_reranker.RemoteReranker``), or ``None``. One that cannot be had leaves the fused
            order, and the trace says so.
        judge: a language model that judges candidates, in profiles with a stage ``llm_judge`` (no built-in
            one has it): your own ``protocols.Judge`` (such as ``models.llm_judge.LlmJudge``, which loads its
            client at first use), or ``None``. One that fails leaves the fused order, and the trace says so.
        token_codes: whether the vectors of a text's tokens are stored, too, one bit per dimension (at most
            1.8 kB a memory), for late interaction; needs an embedder that offers them, as the default one.
        create: whether missing folders and banks are made.
        progress: told (stage, done, total or None) while a model is fetched.
        environ: variables ``SIMONIDES_RECALL_BUDGET_…`` and ``SIMONIDES_RERANKER_MAX_CANDIDATES`` that change
            numbers of a profile, ``SIMONIDES_KEY`` or ``SIMONIDES_KEY_FILE`` where no *key* is given, and
            ``SIMONIDES_REDACT`` where no *redact* is, and ``SIMONIDES_ZONE`` where no *zone* is, read now and
            once; default: ``os.environ``; ``{}`` = none.
        redact: what becomes of secrets (keys, tokens, passwords in URLs …) in what is written, by whichever
            verb: ``"off"``, ``"mask"`` (a placeholder such as ``[REDACTED:aws_key]`` is stored), or
            ``"refuse"``. With either of the last two no message repeats one. ``None`` = the variable
            ``SIMONIDES_REDACT``, or off where it is not set.
        audit_key: seals the audit log of every bank, at least 16 bytes; it is stored nowhere. ``None`` = a
            bank is audited if ``Bank.start_audit`` has made a key beside it.
        answerer: language model that ``Bank.reflect`` asks, such as ``models.llm.LanguageModel``; helpers of
            the async tier ask it about queries.
        timer: seconds by which traces and deadlines go, on a clock that never goes back; by default wall
            time. With ``time.thread_time`` a trace says what CPU each stage took in its own thread.
        key: encrypts every bank of the store: 32 bytes, or the path of a file with 64 hexadecimal digits that
            not everybody can read. ``None`` = that of the environment, or no encryption where there is none.
            Needs the package ``apsw-sqlite3mc`` in place of ``apsw``.
        heavy_reranker: reads up to 100 candidates again in the async tier alone: like *reranker*.
        warm: whether each bank is warmed when it is first opened, see ``Bank.warm``.
        channel_threads: threads that run the channels of a recall side by side, 0 to 64; the answers are the
            same. 0 = one channel after the other, which mostly takes less CPU, and less time on busy cores,
            because the built-in ones compute rather than wait; worth trying with channels of your own that
            ask a service.

    Raises:
        UnavailableError: the folder cannot be made, or is missing and *create* is false.
        InputError: an argument is wrong.
        MissingExtraError: there is a key, and the SQLite that is loaded cannot encrypt.
    """
    check_parts(
        clock=clock,
        embedder=embedder,
        sparse=sparse,
        tokens=tokens,
        expander=expander,
        reranker=reranker,
        judge=judge,
        answerer=answerer,
        heavy_reranker=heavy_reranker,
    )
    variables = os.environ if environ is None else environ
    policy = read_policy(redact, variables)
    _check_values(audit_key, channel_threads)
    own_zone = zone is None
    zone = default_zone(variables) if zone is None else read_zone(zone)
    # Before anything is made: a wrong argument changes nothing.
    check_models(embedder, dimension, (reranker, heavy_reranker), sparse)
    analyser = TextAnalyser(language)
    counter = load_token_counter(tokens) if isinstance(tokens, str) else tokens
    settings = environment_overrides(variables)
    secret = read_key(key, variables)
    source, sparse_source = EmbedderSource(embedder, progress, dimension), SparseSource(sparse, progress)
    threads = _ChannelThreads(channel_threads) if channel_threads else None
    parts = StoreParts(
        clock=_system_clock if clock is None else clock,
        zone=zone,
        own_zone=own_zone,
        analyser=analyser,
        tokens=counter,
        extractor=RuleExtractor(find_stated_times) if extractor is None else extractor,
        expander=QuestionRules() if expander == "rules" else expander,
        embedder=source,
        executor=threads,
        reranker=RerankerSource(reranker, progress).get,
        token_codes=token_codes,
        settings=settings,
        judge=judge,
        sparse=sparse_source.get,
        redact=policy,
        answerer=answerer,
        timer=timer,
        heavy_reranker=RerankerSource(heavy_reranker, progress).get,
    )
    return Store(
        _folder(path, create=create),
        parts,
        source,
        sparse_source,
        threads,
        create=create,
        warm=warm,
        audit_key=audit_key,
        key=secret,
    )


def _check_values(audit_key: object, channel_threads: object) -> None:
    if audit_key is not None:
        if not isinstance(audit_key, bytes):
            raise InputError("audit_key", f"expected bytes, got {type(audit_key).__name__}")
        check_audit_key(audit_key)
    if type(channel_threads) is not int or not 0 <= channel_threads <= _MOST_CHANNEL_THREADS:
        raise InputError(
            "channel_threads",
            f"{shown(channel_threads)} is not a whole number from 0 to {_MOST_CHANNEL_THREADS}",
        )


def _folder(path: object, *, create: bool) -> Path:
    """The store's folder, which is there afterwards."""
    if not isinstance(path, str | PathLike):
        raise InputError("path", f"expected the path of a folder, got {shown(path)}")
    name = clean_text(fspath(path), "path", _LONGEST_PATH)
    if not name.strip():
        raise InputError("path", "is blank; name a folder, '.' for the current one")
    folder = Path(name)
    with disk_errors(folder, "opened"):
        if folder.is_dir():
            with suppress(OSError):
                sweep_store(folder)
            return folder
        if not create:
            raise UnavailableError(f"{folder}: there is no store; retain something first, or name another")
    make_folder(folder)
    return folder


def _system_clock() -> datetime:
    return datetime.now(UTC)


@Guard(
    origin=lambda store: store._origin,  # noqa: SLF001 the decorator is of this class
    folder=lambda store: store.folder,
    policy=lambda store: store._parts.redact,  # noqa: SLF001 see above
    silent=("close",),
)
@answers_old_names(STORE_METHODS)
class Store:
    """Banks under one folder; made by ``open_store``. A context manager; usable from several threads."""

    def __init__(
        self,
        folder: Path,
        parts: StoreParts,
        source: EmbedderSource,
        sparse: SparseSource,
        threads: _ChannelThreads | None,
        *,
        create: bool,
        warm: bool,
        audit_key: bytes | None,
        key: Any,
    ) -> None:
        self.folder = folder
        self._source = source
        self._sparse = sparse
        self._executor = threads
        self._parts = parts
        self._storage = open_storage(folder, audit_key=audit_key, key=key)
        self._create = create
        self._warm = warm
        self._banks: dict[str, BankStorage] = {}
        self._doors: dict[tuple[str, str | None], Bank] = {}
        self._lock = threading.Lock()
        self._origin = Origin(str(folder))
        self._closed = False

    def bank(self, name: str = "default", *, principal: str | None = None) -> Bank:
        """A bank by name, made when it is missing.

        One that is open and whose file was replaced since is opened anew.

        Args:
            name: any text; differing names never share a folder.
            principal: who acts; ``None`` = the owner, who sees all.

        Raises:
            InputError: the name cannot be a bank's.
            UnavailableError: it is missing and the store was opened with ``create=False``.
        """
        redactor = Redactor(self.redact)
        if principal is not None:
            redactor.name(clean_label(principal, "principal"), "principal")
        # Its folder bears the name.
        redactor.name(name, "bank")
        folder_name(name)
        with self._lock:
            if self._closed:
                raise StoreError(f"{self.folder}: the store is closed; open it again")
            if name in self._banks and self._banks[name].replaced and self.has_bank(name):
                self._close_replaced(name)
            fresh = name not in self._banks
            if fresh:
                self._banks[name] = self._storage.open(name, self._parts.analyser, create=self._create)
            door = (name, principal)
            if door not in self._doors:
                self._doors[door] = Bank(name, self._banks[name], principal, self._parts)
            opened = self._doors[door]
        if fresh and self._warm:
            opened.warm()
        return opened

    def has_bank(self, name: str) -> bool:
        """Whether there is a bank of this name.

        Raises:
            InputError: the name cannot be a bank's.
        """
        return self._storage.has(name)

    def close_bank(self, name: str) -> None:
        """Close a bank that nobody uses now; ``bank`` opens it again. Nothing where it is not open."""
        with self._lock:
            self._close(name)

    def _close(self, name: str) -> None:
        rows = self._banks.pop(name, None)
        for door in [door for door in self._doors if door[0] == name]:
            del self._doors[door]
        if rows is not None:
            self._close_rows(rows)

    def _close_replaced(self, name: str) -> None:
        rows = self._banks[name]
        self._close_rows(rows)
        if rows.log_in_the_way:
            raise ReplacedError(
                f"{rows.folder}: memory.db was replaced, and memory.db-wal belongs to the old one; close "
                "whatever has the bank open and move the log away, with the old file"
            )
        self._close(name)

    def replaced_banks(self) -> list[str]:
        """Names of open banks whose files were moved away or replaced since, sorted."""
        with self._lock:
            return sorted(name for name, rows in self._banks.items() if rows.replaced)

    def delete_bank(self, name: str) -> None:
        """Delete a bank with every memory, version and file of it, for good.

        Whoever has it open, here or in another process, gets a ``StoreError`` from then on.

        Raises:
            InputError: the name cannot be a bank's.
            NotFoundError: there is none of this name.
            UnavailableError: its folder cannot be taken away, or bytes of it would stay under a link or
                another name, and nothing was changed; or files of it could not be removed. The message says
                which.
        """
        with self._lock:
            if not self.has_bank(name):
                raise NotFoundError(f"there is no bank {name!r} in {self.folder}")
            self._storage.check_removable(name)
            rows = self._banks.pop(name, None)
            for door in [door for door in self._doors if door[0] == name]:
                del self._doors[door]
            if rows is not None:
                rows.close()
            self._storage.delete(name)

    def _close_rows(self, rows: BankStorage) -> None:
        # What recalls were asked to count still waits in memory; closing does not fail for it, nor
        # for a clock that gives no aware time (TypeError), which every other call has named already.
        with suppress(SimonidesError, TypeError):
            rows.flush(parse_time(self._parts.clock(), "clock").start)
        rows.close()

    def count_tokens(self, text: str) -> int:
        """Tokens of a text as they are counted for budgets."""
        return self._parts.tokens.count(text)

    @property
    def redact(self) -> Policy:
        """What becomes of secrets in what is written: off, mask or refuse."""
        return self._parts.redact

    @property
    def encrypted(self) -> bool:
        """Whether the banks are encrypted."""
        return self._storage.encrypted

    @property
    def embedder_problem(self) -> str:
        """Why recall uses keyword search only although an embedder was asked for; empty = so far not."""
        return self._source.problem

    def list_banks(self) -> list[str]:
        """Names of the banks there are, sorted."""
        return self._storage.names()

    @property
    def embedder(self) -> Embedder | None:
        """The embedder in use (loaded now if it was not yet), or ``None``."""
        return self._source()[0]

    @property
    def sparse(self) -> SparseEncoder | None:
        """The sparse encoder in use (loaded now if it was not yet), or ``None``."""
        return self._sparse.get()[0]

    def close(self) -> None:
        """Close every bank; may be called again. Waits for jobs at work; those that wait stay for later."""
        self._parts.jobs.close()
        with self._lock:
            self._closed = True
            for rows in self._banks.values():
                self._close_rows(rows)
            self._banks.clear()
            self._doors.clear()
        if self._executor is not None:
            self._executor.close()

    def __repr__(self) -> str:
        return f"Store({str(self.folder)!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _ChannelThreads(Threads):
    """Runs channels side by side; says what happened when the store was closed under a recall."""

    def __init__(self, count: int) -> None:
        super().__init__(count, "simonides-channel")
        self._lock = threading.Lock()
        self._closed = False

    def submit(self, work: Callable[[], None], /) -> None:
        with self._lock:
            if self._closed:
                raise StoreError("the store was closed during a recall; open it again")
            super().submit(work)

    def close(self) -> None:
        with self._lock:
            self._closed = True
        super().close()
