"""Imports over HTTP: what is told of a wrong one, and what is left of one on the disk."""

from __future__ import annotations

import asyncio
import stat
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

import simonides
from simonides.surfaces.rest import reading
from simonides.surfaces.rest.app import make_app
from simonides.surfaces.rest.uploads import upload_in
from simonides.surfaces.serving.tokens import TokenStore

if TYPE_CHECKING:
    from pathlib import Path

    from fastapi import FastAPI
    from tests.surfaces.rest.conftest import ClientFor

    from simonides.store import Store

LINES = {"Content-Type": "application/x-ndjson"}
IMPORT = "/v1/banks/theirs/import"


def _exported(store: Store, folder: Path) -> bytes:
    store.bank("mine").retain(["Figs need water.", "Odalys Brenn feeds them."])
    store.bank("mine").export(folder / "out")
    return (folder / "out").read_bytes()


@pytest.mark.parametrize("kind", ["garbage", "empty", "cut", "altered"])
def test_a_wrong_import_names_the_line_of_the_body_and_no_path(
    client_for: ClientFor, store: Store, tmp_path: Path, kind: str
) -> None:
    whole = _exported(store, tmp_path)
    body, line = {
        "garbage": (b"garbage", 1),
        "empty": (b"", 1),
        "cut": (whole[:-20], whole.count(b"\n")),
        "altered": (whole.replace(b"water", b"blood"), None),
    }[kind]

    async def work() -> None:
        async with client_for("theirs") as client:
            answer = await client.post(IMPORT, content=body, headers=LINES)
            assert answer.status_code == 422
            told = answer.json()
            assert told["field"].startswith(f"body:{line}" if line else "body:")
            assert str(tmp_path) not in answer.text
            assert ".import-" not in answer.text

    asyncio.run(work())


def test_an_import_that_holds_a_secret_is_refused_without_a_path(
    client_for: ClientFor, store: Store, tmp_path: Path
) -> None:
    store.bank("mine").retain("The key is AKIAQ7XJ2LMNP4RSTUVW.")
    store.bank("mine").export(tmp_path / "out")
    body = (tmp_path / "out").read_bytes()

    async def work() -> None:
        with simonides.open(tmp_path / "other", embedder=None, redact="mask") as other:
            other.bank("theirs").stats()
            with TokenStore(other.folder) as tokens:
                held = {"Authorization": f"Bearer {tokens.create(banks=['theirs'], now=0)}"}
            app = make_app(other)
            async with client_for(of=app, headers=held) as client:
                answer = await client.post(IMPORT, content=body, headers=LINES)
                assert (answer.status_code, answer.json()["field"]) == (422, "body")
                assert "secret" in answer.json()["detail"]
                assert str(tmp_path) not in answer.text

    asyncio.run(work())


def _child(store: Path, program: str) -> subprocess.Popen[str]:
    """A process that imports; it has begun when this returns."""
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(store)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    assert process.stdout.readline() == "begun\n"
    return process


_HOLDS = """
import sys; from pathlib import Path
from simonides.surfaces.rest.uploads import upload_in
with upload_in(Path(sys.argv[1])) as path:
    path.write_text("Odalys Brenn lives in Norrhav.")
    print("begun", flush=True)
    sys.stdin.read()
"""


def _left(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.glob(".import-*/*.jsonl"))


async def _once(app: FastAPI) -> None:
    async with app.router.lifespan_context(app):
        pass


def test_a_start_deletes_what_a_killed_import_left_and_nothing_of_a_living_one(store: Store) -> None:
    old = store.folder / ".import-before"
    old.mkdir()
    (old / "import.jsonl").write_text("Odalys Brenn lives in Norrhav.")
    killed, living = _child(store.folder, _HOLDS), _child(store.folder, _HOLDS)
    try:
        assert len(_left(store.folder)) == 3
        killed.kill()
        killed.wait()
        with upload_in(store.folder) as own:
            asyncio.run(_once(make_app(store)))
            left = _left(store.folder)
            assert len(left) == 2
            assert str(own.relative_to(store.folder)) in left
        living.communicate(timeout=30)
        assert living.returncode == 0
        assert not list(store.folder.glob(".import-*"))
    finally:
        for process in (killed, living):
            process.kill()
            process.communicate()


def test_what_is_imported_can_be_read_by_its_owner_only(
    client_for: ClientFor, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = _exported(store, tmp_path)
    modes: list[int] = []
    whole = reading.spool_body

    async def noted(*given: Any) -> None:
        await whole(*given)
        modes.extend(stat.S_IMODE(path.stat().st_mode) for path in store.folder.glob(".import-*/*.jsonl"))

    monkeypatch.setattr("simonides.surfaces.rest.handlers.spool_body", noted)

    async def work() -> None:
        async with client_for("theirs") as client:
            assert (await client.post(IMPORT, content=body, headers=LINES)).status_code == 200

    asyncio.run(work())
    assert modes == [0o600]
    assert not list(store.folder.glob(".import-*"))
