"""What every rule of extraction reads: words and sentences of a text, cues, word lists, the speaker.

A word is a run of letters, digits, underscores and combining accents, joined inside by apostrophes and
hyphens. A sentence ends at ``.``, ``!``, ``?`` or ``…`` before white space, and at a line break; the point of
an abbreviation or of an initial ends nothing. Rules for English words are off where another language's
stop-words are clearly in the majority, because a capital means something else there. Typographic quotation
marks and apostrophes are read as the straight ones. Cost: linear; about 40 µs for 40 words.

A cue carries one text where it must be found and one where it must not; one test runs them all. A cue is
looked for only where one of its trigger words stands in the text: a set intersection per text, and a search
per cue that may be there. Patterns are compiled when first used.

``lists/*.txt``: a line that starts with ``#`` is a comment, ``[name]`` starts a section. ``common_words``
holds base forms: a word is common when it, or what remains without a plain ending, is in it.

The speaker is a label such as ``Caroline:`` at the start of a text. A role (``User:``) is a speaker but no
name: every conversation has one, so as an entity it would join everything with everything. ``Note:`` and the
like are no speakers.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, TypeVar

from simonides.text.analyser import STOPWORD_LANGUAGES, irregular_forms, stopwords

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence


_WORD = re.compile(r"\w[\w\u0300-\u036f]*+(?:['-]\w[\w\u0300-\u036f]*+)*+")
_SENTENCE_END = re.compile(r"""(?<![.!?…])[.!?…]++["')\]*_]*+(?=\s|\Z)|\n++""")
# A point after these ends no sentence; single letters are initials.
_ABBREVIATION = re.compile(
    r"(?:\A|[\s(\"])(?:[^\W\d_]|mr|mrs|ms|dr|prof|st|sgt|capt|lt|rev|jr|sr|vs|etc|approx|no|inc|ltd|co"
    r"|corp|e\.g|i\.e)\Z",
    re.IGNORECASE,
)
_STRAIGHT = str.maketrans("\u2018\u2019\u201c\u201d", "''\"\"")
_LONGEST_ABBREVIATION = 8
_FEW_WORDS = 4
_CLEARLY_MORE = 3

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Passage:
    """One text with its words and sentences. Spans are characters, half-open.

    Attributes:
        text: as given, with straight quotation marks and apostrophes; the same length.
        words: where each word stands, in order.
        lower: each word in lower case, beside ``words``.
        vocabulary: the distinct words of ``lower``.
        sentence_starts: ascending, 0 first.
        english: whether the English rules may be used.
    """

    text: str
    words: tuple[Span, ...]
    lower: tuple[str, ...]
    vocabulary: frozenset[str]
    sentence_starts: tuple[int, ...]
    english: bool

    @classmethod
    def read(cls, text: str) -> Passage:
        """Cut *text* into words and sentences."""
        text = text if text.isascii() else text.translate(_STRAIGHT)
        words = tuple(found.span() for found in _WORD.finditer(text))
        lower = tuple(text[start:stop].lower() for start, stop in words)
        vocabulary = frozenset(lower)
        return cls(
            text, words, lower, vocabulary, _sentence_starts(text), _is_english(vocabulary, len(words))
        )

    def sentence(self, position: int) -> Span:
        """The sentence around a character position, white space included."""
        index = bisect_right(self.sentence_starts, position) - 1
        return self.sentence_starts[index], self.sentence_end(index)

    def sentence_number(self, position: int) -> int:
        """The number, from 0, of the sentence around a character position."""
        return bisect_right(self.sentence_starts, position) - 1

    def sentence_end(self, number: int) -> int:
        """Where a sentence ends."""
        following = number + 1
        return self.sentence_starts[following] if following < len(self.sentence_starts) else len(self.text)

    def words_between(self, start: int, stop: int) -> Sequence[str]:
        """The lower-case words that start in ``[start, stop)``."""
        first = bisect_right(self.words, (start - 1, len(self.text) + 1))
        last = bisect_right(self.words, (stop - 1, len(self.text) + 1))
        return self.lower[first:last]


def _sentence_starts(text: str) -> tuple[int, ...]:
    starts = [0]
    for end in _SENTENCE_END.finditer(text):
        if end.end() >= len(text):
            continue
        before = text[max(0, end.start() - _LONGEST_ABBREVIATION) : end.start()]
        if end[0] == "." and _ABBREVIATION.search(before):
            continue
        starts.append(end.end())
    return tuple(starts)


def _is_english(vocabulary: frozenset[str], words: int) -> bool:
    """Whether no other language with a stop-word list explains clearly more of the words.

    Languages share short words ("we met" is Dutch as well), so that one or two more decide nothing.
    """
    if words < _FEW_WORDS:
        return True
    counts = {language: len(vocabulary & stopwords(language)) for language in STOPWORD_LANGUAGES}
    english = counts.pop("english")
    return max(counts.values()) < english + _CLEARLY_MORE


@dataclass(frozen=True, slots=True)
class Cue:
    """Words to look for.

    Attributes:
        name: what the cue says; several cues may share one.
        pattern: regular expression, case ignored; it must be linear in the text.
        triggers: lower-case words, of which each match holds at least one, with spaces between them.
        example: a text in which the cue is found.
        counterexample: a text with a trigger word in which it is not.
    """

    name: str
    pattern: str
    triggers: str
    example: str
    counterexample: str

    def matches(self, text: str) -> Iterator[re.Match[str]]:
        """Every place where the pattern matches, left to right."""
        return compiled(self.pattern).finditer(text)


AnyCue = TypeVar("AnyCue", bound=Cue)


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """The compiled form of a cue's pattern."""
    return re.compile(pattern, re.IGNORECASE)


def by_trigger(cues: Sequence[AnyCue]) -> Mapping[str, tuple[int, ...]]:
    """Trigger word → positions of its cues, for :func:`triggered`."""
    positions: dict[str, list[int]] = {}
    for position, cue in enumerate(cues):
        for word in cue.triggers.split():
            positions.setdefault(word, []).append(position)
    return {word: tuple(found) for word, found in positions.items()}


def triggered(
    passage: Passage, cues: Sequence[AnyCue], index: Mapping[str, tuple[int, ...]]
) -> Iterable[AnyCue]:
    """The cues that may be in *passage*, in their order."""
    positions = {position for word in passage.vocabulary & index.keys() for position in index[word]}
    return [cues[position] for position in sorted(positions)]


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

    Of a hyphenated one, each part.
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


_LABEL = re.compile(
    r"\s{0,8}(?:\*\*)?([^\W\d_][\w.'-]{0,30}(?: [^\W\d_][\w.'-]{0,30}){0,2}) ?:(?:\*\*)?\s+(?=(.))"
)
_ASKING_ROLES = frozenset({"user", "human"})
_ROLES = _ASKING_ROLES | {
    "assistant",
    "ai",
    "bot",
    "agent",
    "system",
    "tool",
    "model",
    "developer",
    "speaker",
}


@dataclass(frozen=True, slots=True)
class Speaker:
    """The label at the start of a text.

    Attributes:
        body: where what is said starts.
        role: the label is a role, not a name.
        may_be_i: whether ``I`` in the text is the person that the label names. A role of the asking side is
            one person in a bank; an assistant that says "I" is nobody.
    """

    name: str
    start: int
    stop: int
    body: int
    role: bool
    may_be_i: bool


def find_speaker(text: str) -> Speaker | None:
    """The speaker of *text*, if a label at its start names one."""
    label = _LABEL.match(text)
    if label is None:
        return None
    name = label[1].rstrip(".")
    words = name.lower().split(" ")
    start, body = label.start(1), label.end()
    role = len(words) == 1 and words[0] in _ROLES
    if not role and not _is_name(name, words, label[2]):
        return None
    return Speaker(name, start, start + len(name), body, role, not role or words[0] in _ASKING_ROLES)


def _is_name(name: str, words: list[str], following: str) -> bool:
    if not all(part[0].isupper() for part in name.split(" ")):
        return False
    if words[0] in given_names():
        return True
    dull = (
        section("name_words", "time") | section("name_words", "initialism") | section("name_words", "people")
    )
    if following.islower() or any(word in dull for word in words):
        return False
    return not any(is_common(word) for word in words) or words[0] in section("name_words", "title")
