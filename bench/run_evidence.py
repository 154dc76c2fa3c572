"""Is the evidence of a question whole in the context that a model gets? And in which sessions is it found?

    PYTHONPATH=. python -m bench.run_evidence --data DATA --date 2026-01-31

``evidence-DATASET.json`` holds for each system, per budget of tokens, the share of questions all of whose
gold memories stand whole in the context, and the tokens of that context. For LoCoMo it also holds recall at
session level: a session has the rank of its first turn. Systems are simonides as it answers, its profiles
filling the budget, and the peers of ``bench.peers``, all with the same encoder. simonides renders its own
context; what peers find is rendered as ``default`` renders (number, date, text), and what does not fit is
left out while the next is tried, as there. Tokens are of the vocabulary o200k_base.

``--system`` measures some anew and keeps the others, so a run that was stopped can go on.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import UTC
from functools import lru_cache
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from bench.command import describe_run
from bench.peers.catalogue import SYSTEMS, Ours, OwnProcess
from bench.peers.environments import PeerUnavailableError, pinned_version
from bench.peers.opening import SharedEncoder
from bench.peers.run import answerable, ask_peer, command_of, read_arguments

from simonides.errors import SimonidesError
from simonides.evaluation.asking import keep_banks
from simonides.evaluation.datasets import UNANSWERABLE_CATEGORY, load_locomo, load_musique
from simonides.models.resolve import load_embedder
from simonides.models.token_counters import load_token_counter
from simonides.recall.packing.packers import SEPARATOR
from simonides.retain.conversations import WINDOW
from simonides.store import open_store

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from simonides.bank import Bank
    from simonides.evaluation.datasets import Corpus, Dataset, Item, Question
    from simonides.protocols import Embedder, TokenCounter

BUDGETS = (250, 500, 1_000, 2_000)
DEPTH = 100
"""Hits of a question at most; where they do not fill the largest budget, ``unfilled`` says how often."""
FEWER = {"yantrikdb": 20}
"""Hits of peers whose cost grows steeply with their number: for 20, 40, 60, 100 hits of YantrikDB among 400
turns 35, 200, 440, 1,140 ms of CPU."""
COUNTER = "o200k_base"
CUTOFFS = (5, 10)


@dataclass(frozen=True, slots=True)
class Own:
    """A row of simonides.

    Attributes:
        title, note: for the table.
        profile: what it recalls with.
        embedder: whether it has one.
        filled: whether the budget is filled, like that of every peer; else the answer is as it comes: as many
            memories as the profile gives, and only those that are likely to answer.
    """

    title: str
    note: str
    profile: str = "default"
    embedder: bool = True
    filled: bool = True


_OF_PROFILES = "its document's numbers, our store, no cross-encoder"
OWN: Mapping[str, Own] = {
    "default": Own("simonides `default`", '`precision="wide"`, `limit=100`: fills the budget'),
    "default-no-embedder": Own(
        "simonides `default`, no embedder", "the same, by words alone", embedder=False
    ),
    "default-as-it-comes": Own(
        "simonides `default`, as it comes", "no option given: 10 hits at most, the likely ones", filled=False
    ),
    **{
        name: Own(f"profile `{name}`", _OF_PROFILES, profile=name)
        for name in ("engram", "memoria", "jeffs_brain", "hindsight", "helix")
    },
}
PEERS = tuple(name for name, system in SYSTEMS.items() if not isinstance(system.way, Ours))


class Counter:
    """Counts each text once: a memory's line is the same at every budget (``protocols.TokenCounter``)."""

    def __init__(self, counter: TokenCounter) -> None:
        self.name = counter.name
        self.count = lru_cache(100_000)(counter.count)


@dataclass(frozen=True, slots=True)
class Setting:
    """What all systems share.

    Attributes:
        dataset: what is asked.
        embedder: of simonides; ``encoder`` gives peers the same vectors.
        counter: of tokens.
        folder: for banks, which are retained once.
    """

    dataset: Dataset
    embedder: Embedder
    encoder: SharedEncoder
    counter: Counter
    folder: Path


@dataclass(frozen=True, slots=True)
class Found:
    """What a system made of one question.

    Attributes:
        ranked: keys, best first.
        contexts: per budget the context, cut there, and the keys of the hits in it; none where only the
            sessions count.
        unfilled: whether all hits fit the largest budget.
    """

    ranked: tuple[str, ...]
    contexts: Mapping[int, tuple[str, frozenset[str]]] = field(repr=False)
    unfilled: bool


def main() -> int:
    """Measure all that is asked for; 1 when a system was not to be had."""
    given = read_arguments(__doc__, ("locomo", "musique"), [*OWN, *PEERS])
    embedder, counter = load_embedder(), Counter(load_token_counter(COUNTER))
    encoder, complete = SharedEncoder(embedder), True
    given.results.mkdir(parents=True, exist_ok=True)
    for name in given.dataset:
        dataset = answerable(load(name, given.data).first(given.limit))
        file = given.results / f"evidence-{name}.json"
        systems: dict[str, Any] = {}
        if file.is_file() and given.system != [*OWN, *PEERS]:
            systems = json.loads(file.read_text(encoding="utf-8"))["result"]["systems"]
        with tempfile.TemporaryDirectory(prefix="simonides-evidence-") as folder:
            setting = Setting(dataset, embedder, encoder, counter, Path(folder))
            for system in given.system:
                systems[system] = measure(system, setting)
                complete &= "complete" in systems[system]
                print(f"{name} {system}: {json.dumps(systems[system].get('complete'))}", file=sys.stderr)
                _write(
                    file, given, setting, {each: systems[each] for each in (*OWN, *PEERS) if each in systems}
                )
    return int(not complete)


def _write(file: Path, given: argparse.Namespace, setting: Setting, systems: dict[str, Any]) -> None:
    """Write what is there so far."""
    command = command_of("bench.run_evidence", given)
    result = {
        "dataset": setting.dataset.name,
        "tokens": setting.counter.name,
        "embedder": setting.embedder.name,
        "systems": systems,
    }
    page = {"run": describe_run(command, given.date), "result": result}
    file.write_text(f"{json.dumps(page, indent=1, ensure_ascii=False)}\n", encoding="utf-8")


def load(name: str, data: Path) -> Dataset:
    """The data set; LoCoMo's category 5 with its evidence, for the session level alone."""
    if name == "locomo":
        return load_locomo(data / name, misleading_as_gold=True)
    return load_musique(data / name)


def measure(name: str, setting: Setting) -> dict[str, Any]:
    """One system's shares, or why it cannot be asked."""
    own = OWN.get(name)
    title, note = (own.title, own.note) if own else (SYSTEMS[name].title, SYSTEMS[name].note)
    about = {"title": title, "note": note}
    try:
        if own:
            found = ask_own(own, setting)
        else:
            way = SYSTEMS[name].way
            about |= {"version": pinned_version(name, way)} if isinstance(way, OwnProcess) else {}
            if name in FEWER:
                about["note"] += f"; {FEWER[name]} hits, since more cost it far more"
            found = ask_other(name, setting)
    except (PeerUnavailableError, SimonidesError, OSError) as error:
        return {**about, "unavailable": str(error)}
    sessions = {} if own and not own.filled else at_session_level(setting.dataset, found)
    return {**about, **shares(setting, found), **({"sessions": sessions} if sessions else {})}


def ask_own(own: Own, setting: Setting) -> dict[str, Found]:
    """What simonides answers, and the contexts that it renders."""
    options: dict[str, Any] = {"profile": own.profile}
    if own.filled:
        options |= {"limit": DEPTH, "precision": "wide"}
    embedder = setting.embedder if own.embedder else None
    banks = keep_banks(setting.dataset, setting.folder, window=WINDOW, embedder=embedder)
    found: dict[str, Found] = {}
    with open_store(banks.folder, embedder=embedder, zone=UTC, tokens=setting.counter) as store:
        for corpus, questions in setting.dataset.corpora:
            bank, keys = store.bank(corpus.name), banks.keys[corpus.name]
            for question in questions:
                budgets = BUDGETS if in_context(setting.dataset, question) else ()
                found[question.qid] = _answer(bank, keys, question.text, options, budgets)
    return found


def _answer(
    bank: Bank, keys: Mapping[str, str], query: str, options: Mapping[str, Any], budgets: Sequence[int]
) -> Found:
    whole = bank.recall(query, max_tokens=None, **options)
    contexts: dict[int, tuple[str, frozenset[str]]] = {}
    fitting = 0
    for budget in budgets:
        answer = bank.recall(query, max_tokens=budget, **options)
        contexts[budget] = (answer.context, frozenset(keys.get(hit.id, hit.id) for hit in answer.told))
        fitting = len(answer)
    ranked = tuple(dict.fromkeys(keys.get(hit.id, hit.id) for hit in whole))
    return Found(ranked, contexts, fitting == len(whole))


def ask_other(name: str, setting: Setting) -> dict[str, Found]:
    """What a peer finds, rendered."""
    rankings = ask_peer(name, setting.dataset, setting.encoder, FEWER.get(name, DEPTH))
    found: dict[str, Found] = {}
    for corpus, questions in setting.dataset.corpora:
        items: dict[str, Item] = {}
        for item in corpus.items:
            items.setdefault(item.key, item)
        for question in questions:
            ranked = rankings[question.qid]
            texts = [items[key] for key in ranked]
            budgets = BUDGETS if in_context(setting.dataset, question) else ()
            contexts = {budget: rendered(texts, budget, setting.counter) for budget in budgets}
            filled = contexts[budgets[-1]][1] if budgets else ()
            found[question.qid] = Found(ranked, contexts, len(filled) == len(ranked))
    return found


def rendered(items: Iterable[Item], most: int, counter: Counter) -> tuple[str, frozenset[str]]:
    """The items that fit *most* tokens, best first, as ``default`` renders them; and their keys."""
    lines: list[str] = []
    kept: list[str] = []
    used = 0
    for item in items:
        date = f" ({item.event_time.date().isoformat()})" if item.event_time else ""
        indented = "\n  ".join(item.text.splitlines())
        line = f"{SEPARATOR if lines else ''}[{len(lines) + 1}]{date} {indented}"
        if used + counter.count(line) <= most:
            used += counter.count(line)
            lines.append(line)
            kept.append(item.key)
    return "".join(lines), frozenset(kept)


def cut(context: str, most: int, counter: Counter) -> str:
    """The longest beginning of *context* that has *most* tokens at most.

    Some profiles count the texts of their memories alone, so their contexts are longer than the budget.
    """
    if counter.count(context) <= most:
        return context
    low, high = 0, len(context)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if counter.count(context[:middle]) <= most else (low, middle - 1)
    return context[:low]


def shares(setting: Setting, found: Mapping[str, Found]) -> dict[str, Any]:
    """Per budget the share of questions whose evidence is whole, in all and by category; mean tokens."""
    whole: dict[str, dict[int, bool]] = {}
    tokens: dict[int, list[int]] = {budget: [] for budget in BUDGETS}
    categories: dict[str, list[str]] = defaultdict(list)
    for corpus, question in _asked(setting.dataset):
        texts = {item.key: _words(item.text) for item in corpus.items if item.key in question.gold}
        whole[question.qid] = {}
        for budget, (context, told) in found[question.qid].contexts.items():
            read = cut(context, budget, setting.counter)
            there = all(text in _words(read) for text in texts.values())
            whole[question.qid][budget] = there and told.issuperset(texts)
            tokens[budget].append(setting.counter.count(read))
        categories[question.category].append(question.qid)
    return {
        "questions": len(whole),
        "complete": _complete(whole, whole),
        "tokens": {str(budget): round(fmean(tokens[budget]), 1) for budget in BUDGETS},
        "unfilled": _mean(found[qid].unfilled for qid in whole),
        "by_category": {
            category: {"questions": len(qids), "complete": _complete(whole, qids)}
            for category, qids in sorted(categories.items())
        },
    }


def _complete(whole: Mapping[str, Mapping[int, bool]], qids: Iterable[str]) -> dict[str, float]:
    some = list(qids)
    return {str(budget): _mean(whole[qid][budget] for qid in some) for budget in BUDGETS}


def at_session_level(dataset: Dataset, found: Mapping[str, Found]) -> dict[str, Any]:
    """Recall of the sessions that hold the evidence, over categories 1-4 and over all five."""
    rows: list[tuple[str, dict[str, float]]] = []
    for corpus, questions in dataset.corpora:
        session = {item.key: item.session for item in corpus.items if item.session}
        for question in questions:
            gold = {session[key] for key in question.gold if key in session}
            if gold:
                sessions = (session[key] for key in found[question.qid].ranked if key in session)
                rows.append((question.category, _session_measures(list(dict.fromkeys(sessions)), gold)))
    without = [row for category, row in rows if category != UNANSWERABLE_CATEGORY]
    return {
        name: {
            "questions": len(some),
            **{measure: _mean(row[measure] for row in some) for measure in some[0]},
        }
        for name, some in (("1-4", without), ("1-5", [row for _, row in rows]))
        if some
    }


def _session_measures(ranked: Sequence[str], gold: set[str]) -> dict[str, float]:
    first = next((1 / rank for rank, session in enumerate(ranked, start=1) if session in gold), 0.0)
    measures = {"mrr": first}
    for cutoff in CUTOFFS:
        share = len(gold.intersection(ranked[:cutoff])) / len(gold)
        measures |= {
            f"recall@{cutoff}": share,
            f"any@{cutoff}": float(share > 0),
            f"all@{cutoff}": float(share == 1),
        }
    return measures


def in_context(dataset: Dataset, question: Question) -> bool:
    """Whether the corpus answers it; LoCoMo's category 5 is for the session level alone."""
    return dataset.name != "locomo" or question.category != UNANSWERABLE_CATEGORY


def _asked(dataset: Dataset) -> Iterator[tuple[Corpus, Question]]:
    for corpus, questions in dataset.corpora:
        for question in questions:
            if in_context(dataset, question):
                yield corpus, question


def _words(text: str) -> str:
    return " ".join(text.split())


def _mean(values: Iterable[float]) -> float:
    return round(fmean(values), 4)


if __name__ == "__main__":
    sys.exit(main())
