"""`simonides token`: who may use a server of this store, and for what."""

import time
from typing import TYPE_CHECKING, Annotated

import typer

from simonides.errors import NotFoundError
from simonides.surfaces.cli.opening import store_path
from simonides.surfaces.cli.options import JsonOption, StoreOption, option
from simonides.surfaces.cli.output import (
    NEGATIVE,
    fail,
    print_answer,
    print_json,
    print_table,
    print_text,
    say,
    table,
)

if TYPE_CHECKING:
    from pathlib import Path

token = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@token.callback()
def _token() -> None:
    """Make, list and revoke the tokens of a store's servers."""


@token.command()
def create(
    *,
    bank: Annotated[list[str], option("--bank NAME", "Bank it is for (repeatable); * = every bank.")],
    verb: Annotated[
        list[str] | None,
        option("--verb VERB", "What it allows (repeatable): read, write, forget, admin.", "all"),
    ] = None,
    principal: Annotated[
        str | None, option("--principal NAME", "Principal that acts with it.", "the owner")
    ] = None,
    expires: Annotated[str | None, option("--expires TIME", "When it stops being valid.", "never")] = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a token and print it; it is shown this once."""
    from simonides.records.interval import parse_time
    from simonides.surfaces.operations.table import Verb
    from simonides.surfaces.serving.tokens import TokenStore

    end = None if expires is None else parse_time(expires, "--expires").start
    folder = _folder(store)
    with TokenStore(folder) as tokens:
        made = tokens.create(
            banks=bank, verbs=verb or tuple(Verb), principal=principal, now=_now(), expires_at=end
        )
    if as_json:
        print_json({"token": made})
    else:
        print_text(made)
        say("shown this once: only a hash of it is kept")
        for name in _missing(folder, bank):
            say(f"note: bank {name!r} is not there yet; `simonides create-bank` or POST /v1/banks makes it")


@token.command("list")
def list_all(*, store: StoreOption = None, as_json: JsonOption = False) -> None:
    """List the tokens there are, without what makes them work."""
    from simonides.surfaces.serving.tokens import TokenStore

    folder = _folder(store)
    with TokenStore(folder) as tokens:
        found = [record.to_dict() for record in tokens.list()]
    if as_json:
        print_json({"tokens": found})
        return
    if not found:
        say(f"{folder} has no token; `simonides token create` makes one")
        return
    rows = table("name", "principal", "banks", "verbs", "made", "expires", whole=("name", "made", "expires"))
    for one in found:
        rows.add_row(
            one["name"],
            one["principal"] or "(owner)",
            ", ".join(one["banks"]),
            ", ".join(one["verbs"]),
            one["created_at"][:10],
            (one["expires_at"] or "never")[:10],
        )
    print_table(rows)


@token.command()
def revoke(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Of a token, as list prints it.")],
    *,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """End a token; exit code 1 when there is none of this name."""
    from simonides.surfaces.serving.tokens import TokenStore

    with TokenStore(_folder(store)) as tokens:
        try:
            tokens.revoke(name)
        except NotFoundError as error:
            fail(str(error), NEGATIVE)
    print_answer({"revoked": name}, f"{name} is revoked", as_json=as_json)


def _folder(store: str | None) -> "Path":
    """The store's folder, which must be there."""
    path = store_path(store)
    if not path.is_dir():
        raise NotFoundError(
            f"--store: there is no store at {path}; retain something there first, or serve it"
        )
    return path


def _missing(folder: "Path", names: list[str]) -> list[str]:
    """Banks that a token is for and the store does not have."""
    from simonides.store import open_store
    from simonides.surfaces.serving.grants import EVERY_BANK

    with open_store(folder, embedder=None, sparse=None, create=False, redact="off") as opened:
        return [name for name in names if name not in {*opened.list_banks(), EVERY_BANK}]


def _now() -> int:
    return time.time_ns() // 1_000
