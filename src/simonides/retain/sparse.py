"""Learned sparse terms of a batch of texts, as they are stored.

The text is read together with its context (the turns around it, headings), text first: a turn of a chat often
says what it is about only in its neighbours. When a neighbour is forgotten, these terms are erased with it.
One bad text never sinks the rest: it is stored without terms, and reported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from simonides.errors import EmbedderMismatchError, MissingExtraError, ModelDamagedError, ModelMissingError
from simonides.index.sparse_postings import pack_terms
from simonides.records.hygiene import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from simonides.protocols import SparseEncoder
    from simonides.records.sparse import SparseTerms

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
