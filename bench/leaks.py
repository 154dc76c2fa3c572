"""Do ids or names of people lead to the answer? The dataset is asked again with each scrubbed.

ids    keys, question ids, corpus names and session names become meaningless; texts and order stay. Nothing of
       them may reach the ranking, so it must come out the same.
names  speakers get invented names, the same everywhere in a corpus, questions included. Names are text, so
       rankings may change a little; a system tuned to names would lose much.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal

from bench.changed_datasets import add_arguments, changed_dataset
from bench.command import bench_parser, finish, recall_embedder, run, say

from simonides.evaluation.asking import keep_banks
from simonides.evaluation.comparing import compare_systems
from simonides.evaluation.datasets import Corpus
from simonides.evaluation.quality import checked
from simonides.evaluation.results import Measured
from simonides.retain.conversations import WINDOW

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simonides.evaluation.asking import KeptBanks, Progress
    from simonides.evaluation.comparing import Compared
    from simonides.evaluation.datasets import Dataset, Item, Question
    from simonides.protocols import Embedder


# Invented, two for each conversation, and none of them an English word.
_NAMES = (
    "Odalric",
    "Brisenna",
    "Torvald",
    "Ysmeine",
    "Calvero",
    "Delfrida",
    "Emeric",
    "Feodora",
    "Gislin",
    "Hedda",
)
_SPEAKER = re.compile(r"([^\W\d_][\w'-]*): ")


@dataclass(frozen=True, slots=True)
class Scrubbed:
    """A data set under other ids.

    Attributes:
        dataset: what to ask.
        qids, keys: the original of each new id; a key is looked up by its question's original id and itself.
    """

    dataset: Dataset
    qids: Mapping[str, str]
    keys: Mapping[str, Mapping[str, str]]


def scrub_ids(dataset: Dataset, salt: str) -> Scrubbed:
    """*dataset* with every id replaced by a digest of it and *salt*."""
    corpora: list[tuple[Corpus, tuple[Question, ...]]] = []
    qids: dict[str, str] = {}
    keys: dict[str, Mapping[str, str]] = {}
    for corpus, questions in dataset.corpora:
        renamed = {item.key: _digest(salt, corpus.name, item.key) for item in corpus.items}
        back = {new: old for old, new in renamed.items()}
        asked = []
        for question in questions:
            qid = _digest(salt, "question", question.qid)
            qids[qid], keys[question.qid] = question.qid, back
            asked.append(replace(question, qid=qid, gold=tuple(renamed[key] for key in question.gold)))
        items = tuple(
            replace(
                item,
                key=renamed[item.key],
                session=_digest(salt, corpus.name, item.session) if item.session else "",
            )
            for item in corpus.items
        )
        corpora.append((Corpus(_digest(salt, "corpus", corpus.name), items), tuple(asked)))
    return Scrubbed(replace(dataset, corpora=tuple(corpora)), qids, keys)


def scrub_names(dataset: Dataset) -> tuple[Dataset, dict[str, dict[str, str]]]:
    """*dataset* with its speakers' names replaced, and per corpus what became of each name.

    A speaker is whoever begins an item of a session, as in ``Odile: I glazed two pots``.
    """
    corpora: list[tuple[Corpus, tuple[Question, ...]]] = []
    replaced: dict[str, dict[str, str]] = {}
    for corpus, questions in dataset.corpora:
        names = _new_names(corpus)
        replaced[corpus.name] = names
        items = tuple(_item(item, names) for item in corpus.items)
        asked = tuple(replace(question, text=renamed(question.text, names)) for question in questions)
        corpora.append((replace(corpus, items=items), asked))
    return replace(dataset, corpora=tuple(corpora)), replaced


def renamed(text: str, names: Mapping[str, str]) -> str:
    """*text* with whole words that are a name replaced at once, so that no name is replaced twice."""
    if not names:
        return text
    longest_first = sorted(names, key=lambda name: (-len(name), name))
    pattern = rf"\b(?:{'|'.join(map(re.escape, longest_first))})\b"
    return re.sub(pattern, lambda match: names[match[0]], text)


def _new_names(corpus: Corpus) -> dict[str, str]:
    found = (_SPEAKER.match(item.text) for item in corpus.items if item.session)
    speakers = dict.fromkeys(match[1] for match in found if match)
    words = {word for item in corpus.items for word in re.findall(r"\w+", item.text)}
    free = [name for name in _NAMES if name not in words]
    free += [f"{first}{last.lower()}" for first in _NAMES for last in _NAMES]
    return dict(zip(speakers, free, strict=False))


def _item(item: Item, names: Mapping[str, str]) -> Item:
    return replace(item, text=renamed(item.text, names))


def _digest(*parts: str) -> str:
    return f"x{hashlib.sha256(chr(0).join(parts).encode()).hexdigest()[:12]}"


@dataclass(frozen=True, slots=True)
class Leaks:
    """What scrubbing changed.

    Attributes:
        profile: what was asked.
        questions: how many were asked.
        ids_changed: questions whose ranking is another with ids scrubbed; none may be.
        names: per corpus, what became of each speaker's name.
        names_compared: names scrubbed beside the original.
    """

    profile: str
    questions: int
    ids_changed: tuple[str, ...]
    names: Mapping[str, Mapping[str, str]]
    names_compared: Compared

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {
            "profile": self.profile,
            "questions": self.questions,
            "ids_changed": list(self.ids_changed),
            "names": {corpus: dict(names) for corpus, names in self.names.items()},
            "names_compared": self.names_compared.to_dict(),
        }


def run_leaks(
    dataset: Dataset,
    profile: str,
    folder: Path,
    *,
    window: int,
    embedder: Embedder | Literal["auto"] | None = "auto",
    seed: int = 0,
    progress: Progress | None = None,
) -> Leaks:
    """Retain and ask the data set three times.

    Args:
        dataset: with at least one answerable question.
        profile: name or path.
        folder: where the banks are kept.
        window: as for ``keep_banks``.
        embedder: as for opening a store.
        seed: of the new ids and of the comparison.
        progress: told after each batch and each question.
    """

    def banks(of: Dataset) -> KeptBanks:
        return keep_banks(of, folder, window=window, embedder=embedder, progress=progress)

    original = banks(dataset).ask(profile, progress=progress)
    scrubbed = scrub_ids(dataset, f"leak-check {seed}")
    answers = banks(scrubbed.dataset).ask(profile, progress=progress)
    back = {}
    for answer in answers:
        qid = scrubbed.qids[answer.qid]
        back[qid] = tuple(scrubbed.keys[qid].get(key, key) for key in answer.ranked)
    changed = tuple(result.qid for result in original if back[result.qid] != result.ranked)

    renamed, names = scrub_names(dataset)
    by_names = banks(replace(renamed, name=f"{dataset.name}-renamed")).ask(profile, progress=progress)
    compared = compare_systems([Measured(profile, original), Measured("names scrubbed", by_names)], seed=seed)
    return Leaks(profile, len(original), changed, names, compared)


def main() -> int:
    parser = bench_parser(__doc__, profile="default")
    add_arguments(parser)
    given = parser.parse_args()
    asked = checked(changed_dataset(given), given.limit, WINDOW)
    with TemporaryDirectory(prefix="simonides-bench-") as folder:
        found = run_leaks(
            asked,
            given.profile,
            given.keep_banks or Path(folder),
            window=WINDOW,
            embedder=recall_embedder(given.embedder),
            seed=given.seed,
            progress=say,
        )
    return finish(given, f"leaks-{given.dataset}", {"dataset": given.dataset, **found.to_dict()})


if __name__ == "__main__":
    run(main)
