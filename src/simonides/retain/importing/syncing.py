"""What an import holds already, so that importing the same again changes nothing.

A piece is a document as a whole, or an item that belongs to none. Its key names it (a document by its id, an
item by all that it says) and its body is a hash of all that its items say. The bank remembers the body that
it stored last under each key: an equal one is passed over before anything is encoded, another one of a
document replaces it. So an import that was interrupted goes on where it stopped, and what was forgotten,
closed or merged since is not brought back.

Before new paragraphs are stored, memories follow documents that moved, and end with those that left:

    what left      memories of documents that are no more, and those that a document no longer says
    what came      paragraphs that the bank does not hold of their document
    in both        the memory moves: same id, a new version in the other document, nothing encoded
    left otherwise ends; of a document that stays, when its new text is stored

Paragraphs are followed one by one, so a note may be renamed and edited at once, divided, joined with another
one, or change names with it. Of several equal paragraphs those of the document that has most in common go
first. A memory that was edited in the bank is followed by the words that its document has, and keeps its own.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING

from simonides.records.draft import content_key
from simonides.records.kind import TRUST
from simonides.records.receipt import Synced
from simonides.retain.writing import close

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from simonides.records.draft import Draft
    from simonides.storage.writer import WriteTransaction


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of an import that is stored whole or passed over; *positions* are of its items in the batch."""

    key: str
    body: bytes
    positions: tuple[int, ...]


def gather(drafts: Sequence[Draft], author: str) -> list[Piece]:
    """The pieces of a batch, in the order of their first items; what repeats an item is left out."""
    contents = [content_key(draft) for draft in drafts]
    documents: dict[str, list[int]] = {}
    for position, (draft, content) in enumerate(zip(drafts, contents, strict=True)):
        name = f"document {draft.document}" if draft.document else f"item {content.hex()}"
        documents.setdefault(name, []).append(position)
    pieces = []
    for name, positions in documents.items():
        kept = positions if name.startswith("document ") else positions[:1]
        said = b"".join(contents[position] for position in kept)
        body = hashlib.blake2b(said, digest_size=16).digest()
        pieces.append(Piece(_key(name, author), body, tuple(kept)))
    return pieces


def document_key(document: str, author: str) -> str:
    """The key under which the bank remembers what an import said of a document."""
    return _key(f"document {document}", author)


def _key(name: str, author: str) -> str:
    digest = hashlib.blake2b(f"{author}\0{name}".encode(), digest_size=16)
    return f"import:{digest.hexdigest()}"


_FEW = 20
"""Documents in which a paragraph may stand to say which document another one was."""

_OURS = TRUST["document"]
"""Trust up to which memories are a document's to end or to move."""


@dataclass(frozen=True, slots=True)
class _Row:
    """A memory of a document in the words of one of its versions.

    *ordinal* and *document* are of the current version; *text* and *key* of this one, and *place* is its
    document, path, source and context.
    """

    ordinal: int
    id: str
    document: str
    text: str
    place: tuple[str, str, str, str]
    key: bytes


@dataclass(frozen=True, slots=True)
class Syncing:
    """One run, inside a transaction.

    Attributes:
        drafts: of all documents that are there, every document whole.
        author: principal who syncs; empty = the owner.
        sparse: learned sparse terms of a draft; empty = none.
    """

    transaction: WriteTransaction
    drafts: Sequence[Draft]
    author: str
    sparse: Callable[[Draft], bytes]

    def run(self, below: Sequence[str], keep: Collection[str]) -> Synced:
        """Move and end memories of documents whose names begin with *below*.

        *keep*: documents that are there, although none of their text is among the drafts.
        """
        pieces = [piece for piece in gather(self.drafts, self.author) if self._document(piece)]
        present = {*map(self._document, pieces), *keep}
        known = {each for name in below for each in self.transaction.sources.names_below(name, (), _OURS)}
        gone = sorted(known - present)
        changed = [piece for piece in pieces if not self._is_known(piece)]
        held = {document: list(self._rows(document)) for document in (*gone, *map(self._document, changed))}
        keys = {self._document(piece): self._keys(piece) for piece in changed}
        every = [row for rows in held.values() for row in rows]
        stays = {row.ordinal for row in every if row.key in keys.get(row.document, ())}
        left: dict[int, list[_Row]] = {}
        texts: dict[str, dict[int, _Row]] = {}
        for row in every:
            if row.ordinal not in stays:
                left.setdefault(row.ordinal, []).append(row)
                texts.setdefault(row.text, {})[row.ordinal] = row
        moved = 0
        done = set(gone)
        for piece in changed:
            found = self._follow(piece, held[self._document(piece)], texts, left)
            moved += len(found)
            if self._claim(piece, found):
                done.add(self._document(piece))
        ended = [row for row, *_ in left.values() if row.document in done]
        for row in ended:
            close(self.transaction, row.ordinal)
        # What a note that left had replaced in another one holds again, and so does a note that comes back.
        again = self.transaction.sources.documents_ended_by({row.id for row in ended}) if ended else []
        for document in (*gone, *again):
            self.transaction.keys.replace(document_key(document, self.author), b"", ())
        return Synced(moved, len(ended))

    def _document(self, piece: Piece) -> str:
        return self.drafts[piece.positions[0]].document

    def _is_known(self, piece: Piece) -> bool:
        return (self.transaction.keys.read(piece.key) or (b"",))[0] == piece.body

    def _keys(self, piece: Piece) -> set[bytes]:
        return {content_key(self.drafts[position]) for position in piece.positions}

    def _rows(self, document: str) -> Iterator[_Row]:
        for ordinal, memory in self.transaction.sources.rows_of(document, (), _OURS):
            for version in self.transaction.versions.ordinals_of(ordinal):
                frame = self.transaction.versions.compared_fields(version)
                held = self.transaction.versions.read(version)
                place = frame.document, frame.path, frame.source, frame.context
                yield _Row(ordinal, memory, document, held.text, place, held.content_key)

    def _follow(
        self,
        piece: Piece,
        own: Sequence[_Row],
        texts: dict[str, dict[int, _Row]],
        left: dict[int, list[_Row]],
    ) -> dict[int, _Row]:
        """Move what *left* elsewhere into a document; the memories by the places of their drafts."""
        document, keys = self._document(piece), {row.key for row in own}
        places = [place for place in piece.positions if content_key(self.drafts[place]) not in keys]
        shared: Counter[str] = Counter()
        for place in places:
            alike = texts.get(self.drafts[place].text, {})
            # What stands in very many documents says little about which of them this one was.
            if len(alike) <= _FEW:
                shared.update(row.document for row in alike.values() if row.document != document)
        found: dict[int, _Row] = {}
        for place in places:
            draft = self.drafts[place]
            alike = texts.get(draft.text, {})
            near = [row for row in alike.values() if row.document in shared]
            near.sort(key=lambda r: (r.place[-1] != draft.context, -shared[r.document], r.ordinal))
            others = (row for row in alike.values() if row.document not in shared)
            fits = (row for row in chain(near, others) if row.document != document and _fits(draft, row))
            row = next(fits, None)
            if row is not None:
                found[place] = row
                for version in left.pop(row.ordinal):
                    texts[version.text].pop(row.ordinal, None)
                held = self.transaction.versions.read(row.ordinal)
                sparse = self.sparse(replace(draft, text=held.text)) if held.context != draft.context else b""
                self.transaction.versions.move(row.ordinal, draft, sparse)
        return found

    def _claim(self, piece: Piece, found: dict[int, _Row]) -> bool:
        """Remember a document that only moved as imported: what was forgotten or ended in it stays so."""
        sources = {row.document for row in found.values()}
        if len(sources) != 1:
            return False
        claim = self.transaction.keys.read(document_key(sources.pop(), self.author))
        if claim is None or len(claim[1]) != len(piece.positions):
            return False
        for place, memory in zip(piece.positions, claim[1], strict=True):
            row = found.get(place)
            stays = row.id == memory if row is not None else self._has_ended(place, memory)
            if not stays:
                return False
        self.transaction.keys.replace(piece.key, piece.body, claim[1])
        return True

    def _has_ended(self, place: int, memory: str) -> bool:
        """Whether a paragraph's memory was forgotten, or ended before."""
        held = self.transaction.versions.current(memory)
        if held is None:
            return True
        versions = self.transaction.versions
        texts = [versions.read(version).text for version in versions.ordinals_of(held.ordinal)]
        return self.drafts[place].text in texts and held.valid_to <= self.transaction.next_instant()


def _fits(draft: Draft, row: _Row) -> bool:
    """Whether a row says what a draft says in every respect but where it stands."""
    document, path, source, context = row.place
    there = replace(draft, document=document, path=path, source=source, context=context)
    return content_key(there) == row.key
