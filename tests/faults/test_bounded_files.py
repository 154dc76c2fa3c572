"""N89: whatever reads a file, a pipe or an upload reads no more of it than it may hold, and looks at the disk."""

from __future__ import annotations

import asyncio
import io
import shutil
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from tests.surfaces.conftest import cli, store_path
from tests.surfaces.rest.conftest import app, client_for
from tests.unit.backends.embedded.test_exporting import rewrite, the

from simonides.errors import InputError, ProfileError
from simonides.options import MAX_DOCUMENT_BYTES
from simonides.profiles.loader import load_profile
from simonides.records.hygiene import read_at_most
from simonides.records.interval import FOREVER
from simonides.retain.importing import sources as json_source
from simonides.retain.importing.formats import FORMATS
from simonides.retain.importing.sources import ImportReport, NamedFile
from simonides.storage import export_format
from simonides.storage.export_format import check_file, check_line, encode_line
from simonides.surfaces.rest.disk import LEAST_FREE

if TYPE_CHECKING:
    from tests.surfaces.conftest import Cli
    from tests.surfaces.rest.conftest import ClientFor

    from simonides.bank import Bank
    from simonides.store import Store

pytestmark = pytest.mark.fault("N89")

__all__ = ["app", "cli", "client_for", "store_path"]


class Usage(NamedTuple):
    """As ``shutil.disk_usage`` gives it."""

    total: int
    used: int
    free: int


ENDLESS = Path("/dev/zero")
needs_endless = pytest.mark.skipif(not ENDLESS.exists(), reason="needs /dev/zero")


class Counting(io.BytesIO):
    """A stream that says how much was held at once."""

    largest = 0

    def readline(self, size: int | None = -1, /) -> bytes:
        found = super().readline(size)
        self.largest = max(self.largest, len(found))
        return found


# -- exports


@pytest.mark.parametrize("length", [10, (1 << 20) - 40, 1 << 20, (1 << 20) + 5, 3 << 20])
def test_long_lines_are_checked_piece_by_piece(length: int) -> None:
    for extra in range(30):
        line = encode_line({"record": "episode", "text": "é" * ((length + extra) // 2)})
        stream = Counting(line + b"next\n")
        held = export_format._check_next(stream)
        assert line.endswith(held)
        assert check_line(line)
        assert stream.largest <= 1 << 20
        assert stream.read() == b"next\n"
    damaged = bytearray(line)
    damaged[len(line) // 2] ^= 1
    with pytest.raises(ValueError, match="not what was written"):
        export_format._check_next(io.BytesIO(bytes(damaged)))
    with pytest.raises(ValueError, match="cut off"):
        export_format._check_next(io.BytesIO(line[:-30]))


def test_a_line_that_never_ends_is_refused_by_its_length(
    bank: Bank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sound bank's longest line is shorter: six bytes for each of a document."""
    assert export_format.LONGEST_LINE > 6 * MAX_DOCUMENT_BYTES
    monkeypatch.setattr(export_format, "LONGEST_LINE", 3 << 20)
    bank.retain("The kettle leaks.")
    bank.export(tmp_path / "good")
    lines = (tmp_path / "good").read_bytes().splitlines(keepends=True)
    body = b'{"record":"episode","text":"' + b"x" * (4 << 20) + b'"}'
    lines[1:1] = [b'%b,"~":"%08x"}\n' % (body[:-1], zlib.crc32(body))]
    (tmp_path / "long").write_bytes(b"".join(lines))
    with pytest.raises(InputError, match="longer than 3,145,728 bytes") as caught:
        bank.import_bank(tmp_path / "long")
    assert caught.value.field.endswith("long:2")


def test_a_last_line_that_is_no_object_is_refused_in_words(bank: Bank, tmp_path: Path) -> None:
    bank.export(tmp_path / "good")
    body = b"[1]}"
    line = b'%b,"~":"%08x"}\n' % (body[:-1], zlib.crc32(body))
    (tmp_path / "odd").write_bytes((tmp_path / "good").read_bytes() + line)
    with pytest.raises(InputError):
        check_file(tmp_path / "odd", FOREVER)


@pytest.mark.fault("N94")
@pytest.mark.parametrize("moment", [2**63 - 1, -(2**63)])
@pytest.mark.parametrize(
    ("record", "name"),
    [("episode", "recorded_at"), ("memory", "ingested_at"), ("memory", "last_access")],
)
def test_a_moment_that_is_an_open_end_is_refused(
    store: Store, tmp_path: Path, record: str, name: str, moment: int
) -> None:
    bank = store.bank("boats")
    bank.retain("The kettle leaks.")
    bank.export(tmp_path / "boats")
    path = rewrite(tmp_path / "boats", lambda found: the(record, found).update({name: moment}))
    with pytest.raises(InputError, match=f"{name}: .* is no time in microseconds"):
        store.bank("other").import_bank(path)
    assert store.bank("other").list_memories() == []


# -- other files


@pytest.mark.parametrize("name", ["jsonl", "claude-code", "knowledge-graph", "mem0"])
def test_a_long_line_is_one_bad_row(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = {
        "jsonl": '{"text": "short"}',
        "claude-code": '{"type": "user", "sessionId": "s", "message": {"content": "short"}}',
        "knowledge-graph": '{"type": "entity", "name": "A", "entityType": "t", "observations": ["short"]}',
        "mem0": '{"id": "1", "memory": "short"}',
    }
    monkeypatch.setattr(json_source, "LONGEST_LINE", 200)
    skipped: list[InputError] = []
    text = f"{rows[name]}\n{{{' ' * 1_000}\n{rows[name]}\n"
    found = list(FORMATS[name].read(io.StringIO(text), NamedFile("notes"), ImportReport(skipped.append)))
    assert len(found) == 2
    assert [(each.field, "longer than 200" in each.problem) for each in skipped] == [("notes:2", True)]


@pytest.mark.parametrize("name", ["markdown", "chatgpt", "locomo", "knowledge-graph", "mem0"])
def test_a_file_that_is_read_as_a_whole_is_bounded(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_source, "LARGEST_FILE", 200)
    with pytest.raises(InputError, match="longer than 200"):
        list(FORMATS[name].read(io.StringIO("x" * 1_000), NamedFile("notes"), ImportReport()))


def test_a_stream_is_read_to_its_bound_and_no_further() -> None:
    assert read_at_most(io.BytesIO(b"abc"), 3, "x") == b"abc"
    stream = io.BytesIO(b"abcdef")
    with pytest.raises(InputError, match="x: holds more than 3 bytes"):
        read_at_most(stream, 3, "x")
    assert stream.read() == b"ef"


@needs_endless
@pytest.mark.fault("N95")
def test_a_profile_that_never_ends_is_refused(bank: Bank) -> None:
    with pytest.raises(ProfileError, match="holds more than"):
        load_profile(ENDLESS)
    bank.retain("The kettle leaks.")
    with pytest.raises(ProfileError, match="holds more than"):
        bank.recall("kettle", profile=ENDLESS)


@needs_endless
@pytest.mark.fault("N95")
@pytest.mark.parametrize(
    "arguments",
    [
        ("recall", "kettle", "--profile", str(ENDLESS)),
        ("profiles", "show", str(ENDLESS)),
        ("retain-conversation", "--session", "s", str(ENDLESS)),
        ("tune", str(ENDLESS)),
        ("import", str(ENDLESS)),
        ("import", "--format", "jsonl", str(ENDLESS)),
    ],
)
def test_commands_refuse_devices_that_never_end(cli: Cli, arguments: tuple[str, ...]) -> None:
    cli("retain", "The kettle leaks.")
    answer = cli(*arguments)
    assert answer.exit_code == 2
    assert "Traceback" not in answer.output


def test_standard_input_is_bounded(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simonides.surfaces.cli.sources.LONGEST_LINE", 300)
    assert "holds more than 300" in cli("retain", "-", stdin="x" * 1_000).stderr
    lines = f"The kettle leaks.\n{'y' * 1_000}\nThe fog lifts.\n"
    answer = cli("retain", "-", "--lines", stdin=lines)
    assert answer.exit_code == 2
    assert "standard input:2: is longer than 300" in " ".join(answer.stderr.split())


# -- uploads


def test_an_upload_for_which_there_is_no_room_is_refused_before_it_is_read(
    store: Store, client_for: ClientFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = 0

    async def parts() -> Any:
        nonlocal sent
        for _ in range(64):
            sent += 1 << 20
            yield b"x" * (1 << 20)

    async def ask(**headers: str) -> int:
        async with client_for("*") as client:
            answer = await client.post(
                "/v1/banks/mine/import",
                content=parts(),
                headers={"content-type": "application/x-ndjson", **headers},
            )
            assert str(store.folder) not in answer.text
            return answer.status_code

    free = LEAST_FREE + (20 << 20)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(1 << 40, 0, free - sent))
    assert asyncio.run(ask(**{"content-length": str(64 << 20)})) == 503
    assert sent == 0
    assert asyncio.run(ask()) == 503
    assert sent < 40 << 20
    assert not list(store.folder.glob(".import-*"))
