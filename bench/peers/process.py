"""A peer in a process of its own, spoken to in lines (see lines.py)."""

from __future__ import annotations

import os
import subprocess
import threading
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from bench.peers.catalogue import OFFLINE
from bench.peers.environments import PeerUnavailableError
from bench.peers.lines import hear, pack_vector, say, texts_to_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import TracebackType

    from bench.peers.lines import Encode, Text

ROOT = Path(__file__).parents[2]
ANSWER_SECONDS = 900.0
CLOSING_SECONDS = 30.0
TEXTS_AT_ONCE = 256


class PeerProcess:
    """A peer (``lines.Peer``) that runs by another Python. Ends with the ``with`` block."""

    def __init__(
        self,
        python: Path,
        adapter: tuple[str, str],
        encode: Encode,
        folder: Path,
        *,
        environment: Mapping[str, str] | None = None,
        answer_seconds: float = ANSWER_SECONDS,
    ) -> None:
        """Start it and wait until it is ready.

        Args:
            python: the interpreter of the peer's environment.
            adapter: module and class.
            encode: the encoder that all peers share.
            folder: an empty folder; what the peer writes stays there.
            environment: more variables for it.
            answer_seconds: how long an answer may take.

        Raises:
            PeerUnavailableError: it does not start.
        """
        self._encode = encode
        self._limit = answer_seconds
        self._log = folder / "peer.log"
        with self._log.open("w", encoding="utf-8") as log:
            self._process = subprocess.Popen(
                [str(python), "-m", "bench.peers.serve", *adapter, str(folder)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                encoding="utf-8",
                cwd=folder,
                env=_environment(folder, environment or {}),
            )
        try:
            self._answer()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def add(self, texts: Sequence[Text]) -> None:
        """Have *texts* kept."""
        for start in range(0, len(texts), TEXTS_AT_ONCE):
            self._tell({"op": "add", "texts": texts_to_json(texts[start : start + TEXTS_AT_ONCE])})

    def ask(self, question: str, depth: int) -> list[int]:
        """Places found, best first."""
        places: list[int] = self._tell({"op": "ask", "question": question, "depth": depth})["places"]
        return places

    def close(self) -> None:
        """End the process: by the end of its input, or else at once."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except BrokenPipeError:
                    continue
        try:
            self._process.wait(CLOSING_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _tell(self, message: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        try:
            say(message, self._process.stdin)
        except BrokenPipeError:
            raise PeerUnavailableError(self._ended()) from None
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        """The next answer; what the peer wants encoded before it is encoded."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        late = threading.Event()
        alarm = threading.Timer(self._limit, self._stop, [late])
        alarm.start()
        try:
            message = hear(self._process.stdout)
            while message is not None and "encode" in message:
                vectors = [pack_vector(vector) for vector in self._encode(message["encode"])]
                say({"vectors": vectors}, self._process.stdin)
                message = hear(self._process.stdout)
        except ValueError as error:
            raise PeerUnavailableError(f"it does not speak in lines: {error}") from error
        except BrokenPipeError:
            message = None
        finally:
            alarm.cancel()
        if late.is_set():
            raise PeerUnavailableError(f"no answer within {self._limit:g} seconds")
        if message is None:
            raise PeerUnavailableError(self._ended())
        if "error" in message:
            raise PeerUnavailableError(str(message["error"]))
        return message

    def _stop(self, late: threading.Event) -> None:
        late.set()
        self._process.kill()

    def _ended(self) -> str:
        with self._log.open(encoding="utf-8", errors="replace") as log:
            last = " ".join(line.strip() for line in deque(log, maxlen=3))
        return f"its process ended by itself: {last or 'it said nothing'}"


def _environment(folder: Path, more: Mapping[str, str]) -> dict[str, str]:
    """Variables of this process, without its network, its Python path and its home folder."""
    kept = {name: value for name, value in os.environ.items() if not name.upper().endswith("_PROXY")}
    home = {"HOME": str(folder), "XDG_CACHE_HOME": str(folder / "cache"), "MPLCONFIGDIR": str(folder)}
    return {**kept, **OFFLINE, **home, **more, "PYTHONPATH": str(ROOT), "PYTHONSAFEPATH": "1"}
