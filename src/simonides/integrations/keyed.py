"""Values under keys, kept as memories: what frameworks store by name is found by meaning, too.

A value stands whole in the memory's metadata, so it comes back as it was; its words are the memory's text. A
key is a path; the memory carries a tag for each beginning of it, so all below a path is one filter. Tags are
hashes, since a path may be longer than a label. Putting under a key again erases what stood there; the new
value is stored first, so a crash leaves both and the newer one counts.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simonides.bank import Bank
    from simonides.records.memory import Memory
    from simonides.records.recall import Hit
    from simonides.surfaces.client.remote import RemoteBank

    AnyBank = Bank | RemoteBank

_PAGE = 500
_LONGEST_TEXT = 200_000


@dataclass(frozen=True, slots=True)
class Entry:
    """One value: its path, what was put, the memory that holds it, and a score where it was searched for."""

    path: tuple[str, ...]
    value: Any
    memory: Memory
    score: float | None = None


@dataclass(frozen=True, slots=True)
class KeyedMemories:
    """The keys of one framework in a bank.

    Attributes:
        bank: of this process, or of a server.
        space: name of the framework, such as ``langgraph``; other spaces are not seen.
    """

    bank: AnyBank
    space: str

    def put(self, path: Sequence[str], value: Any, text: str, **described: Any) -> str:
        """Store *value*, in place of what stands there.

        Args:
            path: the key.
            value: JSON-ready.
            text: what it is found by; where blank, the value as JSON.
            described: other arguments of ``Bank.retain``.

        Returns:
            the id of its memory.
        """
        before = [each.memory.id for each in self.below(path) if each.path == tuple(path)]
        words = text if text.strip() else json.dumps(value, ensure_ascii=False, default=str)
        [memory] = self.bank.retain(
            words[:_LONGEST_TEXT],
            tags=[self._tag(path[:length]) for length in range(len(path) + 1)],
            metadata={self.space: {"path": list(path), "value": value}},
            # Two keys may hold the same words, and both are to be there.
            deduplicate=False,
            **described,
        )
        if before:
            self.bank.forget(before)
        return memory

    def get(self, path: Sequence[str]) -> Entry | None:
        """What stands under a key, the newest where a crash left two."""
        found = [each for each in self.below(path) if each.path == tuple(path)]
        return max(found, key=lambda each: (each.memory.ingested_at_micros, each.memory.id), default=None)

    def below(self, path: Sequence[str] = ()) -> Iterator[Entry]:
        """All that begins with a path, in the order of ids."""
        after: str | None = None
        while True:
            page = self.bank.memories(
                tags=[self._tag(path)],
                tags_match="all_strict",
                limit=_PAGE,
                **({"after": after} if after else {}),
            )
            yield from (self._entry(memory) for memory in page)
            if len(page) < _PAGE:
                return
            after = page[-1].id

    def search(self, path: Sequence[str], query: str, limit: int) -> list[Entry]:
        """What begins with a path and answers a query, best first."""
        found = self.bank.recall(
            query, tags=[self._tag(path)], tags_match="all_strict", limit=limit, max_tokens=None
        )
        return [self._hit(hit) for hit in found]

    def forget(self, entries: Sequence[Entry]) -> None:
        """Erase values."""
        if entries:
            self.bank.forget([each.memory.id for each in entries])

    def _tag(self, path: Sequence[str]) -> str:
        digest = hashlib.blake2b(json.dumps(list(path)).encode(), digest_size=16).hexdigest()
        return f"{self.space}:{digest}"

    def _entry(self, memory: Memory, score: float | None = None) -> Entry:
        kept = memory.metadata[self.space]
        return Entry(tuple(kept["path"]), kept["value"], memory, score)

    def _hit(self, hit: Hit) -> Entry:
        return self._entry(hit.memory, hit.score)


def words_of(value: Any) -> str:
    """The texts in a JSON value, one a line: what it is found by."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        lines = [f"{name}: {words}" for name, item in value.items() if (words := words_of(item))]
        return "\n".join(lines)
    if isinstance(value, list | tuple):
        return "\n".join(words for item in value if (words := words_of(item)))
    return "" if value is None or isinstance(value, bool) else str(value)
