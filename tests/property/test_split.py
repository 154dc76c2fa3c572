from __future__ import annotations

from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from simonides.text import split
from simonides.text.split import headings, split_document

DOCUMENT = st.one_of(
    st.text(st.characters()),
    st.text("ab.!#=-`~ \t\r\n。」", max_size=80),
    st.lists(
        st.sampled_from(["# A", "One. Two!", "===", "---", "```", "", "  ", "text text", "- x", "\n"]),
        max_size=20,
    ).map("\n".join),
)


@given(DOCUMENT, st.integers(1, 30), st.sampled_from([1, 2, 64]))
def test_spans_cover_everything_but_white_space_and_keep_the_limit(
    text: str, limit: int, window: int
) -> None:
    with patch.object(split, "_WINDOW", window):
        spans = split_document(text, max_chars=limit)
    position = 0
    for start, stop in spans:
        assert position <= start < stop <= len(text)
        assert not text[position:start].strip()
        assert text[start:stop] == text[start:stop].strip()
        assert stop - start <= limit
        position = stop
    assert not text[position:].strip()


@given(DOCUMENT)
def test_headings_ascend_and_stand_where_a_line_begins(text: str) -> None:
    starts = [heading.start for heading in headings(text)]
    assert starts == sorted(set(starts))
    assert all(start == 0 or text[start - 1] == "\n" for start in starts)


@given(DOCUMENT)
def test_a_shorter_limit_only_divides_spans(text: str) -> None:
    long, short = (split_document(text, max_chars=limit) for limit in (10_000, 7))
    assert {start for start, _ in long} <= {start for start, _ in short}
    assert {stop for _, stop in long} <= {stop for _, stop in short}
