"""Limits of a server, each with the reason for its default."""

from __future__ import annotations

from dataclasses import dataclass, fields

from simonides.errors import InputError


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a server takes on at once; whole numbers from 1, but *queue* from 0 and times above 0.

    Attributes:
        workers: threads that do operations. Each has a connection to every bank that it has used.
        queue: requests that may wait for a worker.
        per_token: requests of one token at work or waiting; ``per_token_running`` says how many run.
        seconds: that one request may take, and before it the sending of its body.
        body_bytes: of a request.
        held_bytes: of the bodies in memory, also of those that are not whole yet, and of the answers until
            they are sent; half of them of one token. One body of ``body_bytes`` always may be.
        answer_bytes: of an answer that is no file.
        import_bytes: of an import, which goes to disk and not to memory.
        import_bytes_per_second: at least, after the first *seconds*.
        open_banks: that stay open. A bank takes about three file handles per worker, so there are fewer where
            the process may have few.
        connections: with and without a token; another one takes the place of the one that is idle for
            longest. At most a third of the file descriptors that the process may have.
        head_seconds: for the head of a request, from the beginning of the connection or its own first byte.
        idle_seconds: that a connection stays open after an answer.
        write_seconds: in which a caller must read what waits for it, some 100 KB at most.
    """

    workers: int = 4
    queue: int = 64
    per_token: int = 32
    seconds: float = 60.0
    body_bytes: int = 16 * 1024 * 1024
    held_bytes: int = 96 * 1024 * 1024
    answer_bytes: int = 16 * 1024 * 1024
    import_bytes: int = 16 * 1024 * 1024 * 1024
    import_bytes_per_second: int = 128 * 1024
    open_banks: int = 64
    connections: int = 512
    head_seconds: float = 10.0
    idle_seconds: int = 5
    write_seconds: float = 20.0

    @property
    def per_token_running(self) -> int:
        """Requests of one token that run at once; one worker is left for others, so from 1."""
        return max(1, self.workers - 1)

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            timed = each.name.endswith("seconds")
            lowest = 0 if timed or each.name == "queue" else 1
            if value < lowest or (timed and not value > 0):
                raise InputError(each.name, f"{value!r} is too small")
