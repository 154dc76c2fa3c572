"""A process that does one large thing to a bank and may kill itself right before its N-th SQL statement.

    python keeper.py STORE {document|bulk|settle|names} [--die-at N] [--name NAME] [--retains N]

document: retains a document of 300 paragraphs that name each other's people and follow on each other
bulk:     retains 600 items at once, which leaves them to be compared later
settle:   compares what was left, 50 rows at a time
names:    retains one item after the other, each naming the same five people, and prints each id

Statements are counted from the moment the bank is open. It prints "done" when it was not killed.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.reliability.dying import die_at_statement

import simonides
from simonides.testing.embedder import StubEmbedder

PEOPLE = ("Odalys Fennimark", "Kofi Dunmarrow", "Wrenna Tolbridge", "Joss Underbeck", "Isaura Plimwater")
PARAGRAPHS = [
    f"{PEOPLE[n % 5]} read gauge {n} of lock {n % 11} because the weir of gauge {n - 1} was high."
    for n in range(300)
]
ITEMS = [f"{PEOPLE[n % 5]} read gauge {n} of lock {n % 11}." for n in range(600)]


def main() -> None:
    asked = _arguments()
    with simonides.open(asked.store, embedder=StubEmbedder()) as store:
        bank = store.bank()
        bank.stats()
        if asked.die_at:
            die_at_statement(asked.die_at)
        if asked.what == "document":
            bank.retain(PARAGRAPHS, document_id="gauges", session="survey", event_time="2026-01-05")
        elif asked.what == "bulk":
            bank.retain(ITEMS, event_time="2026-01-05")
        elif asked.what == "settle":
            while bank.settle(50):
                pass
        else:
            for n in range(asked.retains):
                text = f"{asked.name} {n}: " + ", ".join(PEOPLE) + " met."
                sys.stdout.write(bank.retain(text)[0] + "\n")
                sys.stdout.flush()
    sys.stdout.write("done\n")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("store")
    parser.add_argument("what", choices=("document", "bulk", "settle", "names"))
    parser.add_argument("--die-at", type=int, default=0)
    parser.add_argument("--name", default="keeper")
    parser.add_argument("--retains", type=int, default=1)
    return parser.parse_args()


if __name__ == "__main__":
    main()
