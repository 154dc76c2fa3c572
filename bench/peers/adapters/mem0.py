"""mem0 without a language model: ``infer=False``, its own local Qdrant store, the shared encoder.

What its two further signals need cannot be had without the network (a spaCy model under its original name;
a model of fastembed), so it ranks by similarity alone, as its plain installation does. Its threshold is put
to 0: a cut would only lose hits here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from bench.peers.lines import Encode, Text

OWNER = "reader"


class Mem0:
    """One owner's memories, in the peer's folder."""

    def __init__(self, encode: Encode, folder: Path) -> None:
        from mem0 import Memory  # noqa: PLC0415 - only there in this peer's own environment

        store = {"path": str(folder / "store"), "embedding_model_dims": len(encode(["dimension"])[0])}
        self._memory: Any = Memory.from_config(
            {
                "vector_store": {"provider": "qdrant", "config": store},
                "history_db_path": str(folder / "history.db"),
            }
        )
        self._encoder = _Encoder(encode)
        self._memory.embedding_model = self._encoder

    def add(self, texts: Sequence[Text]) -> None:
        """Add each text as it is."""
        self._encoder.prepare([text.text for text in texts])
        for text in texts:
            self._memory.add(text.text, user_id=OWNER, metadata={"place": text.place}, infer=False)

    def ask(self, question: str, depth: int) -> list[int]:
        """Places in the order of its search."""
        answer = self._memory.search(question, top_k=depth, filters={"user_id": OWNER}, threshold=0.0)
        return list(dict.fromkeys(hit["metadata"]["place"] for hit in answer["results"]))[:depth]


class _Encoder:
    """The shared encoder in the form that mem0 calls."""

    def __init__(self, encode: Encode) -> None:
        self._encode = encode
        self._ready: dict[str, list[float]] = {}

    def prepare(self, texts: Sequence[str]) -> None:
        """Encode texts together that mem0 will ask for one by one."""
        vectors = self._encode(texts)
        self._ready = {text: list(vector) for text, vector in zip(texts, vectors, strict=True)}

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        """The vector of *text*, whatever it is for."""
        del memory_action
        return self._ready.get(text) or list(self._encode([text])[0])
