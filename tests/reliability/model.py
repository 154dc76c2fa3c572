"""A bank beside a dictionary: whatever is done to both, both know the same.

The dictionary holds for each memory its versions with their four times, and answers what a recall must
return by comparing these times. It shares no code with the product. Every step moves the clock by a minute,
and questions about the past are asked at half minutes, so that the microseconds which tell changes of one
moment apart never matter; the ends of intervals are asked for exactly where a caller set them.
"""

from __future__ import annotations

import shutil
import tempfile
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, multiple, rule

import simonides
from simonides.errors import InputError, NotFoundError
from simonides.testing.clock import FrozenClock
from simonides.testing.embedder import StubEmbedder

if TYPE_CHECKING:
    from simonides.bank import Bank
    from simonides.store import Store

START = datetime(2026, 3, 1, 9, tzinfo=UTC)
HALF = timedelta(seconds=30)
MINUTE = timedelta(minutes=1)
NEVER = datetime.max.replace(tzinfo=UTC)
READERS = (None, "ada", "bo")
MODES = ("any", "any_strict", "all", "all_strict", "exact")

TAGS = st.frozensets(st.sampled_from("ab"))
ACL = st.sampled_from(((), ("ada",), ("bo",), ("ada", "bo")))


@dataclass(frozen=True)
class Version:
    valid_from: datetime
    valid_to: datetime
    ingested: datetime
    expired: datetime = NEVER


@dataclass
class Known:
    """What the dictionary holds of one memory."""

    text: str
    tags: frozenset[str]
    acl: tuple[str, ...]
    versions: list[Version]

    @property
    def current(self) -> Version | None:
        return self.versions[-1] if self.versions[-1].expired == NEVER else None

    def close(self, moment: datetime, now: datetime) -> None:
        """End what it states at *moment*; what would never have held is withdrawn."""
        last = self.versions[-1]
        if last.valid_to <= moment:
            return
        self.versions[-1] = replace(last, expired=now)
        if last.valid_from < moment:
            self.versions.append(Version(last.valid_from, moment, now))

    def seen(self, reader: str | None, as_of: datetime, known_at: datetime) -> bool:
        may = reader is None or not self.acl or reader in self.acl
        return may and any(
            v.valid_from <= as_of < v.valid_to and v.ingested <= known_at < v.expired for v in self.versions
        )


def passes(tags: frozenset[str], wanted: frozenset[str], mode: str) -> bool:
    """The truth table of the tag filter, written out."""
    if mode == "exact":
        return tags == wanted
    if not wanted or not tags:
        return mode in {"any", "all"}
    return (
        any(tag in tags for tag in wanted)
        if mode in {"any", "any_strict"}
        else all(t in tags for t in wanted)
    )


class Machine(RuleBasedStateMachine):
    """The rules."""

    memories = Bundle("memories")
    steps = 0

    def __init__(self) -> None:
        super().__init__()
        memory = Path("/dev/shm")
        self.folder = Path(tempfile.mkdtemp(dir=memory if memory.is_dir() else None))
        self.clock = FrozenClock(START)
        self.known: dict[str, Known] = {}
        self.documents: dict[str, dict[str, str]] = {}
        self.statements: dict[str, str] = {}
        self.number = 0
        self.dimension = 8
        self.store: Store
        self.open()

    def open(self) -> None:
        self.store = simonides.open(
            self.folder,
            clock=self.clock,
            embedder=StubEmbedder(dimension=self.dimension),
            expander=None,
            environ={},
        )

    def bank(self, reader: str | None = None) -> Bank:
        return self.store.bank("model", principal=reader)

    def tick(self) -> datetime:
        type(self).steps += 1
        return self.clock.advance(seconds=60)

    def text(self) -> str:
        self.number += 1
        return f"gauge reading number{self.number}"

    def know(self, memory: str, text: str, now: datetime, **fields: Any) -> str:
        valid_from = fields.get("valid_from") or now
        version = Version(valid_from, fields.get("valid_to") or NEVER, now)
        self.known[memory] = Known(text, fields.get("tags", frozenset()), fields.get("acl", ()), [version])
        return memory

    @initialize(target=memories)
    def first(self) -> str:
        now, text = self.tick(), self.text()
        return self.know(self.bank().retain(text)[0], text, now)

    @rule(target=memories, tags=TAGS, acl=ACL, size=st.integers(1, 3))
    def retain(self, tags: frozenset[str], acl: tuple[str, ...], size: int) -> Any:
        now, texts = self.tick(), [self.text() for _ in range(size)]
        ids = self.bank().retain(texts, tags=tags, acl=acl, deduplicate=False)
        return multiple(*[self.know(i, t, now, tags=tags, acl=acl) for i, t in zip(ids, texts, strict=True)])

    @rule(target=memories, begin=st.integers(-9, 9), days=st.integers(1, 9), tags=TAGS)
    def retain_an_interval(self, begin: int, days: int, tags: frozenset[str]) -> str:
        now, text = self.tick(), self.text()
        start = START + timedelta(days=begin)
        end = start + timedelta(days=days)
        (memory,) = self.bank().retain(text, valid_from=start, valid_to=end, tags=tags, deduplicate=False)
        return self.know(memory, text, now, valid_from=start, valid_to=end, tags=tags)

    @rule(target=memories, name=st.sampled_from("DE"), kept=st.integers(0, 2), new=st.integers(1, 2))
    def update_a_document(self, name: str, kept: int, new: int) -> Any:
        """What is in the document again stays, what is not ends, what is new begins."""
        now = self.tick()
        held = self.documents.get(name, {})
        stay = {
            memory: text
            for memory, text in sorted(held.items())
            if memory in self.known
            and self.known[memory].current is not None
            and self.known[memory].versions[-1].valid_to > now
        }
        for memory in list(stay)[kept:]:
            del stay[memory]
        texts = [*stay.values(), *(self.text() for _ in range(new))]
        ids = self.bank().retain(texts, document_id=name)
        assert ids[: len(stay)] == list(stay)
        for memory in held.keys() - stay.keys():
            if memory in self.known and self.known[memory].current is not None:
                self.known[memory].close(now, now)
        fresh = dict(zip(ids[len(stay) :], texts[len(stay) :], strict=True))
        self.documents[name] = {**stay, **fresh}
        return multiple(*[self.know(memory, text, now) for memory, text in fresh.items()])

    @rule(target=memories, subject=st.sampled_from(("Odalys", "Kofi")))
    def supersede(self, subject: str) -> str:
        """The newer of two single-valued statements closes the older one."""
        now, text = self.tick(), self.text()
        place = f"Place{self.number}"
        (memory,) = self.bank().retain(
            text, subject=subject, relation="stationed at", object=place, single_valued=True
        )
        earlier = self.statements.get(subject)
        if earlier in self.known and self.known[earlier].current is not None:
            self.known[earlier].close(now, now)
        self.statements[subject] = memory
        return self.know(memory, text, now)

    @rule(memory=memories, days=st.none() | st.integers(-10, 10))
    def invalidate(self, memory: str, days: int | None) -> None:
        now = self.tick()
        at = None if days is None else START + timedelta(days=days)
        moment = at or now
        known = self.known.get(memory)
        if known is None:
            with pytest.raises(NotFoundError):
                self.bank().invalidate(memory, at=at)
        elif moment < known.versions[-1].valid_from:
            with pytest.raises(InputError):
                self.bank().invalidate(memory, at=at)
        elif known.current is None:
            with pytest.raises(NotFoundError):
                self.bank().invalidate(memory, at=at)
        else:
            self.bank().invalidate(memory, at=at)
            known.close(moment, now)

    @rule(memory=consumes(memories))
    def forget(self, memory: str) -> None:
        self.tick()
        assert self.bank().forget(memory) == (memory in self.known)
        self.known.pop(memory, None)
        with pytest.raises(NotFoundError):
            self.bank().get_memory(memory)

    @rule(memory=memories, reader=st.sampled_from(("ada", "bo")))
    def forget_as_a_reader(self, memory: str, reader: str) -> None:
        """A reader erases only what they may read."""
        self.tick()
        known = self.known.get(memory)
        may = known is not None and (not known.acl or reader in known.acl)
        assert self.bank(reader).forget(memory) == may
        if may:
            del self.known[memory]

    @rule()
    def reopen(self) -> None:
        self.tick()
        self.store.close()
        self.open()

    @rule()
    def merge(self) -> None:
        self.tick()
        self.bank()
        self.bank()._rows.merge_if_due(force=True)

    @rule(step=st.integers(0, 3))
    def reembed(self, step: int) -> None:
        """To the other of two embedders; from the first step on it may be interrupted, and then goes on."""
        self.tick()
        self.dimension = 20 - self.dimension
        steps = 0

        def interrupt(stage: str, done: int, total: int | None) -> None:
            nonlocal steps
            steps += 1
            if steps == step:
                raise InterruptedError(stage)

        embedder = StubEmbedder(dimension=self.dimension)
        with suppress(InterruptedError):
            self.bank().reembed(embedder, progress=interrupt)
        if 0 < step <= steps:
            assert self.bank().verify().ok
        self.bank().reembed(embedder)
        stats = self.bank().stats()
        assert (stats["dimension"], stats["with_vector"]) == (self.dimension, stats["versions"])

    @rule()
    def verify(self) -> None:
        self.tick()
        report = self.bank().verify()
        assert report.ok, report.problems

    @rule(memory=memories, reader=st.sampled_from(READERS))
    def read_history(self, memory: str, reader: str | None) -> None:
        self.tick()
        known = self.known.get(memory)
        if known is None or not (reader is None or not known.acl or reader in known.acl):
            with pytest.raises(NotFoundError):
                self.bank(reader).history(memory)
            return
        found = self.bank(reader).history(memory)
        assert [one.text for one in found] == [known.text] * len(known.versions)
        for one, version in zip(found, known.versions, strict=True):
            _near(one.valid_from, version.valid_from)
            _near(one.valid_to or NEVER, version.valid_to)
            _near(one.expired_at or NEVER, version.expired)

    @rule(
        reader=st.sampled_from(READERS),
        tags=TAGS,
        mode=st.sampled_from(MODES),
        limit=st.integers(1, 30),
        minutes_ago=st.none() | st.integers(1, 50),
        known_ago=st.none() | st.integers(1, 50),
    )
    def recall(
        self,
        reader: str | None,
        tags: frozenset[str],
        mode: str,
        limit: int,
        minutes_ago: int | None,
        known_ago: int | None,
    ) -> None:
        now = self.tick()
        as_of = None if minutes_ago is None else now - minutes_ago * MINUTE - HALF
        known_at = None if known_ago is None else now - known_ago * MINUTE - HALF
        self.ask(reader, tags, mode, limit, as_of, known_at)

    @rule(reader=st.sampled_from(READERS), days=st.integers(-10, 10), before=st.booleans())
    def recall_at_an_end(self, reader: str | None, days: int, *, before: bool) -> None:
        """Exactly at the ends that callers set, and a microsecond earlier."""
        now = self.tick()
        as_of = START + timedelta(days=days) - before * timedelta(microseconds=1)
        self.ask(reader, frozenset(), "any", 30, as_of, now)

    def ask(
        self,
        reader: str | None,
        tags: frozenset[str],
        mode: str,
        limit: int,
        as_of: datetime | None,
        known_at: datetime | None,
    ) -> None:
        asked: dict[str, Any] = {"profile": "lexical", "max_tokens": None, "tags_match": mode}
        asked |= {"tags": sorted(tags)} if tags else {}
        asked |= {"as_of": as_of} if as_of else {}
        asked |= {"known_at": known_at} if known_at else {}
        found = [hit.id for hit in self.bank(reader).recall("gauge", limit=100, **asked)]
        viewpoint = as_of or self.clock.now
        expected = {
            memory
            for memory, known in self.known.items()
            if known.seen(reader, viewpoint, known_at or viewpoint) and passes(known.tags, tags, mode)
        }
        assert len(found) == len(set(found))
        if len(expected) < 100:
            assert set(found) == expected
        fewer = [hit.id for hit in self.bank(reader).recall("gauge", limit=limit, **asked)]
        assert fewer == found[:limit]

    def teardown(self) -> None:
        self.store.close()
        shutil.rmtree(self.folder)


def _near(found: datetime | None, expected: datetime) -> None:
    """Equal but for the microseconds that tell changes of one moment apart."""
    assert found is not None
    assert abs(found - expected) < timedelta(seconds=1)
