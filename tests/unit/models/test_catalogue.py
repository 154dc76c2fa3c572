from __future__ import annotations

import re

import pytest

from simonides.errors import UnknownNameError
from simonides.models.catalogue import (
    CATALOGUE,
    CONFIG,
    DEFAULT_EMBEDDER,
    TOKENIZER,
    WEIGHTS,
    HubSource,
    ModelRecord,
    WheelSource,
    find_record,
)

BY_NAME = pytest.mark.parametrize("record", CATALOGUE, ids=lambda record: record.name)


def test_names_are_unique_on_every_file_system() -> None:
    assert len({record.name.casefold() for record in CATALOGUE}) == len(CATALOGUE)


@BY_NAME
def test_a_record_is_complete(record: ModelRecord) -> None:
    assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*[A-Za-z0-9]", record.name)
    assert [file.name for file in record.files] == [WEIGHTS, TOKENIZER, CONFIG]
    assert record.description
    assert record.licence
    assert record.sources
    assert record.dimension in {384, 768}
    assert 2 < record.max_tokens <= 512


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
