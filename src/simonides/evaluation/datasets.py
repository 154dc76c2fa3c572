"""What a measurement is made of: corpora of items, and questions whose right items are known.

Keys and question ids hold no white space, because they become columns of a TREC run file.

LoCoMo: questions about long dated conversations between two people, read from the original
``locomo10.json``. One corpus per conversation; a turn is an item ``Speaker: text [image: caption]`` whose
event time is the date of its session (no time zone is stated; UTC is assumed) and whose key is the turn's
``dia_id``. A question's evidence names turns; ids that match none are ignored and counted, and an answerable
question left with none is not scored. Categories are numbers, because papers disagree on their names;
category 5 is unanswerable, and its evidence (the turn that misleads) is not read unless asked for.
Source: Maharana et al. 2024, "Evaluating Very Long-Term Conversational Memory of LLM Agents".
Weakness: an audit found about one gold id in ten to be wrong, so a perfect score is out of reach.

MuSiQue: questions that need two to four passages joined, in the form of the HippoRAG experiments:
``musique_corpus.json`` holds the passages, ``musique.json`` the questions. All passages make one corpus, an
item is title and text on two lines, and its key is ``p<n>``, the passage's place in the file from 1. A
question's gold are its supporting paragraphs; its category is the number of hops.
Source: Trivedi et al. 2022, "MuSiQue: Multihop Questions via Single-hop Question Composition"; Gutiérrez
et al. 2024, "HippoRAG". Weakness: passages are encyclopaedic and undated, unlike an agent's memories.

Small banks: ``facts.json`` and ``chats.json`` of the folder ``everyday``, and ``cases.json`` of the folder
``shortbanks``. A bank is a corpus; an item's key is its id there. A question's category is its style, or,
where the bank holds no answer, ``near-miss`` or ``off-topic``, or ``unanswerable`` where the file does not
say which. Turns of a chat have a speaker, a time and a session, and its questions are asked at a stated time.
Weakness: invented by few people in a few styles, so numbers on them are kinder than those of strangers'
words.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from simonides.errors import InputError, UnknownNameError
from simonides.retain.importing.memories import parse_session_date, turn_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Item:
    """One text to be retained.

    Attributes:
        key: the dataset's own name for it. Items that share a key stand for one right answer: finding
            any of them finds the key.
        event_time: when it happened, an aware datetime, or ``None`` when the dataset gives no date.
        session: the conversation that it is a turn of; turns follow one another. Empty = none.
        context: what stands beside the text; empty = the turns around it, if it has a session.
        speaker: who says it; empty = not known, or part of the text.
    """

    key: str
    text: str
    event_time: datetime | None = None
    session: str = ""
    context: str = ""
    speaker: str = ""

    def __post_init__(self) -> None:
        _check_column("key", self.key)


@dataclass(frozen=True, slots=True)
class Question:
    """One question asked of a corpus.

    Attributes:
        gold: keys of the items that hold the answer, without repeats; empty exactly when not answerable.
        category: the dataset's own category, such as ``"1"``.
        answerable: whether the corpus holds an answer; questions without one are reported apart.
        acceptable: keys of items that may be found too, and count neither as right nor as wrong.
    """

    qid: str
    text: str
    gold: tuple[str, ...]
    category: str
    answerable: bool = True
    acceptable: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _check_column("qid", self.qid)
        if bool(self.gold) is not self.answerable:
            raise InputError(
                "gold",
                f"question {self.qid} has {len(self.gold)} gold keys and answerable={self.answerable}; an "
                "answerable question needs at least one gold key, an unanswerable one has none",
            )


@dataclass(frozen=True, slots=True)
class Corpus:
    """What one bank holds during a measurement.

    Attributes:
        name: becomes the bank's name.
        asked_at: when its questions are asked; ``None`` = now.
    """

    name: str
    items: tuple[Item, ...]
    asked_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Dataset:
    """Corpora, each with the questions asked of it, in the order of the original file.

    Attributes:
        name: the dataset's name, such as ``"locomo"``.
        corpora: pairs of a corpus and its questions.
        ignored_evidence: gold references of the original that match no item; they were left out.
        unscored_questions: answerable questions left out because none of their references match.
    """

    name: str
    corpora: tuple[tuple[Corpus, tuple[Question, ...]], ...]
    ignored_evidence: int = 0
    unscored_questions: int = 0

    @property
    def questions(self) -> tuple[Question, ...]:
        """All questions, answerable or not, in order."""
        return tuple(question for _, questions in self.corpora for question in questions)

    def first(self, limit: int | None) -> Dataset:
        """The same dataset cut after its first *limit* (from 1) answerable questions; ``None`` = whole.

        Unanswerable questions that stand before the cut stay; a corpus left without questions goes, so a
        small limit costs little. The two counts still describe the original.
        """
        if limit is None:
            return self
        if limit < 1:
            raise InputError("limit", f"{limit} questions cannot be measured; give 1 or more, or no limit")
        kept: list[tuple[Corpus, tuple[Question, ...]]] = []
        missing = limit
        for corpus, questions in self.corpora:
            chosen = []
            for question in questions:
                if missing == 0:
                    break
                chosen.append(question)
                missing -= question.answerable
            if chosen:
                kept.append((corpus, tuple(chosen)))
        return replace(self, corpora=tuple(kept))


def _check_column(field: str, value: str) -> None:
    if not value or any(character.isspace() for character in value):
        raise InputError(field, f"{value!r} must hold at least one character and no white space")


def read_json(path: Path, origin: str) -> Any:
    """The content of a JSON file in UTF-8; ``InputError`` naming *origin* when it cannot be read."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError("data", f"{path} is not there; get it from {origin}") from None
    except OSError as error:
        raise InputError(
            "data", f"{path} cannot be read ({error.strerror}); check its permissions"
        ) from error
    except ValueError as error:
        raise InputError(
            "data", f"{path} is not JSON in UTF-8 ({error}); get it again from {origin}"
        ) from error


def wrong_form(path: Path, expected: str, error: Exception) -> InputError:
    """The error for a file that is JSON but not of the *expected* form."""
    problem = f"{path} does not have the form of {expected}: {type(error).__name__}: {error}"
    return InputError("data", f"{problem}; use the original file, unchanged")


FILE_NAME = "locomo10.json"
LOCOMO_ORIGIN = "https://github.com/snap-research/locomo"
UNANSWERABLE = "unanswerable"
"""Category of the invented questions that no memory answers."""

UNANSWERABLE_CATEGORY = "5"

_SESSION = re.compile(r"session_([1-9][0-9]{0,8})")
_EVIDENCE_SEPARATOR = re.compile(r"[;,\s]+")


def load_locomo(path: Path, *, misleading_as_gold: bool = False) -> Dataset:
    """Read LoCoMo in its original form, a file or the folder of ``locomo10.json``, in file order.

    A question's id is ``<conversation>-q<n>``, where n counts all questions of the conversation from 1.

    Args:
        misleading_as_gold: whether the evidence of category 5 counts as gold, and its questions thus as
            answerable, as in most published figures at session level.

    Raises:
        InputError: the file is missing or of another form.
    """
    file = path / FILE_NAME if path.is_dir() else path
    samples = read_json(file, LOCOMO_ORIGIN)
    corpora = []
    ignored = unscored = 0
    try:
        for sample in samples:
            name = sample["sample_id"]
            corpus = Corpus(name, _turns(name, sample["conversation"]))
            unanswerable = "" if misleading_as_gold else UNANSWERABLE_CATEGORY
            questions, ignored_here, unscored_here = _locomo_questions(
                name, sample["qa"], corpus, unanswerable
            )
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
            Item(turn["dia_id"], f"{turn['speaker']}: {turn_text(turn)}", event_time, f"session_{number}")
            for turn in conversation[f"session_{number}"]
        )
    return tuple(items)


def _locomo_questions(
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


QUESTIONS_FILE_NAME = "musique.json"
CORPUS_FILE_NAME = "musique_corpus.json"
MUSIQUE_ORIGIN = "https://github.com/OSU-NLP-Group/HippoRAG"


def load_musique(folder: Path) -> Dataset:
    """Read MuSiQue in HippoRAG's form from ``musique.json`` and ``musique_corpus.json``.

    May be ``InputError``.
    """
    corpus_file = folder / CORPUS_FILE_NAME
    passages = read_json(corpus_file, MUSIQUE_ORIGIN)
    questions_file = folder / QUESTIONS_FILE_NAME
    rows = read_json(questions_file, MUSIQUE_ORIGIN)
    try:
        items, keys = _passages(passages)
    except (KeyError, TypeError, AttributeError) as error:
        raise wrong_form(corpus_file, "MuSiQue passages", error) from error
    try:
        questions, ignored, unscored = _musique_questions(rows, keys)
    except (KeyError, TypeError, AttributeError) as error:
        raise wrong_form(questions_file, "MuSiQue questions", error) from error
    return Dataset(
        "musique",
        ((Corpus("musique", items), questions),),
        ignored_evidence=ignored,
        unscored_questions=unscored,
    )


def _passages(
    passages: Sequence[Mapping[str, str]],
) -> tuple[tuple[Item, ...], dict[tuple[str, str], str]]:
    """Items, and the key of each title and text; passages that are equal share the first one's key."""
    keys: dict[tuple[str, str], str] = {}
    items = []
    for number, passage in enumerate(passages, start=1):
        title, text = passage["title"], passage["text"]
        key = keys.setdefault((title, text), f"p{number}")
        items.append(Item(key, f"{title}\n{text}"))
    return tuple(items), keys


def _musique_questions(
    rows: Sequence[Mapping[str, Any]], keys: Mapping[tuple[str, str], str]
) -> tuple[tuple[Question, ...], int, int]:
    """Questions that can be asked, supporting paragraphs not in the corpus, questions not scored."""
    questions = []
    ignored = unscored = 0
    for row in rows:
        qid, text, hops = row["id"], row["question"], str(len(row["question_decomposition"]))
        if not row.get("answerable", True):
            questions.append(Question(qid, text, (), hops, answerable=False))
            continue
        pairs = dict.fromkeys(
            (p["title"], p["paragraph_text"]) for p in row["paragraphs"] if p["is_supporting"]
        )
        gold = tuple(keys[pair] for pair in pairs if pair in keys)
        ignored += len(pairs) - len(gold)
        if gold:
            questions.append(Question(qid, text, gold, hops))
        else:
            unscored += 1
    return tuple(questions), ignored, unscored


EVERYDAY_ORIGIN = "whoever gave you the data sets; simonides does not ship it"

Pair = tuple[Corpus, tuple[Question, ...]]


def load_facts(folder: Path) -> Dataset:
    """Read ``facts.json``; corpora are named ``facts-BANK``."""

    def read(stored: Any) -> Iterable[Pair]:
        rows = [*stored["questions"], *stored["unanswerable"]]
        for bank in stored["banks"]:
            asked = [row for row in rows if row["bank"] == bank["bank"]]
            yield _pair(f"facts-{bank['bank']}", bank["facts"], asked)

    return _load("facts", folder / "facts.json", read)


def load_short_banks(folder: Path) -> Dataset:
    """Read ``cases.json``; corpora are named ``short-BANK``."""

    def read(stored: Any) -> Iterable[Pair]:
        for name, facts in stored["banks"].items():
            yield _pair(f"short-{name}", facts, [row for row in stored["cases"] if row["bank"] == name])

    return _load("short", folder / "cases.json", read)


def load_chats(folder: Path) -> Dataset:
    """Read ``chats.json``; corpora are named ``chat-ID``."""

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
    stored = read_json(file, EVERYDAY_ORIGIN)
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


DATASETS: Mapping[str, Callable[[Path], Dataset]] = {"locomo": load_locomo, "musique": load_musique}


def load_dataset(name: str, data: Path) -> Dataset:
    """Read the dataset *name* from its folder ``data/<name>``.

    Raises:
        UnknownNameError: there is no such dataset.
        InputError: its files are missing or of another form.
    """
    if name not in DATASETS:
        raise UnknownNameError("dataset", name, DATASETS)
    return DATASETS[name](data / name)


def load_present(data: Path) -> list[Dataset]:
    """Every data set whose folder is in *data*: LoCoMo, MuSiQue, and the small banks of ``everyday``.

    ``InputError``: there is none, or its files are missing or of another form.
    """
    loaders = (
        *DATASETS.items(),
        ("everyday", load_facts),
        ("everyday", load_chats),
        ("shortbanks", load_short_banks),
    )
    found = [load(data / folder) for folder, load in loaders if (data / folder).is_dir()]
    if not found:
        folders = ", ".join(dict.fromkeys(folder for folder, _ in loaders))
        raise InputError("data", f"{data} holds none of the folders {folders}; give the folder that does")
    return found
