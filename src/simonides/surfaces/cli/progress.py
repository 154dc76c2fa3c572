"""Progress bars on standard error, drawn only where a person watches."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.progress import TaskID

# What a long step calls: its name, how much is done, and how much there is (None = not known).
Report = Callable[[str, int, int | None], None]


@contextmanager
def bars() -> Iterator[Report | None]:
    """One display for every long step of a command; ``None`` when standard error is no terminal.

    It appears with the first report and leaves nothing behind.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    display = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.completed:,.0f}"),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    tasks: dict[str, TaskID] = {}

    def report(stage: str, done: int, total: int | None) -> None:
        if not tasks:
            display.start()
        if stage not in tasks:
            tasks[stage] = display.add_task(stage, total=total)
        display.update(tasks[stage], completed=done, total=total)

    try:
        yield report
    finally:
        display.stop()
