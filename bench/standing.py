"""Whether facts that hold whatever is asked stand in the context, on ``always.json`` of ``everyday``.

Each bank of the file is retained three times: *plain*, *pinned* and *standing*, in which its standing facts
are retained, pinned, or made standing memories and asked for. Counted are texts in the context:

    present      of the standing facts that a query needs
    all present  queries with every one of them
    told         of the queries that have an answer, those with the whole answer
    refused      queries whose answer is no match
    memories     in a context, on average

Weakness: 24 facts in 10 banks of six others, so nothing here crowds a budget.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal

from bench.command import bench_parser, finish, recall_embedder, rounded_mean, run, say

from simonides.evaluation.datasets import EVERYDAY_ORIGIN, read_json, wrong_form
from simonides.store import open_store

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from simonides.bank import Bank
    from simonides.evaluation.asking import Progress
    from simonides.protocols import Embedder
    from simonides.records.recall import Recall


MODES = ("plain", "pinned", "standing")
_NOW = datetime(2026, 11, 16, 9, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class StandingBank:
    """One bank of the file: texts by key, and queries as (words, needed keys, answering keys)."""

    name: str
    standing: Mapping[str, str]
    kinds: Mapping[str, str]
    facts: Mapping[str, str]
    queries: tuple[tuple[str, frozenset[str], frozenset[str]], ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """One answer: the keys whose texts its context holds, those needed, those that answer."""

    told: frozenset[str]
    needed: frozenset[str]
    gold: frozenset[str]
    refused: bool


def load_standing(folder: Path) -> tuple[StandingBank, ...]:
    """Read ``always.json`` of *folder*.

    Raises:
        InputError: the file is missing or of another form.
    """
    file = folder / "always.json"
    stored = read_json(file, EVERYDAY_ORIGIN)
    try:
        return tuple(_bank(row) for row in stored["banks"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise wrong_form(file, "always", error) from error


def _bank(row: Mapping[str, Any]) -> StandingBank:
    return StandingBank(
        row["id"],
        {fact["id"]: fact["text"] for fact in row["standing"]},
        {fact["id"]: fact["kind"] for fact in row["standing"]},
        {fact["id"]: fact["text"] for fact in row["facts"]},
        tuple((q["query"], frozenset(q["standing"]), frozenset(q["gold"])) for q in row["queries"]),
    )


def run_standing(
    banks: Sequence[StandingBank],
    *,
    store_path: Path,
    profile: str = "default",
    max_tokens: int | None = 4096,
    embedder: Embedder | Literal["auto"] | None = "auto",
    progress: Progress | None = None,
) -> dict[str, tuple[Shown, ...]]:
    """By mode, the answers to all queries; banks are made under *store_path*, an empty folder."""
    shown: dict[str, tuple[Shown, ...]] = {}
    with open_store(store_path, embedder=embedder, clock=lambda: _NOW) as store:
        for mode in MODES:
            found: list[Shown] = []
            for each in banks:
                bank = store.bank(f"{each.name}-{mode}")
                _fill(bank, each, mode)
                for query, needed, gold in each.queries:
                    answer = bank.recall(
                        query, profile=profile, max_tokens=max_tokens, standing=mode == "standing"
                    )
                    found.append(Shown(_told(answer, each), needed, gold, answer.no_match))
            shown[mode] = tuple(found)
            if progress:
                progress("recall", len(shown), len(MODES))
    return shown


def _fill(bank: Bank, each: StandingBank, mode: str) -> None:
    for key, text in each.standing.items():
        (memory,) = bank.retain(text, kind=each.kinds[key])
        if mode != "plain":
            bank.pin(memory, always=mode == "standing")
    bank.retain(list(each.facts.values()))


def _told(answer: Recall, bank: StandingBank) -> frozenset[str]:
    context = "" if answer.no_match else " ".join(answer.context.split())
    texts = {**bank.standing, **bank.facts}
    return frozenset(key for key, text in texts.items() if " ".join(text.split()) in context)


def summary(shown: Mapping[str, Sequence[Shown]]) -> dict[str, dict[str, float]]:
    """By mode: counts, and shares of them from 0 to 1, to 4 places."""
    return {mode: _rates(answers) for mode, answers in shown.items()}


def _rates(answers: Sequence[Shown]) -> dict[str, float]:
    answered = [each for each in answers if each.gold]
    needed = [key in each.told for each in answers for key in sorted(each.needed)]
    return {
        "queries": len(answers),
        "needed": len(needed),
        "present": rounded_mean(needed),
        "all present": rounded_mean([each.needed <= each.told for each in answers]),
        "answered": len(answered),
        "told": rounded_mean([each.gold <= each.told for each in answered]),
        "refused": rounded_mean([each.refused for each in answers]),
        "memories": rounded_mean([len(each.told) for each in answers]),
    }


def main() -> int:
    parser = bench_parser(__doc__, profile="default")
    parser.add_argument("--data", type=Path, required=True, help="folder that holds the folder everyday")
    parser.add_argument("--max-tokens", type=int, default=4096, help="budget of a context")
    given = parser.parse_args()
    banks = load_standing(given.data / "everyday")
    with TemporaryDirectory(prefix="simonides-bench-") as folder:
        shown = run_standing(
            banks,
            store_path=Path(folder),
            profile=given.profile,
            max_tokens=given.max_tokens,
            embedder=recall_embedder(given.embedder),
            progress=say,
        )
    return finish(given, "standing", summary(shown))


if __name__ == "__main__":
    run(main)
