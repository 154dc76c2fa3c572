"""Reading only the names that may stand in a text finds what an index over all of them finds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from simonides.retain.extraction.known_names import KnownNames
from simonides.retain.resolution import fold_name
from simonides.services.viewing import NameLookup

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_PIECES = st.sampled_from(
    [
        "ann",
        "Ann",
        "José",
        "jose\u0301",
        "Łódź",
        "c",
        "C++",
        "c#",
        "@ann",
        "#ann",
        "x1",
        "Энн",
        "山田",
        "ß",
        "st",
    ]
)
_GAPS = st.sampled_from(
    [" ", " ", " ", "-", "_", ".", ". ", "/", "'", " (", "  ", "\n", "@", "#", "+", "\u02bc", " \u02bc ", ""]
)
_ENDS = st.sampled_from(["", "", "", "/", "+", "#", ".", "@", "./", "@@", "//", "~/", " /", "@ "])


@st.composite
def _phrases(draw: st.DrawFn, most: int) -> str:
    pieces = draw(st.lists(_PIECES, min_size=1, max_size=most))
    body = "".join(draw(_GAPS) + piece for piece in pieces)
    return draw(_ENDS) + body.lstrip() + draw(_ENDS)


class _Sorted:
    """The names of a bank by folded form, as the database reads them. Implements what a lookup asks."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = [(fold_name(name), name) for name in names]

    def any_name_within(self, ranges: Iterable[tuple[str, str]]) -> bool:
        return any(low <= folded < high for low, high in ranges for folded, _ in self._names)

    def names_within(self, ranges: Iterable[tuple[str, str, str, str]], readers: object) -> list[str]:
        assert readers is None
        return [
            name
            for folded, name in self._names
            if any(
                low <= folded < high and (folded.rstrip("+#@/. ") == alone or (within and within in folded))
                for low, high, alone, within in ranges
            )
        ]


@given(st.lists(_phrases(3), max_size=12), _phrases(8))
def test_a_lookup_finds_what_the_index_over_all_names_finds(names: list[str], text: str) -> None:
    distinct = list(dict.fromkeys(names))

    found = NameLookup(_Sorted(distinct), None).find(text, lambda _: True)

    assert found == KnownNames(distinct).find(text)


@given(st.lists(_phrases(2), min_size=1, max_size=6))
def test_every_name_is_found_in_itself_or_nowhere(names: list[str]) -> None:
    lookup = NameLookup(_Sorted(names), None)

    for name in names:
        assert lookup.find(name, lambda _: True) == KnownNames(names).find(name)
