"""Models that are not built here: shorter vectors, ready ONNX files, and what cannot be had at all."""

from __future__ import annotations

import dataclasses
import hashlib
from typing import TYPE_CHECKING

import numpy as np
import pytest

import simonides
from simonides.errors import EmbedderMismatchError, InputError, ModelDamagedError, ModelMissingError
from simonides.models import catalogue, resolve
from simonides.models.catalogue import CATALOGUE, READY, RERANKERS, TOKENIZER, ModelRecord, SourceFile
from simonides.models.onnx_encoder import OnnxEmbedder
from simonides.models.onnx_file import Graph
from simonides.models.resolve import add_model, load_embedder, load_reranker, pull_model, verify_model

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    from simonides.models.cache import BuiltModel

TEXTS = ("ada rows", "the boat", "ada rows the boat home")


def unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    found: NDArray[np.float32] = vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
    return found


@pytest.mark.spec("HX-14")
@pytest.mark.parametrize("centred", [False, True])
def test_a_shorter_vector_is_the_first_numbers_at_length_1(
    record: ModelRecord, built: BuiltModel, centred: bool
) -> None:
    record = dataclasses.replace(record, matryoshka=(4, 2), centred_cut=centred)
    whole = OnnxEmbedder(record, built, workers=1).encode(TEXTS)
    cut = OnnxEmbedder(record, built, workers=1, dimension=4)

    vectors, tokens = cut.encode_both(TEXTS)

    expected = whole - whole.mean(axis=1, keepdims=True) if centred else whole
    np.testing.assert_allclose(vectors, unit(expected[:, :4]), atol=1e-6)
    np.testing.assert_allclose(cut.encode_query(TEXTS[0]), vectors[0], atol=1e-6)
    assert cut.dimension == 4
    assert [each.shape[1] for each in tokens] == [4, 4, 4]
    assert vectors.dtype == np.float32


def test_a_shorter_vector_is_of_another_fingerprint(record: ModelRecord, built: BuiltModel) -> None:
    record = dataclasses.replace(record, matryoshka=(4, 2))
    prints = [OnnxEmbedder(record, built, dimension=d).fingerprint for d in (None, 8, 4, 2)]
    assert prints[0] == prints[1]  # the model's own dimension cuts nothing
    assert len(set(prints)) == 3


@pytest.mark.parametrize("dimension", [3, 0, -1, 16])
def test_a_dimension_that_a_model_was_not_trained_for_is_refused(
    record: ModelRecord, built: BuiltModel, dimension: int
) -> None:
    record = dataclasses.replace(record, matryoshka=(4, 2))
    with pytest.raises(InputError, match=r"dimension: .* valid: 8, 4, 2"):
        OnnxEmbedder(record, built, dimension=dimension)


def test_a_store_refuses_a_dimension_before_anything_is_made(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"dimension: 256 .*all-MiniLM-L6-v2.* valid: 384"):
        simonides.open(tmp_path / "store", dimension=256)
    with pytest.raises(InputError, match="dimension: is for catalogued embedders only"):
        simonides.open(tmp_path / "store", embedder=None, dimension=256)
    assert not (tmp_path / "store").exists()


TABLE = np.cos(np.arange(11 * 8, dtype=np.float32)).reshape(11, 8)


def ready_encoder(width: int = 8) -> bytes:
    """As exporters write one: a batch, a mask, and vectors of tokens; here a token's row of a table."""
    graph = Graph()
    rows = graph.add("Gather", graph.constant(TABLE[:, :width]), "input_ids")
    seen = graph.add("Cast", "attention_mask", to=1)
    masked = graph.add("Mul", rows, graph.add("Unsqueeze", seen, graph.constant(np.array([2], np.int64))))
    sizes = ("batch", "tokens")
    return graph.model(
        dict.fromkeys(("input_ids", "attention_mask"), sizes),
        {"last_hidden_state": (masked, ("batch", "tokens", width))},
    )


@pytest.fixture
def ready(
    tmp_path: Path, tokenizer: bytes, record: ModelRecord, use_catalogue: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
) -> Path:  # fmt: skip
    monkeypatch.setenv("SIMONIDES_CACHE", str(tmp_path / "cache"))
    use_catalogue(
        dataclasses.replace(
            record,
            architecture="xlm-roberta",
            files=(SourceFile(READY), SourceFile(TOKENIZER)),
            sources=(catalogue.HubSource("example/tiny"),),
            matryoshka=(4,),
        )
    )
    folder = tmp_path / "ready"
    folder.mkdir()
    (folder / READY).write_bytes(ready_encoder())
    (folder / TOKENIZER).write_bytes(tokenizer)
    return folder


@pytest.mark.spec("HX-02")
def test_a_ready_file_is_added_and_found_by_name(ready: Path, tmp_path: Path) -> None:
    status = add_model("tiny-bert", ready)
    assert (status.state, status.source) == ("ready", "a folder")

    embedder = load_embedder("tiny-bert", offline=True)
    ids = [2, 4, 5, 3]  # [CLS] ada rows [SEP]
    np.testing.assert_allclose(embedder.encode_query("ada rows"), unit(TABLE[ids].mean(axis=0)), atol=1e-6)

    with simonides.open(tmp_path / "store", embedder="tiny-bert", dimension=4) as store:
        bank = store.bank()
        bank.retain(["ada rows", "the boat"])
        assert bank.recall("ada rows")[0].text == "ada rows"
        assert store.embedder is not None
        assert store.embedder.dimension == 4
    with (
        simonides.open(tmp_path / "store", embedder="tiny-bert") as store,
        pytest.raises(EmbedderMismatchError),
    ):
        store.bank().retain("home")


def test_a_ready_file_that_was_changed_is_damaged(ready: Path, tmp_path: Path) -> None:
    folder = add_model("tiny-bert", ready).folder
    (folder / READY).write_bytes(ready_encoder(4))
    assert verify_model("tiny-bert").state == "damaged"
    assert "simonides models add tiny-bert FOLDER" in verify_model("tiny-bert").problem


@pytest.mark.parametrize(
    ("content", "says"), [(ready_encoder(4), "makes vectors of 4 numbers"), (b"no model", "cannot be loaded")]
)
def test_what_is_not_that_model_is_not_kept(ready: Path, content: bytes, says: str) -> None:
    (ready / READY).write_bytes(content)
    with pytest.raises(ModelDamagedError, match=says):
        add_model("tiny-bert", ready)
    assert verify_model("tiny-bert").state == "missing"


def test_a_missing_file_is_named(ready: Path) -> None:
    (ready / TOKENIZER).unlink()
    with pytest.raises(ModelMissingError, match=r"tokenizer\.json: No such file"):
        add_model("tiny-bert", ready)


OTHERS = [record for record in CATALOGUE if record.architecture != "bert"]


@pytest.mark.parametrize("record", OTHERS, ids=lambda record: record.name)
def test_what_cannot_be_built_says_how_to_supply_it(
    record: ModelRecord, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIMONIDES_CACHE", str(tmp_path))
    for call in (pull_model, load_embedder):
        with pytest.raises(ModelMissingError) as caught:
            call(record.name)
        for part in (record.architecture, READY, TOKENIZER, f"simonides models add {record.name} FOLDER"):
            assert part in str(caught.value)
    assert not any(tmp_path.rglob("*.onnx"))


def test_rerankers_that_cannot_be_built_name_a_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIMONIDES_CACHE", str(tmp_path))
    others = [record for record in RERANKERS if record.architecture != "bert"]
    served = {
        "mxbai-rerank-large-v2": "generates its answer",
        "answerai-colbert-small-v1": "scores the vectors of single tokens",
        "rerank-2.5": "weights are not published",
    }
    assert {record.name for record in others} == {"bge-reranker-v2-m3", *served}
    for record in others:
        with pytest.raises(ModelMissingError, match="RemoteReranker"):
            load_reranker(record.name)
    for name, why in served.items():
        with pytest.raises(InputError, match=why):
            add_model(name, tmp_path)
        # No command brings it here, so none is named.
        assert "models add" not in verify_model(name).problem
    with pytest.raises(InputError, match="is built here"):
        add_model("all-MiniLM-L6-v2", tmp_path)


def test_a_ready_reranker_is_added(tmp_path: Path, tokenizer: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIMONIDES_CACHE", str(tmp_path / "cache"))
    graph = Graph()
    seen = graph.add("Mul", graph.add("Cast", "input_ids", to=1), graph.add("Cast", "attention_mask", to=1))
    total = graph.add("ReduceSum", seen, graph.constant(np.array([1], np.int64)), keepdims=1)
    model = graph.model(
        dict.fromkeys(("input_ids", "attention_mask"), ("batch", "tokens")), {"logits": (total, ("batch", 1))}
    )
    (tmp_path / READY).write_bytes(model)
    (tmp_path / TOKENIZER).write_bytes(tokenizer)

    assert add_model("bge-reranker-v2-m3", tmp_path).state == "ready"
    reranker = load_reranker("bge-reranker-v2-m3", offline=True)

    # [CLS] ada [SEP] boat [SEP] and [CLS] ada [SEP] home the boat [SEP], by the numbers of their tokens.
    assert reranker.score("ada", ["boat", "home the boat"]) == [2 + 4 + 3 + 7 + 3, 2 + 4 + 3 + 8 + 6 + 7 + 3]
    assert reranker.gives == "logits"
    sums = resolve.verify_model("bge-reranker-v2-m3")
    assert sums.state == "ready"
    assert hashlib.sha256((sums.folder / READY).read_bytes()).digest() == hashlib.sha256(model).digest()
