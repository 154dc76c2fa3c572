from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from simonides.errors import InputError
from simonides.evaluation.feedback import LEAST_SAMPLES, train_mlp

if TYPE_CHECKING:
    from numpy.typing import NDArray


def samples(count: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Used where the cosine is high; everything else is chance."""
    features = np.random.default_rng(1).random((count, 10))
    return features, (features[:, 0] > 0.5).astype(np.float64)


@pytest.mark.spec("EN-08")
def test_it_learns_what_is_used() -> None:
    features, labels = samples(200)
    trained = train_mlp(features, labels, seed=0)
    unseen, truth = samples(600)
    scores = trained.predict(unseen[200:])
    assert ((scores > 0.5) == (truth[200:] > 0.5)).mean() > 0.85
    assert trained.samples == 200


@pytest.mark.spec("EN-08")
def test_the_same_samples_and_seed_give_the_same_network() -> None:
    features, labels = samples(30)
    one, other, third = (train_mlp(features, labels, seed) for seed in (3, 3, 4))
    assert one.predict(features).tolist() == other.predict(features).tolist()
    assert one.predict(features).tolist() != third.predict(features).tolist()


@pytest.mark.spec("EN-08")
def test_a_rare_use_is_learned_as_well() -> None:
    features = np.zeros((100, 10))
    features[:5, 2] = 1.0
    trained = train_mlp(features, (features[:, 2] > 0).astype(np.float64), seed=0)
    used, unused = trained.predict(features[[0, 50]])
    assert used > 0.5 > unused


GOOD = samples(LEAST_SAMPLES)


@pytest.mark.spec("EN-08")
@pytest.mark.parametrize(
    ("features", "labels", "says"),
    [
        (GOOD[0][:19], GOOD[1][:19], "labels: are 19; at least 20"),
        (GOOD[0], np.ones(20), "labels: are all the same"),
        (GOOD[0], GOOD[1][:19], "labels: have shape"),
        (GOOD[0][:, :9], GOOD[1], "features: have shape"),
        (np.full((20, 10), np.nan), GOOD[1], "features: hold a number that is not finite"),
        (GOOD[0], GOOD[1] / 2, "labels: hold something other"),
    ],
)
def test_too_little_or_wrong_data_is_refused(
    features: NDArray[np.float64],
    labels: NDArray[np.float64],
    says: str,
) -> None:
    with pytest.raises(InputError) as caught:
        train_mlp(features, labels, seed=0)
    assert str(caught.value).startswith(says)


@pytest.mark.spec("EN-08")
def test_twenty_samples_are_enough() -> None:
    assert train_mlp(*GOOD, seed=0).samples == 20
