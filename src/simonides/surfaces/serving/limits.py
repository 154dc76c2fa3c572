"""Limits of a server, each with the reason for its default."""

from __future__ import annotations

from dataclasses import dataclass, fields

from simonides.errors import InputError


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a server takes on at once; whole numbers from 1, but *queue* from 0 and *seconds* above 0.

    Attributes:
        workers: threads that do operations. Each has a connection to every bank that it has used.
        queue: requests that may wait for a worker.
        per_token: requests of one token at work or waiting; ``per_token_running`` says how many run.
        seconds: that one request may take, and before it the sending of its body.
        body_bytes: of a request.
        held_bytes: of the bodies in memory, also of those that are not whole yet; half of them of one token.
            One body of ``body_bytes`` always may be.
        import_bytes: of an import, which goes to disk and not to memory.
        import_bytes_per_second: at least, after the first *seconds*.
        open_banks: that stay open. A bank takes about three file handles per worker.
    """

    workers: int = 4
    queue: int = 64
    per_token: int = 32
    seconds: float = 60.0
    body_bytes: int = 16 * 1024 * 1024
    held_bytes: int = 128 * 1024 * 1024
    import_bytes: int = 16 * 1024 * 1024 * 1024
    import_bytes_per_second: int = 128 * 1024
    open_banks: int = 64

    @property
    def per_token_running(self) -> int:
        """Requests of one token that run at once; one worker is left for others, so from 1."""
        return max(1, self.workers - 1)

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            lowest = 0 if each.name in {"queue", "seconds"} else 1
            if value < lowest or (each.name == "seconds" and not value > 0):
                raise InputError(each.name, f"{value!r} is too small")
