"""Embed the router's examples with the default embedder: what the package ships of them.

python scripts/embed_router_examples.py
"""

from __future__ import annotations

from pathlib import Path

from simonides.models.catalogue import DEFAULT_EMBEDDER
from simonides.models.resolve import load_embedder
from simonides.recall.understanding import router as router_vectors
from simonides.recall.understanding.router import example_texts

PLACE = Path(router_vectors.__file__).with_name(router_vectors.NAME)


def main() -> None:
    embedder = load_embedder(DEFAULT_EMBEDDER)
    texts = example_texts()
    PLACE.write_bytes(router_vectors.vector_file(embedder.fingerprint, texts, embedder.encode(texts)))
    print(f"{len(texts)} examples by {embedder.fingerprint}: {PLACE}")


if __name__ == "__main__":
    main()
