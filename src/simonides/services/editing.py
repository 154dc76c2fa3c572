"""Changes memories that are stored: their words, what is noted about them, their end, their pin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from simonides.errors import InputError, NotFoundError
from simonides.records.hygiene import clean_choice, clean_count, clean_ids, clean_switch
from simonides.records.interval import parse_time
from simonides.records.kind import ARCHIVED, PINNED, STANDING, Kind
from simonides.retain.editing import check_rewordable, check_version, edit, live, read_changes
from simonides.retain.keyed_records import check_keys
from simonides.retain.rewording import Rewording, reworded
from simonides.retain.supersession import BY_HAND, CLOSE, end_text
from simonides.retain.writing import close
from simonides.services.reading import MemoryReading
from simonides.services.write_path import WritePath, log_masked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from simonides.records.draft import Draft, Prepared
    from simonides.records.extraction import Extraction
    from simonides.records.memory import Memory
    from simonides.records.versions import StoredVersion
    from simonides.services.context import BankContext
    from simonides.storage.writer import WriteTransaction


@dataclass(frozen=True, slots=True)
class Editing:
    """Changes memories that are stored."""

    context: BankContext

    def update(self, memory: str, *, expected_version: int | None, **fields: Any) -> Memory:
        changes = read_changes(fields, self.context.zone)
        expected = None if expected_version is None else clean_count(expected_version, "expected_version", 1)
        redactor = self.context.redactor()
        changes = redactor.changes(changes)
        text, ttl = changes.pop("text", None), changes.pop("ttl", None)
        self._get(memory)
        if text is None and "occurred" not in changes:
            with self.context.writing() as transaction:
                edit(transaction, self._version_to_change(transaction, memory, changes, expected), changes)
                live(transaction, memory, ttl)
        else:
            while not self._reword(memory, text, changes, ttl, expected):
                # Another writer changed the memory meanwhile. One of the two gets through each time.
                pass
        log_masked(redactor.found)
        return self._get(memory)

    def _get(self, memory: str) -> Memory:
        return MemoryReading(self.context).get(memory)

    def _version_to_change(
        self, transaction: WriteTransaction, memory: str, changes: Mapping[str, Any], expected: int | None
    ) -> int:
        """Ordinal of the current version, after checking that who acts may change it so."""
        held = self.context.current(transaction, memory)
        if held.state & STANDING:
            self.context.require_owner("change a standing memory")
        check_version(memory, held.version, expected)
        kinds = {changes["kind"], held.kind} if "kind" in changes else set()
        if len(kinds) > 1 and Kind.QUARANTINE in kinds:
            self.context.require_owner("quarantine or release")
            check_keys(transaction, [held.ordinal] if held.kind == Kind.QUARANTINE else [])
        return held.ordinal

    def _reword(
        self, memory: str, text: str | None, changes: Mapping[str, Any], ttl: int | None, expected: int | None
    ) -> bool:
        """Give a memory other words or another event time; false = another writer changed it meanwhile."""
        path, parts = WritePath(self.context), self.context.parts
        with self.context.reading() as reading:
            worded = reading.worded(memory)
            if worded is None:
                raise NotFoundError(f"memory {memory!r} is no longer held in bank {self.context.name!r}")
            check_version(memory, worded.now.version, expected)
            check_rewordable(worded.now, "event_time" if text is None else "text")
            known = self.context.names.names(reading, worded.now.acl)

        def read(draft: Draft) -> Extraction:
            # Memories that it ended may have fewer readers. These know all names that its own readers know.
            return path.extract(draft, known, worded.first_recorded)

        def questions(said: str, found: Extraction) -> str:
            return parts.expander.expand(said, found) if parts.expander else ""

        draft = reworded(worded, worded.now.text if text is None else text, changes, read, questions)

        def store(transaction: WriteTransaction, items: tuple[Prepared, ...]) -> list[str]:
            ordinal = self._version_to_change(transaction, memory, changes, expected)
            if transaction.versions.read(ordinal).version != worded.now.version:
                return []
            if draft.text == worded.now.text and "occurred" not in changes:
                edit(transaction, ordinal, changes)
                live(transaction, memory, ttl)
                return [memory]
            item = items[0].encoded_by(transaction.models.embedder().fingerprint)
            path.ensure_same_models(transaction, item)
            rewording = Rewording(transaction, worded, item, parts.analyser, self.context.author, read)
            written = rewording.write().id
            live(transaction, written, ttl)
            return [written]

        done = path.prepare_and_store([draft], store, memory)
        if done:
            self.context.answers.forget(memory)
        return bool(done)

    def invalidate(self, memory: str, *, at: object) -> None:
        current = self._get(memory)
        given = None if at is None else parse_time(at, "at", zone=self.context.zone).start
        with self.context.writing() as transaction:
            held = self.context.current(transaction, memory)
            # Under a clock that stands still or was set back, the end lies behind what is stored already.
            now = transaction.versions.instant_after(held.ordinal, transaction.next_instant())
            moment = now if given is None else given
            if moment < current.valid_from_micros:
                raise InputError(
                    "at", f"lies before the memory began to hold ({current.valid_from}); give a later time"
                )
            if moment < held.valid_to:
                was = end_text(held.valid_to)
                transaction.maintenance.add_move(held.root, CLOSE, was, "", BY_HAND)
            close(transaction, held.ordinal, moment)

    def pin(self, memory: str, *, pinned: bool, always: bool) -> None:
        for name, switch in (("pinned", pinned), ("always", always)):
            clean_switch(switch, name)
        if always and not pinned:
            raise InputError("always", "is of a pin; leave it out to unpin")
        held = self._get(memory)
        if held.standing or always:
            self.context.require_owner("make a memory standing, or change a standing one")
        elif held.acl != (self.context.principal,):
            self.context.require_owner("pin or unpin what others may read, which leads their briefs, too")
        with self.context.writing() as transaction:
            transaction.maintenance.return_archived(memory, "pinned")
            current = self.context.current(transaction, memory)
            if current.state & STANDING:
                self.context.require_owner("change a standing memory")
            marks = PINNED | STANDING if always else PINNED if pinned else 0
            wanted = current.state & ~(PINNED | STANDING) | marks
            if wanted != current.state:
                transaction.versions.revise(current.ordinal, state=wanted)

    def archive(self, ids: str | Iterable[str]) -> int:
        self.context.require_owner("archive")
        with self.context.writing() as transaction:
            held = [each for each in self._held(transaction, ids) if not each.state & ARCHIVED]
            for each in held:
                if each.state & PINNED:
                    raise InputError(
                        "ids", f"memory {each.id} is pinned, nothing was changed; unpin it first"
                    )
                transaction.versions.revise(each.ordinal, state=each.state | ARCHIVED)
                transaction.maintenance.add_move(each.root, "archive", "", "archived", BY_HAND)
        return len(held)

    def quarantine(self, ids: str | Iterable[str]) -> int:
        return self._rekind(ids, Kind.QUARANTINE, lambda kind: kind is not Kind.QUARANTINE)

    def release(self, ids: str | Iterable[str], *, kind: str) -> int:
        kinds = tuple(one.value for one in Kind if one is not Kind.QUARANTINE)
        wanted = Kind(clean_choice(kind, "kind", kinds))
        return self._rekind(ids, wanted, lambda held: held is Kind.QUARANTINE)

    def _rekind(self, ids: str | Iterable[str], kind: Kind, applies: Callable[[Kind], bool]) -> int:
        """Give another kind to those memories whose kind *applies*; returns how many."""
        self.context.require_owner("quarantine or release")
        with self.context.writing() as transaction:
            changed = [each.ordinal for each in self._held(transaction, ids) if applies(Kind(each.kind))]
            check_keys(transaction, () if kind is Kind.QUARANTINE else changed)
            for ordinal in changed:
                transaction.versions.revise(ordinal, kind=kind)
        return len(changed)

    def _held(self, transaction: WriteTransaction, ids: str | Iterable[str]) -> list[StoredVersion]:
        """The current versions of memories; ``NotFoundError`` where one is not there."""
        found = []
        for memory in clean_ids(ids):
            held = transaction.versions.current(memory)
            if held is None:
                raise NotFoundError(
                    f"no memory {memory!r} in bank {self.context.name!r}; nothing was changed"
                )
            found.append(held)
        return found
