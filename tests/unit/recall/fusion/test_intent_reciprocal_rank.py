from __future__ import annotations

import numpy as np
import pytest

from simonides.errors import InputError
from simonides.profiles.loader import load_profile
from simonides.recall.fusion import INTENTS, IntentReciprocalRank, ReciprocalRank
from simonides.records.candidate import Ranking
from simonides.testing.fakes import FakeView, fake_memory, fake_query

ENGRAM = load_profile("engram").fuser.stage
EVEN: dict[str, dict[str, float]] = {intent: {} for intent in INTENTS}
VIEW = FakeView.of([fake_memory(f"m{n}") for n in range(10)])


def ranking(*ordinals: int) -> Ranking:
    return Ranking(np.array(ordinals, np.int64), np.arange(9.0, 9.0 - len(ordinals), -1.0))


RANKINGS = {"dense": ranking(9), "lexical": ranking(1, 2, 3, 4, 9), "graph": ranking(1, 9)}
DENSE, LEXICAL, GRAPH = 1 / 61, 1 / 65, 1 / 62


def score(intent: str) -> float:
    pool = ENGRAM.fuse(VIEW, fake_query("?", intent=intent), RANKINGS)
    return next(candidate.score for candidate in pool if candidate.ordinal == 9)


@pytest.mark.spec("EN-02")
@pytest.mark.spec("EN-03")
@pytest.mark.parametrize(
    ("intent", "dense", "lexical", "graph"),
    [
        ("why", 1.0, 0.8, 1.5),
        ("when", 0.8, 1.2, 0.8),
        ("who", 0.8, 0.8, 1.8),
        ("how", 1.2, 1.0, 0.8),
        ("what", 1.0, 1.0, 1.0),
    ],
)
def test_the_weights_of_each_intent(intent: str, dense: float, lexical: float, graph: float) -> None:
    assert score(intent) == round(dense * DENSE + lexical * LEXICAL + graph * GRAPH, 9)


@pytest.mark.spec("EN-03")
def test_the_published_number() -> None:
    assert score("why") == pytest.approx(0.052895, abs=1e-6)


def test_an_intent_that_was_not_looked_for_is_a_what() -> None:
    assert score("") == score("what")


def test_it_is_reciprocal_rank_with_that_table() -> None:
    query = fake_query("?", intent="who")
    assert isinstance(ENGRAM, IntentReciprocalRank)
    plain = ReciprocalRank(60, ENGRAM.intents["who"])
    assert ENGRAM.fuse(VIEW, query, RANKINGS) == plain.fuse(VIEW, query, RANKINGS)


@pytest.mark.parametrize(
    ("intents", "says"),
    [
        ({"why": {}}, "^intents: needs a table for each"),
        ({**EVEN, "where": {}}, "^intents: .* and no other"),
        ({**EVEN, "who": {"graph": 0.0}}, r"^intents\.who\.graph: 0\.0"),
    ],
)
def test_tables_that_are_missing_or_wrong_are_refused(
    intents: dict[str, dict[str, float]], says: str
) -> None:
    with pytest.raises(InputError, match=says):
        IntentReciprocalRank(60, intents)


def test_k_is_checked_as_ever() -> None:
    with pytest.raises(InputError, match=r"^k: -1"):
        IntentReciprocalRank(-1, EVEN)
