"""What the write path hands to the backend: an item that was checked, analysed and encoded."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from simonides.records.extraction import Days, Extraction, Relation
    from simonides.records.interval import Interval
    from simonides.records.kind import Kind, Layer
    from simonides.records.model_identity import ModelIdentity


@dataclass(frozen=True, slots=True)
class Draft:
    """A checked item, not yet stored. Times in microseconds UTC; ``None`` means "not given".

    What was not given is settled later: kind, salience and confidence by what the text says, the layer by the
    kind. ``statement`` is a relation that the caller declared: (name, subject, object, single-valued).
    ``ttl`` is a time to live in microseconds, or ``FOREVER``; ``on_expiry`` is what becomes of it then.
    ``source_text`` is the raw text of which the item is the ``span`` (characters, half-open): the document,
    or the turn without its speaker. Without a span the item is its own source. ``place`` is where the item
    stands, for errors: ``items[3]``, or empty for a single item. ``state`` holds marks of ``records.kind``.
    """

    text: str
    kind: Kind | None = None
    layer: Layer | None = None
    context: str = ""
    relation: str = ""
    path: str = ""
    project: str = ""
    tags: tuple[str, ...] = ()
    acl: tuple[str, ...] = ()
    source: str = ""
    metadata_json: str = "{}"
    occurred: Interval | None = None
    valid_from: Interval | None = None
    valid_to: Interval | None = None
    recorded_at: int | None = None
    salience: float | None = None
    confidence: float | None = None
    deduplicate: bool = True
    document: str = ""
    session: str = ""
    speaker: str = ""
    role: str = ""
    expansion: str = ""
    statement: Relation | None = None
    source_text: str = ""
    span: tuple[int, int] | None = None
    ttl: int | None = None
    on_expiry: str | None = None
    state: int = 0
    place: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Encoding:
    """What one embedder made of a text.

    Attributes:
        model: the embedder.
        codes: int8 vector, shape (dimension,), or ``None`` when there is none.
        scale: factor that turns ``codes`` back into a unit vector.
        tokens: codes of the text's tokens as stored (``index.token_codes``); empty = none.
        problem: why there is no vector; empty when there is one.
    """

    model: ModelIdentity
    codes: NDArray[np.int8] | None
    scale: float = 0.0
    tokens: bytes = b""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A draft with everything that needs no look at the store.

    Attributes:
        terms: per lexical field, each term with its frequency there (fields without terms are left out).
        codes: int8 vector of the text, shape (dimension,), or ``None`` when there is no vector.
        scale: factor that turns ``codes`` back into a unit vector.
        extraction: names, relations, causes, dates and cues found in the text.
        signature: MinHash of the text's terms, uint32, shape (SIGNATURE_LENGTH,).
        tokens: codes of the text's tokens as stored (``index.token_codes``); empty = none.
        sparse: learned sparse terms of the text as stored (``index.sparse_postings``); empty = none.
        questions: that the text answers, for the expansion field, where the draft gives none.
        model: the embedder that made ``codes`` and ``tokens``; ``None`` = none was asked.
        following: what the embedder made of it to which the bank migrates; ``None`` = it does not, or
            that embedder was not at hand.
        encoded_terms: *terms* as the row keeps them, in place of *terms*; empty = not made yet.
        content_key: of the draft; empty = not made yet.
        known: whether the bank held it when it was looked for; then it was neither analysed nor encoded.
    """

    draft: Draft
    terms: Mapping[str, Mapping[str, int]]
    codes: NDArray[np.int8] | None
    scale: float
    extraction: Extraction
    signature: NDArray[np.uint32]
    questions: str = ""
    tokens: bytes = b""
    sparse: bytes = b""
    model: ModelIdentity | None = None
    following: Encoding | None = None
    encoded_terms: bytes = b""
    content_key: bytes = b""
    known: bool = False

    @property
    def expansion(self) -> str:
        """What the expansion field holds: the caller's words, else the questions."""
        return self.draft.expansion or self.questions

    @property
    def days(self) -> tuple[Days, ...]:
        """The days that its words mean by the day on which they are retained: part of what it says.

        None where the caller stated when it was said, since that is compared itself, and none in a document,
        whose words stay the same ones however often it is read.
        """
        return days_of(self.draft, self.extraction)

    def encoded_by(self, current: str) -> Prepared:
        """The item by the bank's embedder *current*.

        The bank may have migrated after the item was encoded.
        """
        other = self.following
        if other is None or other.model.fingerprint != current:
            return self
        return replace(
            self,
            codes=other.codes,
            scale=other.scale,
            tokens=other.tokens,
            model=other.model,
            following=None,
        )


def days_of(draft: Draft, found: Extraction) -> tuple[Days, ...]:
    """``Prepared.days`` of a draft in whose text *found* was read."""
    if draft.document or draft.occurred is not None:
        return ()
    return tuple(time.days for time in found.times if time.days is not None)


# Made once: ``json.dumps`` makes a new encoder at every call that asks for anything special.
_plain = json.JSONEncoder(ensure_ascii=False).encode
_compact = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def content_key(draft: Draft, days: Sequence[Days] = ()) -> bytes:
    """Equal for two items that say the same in every respect, so that retaining one again changes nothing.

    The context of a turn is left out: it is made of the turns around it, and the last turn of a conversation
    gets a neighbour when the conversation goes on. *days* are those that words such as "yesterday" mean,
    which make the same words another event on another day; without any the key is as it was before they
    counted.
    """
    said_of = [[day and day.isoformat() for day in ends] for ends in days]
    body = _plain(
        [
            draft.text, "" if is_turn(draft) else draft.context, draft.relation, draft.kind, draft.layer,
            draft.path, draft.project, draft.tags, draft.acl, draft.source, draft.metadata_json,
            draft.occurred and (draft.occurred.start, draft.occurred.end, draft.occurred.precision),
            draft.valid_from and (draft.valid_from.start, draft.valid_from.precision),
            draft.valid_to and (draft.valid_to.start, draft.valid_to.precision),
            draft.salience, draft.confidence, draft.document, draft.session, draft.speaker, draft.role,
            draft.expansion,
            draft.statement
            and (draft.statement.name, draft.statement.subject, draft.statement.object),
            *([said_of] if said_of else []),
        ]
    )  # fmt: skip
    return hashlib.blake2b(body.encode(), digest_size=16).digest()


def is_turn(draft: Draft) -> bool:
    """Whether it is a turn of a conversation that has a name."""
    return bool(draft.session) and draft.span is not None and not draft.document


def encode_terms(terms: Mapping[str, Mapping[str, int]]) -> bytes:
    """Terms by field as a row keeps them."""
    return _compact(terms).encode()
