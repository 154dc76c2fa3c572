"""The part of the write path that needs no look at the store.

    drafts ─► known? ─► extract names, relations, dates ─► count terms ─► sign ─► encode 128 at a time ─► int8

A turn or a paragraph that the bank holds already is left as it is: a conversation that is given anew with one
turn more costs that turn. Only turns whose words mean a day are read again, since their keys depend on it.

One bad text never sinks the rest: when a batch fails, each of its texts is encoded alone, and what still has
no vector is reported by position and reason; it is kept and found by its terms. What makes the whole embedder
unusable (files missing or damaged, another dimension) is raised instead.
For learned sparse terms a text is read together with its context (the turns around it, headings), text first:
a turn of a chat often says what it is about only in its neighbours. When a neighbour is forgotten, these
terms are erased with it.
Cost: one term analysis per field and one embedder pass for what is new; twice that pass when a batch fails.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import numpy as np

from simonides.errors import EmbedderMismatchError, MissingExtraError, ModelDamagedError, ModelMissingError
from simonides.index.postings import FIELDS
from simonides.index.sparse_postings import pack_terms
from simonides.index.vectors import pack_tokens, quantise
from simonides.protocols import TokenEmbedder
from simonides.records.draft import Encoding, Prepared, content_key, is_turn
from simonides.records.extraction import Extraction
from simonides.records.hygiene import shown
from simonides.records.model_identity import ModelIdentity
from simonides.retain.duplicates import sign
from simonides.retain.placing import occurred
from simonides.text.dates import field_terms

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from collections.abc import Set as AbstractSet

    from numpy.typing import NDArray

    from simonides.protocols import Analyser, Embedder, Expander, SparseEncoder
    from simonides.records.draft import Draft
    from simonides.records.sparse import SparseTerms

_Encoded: TypeAlias = "tuple[NDArray[np.float32], bytes]"
_AT_ONCE = 128
"""Texts whose tokens' vectors are held at once: 1.5 kB for each token, 50 MB for paragraphs of 250 tokens."""

_NO_SIGNATURE = sign({})


@dataclass(frozen=True, slots=True)
class Preparation:
    """A batch that is ready to be stored: one item per draft, in order.

    Attributes:
        unembedded: position and reason of each item that should have a vector and has none, by position.
        unsparse: the same of items that should have learned sparse terms.
    """

    items: tuple[Prepared, ...]
    unembedded: tuple[tuple[int, str], ...]
    unsparse: tuple[tuple[int, str], ...] = ()


def prepare(
    drafts: Sequence[Draft],
    analyser: Analyser,
    embedder: Embedder | None,
    *,
    extract: Callable[[Draft], Extraction] = lambda _: Extraction(),
    expander: Expander | None = None,
    token_codes: bool = False,
    sparse: SparseEncoder | None = None,
    following: Embedder | None = None,
    known: Callable[[Sequence[bytes]], AbstractSet[bytes]] = lambda _: frozenset(),
) -> Preparation:
    """Extract from, analyse and encode those of *drafts* that the bank does not hold.

    Args:
        embedder: encodes the texts; ``None`` = no vectors, and none are missed.
        extract: what a draft's text says; by default nothing.
        expander: asks the questions that a text answers, for drafts without an expansion of their own.
        token_codes: whether codes of the tokens are made, too, where the embedder offers their vectors.
        sparse: gives the texts learned sparse terms; ``None`` = none, and none are missed.
        following: the embedder that the bank migrates to; none of its vectors is missed.
        known: those of the content keys that the bank holds; asked about turns and parts of documents only.

    Raises:
        EmbedderMismatchError: the embedder's output does not have the shape it states.
        ModelError: the embedder's files are missing or damaged.
    """
    items = _known_items(drafts, extract, known)
    fresh = [position for position in range(len(drafts)) if not items[position].known]
    texts = [drafts[position].text for position in fresh]
    rows = [None] * len(fresh) if embedder is None else encode(texts, embedder, token_codes=token_codes)
    others = [None] * len(fresh) if following is None else encode(texts, following, token_codes=token_codes)
    learned, unsparse = sparse_terms(
        [in_context(drafts[position].text, drafts[position].context) for position in fresh], sparse
    )
    unembedded: list[tuple[int, str]] = []
    for place, (position, row) in enumerate(zip(fresh, rows, strict=True)):
        if row is not None and row.problem:
            unembedded.append((position, row.problem))
        draft, found = drafts[position], items[position].extraction
        questions = expander.expand(draft.text, found) if expander and not draft.expansion else ""
        terms = field_terms(searched_fields(draft, questions), occurred(draft, found), analyser)
        items[position] = Prepared(
            draft,
            terms,
            row.codes if row else None,
            row.scale if row else 0.0,
            found,
            sign(terms.get("text", {})),
            questions,
            row.tokens if row else b"",
            learned[place],
            row.model if row else None,
            others[place],
        )
    missing = tuple((fresh[place], reason) for place, reason in unsparse)
    return Preparation(tuple(items), tuple(unembedded), missing)


def _known_items(
    drafts: Sequence[Draft],
    extract: Callable[[Draft], Extraction],
    known: Callable[[Sequence[bytes]], AbstractSet[bytes]],
) -> list[Prepared]:
    """Per draft an item without terms and vectors: ``known`` if the bank holds it, else with what it says."""
    asked = {
        position: content_key(draft)
        for position, draft in enumerate(drafts)
        if draft.deduplicate and (draft.document or is_turn(draft))
    }
    held = known(list(asked.values()))
    items = [
        Prepared(draft, {}, None, 0.0, Extraction(), _NO_SIGNATURE, known=asked.get(position) in held)
        for position, draft in enumerate(drafts)
    ]
    items = [item if item.known else replace(item, extraction=extract(item.draft)) for item in items]
    # Words such as "today" are part of what a turn without a time says, by the day that they mean.
    dated = {
        position: content_key(item.draft, item.days)
        for position, item in enumerate(items)
        if position in asked and item.days
    }
    held = known(list(dated.values())) if dated else frozenset()
    return [
        replace(item, known=True) if dated.get(position) in held else item
        for position, item in enumerate(items)
    ]


def searched_fields(draft: Draft, questions: str) -> dict[str, str]:
    """The searched texts of a draft, in the order of ``FIELDS``."""
    texts = {
        "text": draft.text,
        "context": draft.context,
        "relation": draft.relation,
        "expansion": draft.expansion or questions,
    }
    return {field: texts[field] for field in FIELDS}


def encode(texts: list[str], embedder: Embedder, *, token_codes: bool) -> list[Encoding]:
    """What *embedder* makes of each text, in order; one that cannot be encoded costs the others nothing.

    *token_codes*: codes of the tokens are made, too, where the embedder offers their vectors. Raises as
    ``prepare``.
    """
    model = ModelIdentity(embedder.name, embedder.dimension, embedder.fingerprint)
    batch = _Batch(embedder, token_codes)
    made = []
    for first in range(0, len(texts), _AT_ONCE):
        for found in encode_each(batch.encode, texts[first : first + _AT_ONCE], embedder.name):
            row, tokens = (None, b"") if isinstance(found, str) else found
            stored = None if row is None else quantise(row)
            if stored is not None:
                made.append(Encoding(model, *stored, tokens))
            else:
                made.append(Encoding(model, None, problem=_why_no_vector(found)))
    return made


@dataclass(frozen=True, slots=True)
class _Batch:
    """Vectors of texts, each with the codes of its tokens where they are wanted."""

    embedder: Embedder
    token_codes: bool

    def _codes(self, tokens: NDArray[np.float32]) -> bytes:
        fits = tokens.ndim == 2 and tokens.shape[1] == self.embedder.dimension
        return pack_tokens(tokens) if fits else b""

    def encode(self, texts: Sequence[str]) -> list[_Encoded]:
        tokens = [b""] * len(texts)
        if self.token_codes and isinstance(self.embedder, TokenEmbedder):
            raw, found = self.embedder.encode_both(texts)
            tokens = [self._codes(np.asarray(each, np.float32)) for each in found]
        else:
            raw = self.embedder.encode(texts)
        vectors = np.asarray(raw)
        expected = (len(texts), self.embedder.dimension)
        if vectors.shape != expected:
            raise EmbedderMismatchError(
                f"{self.embedder.name} returned vectors of shape {vectors.shape} where {expected} was "
                "expected (texts, dimension); use an embedder whose dimension is what it states"
            )
        with np.errstate(over="ignore"):
            return list(zip(vectors.astype(np.float32), tokens, strict=True))


def _why_no_vector(found: _Encoded | str) -> str:
    if isinstance(found, str):
        return found
    if not np.isfinite(found[0]).all():
        return "its vector is not finite"
    return "its vector is all zero" if not found[0].any() else "its vector is too large to be normalised"


_UNUSABLE = (EmbedderMismatchError, ModelDamagedError, ModelMissingError, MissingExtraError)

Made = TypeVar("Made")


def encode_each(
    encode: Callable[[Sequence[str]], Sequence[Made]], texts: Sequence[str], name: str
) -> list[Made | str]:
    """What *encode* makes of each text, or why it makes nothing.

    When a batch fails, each of its texts is encoded alone. What makes the whole model unusable is raised.
    """
    try:
        found = list(encode(texts))
        if len(found) == len(texts):
            return [*found]
    except _UNUSABLE:
        raise
    except Exception:  # noqa: BLE001, S110 - a model may be anyone's code; the texts are tried alone next
        pass
    made: list[Made | str] = []
    for text in texts:
        try:
            (one,) = encode([text])
            made.append(one)
        except _UNUSABLE:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it was, it is reported and the rest goes on
            made.append(f"{name} could not encode it ({type(error).__name__}: {shown(str(error))})")
    return made


def in_context(text: str, context: str) -> str:
    """What is encoded of a memory."""
    return f"{text}\n{context}" if context else text


def sparse_terms(
    texts: Sequence[str], encoder: SparseEncoder | None
) -> tuple[list[bytes], tuple[tuple[int, str], ...]]:
    """Packed terms per text (empty = none), and position and reason of each text that should have some."""
    if encoder is None or not texts:
        return [b""] * len(texts), ()
    packed: list[bytes] = []
    missing: list[tuple[int, str]] = []
    for position, (text, found) in enumerate(
        zip(texts, encode_each(encoder.encode, texts, encoder.name), strict=True)
    ):
        terms, problem = (b"", found) if isinstance(found, str) else _packed(found)
        if not terms and text.strip():
            missing.append((position, problem or "the encoder gave no terms"))
        packed.append(terms)
    return packed, tuple(missing)


def _packed(found: SparseTerms) -> tuple[bytes, str]:
    """The terms as stored, or what is wrong with them."""
    try:
        return pack_terms(found), ""
    except ValueError as error:
        return b"", str(error)
