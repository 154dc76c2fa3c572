"""Interrupts and failed allocations at any instruction of a mixed load, and what must hold after each.

CPython raises ``KeyboardInterrupt`` where it looks for signals: when a function in C has returned, a function
is entered or a generator resumed, and when a loop goes round. ``Interrupter`` counts these places (not the
last) while an operation runs and raises at the n-th, so a trial can be made again; real signals come
anywhere. A ``MemoryError`` takes the place of an instruction that allocates, in the code of the index.

As a program: ``interrupting.py FOLDER MOMENT EMBEDDER QUERY PRINCIPAL`` prints what a fresh process answers.
"""

from __future__ import annotations

import contextlib
import dis
import json
import random
import shutil
import signal
import sys
from collections.abc import Callable
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.embedded_rows import embedded

import simonides
from simonides.backends.embedded.stale_files import stale_files
from simonides.errors import SimonidesError, StoreError
from simonides.testing.clock import FrozenClock
from simonides.testing.embedder import StubEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import CodeType, FrameType

    from simonides.backends.embedded.bank import EmbeddedBank
    from simonides.bank import Bank
    from simonides.store import Store

SOURCE = Path(simonides.__file__).parent
LIBRARY = {str(Path(contextlib.__file__)), str(Path(contextlib.__file__).with_name("threading.py"))}
INDEX = tuple(
    str(SOURCE / part) for part in ("index", "backends/embedded/catch_up.py", "backends/embedded/feed")
)
_ALLOCATES = ("CALL", "BUILD_", "BINARY_OP", "LIST_", "SET_", "MAP_ADD", "DICT_", "FORMAT_", "STORE_SUBSCR")
EMBEDDERS = {name: StubEmbedder(16, name=name) for name in ("one", "two")}
FreshProcess = Callable[[Path, str, str, str, str], dict[str, Any]]
"""Gives the answers of a process of its own: by folder, moment, embedder, query and principal."""

QUERIES = ("Priya keeps the blue key in the drawer", "who moved the ladder", "pump 3")
PRINCIPALS = (None, "ann", "bob")
KEPT = 0.1
"""Share of the trials in which the traceback outlives the interrupt."""


class Interrupter:
    """Runs operations and breaks them off."""

    def __init__(self) -> None:
        self.count = 0
        self._at = 0
        self._error: type[BaseException] = KeyboardInterrupt
        self._places: dict[CodeType, frozenset[int] | None] = {}

    def run(
        self, operation: Callable[[], object], error: type[BaseException], at: int
    ) -> BaseException | None:
        """Run *operation* and raise *error* at its place number *at*, from 1; ``None`` = it never came there."""
        self.count, self._at, self._error = 0, at, error
        hook, sys.unraisablehook = sys.unraisablehook, lambda _: None
        if error is KeyboardInterrupt:
            sys.setprofile(self._between)
        else:
            sys.settrace(self._enter)
        try:
            operation()
        except error as raised:
            if self.count < at:
                raise
            return raised
        finally:
            sys.setprofile(None)
            sys.settrace(None)
            sys.unraisablehook = hook
        # Raised where nobody is told, as in the end of an abandoned generator, or turned into another.
        return error() if self.count >= at else None

    def _between(self, frame: FrameType, event: str, _: object) -> None:
        """Where CPython looks for signals: a function was entered, or one in C has returned."""
        name = frame.f_code.co_filename
        if event in {"call", "c_return"} and (name.startswith(str(SOURCE)) or name in LIBRARY):
            self._pass()

    def _pass(self) -> None:
        self.count += 1
        if self.count == self._at:
            raise self._error

    def _enter(self, frame: FrameType, event: str, _: object) -> Callable[..., Any] | None:
        if frame.f_code not in self._places:
            self._places[frame.f_code] = _allocations(frame.f_code)
        places = self._places[frame.f_code]
        if event != "call" or places is None:
            return None
        frame.f_trace_lines, frame.f_trace_opcodes = False, True

        def step(frame: FrameType, event: str, _: object) -> Callable[..., Any]:
            if event == "opcode" and frame.f_lasti in places:
                self._pass()
            return step

        return step


def _allocations(code: CodeType) -> frozenset[int] | None:
    """Where instructions of the index begin that allocate; ``None`` = it is other code."""
    if not code.co_filename.startswith(INDEX):
        return None
    listed = [each for each in dis.get_instructions(code) if each.opname != "PRECALL"]
    found = [
        each.offset
        for place, each in enumerate(listed)
        # Not the end of a ``with`` block: no context manager in C fails to allocate there.
        if each.opname.startswith(_ALLOCATES)
        and not (place > 2 and all(one.argval is None for one in listed[place - 3 : place]))
    ]
    return frozenset(found)


def by_signal(operation: Callable[[], object], seconds: float) -> bool:
    """Run *operation* with a real signal that comes after *seconds*; whether it broke it off."""
    armed = True

    def strike(_number: int, _frame: object) -> None:
        if armed:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, strike)
    hook, sys.unraisablehook = sys.unraisablehook, lambda _: None
    struck = False
    try:
        signal.setitimer(signal.ITIMER_REAL, max(seconds, 1e-6))
        operation()
        armed = False
    except KeyboardInterrupt:
        struck = True
    finally:
        armed = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        sys.unraisablehook = hook
    return struck


def answers(store: Store, query: str, principal: str) -> dict[str, Any]:
    """What everyone holds, and what one of them is answered."""
    banks = {each or "owner": store.bank(principal=each) for each in PRINCIPALS}
    found: dict[str, Any] = {
        name: [(memory.id, memory.text, list(memory.acl)) for memory in bank.list_memories(limit=10_000)]
        for name, bank in banks.items()
    }
    hits = store.bank(principal=principal).recall(query)
    return found | {"recalled": [(hit.id, hit.text, hit.score) for hit in hits]}


class Load:
    """A bank of two principals and its owner, and operations on it by a seed.

    Args:
        folder: of the store; empty.
        seed: decides all operations.
    """

    def __init__(self, folder: Path, seed: int, *, threads: int = 0) -> None:
        self.folder = folder
        self.random = random.Random(seed)
        self.clock = FrozenClock()
        self.store: Store | None = None
        self._threads = threads
        self._number = 0
        self._held: list[str] = []
        self.operations: Mapping[str, tuple[int, Callable[[], object]]] = {
            "retain": (14, self._retain),
            "retain many": (8, self._retain_many),
            "load": (3, self._load),
            "recall": (16, self._recall),
            "used": (4, self._used),
            "list": (3, lambda: self._bank().list_memories(limit=20)),
            "brief": (2, lambda: self._bank().brief("mend the pump")),
            "forget": (8, lambda: self._bank().forget(self._some(2))),
            "purge": (2, lambda: self._owner.forget_where(self._some(1), purge=True)),
            "update": (
                7,
                lambda: self._bank().update_memory(self._some(1)[0], salience=self.random.random()),
            ),
            "edit": (5, self._edit),
            "invalidate": (6, lambda: self._bank().invalidate(self._some(1)[0])),
            "quarantine": (2, lambda: self._owner.quarantine(self._some(1))),
            "merge": (5, lambda: self._rows.merge_if_due(force=True)),
            "merge entities": (2, self._merge_entities),
            "settle": (3, self._settle),
            "maintain": (4, self._maintain),
            "reembed": (3, self._reembed),
            "repair": (1, self._repair),
            "export": (1, self._export),
            "backup and restore": (1, self._restore),
            "open again": (5, self._open_again),
            "audit": (1, self._audit),
        }

    def choose(self) -> str:
        """The name of the next operation."""
        names = list(self.operations)
        return self.random.choices(names, [self.operations[name][0] for name in names])[0]

    def perform(self, name: str) -> None:
        """One operation; what it refuses in words is no fault, damage is."""
        try:
            self.operations[name][1]()
        except SimonidesError as error:
            if isinstance(error, StoreError):
                raise

    def check(self, *, fresh_process: FreshProcess | None = None) -> None:
        """Nothing is open, held, torn, shown to others or different from what a fresh bank says.

        Args:
            fresh_process: gives the answers of a process of its own; ``None`` = a bank is opened here.
        """
        store, folder = self._opened, self.folder / "bank-default"
        for name in ("memory.db", "maintenance.lock", "copies.lock", "recall-jobs.db", "recall-audit.db"):
            if (folder / name).exists():
                other = apsw.Connection(str(folder / name))
                other.execute("BEGIN EXCLUSIVE; ROLLBACK")
                other.close()
        assert not [*stale_files(folder), *self.folder.glob(".*.partial*")]
        rows = self._rows
        assert not rows._connections.get().in_transaction
        assert not rows.cache._lock.locked()
        assert not rows.cache._merging.locked()
        assert not store._lock.locked()
        query, principal = self.random.choice(QUERIES), self.random.choice(("ann", "bob"))
        here = answers(store, query, principal)
        embedder = self._embedder()
        if fresh_process is not None:
            there = fresh_process(self.folder, self.clock.now.isoformat(), embedder, query, principal)
        else:
            with simonides.open(self.folder, embedder=EMBEDDERS[embedder], clock=self.clock) as fresh:
                there = answers(fresh, query, principal)
        assert json.loads(json.dumps(here)) == json.loads(json.dumps(there))
        for name, others in (("ann", "bob"), ("bob", "ann")):
            for memory, text, acl in here[name]:
                assert not acl or name in acl, memory
                assert f"only {others}" not in text
        others = "bob" if principal == "ann" else "ann"
        assert all(f"only {others}" not in text for _, text, _ in here["recalled"])
        report = store.bank().verify()
        assert report.ok, report.problems
        self._held = [memory for memory, _, _ in here["owner"]]

    def go_on(self) -> None:
        """A write and a read, which both succeed."""
        self.clock.advance(seconds=60)
        (memory,) = self._owner.retain([self._item()])
        assert memory in [each.id for each in self._owner.list_memories(limit=10_000)]

    def close(self) -> None:
        """End the load."""
        if self.store is not None:
            self.store.close()

    # -- operations

    def _open(self) -> Store:
        if (self.folder / "bank-default" / "memory.db").exists():
            with (
                simonides.open(self.folder, embedder=EMBEDDERS["one"], clock=self.clock) as looking,
                looking.bank()._rows.reading() as reading,
            ):
                name = reading.embedder().name or "one"
        else:
            name = "one"
        return simonides.open(
            self.folder, embedder=EMBEDDERS[name], clock=self.clock, channel_threads=self._threads
        )

    def _embedder(self) -> str:
        with self._rows.reading() as reading:
            return reading.embedder().name or "one"

    def _open_again(self) -> None:
        store, self.store = self.store, None
        if store is not None:
            store.close()
        self._owner.recall(QUERIES[0])

    @property
    def _opened(self) -> Store:
        if self.store is None:
            self.store = self._open()
        return self.store

    @property
    def _owner(self) -> Bank:
        return self._opened.bank()

    @property
    def _rows(self) -> EmbeddedBank:
        return embedded(self._owner._rows)

    def _bank(self) -> Bank:
        return self._opened.bank(principal=self.random.choice(PRINCIPALS))

    def _some(self, most: int) -> list[str]:
        if not self._held:
            self._retain()
            self._held = [memory.id for memory in self._owner.list_memories(limit=1)]
        return self.random.sample(self._held, min(most, len(self._held)))

    def _item(self) -> dict[str, Any]:
        self._number += 1
        who = self.random.choice(("Priya", "Tom", "Lena", "Otto Brandt", "the porter"))
        what = self.random.choice(("keeps the blue key in the drawer", "moved the ladder", "mended pump 3"))
        item: dict[str, Any] = {"text": f"{who} {what} on day {self._number}"}
        reader = self.random.choice((None, None, "ann", "bob"))
        if reader is not None:
            item |= {"acl": [reader], "text": f"{item['text']}, says only {reader}"}
        if self.random.random() < 0.3:
            item["tags"] = [self.random.choice(("home", "work"))]
        return item

    def _retain(self) -> None:
        self.clock.advance(seconds=60)
        item = self._item()
        acl = item.get("acl")
        bank = self._bank() if acl is None else self._owner
        bank.retain([item])

    def _retain_many(self) -> None:
        self.clock.advance(seconds=60)
        self._owner.retain([self._item() for _ in range(self.random.randint(2, 14))])

    def _load(self) -> None:
        self.clock.advance(seconds=60)
        items = [self._item() for _ in range(self.random.randint(6, 20))]
        vectors = EMBEDDERS[self._embedder()].encode([item["text"] for item in items])
        self._owner.load(items, vectors)

    def _edit(self) -> None:
        memory = self._owner.get_memory(self._some(1)[0])
        text = self._item()["text"].partition(", says only")[0]
        said = f"{text}, says only {memory.acl[0]}" if memory.acl else text
        self._bank().update_memory(memory.id, text=said)

    def _recall(self) -> None:
        self._bank().recall(self.random.choice(QUERIES), count_returned=self.random.random() < 0.3)

    def _used(self) -> None:
        bank = self._bank()
        found = bank.recall(self.random.choice(QUERIES))
        if found.hits:
            bank.used(found.hits[0].id, recall_id=found.id)

    def _merge_entities(self) -> None:
        found = self._owner.entities()
        if len(found) > 1:
            one, other = self.random.sample(found, 2)
            self._owner.merge_entities(one.number, other.number)

    def _maintain(self) -> None:
        self.clock.advance(days=self.random.choice((0.1, 20)))
        self._owner.maintain()

    def _settle(self) -> None:
        self._owner.settle()

    def _repair(self) -> None:
        self._owner.repair()

    def _reembed(self) -> None:
        target = "two" if self._embedder() == "one" else "one"
        if self.random.random() < 0.2:
            self._owner.abandon_reembedding()
        self._owner.reembed(EMBEDDERS[target])

    def _export(self) -> None:
        self._owner.export(self.folder / "export.jsonl")

    def _restore(self) -> None:
        path = self.folder / "backup.db"
        path.unlink(missing_ok=True)
        self._owner.backup(path)
        self._owner.restore(path)

    def _audit(self) -> None:
        self._owner.start_audit()
        self._owner.audit_recalls(on=self.random.random() < 0.5)


def trials(
    folder: Path,
    seed: int,
    error: type[BaseException],
    *,
    signals: float = 0.0,
    process: FreshProcess | None = None,
    every: int = 100,
    length: int = 60,
) -> Iterator[str]:
    """Break off operations one after the other, and check after each; yields the names of those.

    A fresh bank is begun after *length* of them. Of a failure the message names what makes it again.

    Args:
        folder: for the banks.
        seed: decides everything but when real signals come.
        error: what is raised.
        signals: share of the trials that a real signal breaks off.
        process: gives the answers of a fresh process, asked at every *every*-th check.
        every: the same.
        length: trials with one bank.
    """
    interrupter, lengths, seconds = Interrupter(), dict[str, int](), dict[str, float]()
    done = 0
    while True:
        place = folder / f"{seed}-{done}"
        load = Load(place, seed * 1_000_003 + done, threads=done // length % 3)
        load.perform("retain many")
        load.check()
        here = 0
        while here < length:
            name = load.choose()
            if lengths.get(name) == 0:
                # Nothing in it can fail.
                load.perform(name)
                continue
            real = bool(signals) and load.random.random() < signals and name in seconds
            at = load.random.randint(1, lengths.get(name, 1_000))
            trial = (
                f"seed {seed}, trial {done}: {name}, {error.__name__} {'by signal' if real else f'at {at}'}"
            )
            raised: BaseException | None = None
            try:
                if real:
                    struck = by_signal(partial(load.perform, name), seconds[name] * load.random.random())
                else:
                    raised = interrupter.run(partial(load.perform, name), error, at)
                    struck = raised is not None
                    # Struck, it shows how far it came at least.
                    reached = interrupter.count
                    lengths[name] = max(reached, lengths.get(name, 1_000)) if struck else reached
                if load.random.random() < KEPT:
                    # Something keeps the traceback, and with it the frames, while the work goes on.
                    load.go_on()
                raised = None
                asked = process if process is not None and done % every == every - 1 else None
                if struck:
                    load.check(fresh_process=asked)
            except BaseException as problem:
                problem.add_note(trial)
                raise
            if struck:
                done += 1
                here += 1
                yield name
            elif not real:
                # About what it takes without tracing.
                seconds[name] = max(1e-4, interrupter.count * 2e-6)
                load._held = [memory.id for memory in load._owner.list_memories(limit=10_000)]
        load.close()
        shutil.rmtree(place)


if __name__ == "__main__":
    _folder, _moment, _embedder, *_asked = sys.argv[1:]
    _clock = FrozenClock(datetime.fromisoformat(_moment))
    with simonides.open(_folder, embedder=EMBEDDERS[_embedder], clock=_clock) as _store:
        print(json.dumps(answers(_store, *_asked)))  # noqa: T201 its output
