"""YantrikDB, embedded, with the shared encoder in the place of its own; all its scoring as it comes.

Each text's date goes in as the time it happened, as its documentation asks of imported history. Recalls do
not reinforce what they find, so that no question changes the next one's answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from bench.peers.lines import Encode, Text


class YantrikDb:
    """One file in the peer's folder."""

    def __init__(self, encode: Encode, folder: Path) -> None:
        import yantrikdb  # noqa: PLC0415 - only there in this peer's own environment

        self._encode = encode
        dimension = len(encode(["dimension"])[0])
        self._bank: Any = yantrikdb.YantrikDB(str(folder / "bank.db"), embedding_dim=dimension)
        self._places: dict[str, int] = {}

    def add(self, texts: Sequence[Text]) -> None:
        """Record each text with its vector and date."""
        vectors = self._encode([text.text for text in texts])
        for text, vector in zip(texts, vectors, strict=True):
            made = self._bank.record(text.text, embedding=list(vector), created_at=text.when)
            self._places[made] = text.place

    def ask(self, question: str, depth: int) -> list[int]:
        """Places in the order of its recall."""
        (vector,) = self._encode([question])
        hits = self._bank.recall(question, query_embedding=list(vector), top_k=depth, skip_reinforce=True)
        return list(dict.fromkeys(self._places[hit["rid"]] for hit in hits))[:depth]
