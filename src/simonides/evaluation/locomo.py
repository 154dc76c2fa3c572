"""LoCoMo: questions about long dated conversations between two people.

Read from the original ``locomo10.json``. One corpus per conversation; a turn is an item
``Speaker: text [image: caption]`` whose event time is the date of its session (the dataset states no time
zone; UTC is assumed) and whose key is the turn's ``dia_id``. A question's evidence names turns; ids that
match none are ignored and counted, and an answerable question left with none is not scored. Categories
are numbers, because papers disagree on their names; category 5 is unanswerable, and its evidence (the turn
that misleads) is not read unless asked for.

Source: Maharana et al. 2024, "Evaluating Very Long-Term Conversational Memory of LLM Agents".
Weakness: an audit found about one gold id in ten to be wrong, so a perfect score is out of reach.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from simonides.evaluation.dataset import Corpus, Dataset, Item, Question
from simonides.evaluation.source_file import read_json, wrong_form
from simonides.retain.importing.locomo import parse_session_date, turn_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

FILE_NAME = "locomo10.json"
ORIGIN = "https://github.com/snap-research/locomo"
UNANSWERABLE_CATEGORY = "5"

_SESSION = re.compile(r"session_([1-9][0-9]{0,8})")
_EVIDENCE_SEPARATOR = re.compile(r"[;,\s]+")


def load_locomo(path: Path, *, misleading_as_gold: bool = False) -> Dataset:
    """Read LoCoMo in its original form.

    Args:
        path: ``locomo10.json``, or the folder that holds it.
        misleading_as_gold: whether the evidence of category 5 counts as gold, and its questions thus as
            answerable, as in most published figures at session level.

    Returns:
        Conversations and questions in file order; a question's id is ``<conversation>-q<n>``, where n
        counts all questions of the conversation from 1.

    Raises:
        InputError: the file is missing or of another form.
    """
    file = path / FILE_NAME if path.is_dir() else path
    samples = read_json(file, ORIGIN)
    corpora = []
    ignored = unscored = 0
    try:
        for sample in samples:
            name = sample["sample_id"]
            corpus = Corpus(name, _turns(name, sample["conversation"]))
            unanswerable = "" if misleading_as_gold else UNANSWERABLE_CATEGORY
            questions, ignored_here, unscored_here = _questions(name, sample["qa"], corpus, unanswerable)
            corpora.append((corpus, questions))
            ignored += ignored_here
            unscored += unscored_here
    except (KeyError, TypeError, AttributeError) as error:
        raise wrong_form(file, "LoCoMo", error) from error
    return Dataset("locomo", tuple(corpora), ignored_evidence=ignored, unscored_questions=unscored)


def _turns(name: str, conversation: Mapping[str, Any]) -> tuple[Item, ...]:
    numbers = sorted(int(match[1]) for match in map(_SESSION.fullmatch, conversation) if match)
    items: list[Item] = []
    for number in numbers:
        # A date without turns also occurs in the original; only sessions with turns are read.
        field = f"session_{number}_date_time"
        date = conversation.get(field)
        event_time = parse_session_date(date, f"{name}.{field}") if date else None
        items.extend(
            Item(turn["dia_id"], _turn_text(turn), event_time, f"session_{number}")
            for turn in conversation[f"session_{number}"]
        )
    return tuple(items)


def _turn_text(turn: Mapping[str, Any]) -> str:
    return f"{turn['speaker']}: {turn_text(turn)}"


def _questions(
    conversation: str, rows: Sequence[Mapping[str, Any]], corpus: Corpus, unanswerable: str
) -> tuple[tuple[Question, ...], int, int]:
    """Questions that can be asked, ids ignored, questions not scored."""
    keys = {item.key for item in corpus.items}
    questions = []
    ignored = unscored = 0
    for number, row in enumerate(rows, start=1):
        qid = f"{conversation}-q{number}"
        category = str(row["category"])
        if category == unanswerable:
            questions.append(Question(qid, row["question"], (), category, answerable=False))
            continue
        named = _evidence_ids(row["evidence"])
        gold = tuple(key for key in named if key in keys)
        ignored += len(named) - len(gold)
        if gold:
            questions.append(Question(qid, row["question"], gold, category))
        else:
            unscored += 1
    return tuple(questions), ignored, unscored


def _evidence_ids(evidence: Sequence[str]) -> list[str]:
    """Distinct ids in order; one entry of the original may hold several."""
    ids = (key for entry in evidence for key in _EVIDENCE_SEPARATOR.split(entry) if key)
    return list(dict.fromkeys(ids))
