"""Imports over HTTP: what is told of a wrong one, and what is left of one on the disk."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

import simonides
from simonides.surfaces.rest.app import make_app
from simonides.surfaces.serving.tokens import TokenStore

if TYPE_CHECKING:
    from pathlib import Path

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
