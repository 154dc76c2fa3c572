"""Terms for the lexical channel: tokens, stemmed where they are words.

``tokenise`` → base form of an irregular word (``went`` → ``go``, see ``word_lists``) → Snowball stem
(PyStemmer), for each token that is letters only. A token with a digit or a joiner is a name and stays as it
is. A name of letters only (``retryPolicy`` whole) is stemmed as well: it is also what someone types who
writes it in one case (``RETRYPOLICY``), and one spelling must not have two terms.

Cost: about 0.3 s CPU per megabyte of English; a stem is computed once per word and process. Weakness: words
are folded before they are stemmed, so that ``cafe`` finds ``café``; rules of a stemmer that look at accents
do not apply.
Source: M. F. Porter, Snowball: a language for stemming algorithms (2001).
"""

from __future__ import annotations

import hashlib
import threading
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

import Stemmer

from simonides.errors import UnknownNameError
from simonides.text.tokenise import RECIPE, tokenise
from simonides.text.word_lists import irregular_forms, stopwords

NO_LANGUAGE = "none"
"""The language without stemming and without stop-words."""

LANGUAGES = (NO_LANGUAGE, *sorted(Stemmer.algorithms()))
"""What ``TextAnalyser`` accepts."""

_stemmers = threading.local()


@dataclass(frozen=True, slots=True)
class TextAnalyser:
    """Turns memories and queries into terms; safe to use from several threads.

    Attributes:
        language: a Snowball language such as ``"english"``, or ``"none"``. A language without a stop list
            (``word_lists.STOPWORD_LANGUAGES``) drops no word.

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
