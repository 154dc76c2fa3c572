"""LoCoMo: questions about long dated conversations between two people.

Read from the original ``locomo10.json``. One corpus per conversation; a turn is an item
``Speaker: text [image: caption]`` whose event time is the date of its session (the dataset states no time
zone; UTC is assumed) and whose key is the turn's ``dia_id``. A question's evidence names turns; ids that
match none are ignored and counted, and an answerable question left with none is not scored. Categories
are numbers, because papers disagree on their names; category 5 is unanswerable, and its evidence (the turn
that misleads) is not read.

Source: Maharana et al. 2024, "Evaluating Very Long-Term Conversational Memory of LLM Agents".
Weakness: an audit found about one gold id in ten to be wrong, so a perfect score is out of reach.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from simonides.errors import InputError
from simonides.evaluation.dataset import Corpus, Dataset, Item, Question
from simonides.evaluation.source_file import read_json, wrong_form

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

FILE_NAME = "locomo10.json"
ORIGIN = "https://github.com/snap-research/locomo"
UNANSWERABLE_CATEGORY = "5"

_SESSION = re.compile(r"session_(\d+)")
_DATE = re.compile(r"(\d{1,2}):(\d{2})\s*([ap]m)\s+on\s+(\d{1,2})\s+([a-z]+),?\s+(\d{4})", re.IGNORECASE)
_EVIDENCE_SEPARATOR = re.compile(r"[;,\s]+")
# Not strptime: its month names follow the locale of the process.
_MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)


def load_locomo(path: Path) -> Dataset:
    """Read LoCoMo in its original form.

    Args:
        path: ``locomo10.json``, or the folder that holds it.

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
            questions, ignored_here, unscored_here = _questions(name, sample["qa"], corpus)
            corpora.append((corpus, questions))
            ignored += ignored_here
            unscored += unscored_here
    except (KeyError, TypeError, AttributeError) as error:
        raise wrong_form(file, "LoCoMo", error) from error
    return Dataset("locomo", tuple(corpora), ignored_evidence=ignored, unscored_questions=unscored)


def parse_session_date(text: str, place: str = "the date of a session") -> datetime:
    """``"1:56 pm on 8 May, 2023"`` as an aware datetime in UTC.

    Args:
        text: what the dataset says.
        place: where it says so, for the error.

    Raises:
        InputError: the text is of another form or names no real moment.
    """
    parts = _DATE.fullmatch(text.strip())
    if parts and parts[5].lower() in _MONTHS:
        hour, minute, half, day, month, year = parts.groups()
        try:
            return datetime(
                int(year),
                _MONTHS.index(month.lower()) + 1,
                int(day),
                _hour_of_day(int(hour), half.lower()),
                int(minute),
                tzinfo=UTC,
            )
        except ValueError:
            pass
    raise InputError("data", f"{place}: {text!r} must have the form '1:56 pm on 8 May, 2023'")


def _hour_of_day(hour: int, half: str) -> int:
    if not 1 <= hour <= 12:
        raise ValueError(hour)
    return hour % 12 + (12 if half == "pm" else 0)


def _turns(name: str, conversation: Mapping[str, Any]) -> tuple[Item, ...]:
    numbers = sorted(int(match[1]) for match in map(_SESSION.fullmatch, conversation) if match)
    items: list[Item] = []
    for number in numbers:
        # A date without turns also occurs in the original; only sessions with turns are read.
        field = f"session_{number}_date_time"
        date = conversation.get(field)
        event_time = parse_session_date(date, f"{name}.{field}") if date else None
        items.extend(
            Item(turn["dia_id"], _turn_text(turn), event_time) for turn in conversation[f"session_{number}"]
        )
    return tuple(items)


def _turn_text(turn: Mapping[str, Any]) -> str:
    text = f"{turn['speaker']}: {turn['text']}"
    caption = turn.get("blip_caption")
    return f"{text} [image: {caption}]" if caption else text


def _questions(
    conversation: str, rows: Sequence[Mapping[str, Any]], corpus: Corpus
) -> tuple[tuple[Question, ...], int, int]:
    """Questions that can be asked, ids ignored, questions not scored."""
    keys = {item.key for item in corpus.items}
    questions = []
    ignored = unscored = 0
    for number, row in enumerate(rows, start=1):
        qid = f"{conversation}-q{number}"
        category = str(row["category"])
        if category == UNANSWERABLE_CATEGORY:
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
