from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from simonides.backends.embedded.labels import label_code, label_set_code, read_label_sets, read_labels

if TYPE_CHECKING:
    import apsw
    from tests.unit.backends.embedded.conftest import Desk


@pytest.fixture
def connection(desk: Desk) -> apsw.Connection:
    return desk.open()._connections.get()


def test_the_empty_name_and_the_empty_set_are_code_0(connection: apsw.Connection) -> None:
    assert label_code(connection, "") == 0
    assert label_set_code(connection, []) == 0
    assert read_labels(connection, 0) == [""]
    assert read_label_sets(connection, 0) == [frozenset()]


def test_codes_are_dense_and_stay(connection: apsw.Connection) -> None:
    names = ["b", "a", "B", "é", "e\u0301", "🟢", "b"]
    assert [label_code(connection, name) for name in names] == [1, 2, 3, 4, 5, 6, 1]
    assert read_labels(connection, 0) == ["", "b", "a", "B", "é", "e\u0301", "🟢"]


def test_a_set_has_one_code_whatever_its_order_and_repeats(connection: apsw.Connection) -> None:
    assert label_set_code(connection, ["b", "a"]) == 1
    assert label_set_code(connection, ("a", "b", "a")) == 1
    assert label_set_code(connection, ["a,b"]) == 2
    assert label_set_code(connection, ['a", "b']) == 3
    assert read_label_sets(connection, 0) == [
        frozenset(), frozenset({"a", "b"}), frozenset({"a,b"}), frozenset({'a", "b'})
    ]  # fmt: skip


def test_only_what_is_new_is_read(connection: apsw.Connection) -> None:
    for name in "abc":
        label_code(connection, name)
        label_set_code(connection, [name])
    assert read_labels(connection, 2) == ["b", "c"]
    assert read_labels(connection, 4) == []
    assert read_label_sets(connection, 3) == [frozenset("c")]
