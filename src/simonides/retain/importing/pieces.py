"""What an import claims, so that importing the same again changes nothing.

A piece is a document as a whole, or an item that belongs to none. Its key names it (a document by its id, an
item by all that it says) and its body is a hash of all that its items say. The bank remembers the body that
it stored last under each key: an equal one is passed over before anything is encoded, another one of a
document replaces it. So an import that was interrupted goes on where it stopped, and what was forgotten,
closed or merged since is not brought back.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from simonides.records.draft import content_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simonides.records.draft import Draft


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of an import that is stored whole or passed over.

    Attributes:
        key: under which the bank remembers it.
        body: changes with what it says.
        positions: of its items in the batch.
    """

    key: str
    body: bytes
    positions: tuple[int, ...]


def gather(drafts: Sequence[Draft], author: str) -> list[Piece]:
    """The pieces of a batch, in the order of their first items; what repeats an item is left out.

    Args:
        drafts: checked items; of a document all that there are.
        author: principal who imports; empty = the owner.
    """
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
