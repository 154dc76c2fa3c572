"""What relevance is measured on: questions that a corpus answers, and questions that it does not (DF-04).

    answerable    <dataset>             the data set's own questions
                  <dataset>-key-words   the same without their stop-words, as one types into a search box
    unanswerable  adversarial           about what people who are there never said (LoCoMo category 5)
                  near-miss, off-topic, unanswerable   what small banks do not hold (``everyday``)
                  elsewhere             asked of another corpus: one that names none of the question's names
                  people, work, records, short   invented (``off_topic.toml``)

Every invented question is asked once of each data set, its corpora taking turns. A question is for fitting or
for reporting by a hash of its words, whatever it is asked of, so the halves share no question.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, replace
from importlib.resources import files
from itertools import cycle
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from simonides.evaluation.dataset import Corpus, Dataset, Question
    from simonides.protocols import Analyser

ADVERSARIAL = "adversarial"
ELSEWHERE = "elsewhere"
KEY_WORDS = "key-words"
UNANSWERABLE = "unanswerable"
KINDS = ("near-miss", "off-topic", UNANSWERABLE)
"""Categories of questions without an answer, in data sets that have them."""


_WORD = re.compile(r"\w+")
_POSSESSIVE = re.compile(r"['\u2019]s\b")


@dataclass(frozen=True, slots=True)
class Asked:
    """One question asked of one corpus.

    Attributes:
        corpus: its name.
        text: what is asked.
        kind: see the module.
        answerable: whether the corpus holds the answer.
        gold, acceptable: keys of the items that answer it, and that may be found too.
    """

    corpus: str
    text: str
    kind: str
    answerable: bool
    gold: tuple[str, ...] = ()
    acceptable: tuple[str, ...] = ()


def off_topic_questions() -> Mapping[str, Sequence[str]]:
    """The invented questions by kind."""
    return tomllib.loads(files(__package__).joinpath("off_topic.toml").read_text(encoding="utf-8"))


def all_questions(datasets: Sequence[Dataset], analyser: Analyser) -> tuple[Asked, ...]:
    """Every question with what it is asked of, in the order of the data sets.

    Args:
        datasets: whose corpora have different names.
        analyser: knows the stop-words.
    """
    corpora = [(dataset, corpus, asked) for dataset in datasets for corpus, asked in dataset.corpora]
    words = {corpus.name: _words(corpus) for _, corpus, _ in corpora}
    found: list[Asked] = []
    for dataset, corpus, questions in corpora:
        for question in questions:
            if not question.answerable:
                kind = question.category if question.category in KINDS else ADVERSARIAL
                found.append(Asked(corpus.name, question.text, kind, False))
                continue
            whole = Asked(corpus.name, question.text, dataset.name, True, question.gold, question.acceptable)
            found.append(whole)
            short = key_words(question.text, analyser)
            if short != question.text:
                found.append(replace(whole, text=short, kind=f"{dataset.name}-{KEY_WORDS}"))
    found.extend(_asked_elsewhere([(corpus, asked) for _, corpus, asked in corpora], words))
    for dataset in datasets:
        turns = cycle(corpus.name for corpus, _ in dataset.corpora)
        for kind, texts in off_topic_questions().items():
            found.extend(Asked(next(turns), text, kind, False) for text in texts)
    return tuple(found)


def key_words(text: str, analyser: Analyser) -> str:
    """The words of *text* that are no stop-words, in order, with spaces between."""
    terms = set(analyser.query_terms(text))
    return " ".join(word for word in text.split() if terms.intersection(analyser.terms(word))).rstrip("?")


def names(text: str) -> frozenset[str]:
    """Capitalised words but the first, folded: what a question is about, if it names anything."""
    words = _WORD.findall(_POSSESSIVE.sub("", text))[1:]
    return frozenset(word.casefold() for word in words if word[0].isupper() and len(word) > 1)


def _asked_elsewhere(
    corpora: Sequence[tuple[Corpus, Sequence[Question]]], words: Mapping[str, frozenset[str]]
) -> Iterator[Asked]:
    """Each answerable question, where it has names, asked of the next corpus that holds none of them."""
    order = [corpus.name for corpus, _ in corpora]
    turn = 0
    for corpus, questions in corpora:
        for question in questions:
            about = names(question.text)
            if not question.answerable or not about:
                continue
            others = [n for n in order if n != corpus.name and not about & words[n]]
            if others:
                other = others[turn % len(others)]
                turn += 1
                yield Asked(other, question.text, ELSEWHERE, False)


def _words(corpus: Corpus) -> frozenset[str]:
    return frozenset(word.casefold() for item in corpus.items for word in _WORD.findall(item.text))
