"""Small banks of invented everyday facts, short facts of one topic, and short chats, with questions of each.

Three data sets of one make: ``facts.json`` and ``chats.json`` of the folder ``everyday``, and ``cases.json``
of the folder ``shortbanks``. A bank is a corpus; an item's key is its id there. A question's category is its
style, or, where the bank holds no answer, ``near-miss`` or ``off-topic``, or ``unanswerable`` where the file
does not say which. Turns of a chat have a speaker, a time and a session, and its questions are asked at a
stated time.
Weakness: written by few people in a few styles, so numbers on them are kinder than those of strangers' words.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from simonides.evaluation.dataset import Corpus, Dataset, Item, Question
from simonides.evaluation.source_file import read_json, wrong_form
from simonides.evaluation.unanswerable import UNANSWERABLE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

ORIGIN = "whoever gave you the data sets; simonides does not ship it"

Pair = tuple[Corpus, tuple[Question, ...]]


def load_facts(folder: Path) -> Dataset:
    """Read ``facts.json``; corpora are named ``facts-BANK``.

    Raises:
        InputError: the file is missing or of another form.
    """

    def read(stored: Any) -> Iterable[Pair]:
        rows = [*stored["questions"], *stored["unanswerable"]]
        for bank in stored["banks"]:
            asked = [row for row in rows if row["bank"] == bank["bank"]]
            yield _pair(f"facts-{bank['bank']}", bank["facts"], asked)

    return _load("facts", folder / "facts.json", read)


def load_short_banks(folder: Path) -> Dataset:
    """Read ``cases.json``; corpora are named ``short-BANK``.

    Raises:
        InputError: the file is missing or of another form.
    """

    def read(stored: Any) -> Iterable[Pair]:
        for name, facts in stored["banks"].items():
            yield _pair(f"short-{name}", facts, [row for row in stored["cases"] if row["bank"] == name])

    return _load("short", folder / "cases.json", read)


def load_chats(folder: Path) -> Dataset:
    """Read ``chats.json``; corpora are named ``chat-ID``.

    Raises:
        InputError: the file is missing or of another form.
    """

    def read(stored: Any) -> Iterable[Pair]:
        for chat in stored["conversations"]:
            items = tuple(
                Item(
                    turn["id"],
                    turn["text"],
                    datetime.fromisoformat(turn["event_time"]),
                    session["session"],
                    speaker=turn["speaker"],
                )
                for session in chat["sessions"]
                for turn in session["turns"]
            )
            asked_at = datetime.fromisoformat(chat["asked_at"])
            yield Corpus(f"chat-{chat['id']}", items, asked_at), tuple(map(_question, chat["queries"]))

    return _load("chat", folder / "chats.json", read)


def _load(name: str, file: Path, read: Callable[[Any], Iterable[Pair]]) -> Dataset:
    stored = read_json(file, ORIGIN)
    try:
        return Dataset(name, tuple(read(stored)))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise wrong_form(file, name, error) from error


def _pair(name: str, facts: Iterable[Mapping[str, Any]], rows: Iterable[Mapping[str, Any]]) -> Pair:
    items = tuple(Item(fact["id"], fact["text"], context=fact.get("context", "")) for fact in facts)
    return Corpus(name, items), tuple(map(_question, rows))


def _question(row: Mapping[str, Any]) -> Question:
    gold, kind = tuple(dict.fromkeys(row["gold"])), row.get("kind", "")
    category = row.get("style", "any") if gold else kind.replace("_", "-") or UNANSWERABLE
    return Question(row["id"], row["query"], gold, category, bool(gold), tuple(row.get("acceptable", ())))
