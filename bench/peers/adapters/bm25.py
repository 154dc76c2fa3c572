"""BM25 by bm25s, as it comes: its own tokeniser, English stop words out, Snowball stems, k1 1.5, b 0.75.

Source: Robertson & Zaragoza 2009; Lù 2024, "BM25S". Texts that share no term with the question are not hits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from bench.peers.lines import Encode, Text


class Bm25:
    """Built anew when a question comes after new texts, because bm25s cannot add to an index."""

    def __init__(self, encode: Encode, folder: Path) -> None:
        import bm25s  # noqa: PLC0415 - only there in this peer's own environment
        import Stemmer  # noqa: PLC0415 - same

        del encode, folder  # words alone, in memory
        self._library: Any = bm25s
        self._stemmer = Stemmer.Stemmer("english")
        self._texts: list[Text] = []
        self._index: Any = None

    def add(self, texts: Sequence[Text]) -> None:
        """Keep *texts*."""
        self._texts.extend(texts)
        self._index = None

    def ask(self, question: str, depth: int) -> list[int]:
        """Places by descending BM25, then ascending place."""
        if self._index is None:
            self._index = self._library.BM25()
            self._index.index(self._tokens([text.text for text in self._texts]), show_progress=False)
        # All texts are asked for: where the cut falls among equal scores is otherwise left to the library.
        found, scores = self._index.retrieve(
            self._tokens([question]), k=len(self._texts), show_progress=False, n_threads=1
        )
        ranked = sorted(
            (-float(score), self._texts[int(row)].place)
            for row, score in zip(found[0], scores[0], strict=True)
            if score > 0
        )
        return [place for _, place in ranked[:depth]]

    def _tokens(self, texts: list[str]) -> Any:
        return self._library.tokenize(texts, stopwords="en", stemmer=self._stemmer, show_progress=False)
