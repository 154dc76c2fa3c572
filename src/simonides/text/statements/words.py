"""Words, clauses and noun phrases of a sentence.

The word lists of the reading of statements, from ``english.txt`` beside this file.

A text as clauses: words in lower case and as written, cut where another statement begins.

Folded subjects and values, so that two ways to say one thing are equal.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

from simonides.text.normalise import fold_case, fold_characters

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


_VOWELS = "aeiou"


@cache
def words(section: str) -> frozenset[str]:
    """The words of one section."""
    return frozenset(word for entry in _sections()[section] for word in entry.split("/"))


@cache
def kept_forms(section: str) -> Mapping[str, str]:
    """Spelling → the one that is kept, for a section whose words are given with their spellings."""
    found: dict[str, str] = {}
    for entry in _sections()[section]:
        kept, equals, others = entry.partition("=")
        if not equals:
            kept, *rest = entry.split("/")
            others = "/".join(rest)
        found[kept] = kept
        found.update({other: kept for other in others.split("/") if other})
    return found


@cache
def verb_bases() -> Mapping[str, str]:
    """Form of a verb → its base, for the verbs of the list."""
    found: dict[str, str] = {}
    for entry in _sections()["verbs"]:
        base, *irregular = entry.split("/")
        for form in (base, *irregular, *_regular(base, past=not irregular)):
            found.setdefault(form, base)
    # These are forms of two verbs; the commoner one counts.
    found.update({"left": "leave", "found": "find", "saw": "see", "felt": "feel", "fell": "fall"})
    return found


def base_of(form: str) -> str:
    """The base of a verb: of the list, or by its ending."""
    known = verb_bases().get(form)
    if known is not None:
        return known
    for ending, instead in (
        ("ies", "y"),
        ("ied", "y"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("sses", "ss"),
        ("xes", "x"),
    ):
        if form.endswith(ending):
            return form[: -len(ending)] + instead
    if form.endswith("ed"):
        told = words("status verbs") | words("change verbs") | words("ending verbs")
        return form[:-1] if form[:-1] in told else form[:-2]
    return form[:-1] if form.endswith("s") and not form.endswith("ss") else form


def _regular(base: str, *, past: bool) -> list[str]:
    if base.endswith("y") and base[-2] not in _VOWELS:
        third, root = f"{base[:-1]}ies", f"{base[:-1]}i"
    elif base.endswith(("s", "sh", "ch", "x", "z", "o")):
        third, root = f"{base}es", base
    else:
        third, root = f"{base}s", base
    short = base[:-1] if base.endswith("e") and not base.endswith(("ee", "ye")) else base
    doubles = len(base) >= 3 and base[-1] in "bdglmnprt" and base[-2] in _VOWELS and base[-3] not in _VOWELS
    going = [f"{short}ing"] + ([f"{base}{base[-1]}ing", f"{base}{base[-1]}ed"] if doubles else [])
    ended = [f"{root[:-1]}ed" if root.endswith("e") else f"{root}ed"] if past else []
    return [third, *going, *ended]


@cache
def _sections() -> Mapping[str, tuple[str, ...]]:
    sections: dict[str, tuple[str, ...]] = {}
    text = files("simonides.text.statements").joinpath("english.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        if line and not line.startswith("#"):
            name, listed = line.split(":", 1)
            sections[name] = (*sections.get(name, ()), *listed.split())
    return sections


LONGEST = 400
"""Characters of a text that is read; a longer one says more than one thing."""

MOST_CLAUSES = 8

_TOKEN = re.compile(
    r'"[^"\n]{1,80}"|\d{1,3}(?:,\d{3}){1,4}(?:\.\d{1,4})?(?![\d,])|[^\s,;!?()"\u2013\u2014]{1,120}'
    r"|[,;!?()\u2013\u2014]"
)
_QUOTES = str.maketrans("\u2018\u2019\u201c\u201d", "''\"\"")
_ENDS = frozenset({";", "!", "?", "(", ")", ".", "\u2013", "\u2014"})
_CONTRACTIONS = {
    "i'm": ("i", "am"),
    "i've": ("i", "have"),
    "we've": ("we", "have"),
    "we're": ("we", "are"),
    "they're": ("they", "are"),
    "they've": ("they", "have"),
    "it's": ("it", "is"),
    "he's": ("he", "is"),
    "she's": ("she", "is"),
    "that's": ("that", "is"),
    "there's": ("there", "is"),
    "isn't": ("is", "not"),
    "aren't": ("are", "not"),
    "wasn't": ("was", "not"),
    "weren't": ("were", "not"),
    "don't": ("do", "not"),
    "doesn't": ("does", "not"),
    "didn't": ("did", "not"),
    "can't": ("can", "not"),
    "cannot": ("can", "not"),
    "couldn't": ("could", "not"),
    "won't": ("will", "not"),
    "hasn't": ("has", "not"),
    "haven't": ("have", "not"),
    "i'll": ("i", "will"),
    "we'll": ("we", "will"),
    "i'd": ("i", "would"),
    "you're": ("you", "are"),
    "they'll": ("they", "will"),
    "it'll": ("it", "will"),
    "no-longer": ("no", "longer"),
}
_SUBJECTS = frozenset({"i", "we", "he", "she", "it", "they", "you"})
_JOINS = frozenset({"and", "but", "so", "yet", "then"})


class Word(NamedTuple):
    """One word of a text: in lower case, and as written."""

    low: str
    raw: str
    quoted: bool = False


Clause = tuple[Word, ...]

DAY_OR_MONTH = (
    "(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august|september"
    "|october|november|december"
)
"""A pattern, without its ends."""


@lru_cache(maxsize=1024)
def read_words(text: str) -> tuple[Word, ...]:
    """The words and marks of a text, in order; a point that ends a sentence is a word of its own."""
    text = fold_characters(text.translate(_QUOTES))
    found: list[Word] = []
    for match in _TOKEN.finditer(text):
        piece = match[0]
        if piece[0] == '"' and len(piece) > 1:
            inner = piece.strip('" ').rstrip(".,")
            if inner:
                found.append(Word(fold_case(inner), inner, quoted=True))
            continue
        if len(piece) == 1 and piece in ",;!?()\u2013\u2014":
            found.append(Word(piece, piece))
            continue
        bare = piece.strip("*_`")
        bare = bare.strip("'") if bare.startswith("'") else bare
        if not bare:
            continue
        ends = bare.endswith((".", "\u2026")) and not _abbreviated(bare)
        colon = bare.endswith(":") and len(bare) > 1
        bare = bare.rstrip(".\u2026:") or bare
        low = fold_case(bare)
        parts = _CONTRACTIONS.get(low)
        if parts is None:
            found.append(Word(low, bare))
        else:
            found += [Word(part, bare if part == parts[0] else part) for part in parts]
        if ends:
            found.append(Word(".", "."))
        if colon:
            found.append(Word(":", ":"))
    return tuple(found)


def _abbreviated(word: str) -> bool:
    stem = word[:-1].lower()
    return stem in words("abbreviations") or (len(stem) == 1 and stem.isalpha())


def cut(found: Sequence[Word]) -> list[Clause]:
    """The clauses of a text, at most ``MOST_CLAUSES``."""
    verbs = verb_bases()
    auxiliaries = words("auxiliaries")
    clauses: list[Clause] = []
    current: list[Word] = []
    verb_seen = False
    for place, word in enumerate(found):
        low = word.low
        if low in _ENDS and not word.quoted:
            # The end of a question belongs to it.
            if low == "?":
                current.append(word)
            clauses.append(tuple(current))
            current, verb_seen = [], False
            continue
        plural = bool(current) and current[0].low in _SUBJECTS - {"he", "she", "it"}
        if verb_seen and (low in _JOINS or low in {",", ":"}) and _begins(found, place + 1, plural=plural):
            clauses.append(tuple(current))
            current, verb_seen = [], False
            continue
        current.append(word)
        verb_seen = (
            verb_seen
            or low in auxiliaries
            or low in verbs
            or (bool(current[1:]) and low.endswith("ed") and "-" not in low)
        )
    clauses.append(tuple(current))
    return [clause for clause in clauses if clause][:MOST_CLAUSES]


def _begins(found: Sequence[Word], place: int, *, plural: bool = False) -> bool:
    """Whether a clause of its own begins at *place*: a pronoun, a verb, or a subject and its verb."""
    verbs, auxiliaries = verb_bases(), words("auxiliaries")
    while place < len(found) and (found[place].low in _JOINS or found[place].low in words("adverbs")):
        place += 1
    if place >= len(found):
        return False
    first = found[place].low
    if first in {"not", "this"}:
        return False
    if first in _SUBJECTS:
        return place + 1 < len(found)
    if plural and verbs.get(first) == first and found[place].raw.islower() and place + 1 < len(found):
        return True
    if first in auxiliaries or (first in verbs and not first.endswith("ing") and verbs[first] != first):
        return True
    for later in range(place + 1, min(place + 6, len(found))):
        low = found[later].low
        if low in {",", "and", "or", "but"} or low in _ENDS:
            return False
        if low in auxiliaries:
            return True
        follows = later + 1 < len(found) and found[later + 1].low not in _ENDS | {",", "and"}
        if (
            follows
            and low in verbs
            and verbs[low] != low
            and found[later - 1].low not in words("determiners")
        ):
            return True
    return False


USER = "user"

_SELF = frozenset({"i", "we", "me", "us", "myself"})
_MINE = frozenset({"my", "our", "mine", "ours"})
_THEIRS = frozenset({"his", "her", "its", "their"})
_TIME = re.compile(r"(\d{1,2})(?:[:.h](\d\d))?\s?(am|pm|a\.m|p\.m)?")
_CLOCK = re.compile(r"\d{1,2}[:h]\d\d(?:am|pm)?|\d{1,2}(?:am|pm)")
_VERSION = re.compile(r"v?\d+(?:\.\d+){1,5}(?:[-+.]?[a-z]+\d*)?|v\d+")
_MONEY = re.compile(r"[$€£¥]\s?\d|\d[\d.,]{0,14}\s?[$€£¥]")
_NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)*(?:%|[a-z]{1,3})?")
_DATE = re.compile(r"\d{4}-\d\d(?:-\d\d)?|\d{1,2}/\d{1,2}(?:/\d{2,4})?|\d{1,2}\.\d{1,2}\.\d{2,4}")
_ORDINAL = re.compile(r"(\d{1,2})(?:st|nd|rd|th)")
_ADDRESS = re.compile(
    r"[\w.+-]{1,64}@[\w.-]{1,80}|[\w.-]{1,80}:\d{2,5}|\w{2,8}://\S{1,110}|[\w.-]{1,60}/[\w./-]{1,110}"
)
_CODE = re.compile(r"(?=[\w.-]{0,40}\d)[a-z\d]+(?:[-._][a-z\d]+){0,8}")
_ZEROS = re.compile(r"(?<=\d)\.0{1,6}\Z")
_SHORTEST_STEM = 3
_DIGITS = 7
"""Last digits that make two telephone numbers one."""

_HOURS = {"noon": 720, "midday": 720, "midnight": 0}
_FRACTIONS = {"half": 30, "quarter": 15}


def fold_word(low: str) -> str:
    """One spelling of a word."""
    return kept_forms("synonyms").get(low, low)


def fold_subject(found: Sequence[Word], speaker: str, before: str = "") -> str | None:
    """The words that a noun phrase names something by, its owner first.

    Args:
        found: the phrase.
        speaker: who "I" is; empty = nobody.
        before: what a pronoun stands for; empty = nothing.

    Returns:
        ``"user"`` for the first person; ``None`` where it is not known who is meant.
    """
    lows = [word.low for word in found]
    if not lows:
        return None
    if len(lows) == 1 and lows[0] in words("pronouns"):
        return before or None
    # "the code of the bike cellar", "the password for the wifi": the owner goes first.
    for link in ("of", "for"):
        if link in lows[1:-1]:
            place = lows.index(link, 1)
            owner = fold_subject(found[place + 1 :], speaker, before)
            thing = fold_subject(found[:place], speaker, before)
            if owner is None or thing is None:
                return None
            return thing if owner == USER else f"{owner} {thing}"
    parts: list[str] = []
    owned = False
    for low in lows:
        if low in _SELF or low in _MINE:
            if not speaker:
                return None
            parts.append(speaker)
        elif low in _THEIRS:
            if not before:
                return None
            parts.append(before)
        elif low in words("determiners") or (low in words("adjectives") and low != lows[-1]):
            continue
        elif low.endswith("'s"):
            parts.append(fold_word(low[:-2]))
        elif low.endswith("s'"):
            parts.append(fold_word(low[:-1]))
        elif low not in {"both", "all", ","}:
            parts.append(fold_word(low))
        owned = True
    if not parts or not owned:
        return None
    named = [part for part in parts if part != USER]
    return " ".join(named) if named else USER


def split_attribute(subject: str) -> tuple[str, str]:
    """``"locker combination"`` as ``("locker", "code")``; without an attribute's noun at its end, ``""``."""
    attributes = kept_forms("attributes")
    parts = subject.split(" ")
    if parts[-1] in {"number", "address"} and len(parts) > 1 and parts[-2] in attributes:
        parts = parts[:-1]
    last = attributes.get(parts[-1])
    if last is None:
        return subject, ""
    if len(parts) > 1 and parts[-2] == "favourite":
        return " ".join(parts[:-2]) or USER, f"favourite {last}"
    if last == "code" and len(parts) > 1 and attributes.get(parts[-2]) == "code":
        parts = parts[:-1]
    return " ".join(parts[:-1]) or USER, last


def favourite(subject: str) -> tuple[str, str] | None:
    """``"edda favourite soup"`` as ``("edda", "favourite soup")``."""
    owner, found, thing = subject.partition("favourite ")
    return (owner.strip() or USER, f"favourite {thing}") if found and thing else None


def kind_of(found: Sequence[Word]) -> str:
    """What sort of value a phrase is."""
    while found and found[0].low in {"a", "an", "the"}:
        found = found[1:]
    if not found:
        return "words"
    lows = [word.low for word in found]
    text = " ".join(lows)
    if _MONEY.search(text) or (words("currencies") & set(lows) and _has_number(lows)):
        return "money"
    if any(
        low in words("months") or low.rstrip("s") in words("weekdays") or _DATE.fullmatch(low) for low in lows
    ):
        return "date" if not any(_CLOCK.fullmatch(low) for low in lows) else "time"
    if (
        any(_CLOCK.fullmatch(low) or low in _HOURS or low == "o'clock" for low in lows)
        or (lows[0] in _FRACTIONS and len(lows) > 2 and lows[1] in {"past", "to"})
        or (lows[-1] in {"am", "pm"} and _has_number(lows))
    ):
        return "time"
    if any(low in words("floors") for low in lows):
        return "floor"
    if any(low in words("days") for low in lows):
        return "date"
    if (len(lows) == 1 and found[0].quoted) or (
        len(lows) == 2 and len(found[1].raw) == 1 and found[1].raw.isupper()
    ):
        return "code"
    if len(lows) == 1 and _ADDRESS.fullmatch(lows[0]):
        return "address"
    if len(lows) == 1 and _VERSION.fullmatch(lows[0]):
        return "version"
    if _NUMBER.fullmatch(lows[0]) or _counts(lows[0]):
        return "number"
    if len(lows) == 1 and _CODE.fullmatch(lows[0]):
        return "code"
    if _NUMBER.fullmatch(lows[-1]) or _VERSION.fullmatch(lows[-1]):
        return "number"
    content = [
        word for word in found if word.low not in words("determiners") and word.low not in {"of", "and", "&"}
    ]
    if content and all(word.raw[0].isupper() for word in content):
        return "name"
    return "words"


def _counts(low: str) -> bool:
    tens, _, ones = low.partition("-")
    return low in words("numbers") or (tens in words("tens") and (not ones or ones in words("numbers")))


def _has_number(lows: Sequence[str]) -> bool:
    return any(low[0].isdigit() or low in words("numbers") for low in lows if low)


def fold_value(found: Sequence[Word], kind: str) -> str:
    """One spelling of a value: hours as minutes, number words as digits, no articles."""
    if kind == "time":
        minutes = _minutes([word.low for word in found])
        if minutes is not None:
            return minutes
    numbers, ordinals = tuple(kept_forms("numbers")), tuple(kept_forms("ordinals"))
    kept = []
    for word in found:
        low = word.low
        if low in words("determiners") or (kind in {"date", "time"} and low in {"of", "on"}):
            continue
        if kind in {"date", "floor"} and low in ordinals:
            low = str(ordinals.index(low) + 1)
        ordinal = _ORDINAL.fullmatch(low)
        if low in numbers:
            low = str(numbers.index(low))
        elif ordinal is not None:
            low = ordinal[1]
        elif kind in {"money", "number"} and low[0].isdigit():
            low = low.replace(",", "")
        kept.append(fold_word(low))
    return " ".join(kept)


def _minutes(lows: Sequence[str]) -> str | None:
    for place, low in enumerate(lows):
        if low in _HOURS:
            return f"{_HOURS[low]} minutes"
        found = _TIME.fullmatch(low)
        if found is None or not (found[2] or found[3] or set(lows) & {"am", "pm", "o'clock"}):
            continue
        hours, half = int(found[1]), found[3] or (lows[place + 1] if place + 1 < len(lows) else "")
        if half.startswith("p") and hours < 12:
            hours += 12
        day = " ".join(other.rstrip("s") for other in lows if other.rstrip("s") in words("weekdays"))
        return f"{day} {60 * hours + int(found[2] or 0)} minutes".strip()
    return None


def same_value(one: str, other: str) -> bool:
    """Whether two folded values are one, or one says the other more exactly."""
    if one == other:
        return True
    one, other = _plain_numbers(one), _plain_numbers(other)
    if one == other:
        return True
    digits, others = re.sub(r"\D", "", one), re.sub(r"\D", "", other)
    if min(len(digits), len(others)) >= _DIGITS and digits[-_DIGITS:] == others[-_DIGITS:]:
        return True
    mine, theirs = one.split(" "), other.split(" ")
    if not any(part[:1].isdigit() for part in (*mine, *theirs)):
        shorter, longer = sorted((mine, theirs), key=len)
        if set(shorter) <= set(longer):
            return True
    else:
        # "4 October" and "Sunday 4 October"; 6 and 6 euros are one, 6 and 7 are not.
        shorter, longer = sorted((mine, theirs), key=len)
        if set(shorter) <= set(longer) and [p for p in longer if p[:1].isdigit()] == [
            p for p in shorter if p[:1].isdigit()
        ]:
            return True
    return _initials(one) == other or _initials(other) == one


def stem(word: str) -> str:
    """A word without its common endings, to compare *smoking* with *smoke*."""
    for ending in ("ing", "ers", "er", "es", "ed", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            return word[: -len(ending)]
    return word


def _plain_numbers(value: str) -> str:
    """82.0 as 82, kilograms as kg."""
    units = kept_forms("units")
    return " ".join(_ZEROS.sub("", units.get(part, part)) for part in value.split(" "))


def _initials(value: str) -> str:
    parts = value.split(" ")
    letters = "".join(part[0] for part in parts if part)
    # "new york city" is nyc.
    return letters if len(parts) > 1 else ""
