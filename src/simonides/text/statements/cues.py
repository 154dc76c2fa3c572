"""A text that tells of a change, about what an earlier one states: *gave the choir over to Marek*.

Where no rule reads what became of it: the later text has a word of change, it is about the same subject, and
it takes up what the earlier one says. Never a sure change: the newer text is only the newer one. Linear.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from simonides.text.statements.clauses import read_words
from simonides.text.statements.english import base_of, words
from simonides.text.statements.phrases import USER, stem
from simonides.text.statements.statement import Change

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from simonides.text.statements.statement import Statement

TOLD_CHANGE = Change("told change", sure=False)
_LIGHT = words("light") | {""}
_HALF = 0.5


def told_change(before: Sequence[Statement], later: str, subjects: Collection[str]) -> Change | None:
    """The change, if a text takes up what an earlier one states with a word of change.

    Args:
        before: statements of the earlier text.
        later: the later text.
        subjects: whom its clauses speak of, folded.
    """
    told = _told(later)
    for old in before if told else ():
        if old.ended or old.marker == "also" or not _is_about(old, subjects):
            continue
        parts = [*old.value.split(" "), *old.attribute.split(" ")]
        content = {stem(part) for part in parts if part not in _LIGHT and part not in words("determiners")}
        shared = content & told
        whole = {stem(part) for part in old.value.split(" ") if part not in _LIGHT}
        enough = bool(shared) if old.subject != USER else len(shared) >= _HALF * len(content)
        if shared and (enough or whole <= shared):
            return TOLD_CHANGE
    return None


@lru_cache(maxsize=4096)
def _told(text: str) -> frozenset[str]:
    """Stems of a text that has a word of change; none where it denies, asks or adds."""
    found = {word.low for word in read_words(text)}
    if not found.isdisjoint({"not", "never", "no", "?", "also", "too", "until"}) or found.isdisjoint(
        words("cues")
    ):
        return frozenset()
    return frozenset(stem(form) for low in found for form in (low, base_of(low)))


def _is_about(old: Statement, subjects: Collection[str]) -> bool:
    if old.subject in subjects:
        return True
    # "Elke improved her best time": of whom the thing is.
    return old.subject != USER and any(
        each != USER and (old.subject.startswith(f"{each} ") or each.startswith(f"{old.subject} "))
        for each in subjects
    )
