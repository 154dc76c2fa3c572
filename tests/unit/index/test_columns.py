from __future__ import annotations

import numpy as np
import pytest

from simonides.index.columns import COLUMNS, ERASED, Growable
from simonides.records.interval import BEGINNING, FOREVER


def test_an_erased_row_has_a_value_for_every_column_that_fits_it() -> None:
    assert set(ERASED) == set(COLUMNS)
    for name, dtype in COLUMNS.items():
        assert np.array([ERASED[name]]).astype(dtype)[0] == ERASED[name]


def test_no_viewpoint_and_no_window_meets_an_erased_row() -> None:
    for moment in (BEGINNING, -1, 0, 10**15, FOREVER - 1, FOREVER):
        assert not ERASED["valid_from"] <= moment < ERASED["valid_to"]
        assert not ERASED["ingested_at"] <= moment < ERASED["expired_at"]
    assert ERASED["occurred_from"] > ERASED["occurred_to"]


def test_columns_hold_both_open_ends_exactly() -> None:
    for name in ("valid_from", "valid_to", "ingested_at", "expired_at", "occurred_from", "occurred_to"):
        column = Growable(COLUMNS[name])
        column.append(BEGINNING)
        column.append(FOREVER)
        assert column.view().tolist() == [BEGINNING, FOREVER]


@pytest.mark.parametrize("width", [(), (3,), (0,)])
def test_an_array_grows_and_its_earlier_views_stay(width: tuple[int, ...]) -> None:
    array = Growable(np.dtype("i4"), width)
    views = [array.view()]
    for value in range(200):
        array.append(value)
        views.append(array.view())
    for count, view in enumerate(views):
        assert view.shape == (count, *width)
        assert (view == np.arange(count).reshape(-1, *[1 for _ in width])).all()


def test_a_view_cannot_be_changed_but_the_array_still_grows() -> None:
    array = Growable(np.dtype("i8"))
    array.append(1)
    view = array.view()
    with pytest.raises(ValueError, match="read-only"):
        view[0] = 2
    array.append(2)
    assert array.view().tolist() == [1, 2]
    assert view.tolist() == [1]
