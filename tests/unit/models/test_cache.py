from __future__ import annotations

import dataclasses
import json
import pickle
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from simonides.errors import ModelDamagedError, ModelMissingError
from simonides.models import cache
from simonides.models.cache import (
    MANIFEST,
    MODEL,
    check_sizes,
    fingerprint,
    models_folder,
    publish,
    read_manifest,
    read_model,
    recorded_sums,
    write_model,
)
from simonides.models.catalogue import CONFIG, TOKENIZER, WEIGHTS, SourceFile

if TYPE_CHECKING:
    from simonides.models.catalogue import ModelRecord

SUMS = {WEIGHTS: "a" * 64, TOKENIZER: "b" * 64, CONFIG: "c" * 64}


@pytest.fixture
def folder(record: ModelRecord, tmp_path: Path) -> Path:
    """A built model with stand-ins for its files."""
    path = tmp_path / "models" / record.name
    path.parent.mkdir()
    write_model(record, path, source="a test", sources=SUMS, onnx=b"graph", tokenizer=b"words")
    return path


def change(folder: Path, **fields: object) -> None:
    path = folder / MANIFEST
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))


@pytest.mark.parametrize(
    ("environment", "platform", "expected"),
    [
        ({"SIMONIDES_CACHE": "/x", "XDG_CACHE_HOME": "/y"}, "linux", "/x/models"),
        ({"XDG_CACHE_HOME": "/y", "HOME": "/h"}, "linux", "/y/simonides/models"),
        ({"HOME": "/h"}, "linux", "/h/.cache/simonides/models"),
        ({"HOME": "/h", "XDG_CACHE_HOME": "/y"}, "darwin", "/h/Library/Caches/simonides/models"),
        ({"HOME": "/h", "LOCALAPPDATA": "/l"}, "win32", "/l/simonides/models"),
        ({"HOME": "/h"}, "win32", "/h/AppData/Local/simonides/models"),
    ],
)
def test_the_folder_follows_the_platform_and_the_override(
    environment: dict[str, str], platform: str, expected: str
) -> None:
    assert models_folder(environment, platform) == Path(expected)


def test_no_home_folder_is_a_missing_model(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", homeless)
    with pytest.raises(ModelMissingError, match="set SIMONIDES_CACHE"):
        models_folder({}, "linux")


def test_what_was_written_is_read(record: ModelRecord, folder: Path) -> None:
    built = read_model(record, folder)

    assert (built.onnx, built.tokenizer) == (b"graph", b"words")
    assert built.manifest.sources == SUMS
    assert built.manifest.source == "a test"
    assert check_sizes(record, folder) == built.manifest
    assert recorded_sums(folder) == SUMS


def test_nothing_there_is_missing(record: ModelRecord, tmp_path: Path) -> None:
    with pytest.raises(
        ModelMissingError, match=r"tiny-bert is not in .*; run `simonides models pull tiny-bert`"
    ):
        read_model(record, tmp_path / "absent")
    assert recorded_sums(tmp_path / "absent") == {}


@pytest.mark.fault("O3")
@pytest.mark.parametrize("name", [MODEL, TOKENIZER, MANIFEST])
def test_a_cut_file_is_damaged_with_a_remedy(record: ModelRecord, folder: Path, name: str) -> None:
    path = folder / name
    path.write_bytes(path.read_bytes()[:-2])

    for read in (read_model, check_sizes):
        with pytest.raises(ModelDamagedError, match=rf"{name}.*run `simonides models pull tiny-bert`"):
            read(record, folder)


@pytest.mark.fault("O3")
@pytest.mark.parametrize("name", [MODEL, TOKENIZER])
def test_an_absent_file_is_damaged(record: ModelRecord, folder: Path, name: str) -> None:
    (folder / name).unlink()

    for read in (read_model, check_sizes):
        with pytest.raises(ModelDamagedError, match=name):
            read(record, folder)


@pytest.mark.fault("X5")
@pytest.mark.parametrize("name", [MODEL, TOKENIZER])
def test_one_changed_byte_is_damage_though_the_size_is_right(
    record: ModelRecord, folder: Path, name: str
) -> None:
    path = folder / name
    path.write_bytes(b"X" + path.read_bytes()[1:])

    check_sizes(record, folder)
    with pytest.raises(ModelDamagedError, match="its sha256 is wrong"):
        read_model(record, folder)


class Marker:
    """Unpickling this creates a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[Path]]:
        return Path.touch, (self.path,)


@pytest.mark.fault("X5")
@pytest.mark.parametrize("name", [MODEL, TOKENIZER, MANIFEST])
def test_a_pickle_in_place_of_a_file_is_damage_and_never_runs(
    record: ModelRecord, folder: Path, tmp_path: Path, name: str
) -> None:
    marker = tmp_path / "marker"
    (folder / name).write_bytes(pickle.dumps(Marker(marker)))

    with pytest.raises(ModelDamagedError):
        read_model(record, folder)
    assert not marker.exists()


@pytest.mark.parametrize(
    "fields",
    [{"sources": 3}, {"built": None}, {"sizes": {MODEL: "large"}}, {"recipe": "x"}],
    ids=str,
)
def test_a_manifest_of_the_wrong_form_is_damaged(
    record: ModelRecord, folder: Path, fields: dict[str, object]
) -> None:
    change(folder, **fields)

    with pytest.raises(ModelDamagedError, match=r"model\.json cannot be read"):
        read_manifest(record, folder)


def test_a_model_of_another_recipe_is_to_be_pulled_again(record: ModelRecord, folder: Path) -> None:
    change(folder, recipe=99)

    with pytest.raises(ModelMissingError, match="built by recipe 99, this version needs"):
        read_model(record, folder)
    assert recorded_sums(folder) == SUMS


def test_a_manifest_of_another_model_or_other_sources_is_damaged(record: ModelRecord, folder: Path) -> None:
    stated = dataclasses.replace(record, files=(SourceFile(WEIGHTS, "d" * 64),))
    with pytest.raises(ModelDamagedError, match=r"states sha256 a+ for model\.safetensors, the catalogue d+"):
        read_model(stated, folder)

    change(folder, name="other")
    with pytest.raises(ModelDamagedError, match="is of model other, not tiny-bert"):
        read_model(record, folder)


def test_publishing_replaces_what_is_damaged(record: ModelRecord, folder: Path, tmp_path: Path) -> None:
    (folder / MODEL).write_bytes(b"")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    write_model(record, scratch / "built", source="again", sources=SUMS, onnx=b"graph", tokenizer=b"words")

    publish(record, scratch / "built", folder)

    assert read_model(record, folder).manifest.source == "again"


def test_publishing_second_keeps_the_first(record: ModelRecord, folder: Path, tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    write_model(record, scratch / "built", source="second", sources=SUMS, onnx=b"graph", tokenizer=b"words")

    publish(record, scratch / "built", folder)

    assert read_model(record, folder).manifest.source == "a test"


def test_a_folder_that_cannot_be_made_is_an_error(record: ModelRecord, tmp_path: Path) -> None:
    write_model(record, tmp_path / "built", source="x", sources=SUMS, onnx=b"g", tokenizer=b"w")

    with pytest.raises(FileNotFoundError):
        publish(record, tmp_path / "built", tmp_path / "no" / "such" / "folder")


def test_the_fingerprint_changes_with_all_that_changes_a_vector(
    record: ModelRecord, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = read_manifest(record, folder)
    variants = [
        fingerprint(record, manifest),
        fingerprint(dataclasses.replace(record, pooling="cls"), manifest),
        fingerprint(dataclasses.replace(record, max_tokens=9), manifest),
        fingerprint(dataclasses.replace(record, query_prefix="query: "), manifest),
        fingerprint(dataclasses.replace(record, text_prefix="query: "), manifest),
        *(
            fingerprint(record, dataclasses.replace(manifest, sources=SUMS | {name: "e" * 64}))
            for name in (WEIGHTS, TOKENIZER, CONFIG)
        ),
    ]
    monkeypatch.setattr(cache, "RECIPE", 2)
    variants.append(fingerprint(record, manifest))

    assert len(set(variants)) == len(variants)
    assert all(variant.startswith("tiny-bert:") for variant in variants)
    monkeypatch.undo()
    assert fingerprint(record, dataclasses.replace(manifest, source="elsewhere")) == variants[0]
