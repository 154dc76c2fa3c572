from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.unit.models.conftest import WORDS
from tests.unit.models.test_sparse_graph import with_head

import simonides
from simonides.errors import InputError, ModelDamagedError, UnknownNameError
from simonides.models.cache import BuiltModel, sparse_fingerprint
from simonides.models.catalogue import CATALOGUE, RERANKERS, SPARSE, SparseRecord, find_sparse
from simonides.models.onnx_sparse import MOST_TERMS, TERMS, OnnxSparseEncoder, build_sparse_encoder, heaviest
from simonides.models.resolve import sparse_choice

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from simonides.models.catalogue import ModelRecord
    from simonides.protocols import SparseEncoder
    from simonides.testing.clock import FrozenClock

    Tensors = dict[str, NDArray[np.float32]]

TEXTS = ("ada rows", "the boat", "ada rows", "ada rows the boat home")


@pytest.fixture
def sparse_record(record: ModelRecord) -> SparseRecord:
    return SparseRecord(
        name="tiny-sparse",
        description="for tests",
        max_tokens=8,
        licence="Apache-2.0",
        files=record.files,
        sources=(),
    )


@pytest.fixture
def sparse_built(weights: Tensors, config: dict[str, object], built: BuiltModel) -> BuiltModel:
    onnx = build_sparse_encoder(with_head(weights), config, quantise=False)
    return BuiltModel(onnx, built.tokenizer, built.manifest)


@pytest.fixture
def encoder(sparse_record: SparseRecord, sparse_built: BuiltModel) -> OnnxSparseEncoder:
    return OnnxSparseEncoder(sparse_record, sparse_built, terms=3, workers=1)


def test_it_satisfies_the_protocol(encoder: OnnxSparseEncoder) -> None:
    as_protocol: SparseEncoder = encoder
    assert as_protocol.name == "tiny-sparse:3"
    assert as_protocol.fingerprint.startswith("tiny-sparse:")


def test_a_text_alone_and_among_others_has_the_same_terms(
    encoder: OnnxSparseEncoder, sparse_record: SparseRecord, sparse_built: BuiltModel
) -> None:
    side_by_side = OnnxSparseEncoder(sparse_record, sparse_built, terms=3, workers=3).encode(TEXTS)
    for text, found in zip(TEXTS, side_by_side, strict=True):
        alone = encoder.encode_query(text)
        assert found.ids.tobytes() == alone.ids.tobytes()
        assert found.weights.tobytes() == alone.weights.tobytes()
        assert 0 < len(found) <= 3
    assert len(encoder.encode([])) == 0


def test_marks_of_the_tokenizer_are_no_terms(sparse_record: SparseRecord, sparse_built: BuiltModel) -> None:
    every = OnnxSparseEncoder(sparse_record, sparse_built, terms=len(WORDS), workers=1)
    for found in every.encode(TEXTS):
        assert not {2, 3} & set(found.ids.tolist())


@pytest.mark.parametrize("text", ["", "  \n", "\t"])
def test_a_blank_text_has_no_terms(encoder: OnnxSparseEncoder, text: str) -> None:
    assert len(encoder.encode_query(text)) == 0


@pytest.mark.fault("N5")
def test_a_text_of_unknown_tokens_alone_has_no_terms(encoder: OnnxSparseEncoder) -> None:
    assert len(encoder.encode_query("unheard words!").ids) == 0
    assert len(encoder.encode(["\U0001f642"])[0].ids) == 0
    assert len(encoder.encode_query("unheard boat").ids)
    assert encoder.encode_query("ｂｏａｔ").ids.tolist() == encoder.encode_query("boat").ids.tolist()


def test_a_long_text_is_cut(encoder: OnnxSparseEncoder) -> None:
    start = "ada rows the boat home query"  # with its two marks, the 8 tokens allowed
    assert encoder.encode_query(start + " text" * 99).ids.tolist() == encoder.encode_query(start).ids.tolist()


def test_a_text_on_which_the_model_fails_costs_only_its_own_terms(
    encoder: OnnxSparseEncoder, caplog: pytest.LogCaptureFixture
) -> None:
    real = encoder._session

    class Failing:
        def run(self, names: None, feed: dict[str, NDArray[np.int64]]) -> Any:
            if 7 in feed["input_ids"].tolist():  # "boat"
                raise RuntimeError("out of memory")
            return real.run(names, feed)

    encoder._session = Failing()
    with caplog.at_level(logging.WARNING):
        found = encoder.encode(["ada rows", "the boat"])
    assert [len(part) > 0 for part in found] == [True, False]
    assert "out of memory" in caplog.text


@pytest.mark.spec("HX-18")
def test_a_store_finds_by_its_terms(encoder: OnnxSparseEncoder, tmp_path: Path, clock: FrozenClock) -> None:
    texts = ["ada rows", "the boat home", "query text"]
    asked = encoder.encode_query("ada boat")
    expected = {}
    for text, held in zip(texts, encoder.encode(texts), strict=True):
        row = np.zeros(len(WORDS))
        row[held.ids] = held.weights
        expected[text] = float(row[asked.ids] @ asked.weights)
    profile = tmp_path / "sparse.toml"
    profile.write_text(
        'extends = "lexical"\norder = ["sparse_terms", "sparse", "reciprocal_rank", "token_budget"]\n'
        "[stages.sparse]\ndepth = 100\n",
        encoding="utf-8",
    )
    with simonides.open(tmp_path / "store", clock=clock, embedder=None, sparse=encoder) as store:
        bank = store.bank()
        bank.retain(texts)
        hits = list(bank.recall("ada boat", profile=str(profile)))
    found = {hit.memory.text: hit.channel_scores["sparse"] for hit in hits}
    assert found == pytest.approx({text: score for text, score in expected.items() if score > 0}, abs=0.01)


def test_the_heaviest_are_kept_ties_by_smaller_id() -> None:
    found = heaviest(np.array([0.0, 1.0, 3.0, 1.0, -2.0, 1.0], np.float32), 3)
    assert found.ids.tolist() == [1, 2, 3]
    assert found.weights.tolist() == [1.0, 3.0, 1.0]
    assert found.ids.dtype == np.int32
    assert found.weights.dtype == np.float32


def test_the_fingerprint_tells_what_changes_the_terms(
    sparse_record: SparseRecord, sparse_built: BuiltModel
) -> None:
    manifest = sparse_built.manifest
    first = sparse_fingerprint(sparse_record, manifest, 64)
    assert first == sparse_fingerprint(sparse_record, manifest, 64)
    assert first != sparse_fingerprint(sparse_record, manifest, 65)


def test_wrong_arguments_and_files_are_told(sparse_record: SparseRecord, sparse_built: BuiltModel) -> None:
    for wrong in ({"terms": 0}, {"workers": 0}):
        with pytest.raises(InputError, match="below 1"):
            OnnxSparseEncoder(sparse_record, sparse_built, **wrong)
    broken = BuiltModel(b"no model", sparse_built.tokenizer, sparse_built.manifest)
    with pytest.raises(ModelDamagedError, match="tiny-sparse"):
        OnnxSparseEncoder(sparse_record, broken)


def test_one_text_is_no_list_of_texts(encoder: OnnxSparseEncoder) -> None:
    with pytest.raises(InputError, match="list of texts"):
        encoder.encode("ada rows")


def test_the_catalogue_states_every_sum_and_no_name_twice() -> None:
    for record in SPARSE:
        assert all(file.sha256 and len(file.sha256) == 64 for file in record.files)
        assert "not proven" in record.licence
        assert find_sparse(record.name) is record
    names = [record.name for record in CATALOGUE] + [record.name for record in RERANKERS]
    names += [record.name for record in SPARSE]
    assert len(set(names)) == len(names)


@pytest.mark.spec("HX-18")
@pytest.mark.parametrize(
    ("choice", "terms"),
    [
        ("splade-tiny", TERMS),
        ("splade-tiny:1", 1),
        ("splade-tiny:32", 32),
        (f"splade-tiny:{MOST_TERMS}", MOST_TERMS),
    ],
)
def test_a_number_after_the_name_caps_the_terms(choice: str, terms: int) -> None:
    assert sparse_choice(choice) == (find_sparse("splade-tiny"), terms)


@pytest.mark.parametrize("number", ["", "0", "-1", "1.5", "many", "٣٢", " 32", "501", "9" * 5000])
def test_a_wrong_number_after_the_name_is_refused_before_anything_is_made(
    number: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="1 to 500"):
        simonides.open(tmp_path / "store", embedder=None, sparse=f"splade-tiny:{number}")
    assert not (tmp_path / "store").exists()


def test_a_wrong_name_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="splade-tiny"):
        simonides.open(tmp_path / "store", embedder=None, sparse="splade-tinny")
    with pytest.raises(InputError, match="is blank"):
        simonides.open(tmp_path / "store", embedder=None, sparse=" ")
    assert not (tmp_path / "store").exists()


def test_the_name_tells_an_unusual_cap(sparse_record: SparseRecord, sparse_built: BuiltModel) -> None:
    usual = OnnxSparseEncoder(sparse_record, sparse_built, workers=1)
    capped = OnnxSparseEncoder(sparse_record, sparse_built, terms=2, workers=1)
    assert (usual.name, capped.name) == ("tiny-sparse", "tiny-sparse:2")
    assert usual.fingerprint != capped.fingerprint
    assert max(len(found) for found in capped.encode(TEXTS)) == 2
