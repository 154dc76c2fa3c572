"""Raw sources: the texts behind memories, and the spans of them that memories were made of."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

from simonides.backends.embedded.labels import label_set_code
from simonides.backends.embedded.rows import insert_into, keys, verified
from simonides.records.interval import FOREVER

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from collections.abc import Set as AbstractSet

    from simonides.backends.embedded.session import WriteSession
    from simonides.records.draft import Draft, Prepared
    from simonides.records.versions import ResolvedFields

# A source e and its span c.
_SOURCE = f"{verified('episodes e')} JOIN {verified('chunks c')} ON c.episode = e.number"
_COLUMNS = "text, source, document, session, speaker, author, trust, recorded_at"
_INSERT_CHUNK = insert_into("chunks", "episode, start, stop") + " RETURNING number"


class Sources:
    """The raw sources inside a write transaction; see ``storage.writer.Sources``."""

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
            insert_into("episodes", _COLUMNS) + " RETURNING number",
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
            f"INSERT INTO episodes({_COLUMNS}) SELECT ?, '', '', '', e.speaker, e.author, ?, ?"
            f" FROM {_SOURCE} WHERE c.number=? RETURNING number",
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
                f"INSERT INTO episodes({_COLUMNS}) SELECT ?, ?, ?, e.session, e.speaker, e.author, e.trust, ?"
                f" FROM {_SOURCE} WHERE c.number=? RETURNING number",
                text,
                draft.source,
                draft.document,
                recorded_at,
                chunk,
            )

        return self._session.number(_INSERT_CHUNK, *self.place(draft, add_episode))

    def drop_unused(self, chunk: int) -> None:
        """Delete a span of which no memory is made, and its text where it has no other span."""
        if self._session.one(f"SELECT 1 FROM {keys('memories')} WHERE chunk=? LIMIT 1", chunk):
            return
        for (episode,) in self._session.all(f"SELECT episode FROM {keys('chunks')} WHERE number=?", chunk):
            self._session.run("DELETE FROM chunks WHERE number=?", chunk)
            if not self._session.one(f"SELECT 1 FROM {keys('chunks')} WHERE episode=? LIMIT 1", episode):
                self._session.run("DELETE FROM episodes WHERE number=?", episode)

    def rows_of(self, document: str, readers: Sequence[str], trust: float) -> list[tuple[int, str]]:
        rows = self._current("m.ordinal, m.id", "e.document=?1", document, "", readers, trust, "m.ordinal")
        return [(int(ordinal), str(memory)) for ordinal, memory in rows]

    def names_below(self, prefix: str, readers: Sequence[str], trust: float) -> list[str]:
        below, end = "e.document>=?1 AND e.document<?2", f"{prefix}\U0010ffff"
        rows = self._current("DISTINCT e.document", below, prefix, end, readers, trust, "e.document")
        return [str(document) for (document,) in rows]

    def _current(
        self,
        columns: str,
        condition: str,
        first: str,
        end: str,
        readers: Sequence[str],
        trust: float,
        order: str,
    ) -> list[tuple[Any, ...]]:
        """Of rows that hold now, of at most this *trust*, that exactly *readers* may read."""
        return self._session.all(
            f"SELECT {columns} FROM {_SOURCE} JOIN {verified('memories m')} ON m.chunk = c.number"
            f" WHERE {condition} AND e.document<>'' AND m.expired_at=?3"
            f" AND m.valid_to>?4 AND m.acl=?5 AND e.trust<=?6 ORDER BY {order}",
            first,
            end,
            FOREVER,
            self._session.next_instant(),
            label_set_code(self._session.connection, readers),
            trust,
        )

    def documents_ended_by(self, ids: AbstractSet[str]) -> list[str]:
        rows = self._session.all(
            f"SELECT DISTINCT e.document FROM {verified('memories m')}"
            f" JOIN {verified('chunks c')} ON c.number = m.chunk JOIN {verified('episodes e')}"
            " ON e.number = c.episode"
            " WHERE m.superseded_by IN (SELECT value FROM json_each(?)) AND m.expired_at=? AND e.document<>''"
            " ORDER BY e.document",
            json.dumps(list(ids)),
            FOREVER,
        )
        return [str(document) for (document,) in rows]
