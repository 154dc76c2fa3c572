"""Gold keys corrected by a file of one's own, for data sets some of whose judgements are wrong.

    {"conv-26-q7": {"gold": ["D3:14", "D4:2"], "why": "the turn before only asks"},
     "conv-26-q9": {"drop": true, "why": "nothing in the conversation says so"}}

Keyed by question id, as a TREC run of the data set shows them. ``gold`` replaces the question's gold keys;
``drop`` leaves the question out. ``why`` is for readers.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from simonides.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from simonides.evaluation.dataset import Dataset, Question

_FORM = 'an object of question ids, each with {"gold": ["KEY", …]} or {"drop": true}, and "why" if you like'
_FIELDS = ("gold", "drop", "why")


def read_corrections(path: Path) -> dict[str, tuple[str, ...]]:
    """Per question id its new gold keys; an empty tuple = the question is dropped.

    Raises:
        InputError: the file cannot be read or has another form.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError("gold", f"{path} cannot be read as JSON ({error}); give {_FORM}") from error
    if not isinstance(content, dict):
        raise InputError("gold", f"{path} is not {_FORM}")
    return {qid: _keys(path, qid, entry) for qid, entry in content.items()}


def correct(dataset: Dataset, corrections: Mapping[str, Collection[str]]) -> Dataset:
    """*dataset* with the gold keys of *corrections*.

    Raises:
        UnknownNameError: a question or a key is not in the data set.
    """
    known = {question.qid for question in dataset.questions}
    for qid in sorted(corrections):
        if qid not in known:
            raise UnknownNameError("gold", qid, known, place=dataset.name)
    corpora = []
    for corpus, questions in dataset.corpora:
        keys = {item.key for item in corpus.items}
        kept = [_corrected(question, corrections, keys) for question in questions]
        corpora.append((corpus, tuple(question for question in kept if question is not None)))
    return replace(dataset, corpora=tuple(corpora))


def _corrected(
    question: Question, corrections: Mapping[str, Collection[str]], keys: Collection[str]
) -> Question | None:
    if question.qid not in corrections:
        return question
    gold = tuple(dict.fromkeys(corrections[question.qid]))
    for key in gold:
        if key not in keys:
            raise UnknownNameError(f"gold.{question.qid}", key, keys)
    return replace(question, gold=gold, answerable=True) if gold else None


def _keys(path: Path, qid: str, entry: Any) -> tuple[str, ...]:
    if isinstance(entry, dict) and not entry.keys() - set(_FIELDS):
        gold = entry.get("gold")
        if entry.get("drop") is True and gold is None:
            return ()
        is_list = isinstance(gold, list) and all(isinstance(key, str) for key in gold)
        if is_list and gold and not entry.get("drop"):
            return tuple(gold)
    raise InputError("gold", f"{path}: {qid!r} is {entry!r}; give {_FORM}")
