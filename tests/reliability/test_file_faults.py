"""Each k-th call on a file beside the rows fails, or is the last one of its process."""

from __future__ import annotations

import errno
from dataclasses import asdict
from typing import TYPE_CHECKING

import pytest
from tests.reliability.file_faults import CODES, KILL, fail_each_call

if TYPE_CHECKING:
    from pathlib import Path

    from tests.reliability.conftest import Record, Share
    from tests.reliability.file_faults import Found


@pytest.mark.fault("N60")
def test_calls_that_fail_leave_a_store_that_works(tmp_path: Path, record: Record) -> None:
    _judge(fail_each_call(tmp_path, codes=(errno.ENOSPC,), for_good=(False,), step=211), record)


@pytest.mark.fault("N60")
def test_kills_leave_a_store_that_works(tmp_path: Path, record: Record) -> None:
    _judge(fail_each_call(tmp_path, codes=(KILL,), step=211), record)


@pytest.mark.soak
@pytest.mark.fault("N60")
@pytest.mark.parametrize("code", [*CODES, KILL])
def test_every_call_that_fails_leaves_a_store_that_works(
    tmp_path: Path, record: Record, share: Share, code: int
) -> None:
    _judge(fail_each_call(tmp_path, codes=(code,), first=1 + share.number, step=share.of), record)


def _judge(found: Found, record: Record) -> None:
    counts = {name: value for name, value in asdict(found).items() if name != "problems"}
    record("N60", {**counts, "problems": len(found.problems)})
    assert found.failures + found.kills
    assert found.harm == 0, found.problems[:10]
