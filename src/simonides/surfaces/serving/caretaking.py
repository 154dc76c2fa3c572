"""Maintains the banks of a served store in turn, in a thread of its own, every so many minutes.

Work is bounded: so many steps of a bank in a round, the rest waits for the next. A bank that another process
maintains is passed over, and what fails in one bank keeps no other from its turn. Recall, retain and forget
go on meanwhile. At the end the steps that are being written are finished, and no more begun.
"""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from simonides.errors import InputError, UnavailableError
from simonides.lifecycle.thresholds import read_thresholds
from simonides.profiles.loader import load_lifecycle

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simonides.lifecycle.step import Step
    from simonides.store import Store
    from simonides.surfaces.serving.open_banks import OpenBanks

_log = logging.getLogger("simonides")

_FIRST_AFTER_SECONDS = 60.0
"""At most; a server that is restarted often maintains all the same."""


@dataclass(frozen=True, slots=True)
class Care:
    """How a server maintains its banks.

    Attributes:
        every_minutes: between the end of a round and the next one; 0 = never.
        steps: of one bank in one round, at most.
        profile: whose ``[lifecycle]`` numbers decide.

    Raises:
        InputError: a number is too small, or the profile states no numbers.
    """

    every_minutes: float = 0.0
    steps: int = 1_000
    profile: str = "default"

    def __post_init__(self) -> None:
        if self.every_minutes < 0:
            raise InputError("maintain_every", f"{self.every_minutes} is below 0; 0 means never")
        if self.steps < 1:
            raise InputError("maintain_steps", f"{self.steps} is below 1")
        read_thresholds(*load_lifecycle(self.profile))


class Seen(Protocol):
    """Is told what became of each run."""

    def __call__(self, outcome: str, steps: Sequence[Step] = (), left: int = 0) -> None:
        """*outcome* is done, busy or failed; *left* are steps that are due still."""
        ...


class Caretaker:
    """Goes round the banks until it is closed; *seen* is told of every run."""

    def __init__(self, store: Store, banks: OpenBanks, care: Care, seen: Seen) -> None:
        self._store = store
        self._banks = banks
        self._care = care
        self._seen = seen
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._live, name="simonides-care", daemon=True)

    def start(self) -> None:
        """Begin, unless it is never to maintain."""
        if self._care.every_minutes:
            self._thread.start()

    def close(self) -> None:
        """End after the steps that are being written."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def go_round(self) -> None:
        """Maintain every bank once."""
        for name in self._store.list_banks():
            if self._stop.is_set():
                break
            try:
                with self._banks.use(name, None) as bank:
                    report = bank.maintain(
                        profile=self._care.profile, most=self._care.steps, stopping=self._stop.is_set
                    )
            except UnavailableError:
                self._seen("busy")
            except Exception as error:  # noqa: BLE001 whatever it is, the other banks have their turn
                self._seen("failed")
                _log.warning("maintenance of a bank failed: %s", error)
            else:
                self._seen("done", report.steps, report.left)

    def _live(self) -> None:
        wait = min(_FIRST_AFTER_SECONDS, self._care.every_minutes * 60)
        while not self._stop.wait(wait):
            self.go_round()
            wait = self._care.every_minutes * 60
