"""A process that maintains a bank once and says how many SQL statements that took.

    python maintainer.py STORE NOW [--die-at-statement N]

NOW is the clock, ISO 8601. It prints one line: {"steps": …, "actions": […], "statements": …}. It can kill itself right before
its N-th statement, counted from the beginning of the run. Transactions are small, so that kills fall between
many of them.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from datetime import datetime

import apsw

import simonides
from simonides.lifecycle import maintaining
from simonides.testing.clock import FrozenClock


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("store")
    parser.add_argument("now")
    parser.add_argument("--die-at-statement", type=int, default=0)
    asked = parser.parse_args()
    maintaining.AT_ONCE = 3
    counted, counting = 0, False

    def trace(*_: object) -> bool:
        nonlocal counted
        counted += counting
        if counted == asked.die_at_statement != 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return True

    apsw.connection_hooks.append(lambda connection: connection.set_exec_trace(trace))
    clock = FrozenClock(datetime.fromisoformat(asked.now))
    with simonides.open(asked.store, clock=clock, embedder=None) as store:
        bank = store.bank()
        bank.stats()
        counting = True
        report = bank.maintain()
        counting = False
    actions = sorted({step.action for step in report.steps})
    found = {"steps": len(report.steps), "actions": actions, "statements": counted}
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
