"""The masks and the order of a ranking against one row at a time in plain Python."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simonides.index.block import Tail
from simonides.index.columns import ERASED, Row, meets
from simonides.index.snapshot import IndexSnapshot
from simonides.index.view import build_view
from simonides.records.interval import BEGINNING, FOREVER, HEAD, Interval
from simonides.records.kind import ARCHIVED, CONSOLIDATED, KIND_CODES, Kind
from simonides.records.query import Filters
from simonides.records.stamps import end_of_millisecond

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simonides.index.view import RowReader
    from simonides.records.memory import Memory

SETS = [frozenset[str](), frozenset("a"), frozenset("b"), frozenset("ab")]
LABELS = ["", "p", "z.md", "a.md"]
MODES = ["any", "any_strict", "all", "all_strict", "exact"]
TIMES = st.sampled_from([BEGINNING, -3, 0, 1, 2, 3, 4, 5, 9, FOREVER])
KINDS = list(Kind)


def _memories(ordinals: Sequence[int]) -> list[Memory]:
    raise AssertionError(ordinals)


read = cast("RowReader", SimpleNamespace(memories=_memories))


OCCURRED = st.just((FOREVER, BEGINNING)) | st.tuples(TIMES, TIMES).map(lambda pair: (min(pair), max(pair)))


@st.composite
def rows(draw: st.DrawFn) -> dict[str, float]:
    occurred = draw(OCCURRED)
    return {
        **ERASED,
        "kind": draw(st.sampled_from([KIND_CODES[kind] for kind in KINDS])),
        "valid_from": draw(TIMES),
        "valid_to": draw(TIMES),
        "ingested_at": draw(st.integers(0, 9)),
        "expired_at": draw(st.just(FOREVER) | st.integers(0, 9)),
        "occurred_from": occurred[0],
        "occurred_to": occurred[1],
        "project": draw(st.integers(0, 1)),
        "path": draw(st.integers(0, 3)),
        "tags": draw(st.integers(0, 3)),
        "acl": draw(st.integers(0, 3)),
        "id_key": draw(st.integers(0, 2**64 - 1)),
        "state": draw(st.sampled_from([0, ARCHIVED, CONSOLIDATED, ARCHIVED | CONSOLIDATED])),
    }


FILTERS = st.builds(
    Filters,
    kinds=st.one_of(st.none(), st.lists(st.sampled_from(KINDS), max_size=3).map(tuple)),
    project=st.none() | st.sampled_from(["", "p", "q"]),
    tags=st.sampled_from([(), ("a",), ("a", "b"), ("c",)]),
    tags_match=st.sampled_from(MODES),
    window=st.none() | st.tuples(TIMES, TIMES).map(lambda pair: (min(pair), max(pair))),
    as_of=st.none() | TIMES,
    known_at=st.none() | TIMES,
    principal=st.none() | st.sampled_from(["a", "b", "c"]),
    archived=st.booleans(),
    observations=st.booleans(),
)


def snapshot_of(values: list[dict[str, float]], stamps: dict[int, int], cut: int) -> IndexSnapshot:
    blocks = []
    for start, stop in ((0, cut), (cut, len(values))):
        tail = Tail(start, 0)
        for ordinal in range(start, stop):
            tail.append(Row(ordinal, values[ordinal], {}, None, 0.0))
        blocks.append(tail.frozen())
    return IndexSnapshot(1, 0, 0, tuple(blocks), stamps, LABELS, SETS, last_write(values, stamps))


def moments(row: dict[str, float]) -> list[int]:
    """When a row was written and when it was expired."""
    return [int(row[name]) for name in ("ingested_at", "expired_at") if row[name] not in {BEGINNING, FOREVER}]


def last_write(values: list[dict[str, float]], stamps: dict[int, int]) -> int:
    """The newest moment that the bank has stamped anything with; erasing a row takes nothing off it."""
    written = [moment for row in values for moment in moments(row)]
    return max([BEGINNING, *written, *stamps.values()])


def readable(row: dict[str, float], principal: str | None) -> bool:
    readers = SETS[int(row["acl"])]
    return principal is None or not readers or principal in readers


def matches(row: dict[str, float], filters: Filters) -> bool:
    tags, asked = SETS[int(row["tags"])], set(filters.tags)
    tagged = {
        "any": not asked or not tags or bool(tags & asked),
        "any_strict": bool(tags & asked),
        "all": not asked or not tags or asked <= tags,
        "all_strict": bool(asked) and asked <= tags,
        "exact": tags == asked,
    }[filters.tags_match]
    first, last = int(row["occurred_from"]), int(row["occurred_to"])
    undated = (first, last) == (FOREVER, BEGINNING)
    return (
        (filters.archived or not int(row["state"]) & ARCHIVED)
        and (filters.kinds is None or row["kind"] in {KIND_CODES[kind] for kind in filters.kinds})
        and (filters.project is None or LABELS[int(row["project"])] == filters.project)
        and tagged
        and (filters.window is None or (not undated and Interval(first, last).overlaps(*filters.window)))
    )


@st.composite
def banks(draw: st.DrawFn) -> tuple[list[dict[str, float]], dict[int, int], int]:
    """Rows, newer expiry stamps, and where the tail begins."""
    values = draw(st.lists(rows(), max_size=10))
    places = st.sampled_from(range(len(values))) if values else st.nothing()
    stamps = draw(st.dictionaries(places, st.sampled_from([BEGINNING, 2, 5]), max_size=3)) if values else {}
    return values, stamps, draw(st.integers(0, len(values)))


@pytest.mark.spec("HI-14")
@given(banks(), FILTERS, st.integers(0, 12))
def test_the_masks_equal_the_definition_row_by_row(
    bank: tuple[list[dict[str, float]], dict[int, int], int], filters: Filters, now: int
) -> None:
    values, stamps, cut = bank
    current = [{**row, "expired_at": stamps.get(n, row["expired_at"])} for n, row in enumerate(values)]
    own = [
        moment
        for row in current
        if readable(row, filters.principal) and row["expired_at"] != BEGINNING
        for moment in moments(row)
    ]
    if filters.principal is None:
        own = [last_write(values, stamps)]
    as_of = filters.as_of if filters.as_of is not None else max([now, *own])
    known_at = filters.known_at
    if known_at is None:
        known_at = HEAD if filters.as_of is None else as_of
    if filters.principal is not None:
        as_of = as_of if as_of == now else end_of_millisecond(as_of)
        known_at = end_of_millisecond(known_at)
    kinds = filters.kinds or ()
    visible = [
        readable(row, filters.principal)
        and (row["kind"] != KIND_CODES[Kind.QUARANTINE] or Kind.QUARANTINE in kinds)
        and row["valid_from"] <= as_of < row["valid_to"]
        and row["ingested_at"] <= known_at < row["expired_at"]
        and (row["kind"] != KIND_CODES[Kind.QUARANTINE] or Kind.QUARANTINE in kinds)
        and (not int(row["state"]) & CONSOLIDATED or filters.observations or Kind.OBSERVATION in kinds)
        for row in current
    ]
    view = build_view(snapshot_of(values, stamps, cut), filters, now, read)
    assert (view.as_of, view.known_at) == (as_of, known_at)
    assert view.visible.tolist() == visible
    assert view.eligible.tolist() == [
        there and matches(row, filters) for row, there in zip(current, visible, strict=True)
    ]


@pytest.mark.fault("F4")
@given(banks(), FILTERS, st.integers(0, 12))
def test_rows_of_others_change_nothing_that_a_principal_sees(
    bank: tuple[list[dict[str, float]], dict[int, int], int], filters: Filters, now: int
) -> None:
    values, stamps, cut = bank
    kept = [n for n, row in enumerate(values) if readable(row, filters.principal)]
    alone = build_view(
        snapshot_of([values[n] for n in kept], {kept.index(n): s for n, s in stamps.items() if n in kept}, 0),
        filters,
        now,
        read,
    )
    view = build_view(snapshot_of(values, stamps, cut), filters, now, read)
    assert (view.as_of, view.known_at) == (alone.as_of, alone.known_at)
    assert view.visible[kept].tolist() == alone.visible.tolist()
    assert view.eligible[kept].tolist() == alone.eligible.tolist()
    assert view.visible.sum() == alone.visible.sum()


@given(banks(), FILTERS, st.integers(0, 12), st.tuples(TIMES, TIMES))
def test_what_happened_in_a_time_equals_the_comparison_of_all_columns(
    bank: tuple[list[dict[str, float]], dict[int, int], int],
    filters: Filters,
    now: int,
    ends: tuple[int, int],
) -> None:
    values, stamps, cut = bank
    view = build_view(snapshot_of(values, stamps, cut), filters, now, read)
    eligible, time = view.eligible.copy(), Interval(min(ends), max(ends))
    first, last = (view.snapshot.column(name) for name in ("occurred_from", "occurred_to"))
    assert view.in_time(time).tolist() == (eligible & meets(first, last, time)).tolist()
    assert view.eligible.tolist() == eligible.tolist()


@pytest.mark.spec("DF-06")
@given(
    banks(),
    st.data(),
    st.none() | st.integers(0, 12),
)
def test_a_ranking_is_the_total_order_whatever_the_order_of_its_input(
    bank: tuple[list[dict[str, float]], dict[int, int], int], data: st.DataObject, depth: int | None
) -> None:
    values, _, cut = bank
    # Ids are unique, as those of memories that are visible at once.
    unique = {int(row["id_key"]): row for row in values}
    values = list(unique.values())
    view = build_view(snapshot_of(values, {}, min(cut, len(values))), Filters(), 0, read)
    scores = [data.draw(st.sampled_from([-1.0, 0.0, 0.5, 0.5, 1.0])) for _ in values]
    order = data.draw(st.permutations(range(len(values))))
    ranking = view.ranking(
        np.array(order, np.int64), np.array([scores[row] for row in order], np.float64), depth
    )
    twin = sorted(
        range(len(values)),
        key=lambda n: (-scores[n], LABELS[int(values[n]["path"])], f"{int(values[n]['id_key']):016x}"),
    )[:depth]
    assert ranking.ordinals.tolist() == twin
    assert ranking.scores.tolist() == [scores[row] for row in twin]


@given(
    banks(),
    st.lists(
        st.tuples(FILTERS, st.integers(0, 12), st.sampled_from(["", "p"]) | st.none()), min_size=2, max_size=8
    ),
)
def test_masks_that_are_kept_are_those_of_a_snapshot_that_nobody_has_asked(
    bank: tuple[list[dict[str, float]], dict[int, int], int],
    asked: list[tuple[Filters, int, str | None]],
) -> None:
    values, stamps, cut = bank
    used = snapshot_of(values, stamps, cut)
    for filters, now, project in [*asked, *reversed(asked)]:
        old = build_view(used, filters, now, read)
        new = build_view(snapshot_of(values, stamps, cut), filters, now, read)
        assert old.visible.tolist() == new.visible.tolist()
        assert old.eligible.tolist() == new.eligible.tolist()
        narrowed = [view.narrowed(filters.kinds or (), project).eligible.tolist() for view in (old, new)]
        assert narrowed[0] == narrowed[1]
        # What a view holds is its own.
        old.visible[:], old.eligible[:] = False, False
