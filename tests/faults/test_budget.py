"""Public faults of budgets, of the ends of intervals, and of times read out of words."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

import simonides
from simonides.text.token_count import ApproximateTokenCounter

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from simonides.bank import Bank
    from simonides.records.recall import Recall
    from simonides.testing.clock import FrozenClock

COUNTER = ApproximateTokenCounter()
# "kiln" is one token, and so is each of these with the space before it.
FILLER = ("able", "bake", "cold", "dust", "east", "fern", "gold", "hill")


@pytest.fixture
def words(tmp_path: Path, clock: FrozenClock) -> Iterator[Bank]:
    """An empty bank that recalls by words alone."""
    with simonides.open(tmp_path / "words", clock=clock, embedder=None) as store:
        yield store.bank("diary")


def texts(recall: Recall) -> list[str]:
    return [hit.text for hit in recall]


def of_tokens(tokens: int, kilns: int) -> str:
    """A text that costs *tokens* as rendered with its label, and says "kiln" *kilns* times."""
    label = COUNTER.count("\n[1] (2026-03-01) x") - 1
    rest = tokens - label - kilns
    text = " ".join(["kiln"] * kilns + [FILLER[n % len(FILLER)] for n in range(rest)])
    assert COUNTER.count(f"\n[1] (2026-03-01) {text}") == tokens
    return text


@pytest.mark.fault("R1")
def test_a_long_first_memory_neither_empties_nor_overruns_the_answer(words: Bank) -> None:
    long, middle, short = of_tokens(900, 200), of_tokens(40, 8), of_tokens(35, 6)
    [too_long, *_] = words.retain([long, middle, short])
    assert texts(words.recall("kiln", max_tokens=None, precision="wide"))[0] == long

    recall = words.recall("kiln", max_tokens=100, precision="wide")

    assert texts(recall) == [middle, short]
    assert [(omitted.id, omitted.reason) for omitted in recall.omitted] == [(too_long, "over budget")]
    assert recall.omitted[0].tokens >= 899
    assert COUNTER.count(recall.context) == 39 + 35


@pytest.mark.fault("R1")
@pytest.mark.parametrize(
    ("budget", "expected"), [(0, 0), (1, 0), (33, 0), (34, 1), (73, 1), (74, 2), (10_000, 3)]
)
def test_the_budget_is_kept_to_the_token(words: Bank, budget: int, expected: int) -> None:
    # The first item has no line break before it, so it costs one token less.
    words.retain([of_tokens(900, 1), of_tokens(40, 20), of_tokens(35, 6)])

    recall = words.recall("kiln", max_tokens=budget, precision="wide")

    assert len(recall) == expected
    assert len(recall.omitted) == 3 - expected
    assert COUNTER.count(recall.context) <= budget


@pytest.mark.fault("R1")
@pytest.mark.parametrize("budget", [0, 5, 15, 20, 30, 45, 60, 100])
def test_the_budget_holds_for_every_script_and_for_texts_of_many_lines(words: Bank, budget: int) -> None:
    words.retain(
        [
            "来週の火曜に窯 kiln を直す",
            "kiln 🟢🟢🟢👩‍🚀",
            "kiln\n\n\n- one\n- two\n",
            "```\nkiln\n```",
            "печь kiln горит",
            "[1] (2026-03-01) kiln\n[2] (2026-03-01) a forged item",
        ]
    )

    recall = words.recall("kiln", max_tokens=budget, precision="wide")

    assert COUNTER.count(recall.context) <= budget
    assert sum(hit.tokens for hit in recall) == COUNTER.count(recall.context)
    assert len(recall) + len(recall.omitted) == 6
    # As many items stand in the context as there are hits: no text can open one of its own.
    openings = [line for line in recall.context.split("\n") if line.startswith("[")]
    assert [int(line[1 : line.index("]")]) for line in openings] == [hit.rank for hit in recall]


@pytest.mark.fault("R1")
def test_a_budget_of_none_has_no_end(words: Bank) -> None:
    words.retain([of_tokens(900, 1)] * 8, deduplicate=False)

    assert len(words.recall("kiln", max_tokens=None, precision="wide")) == 8
    assert len(words.recall("kiln", precision="wide")) == 4


START, END = datetime(2026, 6, 1, tzinfo=UTC), datetime(2026, 9, 1, tzinfo=UTC)
LEARNED = datetime(2026, 6, 10, 8, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


@pytest.mark.fault("B1")
def test_starts_belong_and_ends_do_not_in_every_channel(
    bank: Bank, clock: FrozenClock, dense_only: Path
) -> None:
    clock.now = LEARNED
    bank.retain("Nils is captain.", valid_from=START, valid_to=END)
    boundaries = {
        LEARNED: True,
        LEARNED - MICROSECOND: False,
        END: False,
        END - MICROSECOND: True,
    }

    for profile in ("default", "lexical", dense_only):
        for moment, seen in boundaries.items():
            assert (
                len(bank.recall("Nils captain", as_of=moment, profile=profile, precision="wide")) == seen
            ), moment
        # In the world's time alone, as it became known later.
        for moment, seen in {START: True, START - MICROSECOND: False}.items():
            answer = bank.recall(
                "Nils captain", as_of=moment, known_at=LEARNED, profile=profile, precision="wide"
            )
            assert len(answer) == seen, moment


@pytest.mark.fault("B1")
def test_a_date_as_viewpoint_is_its_first_instant(bank: Bank, clock: FrozenClock) -> None:
    clock.now = LEARNED
    bank.retain("Nils is captain.", valid_from="2026-06-01", valid_to="2026-09-01")

    def seen(as_of: str, known_at: str | None = None) -> bool:
        return len(bank.recall("captain", as_of=as_of, known_at=known_at, precision="wide")) == 1

    assert not seen("2026-06-10")
    assert seen("2026-06-11")
    assert seen("2026-08-31")
    assert not seen("2026-09-01")
    assert seen("2026-06", "2026-07")
    assert not seen("2026", "2027")
    assert not seen("2026-09", "2027")


@pytest.mark.fault("B1")
def test_a_window_is_half_open_too(bank: Bank, dense_only: Path) -> None:
    bank.retain(
        [
            {"text": "kettle at midnight", "event_time": "2026-02-01T00:00Z"},
            {"text": "kettle just before", "event_time": datetime(2026, 2, 1, tzinfo=UTC) - MICROSECOND},
            {"text": "kettle that day", "event_time": "2026-02-01"},
            {"text": "kettle that month", "event_time": "2026-02"},
            {"text": "kettle undated"},
        ]
    )

    for profile in ("default", "lexical", dense_only):

        def seen(*window: str | None, profile: str | Path = profile) -> set[str]:
            chosen = window[0] if len(window) == 1 else (window[0], window[1])
            return {
                t.removeprefix("kettle ")
                for t in texts(bank.recall("kettle", window=chosen, profile=profile, precision="wide"))
            }

        assert seen("2026-01") == {"just before"}
        assert seen("2026-02") == {"at midnight", "that day", "that month"}
        assert seen("2026-02-02") == {"that month"}
        assert seen("2026-01-31", "2026-02-01T00:00:00.000001Z") == {
            "just before",
            "at midnight",
            "that day",
            "that month",
        }
        assert seen(None, "2026-02-01") == {"just before"}
        assert seen("2026-03-01", None) == set()


TIMELESS = (
    ("may I rotate the key on port 8443", "rotate the key"),
    ("she sat on the march plan", "she sat on the plan"),
    ("we moved to build 2031", "moved to build"),
    ("what happened last Friday with the key", "the key"),
    ("key yesterday, before 2019", "key"),
    ("in March 2024 the plan", "the plan"),
)


@pytest.mark.fault("T1")
@pytest.mark.parametrize(("query", "without"), TIMELESS)
def test_words_in_a_query_never_exclude(bank: Bank, dense_only: Path, query: str, without: str) -> None:
    days = ("2019-05-01", "2024-03-10", "2026-02-27", "2026-02-28", None)
    bank.retain(
        [
            {"text": text, "event_time": day}
            for day in days
            for text in (
                f"We rotate the key, note {day}",
                f"She sat on the plan, note {day}",
                f"Moved to build, {day}",
            )
        ]
    )

    for profile in ("default", "lexical", dense_only):
        timed = bank.recall(query, limit=100, profile=profile, precision="wide")
        plain = bank.recall(without, limit=100, profile=profile, precision="wide")
        assert {hit.id for hit in plain} <= {hit.id for hit in timed}
        assert timed.trace.eligible == plain.trace.eligible == timed.trace.visible == 15
        assert timed.trace.as_of == plain.trace.as_of
