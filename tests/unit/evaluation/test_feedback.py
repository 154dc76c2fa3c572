from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simonides.errors import InputError
from simonides.evaluation.feedback import LEAST_SAMPLES, Trained, train_mlp, train_reranker
from simonides.records.impression import Samples


class StubBank:
    """Has samples, and keeps what it is given."""

    def __init__(self, count: int, used: int, *, teaches: bool = False) -> None:
        self.features = np.random.default_rng(3).random((count, 10))
        self.labels = (np.arange(count) < used).astype(np.float64)
        if teaches:
            # Four memories a recall; what is used is told by the second feature, never by the cosine.
            self.labels = (np.arange(count) % 4 == 0).astype(np.float64)
            self.features[:, 1] = self.labels
        self.kept: list[tuple[Any, tuple[str, ...]]] = []

    def samples(self) -> Samples:
        return Samples(
            self.features,
            self.labels,
            tuple(f"m{n}" for n in range(len(self.labels))),
            tuple(n // 4 for n in range(len(self.labels))),
        )

    def adopt_reranker(self, network: Any, memories: tuple[str, ...]) -> Path:
        self.kept.append((network, memories))
        return Path("folder/reranker.npz")


def trained(bank: StubBank, **options: Any) -> Trained:
    return train_reranker(bank, **options)  # type: ignore[arg-type]


@pytest.mark.spec("EN-08")
def test_one_sample_too_few_trains_nothing() -> None:
    bank = StubBank(LEAST_SAMPLES - 1, 5)
    with pytest.raises(InputError, match=f"hold {LEAST_SAMPLES - 1} .* at least {LEAST_SAMPLES}"):
        trained(bank)
    assert bank.kept == []


@pytest.mark.parametrize("used", [0, LEAST_SAMPLES])
def test_all_used_or_none_teaches_nothing(used: int) -> None:
    with pytest.raises(InputError):
        trained(StubBank(LEAST_SAMPLES, used))


def test_a_better_network_is_kept_with_its_memories_and_its_evidence() -> None:
    bank = StubBank(120, 0, teaches=True)
    report = trained(bank, seed=4)
    assert (report.samples, report.used, report.path) == (120, 30, str(Path("folder/reranker.npz")))
    assert (report.held_out, report.right, report.adopted) == (6, 1.0, True)
    assert report.right_before < 1
    ((network, memories),) = bank.kept
    assert memories == tuple(f"m{n}" for n in range(120))
    assert "1.000 of pairs right on 6 held-out recalls" in network.evidence
    again = train_mlp(bank.features, bank.labels, 4)
    assert network.predict(bank.features).tolist() == again.predict(bank.features).tolist()


def test_a_network_that_is_no_better_is_not_kept() -> None:
    bank = StubBank(120, 0, teaches=True)
    # The cosine says it all.
    bank.features[:, 0] = bank.labels
    report = trained(bank)
    assert report.right <= report.right_before == 1.0
    assert not report.adopted
    assert bank.kept == []


def test_a_dry_run_keeps_nothing() -> None:
    bank = StubBank(120, 0, teaches=True)
    report = trained(bank, dry_run=True)
    assert report.adopted
    assert report.path == ""
    assert bank.kept == []


def test_too_few_recalls_to_compare_on_adopt_nothing() -> None:
    bank = StubBank(LEAST_SAMPLES, 5)
    assert trained(bank) == Trained(LEAST_SAMPLES, 5, "", 0, 0.0, 0.0, adopted=False)
    assert bank.kept == []
