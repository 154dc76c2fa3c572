"""`simonides list-banks`, `create-bank` and `delete-bank`: the banks of a store."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from simonides.errors import InputError, NotFoundError
from simonides.surfaces.cli.opening import environment_embedder, redaction, store_path
from simonides.surfaces.cli.operating import perform
from simonides.surfaces.cli.options import JsonOption, StoreOption
from simonides.surfaces.cli.output import NEGATIVE, fail, print_json, print_text, printable, say

_NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="Name of the bank.")]


def list_banks(*, store: StoreOption = None, as_json: JsonOption = False) -> None:
    """List the banks of a store, one a line; exit code 1 when there is none."""
    from simonides.store import open_store

    with open_store(_there(store), embedder=None, create=False, redact=redaction()) as opened:
        answer = perform("list_banks", opened)
    if as_json:
        print_json(answer)
    elif answer["banks"]:
        print_text("\n".join(map(printable, answer["banks"])))
    else:
        say("the store holds no bank")
    if not answer["banks"]:
        raise typer.Exit(NEGATIVE)


def create_bank(
    name: _NameArgument,
    *,
    zone: Annotated[
        str | None,
        typer.Option(
            "--zone",
            metavar="ZONE",
            help="Time zone of the bank's own, such as Europe/Berlin, kept with it; none takes it away.",
            show_default=False,
        ),
    ] = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Create a bank, or set the time zone of one that exists."""
    from simonides.store import open_store

    with open_store(store_path(store), embedder=environment_embedder(), redact=redaction()) as opened:
        answer = perform("create_bank", opened, name=name, zone=zone)
    if as_json:
        print_json(answer)
    else:
        made = "is made" if answer["created"] else "was there already"
        print_text(f"{name} {made}" + (f"; its zone is {answer['zone']}" if answer["zone"] else ""))


def delete_bank(
    name: _NameArgument,
    *,
    confirm: Annotated[
        str | None,
        typer.Option(
            "--confirm",
            metavar="NAME",
            help="The name once more, in place of a question.",
            show_default=False,
        ),
    ] = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Delete a bank with everything in it, for good; exit code 1 when there is none of this name."""
    from simonides.store import open_store

    with open_store(_there(store), embedder=None, create=False, redact=redaction()) as opened:
        if not opened.has_bank(name):
            fail(f"there is no bank {name!r} in {opened.folder}", NEGATIVE)
        try:
            answer = perform(
                "delete_bank", opened, name=name, confirm=_asked(name) if confirm is None else confirm
            )
        except NotFoundError as error:
            fail(str(error), NEGATIVE)
    if as_json:
        print_json(answer)
    else:
        print_text(f"{name} is deleted")


def _asked(name: str) -> str:
    if not sys.stdin.isatty():
        raise InputError(
            "--confirm", "is needed where there is no terminal to ask on; give the name once more"
        )
    typer.echo(f"Everything in bank {name!r} will be gone. Type its name to delete it: ", nl=False, err=True)
    answer = sys.stdin.readline().strip()
    if answer != name:
        say("nothing was deleted")
        raise typer.Exit(NEGATIVE)
    return answer


def _there(store: str | None) -> Path:
    """The store's folder.

    Raises:
        NotFoundError: it is not there.
    """
    path = store_path(store)
    if not path.is_dir():
        raise NotFoundError(f"--store: there is no store at {path}; create-bank makes one, or check --store")
    return path
