"""The verbs of a bank for whoever looks through it: a list page by page, and counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simonides.services.browsing import Browsing
from simonides.services.context import arguments

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import date, datetime

    from simonides.records.memory import Memory
    from simonides.services.context import BankContext


class BankBrowsing:
    """Lists and counts memories. Part of ``Bank``."""

    _context: BankContext

    def list_memories(
        self,
        *,
        after: str | None = None,
        limit: int = 100,
        kinds: Iterable[str] | str | None = None,
        project: str | None = None,
        tags: Iterable[str] | None = None,
        tags_match: str = "any",
        as_of: datetime | str | None = None,
        known_at: datetime | str | None = None,
        window: tuple[Any, Any] | str | None = None,
        types: Iterable[str] | str | None = None,
        layer: str | None = None,
        speaker: str | None = None,
        session: str | None = None,
        entity: int | None = None,
        period: date | str | None = None,
        state: str | None = None,
        include_archived: bool = False,
        order: str = "id",
        max_bytes: int | None = None,
    ) -> list[Memory]:
        """The memories at a viewpoint, page by page.

        Args:
            after: id of the last memory of the previous page; ``None`` = from the first.
            limit: maximum number of memories, 1 to 10,000.
            kinds: as for ``recall``, like the next seven.
            project: the same.
            tags: the same.
            tags_match: the same.
            as_of: the same.
            known_at: the same.
            window: the same.
            types: the same.
            layer: only this layer: working, episodic, semantic, procedural, codebase.
            speaker: only what this speaker said.
            session: only this conversation.
            entity: only what mentions this entity: its number, as entities gives it.
            period: only what happened, or else was stored, in this year, month or day.
            state: only memories in this state: pinned, standing, archived.
            include_archived: also find archived memories.
            order: by id, or newest: what was stored last first.
            max_bytes: of the memories (``Memory.size``); the memory that exceeds it is the last one. ``None``
                = any.

        Raises:
            InputError: an argument is wrong.
            ConflictError: in the order ``newest``, *after* is no memory that the principal may read by now.
        """
        return Browsing(self._context).memories(**arguments(locals()))

    def facets(
        self,
        *,
        kinds: Iterable[str] | str | None = None,
        project: str | None = None,
        tags: Iterable[str] | None = None,
        tags_match: str = "any",
        as_of: datetime | str | None = None,
        known_at: datetime | str | None = None,
        window: tuple[Any, Any] | str | None = None,
        types: Iterable[str] | str | None = None,
        layer: str | None = None,
        speaker: str | None = None,
        session: str | None = None,
        entity: int | None = None,
        period: date | str | None = None,
        state: str | None = None,
        include_archived: bool = False,
    ) -> Mapping[str, Any]:
        """Count the memories that ``list_memories`` lists with the same arguments, by what they share.

        Kind, layer, tag, project, speaker, session, month and state have at most 50 values each, most first,
        then by value. A month is that of the event's start, else of the first storing, in the bank's zone, as
        *period* means it. Where more than 50 speakers or sessions have equally many memories, which of them
        are told is arbitrary, and the same each time.

        Args:
            kinds: as for ``list_memories``, like all others.
            project: the same.
            tags: the same.
            tags_match: the same.
            as_of: the same.
            known_at: the same.
            window: the same.
            types: the same.
            layer: the same.
            speaker: the same.
            session: the same.
            entity: the same.
            period: the same.
            state: the same.
            include_archived: the same.

        Returns:
            ``{"total": 3, "facets": {"kind": [{"value": "semantic", "count": 3}], …}}``.

        Raises:
            InputError: an argument is wrong.
        """
        return Browsing(self._context).facets(**arguments(locals()))
