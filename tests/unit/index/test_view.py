from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from itertools import permutations
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest

from simonides.index.accesses import Accesses
from simonides.index.columns import ERASED, Row
from simonides.index.snapshot import IndexSnapshot
from simonides.index.view import build_view, comparable, tags_match
from simonides.records.interval import BEGINNING, FOREVER, HEAD, parse_time, to_micros
from simonides.records.kind import ARCHIVED, CONSOLIDATED, KIND_CODES, PINNED, Kind
from simonides.records.query import Filters
from simonides.testing.fakes import fake_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.unit.index.conftest import MakeBlock, MakeRow

    from simonides.index.view import BankView, RowReader
    from simonides.records.memory import Memory

MICROSECOND = 1
NOW = to_micros(datetime(2026, 12, 1, tzinfo=UTC))


def at(text: str) -> int:
    return parse_time(text, "time").start


def _memories(ordinals: Sequence[int]) -> list[Memory]:
    return [fake_memory(f"memory {ordinal}") for ordinal in ordinals]


read = cast("RowReader", SimpleNamespace(memories=_memories))


@pytest.fixture
def bank(make_block: MakeBlock, make_row: MakeRow) -> Callable[..., IndexSnapshot]:
    """A snapshot whose rows are given as column values; label sets and names by their code."""

    def make(
        *rows: dict[str, float],
        labels: Sequence[str] = ("",),
        label_sets: Sequence[frozenset[str]] = (frozenset(),),
        last_ingested: int = 0,
        expired: dict[int, int] | None = None,
    ) -> IndexSnapshot:
        block = make_block([make_row(ordinal, "", None, **values) for ordinal, values in enumerate(rows)])
        blocks = (block,) if rows else ()
        return IndexSnapshot(1, 0, 3, blocks, expired or {}, labels, label_sets, last_ingested)

    return make


def seen(snapshot: IndexSnapshot, **filters: Any) -> list[int]:
    return np.flatnonzero(build_view(snapshot, Filters(**filters), NOW, read).visible).tolist()


def wanted(snapshot: IndexSnapshot, **filters: Any) -> list[int]:
    view = build_view(snapshot, Filters(**filters), NOW, read)
    assert not (view.eligible & ~view.visible).any()
    return np.flatnonzero(view.eligible).tolist()


@pytest.mark.spec("ME-08")
@pytest.mark.fault("B1")
@pytest.mark.parametrize(
    ("as_of", "there"),
    [
        (at("2026-06-10T08:00Z"), True),
        (at("2026-06-10T08:00Z") - MICROSECOND, False),
        (at("2026-09-01") - MICROSECOND, True),
        (at("2026-09-01"), False),
        (at("2026-06-10"), False),  # a date means its first instant, before it was learned
        (at("2026-06-11"), True),
    ],
)
def test_a_fact_is_seen_from_when_it_was_learned_until_it_ends(
    bank: Callable[..., IndexSnapshot], as_of: int, there: bool
) -> None:
    fact = {
        "valid_from": at("2026-06-01"),
        "valid_to": at("2026-09-01"),
        "ingested_at": at("2026-06-10T08:00Z"),
    }
    assert seen(bank(fact), as_of=as_of) == [0] * there


@pytest.mark.fault("B1")
@pytest.mark.parametrize(
    ("as_of", "there"),
    [("2026-06-01", True), ("2026-05-31T23:59:59.999999Z", False), ("2026-08-31T23:59:59.999999Z", True)],
)
def test_known_at_looks_back_with_what_is_known_later(
    bank: Callable[..., IndexSnapshot], as_of: str, there: bool
) -> None:
    fact = {
        "valid_from": at("2026-06-01"),
        "valid_to": at("2026-09-01"),
        "ingested_at": at("2026-06-10T08:00Z"),
    }
    assert seen(bank(fact), as_of=at(as_of), known_at=NOW) == [0] * there


@pytest.mark.spec("ME-08")
def test_learned_in_march_that_a_fact_ended_in_january(bank: Callable[..., IndexSnapshot]) -> None:
    march = at("2026-03-10")
    believed = {"valid_from": at("2025-05-01"), "ingested_at": at("2025-05-01"), "expired_at": march}
    corrected = {"valid_from": at("2025-05-01"), "valid_to": at("2026-01-15"), "ingested_at": march}
    snapshot = bank(believed, corrected)
    assert seen(snapshot, as_of=at("2026-02-01"), known_at=at("2026-02-01")) == [0]
    assert seen(snapshot, as_of=at("2026-02-01"), known_at=NOW) == []
    assert seen(snapshot, as_of=at("2026-01-01"), known_at=NOW) == [1]
    # On the microsecond of the correction the new version takes the old one's place.
    assert seen(snapshot, as_of=at("2026-01-01"), known_at=march - MICROSECOND) == [0]
    assert seen(snapshot, as_of=at("2026-01-01"), known_at=march) == [1]


def test_known_at_defaults_to_as_of_or_all_that_was_written_and_as_of_to_now(
    bank: Callable[..., IndexSnapshot],
) -> None:
    snapshot = bank({})
    view = build_view(snapshot, Filters(), NOW, read)
    assert (view.as_of, view.known_at) == (NOW, HEAD)
    view = build_view(snapshot, Filters(as_of=5), NOW, read)
    assert (view.as_of, view.known_at) == (5, 5)
    view = build_view(snapshot, Filters(known_at=7), NOW, read)
    assert (view.as_of, view.known_at) == (NOW, 7)


def test_open_ends_are_seen_from_any_time(bank: Callable[..., IndexSnapshot]) -> None:
    always = {"valid_from": BEGINNING, "valid_to": FOREVER, "ingested_at": BEGINNING, "expired_at": FOREVER}
    for moment in (BEGINNING, -1, 0, NOW, FOREVER - 1):
        assert seen(bank(always), as_of=moment) == [0]


@pytest.mark.fault("V5")
def test_expired_and_erased_rows_are_never_eligible(bank: Callable[..., IndexSnapshot]) -> None:
    snapshot = bank({}, {}, {"expired_at": NOW}, ERASED, expired={0: BEGINNING, 1: NOW})
    assert wanted(snapshot) == []
    assert wanted(snapshot, as_of=NOW - 1) == [1, 2]
    assert wanted(snapshot, as_of=BEGINNING, known_at=BEGINNING) == []


@pytest.mark.spec("ME-08")
@pytest.mark.fault("F1")
def test_a_principal_sees_open_rows_and_its_own(bank: Callable[..., IndexSnapshot]) -> None:
    snapshot = bank(
        {"acl": 0}, {"acl": 1}, {"acl": 2}, {"acl": 3},
        label_sets=(frozenset(), frozenset({"ada"}), frozenset({"ben"}), frozenset({"ada", "ben"})),
    )  # fmt: skip
    assert seen(snapshot) == [0, 1, 2, 3]
    assert seen(snapshot, principal="ada") == [0, 1, 3]
    assert seen(snapshot, principal="ben") == [0, 2, 3]
    assert seen(snapshot, principal="cleo") == [0]
    assert seen(snapshot, principal="") == [0]


def test_kinds_and_project_narrow_results_and_leave_statistics(bank: Callable[..., IndexSnapshot]) -> None:
    snapshot = bank(
        *({"kind": code, "project": code % 2} for code in KIND_CODES.values()), labels=("", "apollo")
    )
    assert wanted(snapshot, kinds=(Kind.CODE, Kind.EPISODIC)) == [
        KIND_CODES[Kind.EPISODIC],
        KIND_CODES[Kind.CODE],
    ]
    assert wanted(snapshot, project="apollo") == [1, 3, 5]
    assert wanted(snapshot, project="") == [0, 2, 4, 6]
    assert wanted(snapshot, project="Apollo") == []
    assert wanted(snapshot, project="apollo", kinds=(Kind.DECISION, Kind.CODE)) == [3]
    assert seen(snapshot, project="apollo", kinds=(Kind.DECISION,)) == list(range(7))


@pytest.mark.spec("HI-14")
@pytest.mark.fault("F3")
@pytest.mark.parametrize(
    ("mode", "tags", "rows"),
    [
        # Rows: {a}, {b}, {a,b}, {}.
        ("any", ["a"], [0, 2, 3]),
        ("any", ["a", "b"], [0, 1, 2, 3]),
        ("any", [], [0, 1, 2, 3]),
        ("any_strict", ["a"], [0, 2]),
        ("any_strict", ["a", "b"], [0, 1, 2]),
        ("any_strict", [], []),
        ("all", ["a"], [0, 2, 3]),
        ("all", ["a", "b"], [2, 3]),
        ("all", [], [0, 1, 2, 3]),
        ("all_strict", ["a"], [0, 2]),
        ("all_strict", ["a", "b"], [2]),
        ("all_strict", [], []),
        ("exact", ["a"], [0]),
        ("exact", ["a", "b"], [2]),
        ("exact", [], [3]),
    ],
)
def test_tags_truth_table(
    bank: Callable[..., IndexSnapshot], mode: str, tags: list[str], rows: list[int]
) -> None:
    sets = (frozenset("a"), frozenset("b"), frozenset("ab"), frozenset[str]())
    snapshot = bank(*({"tags": code} for code in range(4)), label_sets=sets)
    assert wanted(snapshot, tags=tuple(tags), tags_match=mode) == rows
    assert seen(snapshot, tags=tuple(tags), tags_match=mode) == [0, 1, 2, 3]
    assert [row for row in range(4) if tags_match(sets[row], frozenset(tags), mode)] == rows


def test_what_is_quarantined_is_seen_only_where_it_is_asked_for(bank: Callable[..., IndexSnapshot]) -> None:
    snapshot = bank({}, {"kind": KIND_CODES[Kind.QUARANTINE]})
    assert seen(snapshot) == seen(snapshot, kinds=(Kind.EPISODIC,)) == [0]
    assert seen(snapshot, kinds=(Kind.QUARANTINE,)) == [0, 1]
    assert wanted(snapshot, kinds=(Kind.QUARANTINE,)) == [1]


def test_consolidated_observations_are_seen_only_where_they_are_asked_for(
    bank: Callable[..., IndexSnapshot],
) -> None:
    snapshot = bank({}, {"state": CONSOLIDATED, "kind": KIND_CODES[Kind.OBSERVATION]})
    assert seen(snapshot) == seen(snapshot, kinds=(Kind.EPISODIC,)) == [0]
    assert seen(snapshot, observations=True) == wanted(snapshot, observations=True) == [0, 1]
    assert wanted(snapshot, kinds=(Kind.OBSERVATION,)) == [1]


def test_what_is_archived_counts_and_is_found_only_where_it_is_asked_for(
    bank: Callable[..., IndexSnapshot],
) -> None:
    snapshot = bank({}, {"state": ARCHIVED}, {"state": PINNED})
    assert seen(snapshot) == [0, 1, 2]
    assert wanted(snapshot) == [0, 2]
    assert wanted(snapshot, archived=True) == [0, 1, 2]
    # A narrowed view is cut from what the recall may return, archived or not.
    assert build_view(snapshot, Filters(), NOW, read).narrowed((), None).eligible.tolist() == [
        True,
        False,
        True,
    ]
    everything = build_view(snapshot, Filters(archived=True), NOW, read)
    assert everything.narrowed((), None).eligible.tolist() == [True, True, True]
    decided = bank({"kind": KIND_CODES[Kind.DECISION], "state": ARCHIVED}, {"state": ARCHIVED})
    for archived in (True, False):
        view = build_view(decided, Filters(archived=archived), NOW, read).narrowed((Kind.DECISION,), None)
        assert view.visible.tolist() == [True, True]
        assert view.eligible.tolist() == [archived, False]


def test_rows_that_are_shown_can_be_read_though_no_search_sees_them(
    bank: Callable[..., IndexSnapshot],
) -> None:
    view = build_view(bank({}, {"valid_to": 5}, {"valid_to": 5}), Filters(), NOW, read)
    assert view.visible.tolist() == [True, False, False]
    with pytest.raises(PermissionError, match=r"rows \[1\]"):
        view.memories([0, 1])
    shown = replace(view, shown=np.array([False, True, False]))
    assert [memory.text for memory in shown.memories([1, 0])] == ["memory 1", "memory 0"]
    assert (shown.visible.tolist(), shown.eligible.tolist()) == ([True, False, False], [True, False, False])
    with pytest.raises(PermissionError, match=r"rows \[2\]"):
        shown.memories([0, 1, 2])


@pytest.mark.spec("ME-08")
def test_a_newer_stamp_counts_instead_of_the_one_that_its_block_holds(
    bank: Callable[..., IndexSnapshot],
) -> None:
    snapshot = bank({}, {"expired_at": 20}, {}, expired={0: 10, 1: 30})
    assert seen(snapshot, as_of=9, known_at=9) == [0, 1, 2]
    assert seen(snapshot, as_of=9, known_at=10) == [1, 2]
    assert seen(snapshot, as_of=9, known_at=29) == [1, 2]
    assert seen(snapshot, as_of=9, known_at=30) == [2]
    # A stamp brings back nothing that another condition has taken out.
    later = bank({"valid_to": 5}, expired={0: FOREVER})
    assert seen(later, as_of=4) == [0]
    assert seen(later, as_of=5) == []


DAY = 86_400_000_000
UNDATED = {"occurred_from": FOREVER, "occurred_to": BEGINNING}


@pytest.mark.parametrize(
    ("occurred", "window", "meets"),
    [
        ((DAY, DAY), (DAY, DAY + 1), True),  # an instant at the start
        ((DAY, DAY), (0, DAY), False),  # the end is excluded
        ((DAY, DAY), (DAY + 1, 2 * DAY), False),
        ((DAY, 2 * DAY), (2 * DAY - 1, 3 * DAY), True),  # the last microsecond of a day
        ((DAY, 2 * DAY), (2 * DAY, 3 * DAY), False),
        ((DAY, 2 * DAY), (0, DAY), False),
        ((DAY, 2 * DAY), (0, DAY + 1), True),
        ((DAY, 2 * DAY), (DAY + 5, DAY + 6), True),  # a window inside the day
        ((DAY, 2 * DAY), (0, 9 * DAY), True),
        ((DAY, FOREVER), (5 * DAY, FOREVER), True),
        ((BEGINNING, BEGINNING), (BEGINNING, 0), True),
        ((FOREVER, BEGINNING), (BEGINNING, FOREVER), False),  # undated
    ],
)
def test_a_window_keeps_what_happened_inside(
    bank: Callable[..., IndexSnapshot], occurred: tuple[int, int], window: tuple[int, int], meets: bool
) -> None:
    snapshot = bank({"occurred_from": occurred[0], "occurred_to": occurred[1]})
    assert wanted(snapshot, window=window) == [0] * meets
    assert seen(snapshot, window=window) == [0]


def test_what_was_written_is_seen_at_once_under_a_clock_that_stands(
    bank: Callable[..., IndexSnapshot],
) -> None:
    rows = [{"ingested_at": NOW + n, "valid_from": NOW + n} for n in range(3)]
    snapshot = bank(*rows, last_ingested=NOW + 2)
    assert seen(snapshot) == [0, 1, 2]
    assert build_view(snapshot, Filters(), NOW, read).as_of == NOW + 2
    assert build_view(snapshot, Filters(), NOW + 50, read).as_of == NOW + 50
    assert seen(snapshot, as_of=NOW + 1) == [0, 1]


@pytest.mark.fault("F4")
def test_what_others_wrote_later_does_not_move_now(bank: Callable[..., IndexSnapshot]) -> None:
    sets = (frozenset[str](), frozenset({"ben"}))
    mine = {"ingested_at": NOW + 1, "acl": 0}
    theirs = {"ingested_at": NOW + 9, "acl": 1}
    alone = bank(mine, label_sets=sets, last_ingested=NOW + 1)
    both = bank(mine, theirs, label_sets=sets, last_ingested=NOW + 9)
    # To the end of the millisecond, to which principals know times.
    assert build_view(both, Filters(principal="ada"), NOW, read).as_of == NOW + 999
    assert build_view(alone, Filters(principal="ada"), NOW, read).as_of == NOW + 999
    assert build_view(both, Filters(principal="ben"), NOW, read).as_of == NOW + 999
    assert build_view(both, Filters(), NOW, read).as_of == NOW + 9
    nothing = bank(theirs, label_sets=sets, last_ingested=NOW + 9)
    assert build_view(nothing, Filters(principal="ada"), NOW, read).as_of == NOW


@pytest.mark.fault("W4")
def test_an_erased_row_does_not_move_now_whether_it_was_merged_or_not(
    bank: Callable[..., IndexSnapshot],
) -> None:
    mine, gone = {"ingested_at": NOW + 1}, {"ingested_at": NOW + 9}
    waiting = bank(mine, gone, last_ingested=NOW + 9, expired={1: BEGINNING})
    merged = bank(mine, ERASED, last_ingested=NOW + 9)
    only = bank(gone, last_ingested=NOW + 9, expired={0: BEGINNING})
    for snapshot, now in ((waiting, NOW + 999), (merged, NOW + 999), (only, NOW)):
        assert build_view(snapshot, Filters(principal="ada"), NOW, read).as_of == now
        assert build_view(snapshot, Filters(), NOW, read).as_of == NOW + 9, (
            "the owner's is where the bank stands"
        )


def test_an_empty_bank_has_an_empty_view(bank: Callable[..., IndexSnapshot]) -> None:
    view = build_view(
        bank(last_ingested=NOW + 9),
        Filters(kinds=(Kind.CODE,), project="x", tags=("a",), window=(0, 1), principal="ada"),
        NOW,
        read,
    )
    assert (view.visible.shape, view.eligible.shape) == ((0,), (0,))
    assert len(view.ranking(np.empty(0, np.int64), np.empty(0, np.float64), 5, "nothing")) == 0


def ranked(view: BankView, scores: Sequence[float], depth: int | None = None) -> list[int]:
    ranking = view.ranking(np.arange(len(scores), dtype=np.int64), np.array(scores, np.float64), depth)
    assert ranking.scores.tolist() == [scores[row] for row in ranking.ordinals.tolist()]
    return [int(row) for row in ranking.ordinals]


def test_a_ranking_falls_by_score_then_path_then_id(bank: Callable[..., IndexSnapshot]) -> None:
    # Codes of paths are in order of their first use, not of their names.
    snapshot = bank(
        {"path": 1, "id_key": 1},
        {"path": 2, "id_key": 9},
        {"path": 2, "id_key": 2**63 + 5},
        {"path": 0, "id_key": 2**64 - 1},
        {"path": 1, "id_key": 0},
        labels=("", "z.md", "a.md"),
    )
    view = build_view(snapshot, Filters(), NOW, read)
    assert ranked(view, [0.5] * 5) == [3, 1, 2, 4, 0]
    assert ranked(view, [0.9, 0.1, 0.5, 0.5, -0.5]) == [0, 3, 2, 1, 4]
    assert ranked(view, [0.0, -0.0, 0.0, -0.0, 0.0]) == [3, 1, 2, 4, 0]


def test_without_paths_ids_decide(bank: Callable[..., IndexSnapshot]) -> None:
    snapshot = bank(*({"id_key": key} for key in (5, 2**64 - 1, 3, 2**63)))
    assert ranked(build_view(snapshot, Filters(), NOW, read), [1.0] * 4) == [2, 0, 3, 1]


def test_a_cut_among_equals_does_not_depend_on_their_order(bank: Callable[..., IndexSnapshot]) -> None:
    snapshot = bank(*({"id_key": key, "path": key % 2} for key in (4, 1, 3, 2)), labels=("", "p"))
    view = build_view(snapshot, Filters(), NOW, read)
    scores = [0.5, 0.5, 0.9, 0.5]
    for order in permutations(range(4)):
        ordinals = np.array(order, np.int64)
        ranking = view.ranking(ordinals, np.array([scores[row] for row in order]), 3, "why")
        assert ranking.ordinals.tolist() == [2, 3, 0]
        assert ranking.reason == "why"


@pytest.mark.parametrize("depth", [0, 1, 3, 4, 100, None])
def test_a_ranking_is_cut_to_its_depth(bank: Callable[..., IndexSnapshot], depth: int | None) -> None:
    view = build_view(bank(*({"id_key": n} for n in range(4))), Filters(), NOW, read)
    assert ranked(view, [1.0, 3.0, 2.0, 4.0], depth) == [3, 1, 2, 0][:depth]


def test_only_visible_rows_are_read(bank: Callable[..., IndexSnapshot]) -> None:
    view = build_view(bank({}, {"expired_at": NOW}, {}), Filters(), NOW, read)
    assert [memory.text for memory in view.memories([2, 0])] == ["memory 2", "memory 0"]
    assert view.memories([]) == []
    with pytest.raises(PermissionError, match=r"\[1\] are not visible"):
        view.memories([0, 1])


def test_a_row_that_is_visible_and_not_eligible_can_be_read(bank: Callable[..., IndexSnapshot]) -> None:
    view = build_view(bank({"kind": 1}), Filters(kinds=(Kind.CODE,)), NOW, read)
    assert not view.eligible.any()
    assert len(view.memories([0])) == 1


def test_gaps_are_erased_rows(bank: Callable[..., IndexSnapshot], make_block: MakeBlock) -> None:
    block = make_block([Row(3, None, {}, None, 0.0)])
    snapshot = IndexSnapshot(1, 0, 3, (block,), {}, ("",), (frozenset(),), 0)
    assert snapshot.rows == 4
    for moment in (BEGINNING, 0, NOW, FOREVER - 1):
        assert seen(snapshot, as_of=moment) == []


def test_a_narrowed_view_has_fewer_eligible_rows_and_the_same_visible_ones(
    bank: Callable[..., IndexSnapshot],
) -> None:
    snapshot = bank(
        {"kind": 0},
        {"kind": 1, "project": 1},
        {"kind": 1, "project": 2},
        {"kind": 1},
        labels=("", "mill", "farm"),
    )
    view = build_view(snapshot, Filters(), NOW, read)
    assert view.narrowed((Kind.SEMANTIC,), None).eligible.tolist() == [False, True, True, True]
    # Memories of no project stay.
    assert view.narrowed((), "mill").eligible.tolist() == [True, True, False, True]
    assert view.narrowed((Kind.SEMANTIC,), "mill").eligible.tolist() == [False, True, False, True]
    assert view.narrowed((), None).eligible.tolist() == [True] * 4
    assert view.narrowed((Kind.CODE,), None).visible.tolist() == [True] * 4
    filtered = build_view(snapshot, Filters(kinds=(Kind.EPISODIC,)), NOW, read)
    assert not filtered.narrowed((Kind.SEMANTIC,), None).eligible.any()


# -- uses, as they were known then and to whom


def used(snapshot: IndexSnapshot, *events: tuple[int, int, int]) -> IndexSnapshot:
    """With accesses: root, stamp, code of the principal."""
    rows = [(number, *event) for number, event in enumerate(events, start=1)]
    return replace(snapshot, accesses=Accesses.empty().extended(np.array(rows, np.int64).reshape(-1, 4)))


@pytest.mark.parametrize(
    ("principal", "known_at", "counts", "latest"),
    [
        (None, None, [13, 2], [30, BEGINNING]),
        (None, 20, [12, 2], [20, BEGINNING]),
        (None, 9, [10, 2], [7, BEGINNING]),
        ("ann", None, [12, 2], [20, BEGINNING]),
        ("bea", None, [12, 2], [30, BEGINNING]),
        ("cid", None, [11, 2], [10, BEGINNING]),
    ],
)
def test_uses_count_from_when_they_were_recorded_and_only_ones_own(
    bank: Callable[..., IndexSnapshot],
    principal: str | None,
    known_at: int | None,
    counts: list[int],
    latest: list[int],
) -> None:
    plain = bank(
        {"access_count": 10, "last_access": 7, "root": 0, "ingested_at": 0, "valid_from": 0},
        {"access_count": 2, "root": 1, "ingested_at": 0, "valid_from": 0},
        labels=["", "ann", "bea"],
    )
    snapshot = used(plain, (0, 10, 0), (0, 20, 1), (0, 30, 2))
    view = build_view(snapshot, Filters(principal=principal, known_at=known_at, as_of=NOW), NOW, read)
    rows = np.array([0, 1], np.int64)
    assert view.column("access_count", rows).tolist() == counts
    assert view.column("last_access", rows).tolist() == latest
    memories = view.memories([1, 0])
    if known_at == 9:
        # No use is known yet, so records are as they were read.
        assert memories == [fake_memory("memory 1"), fake_memory("memory 0")]
        return
    assert [memory.access_count for memory in memories] == counts[::-1]
    assert [memory.last_access_micros for memory in memories] == [None, latest[0]]
    assert [memory.text for memory in memories] == ["memory 1", "memory 0"]
    assert snapshot.column("access_count").tolist() == [10, 2], "the stored column stays as it is"
    # Other columns, and a bank without any use, are as they were stored.
    assert view.column("root", rows).tolist() == [0, 1]
    before = build_view(plain, Filters(as_of=NOW), NOW, read)
    assert before.column("access_count", rows).tolist() == [10, 2]
    assert before.column("last_access", rows).tolist() == [7, BEGINNING]


def test_versions_share_the_uses_of_their_memory(bank: Callable[..., IndexSnapshot]) -> None:
    snapshot = used(bank({"root": 0}, {"root": 0}, {"root": 2}), (0, 5, 0), (0, 6, 0), (2, 7, 0))
    view = build_view(snapshot, Filters(as_of=NOW), NOW, read)
    assert view.column("access_count", np.array([0, 1, 2], np.int64)).tolist() == [2, 2, 1]
    assert view.column("last_access", np.array([0, 1, 2], np.int64)).tolist() == [6, 6, 7]


# -- what a new row may be compared with


@pytest.mark.spec("ME-08")
@pytest.mark.parametrize(
    ("readers", "expected"),
    [((), [0]), (("ann",), [0, 1, 3]), (("bea",), [0, 2, 3]), (("ann", "bea"), [0, 3]), (("cid",), [0])],
)
def test_a_row_is_compared_with_what_all_its_readers_may_read(
    bank: Callable[..., IndexSnapshot], readers: tuple[str, ...], expected: list[int]
) -> None:
    sets = [frozenset[str](), frozenset({"ann"}), frozenset({"bea"}), frozenset({"ann", "bea"})]
    snapshot = bank({"acl": 0}, {"acl": 1}, {"acl": 2}, {"acl": 3}, label_sets=sets)
    assert np.flatnonzero(comparable(snapshot, readers, NOW)).tolist() == expected


@pytest.mark.parametrize(
    "values",
    [
        {"valid_to": NOW},
        {"valid_to": NOW - 1},
        {"expired_at": NOW},
        {"kind": KIND_CODES[Kind.QUARANTINE]},
        {"state": ARCHIVED},
        {"state": CONSOLIDATED},
        {"state": ARCHIVED | CONSOLIDATED},
    ],
)
def test_a_row_is_not_compared_with_what_no_longer_counts(
    bank: Callable[..., IndexSnapshot], values: dict[str, float]
) -> None:
    snapshot = bank({}, values, {"valid_to": NOW + 1}, {"state": PINNED}, {"valid_from": NOW + 5})
    assert np.flatnonzero(comparable(snapshot, (), NOW)).tolist() == [0, 2, 3, 4]


# -- what a stage may read of a row


def test_no_stage_reads_a_row_that_is_not_visible(bank: Callable[..., IndexSnapshot]) -> None:
    calls: list[list[int]] = []

    def note(ordinals: Sequence[int]) -> list[int]:
        calls.append(list(ordinals))
        return list(ordinals)

    reader = cast("RowReader", SimpleNamespace(memories=note, signatures=note, sources=note))
    view = build_view(bank({}, {"valid_to": 5}, {}), Filters(as_of=NOW), NOW, reader)
    for ask in (view.memories, view.signatures, view.sources, view.token_codes):
        with pytest.raises(
            PermissionError, match=r"rows \[1\] are not visible in this view; a stage invented"
        ):
            ask([0, 1])
    assert calls == []
    assert cast("list[int]", view.signatures([2, 0])) == [2, 0]
    assert cast("list[int]", view.sources([0])) == [0]
    counts, codes = view.token_codes([0, 2])
    assert (counts.tolist(), len(codes)) == ([0, 0], 0)


def test_a_cosine_is_of_the_stored_vector_and_0_where_there_is_none(
    make_block: MakeBlock, make_row: MakeRow
) -> None:
    vectors = [np.array([127, 0, 0], np.int8), None, np.array([0, -127, 0], np.int8)]
    rows = [
        replace(make_row(n, "", None), codes=vector, scale=0.0 if vector is None else 1 / 127)
        for n, vector in enumerate(vectors)
    ]
    view = build_view(
        IndexSnapshot(1, 0, 3, (make_block(rows),), {}, [""], [frozenset()], 0), Filters(), NOW, read
    )
    everything = np.arange(3)
    assert np.allclose(view.vectors(everything), [[1, 0, 0], [0, 0, 0], [0, -1, 0]])
    assert view.cosines(np.array([0.6, 0.8, 0.0], np.float32), everything) == pytest.approx(
        [0.6, 0.0, -0.8], abs=1e-5
    )
    assert view.cosines(np.array([0.6, 0.8], np.float32), everything).tolist() == [0.0, 0.0, 0.0]
