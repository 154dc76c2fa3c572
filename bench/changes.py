"""Whether a change is told from two facts that hold together, on chains and pairs of short statements.

A chain states one attribute again and again, so that the newest is current; both statements of a pair hold.
Each goes into a bank of its own, after other facts, one statement at a time by a clock that is set: at its
own time, or, where that has passed or is not stated, some time after the former.

    first      of a chain's queries, the current value stands above every outdated one
    handled    an outdated statement is closed (has an end or a successor), or marked wherever it is shown
    unmarked   an outdated statement stands in some context that does not say that it is outdated
    lost       the current statement of a chain is closed
    wrong      any statement of a pair is closed or marked, though its own words set no end
    both told  of a pair's queries, the context holds both statements

Weakness: marks are known by a list of words beside the text, ``MARK``.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal

from bench.command import bench_parser, finish, recall_embedder, rounded_mean, run, say

from simonides.errors import InputError
from simonides.evaluation.datasets import wrong_form
from simonides.store import open_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from simonides.bank import Bank
    from simonides.evaluation.asking import Progress
    from simonides.protocols import Embedder
    from simonides.records.recall import Recall
    from simonides.store import Store


_START = datetime(2024, 1, 1, 9, tzinfo=UTC)
_DAY, _LATER = timedelta(days=1), timedelta(days=30)

MARK = re.compile(
    r"\b(outdated|superseded|replaced|ended|until|earlier|former(ly)?|no longer|not current|in the past)\b",
    re.IGNORECASE,
)
"""What a rendered line says, outside the statement itself, of one that no longer holds."""


@dataclass(frozen=True, slots=True)
class Statement:
    """What was said, when (ISO 8601), and by whom; ``None`` = not stated."""

    text: str
    event_time: str | None
    speaker: str | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """A chain, or a pair, which has no outdated statement; the fields are those of the files.

    ``current``, ``outdated`` and ``same_value`` (in A → B → A the first A) are places in ``statements``.
    """

    id: str
    kind: str
    statements: tuple[Statement, ...]
    current: frozenset[int]
    outdated: frozenset[int]
    same_value: frozenset[int]
    queries: tuple[str, ...]
    others: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Seen:
    """One answer: which statements it ranks, best first, which its context tells, and marks as outdated."""

    ranked: tuple[int, ...]
    told: frozenset[int]
    marked: frozenset[int]
    refused: bool


@dataclass(frozen=True, slots=True)
class Outcome:
    """A case, which of its statements have an end or a successor, and the answers to its queries."""

    case: Case
    closed: frozenset[int]
    seen: tuple[Seen, ...]

    def first(self) -> list[bool]:
        """By query, whether the current value is there and stands above all outdated ones."""
        wanted = self.case.current | self.case.same_value
        ranked = [[p for p in each.ranked if p in wanted | self.case.outdated] for each in self.seen]
        return [bool(places) and places[0] in wanted for places in ranked]

    def handled(self, place: int) -> bool:
        """Whether the statement is closed, or shown and marked wherever it is shown."""
        shown = [place in each.marked for each in self.seen if place in each.told]
        return place in self.closed or (bool(shown) and all(shown))

    def unmarked(self, place: int) -> bool:
        """Whether any context shows the statement as if it held."""
        return any(place in each.told - each.marked for each in self.seen)

    def wrong(self) -> bool:
        """Whether any statement that holds is closed or marked."""
        return bool(self.case.current & self.closed.union(*(each.marked for each in self.seen)))


def load_changes(folder: Path, halves: Iterable[str] = ("development",)) -> tuple[Case, ...]:
    """Read ``changes_HALF.jsonl`` and ``coexisting_HALF.jsonl`` of *folder*.

    Raises:
        InputError: a file is missing or of another form.
    """
    cases: list[Case] = []
    for half in halves:
        for name in ("changes", "coexisting"):
            path = folder / f"{name}_{half}.jsonl"
            try:
                cases += [_case(json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]
            except OSError as error:
                raise InputError("data", f"{path}: {error.strerror}; give its folder") from error
            except (KeyError, TypeError, ValueError) as error:
                raise wrong_form(path, name, error) from error
    return tuple(cases)


def _case(row: Mapping[str, Any]) -> Case:
    statements = tuple(Statement(**each) for each in row["statements"])
    current, outdated, same = (frozenset(row.get(n, ())) for n in ("current", "outdated", "same_value"))
    queries, others = tuple(row["queries"]), tuple(row["others"])
    return Case(row["id"], row["kind"], statements, current, outdated, same, queries, others)


def run_changes(
    cases: Sequence[Case],
    *,
    store_path: Path,
    profile: str = "default",
    embedder: Embedder | Literal["auto"] | None = "auto",
    progress: Progress | None = None,
) -> tuple[Outcome, ...]:
    """Retain every case in a bank of its own under *store_path*, an empty folder, and ask its queries."""
    now = [_START]
    outcomes = []
    with open_store(store_path, embedder=embedder, clock=lambda: now[0]) as store:
        for done, case in enumerate(cases, 1):
            outcomes.append(_outcome(store, case, profile, now))
            if progress:
                progress("recall", done, len(cases))
    return tuple(outcomes)


def _outcome(store: Store, case: Case, profile: str, now: list[datetime]) -> Outcome:
    bank = store.bank(case.id)
    now[0] = _START
    bank.retain(list(case.others))
    ids: list[str] = []
    for statement in case.statements:
        said = statement.event_time
        now[0] = max(datetime.fromisoformat(said), now[0] + _DAY) if said else now[0] + _LATER
        ids.append(_retain(bank, statement))
    now[0] += _LATER
    places = {memory: [place for place, other in enumerate(ids) if other == memory] for memory in ids}
    ends = {place for place, memory in enumerate(ids) if bank.get_memory(memory).valid_to is not None}
    # A statement such as "until 2019" ends by its own words, whatever stands beside it.
    own = {place for place in ends & case.current if _ends_alone(store, case, place)}
    closed = (ends - own) | {
        place for place, memory in enumerate(ids) if bank.get_memory(memory).superseded_by
    }
    seen = [_seen(bank.recall(query, profile=profile), case, places, own) for query in case.queries]
    store.close_bank(case.id)
    return Outcome(case, frozenset(closed), tuple(seen))


def _ends_alone(store: Store, case: Case, place: int) -> bool:
    alone = store.bank(f"{case.id} {place}")
    return alone.get_memory(_retain(alone, case.statements[place])).valid_to is not None


def _retain(bank: Bank, statement: Statement) -> str:
    return bank.retain(statement.text, event_time=statement.event_time, speaker=statement.speaker)[0]


def _seen(answer: Recall, case: Case, places: Mapping[str, list[int]], own: set[int]) -> Seen:
    ranked = tuple(place for hit in answer for place in places.get(hit.id, ()))
    told, marked = set(), set()
    for line in () if answer.no_match else answer.context.splitlines():
        for place, statement in enumerate(case.statements):
            if statement.text in line:
                told.add(place)
                if place not in own and MARK.search(line.replace(statement.text, " ")):
                    marked.add(place)
    return Seen(ranked, frozenset(told), frozenset(marked), answer.no_match)


def summary(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """A JSON-ready summary, by kind and in total: counts, and shares of them from 0 to 1, to 4 places.

    ``stale`` and ``wrong`` are the ids of chains and pairs that are not all right.
    """
    chains = [each for each in outcomes if each.case.outdated]
    pairs = [each for each in outcomes if not each.case.outdated]
    right = [e for e in chains if all(e.first()) and not any(map(e.unmarked, e.case.outdated))]
    return {
        "changes": _by_kind(chains, _chain_rates),
        "coexisting": _by_kind(pairs, _pair_rates),
        "stale": [each.case.id for each in chains if each not in right],
        "wrong": [each.case.id for each in pairs if each.wrong()],
    }


def _by_kind(
    outcomes: Sequence[Outcome], rates: Callable[[Sequence[Outcome]], dict[str, float]]
) -> dict[str, dict[str, float]]:
    kinds: dict[str, list[Outcome]] = {}
    for each in outcomes:
        kinds.setdefault(each.case.kind, []).append(each)
    return {kind: rates(mine) for kind, mine in [*sorted(kinds.items()), ("all", outcomes)]}


def _chain_rates(chains: Sequence[Outcome]) -> dict[str, float]:
    first = [each for chain in chains for each in chain.first()]
    outdated = [(chain, place) for chain in chains for place in chain.case.outdated]
    return {
        "cases": len(chains),
        "queries": len(first),
        "outdated": len(outdated),
        "first": rounded_mean(first),
        "handled": rounded_mean([chain.handled(place) for chain, place in outdated]),
        "unmarked": rounded_mean([chain.unmarked(place) for chain, place in outdated]),
        "lost": rounded_mean([bool(chain.case.current & chain.closed) for chain in chains]),
        "refused": rounded_mean([each.refused for chain in chains for each in chain.seen]),
    }


def _pair_rates(pairs: Sequence[Outcome]) -> dict[str, float]:
    return {
        "cases": len(pairs),
        "queries": sum(len(pair.seen) for pair in pairs),
        "wrong": rounded_mean([pair.wrong() for pair in pairs]),
        "both told": rounded_mean([pair.case.current <= each.told for pair in pairs for each in pair.seen]),
        "refused": rounded_mean([each.refused for pair in pairs for each in pair.seen]),
    }


def main() -> int:
    parser = bench_parser(__doc__, profile="default")
    parser.add_argument("--data", type=Path, required=True, help="folder of changes_HALF.jsonl and the like")
    parser.add_argument("--half", action="append", help="development (default) or held; may be repeated")
    given = parser.parse_args()
    cases = load_changes(given.data, given.half or ("development",))
    with TemporaryDirectory(prefix="simonides-bench-") as folder:
        outcomes = run_changes(
            cases,
            store_path=Path(folder),
            profile=given.profile,
            embedder=recall_embedder(given.embedder),
            progress=say,
        )
    return finish(given, "changes", summary(outcomes))


if __name__ == "__main__":
    run(main)
