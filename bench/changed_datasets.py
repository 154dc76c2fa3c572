"""Measure recall on a dataset changed on purpose: gold keys corrected, memories added that answer nothing.

    python -m bench.changed_datasets --dataset locomo --data DATA --gold FILE --distractors 10000

``--gold`` names a JSON file for datasets some of whose judgements are wrong, keyed by question id as a TREC
run shows them; ``gold`` replaces the question's gold keys, ``drop`` leaves the question out, ``why`` is for
readers:

    {"conv-26-q7": {"gold": ["D3:14", "D4:2"], "why": "the turn before only asks"},
     "conv-26-q9": {"drop": true, "why": "nothing in the conversation says so"}}

Distractors come from the other corpora of the dataset, conversations whole and in their order, drawn by a
seed; when those run out, they are invented: English words by Zipf's law, names, identifiers and dates. Their
keys are ``distractor-<n>``, so none can be gold, and no text is taken that equals one of the corpus.
Invented memories measure speed and size, never quality: the words of a sentence have nothing to do with each
other.
"""

from __future__ import annotations

import json
import random
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from itertools import accumulate, groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from bench.command import bench_parser, finish, recall_embedder, run, say

from simonides.errors import InputError, UnknownNameError
from simonides.evaluation.datasets import Item, load_dataset
from simonides.evaluation.quality import run_kept

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from simonides.evaluation.datasets import Corpus, Dataset, Question


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


_FIRST = datetime(2024, 1, 1, tzinfo=UTC)
_SYLLABLES = ("bra", "ke", "lin", "mor", "na", "quil", "ros", "tha", "vel", "wen", "yor", "zan")
_PEOPLE = 400
_PROJECTS = 60
_FEWEST_WORDS, _MOST_WORDS = 8, 34


def synthetic_items(count: int, seed: int) -> Iterator[dict[str, Any]]:
    """*count* items for ``bank.retain``: about 20 words each, a person in half of them, an event time each.

    Args:
        count: how many.
        seed: the same seed gives the same items.
    """
    source = random.Random(seed)
    words = _words()
    weights = list(accumulate(1 / rank for rank in range(1, len(words) + 1)))
    people = [_name(source) for _ in range(_PEOPLE)]
    for number in range(count):
        chosen = source.choices(words, cum_weights=weights, k=source.randint(_FEWEST_WORDS, _MOST_WORDS))
        extra = source.random()
        if extra < 0.5:
            chosen.insert(source.randrange(len(chosen)), source.choice(people))
        if extra < 0.2:
            chosen.append(f"(see TG-{source.randrange(10_000)}, src/module_{source.randrange(500)}.py)")
        text = " ".join(chosen)
        yield {
            "text": f"{text[0].upper()}{text[1:]}.",
            "event_time": _FIRST + timedelta(minutes=20 * number),
            "project": f"project-{source.randrange(_PROJECTS)}",
            "tags": [f"tag-{source.randrange(20)}"],
        }


def _words() -> list[str]:
    text = files("simonides.retain.extraction").joinpath("lists/common_words.txt").read_text("utf-8")
    return sorted({word for word in text.lower().split() if word.isalpha() and word.isascii()})


def _name(source: random.Random) -> str:
    first, last = ("".join(source.choices(_SYLLABLES, k=k)).capitalize() for k in (2, 3))
    return f"{first} {last}"


PREFIX = "distractor-"


def with_distractors(dataset: Dataset, count: int, seed: int, more: Iterable[Corpus] = ()) -> Dataset:
    """*dataset* with *count* distractors after the items of each corpus.

    Args:
        dataset: what is measured.
        count: per corpus, from 0.
        seed: the same seed gives the same distractors.
        more: corpora to draw from beside the other ones of the data set.

    Raises:
        InputError: *count* is below 0.
    """
    if count < 0:
        raise InputError("distractors", f"{count} is below 0; give a number of memories, or 0 for none")
    sources = [*(corpus for corpus, _ in dataset.corpora), *more]
    corpora = []
    for corpus, questions in dataset.corpora:
        others = [source for source in sources if source.name != corpus.name]
        added = tuple(_drawn(corpus, others, count, seed))
        corpora.append((replace(corpus, items=(*corpus.items, *added)), questions))
    return replace(dataset, corpora=tuple(corpora))


def _drawn(corpus: Corpus, others: list[Corpus], count: int, seed: int) -> Iterator[Item]:
    own = {item.text for item in corpus.items}
    source = random.Random(f"{seed} {corpus.name}")
    groups = [group for other in others for group in _groups(other)]
    source.shuffle(groups)
    taken = [item for group in groups for item in group if item.text not in own][:count]
    for place, item in enumerate(taken):
        yield replace(item, key=f"{PREFIX}{place}")
    invented = synthetic_items(count - len(taken), source.randrange(2**32))
    for place, fields in enumerate(invented, start=len(taken)):
        yield Item(f"{PREFIX}{place}", fields["text"], fields["event_time"])


def _groups(corpus: Corpus) -> list[list[Item]]:
    """Sessions whole, named apart from those of other corpora; an item without one by itself."""
    groups: list[list[Item]] = []
    for session, members in groupby(corpus.items, key=lambda item: item.session):
        items = list(members)
        if session:
            groups.append([replace(item, session=f"{PREFIX}{corpus.name}-{session}") for item in items])
        else:
            groups += [[item] for item in items]
    return groups


def add_arguments(parser: ArgumentParser) -> None:
    """Which dataset is asked, and how it is changed."""
    parser.add_argument("--dataset", required=True, help="locomo or musique")
    parser.add_argument("--data", type=Path, required=True, help="folder that holds the dataset's own folder")
    parser.add_argument("--limit", type=int, help="only the first LIMIT questions")
    parser.add_argument("--gold", type=Path, help="JSON file of corrected gold keys by question id")
    parser.add_argument("--distractors", type=int, default=0, help="memories that answer nothing, per bank")
    parser.add_argument("--seed", type=int, default=0, help="of all that is drawn")
    parser.add_argument("--keep-banks", type=Path, help="keep the retained banks there, and use those there")


def changed_dataset(given: Namespace) -> Dataset:
    """The dataset as ``add_arguments`` describes it.

    Raises:
        UnknownNameError: no such dataset, or a correction of what it does not hold.
        InputError: a file is missing or of another form, or a number is out of range.
    """
    loaded = load_dataset(given.dataset, given.data)
    if given.gold:
        loaded = correct(loaded, read_corrections(given.gold))
    return with_distractors(loaded, given.distractors, given.seed)


def main() -> int:
    parser = bench_parser(__doc__, profile="default")
    add_arguments(parser)
    given = parser.parse_args()
    with TemporaryDirectory(prefix="simonides-bench-") as folder:
        report = run_kept(
            changed_dataset(given),
            given.keep_banks or Path(folder),
            timer=time.perf_counter,
            cpu=time.process_time,
            profile=given.profile,
            limit=given.limit,
            embedder=recall_embedder(given.embedder),
            progress=say,
        )
    return finish(given, f"changed-{given.dataset}", report.to_dict())


if __name__ == "__main__":
    run(main)
