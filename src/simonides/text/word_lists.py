"""The package's own word lists: stop-words, and irregular forms that no suffix rule reaches.

Stop-words say how a question is put, not what it asks for: closed-class words (articles, pronouns,
prepositions, conjunctions, auxiliaries, question words) and the commonest contractions. Irregular forms
lead to their base (``went`` → ``go``).

``lists/stopwords/LANGUAGE.txt`` holds words in any order, ``lists/irregular/LANGUAGE.txt`` a base and its
forms per line. A line that starts with ``#`` is a comment.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from simonides.text.tokenise import tokenise

if TYPE_CHECKING:
    from collections.abc import Mapping

STOPWORD_LANGUAGES = ("dutch", "english", "french", "german", "spanish")
IRREGULAR_LANGUAGES = ("english",)


@cache
def stopwords(language: str) -> frozenset[str]:
    """The stop-words of *language*, as the tokeniser folds them; empty where there is no list."""
    if language not in STOPWORD_LANGUAGES:
        return frozenset()
    return frozenset(word for line in _lines("stopwords", language) for word in line)


@cache
def irregular_forms(language: str) -> Mapping[str, str]:
    """Irregular form → base form, both folded; empty where there is no list. Not to be changed."""
    if language not in IRREGULAR_LANGUAGES:
        return {}
    return {form: base for base, *forms in _lines("irregular", language) for form in forms}


@cache
def small_talk() -> frozenset[str]:
    """Words of greetings and thanks, folded: a query of nothing else asks for no memory."""
    return frozenset(word for line in _lines("small_talk", "english") for word in line)


@cache
def abbreviations() -> Mapping[str, tuple[str, ...]]:
    """Short form → what it may stand for, the likeliest first. Not to be changed."""
    found: dict[str, tuple[str, ...]] = {}
    for short, meanings in _abbreviation_lines():
        for form in short:
            found[form] = (*found.get(form, ()), *meanings)
    return found


@cache
def short_forms() -> Mapping[str, tuple[str, ...]]:
    """Word → its short forms: ``abbreviations`` the other way round. Not to be changed."""
    found: dict[str, tuple[str, ...]] = {}
    for short, meanings in _abbreviation_lines():
        # "no" for number is a stop-word wherever it stands.
        forms = [form for form in short if form not in stopwords("english")]
        for meaning in meanings:
            found[meaning] = (*found.get(meaning, ()), *forms)
    return found


def _abbreviation_lines() -> list[tuple[list[str], list[str]]]:
    halves = (line.partition("=") for line in _raw_lines("abbreviations", "english"))
    return [(short.split(), [each.strip() for each in long.split(";")]) for short, _, long in halves]


def _raw_lines(folder: str, language: str) -> list[str]:
    text = files("simonides.text").joinpath("lists", folder, f"{language}.txt").read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def _lines(folder: str, language: str) -> list[list[str]]:
    return [tokenise(line) for line in _raw_lines(folder, language)]
