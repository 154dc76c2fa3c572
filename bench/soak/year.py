"""A simulated year of one bank under an injected clock, week by week, beside an oracle.

    python -m bench.soak.year --date 2026-11-28 [--events 10000] [--seed 20261129] [--looks 8]

People move (what contradicts what was told), the same is told again by others, there is small talk, some of
it is used, pinned or forgotten, and so are tellings of facts. Every week the bank is maintained. What must
hold, else it is a fault:

    current     for every person the bank believes what the oracle does, with observations and without
    as of       answers as of earlier weeks are the same to the last digit after maintenance as before it, and
                what they believe is what the oracle knew then, less what was forgotten since
    twice       a second run right after the first makes no step and writes nothing
    killed      the same year with maintenance cut off at random steps, and made again, ends in the same state

Then 10⁵ memories (--alike) that are alike, or alike but for a number, are maintained in their own process:
what it costs must grow with their number and no faster.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, cast

from bench.command import describe_run

import simonides
from simonides.lifecycle import maintaining
from simonides.testing.clock import FrozenClock

if TYPE_CHECKING:
    from simonides.bank import Bank

RESULT = Path(__file__).parents[1] / "results" / "lifecycle-year.json"
START = datetime(2025, 1, 6, 9, tzinfo=UTC)
WEEKS = 52
WEEK_SECONDS = 7 * 86_400
PEOPLE = ("Odalys", "Ines", "Ambrose", "Tiber", "Maren", "Juno")
TOWNS = ("Norrhav", "Little Orrin", "Vesper", "Kestrel Bay", "Amberley", "Dunmoor")
TALK = (
    "The kettle on the second floor is broken.",
    "We meet in the blue room on Tuesdays.",
    "The release script wants a clean checkout.",
    "Nobody waters the ferns by the window.",
)
# As ``default``, but small talk fades within the year.
PROFILE = """\
name = "year"
extends = "default"
[lifecycle.half_life_days]
episodic = 30
[lifecycle.archive]
floor = 0.15
grace_days = 30
"""
CHANCES = {
    "moves": 0.13,
    "told again": 0.27,
    "small talk": 0.36,
    "used": 0.12,
    "pinned": 0.02,
    "talk forgotten": 0.06,
    "fact forgotten": 0.04,
}
_MAINTAIN = """
import json, resource, sys, time
import simonides
from simonides.testing.clock import FrozenClock
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
with simonides.open(sys.argv[1], clock=FrozenClock(), embedder=None) as store:
    bank = store.bank()
    bank.stats()
    before, begun = peak(), time.process_time()
    report = bank.maintain()
    spent, after = time.process_time() - begun, peak()
    again = bank.maintain()
    print(json.dumps({"steps": len(report.steps), "cpu_seconds": round(spent, 2),
        "peak_growth_mb": round((after - before) / 1024, 1), "again": len(again.steps)}))
"""


class Killed(BaseException):
    """Stands for the death of the process; nothing catches it."""


@dataclass(slots=True)
class Told:
    """What one memory says of where somebody lives, and when that held."""

    person: str
    town: str
    since: datetime
    until: datetime | None = None


@dataclass(slots=True)
class Oracle:
    """The bank's twin."""

    facts: dict[str, Told] = field(default_factory=dict)
    talk: list[str] = field(default_factory=list)

    def town(self, person: str, moment: datetime) -> str | None:
        """Where somebody was then known to live."""
        for told in self.facts.values():
            held = told.since <= moment and (told.until is None or told.until > moment)
            if told.person == person and held:
                return told.town
        return None

    def tell(self, memory: str, person: str, town: str, now: datetime) -> None:
        """A memory says so from now on; what says otherwise ends."""
        for told in self.facts.values():
            if told.person == person and told.until is None and told.town != town:
                told.until = now
        self.facts.setdefault(memory, Told(person, town, now))


@dataclass(slots=True)
class Year:
    """One year of one bank.

    Attributes:
        bank, clock: what it is lived in.
        profile: whose numbers maintain it.
        events: about so many.
        chance: of what happens.
        killing: of where maintenance is cut off; ``None`` = nowhere.
        looks: how many earlier weeks are asked as of then each week; 0 = all.
        weeks: of the year that are lived.
        counts: what was done and checked.
        faults: what did not hold.
    """

    bank: Bank
    clock: FrozenClock
    profile: Path | str
    events: int
    chance: random.Random
    killing: random.Random | None = None
    looks: int = 0
    weeks: int = WEEKS
    oracle: Oracle = field(default_factory=Oracle)
    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def live(self) -> None:
        """All of it."""
        moments: list[datetime] = []
        per_week = self.events // self.weeks
        for week in range(self.weeks):
            for number in range(per_week + (week < self.events % self.weeks)):
                self.clock.advance(seconds=WEEK_SECONDS / (per_week + 1))
                self._event(f"note {week}-{number}")
            self.clock.now = START + timedelta(days=7 * (week + 1))
            asked = self._asked_as_of(moments)
            before = [self._answers(moment) for moment in asked]
            self._maintain()
            for moment, answer in zip(asked, before, strict=True):
                self.counts["as-of answers"] += len(answer)
                if self._answers(moment) != answer:
                    self.faults.append(f"week {week}: maintenance changed an answer as of {moment}")
                self._check(moment, week)
            self._check(None, week)
            moments.append(self.clock.now - timedelta(hours=1))
        if not self.bank.verify().ok:
            self.faults.append(f"verify: {self.bank.verify().problems}")

    def _asked_as_of(self, moments: list[datetime]) -> list[datetime]:
        """The last weeks, and as many spread over those before."""
        if not self.looks or len(moments) <= self.looks:
            return moments
        last = (self.looks + 1) // 2
        rest, spread = moments[:-last], self.looks - last
        return [*rest[:: len(rest) // spread][:spread], *moments[-last:]] if spread else moments[-last:]

    def _event(self, source: str) -> None:
        (sort,) = self.chance.choices(list(CHANCES), list(CHANCES.values()))
        person = self.chance.choice(PEOPLE)
        home = self.oracle.town(person, self.clock.now)
        if sort == "moves" or (sort == "told again" and home is None):
            self._tell(person, self.chance.choice([town for town in TOWNS if town != home]), source)
            sort = "moves"
        elif sort == "told again" and home is not None:
            self._tell(person, home, source)
        elif sort == "small talk" or not self.oracle.talk:
            sort = "small talk"
            self._chat(source)
        elif sort == "used":
            self.bank.used(self.chance.choice(self.oracle.talk[-20:]))
        elif sort == "pinned":
            self.bank.pin(self.chance.choice(self.oracle.talk), pinned=self.chance.random() < 0.5)
        elif sort == "talk forgotten":
            self.bank.forget(self.oracle.talk.pop(self.chance.randrange(len(self.oracle.talk))))
        else:
            self._forget_a_fact()
        self.counts[f"event: {sort}"] += 1

    def _tell(self, person: str, town: str, source: str) -> None:
        (memory,) = self.bank.retain(
            f"{person} lives in {town}.", source=source, kind="semantic", relation="lives in",
            subject=person, object=town, single_valued=True,
        )  # fmt: skip
        self.oracle.tell(memory, person, town, self.clock.now)

    def _chat(self, source: str) -> None:
        layer = self.chance.choice(("working", "episodic"))
        text, salience = self.chance.choice(TALK), self.chance.choice((0.3, 0.8))
        (memory,) = self.bank.retain(text, source=source, kind="episodic", layer=layer, salience=salience)
        if memory not in self.oracle.talk:
            self.oracle.talk.append(memory)

    def _forget_a_fact(self) -> None:
        if self.oracle.facts:
            memory = self.chance.choice(list(self.oracle.facts))
            self.bank.forget(memory)
            del self.oracle.facts[memory]

    def _maintain(self) -> None:
        if self.killing is not None:
            due = len(self.bank.maintain(profile=self.profile, dry_run=True).steps)
            if due and self.killing.random() < 0.7:
                self._cut_off(self.killing.randrange(due))
        for step in self.bank.maintain(profile=self.profile).steps:
            self.counts[f"step: {step.action}"] += 1
        before = self.bank.stats()["sequence"]
        if self.bank.maintain(profile=self.profile).steps or self.bank.stats()["sequence"] != before:
            self.faults.append(f"{self.clock.now}: a second run changed something")
        self.counts["second runs"] += 1

    def _cut_off(self, left: int) -> None:
        """A run that ends before its step *left*, inside a transaction."""
        plain, at_once = maintaining._make, maintaining.AT_ONCE

        def dying(transaction: Any, due: Any) -> Any:
            nonlocal left
            left -= 1
            if left < 0:
                raise Killed
            return plain(transaction, due)

        maintaining._make, maintaining.AT_ONCE = dying, 3
        try:
            self.bank.maintain(profile=self.profile)
        except Killed:
            self.counts["kills"] += 1
        finally:
            maintaining._make, maintaining.AT_ONCE = plain, at_once

    def _answers(self, moment: datetime) -> list[list[tuple[str, str, float]]]:
        asked = (
            self.bank.recall(f"lives in {person}", profile="lexical", as_of=moment, max_tokens=None)
            for person in PEOPLE
        )
        return [[(hit.id, hit.text, hit.score) for hit in answer] for answer in asked]

    def _check(self, moment: datetime | None, week: int) -> None:
        """What the bank believes is what the oracle does, and nothing else."""
        for preferring in (False, True) if moment is None else (False,):
            for person in PEOPLE:
                found = self.bank.recall(
                    f"{person} lives in", profile="lexical", limit=200, max_tokens=None, as_of=moment,
                    prefer_observations=preferring,
                )  # fmt: skip
                believed = {hit.text for hit in found if hit.text.startswith(f"{person} lives in")}
                town = self.oracle.town(person, moment or self.clock.now)
                wanted = {f"{person} lives in {town}."} if town else set()
                self.counts["current facts" if moment is None else "facts as of earlier weeks"] += 1
                if believed != wanted:
                    self.faults.append(f"week {week}, as of {moment}, {preferring}: {believed}, not {wanted}")


def held(bank: Bank) -> list[tuple[Any, ...]]:
    """What the bank holds now, sorted; memories by their sources, since every bank gives ids of its own."""
    with bank._rows.reading() as reading:  # noqa: SLF001 below the front door
        rows = (
            cast("Any", reading)
            .connection.execute(
                "SELECT m.source, m.text, m.layer, m.state,"
                " m.valid_from, m.valid_to, m.confidence, m.proof_count,"
                " (SELECT group_concat(e.told, '|') FROM (SELECT s.source || e.stance AS told FROM evidence e"
                "  JOIN memories s ON s.ordinal = e.source WHERE e.observation = m.root"
                "  AND e.known_to = m.expired_at ORDER BY told) e)"
                " FROM memories m WHERE m.expired_at = 9223372036854775807"
            )
            .fetchall()
        )
    return sorted(rows, key=repr)


def live(folder: Path, events: int, seed: int, *, looks: int = 0, weeks: int = WEEKS) -> dict[str, Any]:
    """The year undisturbed, and once more with kills; what was counted, and the faults of both."""
    profile = folder / "year.toml"
    profile.write_text(PROFILE, encoding="utf-8")
    years: list[Year] = []
    ends: list[list[tuple[Any, ...]]] = []
    for name, killing in (("whole", None), ("killed", random.Random(seed + 1))):
        clock = FrozenClock(START)
        with simonides.open(folder / name, clock=clock, embedder=None) as store:
            year = Year(store.bank(), clock, profile, events, random.Random(seed), killing, looks, weeks)
            year.live()
            years.append(year)
            ends.append(held(year.bank))
    faults = [
        f"{name}: {fault}"
        for name, year in zip(("whole", "killed"), years, strict=True)
        for fault in year.faults
    ]
    if ends[0] != ends[1]:
        faults.append("the year with kills ended in another state")
    return {
        "events": events,
        "weeks": weeks,
        "seed": seed,
        "held_at_the_end": len(ends[0]),
        **{
            name: dict(sorted(year.counts.items()))
            for name, year in zip(("whole", "killed"), years, strict=True)
        },
        "faults": faults,
    }


def alike(folder: Path, count: int, text: str) -> dict[str, Any]:
    """What one run costs over *count* memories; ``{}`` in the text is a number."""
    with simonides.open(folder, clock=FrozenClock(), embedder=None) as store:
        bank = store.bank()
        for first in range(0, count, 5_000):
            numbers = range(first, min(count, first + 5_000))
            items = [{"text": text.format(n), "source": f"note {n}", "kind": "semantic"} for n in numbers]
            bank.retain(items, deduplicate=False)
    answer = subprocess.run(
        [sys.executable, "-c", _MAINTAIN, str(folder)], stdout=subprocess.PIPE, text=True, check=True
    )
    return {"memories": count, **json.loads(answer.stdout)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--date", required=True, help="today as YYYY-MM-DD")
    parser.add_argument("--events", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=20_261_129)
    parser.add_argument("--looks", type=int, default=8, help="earlier weeks asked as of each week; 0 = all")
    parser.add_argument("--alike", type=int, default=100_000, help="memories that are alike")
    parser.add_argument("--result", type=Path, default=RESULT, help="where to write")
    given = parser.parse_args()
    begun = time.process_time()
    with TemporaryDirectory(prefix="simonides-year-") as folder:
        year = live(Path(folder), given.events, given.seed, looks=given.looks)
        year["cpu_seconds"] = round(time.process_time() - begun, 1)
        counts = (given.alike // 2, given.alike)
        kinds = {
            "the same": "The kettle stands on the stove.",
            "but for a number": "Kettle {} stands on the stove.",
        }
        costs = {
            name: [alike(Path(folder) / f"{name} {count}", count, text) for count in counts]
            for name, text in kinds.items()
        }
    command = ["bench.soak.year", "--events", f"{given.events}", "--seed", f"{given.seed}"]
    command += ["--looks", f"{given.looks}"]
    page = {"run": describe_run(command, given.date), "result": {"year": year, "alike": costs}}
    given.result.write_text(f"{json.dumps(page, indent=2, ensure_ascii=False)}\n", encoding="utf-8")
    print(json.dumps(page["result"], indent=2))
    return int(
        bool(year["faults"])
        or any(each["again"] for each in [*costs["the same"], *costs["but for a number"]])
    )


if __name__ == "__main__":
    sys.exit(main())
