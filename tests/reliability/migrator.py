"""A process that brings a bank to a newer schema and is killed on the way.

    python migrator.py DATABASE [--die-at-statement N] [--die-at-call N] [--begin]

It kills itself right before its N-th SQL statement, or right before the N-th thing that SQLite does with the
disk. With --begin it says "begun" when it is about to migrate, so that another process can kill it. It says
"done" when the bank is at the newest schema.

The steps beyond those of the product go through every memory, so that a kill can fall into the middle of one.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.reliability.disk import Disk, faulty_system
from tests.reliability.dying import die_at_statement

from simonides.backends.embedded import migrations
from simonides.backends.embedded.connection import Connections
from simonides.backends.embedded.migrations import MIGRATIONS, Migration, migrate

OLDEST = MIGRATIONS[-1].number
STEPS = (
    Migration(
        OLDEST + 1,
        "notes",
        "CREATE TABLE notes(ordinal INTEGER PRIMARY KEY, text TEXT NOT NULL, state TEXT NOT NULL);"
        "INSERT INTO notes SELECT ordinal, hex(text), 'new' FROM memories;"
        "CREATE INDEX notes_by_text ON notes(text)",
    ),
    Migration(
        OLDEST + 2,
        "remarks",
        "UPDATE notes SET text = text || text, state = 'old';"
        "DROP INDEX notes_by_text;"
        "ALTER TABLE notes RENAME TO remarks;"
        "CREATE INDEX remarks_by_state ON remarks(state, text)",
    ),
)
"""Of a schema that this version does not have."""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("database", type=Path)
    parser.add_argument("--die-at-statement", type=int, default=0)
    parser.add_argument("--die-at-call", type=int, default=0)
    parser.add_argument("--begin", action="store_true")
    asked = parser.parse_args()
    migrations.MIGRATIONS = (*MIGRATIONS, *STEPS)
    if asked.die_at_call:
        with faulty_system() as system:
            system.disk = _Deadly(fail_at=asked.die_at_call)
            _migrate(asked.database)
            system.disk.fail_at = 0
        return
    if asked.die_at_statement:
        die_at_statement(asked.die_at_statement)
    if asked.begin:
        _say("begun")
    _migrate(asked.database)


class _Deadly(Disk):
    def step(self) -> bool:
        if super().step():
            os.kill(os.getpid(), signal.SIGKILL)
        return False


def _migrate(database: Path) -> None:
    connections = Connections(database)
    migrate(connections)
    _say("done")
    connections.close()


def _say(word: str) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
