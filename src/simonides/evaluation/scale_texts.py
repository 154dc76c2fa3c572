"""Texts for measuring speed at any size: words by Zipf's law, names, identifiers and dates; seeded.

    p(word of rank r) ∝ 1 / (r + 2.7)     over English stop-words, common words, then invented ones
    p(name of rank r) ∝ 1 / r^0.9         so the graph of who is mentioned where has a power-law tail

Rows come in blocks of their own seed, so any block can be made alone and a larger bank begins as a smaller
one does. They measure cost, never quality: the words of a sentence have nothing to do with each other.
Source: Zipf, Human Behavior and the Principle of Least Effort (1949), with Mandelbrot's shift.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from simonides.text.word_lists import stopwords

if TYPE_CHECKING:
    from numpy.typing import NDArray

BLOCK = 8_192
"""Rows that share a seed."""

FIRST = datetime(2021, 1, 1, tzinfo=UTC)
DAYS = 1_500
"""When the memories happened: spread evenly over so many days, in the order of rows."""

_WORDS = 120_000
_SHIFT = 2.7
_NAME_EXPONENT = 0.9
_FEWEST_WORDS, _MOST_WORDS = 8, 34
_ONSETS = ("b", "br", "d", "f", "gr", "h", "k", "l", "m", "n", "p", "qu", "r", "s", "st", "t", "v", "w", "z")
_VOWELS = ("a", "e", "i", "o", "u", "ai", "ea", "ou")
_CODAS = ("", "", "n", "r", "l", "s", "th", "m")
_PROJECTS = 60
_KINDS = ("semantic", "episodic", "procedural", "decision", "code")
_KIND_SHARES = (0.70, 0.20, 0.05, 0.03, 0.02)
TAGS = {"half": 0.5, "twentieth": 0.05, "two-hundredth": 0.005}
"""Tags that filtered queries ask for, and the share of the memories that bear each."""


@dataclass(frozen=True, slots=True)
class TextBlock:
    """Neighbouring rows.

    Attributes:
        first: number of the first.
        items: for ``Bank.load``.
        names: numbers of the names in each row's text, int64, shape (rows, 2); −1 = none.
        tagged: which of ``TAGS`` each row bears, bool, shape (rows, tags).
    """

    first: int
    items: list[dict[str, Any]]
    names: NDArray[np.int64]
    tagged: NDArray[np.bool_]


@dataclass(frozen=True)
class TextMaker:
    """Makes the texts of a bank.

    Attributes:
        count: memories of the whole bank.
        seed: of everything.
    """

    count: int
    seed: int

    @property
    def name_count(self) -> int:
        """How many people and things there are to be mentioned."""
        return max(50, self.count * 3 // 10)

    @property
    def words(self) -> list[str]:
        """The vocabulary, most frequent first."""
        return _vocabulary(self.seed)

    @cached_property
    def people(self) -> list[str]:
        """Names of those who are mentioned, most mentioned first; no two alike."""
        source = np.random.default_rng([self.seed, 2])
        firsts = [word.capitalize() for word in _syllables(source, 2_000)]
        lasts = [word.capitalize() for word in _syllables(source, 20_000)]
        named: dict[str, None] = {}
        while len(named) < self.name_count:
            picked = zip(
                source.choice(firsts, self.name_count), source.choice(lasts, self.name_count), strict=True
            )
            named |= dict.fromkeys(f"{first} {last}" for first, last in picked)
        return list(named)[: self.name_count]

    @cached_property
    def _word_shares(self) -> NDArray[np.float64]:
        return _cumulated(1.0 / (np.arange(1, _WORDS + 1, dtype=np.float64) + _SHIFT))

    @cached_property
    def _name_shares(self) -> NDArray[np.float64]:
        return _cumulated(np.arange(1, self.name_count + 1, dtype=np.float64) ** -_NAME_EXPONENT)

    def happened(self, row: int) -> datetime:
        """When row *row* happened, which is also when it was recorded."""
        return FIRST + timedelta(days=DAYS * row / self.count)

    def block(self, number: int) -> TextBlock:
        """Block *number*, from 0; the last one may be short."""
        first = number * BLOCK
        rows = min(BLOCK, self.count - first)
        source = np.random.default_rng([self.seed, 3, number])
        lengths = source.integers(_FEWEST_WORDS, _MOST_WORDS + 1, rows)
        drawn = np.searchsorted(self._word_shares, source.random(int(lengths.sum())))
        stops = np.cumsum(lengths)
        names = np.searchsorted(self._name_shares, source.random((rows, 2)))
        names[source.random((rows, 2)) < (0.25, 0.6)] = -1
        extras = source.random(rows)
        numbers = source.integers(0, 100_000, rows)
        kinds = source.choice(len(_KINDS), rows, p=_KIND_SHARES)
        projects = source.integers(0, _PROJECTS, rows)
        tagged = source.random((rows, len(TAGS))) < list(TAGS.values())
        items = []
        vocabulary = self.words
        for row in range(rows):
            words = [vocabulary[word] for word in drawn[stops[row] - lengths[row] : stops[row]]]
            for place, name in enumerate(names[row]):
                if name >= 0:
                    words.insert(1 + place * len(words) // 2, self.people[name])
            moment = self.happened(first + row)
            words += _extra(float(extras[row]), int(numbers[row]), moment)
            text = " ".join(words)
            items.append(
                {
                    "text": f"{text[0].upper()}{text[1:]}.",
                    "kind": _KINDS[kinds[row]],
                    "event_time": moment,
                    "recorded_at": moment,
                    "project": f"project-{projects[row]}",
                    "tags": [tag for tag, bears in zip(TAGS, tagged[row], strict=True) if bears],
                    "deduplicate": False,
                }
            )
        return TextBlock(first, items, names, tagged)

    @property
    def blocks(self) -> int:
        return -(-self.count // BLOCK)


@lru_cache(maxsize=2)
def _vocabulary(seed: int) -> list[str]:
    """Not to be changed."""
    known = files("simonides.retain.extraction").joinpath("lists/common_words.txt").read_text("utf-8")
    common = [word for word in known.lower().split() if word.isalpha() and word.isascii()]
    stop = sorted(word for word in stopwords("english") if word.isalpha())
    listed = dict.fromkeys([*stop, *common])
    source = np.random.default_rng([seed, 1])
    while len(listed) < _WORDS:
        listed |= dict.fromkeys(_syllables(source, _WORDS))
    return list(listed)[:_WORDS]


def _extra(share: float, number: int, moment: datetime) -> list[str]:
    """An identifier, a path or a date, for some of the rows."""
    if share < 0.15:
        return ["see", f"TG-{number}"]
    if share < 0.25:
        return ["in", f"src/module_{number % 500}/part_{number % 37}.py"]
    if share < 0.40:
        return ["on", moment.strftime("%Y-%m-%d")]
    return []


def _syllables(source: np.random.Generator, count: int) -> list[str]:
    """Invented words of two to four syllables."""
    parts = source.integers(2, 5, count)
    onsets, vowels, codas = (source.choice(letters, (count, 4)) for letters in (_ONSETS, _VOWELS, _CODAS))
    return [
        "".join(
            f"{onsets[i, j]}{vowels[i, j]}{codas[i, j] if j + 1 == parts[i] else ''}" for j in range(parts[i])
        )
        for i in range(count)
    ]


def _cumulated(weights: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    whole: NDArray[np.float64] = np.cumsum(weights) / weights.sum()
    whole[-1] = 1.0
    return whole
