"""MinHash of a text's terms: how alike two texts are in words, from 128 numbers each.

The share of equal numbers estimates the Jaccard similarity of the two sets of terms; its standard error at
similarity s is √(s (1 − s) / 128). Source: Broder, On the resemblance and containment of documents (1997).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from rensa import RMinHash

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

SIGNATURE_LENGTH = 128
_SEED = 20_261_127
# Part of what is stored: another seed or length makes other signatures.


def sign(terms: Iterable[str]) -> NDArray[np.uint32]:
    """MinHash of a set of terms, uint32, shape (SIGNATURE_LENGTH,)."""
    signature = RMinHash(num_perm=SIGNATURE_LENGTH, seed=_SEED)
    signature.update(sorted(set(terms)))
    return np.array(signature.digest(), np.uint32)
