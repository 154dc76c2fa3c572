"""Questions with the answers that a data set gives, for a language model to answer and another to judge.

=============  ======================================================================================
LoCoMo         ``locomo10.json``; all questions of categories 1 to 4. Category 5, whose answers are
               misleading on purpose, is left out, as the usual protocol does.
LongMemEval    ``longmemeval_s.json``, ``_m`` or ``_oracle``; each question has a history of its own. A
               question whose id ends in ``_abs`` cannot be answered, and its answer says why.
=============  ======================================================================================

A session of LongMemEval is named by its place, not by its id, and the mark ``has_answer`` of a turn is not
read: both give the evidence away.

Source: Maharana et al. 2024, "Evaluating Very Long-Term Conversational Memory of LLM Agents"; Wu et al. 2025,
"LongMemEval: Benchmarking Chat Assistants on Long-Term Interactive Memory".
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from simonides.errors import InputError, UnknownNameError
from simonides.evaluation.dataset import Corpus, Item
from simonides.evaluation.locomo import ORIGIN, UNANSWERABLE_CATEGORY, load_locomo
from simonides.evaluation.source_file import read_json, wrong_form
from simonides.files import disk_errors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

LONGMEMEVAL_ORIGIN = "https://github.com/xiaowu0162/LongMemEval"

_DATE = re.compile(r"(\d{4})/(\d{1,2})/(\d{1,2})(?:\s*\([A-Za-z]+\))?(?:\s+(\d{1,2}):(\d{2}))?")


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and the answer that its data set gives.

    Attributes:
        qid: unique in the data set.
        text: what is asked.
        answer: what is right; where *abstains*, why there is no answer.
        category: the data set's own.
        abstains: whether the right answer is that the history does not say it.
    """

    qid: str
    text: str
    answer: str
    category: str
    abstains: bool = False


@dataclass(frozen=True, slots=True)
class Talk:
    """A history, and what is asked about it; at least one question."""

    corpus: Corpus
    questions: tuple[Asked, ...]


def load_answers(name: str, path: Path, limit: int | None = None) -> tuple[Talk, ...]:
    """Read a data set with its answers.

    Args:
        name: one of ``ANSWER_SETS``.
        path: the file.
        limit: only the first so many questions, from 1; ``None`` = all.

    Raises:
        UnknownNameError: there is no such data set.
        InputError: the file is missing or of another form, or holds no question; *limit* is below 1.
    """
    if name not in ANSWER_SETS:
        raise UnknownNameError("dataset", name, ANSWER_SETS)
    if limit is not None and limit < 1:
        raise InputError("limit", f"{limit} questions cannot be asked; give 1 or more, or no limit")
    talks = ANSWER_SETS[name](path)
    if limit is not None:
        talks = _first(talks, limit)
    if not talks:
        raise InputError("data", f"{path} holds no question with an answer; give the original file")
    return talks


def digest(path: Path) -> str:
    """12 hex digits of the SHA-256 of the file.

    Raises:
        UnavailableError: it cannot be read.
    """
    with disk_errors(path, "read"), path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:12]


def _first(talks: Sequence[Talk], limit: int) -> tuple[Talk, ...]:
    kept = []
    for talk in talks:
        some = talk.questions[:limit]
        if some:
            kept.append(replace(talk, questions=some))
        limit -= len(some)
    return tuple(kept)


def _locomo(path: Path) -> tuple[Talk, ...]:
    corpora = [corpus for corpus, _ in load_locomo(path).corpora]
    talks = []
    try:
        for corpus, sample in zip(corpora, read_json(path, ORIGIN), strict=True):
            questions = tuple(_locomo_questions(corpus.name, sample["qa"]))
            talks.append(Talk(corpus, questions))
    except (KeyError, TypeError, AttributeError) as error:
        raise wrong_form(path, "LoCoMo", error) from error
    return tuple(talk for talk in talks if talk.questions)


def _locomo_questions(conversation: str, rows: Sequence[Mapping[str, Any]]) -> Iterator[Asked]:
    for number, row in enumerate(rows, start=1):
        category = str(row["category"])
        if category != UNANSWERABLE_CATEGORY:
            # Some answers are years, written as numbers.
            yield Asked(f"{conversation}-q{number}", row["question"], str(row["answer"]), category)


def _longmemeval(path: Path) -> tuple[Talk, ...]:
    rows = read_json(path, LONGMEMEVAL_ORIGIN)
    try:
        return tuple(_history(row) for row in rows)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise wrong_form(path, "LongMemEval", error) from error


def _history(row: Mapping[str, Any]) -> Talk:
    qid = str(row["question_id"])
    dated = [
        (_moment(date), turns)
        for date, turns in zip(row["haystack_dates"], row["haystack_sessions"], strict=True)
    ]
    # The oracle file is not in the order of time.
    dated.sort(key=lambda pair: pair[0])
    items = tuple(
        Item(f"{session}:{turn}", said["content"], when, f"session_{session}", speaker=said["role"])
        for session, (when, turns) in enumerate(dated, start=1)
        for turn, said in enumerate(turns, start=1)
        if said["content"].strip()
    )
    asked_at = _moment(row["question_date"])
    question = Asked(
        qid, row["question"], str(row["answer"]), str(row["question_type"]), abstains=qid.endswith("_abs")
    )
    return Talk(Corpus(qid, items, asked_at), (question,))


def _moment(text: str) -> datetime:
    """``"2023/05/20 (Sat) 02:21"`` as an aware datetime; the data set states no time zone, UTC is assumed."""
    parts = _DATE.fullmatch(text.strip())
    if parts is None:
        raise ValueError(f"{text!r} must have the form '2023/05/20 (Sat) 02:21'")
    year, month, day, hour, minute = (int(part or 0) for part in parts.groups())
    return datetime(year, month, day, hour, minute, tzinfo=UTC)


ANSWER_SETS: Mapping[str, Callable[[Path], tuple[Talk, ...]]] = {
    "locomo": _locomo,
    "longmemeval": _longmemeval,
}
