"""What a run reports, from judgements made by hand, and a whole run by words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from simonides.errors import InputError
from simonides.evaluation.abstention import AbstentionReport, Judged, run_abstention
from simonides.evaluation.dataset import Corpus, Dataset, Item, Question
from simonides.evaluation.unanswerable import Asked
from simonides.recall.refining.abstention import Abstention

if TYPE_CHECKING:
    from pathlib import Path

STAGE = Abstention(
    head=10,
    rest=100,
    fields=("text",),
    embedder="stub",
    weights={"cosine": 1.0},
    least=0.5,
    least_coverage=0.2,
    enough_coverage=0.9,
)


def judged(
    kind: str, cosine: float, *, answerable: bool, fitting: bool = False, no_match: bool = False
) -> Judged:
    asked = Asked("c", "?", kind, answerable, fitting)
    evidence = {"coverage": cosine / 2, "cosine": cosine, "gap": cosine / 4, "score": cosine}
    return Judged(asked, no_match, evidence)


def report(*meaning: Judged) -> AbstentionReport:
    return AbstentionReport("default", "stub", "0", STAGE, meaning, meaning)


def test_rates_are_of_the_half_that_fitting_did_not_see_and_category_5_stands_apart() -> None:
    answer = report(
        judged("locomo", 0.7, answerable=True),
        judged("locomo", 0.4, answerable=True, no_match=True),
        judged("people", 0.3, answerable=False, no_match=True),
        judged("work", 0.6, answerable=False),
        judged("adversarial", 0.7, answerable=False),
        judged("locomo", 0.7, answerable=True, fitting=True),
        judged("people", 0.1, answerable=False, fitting=True),
    ).to_dict()
    assert answer["questions"] == {"adversarial": 1, "locomo": 2, "people": 1, "work": 1}
    assert answer["measured"]["meaning"] == {
        "lost": {"all": 0.5, "locomo": 0.5},
        "false": {"all": 0.5, "adversarial": 1.0, "people": 0.0, "work": 1.0},
    }
    at = {row["least"]: row for row in answer["curve"]}
    assert at[0.2]["lost"]["all"] == 0.0
    assert at[0.2]["false"]["all"] == 1.0
    assert at[0.5]["lost"]["all"] == 0.5
    assert at[0.62]["false"]["all"] == 0.0
    assert [row["least"] for row in answer["curve"]] == sorted(at)


def test_fitting_takes_the_other_half_without_category_5() -> None:
    known = [judged("locomo", 0.6 + n / 100, answerable=True, fitting=True) for n in range(20)]
    unknown = [judged("people", 0.2 + n / 100, answerable=False, fitting=True) for n in range(20)]
    hard = [judged("adversarial", 0.9, answerable=False, fitting=True) for _ in range(20)]
    held_out = [judged("locomo", 0.1, answerable=True), judged("people", 0.9, answerable=False)]
    with_hard = report(*known, *unknown, *hard, *held_out).fitted()
    assert with_hard == report(*known, *unknown, *held_out).fitted()
    assert sum(with_hard["weights"].values()) == pytest.approx(1.0, abs=1e-3)
    assert with_hard["least_coverage"] == pytest.approx(0.3, abs=1e-3)


def test_a_profile_that_never_abstains_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="abstention"):
        run_abstention([], store_path=tmp_path / "s", profile="lexical", embedder=None)


def test_a_run_by_words(tmp_path: Path) -> None:
    texts = ("The kiln is mended.", "I glazed two blue pots.", "My sister sells candles.")
    items = tuple(Item(f"D1:{n}", f"Odile: {text}") for n, text in enumerate(texts))
    asked = tuple(
        Question(f"q{n}", text, ("D1:0",), "4")
        for n, text in enumerate(
            ("Is Odile's kiln mended?", "Which pots glazed Odile?", "Who sells candles?")
        )
    )
    dataset = Dataset("talks", ((Corpus("talk", items), asked),))
    seen: list[tuple[str, int, int]] = []
    found = run_abstention(
        [dataset],
        store_path=tmp_path / "store",
        embedder=None,
        progress=lambda phase, done, total: seen.append((phase, done, total)),
    )
    assert found.embedder is None
    assert found.meaning == ()
    answer = found.to_dict()
    assert answer["curve"] == []
    assert set(answer["measured"]) == {"words"}
    assert answer["measured"]["words"]["lost"]["all"] == 0.0
    assert answer["measured"]["words"]["false"]["all"] < 0.3
    assert seen[0] == ("retain", 3, 3)
    assert seen[-1][1] == seen[-1][2] == len(found.words)
