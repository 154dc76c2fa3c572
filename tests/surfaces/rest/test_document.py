"""The OpenAPI document and the app tell the same: schemathesis makes requests of it and checks the answers.

A few examples here; `make soak` runs every phase with 300 per operation against a real server.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings

import simonides
from simonides.surfaces.operations.table import OPERATIONS, Stream
from simonides.surfaces.rest.app import make_app, openapi_document
from simonides.surfaces.rest.paths import place_of
from simonides.surfaces.rest.settings import Settings
from simonides.surfaces.serving.tokens import TokenStore

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.surfaces.rest.conftest import Server

HERE = Path(__file__).parent / "schemathesis"


def _without_lifespan(app: Any) -> Any:
    """The app for a client that starts and stops it with every request."""

    async def inner(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "lifespan":
            await app(scope, receive, send)
            return
        for word in ("startup", "shutdown"):
            await receive()
            await send({"type": f"lifespan.{word}.complete"})

    return inner


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, dict[str, str]]]:
    """The document of an app with one bank, and the headers that its requests need."""
    with simonides.open(tmp_path_factory.mktemp("described"), embedder=None, environ={}) as store:
        store.bank("default").retain(["Odalys Brenn lives in Norrhav.", "Figs need water."])
        app = make_app(store, Settings(hosts=("testserver",)))
        with TokenStore(store.folder) as tokens:
            headers = {"Authorization": f"Bearer {tokens.create(banks=['*'], now=0)}"}
        schema = schemathesis.openapi.from_dict(openapi_document(app))
        schema.app = _without_lifespan(app)
        yield schema, headers
        app.state.dispatcher.close()


# These take seconds each before their first example, and what they take the others take, too. What recall takes
# is swept by tests/surfaces/test_argument_sweep.py.
_SLOW = {
    *("recall", "brief", "explain", "reflect", "why_not", "retain_document", "retain_conversation"),
    *("put_records", "move_records", "forget_records", "pop_record"),
}
_CHECKED = [
    pytest.param(name, marks=pytest.mark.soak) if name in _SLOW else name
    for name, each in OPERATIONS.items()
    if each.stream is not Stream.IN
]


@pytest.mark.parametrize("name", _CHECKED)
def test_what_the_document_allows_the_app_takes(name: str, described: tuple[Any, dict[str, str]]) -> None:
    schema, headers = described
    place = place_of(name)
    operation = schema[place.path][place.method]

    @settings(
        max_examples=3,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        derandomize=True,
    )
    @given(operation.as_strategy())
    def check(case: Any) -> None:
        if "bank" in (case.path_parameters or {}):
            case.path_parameters["bank"] = "default"
        answer = case.call(headers=headers)
        # 422 = the values do not fit each other, or not the engine's limits; 400 would be the document's fault.
        assert answer.status_code in {200, 404, 409, 422}, answer.text
        operation.validate_response(answer)

    check()


@pytest.mark.soak
@pytest.mark.allow_hosts(["127.0.0.1"])
def test_schemathesis_finds_no_fault_in_any_phase(server: Server) -> None:
    environment = {**os.environ, "SCHEMATHESIS_HOOKS": "hooks", "PYTHONPATH": str(HERE)}
    done = subprocess.run(
        [
            Path(sys.executable).with_name("schemathesis"),
            *("--config-file", "schemathesis.toml", "run", f"{server.address}/openapi.json"),
            *("-H", f"Authorization: Bearer {server.token}", "-n", "300", "--request-timeout", "60"),
            *("--phases", "examples,coverage,fuzzing,stateful"),
        ],
        cwd=HERE,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-6000:]
