"""Each k-th call of the disk fails, of SQLite and of the index files alike."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import pytest
from tests.reliability.failing import MODES, fail_each_call

if TYPE_CHECKING:
    from pathlib import Path

    from tests.reliability.conftest import Record, Share
    from tests.reliability.failing import Failures


@pytest.mark.fault("W3")
def test_calls_that_fail_acknowledge_nothing_false(tmp_path: Path, record: Record) -> None:
    failures = fail_each_call(tmp_path, modes=MODES, first=1, step=401)
    _judge(failures, record)


@pytest.mark.soak
@pytest.mark.fault("W3")
def test_every_call_that_fails_acknowledges_nothing_false(
    tmp_path: Path, record: Record, share: Share
) -> None:
    failures = fail_each_call(tmp_path, modes=MODES, first=1 + share.number, step=share.of)
    _judge(failures, record)


def _judge(failures: Failures, record: Record) -> None:
    counts = {name: value for name, value in asdict(failures).items() if name != "problems"}
    record("P3", {**counts, "problems": len(failures.problems)})
    assert failures.harm == 0, failures.problems[:10]
