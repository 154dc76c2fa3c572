"""Raw sources: the texts behind memories, and the spans of them that memories were made of."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from simonides.backends.embedded.labels import label_set_code
from simonides.backends.embedded.seals import sound
from simonides.records.interval import FOREVER

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from collections.abc import Set as AbstractSet

    from simonides.backends.embedded.session import WriteSession
    from simonides.records.draft import Draft, Prepared
    from simonides.records.versions import ResolvedFields

# Condition: the source and its place in the raw text are what was written.
SOURCE = f"{sound('episodes', 'e')} AND {sound('chunks', 'c')}"
_INSERT_CHUNK = "INSERT INTO chunks(episode, start, stop) VALUES (?, ?, ?) RETURNING number"


class Sources:
    """The raw sources inside a write transaction."""

    def __init__(self, session: WriteSession) -> None:
        self._session = session
        # Episodes of documents that this transaction wrote, by document and text.
        self._episodes: dict[tuple[str, str], int] = {}

    @property
    def has_shared(self) -> bool:
        """Whether this transaction wrote the text of a document, which its pieces share."""
        return bool(self._episodes)

    def insert(self, item: Prepared, place: ResolvedFields) -> int:
        """Keep the raw text behind an item; the pieces of a document share one, verbatim."""
        add_episode = partial(self._insert_episode, draft=item.draft, place=place)
        return self._session.number(_INSERT_CHUNK, *self.place(item.draft, add_episode))

    def place(self, draft: Draft, add_episode: Callable[[str], int]) -> tuple[int, int, int]:
        """The number of the raw text behind an item, kept by *add_episode*, and the item's span of it."""
        if draft.span is None:
            return add_episode(draft.text), 0, len(draft.text)
        text = draft.source_text
        episode = self._episodes.get((draft.document, text)) if draft.document else None
        if episode is None:
            episode = add_episode(text)
            if draft.document:
                self._episodes[draft.document, text] = episode
        return episode, *draft.span

    def _insert_episode(self, text: str, draft: Draft, place: ResolvedFields) -> int:
        return self._session.number(
            "INSERT INTO episodes(text, source, document, session, speaker, author, trust, recorded_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING number",
            text,
            draft.source,
            draft.document,
            draft.session,
            draft.speaker,
            place.author,
            place.trust,
            place.ingested_at,
        )

    def copy_for(self, chunk: int, text: str, trust: float, stamp: int) -> int:
        """A raw source of its own for a derived text, by the author of the source in *chunk*."""
        episode = self._session.number(
            "INSERT INTO episodes(text, source, document, session, speaker, author, trust, recorded_at)"
            " SELECT ?, '', '', '', e.speaker, e.author, ?, ? FROM chunks c"
            f" JOIN episodes e ON e.number = c.episode AND {sound('episodes', 'e')}"
            f" WHERE c.number=? AND {sound('chunks', 'c')} RETURNING number",
            text,
            trust,
            stamp,
            chunk,
        )
        return self._session.number(_INSERT_CHUNK, episode, 0, len(text))

    def move(self, chunk: int, draft: Draft, recorded_at: int) -> int:
        """A raw source in the document of *draft*, by whom and how the source in *chunk* was said."""

        def add_episode(text: str) -> int:
            return self._session.number(
                "INSERT INTO episodes(text, source, document, session, speaker, author, trust, recorded_at)"
                " SELECT ?, ?, ?, e.session, e.speaker, e.author, e.trust, ?"
                f" FROM chunks c JOIN episodes e ON e.number = c.episode AND {SOURCE}"
                " WHERE c.number=? RETURNING number",
                text,
                draft.source,
                draft.document,
                recorded_at,
                chunk,
            )

        return self._session.number(_INSERT_CHUNK, *self.place(draft, add_episode))

    def drop_unused(self, chunk: int) -> None:
        used = "SELECT 1 FROM memories WHERE chunk=? LIMIT 1"
        if self._session.connection.execute(used, (chunk,)).fetchone():
            return
        episode = self._session.connection.execute(
            "DELETE FROM chunks WHERE number=? RETURNING episode", (chunk,)
        ).fetchone()
        left = "SELECT 1 FROM chunks WHERE episode=? LIMIT 1"
        if episode and not self._session.connection.execute(left, episode).fetchone():
            self._session.connection.execute("DELETE FROM episodes WHERE number=?", episode)

    def rows_of(self, document: str, readers: Sequence[str], trust: float) -> list[tuple[int, str]]:
        rows = self._session.all(
            f"SELECT m.ordinal, m.id FROM episodes e JOIN chunks c ON c.episode = e.number AND {SOURCE}"
            " JOIN memories m ON m.chunk = c.number"
            " WHERE e.document=? AND e.document<>'' AND m.expired_at=? AND m.valid_to>?"
            " AND m.acl=? AND e.trust<=? ORDER BY m.ordinal",
            document,
            FOREVER,
            self._session.next_instant(),
            label_set_code(self._session.connection, readers),
            trust,
        )
        return [(int(ordinal), str(memory)) for ordinal, memory in rows]

    def names_below(self, prefix: str, readers: Sequence[str], trust: float) -> list[str]:
        rows = self._session.all(
            f"SELECT DISTINCT e.document FROM episodes e JOIN chunks c ON c.episode = e.number AND {SOURCE}"
            " JOIN memories m ON m.chunk = c.number"
            " WHERE e.document>=? AND e.document<? AND e.document<>'' AND m.expired_at=? AND m.valid_to>?"
            " AND m.acl=? AND e.trust<=? ORDER BY e.document",
            prefix,
            f"{prefix}\U0010ffff",
            FOREVER,
            self._session.next_instant(),
            label_set_code(self._session.connection, readers),
            trust,
        )
        return [str(document) for (document,) in rows]

    def documents_ended_by(self, ids: AbstractSet[str]) -> list[str]:
        rows = self._session.all(
            f"SELECT m.superseded_by, e.document FROM memories m JOIN chunks c ON c.number = m.chunk"
            f" JOIN episodes e ON e.number = c.episode AND {SOURCE}"
            " WHERE m.superseded_by<>'' AND m.expired_at=? AND e.document<>''",
            FOREVER,
        )
        return sorted({str(document) for memory, document in rows if memory in ids})
