"""A process that makes one operation on a scene (``upkeep``) and dies right before its N-th disk call.

    python operator_killed.py PLACE OPERATION N

Prints "done" when the operation returned.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.embedded_rows import embedded
from tests.reliability.disk import Disk, FaultyFiles, faulty_system
from tests.reliability.upkeep import OPERATIONS, open_scene


class _Deadly(Disk):
    def step(self) -> bool:
        if super().step():
            # The machine goes on, so a folder that was removed is gone, synced or not.
            self.forget_all()
            os.kill(os.getpid(), signal.SIGKILL)
        return False


def main() -> None:
    place, operation, at = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    with faulty_system() as system:
        disk = system.disk = _Deadly()
        store = open_scene(place)
        bank = store.bank()
        bank.stats()
        disk.calls, disk.fail_at = 0, at
        embedded(bank._rows).cache.files = FaultyFiles(disk)
        OPERATIONS[operation](bank, place)
        sys.stdout.write("done\n")
        sys.stdout.flush()
        disk.fail_at = 0
        store.close()


if __name__ == "__main__":
    main()
