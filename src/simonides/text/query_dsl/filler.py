"""Words that are dropped from a query in plain words: stop-words and the scaffolding of questions.

English and Dutch together, whatever language is asked in: a query is too short to tell. ``lists/stopwords``
holds the closed-class words that all of the engine shares, ``lists/filler`` what is filler in questions only
("any tips", "can you recommend") and stays a term in memories.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from simonides.text.query_dsl.spelling import clean_word

LANGUAGES = ("english", "dutch")


@cache
def filler_words() -> frozenset[str]:
    """The dropped words, spelled as ``clean_word`` leaves them."""
    return read_filler()


def read_filler() -> frozenset[str]:
    """The same from the package's lists, read anew."""
    folder = files("simonides.text").joinpath("lists")
    lines = [
        line
        for kind in ("stopwords", "filler")
        for language in LANGUAGES
        for line in folder.joinpath(kind, f"{language}.txt").read_text(encoding="utf-8").splitlines()
        if not line.startswith("#")
    ]
    return frozenset(clean_word(word) for line in lines for word in line.split())
