from __future__ import annotations

import re

import pytest

from simonides.errors import UnknownNameError
from simonides.models.catalogue import (
    CATALOGUE,
    CONFIG,
    DEFAULT_EMBEDDER,
    READY,
    RERANKERS,
    SERVED,
    TOKENIZER,
    WEIGHTS,
    HubSource,
    ModelRecord,
    WheelSource,
    find_record,
    find_reranker,
)

BY_NAME = pytest.mark.parametrize("record", CATALOGUE, ids=lambda record: record.name)


def test_names_are_unique_on_every_file_system() -> None:
    assert len({record.name.casefold() for record in CATALOGUE}) == len(CATALOGUE)


@BY_NAME
def test_a_record_is_complete(record: ModelRecord) -> None:
    assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*[A-Za-z0-9]", record.name)
    built = record.architecture == "bert"
    assert [file.name for file in record.files] == (
        [WEIGHTS, TOKENIZER, CONFIG] if built else [READY, TOKENIZER]
    )
    assert record.description
    assert record.licence
    assert record.sources
    assert record.dimension in {384, 768, 1024}
    assert 2 < record.max_tokens <= (512 if built else 8192)
    assert list(record.matryoshka) == sorted(set(record.matryoshka), reverse=True)
    assert all(8 <= cut < record.dimension for cut in record.matryoshka)


@BY_NAME
def test_sums_are_sha256_and_every_wheel_has_one(record: ModelRecord) -> None:
    sums = [file.sha256 for file in record.files if file.sha256 is not None]
    sums += [source.sha256 for source in record.sources if isinstance(source, WheelSource)]
    assert all(re.fullmatch(r"[0-9a-f]{64}", digest) for digest in sums)


@BY_NAME
def test_a_prefix_ends_in_a_space(record: ModelRecord) -> None:
    for prefix in (record.query_prefix, record.text_prefix):
        assert prefix == "" or re.search(r"\S $", prefix)


def test_the_default_can_be_had_from_three_independent_places_with_known_sums() -> None:
    record = find_record(DEFAULT_EMBEDDER)

    assert [type(source) for source in record.sources] == [WheelSource, WheelSource, HubSource]
    assert all(file.sha256 for file in record.files)
    assert (record.dimension, record.pooling, record.max_tokens) == (384, "mean", 256)


def test_an_unknown_name_offers_the_nearest() -> None:
    with pytest.raises(
        UnknownNameError, match=r"'all-MiniLM-L6' is not known; did you mean 'all-MiniLM-L6-v2'\?"
    ):
        find_record("all-MiniLM-L6")


@pytest.mark.spec("HX-02", "HX-14")
@pytest.mark.parametrize(
    ("name", "dimension", "pooling", "tokens", "licence", "prefixes", "cuts"),
    [
        ("gte-small", 384, "mean", 512, "MIT", ("", ""), ()),
        ("e5-small", 384, "mean", 512, "MIT", ("query: ", "passage: "), ()),
        ("e5-small-v2", 384, "mean", 512, "MIT", ("query: ", "passage: "), ()),
        (
            "nomic-embed-text-v1.5", 768, "mean", 8192, "Apache-2.0",
            ("search_query: ", "search_document: "), (512, 256, 128, 64),
        ),
        (
            "mxbai-embed-large-v1", 1024, "cls", 512, "Apache-2.0",
            ("Represent this sentence for searching relevant passages: ", ""), (512, 256, 128, 64),
        ),
        ("snowflake-arctic-embed-l-v2.0", 1024, "cls", 8192, "Apache-2.0", ("query: ", ""), (256,)),
    ],
)  # fmt: skip
def test_the_models_of_helix_are_known(
    name: str,
    dimension: int,
    pooling: str,
    tokens: int,
    licence: str,
    prefixes: tuple[str, str],
    cuts: tuple[int, ...],
) -> None:
    record = find_record(name)
    assert (record.dimension, record.pooling, record.max_tokens) == (dimension, pooling, tokens)
    assert (record.licence, record.matryoshka) == (licence, cuts)
    assert (record.query_prefix, record.text_prefix) == prefixes


def test_every_reranker_says_what_it_gives_and_no_two_models_share_a_name() -> None:
    unknown = {record.name for record in RERANKERS if record.gives != "logits"}
    assert unknown == {"answerai-colbert-small-v1", "rerank-2.5"}
    names = [record.name for record in CATALOGUE] + [record.name for record in RERANKERS]
    assert len(set(names)) == len(names)
    assert find_reranker("bge-reranker-v2-m3").architecture == "xlm-roberta"
    assert find_reranker("mxbai-rerank-large-v2").architecture == "qwen2"


@pytest.mark.spec("EN-07", "HX-15")
@pytest.mark.parametrize(
    ("name", "tokens", "dimension", "licence", "place"),
    [
        ("answerai-colbert-small-v1", 512, 96, "Apache-2.0", "answerdotai/answerai-colbert-small-v1"),
        ("rerank-2.5", 32_000, 0, "not published; a paid service", "https://api.voyageai.com"),
    ],
)
def test_rerankers_that_only_a_server_runs_are_known(
    name: str, tokens: int, dimension: int, licence: str, place: str
) -> None:
    record = find_reranker(name)
    assert (record.max_tokens, record.dimension, record.licence) == (tokens, dimension, licence)
    assert record.architecture in SERVED
    assert place in f"{record.description} {' '.join(map(str, record.sources))}"
