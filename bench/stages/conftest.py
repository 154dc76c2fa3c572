"""A bank of 10,000 memories with a graph, one view of it, and a query: what every stage is timed on.

pytest bench/stages --benchmark-only

Each stage stands beside the exact computation that it stands for, in one group; a test fails when their
answers part. The vectors are grown from noise, so no model is needed: costs are the same, quality is not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pytest
from bench.scale_bank import write_graph
from bench.scale_data import TextMaker, VectorMaker
from bench.scale_queries import ReplayedEmbedder

from simonides.records.query import Filters
from simonides.services.viewing import Viewing
from simonides.store import open_store
from simonides.testing.fakes import fake_query, fake_tools
from simonides.text.analyser import TextAnalyser

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from simonides.index.view import BankView
    from simonides.protocols import Tools
    from simonides.records.query import Query

ROWS = 10_000
DIMENSION = 384
REAL = 3_000


@dataclass(frozen=True)
class Desk:
    """What a stage works on.

    Attributes:
        view: of the whole bank, now.
        query: words and a vector.
        tools: without models.
        vectors: of the rows as they were given, float32, shape (rows, dimension).
        items: what was loaded.
    """

    view: BankView
    query: Query
    tools: Tools
    vectors: NDArray[np.float32]
    items: list[str]


@pytest.fixture(scope="session")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    source = np.random.default_rng(1)
    # A falling spectrum, as encoders have: without it no row is nearer than another.
    noise = source.standard_normal((REAL, DIMENSION)) / np.sqrt(np.arange(1, DIMENSION + 1))
    real = (noise / np.linalg.norm(noise, axis=1, keepdims=True)).astype(np.float32)
    grower, maker = VectorMaker(real, 1), TextMaker(ROWS, 1)
    grown = [grower.block(number, min(8_192, ROWS - number * 8_192)) for number in range(maker.blocks)]
    vectors, bases = (np.concatenate([each[part] for each in grown]) for part in (0, 1))
    items = [item for number in range(maker.blocks) for item in maker.block(number).items]
    with open_store(
        tmp_path_factory.mktemp("stages"), embedder=ReplayedEmbedder("noise", "noise", DIMENSION)
    ) as store:
        bank = store.bank("scale")
        bank.load(items, vectors)
        write_graph(bank, store.folder, maker, vectors, bases)
        words = str(items[17]["text"]).split()
        terms = tuple((term, 1) for term in dict.fromkeys(TextAnalyser().query_terms(" ".join(words[2:8]))))
        query = fake_query(" ".join(words[2:8]), vector=grower.queries[0], terms=terms, limit=30)
        with bank._rows.reading() as reading:
            view = Viewing(bank._context).view(reading, Filters())
            texts = [str(item["text"]) for item in items]
            yield Desk(view, query, fake_tools(analyser=TextAnalyser()), vectors, texts)
