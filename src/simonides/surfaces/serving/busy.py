"""What a caller is told where a server has no room."""

from __future__ import annotations

from simonides.errors import SimonidesError


class BusyError(SimonidesError):
    """There is no room now; *retry_after* seconds. *yours*: the caller's own requests fill the room."""

    def __init__(self, problem: str, retry_after: int, *, yours: bool) -> None:
        super().__init__(problem)
        self.retry_after = retry_after
        self.yours = yours
