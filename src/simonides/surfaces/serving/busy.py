"""What a caller is told where a server has no room."""

from __future__ import annotations

from simonides.errors import SimonidesError


class BusyError(SimonidesError):
    """There is no room for the request now.

    Attributes:
        retry_after: seconds.
        yours: whether it is the caller's own requests that fill the room.
    """

    def __init__(self, problem: str, retry_after: int, *, yours: bool) -> None:
        super().__init__(problem)
        self.retry_after = retry_after
        self.yours = yours
