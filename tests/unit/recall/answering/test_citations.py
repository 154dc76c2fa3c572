from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simonides.recall.answering import CitationCheck
from simonides.records.recall import Citation

IDS = ["a", "b", "c"]


def _checked(*pieces: str) -> tuple[str, CitationCheck]:
    check = CitationCheck(IDS)
    return "".join([*(check.feed(piece) for piece in pieces), check.end()]), check


@pytest.mark.spec("JB-12")
def test_a_citation_that_names_no_memory_is_taken_out() -> None:
    answer, check = _checked("On Thursday [2]. At noon [9, 1] [7]. Twice [2].")
    assert answer == "On Thursday [2]. At noon [1]. Twice [2]."
    assert check.citations == (Citation(2, "b"), Citation(1, "a"))
    assert check.removed == 2


def test_brackets_without_numbers_stay() -> None:
    assert _checked("list[i] and [sic] and [2")[0] == "list[i] and [sic] and [2"
    assert _checked("[0] x [10000000000000]")[0] == " x"


def test_text_is_shown_as_soon_as_it_can_be() -> None:
    check = CitationCheck(IDS)
    assert check.feed("On Thursday") == "On Thursday"
    assert check.feed(" [") == ""
    assert check.feed("1]") == " [1]"
    assert check.feed(", and") == ", and"


@given(
    st.lists(st.sampled_from(["[", "]", "1", "9", ",", " ", "x", "[2]", "[4]", "\n", "【3】"]), max_size=30),
    st.data(),
)
def test_how_an_answer_is_cut_into_pieces_changes_nothing(parts: list[str], data: st.DataObject) -> None:
    text = "".join(parts)
    whole, check = _checked(text)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    again, other = _checked(*pieces)
    assert again == whole
    assert (other.citations, other.removed) == (check.citations, check.removed)
