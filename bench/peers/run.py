"""Ask every system the same questions of the same texts; one file per data set and system in bench/results/.

    python -m bench.peers.run --data DATA --date 2026-01-31

``peers-DATASET-SYSTEM.json`` holds ``run`` (command, date, commit, machine) and ``result``: the measures over
the answerable questions, or ``unavailable`` with the reason why a system could not be measured.
``peers/DATASET-SYSTEM.run`` holds its first 20 hits of each question, ``peers/DATASET.qrels`` what is right
(TREC columns); ``peers-significance.json`` compares them. ``--system`` measures some anew and leaves the
others as they are; other questions than before remove all that was measured on the data set.
Run it by ``make bench-peers``, which hands in the date; ``make docs`` then writes the table.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.command import RESULTS, describe_run
from bench.peers.catalogue import SYSTEMS, Ours, OwnProcess
from bench.peers.compare import RUNS, write_comparison
from bench.peers.environments import PeerUnavailableError, pinned_version
from bench.peers.lines import Text
from bench.peers.opening import SharedEncoder, open_peer, own_cpu_seconds

from simonides.errors import SimonidesError
from simonides.evaluation.datasets import DATASETS, load_dataset
from simonides.evaluation.quality import run_quality
from simonides.evaluation.results import (
    QuestionResult,
    mean_measures,
    measure_each,
    rounded,
    write_qrels,
    write_run,
)
from simonides.models.resolve import load_embedder
from simonides.retain.conversations import WINDOW

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bench.peers.lines import Peer

    from simonides.evaluation.datasets import Corpus, Dataset, Question

    # Per question id the keys found, best first.
    Rankings = dict[str, tuple[str, ...]]

DEPTH = 20


def main() -> int:
    """Measure all that is asked for; 1 when a system was not to be had."""
    given = read_arguments(__doc__, sorted(DATASETS), list(SYSTEMS))
    if not given.data.is_dir():
        print(f"nothing to measure: there is no folder {given.data}; name one by DATA=…", file=sys.stderr)
        return 1
    (given.results / RUNS).mkdir(parents=True, exist_ok=True)
    encoder = SharedEncoder(load_embedder())
    complete = True
    for name in given.dataset:
        dataset = answerable(load_dataset(name, given.data).first(given.limit))
        _write_qrels(given.results, dataset)
        for system in given.system:
            way = SYSTEMS[system].way
            if isinstance(way, Ours) and way.alone and texts_alone(dataset) == dataset:
                continue  # The data set has nothing but texts: the row would repeat the one before.
            result = measure(system, dataset, encoder)
            print(f"{name} {system}: {json.dumps(result.get('metrics', result))}", file=sys.stderr)
            complete &= "metrics" in result
            rankings: Rankings = result.pop("rankings", {})
            run = given.results / RUNS / f"{name}-{system}.run"
            run.unlink(missing_ok=True)
            if rankings:
                write_run(run, results_of(dataset, rankings), system)
            run_of = describe_run(command_of("bench.peers.run", given), given.date, "bench/peers")
            page = json.dumps({"run": run_of, "result": result}, indent=2, ensure_ascii=False)
            (given.results / f"peers-{name}-{system}.json").write_text(f"{page}\n", encoding="utf-8")
    write_comparison(given.results)
    return int(not complete)


def read_arguments(about: str | None, datasets: Sequence[str], systems: Sequence[str]) -> argparse.Namespace:
    """The arguments of a measurement of several systems on several data sets."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder that holds locomo/ and musique/")
    parser.add_argument("--date", required=True, help="today as YYYY-MM-DD")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where to write")
    parser.add_argument("--limit", type=int, help="only the first LIMIT questions of each data set")
    parser.add_argument("--dataset", nargs="+", choices=datasets, default=datasets)
    parser.add_argument(
        "--system", nargs="+", choices=systems, default=systems, metavar="NAME", help=", ".join(systems)
    )
    return parser.parse_args()


def command_of(module: str, given: argparse.Namespace) -> list[str]:
    """The command that measures the same again, whatever of it was measured before."""
    limit = ["--limit", str(given.limit)] if given.limit else []
    return [f"python -m {module} --data DATA", "--date", given.date, *limit]


def answerable(dataset: Dataset) -> Dataset:
    """*dataset* with only the questions that can be scored."""
    corpora = (
        (corpus, tuple(question for question in questions if question.answerable))
        for corpus, questions in dataset.corpora
    )
    return replace(dataset, corpora=tuple(pair for pair in corpora if pair[1]))


def measure(name: str, dataset: Dataset, encoder: SharedEncoder) -> dict[str, Any]:
    """What one system finds in *dataset*: rankings, measures and cost, or why it cannot be asked."""
    system = SYSTEMS[name]
    result: dict[str, Any] = {"dataset": dataset.name, "system": name, "title": system.title}
    result |= {"note": system.note, "version": version("simonides")}
    started, encoding = _cpu_seconds(), encoder.cpu_seconds
    try:
        if isinstance(system.way, Ours):
            rankings = ask_ours(dataset, system.way)
        else:
            if isinstance(system.way, OwnProcess):
                result["version"] = pinned_version(name, system.way)
            rankings = ask_peer(name, dataset, encoder)
    except (PeerUnavailableError, SimonidesError, OSError) as error:
        return {**result, "unavailable": str(error)}
    cost = _cpu_seconds() - started - (encoder.cpu_seconds - encoding)
    gold = {question.qid: question.gold for question in dataset.questions}
    scores = measure_each(gold, rankings)
    return {
        **result,
        "questions": len(gold),
        "metrics": rounded(mean_measures(scores.values())),
        "by_category": _by_category(dataset.questions, scores),
        # Starting, keeping and ranking; simonides encodes by itself, for the others it is done outside.
        "cpu_seconds": round(cost, 1),
        "cpu_includes_encoding": isinstance(system.way, Ours),
        "rankings": rankings,
    }


def ask_ours(dataset: Dataset, way: Ours) -> Rankings:
    """The rankings of simonides, measured as ``simonides bench quality`` does."""
    asked = texts_alone(dataset) if way.alone else dataset
    with tempfile.TemporaryDirectory(prefix="simonides-peers-") as folder:
        report = run_quality(
            asked,
            store_path=Path(folder) / "store",
            timer=time.perf_counter,
            profile=way.profile,
            window=0 if way.alone else WINDOW,
        )
    return {result.qid: result.ranked for result in report.results}


def texts_alone(dataset: Dataset) -> Dataset:
    """*dataset* without dates and sessions."""
    corpora = tuple(
        (
            replace(
                corpus,
                items=tuple(replace(item, event_time=None, session="") for item in corpus.items),
            ),
            questions,
        )
        for corpus, questions in dataset.corpora
    )
    return replace(dataset, corpora=corpora)


def ask_peer(name: str, dataset: Dataset, encoder: SharedEncoder, depth: int = DEPTH) -> Rankings:
    """The rankings of a peer to *depth*, made anew for each corpus.

    Raises:
        PeerUnavailableError: it cannot be installed, started or asked.
    """
    rankings: Rankings = {}
    for corpus, questions in dataset.corpora:
        with (
            tempfile.TemporaryDirectory(prefix="simonides-peers-") as folder,
            open_peer(name, encoder, Path(folder)) as peer,
        ):
            peer.add(texts_of(corpus))
            for question in questions:
                rankings[question.qid] = _keys(corpus, ask(peer, question.text, len(corpus.items), depth))
    return rankings


def ask(peer: Peer, question: str, texts: int, depth: int = DEPTH) -> list[int]:
    """What *peer* finds, best first and at most *depth*, checked.

    Raises:
        PeerUnavailableError: it names a text that it was not given, or one twice.
    """
    places = peer.ask(question, depth)
    wrong = [place for place in places if not 0 <= place < texts]
    if wrong or len(set(places)) != len(places):
        raise PeerUnavailableError(f"its answer to {question!r} names no text or one twice: {places}")
    return places


def texts_of(corpus: Corpus) -> list[Text]:
    """The items of *corpus* as peers get them: numbered, without the data set's keys."""
    return [
        Text(place, item.text, item.event_time.timestamp() if item.event_time else None, item.session)
        for place, item in enumerate(corpus.items)
    ]


def _keys(corpus: Corpus, places: Sequence[int]) -> tuple[str, ...]:
    # Items that share a key count once, at their best rank.
    return tuple(dict.fromkeys(corpus.items[place].key for place in places))


def _by_category(
    questions: Sequence[Question], scores: Mapping[str, Mapping[str, float]]
) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for category in sorted({question.category for question in questions}):
        each = [scores[question.qid] for question in questions if question.category == category]
        found[category] = {"questions": len(each), **rounded(mean_measures(each))}
    return found


def results_of(dataset: Dataset, rankings: Rankings) -> list[QuestionResult]:
    """Rankings beside what is right."""
    return [
        QuestionResult(q.qid, q.category, q.answerable, q.gold, rankings.get(q.qid, ()))
        for q in dataset.questions
    ]


def _write_qrels(results: Path, dataset: Dataset) -> None:
    """Write what is right. Runs over other questions are removed: they cannot be compared."""
    path = results / RUNS / f"{dataset.name}.qrels"
    before = path.read_bytes() if path.is_file() else None
    write_qrels(path, results_of(dataset, {}))
    if before not in {None, path.read_bytes()}:
        for stale in (*results.glob(f"peers-{dataset.name}-*.json"), *path.parent.glob(f"{dataset.name}-*")):
            stale.unlink()


def _cpu_seconds() -> float:
    """CPU time of this process and of those it has ended."""
    times = os.times()
    return own_cpu_seconds() + times.children_user + times.children_system


if __name__ == "__main__":
    sys.exit(main())
