"""The time zone is a setting: of the call, the bank, the environment, the file, the system, in this order."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import pytest
import tzlocal
from typer.testing import CliRunner

import simonides
from simonides.errors import InputError
from simonides.records.interval import default_zone, from_micros, read_zone
from simonides.surfaces.cli.main import app
from simonides.testing.clock import FrozenClock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from simonides.bank import Bank
    from simonides.store import Store

pytestmark = pytest.mark.fault("N23")

# 00:40 of 3 March in Kiritimati (+14:00), 10:40 of 2 March in UTC.
NOW = datetime(2026, 3, 2, 10, 40, tzinfo=UTC)
KIRITIMATI = "Pacific/Kiritimati"
THERE, HERE = date(2026, 3, 3), date(2026, 3, 2)
TEXT = "Watered the ferns today."


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock(NOW)


@pytest.fixture
def opened(tmp_path: Path, clock: FrozenClock) -> Iterator[Callable[..., Store]]:
    """Opens the store as often as one likes."""
    stores: list[Store] = []

    def open_it(**options: Any) -> Store:
        stores.append(simonides.open(tmp_path / "store", clock=clock, embedder=None, **options))
        return stores[-1]

    yield open_it
    for store in stores:
        store.close()


def today(bank: Bank, **options: Any) -> date:
    """The day that a text means by "today" when it is retained."""
    (memory,) = bank.retain(TEXT, **options)
    occurred = bank.get_memory(memory).occurred
    assert occurred is not None
    start, end = from_micros(occurred.start), from_micros(occurred.end)
    assert start is not None
    assert end is not None
    (found,) = (day for day in (HERE, THERE) if start in _midnights(day))
    bank.forget([memory])
    return found


def _midnights(day: date) -> set[datetime]:
    zones = (UTC, ZoneInfo(KIRITIMATI))
    return {datetime(day.year, day.month, day.day, tzinfo=zone).astimezone(UTC) for zone in zones}


def test_the_call_goes_before_the_bank_before_the_environment_before_the_system(
    opened: Callable[..., Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "UTC")
    bank = opened(environ={}).bank("b")
    assert today(bank) == HERE
    monkeypatch.setenv("TZ", KIRITIMATI)
    tzlocal.reload_localzone()
    assert today(opened(environ={}).bank("b")) == THERE
    monkeypatch.setenv("TZ", "UTC")
    tzlocal.reload_localzone()
    assert today(opened(environ={"SIMONIDES_ZONE": KIRITIMATI}).bank("b")) == THERE
    assert today(opened(environ={"SIMONIDES_ZONE": KIRITIMATI}, zone="UTC").bank("b")) == HERE
    assert today(opened(zone=ZoneInfo(KIRITIMATI)).bank("b")) == THERE
    assert today(opened(zone="+14:00").bank("b")) == THERE

    bank.set_zone(KIRITIMATI)
    assert today(bank) == THERE
    assert today(opened(environ={"SIMONIDES_ZONE": "UTC"}).bank("b")) == THERE
    assert today(opened(environ={}).bank("other")) == HERE
    assert today(opened(zone="UTC").bank("b")) == HERE
    assert today(bank, zone="UTC") == HERE
    assert today(bank) == THERE
    bank.set_zone(None)
    assert today(bank) == HERE
    assert today(opened(environ={}).bank("b")) == HERE


def test_every_call_that_reads_times_has_a_zone_of_its_own(opened: Callable[..., Store]) -> None:
    bank = opened(zone="UTC").bank("b")
    (turn,) = bank.retain_conversation([{"text": TEXT}], session="s", zone=KIRITIMATI)
    (piece,) = bank.retain_document(TEXT, document_id="d", event_time="2026-03-03", zone=KIRITIMATI)
    start = datetime(2026, 3, 3, tzinfo=ZoneInfo(KIRITIMATI))
    for memory in (turn, piece):
        occurred = bank.get_memory(memory).occurred
        assert occurred is not None
        assert from_micros(occurred.start) == start
    window = ("2026-03-03", "2026-03-04")
    found = bank.recall("ferns", window=window, zone=KIRITIMATI, profile="lexical")
    assert {hit.id for hit in found} == {turn, piece}
    assert not bank.recall(
        "ferns", window=("2026-03-04", "2026-03-05"), zone=KIRITIMATI, profile="lexical"
    ).hits
    assert bank.why_not(turn, "ferns", window=window, zone=KIRITIMATI, profile="lexical").returned
    later = bank.recall("ferns", window=window, zone=KIRITIMATI, profile="lexical", tier="async")
    job = bank.get_job(str(later.job), wait_seconds=30)
    assert job.recall is not None
    assert {hit.id for hit in job.recall} == {turn, piece}
    for wrong in ("Mars", 2):
        with pytest.raises(InputError, match="zone"):
            bank.recall("ferns", zone=wrong)  # type: ignore[arg-type]
        with pytest.raises(InputError, match="zone"):
            bank.retain("Nothing.", zone=wrong)  # type: ignore[arg-type]


def test_only_the_owner_sets_the_zone_and_a_wrong_one_changes_nothing(opened: Callable[..., Store]) -> None:
    store = opened(environ={})
    bank = store.bank("b")
    bank.set_zone(KIRITIMATI)
    with pytest.raises(InputError, match=r"zone.*'Mars/Base' is no time zone"):
        bank.set_zone("Mars/Base")
    with pytest.raises(InputError):
        store.bank("b", principal="ann").set_zone("UTC")
    assert today(bank) == THERE


def test_a_wrong_zone_says_value_place_and_remedy(
    opened: Callable[..., Store], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InputError, match=r"SIMONIDES_ZONE: 'Europe/Berlni' .* did you mean Europe/Berlin\?"):
        opened(environ={"SIMONIDES_ZONE": "Europe/Berlni"})
    with pytest.raises(InputError, match=r"zone: 'Europe' is no time zone"):
        opened(zone="Europe")
    for name in ("../../etc/passwd", "/etc/localtime", "", "x" * 5_000, "a\ud800", "+25:00"):
        with pytest.raises(InputError, match="is no time zone"):
            read_zone(name)
    opened(environ={}).bank("b").set_zone("UTC")
    (tmp_path / "store" / "bank-b" / "zone.txt").write_text("Mars/Base\n")
    with pytest.raises(InputError, match=r"zone\.txt: 'Mars/Base' is no time zone"):
        opened(environ={}).bank("b")


def test_a_machine_without_time_zone_data_knows_utc_and_offsets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simonides.records.interval.ZoneInfo", _no_data)
    monkeypatch.setattr("simonides.records.interval.available_timezones", set)
    assert read_zone("utc") is UTC
    assert read_zone("-03:30") == timezone(-timedelta(hours=3, minutes=30))
    with pytest.raises(InputError, match="pip install tzdata"):
        read_zone("Europe/Berlin")


def _no_data(name: str) -> ZoneInfo:
    raise KeyError(name)


def test_a_system_without_a_zone_is_on_utc(monkeypatch: pytest.MonkeyPatch) -> None:
    def lost() -> None:
        raise KeyError("no such zone")

    monkeypatch.setattr("tzlocal.get_localzone", lost)
    assert default_zone({}) is UTC


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    monkeypatch.setenv("SIMONIDES_STORE", str(tmp_path / "cli"))
    monkeypatch.setenv("SIMONIDES_EMBEDDER", "none")
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str, code: int = 0, stdin: str | None = None) -> str:
        result = CliRunner().invoke(app, list(arguments), input=stdin)
        assert result.exit_code == code, result.output
        return result.stdout if code == 0 else result.stderr

    return run


def start_of(cli: Callable[..., str], *options: str, bank: str = "default") -> str:
    """When "2026-03-03", retained by the command line, starts."""
    cli(
        "retain",
        "The lamp broke.",
        "--event-time",
        "2026-03-03",
        "--bank",
        bank,
        "--no-deduplicate",
        *options,
    )
    listed = json.loads(cli("list-memories", "--bank", bank, "--json"))["memories"]
    return str(max(listed, key=lambda each: each["ingested_at"])["event_time"])


EAST, WEST, ZERO = "2026-03-02T10:00", "2026-03-03T10:00", "2026-03-03T00:00"


def test_flag_environment_and_file_of_the_command_line(
    cli: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert start_of(cli).startswith(ZERO)
    (tmp_path / "simonides.toml").write_text(f'zone = "{KIRITIMATI}"\n')
    assert start_of(cli).startswith(EAST)
    monkeypatch.setenv("SIMONIDES_ZONE", "Pacific/Honolulu")
    assert start_of(cli).startswith(WEST)
    assert start_of(cli, "--zone", "UTC").startswith(ZERO)
    cli("create-bank", "own", "--zone", KIRITIMATI)
    assert start_of(cli, bank="own").startswith(EAST)
    cli("create-bank", "own", "--zone", "none")
    assert start_of(cli, bank="own").startswith(WEST)
    shown = json.loads(cli("config", "show", "--json"))["settings"]
    assert {"key": "zone", "value": "Pacific/Honolulu", "origin": "SIMONIDES_ZONE"} in shown


def test_the_command_line_says_where_a_wrong_zone_stands(
    cli: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "--zone: 'Mars'" in cli("retain", "x", "--zone", "Mars", code=2)
    (tmp_path / "simonides.toml").write_text('zone = "Mars"\n')
    assert "simonides.toml: zone: 'Mars'" in cli("retain", "x", code=2)
    monkeypatch.setenv("SIMONIDES_ZONE", "Venus")
    assert "SIMONIDES_ZONE: 'Venus'" in cli("retain", "x", code=2)
    assert "SIMONIDES_ZONE: 'Venus'" in cli("when", "today", code=2)
    monkeypatch.delenv("SIMONIDES_ZONE")
    assert not (tmp_path / "cli").exists()
    assert "zone: 'Mars' is no time zone" in cli("create-bank", "new", "--zone", "Mars", code=2)
    assert json.loads(cli("create-bank", "other", "--json"))["created"]
    assert json.loads(cli("list-banks", "--json"))["banks"] == ["other"]


def test_the_hooks_and_the_config_of_mcp_go_by_the_setting(
    cli: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIMONIDES_ZONE", KIRITIMATI)
    transcript = tmp_path / "t.jsonl"
    line = {
        "type": "user", "sessionId": "s", "uuid": "u", "timestamp": "2026-03-02T10:40:00Z",
        "message": {"role": "user", "content": "Watered the ferns yesterday."},
    }  # fmt: skip
    transcript.write_text(json.dumps(line) + "\n")
    event = {"hook_event_name": "Stop", "session_id": "s", "transcript_path": str(transcript)}
    cli("hook", "claude-code", "--bank", "claude-code", stdin=json.dumps(event))
    (memory,) = json.loads(cli("list-memories", "--bank", "claude-code", "--json"))["memories"]
    # Said at 00:40 of 3 March there, so yesterday began at 10:00 UTC of 1 March.
    assert memory["event_time"].startswith("2026-03-01T10:00")
    assert '"--zone"' in cli("mcp", "--print-config", "claude")
