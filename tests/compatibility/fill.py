"""Write the fixture store of one commit; runs on that commit's code.

    git worktree add --detach /tmp/old COMMIT
    PYTHONPATH=/tmp/old/src python tests/compatibility/fill.py STORE.zip

Uses only what every version of the public API has. The clock and the embedder are handed in, so that a
commit writes the same memories again; ids are random.
"""

from __future__ import annotations

import json
import sys
import tempfile
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import simonides
from simonides.testing.clock import FrozenClock
from simonides.testing.embedder import StubTokenEmbedder

FACTS = (
    "My sister Tamsin Quellbrook lives in Ludmarsh.",
    "I am allergic to hazelnuts.",
    "The staging database runs on port 6543.",
    "Orla Penhallow leads the Heron project.",
    "The wifi password of the office is brass-otter-42.",
)
TURNS = (
    {
        "speaker": "Ines Marlowe",
        "text": "I moved to Ludmarsh last week.",
        "event_time": "2026-02-10T09:00+00:00",
    },
    {"speaker": "Assistant", "text": "How do you like Ludmarsh?", "event_time": "2026-02-10T09:01+00:00"},
    {
        "speaker": "Ines Marlowe",
        "text": "I love it, and my dentist is next Tuesday.",
        "event_time": "2026-02-10T09:02+00:00",
    },
)


def fill(store: simonides.Store, clock: FrozenClock, journal: Path) -> None:
    """Every kind of row: facts, documents, turns, new versions, ended, archived, private and forgotten memories."""
    bank = store.bank("main")
    bank.retain([json.loads(line) for line in journal.read_text(encoding="utf-8").splitlines()])
    clock.advance(days=1)
    facts = [bank.retain(fact)[0] for fact in FACTS]
    clock.advance(days=1)
    bank.retain_conversation(TURNS, session="talk-1")
    bank.retain_document(
        "# Release\n\nThe release needs two reviews.\n\n# Rollback\n\nRun `revert` first.",
        document_id="guide.md",
    )
    clock.advance(days=1)
    bank.retain("The staging database runs on port 7654 now.")
    bank.invalidate(facts[3], at=clock())
    bank.retain("The salary of Orla Penhallow is 61,000.", acl=["orla"])
    bank.update_memory(facts[4], tags=["office"])
    bank.pin(facts[1])
    bank.used([facts[0]])
    bank.forget(bank.retain("The code of the safe is 998877."))
    clock.advance(days=3)
    bank.settle()
    bank.maintain()


def main(target: str) -> None:
    journal = Path(__file__).parents[2] / "src" / "simonides" / "surfaces" / "demo" / "journal.jsonl"
    clock = FrozenClock(datetime(2026, 3, 1, 9, tzinfo=UTC))
    with tempfile.TemporaryDirectory() as folder:
        store_folder = Path(folder) / "store"
        with simonides.open(store_folder, clock=clock, embedder=StubTokenEmbedder()) as store:
            fill(store, clock, journal)
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            for file in sorted(store_folder.rglob("*")):
                # The index is written again from the rows, and locks belong to a process.
                if file.is_file() and "index" not in file.parts:
                    archive.write(file, file.relative_to(store_folder))


if __name__ == "__main__":
    main(sys.argv[1])
