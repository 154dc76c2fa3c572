"""Whether an item says again what a near memory says already.

Again = the same words in the same order but for case and punctuation; with MinHash similarity ≥ 0.9 and
cosine ≥ 0.97 also but for articles and fillers. In either case project, tags, readers, event time, speaker
and metadata must agree, so what differs in a name, a number, a negation, a tense or the roles of subject and
object stays apart (R4), and so does what was said on another day or by someone else.
Weakness: a paraphrase stays apart, too. A memory too many costs a little; a fact too few is lost.

MinHash: the share of equal numbers among 128 estimates the Jaccard similarity of two sets of terms; standard
error at similarity s: √(s (1 − s) / 128). Source: Broder, On the resemblance and containment of documents
(1997).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from rensa import RMinHash

from simonides.text.normalise import fold_case, fold_characters

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray


SIMILAR_WORDS = 0.9
SIMILAR_MEANING = 0.97
SAME_WORDS_FROM = 0.8
"""Texts of the same words are nearer than this whatever their case and punctuation."""

_FILLERS = frozenset({"a", "an", "the", "oh", "well", "please", "really", "actually", "basically", "also"})
_BEFORE_WORDS = ",;:!'\"()[]{}“”„«»、「」"
_AFTER_WORDS = _BEFORE_WORDS + ".。"
_DASHES = frozenset({"-", "–", "—"})


def says_again(
    cosine: float, mine: NDArray[np.uint32], theirs: NDArray[np.uint32], my_text: str, their_text: str
) -> bool:
    """Whether two texts say the same, given their *cosine* and MinHash signatures."""
    my_words, their_words = _words(my_text), _words(their_text)
    if my_words == their_words:
        return True
    alike = float(np.count_nonzero(mine == theirs)) / max(1, len(mine))
    if alike < SIMILAR_WORDS or cosine < SIMILAR_MEANING:
        return False
    return _without_fillers(my_words) == _without_fillers(their_words)


def _words(text: str) -> list[str]:
    """Words without case, width, accents and the punctuation around them.

    Signs that carry meaning stay: a question mark, minus, a leading point, currency, per cent, emoji, the
    ``+`` and ``#`` of a name.
    """
    folded = fold_case(fold_characters(text)).split()
    words = (word.lstrip(_BEFORE_WORDS).rstrip(_AFTER_WORDS) for word in folded)
    return [word for word in words if word and word not in _DASHES]


def _without_fillers(words: list[str]) -> list[str]:
    return [word for word in words if word not in _FILLERS]


SIGNATURE_LENGTH = 128
_SEED = 20_261_127
# Part of what is stored: another seed or length makes other signatures.


def sign(terms: Iterable[str]) -> NDArray[np.uint32]:
    """MinHash of a set of terms, uint32, shape (SIGNATURE_LENGTH,)."""
    signature = RMinHash(num_perm=SIGNATURE_LENGTH, seed=_SEED)
    signature.update(sorted(set(terms)))
    return np.array(signature.digest(), np.uint32)
