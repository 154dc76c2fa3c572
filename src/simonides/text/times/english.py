"""The word lists of the grammar, from ``english.txt`` beside this file."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def word_list(section: str) -> tuple[str, ...]:
    """The words of one section, in order."""
    return _sections()[section]


def word_set(section: str) -> frozenset[str]:
    """The words of one section in lower case."""
    return frozenset(word.lower() for word in word_list(section))


def spellings(section: str) -> tuple[tuple[str, ...], ...]:
    """For each word of a section its spellings; none where the word is missing."""
    return tuple(() if word == "-" else tuple(word.split("/")) for word in word_list(section))


@cache
def _sections() -> Mapping[str, tuple[str, ...]]:
    sections: dict[str, tuple[str, ...]] = {}
    text = files("simonides.text.times").joinpath("english.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        if line and not line.startswith("#"):
            name, words = line.split(":", 1)
            sections[name] = (*sections.get(name, ()), *words.split())
    return sections
