"""The mixed queries of ``bench scale``: plain, filtered, as of a moment, multi-hop, temporal.

    40 % plain      "what is the" and four to eight words that stand together in a memory
    20 % filtered   the same among 50 %, 5 % or 0.5 % of the memories, by a tag
    15 % as of      the same, as things were at a moment in the past
    15 % multi-hop  how one person is linked to another
    10 % temporal   what happened in a month

Their vectors are held-out outputs of the encoder, of which nothing in the bank was grown.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from bench.scale_data import TAGS

from simonides.errors import InputError
from simonides.files import SHARED, new_file, write_file
from simonides.text.dates import MONTHS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from bench.scale_data import RealVectors, TextMaker, VectorMaker
    from numpy.typing import NDArray


SHARES: Mapping[str, int] = {"plain": 200, "filtered": 100, "as_of": 75, "multi_hop": 75, "temporal": 50}
"""Queries of each sort."""

TEXTS, VECTORS = "queries.json", "queries.npz"
_SPANS = 8


@dataclass(frozen=True, slots=True)
class ScaleQuery:
    """One query.

    Attributes:
        sort: of ``SHARES``.
        text: its words.
        tag: the tag that it asks for; empty = none.
        as_of: ISO 8601; empty = now.
    """

    sort: str
    text: str
    tag: str = ""
    as_of: str = ""

    @property
    def options(self) -> dict[str, Any]:
        """Arguments of ``Bank.recall`` beside the text."""
        found: dict[str, Any] = {}
        if self.tag:
            found |= {"tags": [self.tag], "tags_match": "any_strict"}
        if self.as_of:
            found["as_of"] = self.as_of
        return found


@dataclass(frozen=True, slots=True)
class ScaleQueries:
    """The queries of a bank and an embedder that knows their vectors."""

    queries: tuple[ScaleQuery, ...]
    embedder: ReplayedEmbedder


def make_queries(maker: TextMaker, grower: VectorMaker, real: RealVectors, seed: int) -> ScaleQueries:
    """Queries about the texts of *maker*, in an order that mixes the sorts."""
    source = np.random.default_rng([seed, 6])
    blocks = [maker.block(int(number)) for number in source.integers(0, maker.blocks, _SPANS)]

    def span(fewest: int, most: int) -> str:
        items = blocks[source.integers(len(blocks))].items
        words = str(items[source.integers(len(items))]["text"]).rstrip(".").split()
        length = int(source.integers(fewest, most + 1))
        start = int(source.integers(0, max(1, len(words) - length)))
        return " ".join(words[start : start + length]).lower()

    made = [
        _query(sort, number, span, maker, source) for sort, count in SHARES.items() for number in range(count)
    ]
    order = source.permutation(len(made))
    queries: list[ScaleQuery] = []
    vectors, tokens = {}, {}
    held = len(real.vectors) - len(grower.queries)
    for place, number in enumerate(order.tolist()):
        query = made[number]
        text = query.text if query.text not in vectors else f"{query.text} {place}"
        vectors[text] = grower.queries[place % len(grower.queries)]
        own = real.tokens_of(held + place % len(grower.queries))
        tokens[text] = own / np.maximum(np.linalg.norm(own, axis=1, keepdims=True), 1e-9)
        queries.append(ScaleQuery(query.sort, text, query.tag, query.as_of))
    embedder = ReplayedEmbedder(real.name, real.fingerprint, real.vectors.shape[1], vectors, tokens)
    return ScaleQueries(tuple(queries), embedder)


def _query(
    sort: str, number: int, span: Callable[[int, int], str], maker: TextMaker, source: np.random.Generator
) -> ScaleQuery:
    if sort == "multi_hop":
        known = min(len(maker.people), 2_000)
        first, second = (maker.people[int(n)] for n in source.integers(0, known, 2))
        return ScaleQuery(sort, f"how is {first} linked to {second} through {span(2, 4)}")
    if sort == "temporal":
        moment = maker.happened(int(source.integers(maker.count)))
        return ScaleQuery(
            sort, f"what happened in {MONTHS[moment.month - 1]} {moment.year} with {span(3, 5)}"
        )
    text = f"what is the {span(4, 8)}"
    if sort == "filtered":
        return ScaleQuery(sort, text, tag=list(TAGS)[number % len(TAGS)])
    if sort == "as_of":
        moment = maker.happened(int(source.integers(maker.count // 5, maker.count * 9 // 10 + 1)))
        return ScaleQuery(sort, text, as_of=_iso(moment))
    return ScaleQuery(sort, text)


def _iso(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")


def save_queries(folder: Path, made: ScaleQueries) -> None:
    """Keep queries, vectors and tokens in *folder*."""
    body = {
        "name": made.embedder.name,
        "fingerprint": made.embedder.fingerprint,
        "queries": [asdict(query) for query in made.queries],
    }
    write_file(folder / TEXTS, json.dumps(body), mode=SHARED)
    tokens = [made.embedder.tokens[query.text] for query in made.queries]
    with new_file(folder / VECTORS, mode=SHARED) as file:
        np.savez(
            file,
            vectors=np.stack([made.embedder.vectors[query.text] for query in made.queries]),
            tokens=np.concatenate(tokens),
            offsets=np.concatenate([[0], np.cumsum([len(each) for each in tokens])]),
        )


def load_queries(folder: Path) -> ScaleQueries:
    """What ``save_queries`` kept."""
    body = json.loads((folder / TEXTS).read_text(encoding="utf-8"))
    queries = tuple(ScaleQuery(**each) for each in body["queries"])
    with np.load(folder / VECTORS, allow_pickle=False) as kept:
        vectors, tokens, offsets = kept["vectors"], kept["tokens"], kept["offsets"]
    texts: Sequence[str] = [query.text for query in queries]
    embedder = ReplayedEmbedder(
        body["name"],
        body["fingerprint"],
        vectors.shape[1],
        dict(zip(texts, vectors, strict=True)),
        {text: tokens[offsets[i] : offsets[i + 1]] for i, text in enumerate(texts)},
    )
    return ScaleQueries(queries, embedder)


@dataclass(frozen=True)
class ReplayedEmbedder:
    """Answers with what was made before (``protocols.Embedder``, ``protocols.TokenEmbedder``).

    Attributes:
        name, fingerprint, dimension: of the embedder that made the vectors.
        vectors: by text, unit.
        tokens: by text, unit vectors of its tokens.
    """

    name: str
    fingerprint: str
    dimension: int
    vectors: Mapping[str, NDArray[np.float32]] = field(default_factory=dict)
    tokens: Mapping[str, NDArray[np.float32]] = field(default_factory=dict)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of texts that are known."""
        return np.stack([self.encode_query(text) for text in texts])

    def encode_query(self, text: str) -> NDArray[np.float32]:
        """Vector of a text that is known."""
        if text not in self.vectors:
            raise InputError("text", "is none whose vector was kept; open the bank with the embedder itself")
        return self.vectors[text]

    def encode_both(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], Sequence[NDArray[np.float32]]]:
        """Vectors of texts and of their tokens."""
        return self.encode(texts), [self.tokens[text] for text in texts]

    def encode_query_both(self, text: str) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Vectors of a text and of its tokens."""
        return self.encode_query(text), self.tokens[text]


def replayed(real: RealVectors) -> ReplayedEmbedder:
    """One that stands in for the encoder of *real* where vectors are handed in."""
    return ReplayedEmbedder(real.name, real.fingerprint, real.vectors.shape[1])
