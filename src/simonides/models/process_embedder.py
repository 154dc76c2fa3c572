"""Encode many texts in several processes, each with the model loaded once.

An embedder's threads share one interpreter, which tokenises for all of them in turn; processes do not. A
text's vector depends on no other text, so it is the same whoever encodes it. Queries and small batches are
encoded here. A process takes about a second to start and holds the model once more (100 to 200 MB for
all-MiniLM-L6-v2), so this pays for imports of thousands of texts.
"""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TYPE_CHECKING, Self

import numpy as np

from simonides.errors import InputError
from simonides.forking import Origin, refused_after_fork
from simonides.protocols import TokenEmbedder, WordKnower

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from simonides.protocols import Embedder

_PART = 16
_MOST_WORKERS = 256


@refused_after_fork(lambda embedder: embedder._origin, quiet=("close",))  # noqa: SLF001 the decorator is of this class
class ProcessEmbedder:
    """An embedder whose batches are encoded by *workers* processes (``protocols.TokenEmbedder``).

    Close it, or use it as a context manager: its processes end with it.

    Args:
        load: gives the embedder, here and in each process; must be what can be sent to a process, such as
            ``partial(load_embedder, name, workers=1)``.
        workers: processes, from 1.

    Raises:
        InputError: the embedder offers no vectors of tokens, or *workers* is out of range.
    """

    def __init__(self, load: Callable[[], Embedder], workers: int) -> None:
        if not 1 <= workers <= _MOST_WORKERS:
            raise InputError("workers", f"{workers} is not from 1 to {_MOST_WORKERS}")
        self._origin = Origin("ProcessEmbedder", "make another in the child process")
        embedder = load()
        if not isinstance(embedder, TokenEmbedder):
            raise InputError("load", f"{embedder.name} offers no vectors of tokens; use it without processes")
        self._here, self._tokens = embedder, embedder
        # Spawned, because a fork of a process with threads and an open database is not sound.
        self._pool = ProcessPoolExecutor(workers, get_context("spawn"), initializer=_begin, initargs=(load,))

    @property
    def name(self) -> str:
        """As the embedder's own."""
        return self._here.name

    @property
    def dimension(self) -> int:
        """As the embedder's own."""
        return self._here.dimension

    @property
    def fingerprint(self) -> str:
        """As the embedder's own: the vectors are the same."""
        return self._here.fingerprint

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of memories, shape (len(texts), dimension)."""
        if len(texts) <= _PART:
            return self._here.encode(texts)
        found = list(self._pool.map(_encode, _parts(texts)))
        return np.concatenate(found)

    def encode_query(self, text: str) -> NDArray[np.float32]:
        """Vector of a query, shape (dimension,)."""
        return self._here.encode_query(text)

    def encode_both(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], Sequence[NDArray[np.float32]]]:
        """Vectors of memories and of their tokens."""
        if len(texts) <= _PART:
            return self._tokens.encode_both(texts)
        found = list(self._pool.map(_encode_both, _parts(texts)))
        return np.concatenate([vectors for vectors, _ in found]), [each for _, some in found for each in some]

    def encode_query_both(self, text: str) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Vectors of a query and of its tokens."""
        return self._tokens.encode_query_both(text)

    def knows(self, word: str) -> bool:
        """As the embedder's own; without a vocabulary of its own it knows none."""
        return isinstance(self._here, WordKnower) and self._here.knows(word)

    def close(self) -> None:
        """End the processes."""
        self._pool.shutdown(cancel_futures=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _parts(texts: Sequence[str]) -> list[list[str]]:
    return [list(texts[start : start + _PART]) for start in range(0, len(texts), _PART)]


# The embedder of a process; a process is told once which.
_loaded: list[Embedder] = []


def _begin(load: Callable[[], Embedder]) -> None:
    _loaded.append(load())


def _encode(texts: list[str]) -> NDArray[np.float32]:
    return _loaded[0].encode(texts)


def _encode_both(texts: list[str]) -> tuple[NDArray[np.float32], list[NDArray[np.float32]]]:
    embedder = _loaded[0]
    assert isinstance(embedder, TokenEmbedder)
    vectors, tokens = embedder.encode_both(texts)
    return vectors, list(tokens)
