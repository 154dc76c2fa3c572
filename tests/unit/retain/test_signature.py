from __future__ import annotations

import math

import numpy as np
import pytest

from simonides.retain.duplicates import SIGNATURE_LENGTH, sign

WORDS = [f"word{n}" for n in range(400)]


def alike(one: list[str], other: list[str]) -> float:
    return float(np.mean(sign(one) == sign(other)))


def test_a_signature_depends_on_the_set_of_terms_alone() -> None:
    signature = sign(["fuse", "blown", "fuse"])
    assert signature.dtype == np.uint32
    assert signature.shape == (SIGNATURE_LENGTH,)
    assert np.array_equal(signature, sign(["blown", "fuse"]))
    assert not np.array_equal(signature, sign(["blown", "lamp"]))


def test_a_signature_is_the_same_in_every_process_and_version() -> None:
    """It is stored, so it may never change; the numbers are those of the first release."""
    assert sign(["fuse", "blown"])[:4].tolist() == [3882064709, 433576140, 3370056263, 3496422463]
    assert len(set(sign([]).tolist())) == 1


@pytest.mark.parametrize("shared", [0, 40, 100, 160, 190, 200])
def test_the_share_of_equal_numbers_estimates_jaccard(shared: int) -> None:
    one, other = WORDS[:200], WORDS[200 - shared : 400 - shared]
    jaccard = shared / (400 - shared)
    error = math.sqrt(jaccard * (1 - jaccard) / SIGNATURE_LENGTH)
    assert alike(one, other) == pytest.approx(jaccard, abs=4 * error + 1e-9)
