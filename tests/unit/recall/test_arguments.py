from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pytest

from simonides.errors import InputError, UnknownNameError
from simonides.options import RECALL, check
from simonides.recall.arguments import RecallRequest, read_recall_arguments
from simonides.records.interval import BEGINNING, FOREVER, to_micros
from simonides.records.kind import Kind
from simonides.records.query import Filters

EAST = timezone(timedelta(hours=5, minutes=30))


def read(query: object = "who moved?", **given: Any) -> RecallRequest:
    arguments: dict[str, Any] = {
        "limit": None,
        "max_tokens": None,
        "kinds": None,
        "project": None,
        "tags": None,
        "tags_match": "any",
        "as_of": None,
        "known_at": None,
        "window": None,
        "seed": None,
        "zone": UTC,
        "types": None,
    }
    assert given.keys() <= arguments.keys()
    options = {**arguments, **given}
    zone = options.pop("zone")
    values = check(RECALL, {"query": query, **options}, moments=False)
    return read_recall_arguments(values, principal=None, zone=zone)


def micros(*parts: int) -> int:
    return to_micros(datetime(*parts, tzinfo=UTC))  # type: ignore[arg-type,misc]


def test_nothing_given_filters_nothing() -> None:
    found = read()
    assert found == RecallRequest("who moved?", None, None, Filters(), None, search=found.search)


@pytest.mark.parametrize("query", ["", " \n\t", "\u3000"])
def test_a_blank_query_is_refused(query: str) -> None:
    with pytest.raises(InputError, match=r"^query: is (blank|empty)"):
        read(query)


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"query": "a\ud83d"}, "query"),
        ({"query": "a\0"}, "query"),
        ({"query": None}, "query"),
        ({"query": b"who"}, "query"),
        ({"query": "x" * (64 * 1024 + 1)}, "query"),
        ({"project": "a\ud83d"}, "project"),
        ({"project": 3}, "project"),
        ({"tags": ["a\ud83d"]}, "tags[0]"),
        ({"tags": ["a", "b\0"]}, "tags[1]"),
        ({"tags": "work"}, "tags"),
        ({"kinds": ["\ud83d"]}, "kinds[0]"),
        ({"tags_match": "\ud83d"}, "tags_match"),
        ({"tags_match": None}, "tags_match"),
        ({"as_of": "\ud83d"}, "as_of"),
        ({"as_of": "soon"}, "as_of"),
        ({"known_at": 5}, "known_at"),
        ({"window": ("2026", "\ud83d")}, "window[1]"),
    ],
)
@pytest.mark.fault("L6")
def test_each_problem_names_its_field_in_a_printable_message(given: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as caught:
        read(**given)
    assert caught.value.field == field
    assert len(str(caught.value).encode("utf-8")) < 300


@pytest.mark.parametrize(
    "limit", [0, -1, 10_001, 10**9, pytest.param(10**5000, id="huge"), True, 1.5, "5", float("nan")]
)
def test_a_limit_outside_its_range_is_refused(limit: object) -> None:
    with pytest.raises(InputError, match=r"^limit: expected a whole number from 1 to 10,000, got "):
        read(limit=limit)


@pytest.mark.parametrize("limit", [1, 10_000])
def test_the_ends_of_the_limit_are_allowed(limit: object) -> None:
    assert read(limit=limit).limit == limit


def test_numbers_of_other_libraries_become_plain_ones() -> None:
    assert type(read(limit=np.int64(5)).limit) is int
    assert type(read(limit=5.0).limit) is int


@pytest.mark.parametrize("tokens", [-1, 10_000_001, False, 0.5])
def test_a_token_budget_outside_its_range_is_refused(tokens: object) -> None:
    with pytest.raises(InputError, match="max_tokens: expected a whole number from 0 to 10,000,000"):
        read(max_tokens=tokens)


def test_a_token_budget_of_nothing_is_allowed() -> None:
    assert read(max_tokens=0).max_tokens == 0
    assert read(max_tokens=10_000_000).max_tokens == 10_000_000


@pytest.mark.parametrize("seed", [-1, 2**63, True, 1.5])
def test_a_seed_outside_its_range_is_refused(seed: object) -> None:
    with pytest.raises(InputError, match="seed: expected a whole number from 0"):
        read(seed=seed)


def test_the_ends_of_the_seed_are_allowed() -> None:
    assert read(seed=0).seed == 0
    assert read(seed=2**63 - 1).seed == 2**63 - 1


def test_kinds_come_in_the_order_of_the_vocabulary_without_repeats() -> None:
    expected = (Kind.EPISODIC, Kind.CODE)
    assert read(kinds=["code", Kind.EPISODIC, "code"]).filters.kinds == expected
    assert read(kinds={"code", "episodic"}).filters.kinds == expected
    assert read(kinds="code").filters.kinds == (Kind.CODE,)
    assert read(kinds=[]).filters.kinds == ()
    assert read(kinds=None).filters.kinds is None


@pytest.mark.parametrize("name", ["world", "experience", "Semantic", "semantik", ""])
def test_an_unknown_kind_is_refused(name: str) -> None:
    with pytest.raises(UnknownNameError) as caught:
        read(kinds=["code", name])
    assert caught.value.field == "kinds[1]"


@pytest.mark.parametrize("value", [5, {"code": 1}, [None], [["code"]], {5}])
def test_kinds_of_other_types_are_refused(value: object) -> None:
    with pytest.raises(InputError, match=r"expected one of"):
        read(kinds=value)


@pytest.mark.parametrize("match", ["any", "any_strict", "all", "all_strict", "exact"])
def test_each_way_to_match_tags_is_known(match: str) -> None:
    filters = read(tags=["b", "a", "b"], tags_match=match).filters
    assert (filters.tags, filters.tags_match) == (("a", "b"), match)


def test_an_unknown_way_to_match_tags_offers_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'any_strict'"):
        read(tags_match="any-strict")


def test_an_empty_project_is_kept_apart_from_none() -> None:
    assert read(project="").filters.project == ""
    assert read(project="atlas").filters.project == "atlas"


def test_a_date_as_viewpoint_is_its_first_instant_in_the_zone() -> None:
    filters = read(as_of="2026-03", known_at=date(2026, 3, 10), zone=EAST).filters
    assert filters.as_of == to_micros(datetime(2026, 3, 1, tzinfo=EAST))
    assert filters.known_at == to_micros(datetime(2026, 3, 10, tzinfo=EAST))


def test_one_date_as_window_is_the_whole_of_it() -> None:
    assert read(window="2026").filters.window == (micros(2026, 1, 1), micros(2027, 1, 1))
    assert read(window="2026-03").filters.window == (micros(2026, 3, 1), micros(2026, 4, 1))
    assert read(window=date(2026, 3, 10)).filters.window == (micros(2026, 3, 10), micros(2026, 3, 11))


def test_a_pair_as_window_runs_from_first_instant_to_first_instant() -> None:
    assert read(window=("2026-03", "2026-05")).filters.window == (micros(2026, 3, 1), micros(2026, 5, 1))
    assert read(window=[None, "2026"]).filters.window == (BEGINNING, micros(2026, 1, 1))
    assert read(window=("2026", None)).filters.window == (micros(2026, 1, 1), FOREVER)
    assert read(window=(None, None)).filters.window == (BEGINNING, FOREVER)


@pytest.mark.parametrize(
    ("window", "problem"),
    [
        (("2026-05", "2026-03"), "not later than its start"),
        (("2026-03", "2026-03"), "give it alone"),
        (("2026",), "got 1 values"),
        ((), "got 0 values"),
        (("2026", "2027", "2028"), "got 3 values"),
        ("2026-03-10T10:00", "one instant has no length"),
        (datetime(2026, 3, 10, tzinfo=UTC), "one instant has no length"),
        (5, "got int"),
        ({"2025", "2026"}, "got set"),
        ("last week", "not a valid date"),
    ],
)
def test_a_window_that_is_none_is_refused(window: object, problem: str) -> None:
    with pytest.raises(InputError, match=problem) as caught:
        read(window=window)
    assert caught.value.field == "window"


@pytest.mark.spec("HI-14")
@pytest.mark.parametrize(
    ("types", "kinds"),
    [
        (None, None),
        ([], ()),
        ("world", (Kind.SEMANTIC,)),
        (["observation", "experience", "world"], (Kind.EPISODIC, Kind.SEMANTIC, Kind.OBSERVATION)),
        ({"experience"}, (Kind.EPISODIC,)),
    ],
)
def test_types_are_kinds_by_other_names(types: object, kinds: tuple[Kind, ...] | None) -> None:
    assert read(types=types).filters.kinds == kinds


def test_types_and_kinds_keep_what_is_in_both() -> None:
    assert read(types=["world", "experience"], kinds=["episodic", "code"]).filters.kinds == (Kind.EPISODIC,)
    with pytest.raises(InputError, match="types: no memory can be of these types and of kind code, too"):
        read(types="world", kinds="code")


@pytest.mark.parametrize("types", ["wold", ["world", "fact"], 3, b"world"])
def test_unknown_types_are_refused(types: object) -> None:
    with pytest.raises(InputError, match=r"types"):
        read(types=types)
