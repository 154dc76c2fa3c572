"""What an import claims."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simonides.retain.importing.syncing import gather
from simonides.retain.items import read_items

if TYPE_CHECKING:
    from simonides.retain.importing.syncing import Piece


def pieces(*items: dict[str, Any], author: str = "") -> list[Piece]:
    return gather(read_items(items, {}), author)


def test_an_item_alone_is_a_piece_and_a_document_is_one() -> None:
    found = pieces(
        {"text": "a"}, {"text": "b", "document_id": "d"}, {"text": "c"}, {"text": "e", "document_id": "d"}
    )
    assert [piece.positions for piece in found] == [(0,), (1, 3), (2,)]


def test_keys_name_a_document_and_bodies_what_it_says() -> None:
    (one,) = pieces({"text": "a", "document_id": "d"})
    (changed,) = pieces({"text": "b", "document_id": "d"})
    (longer,) = pieces({"text": "a", "document_id": "d"}, {"text": "b", "document_id": "d"})
    (other,) = pieces({"text": "a", "document_id": "e"})
    assert one.key == changed.key == longer.key != other.key
    assert len({one.body, changed.body, longer.body}) == 3


def test_keys_name_an_item_by_all_that_it_says() -> None:
    (one,), (same,), (other,) = (
        pieces({"text": "a"}), pieces({"text": "a"}), pieces({"text": "a", "event_time": "2026"})
    )  # fmt: skip
    assert one == same
    assert one.key != other.key


def test_an_item_that_is_there_twice_is_one_piece() -> None:
    assert [piece.positions for piece in pieces({"text": "a"}, {"text": "b"}, {"text": "a"})] == [(0,), (1,)]


def test_two_authors_learn_nothing_of_each_other() -> None:
    assert pieces({"text": "a"}, author="mo")[0].key != pieces({"text": "a"}, author="ilse")[0].key
    assert pieces({"text": "a"}, author="mo")[0].key != pieces({"text": "a"})[0].key
