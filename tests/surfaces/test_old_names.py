"""Every name of the one list of old names still answers, says what to write now, and is in the guide."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import typer.main
from tests.surfaces.mcp.conftest import Session, session
from tests.surfaces.rest.conftest import ClientFor, app, client_for

from simonides import deprecations
from simonides.bank import Bank
from simonides.store import Store
from simonides.surfaces.cli.main import app as program
from simonides.surfaces.client.asynchronous import AsyncBank
from simonides.surfaces.client.remote import RemoteBank, RemoteStore
from simonides.surfaces.mcp.tools import TOOLS
from simonides.surfaces.operations.table import OPERATIONS
from simonides.surfaces.rest.paths import old_place_of, place_of

if TYPE_CHECKING:
    from tests.surfaces.conftest import Cli

__all__ = ["app", "client_for", "session"]

_GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "versions.md"
_METHODS = [
    (kind, old, new)
    for kinds, names in (
        ((Bank, RemoteBank, AsyncBank), deprecations.BANK_METHODS),
        ((Store, RemoteStore), deprecations.STORE_METHODS),
    )
    for kind in kinds
    for old, new in names.items()
]


@pytest.mark.parametrize(("kind", "old", "new"), _METHODS)
def test_a_method_answers_by_its_old_name(kind: type, old: str, new: str) -> None:
    one: Any = object.__new__(kind)
    with pytest.warns(DeprecationWarning, match=f"^{old} is deprecated; use {new}$"):
        found = getattr(one, old)
    assert found == getattr(one, new)
    assert old not in dir(kind)
    with pytest.raises(AttributeError, match="no attribute 'gett'"):
        one.gett  # noqa: B018 what is tested


@pytest.mark.parametrize(("old", "new"), deprecations.COMMANDS.items())
def test_a_command_answers_by_its_old_name(old: str, new: str, cli: Cli) -> None:
    before, now = (cli(*name.split(), "--help") for name in (old, new))
    assert before.exit_code == now.exit_code == 0
    assert before.stdout.splitlines()[1:] == now.stdout.splitlines()[1:]
    arguments = ["1"] * now.stdout.splitlines()[0].count("{")
    said = f"`simonides {old}` is deprecated; use `simonides {new}`\n"
    before, now = (cli(*name.split(), *arguments) for name in (old, new))
    assert before.stderr == said + now.stderr
    assert (before.exit_code, before.stdout) == (now.exit_code, now.stdout)


def test_old_commands_are_not_listed(cli: Cli) -> None:
    listed = cli("--help").stdout
    group: Any = typer.main.get_command(program)
    for old in deprecations.COMMANDS:
        first = old.split()[0]
        assert first == "audit" or (f"\n  {first} " not in listed and first not in set(group.commands))


@pytest.mark.parametrize(("old", "new"), deprecations.OPERATIONS.items())
def test_a_path_answers_by_its_old_name(old: str, new: str, client_for: ClientFor, store: Store) -> None:
    store.bank("mine").retain("Figs need water.")

    async def ask() -> Any:
        async with client_for("mine") as client:
            places = [place.path.format(bank="mine") for place in (old_place_of(old), place_of(new))]
            return [await client.post(path, json={"number": 1}) for path in places], places[1]

    (before, now), path = asyncio.run(ask())
    assert (before.status_code, before.content) == (now.status_code, now.content)
    assert before.headers["deprecation"] == f"@{deprecations.SINCE}"
    assert before.headers["link"] == f'<{path}>; rel="successor-version"'
    assert "deprecation" not in now.headers
    assert old not in OPERATIONS


@pytest.mark.parametrize(("old", "new"), deprecations.TOOLS.items())
def test_a_tool_answers_by_its_old_name(old: str, new: str, session: Session, store: Store) -> None:
    store.bank("mine").retain("Figs need water.")

    async def talk(client: Any) -> Any:
        asked = {"query": "figs", "profile": "lexical", "as_of": "2100", "seed": 1}
        listed = [tool.name for tool in (await client.list_tools()).tools]
        return listed, [await client.call_tool(name, asked) for name in (old, new)]

    listed, (before, now) = session(talk)
    assert not before.is_error
    assert before.structured_content["explanations"] == now.structured_content["explanations"]
    assert old not in (*listed, *TOOLS)


def test_the_guide_names_every_old_name() -> None:
    guide = _GUIDE.read_text("utf-8")
    for names in (deprecations.BANK_METHODS, deprecations.STORE_METHODS, deprecations.TOOLS):
        for old, new in names.items():
            assert f"`{old}`" in guide.replace("Bank.", "").replace("Store.", ""), old
            assert new in guide
    for old, new in deprecations.COMMANDS.items():
        assert f"| `simonides {old}` | `simonides {new}` |" in guide
