"""The word lists of this room, and the test whether a word is common English.

``lists/*.txt`` are the package's own. A line that starts with ``#`` is a comment, ``[name]`` starts a
section.
``common_words`` holds base forms: a word is common when it, or what remains without a plain ending, is in it.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from importlib.resources import files

from simonides.text.analyser import irregular_forms, stopwords

_SECTION = re.compile(r"\[(\w+)\]\Z")
_DOUBLED = re.compile(r"([bdfglmnprtz])\1\Z")
# Ending → what may stand in its place in the base form. Tried in this order, one level deep, then once more.
_ENDINGS = (
    ("ies", ("y", "ie")),
    ("ied", ("y",)),
    ("ier", ("y",)),
    ("iest", ("y",)),
    ("ily", ("y",)),
    ("iness", ("y",)),
    ("es", ("", "e")),
    ("s", ("",)),
    ("ed", ("", "e")),
    ("ing", ("", "e")),
    ("er", ("", "e")),
    ("est", ("", "e")),
    ("ly", ("", "le")),
    ("ful", ("",)),
    ("less", ("",)),
    ("ness", ("",)),
    ("y", ("", "e")),
    ("able", ("", "e")),
    ("ment", ("",)),
)
_PREFIXES = ("un", "re", "over", "non", "pre", "self-", "super")
_SHORTEST_BASE = 3
# Words of these shapes are common words far more often than names.
_COMMON_SHAPE = re.compile(
    r".{3,}(?:ing|ings|tion|tions|sion|sions|ness|ment|ments|ful|ous|ously|ably|ibly|ively|ically|ingly|edly"
    r"|able|ible|ology|ity|ities|ism|ance|ence|ship|less|ful|fully|ize|ise|ized|ised)\Z"
)
# An interjection drawn out: Yesss, Hmmmm, Sooo, Aaaah, haha.
_DRAWN_OUT = re.compile(r"(\w)\1{2}|\A(?:ha|he|ah){2,}h?\Z")


@cache
def section(file: str, name: str) -> frozenset[str]:
    """The words of one section of a list, one a white-space separated token, in lower case."""
    return frozenset(word for line in _sections(file)[name] for word in line.split())


@cache
def lines(file: str, name: str) -> frozenset[str]:
    """The lines of one section, as written; for names of several words."""
    return frozenset(_sections(file)[name])


@cache
def given_names() -> frozenset[str]:
    """Given names, in lower case."""
    return section("given_names", "")


@lru_cache(maxsize=16_384)
def is_common(word: str) -> bool:
    """Whether *word*, in lower case, is a common English word or a form of one.

    A word joined by hyphens is common when each part is.
    """
    if "-" in word:
        return word in _common() or all(map(is_common, filter(None, word.split("-"))))
    return bool(_DRAWN_OUT.search(word)) or _known_form(word, depth=2)


def is_listed(word: str) -> bool:
    """Whether *word*, in lower case, is itself in the list of common words or a stop-word."""
    return word in _common()


@lru_cache(maxsize=4_096)
def has_common_shape(word: str) -> bool:
    """Whether *word* ends as common words do (-ing, -tion, -ness …), whether or not it is in the list."""
    return bool(_COMMON_SHAPE.match(word))


def _known_form(word: str, *, depth: int) -> bool:
    if word in _common():
        return True
    if depth == 0 or len(word) <= _SHORTEST_BASE:
        return False
    return any(_known_form(base, depth=depth - 1) for base in _bases(word))


def _bases(word: str) -> list[str]:
    """What *word* may be a form of."""
    bases = []
    for ending, replacements in _ENDINGS:
        if word.endswith(ending):
            stem = word[: -len(ending)]
            # Sunny comes from sun, Tilly not from till.
            doubled_y = ending == "y" and stem[-2:-1] == stem[-1:]
            candidates = [] if doubled_y else [stem + replacement for replacement in replacements]
            if _DOUBLED.search(stem):
                candidates.append(stem[:-1])
            bases += [base for base in candidates if len(base) >= _SHORTEST_BASE]
    bases += [
        word[len(prefix) :]
        for prefix in _PREFIXES
        if word.startswith(prefix) and len(word) - len(prefix) >= _SHORTEST_BASE
    ]
    return bases


@cache
def _common() -> frozenset[str]:
    irregular = irregular_forms("english")
    return section("common_words", "") | stopwords("english") | irregular.keys() | set(irregular.values())


@cache
def _sections(file: str) -> dict[str, list[str]]:
    """Section name → its lines; what stands before the first section has the name ``""``."""
    path = files("simonides.retain.extraction").joinpath("lists", f"{file}.txt")
    found: dict[str, list[str]] = {"": []}
    current = found[""]
    for line in path.read_text(encoding="utf-8").splitlines():
        heading = _SECTION.match(line)
        if heading:
            current = found.setdefault(heading[1], [])
        elif line and not line.startswith("#"):
            current.append(line)
    return found
