"""What the services of one bank share: its rows, who acts, and what the store provides."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

from simonides.errors import InputError, NotFoundError
from simonides.options import check
from simonides.recall.helping.running import JobRunner
from simonides.records.audit import ReadAudit
from simonides.records.hygiene import MAX_ID_BYTES, clean_text
from simonides.records.interval import parse_time, read_zone
from simonides.records.stamps import coarsened
from simonides.records.time_to_live import ERASE
from simonides.retain.echo import RecentAnswers
from simonides.retain.extraction.known_names import KnownNames
from simonides.retain.screening import Redactor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from contextlib import AbstractContextManager
    from datetime import tzinfo

    from simonides.options import Option
    from simonides.profiles.environment import Setting
    from simonides.protocols import (
        Analyser,
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
    from simonides.recall.pipeline import Submits
    from simonides.records.memory import Memory
    from simonides.records.model_identity import ModelIdentity
    from simonides.records.versions import StoredVersion
    from simonides.retain.secrets import Policy
    from simonides.storage.bank import BankStorage
    from simonides.storage.reader import Reader
    from simonides.storage.writer import WriteTransaction

# Known names take about 30 MB for each set of readers in a bank of 100,000 names.
_MAX_READERS = 4


class EmbedderProvider(Protocol):
    """Provides the embedder of a bank."""

    def __call__(self, model: ModelIdentity = ...) -> tuple[Embedder | None, str]:
        """The embedder for a bank whose vectors are of *model*, or ``None`` and the reason.

        It is another one than *model* where the store was opened with another. An empty *model* means that
        the bank has no vectors yet.
        """
        ...

    def cached(self, model: ModelIdentity) -> Embedder | None:
        """The embedder with exactly this identity, if it can be loaded without fetching it."""
        ...

    def adopt(self, model: str | Embedder, dimension: int | None) -> Embedder:
        """Register the embedder that a bank migrates to; raises as ``open_store``."""
        ...


@dataclass(frozen=True, slots=True)
class StoreParts:
    """What a store provides to its banks.

    Attributes:
        own_zone: whether a bank's own zone takes precedence over *zone*.
        embedder: provides the embedder of a bank, loaded at first use.
        executor: runs channels side by side; ``None`` = one after the other.
        reranker: gives the store's reranker (loaded at first use), or ``None`` and the reason.
        token_codes: whether codes of tokens are stored.
        settings: changes to profiles that environment variables make, by variable.
        judge: of the store; only profiles with a stage for it get it.
        sparse: gives the store's sparse encoder (loaded at first use), or ``None`` and the reason.
        redact: what happens to secrets in what is retained.
        answerer: the language model that ``reflect`` and the helpers ask, or ``None``.
        timer: seconds, for the traces.
        heavy_reranker: the same for the reranker of the async tier.
        jobs: runs recalls of the async tier.
    """

    clock: Clock
    zone: tzinfo
    own_zone: bool
    analyser: Analyser
    tokens: TokenCounter
    extractor: Extractor
    expander: Expander | None
    embedder: EmbedderProvider
    executor: Submits | None
    reranker: Callable[[], tuple[Reranker | None, str]]
    token_codes: bool
    settings: Mapping[str, Setting] = field(default_factory=dict)
    judge: Judge | None = None
    sparse: Callable[[], tuple[SparseEncoder | None, str]] = lambda: (None, "")
    redact: Policy = "off"
    answerer: Answerer | None = None
    timer: Callable[[], float] = time.perf_counter
    heavy_reranker: Callable[[], tuple[Reranker | None, str]] = lambda: (None, "")
    jobs: JobRunner = field(default_factory=JobRunner)


class NameCache:
    """The names of a bank's entities by their readers; thread-safe, each call reads only what is new."""

    def __init__(self) -> None:
        self._names: dict[tuple[str, ...] | None, tuple[KnownNames, int]] = {}
        self._changed = 0
        self._lock = threading.Lock()

    def names(self, reading: Reader, readers: tuple[str, ...] | None) -> KnownNames:
        """The names that all *readers* may know of; ``None`` = the owner, who knows all."""
        with self._lock:
            changed = reading.names_changed()
            if changed != self._changed:
                self._names, self._changed = {}, changed
            known, read = self._names.pop(readers, (KnownNames(), 0))
            fresh, read = reading.names(read, readers)
            for name in fresh:
                known.add(name)
            # The set used last is the last in the dictionary, so the first one is dropped.
            self._names[readers] = known, read
            while len(self._names) > _MAX_READERS:
                del self._names[next(iter(self._names))]
            return known

    def clear(self) -> None:
        """Drop all names."""
        with self._lock:
            self._names = {}


@dataclass(frozen=True, slots=True)
class BankContext:
    """What the services of one bank share.

    Attributes:
        principal: who acts; ``None`` = the owner, who sees all.
        answers: texts that recalls returned, which are not retained again.
        names: cache of the names of entities.
        checked: whether callers have checked values of options already, as interfaces do.
    """

    name: str
    principal: str | None
    rows: BankStorage
    parts: StoreParts
    answers: RecentAnswers = field(default_factory=RecentAnswers)
    names: NameCache = field(default_factory=NameCache)
    checked: bool = False

    @property
    def author(self) -> str:
        """The principal as rows name it; empty = the owner."""
        return self.principal or ""

    @property
    def zone(self) -> tzinfo:
        """The zone of times that state none."""
        own = self.rows.settings.zone if self.parts.own_zone else None
        return self.parts.zone if own is None else own

    def with_parts(self, **parts: Any) -> BankContext:
        """The same bank with other parts of the store; caches stay shared."""
        return replace(self, parts=replace(self.parts, **parts))

    def in_zone(self, zone: object) -> BankContext:
        """The same bank for a call that names a zone; ``None`` = it names none."""
        return self if zone is None else self.with_parts(zone=read_zone(zone), own_zone=False)

    def check(self, options: Iterable[Option], values: Mapping[str, Any]) -> dict[str, Any]:
        """The value of every option, checked (see ``options.check``) unless its caller did.

        Times are left as given.
        """
        if self.checked:
            return {each.name: values.get(each.name, each.default) for each in options}
        return check(options, values, moments=False)

    def now(self) -> int:
        """The clock, microseconds UTC."""
        moment: object = self.parts.clock()
        if not isinstance(moment, datetime) or moment.utcoffset() is None:
            raise InputError("clock", f"returned {moment!r}; return an aware datetime")
        return parse_time(moment, "clock").start

    def redactor(self) -> Redactor:
        """Masks or refuses secrets as the store was told to, and counts them."""
        return Redactor(self.parts.redact)

    def reading(self) -> AbstractContextManager[Reader]:
        """One read transaction."""
        return self.rows.reading()

    def writing(self) -> AbstractContextManager[WriteTransaction]:
        """One write transaction, now, in the name of who acts."""
        return self.rows.writing(self.now(), self.author)

    def require_owner(self, operation: str) -> None:
        """Raise ``InputError`` when a principal acts."""
        if self.principal is not None:
            raise InputError(
                "principal", f"only the owner may {operation}; open the bank without a principal"
            )

    def may_read(self, memory: Memory) -> bool:
        """Whether who acts may read a version; false also once its time to live says that it is erased."""
        if memory.on_expiry == ERASE and memory.expires_micros <= self.now():
            return False
        return self.is_reader(memory)

    def is_reader(self, memory: Memory) -> bool:
        """Whether a version is of who acts to read, as long as it is there."""
        return self.principal is None or not memory.acl or self.principal in memory.acl

    def versions(self, memory: str) -> list[Memory]:
        """Every version of a memory that who acts may read, oldest first. Audited.

        ``NotFoundError`` if none.
        """
        clean_text(memory, "memory", MAX_ID_BYTES)
        with self.reading() as reading:
            versions = [found for found in reading.versions(memory) if self.may_read(found)]
        if not versions:
            raise NotFoundError(f"no memory {memory!r} in bank {self.name!r}; recall shows the ids there are")
        self.record_read("read", reading, [memory])
        told: list[Memory] = self.as_told(versions)
        return told

    def as_told(self, answer: Any) -> Any:
        """An answer with its times as fine as who acts may know them.

        Stamps rise by a microsecond a row, so finer times would tell a principal how many rows others wrote.
        """
        return answer if self.principal is None else coarsened(answer)

    def current(self, transaction: WriteTransaction, memory: str) -> StoredVersion:
        """The current version; ``NotFoundError`` when the bank no longer holds the memory."""
        held = transaction.versions.current(memory)
        if held is None:
            raise NotFoundError(f"memory {memory!r} is no longer held in bank {self.name!r}")
        return held

    def record_read(
        self, verb: str, reading: Reader | None, ids: Iterable[str] = (), query: str = "", recall: str = ""
    ) -> None:
        """Append a read-audit record before an answer is returned, if the bank audits reads."""
        if not self.rows.audit.covers_recalls:
            return
        sequence = 0 if reading is None else reading.meta.sequence
        wanted = tuple(dict.fromkeys(ids))
        self.rows.audit.record_read(ReadAudit(verb, self.author, self.now(), sequence, wanted, query, recall))

    def clear_caches(self) -> None:
        """Drop what memory holds of the bank's texts, after a purge or a restore."""
        self.answers.clear()
        self.parts.jobs.drop(str(self.rows.folder))
        self.names.clear()


def arguments(values: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a method, from its ``locals()``: each is named in its signature and nowhere else."""
    return {name: value for name, value in values.items() if name != "self"}
