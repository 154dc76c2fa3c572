"""A sparse encoder without weights, for tests of code that needs sparse terms but no meaning.

A text's entries are its case-folded words, each hashed into a vocabulary of 4,096 with weight 1 + ln(count).
Words that *synonyms* names weigh half as another word, too: what a learned expansion would add.
Weakness: two words may share an entry; judge no quality with it.
"""

from __future__ import annotations

import math
import re
import zlib
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from simonides.records.sparse import SparseTerms

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

VOCABULARY = 4_096


@dataclass(frozen=True)
class StubSparseEncoder:
    """A deterministic encoder that satisfies ``protocols.SparseEncoder``.

    Attributes:
        synonyms: word → another word that it weighs half as, case-folded.
        name: the name it goes by; part of the fingerprint, so two names are two encoders.
    """

    synonyms: Mapping[str, str] = field(default_factory=dict)
    name: str = "stub-sparse"

    @property
    def fingerprint(self) -> str:
        """Changes with the name and the synonyms."""
        return f"{self.name}-{zlib.crc32(repr(sorted(self.synonyms.items())).encode()):08x}"

    def encode(self, texts: Sequence[str]) -> list[SparseTerms]:
        """Entries of each text."""
        return [self.encode_query(text) for text in texts]

    def encode_query(self, text: str) -> SparseTerms:
        """Entries of a query; the same as of the memory of that text."""
        weights: dict[int, float] = {}
        for word, count in sorted(Counter(re.findall(r"\w+", text.casefold())).items()):
            weight = 1.0 + math.log(count)
            weights[_entry(word)] = weights.get(_entry(word), 0.0) + weight
            if word in self.synonyms:
                other = _entry(self.synonyms[word])
                weights[other] = weights.get(other, 0.0) + weight / 2
        ids = sorted(weights)
        return SparseTerms(np.array(ids, np.int32), np.array([weights[number] for number in ids], np.float32))


def _entry(word: str) -> int:
    # crc32 is the same in every process; Python's own hash of a str is not.
    return zlib.crc32(word.encode("utf-8", "surrogatepass")) % VOCABULARY
