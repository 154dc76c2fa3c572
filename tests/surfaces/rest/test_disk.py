"""A disk that is full or cannot be written is no fault of the server, and readiness tells of it."""

from __future__ import annotations

import asyncio
import errno
import os
from typing import TYPE_CHECKING, Any

import pytest

from simonides.surfaces.operations.table import OPERATIONS
from simonides.surfaces.rest import disk

if TYPE_CHECKING:
    import httpx
    from tests.surfaces.rest.conftest import ClientFor

    from simonides.store import Store

_LINES = {"Content-Type": "application/x-ndjson"}


@pytest.mark.fault("O3")
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EMFILE])
@pytest.mark.parametrize(
    ("method", "path", "broken"),
    [
        ("GET", "export", "tempfile.TemporaryFile"),
        ("GET", "backup", "tempfile.TemporaryFile"),
        ("POST", "import", "simonides.files._make_folder"),
        ("POST", "import", "simonides.surfaces.rest.handlers.spool_body"),
        ("POST", "maintain", "simonides.bank.Bank.maintain"),
    ],
)
def test_an_error_of_the_system_is_unavailable_and_names_no_place(
    client_for: ClientFor,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    code: int,
    method: str,
    path: str,
    broken: str,
) -> None:
    def fail(*_: object, **__: object) -> Any:
        raise OSError(code, os.strerror(code), "/srv/hidden-place")

    async def work() -> httpx.Response:
        async with client_for("mine") as client:
            monkeypatch.setattr(broken, fail)
            if path == "import":
                return await client.request(method, f"/v1/banks/mine/{path}", content=b"x", headers=_LINES)
            return await client.request(method, f"/v1/banks/mine/{path}")

    assert {"import": "import_bank"}.get(path, path) in OPERATIONS
    answer = asyncio.run(work())
    monkeypatch.undo()
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    assert os.strerror(code) in answer.json()["detail"]
    assert "hidden-place" not in answer.text
    told = [each for each in caplog.records if each.name == "simonides.server"]
    assert ["hidden-place" in each.getMessage() for each in told] == [True]
    assert not any(each.exc_info for each in told)


def test_readiness_tells_of_a_full_disk_and_of_folders_that_cannot_be_written(
    client_for: ClientFor, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    may = os.access

    async def ask() -> list[str]:
        async with client_for("mine") as client:
            answer = await client.get("/health/ready")
            assert answer.status_code == 200
            assert answer.json()["status"] == ("degraded" if answer.json()["degraded"] else "ready")
            assert str(store.folder) not in answer.text
            return list(answer.json()["degraded"])

    assert asyncio.run(ask()) == []
    with monkeypatch.context() as patch:
        patch.setattr(disk, "LEAST_FREE", 1 << 80)
        (full,) = asyncio.run(ask())
    assert "make room" in full
    with monkeypatch.context() as patch:
        patch.setattr(os, "access", lambda path, mode: "bank-mine" not in str(path) and may(path, mode))
        (closed,) = asyncio.run(ask())
    assert closed.startswith("disk: 1 folder")
