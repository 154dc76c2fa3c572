"""Texts as terms for keyword search: tokens, word lists, stems.

**Tokens**, the same for memories and queries. A text is folded, each character is replaced by its class
(``normalise``), and one regular expression over the classes finds, from left to right:

    words      letters and marks, or digits: one term each
    names      atoms joined by punctuation, mixed case or letters with digits: whole and in parts
    unspaced   Han, kana, bopomofo, Thai, Lao, Khmer, Myanmar: overlapping pairs of characters (a character
               takes its marks along); each Han character on its own as well, so that a query of one
               character finds it inside any run; a run of one character is a term in every script
    Hangul     the whole run, and overlapping pairs when it is longer than two
    symbols    each character of category So, flags as a pair

All other scripts are segmented by their spaces and punctuation. What is glued together in different classes
(``請求書batch_77を``) falls apart. Punctuation is never a term, and nothing in a text is an operator: an
allow-list, so no input can be a syntax error. Lone surrogates separate words.
Weakness: a kana or Hangul syllable is found alone only where it stands alone, and a word of an unspaced
script also finds texts that hold some of its pairs.

**Word lists**: ``lists/stopwords/LANGUAGE.txt`` holds words that say how a question is put, not what it asks
for (articles, pronouns, prepositions, conjunctions, auxiliaries, question words, the commonest contractions),
``lists/irregular/LANGUAGE.txt`` a base and its forms per line (``went`` → ``go``). ``#`` starts a comment.

**Terms**: a token → base form of an irregular word → Snowball stem (PyStemmer), if it is letters only. A
token with a digit or a joiner is a name and stays as it is. A name of letters only (``retryPolicy`` whole) is
stemmed as well: people also type it in one case (``RETRYPOLICY``), and one spelling must not have two terms.
Words are folded before they are stemmed, so that ``cafe`` finds ``café``; rules of a stemmer that look at
accents do not apply.

Cost: linear; about 0.3 s CPU per megabyte of English; a stem is computed once per word and process.
Source: M. F. Porter, Snowball: a language for stemming algorithms (2001).
"""

from __future__ import annotations

import hashlib
import re
import threading
import unicodedata
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from itertools import pairwise
from typing import TYPE_CHECKING

import Stemmer

from simonides.errors import UnknownNameError
from simonides.text.normalise import CLASSES, MAX_TERM, fold_case, fold_characters, name_terms

if TYPE_CHECKING:
    from collections.abc import Mapping


RECIPE = 1
"""Version of the rules of this room; raise it with every change that gives other terms."""

# Every quantifier is possessive or bounded by what follows: no backtracking over long input.
_ATOM = r"[uld][uldm]*+(?:\+\+d*+(?![+uldm])|\#(?![\#uldm]))?+"
_JOINER = r"(?:_*+(?:://|:?\\{1,2}\.?|::|:/|[/]\.?|[-.:@'+])_*+|_++)(?=[uld])"
_TOKEN = re.compile(
    rf"""
    (?P<word> (?> u?l[lm]*+ | u++ | d++ ) (?! [uldm] | \#(?![\#uldm]) | \+\+ | {_JOINER} ) )
    | (?P<name> (?: (?<![uldmHhk.]) \. (?=[ul]) )?+ {_ATOM} (?: {_JOINER} {_ATOM} )*+ )
    | (?P<unspaced> [Hh][Hhm]*+ )
    | (?P<hangul> k[km]*+ )
    | (?P<symbol> rr | [rs] )
    """,
    re.VERBOSE,
)
_CHARACTER = re.compile("[Hhk]m*")


def tokenise(text: str) -> list[str]:
    """Every term of *text*, in order, repeats included: folded, of 1 to ``MAX_TERM`` characters.

    A plain word gives exactly one; a text without letters, digits or symbols has none.
    """
    folded = fold_characters(text)
    classes = folded.translate(CLASSES)
    # ASCII keeps its length when its case is folded, so all of it is folded at once.
    lower = folded.lower() if folded.isascii() else ""
    terms: list[str] = []
    for token in _TOKEN.finditer(classes):
        start, stop = token.span()
        if lower and token.lastgroup == "word":
            terms.append(lower[start : min(stop, start + MAX_TERM)])
            continue
        piece = folded[start:stop]
        match token.lastgroup:
            case "word":
                terms.append(fold_case(piece[:MAX_TERM])[:MAX_TERM])
            case "name":
                terms.extend(name_terms(piece))
            case "unspaced":
                terms.extend(_pairs(piece, classes[start:stop], singles="H"))
            case "hangul":
                terms.extend(_hangul(piece, classes[start:stop]))
            case _:
                terms.append(piece)
    return terms


def _hangul(piece: str, classes: str) -> list[str]:
    pairs = _pairs(piece, classes, singles="")
    return pairs if len(pairs) == 1 else [piece[:MAX_TERM], *pairs]


def _pairs(piece: str, classes: str, *, singles: str) -> list[str]:
    """Overlapping pairs of characters, and the characters whose class is in *singles*."""
    characters = [piece[found.start() : found.end()] for found in _CHARACTER.finditer(classes)]
    if len(characters) == 1:
        return [characters[0][:MAX_TERM]]
    pairs = [first + second for first, second in pairwise(characters)]
    bases = classes.replace("m", "")
    return pairs + [character for character, base in zip(characters, bases, strict=True) if base in singles]


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


NO_LANGUAGE = "none"
"""The language without stemming and without stop-words."""

LANGUAGES = (NO_LANGUAGE, *sorted(Stemmer.algorithms()))
"""What ``TextAnalyser`` accepts."""

_stemmers = threading.local()


@dataclass(frozen=True, slots=True)
class TextAnalyser:
    """Turns memories and queries into terms; thread-safe.

    Attributes:
        language: a Snowball language such as ``"english"``, or ``"none"``. One without a stop list drops no
            word.

    Raises:
        UnknownNameError: the language is not one of ``LANGUAGES``.
    """

    language: str = "english"

    def __post_init__(self) -> None:
        if self.language not in LANGUAGES:
            raise UnknownNameError("language", self.language, LANGUAGES)

    @property
    def fingerprint(self) -> str:
        """Changes whenever the terms would: recipe, language, stemmer, word lists.

        Unicode's tables grow with Python too, by characters that hardly anyone has written yet; they are left
        out so that two Python versions can share a bank.
        """
        stop = sorted(stopwords(self.language))
        irregular = sorted(irregular_forms(self.language).items())
        digest = hashlib.sha256(repr((stop, irregular)).encode()).hexdigest()[:12]
        return f"text-{RECIPE}/{self.language}/snowball-{Stemmer.version()}/lists-{digest}"

    def terms(self, text: str) -> list[str]:
        """Every term of *text* in order, repeats included; nothing is dropped."""
        return self._stemmed(tokenise(text))

    def query_terms(self, text: str) -> list[str]:
        """The terms of *text* without stop-words; with them where nothing else remains."""
        tokens = tokenise(text)
        stop = stopwords(self.language)
        return self._stemmed([token for token in tokens if token not in stop] or tokens)

    def is_filler(self, text: str) -> bool:
        """Whether *text* has terms and all of them are stop-words."""
        tokens = tokenise(text)
        return bool(tokens) and stopwords(self.language).issuperset(tokens)

    def _stemmed(self, tokens: list[str]) -> list[str]:
        if self.language == NO_LANGUAGE:
            return tokens
        language = self.language
        return [_stem(language, token) for token in tokens]


@lru_cache(maxsize=65_536)
def _stem(language: str, token: str) -> str:
    letters = token.isascii() and token.isalpha()
    if not letters and not all(unicodedata.category(character)[0] in "LM" for character in token):
        return token
    return str(_stemmer(language).stemWord(irregular_forms(language).get(token, token)))


def _stemmer(language: str) -> Stemmer.Stemmer:
    """This thread's stemmer: one object must not be used by two threads at once."""
    mine: dict[str, Stemmer.Stemmer] = _stemmers.__dict__
    if language not in mine:
        mine[language] = Stemmer.Stemmer(language, 0)  # no cache of its own: `_stem` has one
    return mine[language]
