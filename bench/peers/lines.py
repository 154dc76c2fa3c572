"""The talk between the benchmark and a peer's process: one JSON object a line, both ways.

=====================================================  ==============================================
the benchmark says                                     the peer's process answers
=====================================================  ==============================================
(nothing: the process starts)                          ``{"ready": true}``
``{"op": "add", "texts": [TEXT, ...]}``                ``{}``
``{"op": "ask", "question": "...", "depth": 20}``      ``{"places": [3, 0]}``
=====================================================  ==============================================

A TEXT is ``{"place", "text", "when", "session"}``: its number from 0 in the order of all texts, when it
happened in seconds since 1970 or null, the conversation it is a turn of or ``""``. Keys of the data set are
never sent. Any answer may be ``{"error": "..."}`` instead. While it works the process may ask back, as often
as it likes: ``{"encode": ["...", ...]}`` is answered by ``{"vectors": ["...", ...]}``, little-endian float32
in base64, so that every peer gets the very vectors of the others. The end of the process's input ends it.

Standard library only, because it runs in each peer's own environment.
"""

from __future__ import annotations

import base64
import json
import sys
from array import array
from dataclasses import asdict, dataclass
from typing import IO, TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    # Per text its vector: float32, of length 1.
    Encode = Callable[[Sequence[str]], list[array[float]]]


@dataclass(frozen=True, slots=True)
class Text:
    """One text to be kept.

    Attributes:
        place: its number, from 0, in the order of all texts; what an answer names.
        text: what is kept.
        when: when it happened, in seconds since 1970 (UTC), or ``None``.
        session: the conversation that it is a turn of, or ``""``.
    """

    place: int
    text: str
    when: float | None = None
    session: str = ""


class Peer(Protocol):
    """An engine that keeps texts and ranks them for a question. Fresh and empty when made."""

    def add(self, texts: Sequence[Text]) -> None:
        """Keep *texts*; called any number of times before the first question, places ascending."""
        ...

    def ask(self, question: str, depth: int) -> list[int]:
        """Places of the texts found, best first, without repeats, at most *depth*."""
        ...


class PeerClass(Protocol):
    """What makes a peer: the encoder that all peers share, and an empty folder of its own."""

    def __call__(self, encode: Encode, folder: Path) -> Peer: ...


def say(message: dict[str, Any], to: IO[str]) -> None:
    """Write one message and hand it on at once."""
    to.write(json.dumps(message, ensure_ascii=True) + "\n")
    to.flush()


def hear(source: IO[str]) -> dict[str, Any] | None:
    """The next message, or ``None`` at the end.

    Raises:
        ValueError: the line is not a JSON object.
    """
    line = source.readline()
    if not line:
        return None
    message = json.loads(line)
    if not isinstance(message, dict):
        raise ValueError(f"a message must be a JSON object, not {line[:80]!r}")  # noqa: TRY004 - bad data, not a bad type
    return message


def texts_to_json(texts: Iterable[Text]) -> list[dict[str, Any]]:
    """Texts as they go over the line."""
    return [asdict(text) for text in texts]


def texts_from_json(rows: Iterable[dict[str, Any]]) -> list[Text]:
    """The texts of an ``add``."""
    return [Text(**row) for row in rows]


def pack_vector(vector: Iterable[float]) -> str:
    """A vector as it goes over the line."""
    numbers = array("f", vector)
    if sys.byteorder == "big":
        numbers.byteswap()
    return base64.b64encode(numbers.tobytes()).decode("ascii")


def unpack_vector(packed: str) -> array[float]:
    """The vector that was packed, float32."""
    numbers = array("f")
    numbers.frombytes(base64.b64decode(packed))
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers
