"""A BERT small enough to compute by hand: two layers, two heads, hidden size 8, eleven words."""

from __future__ import annotations

import hashlib
import json
import struct
import zipfile
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pytest

from simonides.models import catalogue, resolve
from simonides.models.bert_graph import build_bert
from simonides.models.cache import RECIPE, BuiltModel, Manifest
from simonides.models.catalogue import CONFIG, TOKENIZER, WEIGHTS, ModelRecord, SourceFile, WheelSource

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    Tensors = dict[str, NDArray[np.float32]]

LAYERS, HIDDEN, WIDE, POSITIONS = 2, 8, 16, 16
WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "ada", "rows", "the", "boat", "home", "query", "text")
FOLDER = "tiny_bert/model"


def steady(*shape: int, seed: int) -> NDArray[np.float32]:
    """Numbers in [-0.5, 0.5) that are the same on every machine and with every numpy."""
    count = int(np.prod(shape))
    mixed = (np.arange(count, dtype=np.uint64) + np.uint64(seed * 7_919)) * np.uint64(2_654_435_761)
    return ((mixed % np.uint64(1_009)).astype(np.float32) / np.float32(1_009) - np.float32(0.5)).reshape(
        shape
    )


def _weights() -> Tensors:
    tensors = {
        "embeddings.word_embeddings.weight": steady(len(WORDS), HIDDEN, seed=1),
        "embeddings.position_embeddings.weight": steady(POSITIONS, HIDDEN, seed=2),
        "embeddings.token_type_embeddings.weight": steady(2, HIDDEN, seed=3),
        "embeddings.LayerNorm.weight": 1 + steady(HIDDEN, seed=4),
        "embeddings.LayerNorm.bias": steady(HIDDEN, seed=5),
    }
    for layer in range(LAYERS):
        name, seed = f"encoder.layer.{layer}", 100 * (layer + 1)
        for offset, (part, out, into) in enumerate(
            (
                ("attention.self.query", HIDDEN, HIDDEN),
                ("attention.self.key", HIDDEN, HIDDEN),
                ("attention.self.value", HIDDEN, HIDDEN),
                ("attention.output.dense", HIDDEN, HIDDEN),
                ("intermediate.dense", WIDE, HIDDEN),
                ("output.dense", HIDDEN, WIDE),
            )
        ):
            tensors[f"{name}.{part}.weight"] = 2 * steady(out, into, seed=seed + offset)
            tensors[f"{name}.{part}.bias"] = steady(out, seed=seed + 10 + offset)
        for offset, part in enumerate(("attention.output.LayerNorm", "output.LayerNorm")):
            tensors[f"{name}.{part}.weight"] = 1 + steady(HIDDEN, seed=seed + 20 + offset)
            tensors[f"{name}.{part}.bias"] = steady(HIDDEN, seed=seed + 30 + offset)
    return tensors


@pytest.fixture
def weights() -> Tensors:
    return _weights()


@pytest.fixture
def config() -> dict[str, object]:
    return {
        "model_type": "bert",
        "hidden_act": "gelu",
        "num_hidden_layers": LAYERS,
        "num_attention_heads": 2,
        "layer_norm_eps": 1e-12,
    }


@pytest.fixture
def tokenizer() -> bytes:
    """A word tokenizer that, like the packaged one, pads and cuts at a length which is not the model's."""
    return json.dumps(
        {
            "version": "1.0",
            "truncation": {"max_length": 4, "strategy": "LongestFirst", "stride": 0, "direction": "Right"},
            "padding": {
                "strategy": {"Fixed": 12},
                "direction": "Right",
                "pad_to_multiple_of": None,
                "pad_id": 0,
                "pad_type_id": 0,
                "pad_token": "[PAD]",
            },
            "added_tokens": [],
            "normalizer": {
                "type": "BertNormalizer",
                "clean_text": True,
                "handle_chinese_chars": True,
                "strip_accents": None,
                "lowercase": True,
            },
            "pre_tokenizer": {"type": "BertPreTokenizer"},
            "post_processor": {
                "type": "BertProcessing",
                "sep": ["[SEP]", 3],
                "cls": ["[CLS]", 2],
            },
            "decoder": None,
            "model": {
                "type": "WordLevel",
                "vocab": {word: i for i, word in enumerate(WORDS)},
                "unk_token": "[UNK]",
            },
        }
    ).encode()


def as_safetensors(tensors: dict[str, tuple[str, tuple[int, ...], bytes]]) -> bytes:
    """A safetensors file of name → (dtype, shape, raw bytes)."""
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    body = b""
    for name, (dtype, shape, raw) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(body), len(body) + len(raw)]}
        body += raw
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body


@pytest.fixture
def make_safetensors() -> Callable[[dict[str, tuple[str, tuple[int, ...], bytes]]], bytes]:
    return as_safetensors


@pytest.fixture
def source_files(weights: Tensors, config: dict[str, object], tokenizer: bytes) -> dict[str, bytes]:
    tensors = {name: ("F32", array.shape, array.astype("<f4").tobytes()) for name, array in weights.items()}
    return {
        WEIGHTS: as_safetensors(tensors),
        TOKENIZER: tokenizer,
        CONFIG: json.dumps(config).encode(),
    }


@pytest.fixture
def record() -> ModelRecord:
    """The tiny model, without sources."""
    return ModelRecord(
        name="tiny-bert",
        description="for tests",
        dimension=HIDDEN,
        pooling="mean",
        max_tokens=8,
        licence="Apache-2.0",
        files=(SourceFile(WEIGHTS), SourceFile(TOKENIZER), SourceFile(CONFIG)),
        sources=(),
    )


@pytest.fixture
def built(weights: Tensors, config: dict[str, object], tokenizer: bytes) -> BuiltModel:
    """The tiny model in float32, built without the cache."""
    manifest = Manifest("tiny-bert", RECIPE, "a test", "Apache-2.0", {WEIGHTS: "0" * 64}, {}, {})
    return BuiltModel(build_bert(weights, config, quantise=False), tokenizer, manifest)


class Wheel(NamedTuple):
    """A wheel file, and the source that describes it."""

    path: Path
    source: WheelSource


def make_wheel(folder: Path, files: dict[str, bytes], *, package: str = "tiny-bert") -> Wheel:
    """A wheel with *files* below :data:`FOLDER`, some code that must never run, and valid metadata."""
    folder.mkdir(exist_ok=True)
    module = package.replace("-", "_")
    path = folder / f"{module}-1.0-py3-none-any.whl"
    info = f"{module}-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("tiny_bert/__init__.py", "raise SystemExit('code of the wheel was run')")
        for name, data in files.items():
            archive.writestr(f"{FOLDER}/{name}", data)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    data = path.read_bytes()
    return Wheel(path, WheelSource(package, "1.0", hashlib.sha256(data).hexdigest(), len(data), FOLDER))


@pytest.fixture
def wheel_maker() -> Callable[..., Wheel]:
    return make_wheel


@pytest.fixture
def use_catalogue(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Put records in place of the catalogue."""

    def use(*records: ModelRecord) -> None:
        monkeypatch.setattr(catalogue, "CATALOGUE", records)
        monkeypatch.setattr(resolve, "CATALOGUE", records)

    return use


@pytest.fixture
def own_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make pip see only the wheels in the folder returned, and the cache an empty folder."""
    folder = tmp_path / "index"
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("SIMONIDES_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("SIMONIDES_OFFLINE", "0")
    return folder
