"""What a token that may only read can do to a server; `bench/soak/abuse.py` is the program."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from types import ModuleType

    from tests.reliability.conftest import Record

SCRIPT = Path(__file__).parents[2] / "bench" / "soak" / "abuse.py"
SECONDS = float(os.environ.get("ABUSE_SECONDS", "600"))

pytestmark = [
    pytest.mark.allow_hosts(["127.0.0.1"]),
    pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc"),
    *(pytest.mark.fault(number) for number in ("N66", "N86", "N87")),
]


@pytest.fixture(scope="module")
def abuse() -> ModuleType:
    spec = importlib.util.spec_from_file_location("abuse", SCRIPT)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    # Its dataclass looks itself up.
    import sys  # noqa: PLC0415

    sys.modules["abuse"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("descriptors", [None, 128], ids=["many descriptors", "128 descriptors"])
def test_a_server_stays_small_and_recovers(abuse: Any, descriptors: int | None) -> None:
    """Its times depend on what else the machine does, so they are looked at in the long run alone."""
    figures = abuse.abuse(6.0, idle=200, descriptors=descriptors, megabytes=8)
    assert abuse.holds(figures), figures
    if descriptors:
        # 200 are more than a third of them.
        assert figures["answers"]["idle, dropped"]


@pytest.mark.soak
@pytest.mark.parametrize("descriptors", [None, 128], ids=["many descriptors", "128 descriptors"])
def test_a_server_stays_up_for_everybody_else(abuse: Any, descriptors: int | None, record: Record) -> None:
    figures = abuse.abuse(SECONDS, idle=1_100, descriptors=descriptors)
    record(f"abuse-{descriptors or 'all'}", figures)
    assert abuse.holds(figures), figures
    assert figures["live_p99_ms"] < abuse.LIVE_P99_MS
