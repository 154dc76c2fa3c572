"""`simonides forget`: take memories out of every answer, and on request out of every file."""

import sys
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from simonides.errors import InputError
from simonides.records.receipt import PENDING
from simonides.surfaces.cli.opening import open_for_reading
from simonides.surfaces.cli.options import BankOption, JsonOption, StoreOption, ZoneOption
from simonides.surfaces.cli.output import NEGATIVE, fail, print_json, print_text, say

if TYPE_CHECKING:
    from simonides.records.receipt import Receipt


def forget(
    memory_ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ID]…", help="Ids of the memories to forget.", show_default=False),
    ] = None,
    *,
    source: Annotated[
        str | None, typer.Option("--source", metavar="TEXT", help="Only of this source.")
    ] = None,
    writer: Annotated[
        str | None, typer.Option("--writer", metavar="NAME", help="Only what this principal retained.")
    ] = None,
    before: Annotated[
        str | None, typer.Option("--before", metavar="TIME", help="Only what was recorded before.")
    ] = None,
    after: Annotated[
        str | None, typer.Option("--after", metavar="TIME", help="Only what was recorded then or later.")
    ] = None,
    without_source: Annotated[
        bool, typer.Option("--without-source", help="Only what has no source.")
    ] = False,
    by_owner: Annotated[
        bool, typer.Option("--by-owner", help="Only what the owner retained, who has no name.")
    ] = False,
    everything: Annotated[bool, typer.Option("--all", help="All memories of the bank.")] = False,
    purge: Annotated[
        bool, typer.Option("--purge", help="Also rewrite the bank's files, so that no byte of it is left.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Change nothing; show what would be deleted.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    store: StoreOption = None,
    zone: ZoneOption = None,
    bank: BankOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Delete memories with their history; exit code 1 when one was not there, or a purge is incomplete."""
    ids = list(dict.fromkeys(memory_ids or []))
    conditional = any(value is not None for value in (source, writer, before, after))
    conditional = conditional or without_source or by_owner
    if not ids and not everything and not conditional:
        raise InputError("ID", "is missing; name memories, give a condition such as --source, or --all")
    with open_for_reading(store, bank, zone=zone) as opened:
        ask = partial(
            opened.forget_where,
            ids or None,
            source=source,
            writer=writer,
            before=before,
            after=after,
            without_source=without_source,
            by_owner=by_owner,
            everything=everything,
        )
        if not yes and not dry_run:
            _confirm(len(ids) if ids else ask(dry_run=True).memories, bank)
        receipt = ask(purge=purge, dry_run=dry_run)
    _print(receipt, ids, as_json=as_json)
    if len(ids) > receipt.memories and not conditional:
        fail(f"{len(ids) - receipt.memories} of {len(ids)} ids were not there (forgotten before?)", NEGATIVE)
    if receipt.status in PENDING:
        fail(f"{receipt.status}; run `simonides forget --purge` with the same ids again later", NEGATIVE)


def _print(receipt: "Receipt", ids: list[str], *, as_json: bool) -> None:
    if as_json:
        print_json({"asked": len(ids), "forgotten": receipt.memories, **receipt.to_dict()})
        return
    would = "would be forgotten" if receipt.status == "dry run" else "forgotten"
    print_text(f"{receipt.memories} {would} ({receipt.status})")
    for table, count in receipt.rows.items():
        # A memory has a row for each of its versions.
        print_text(f"  {'versions' if table == 'memories' else table}: {count}")
    for path in receipt.left:
        print_text(f"  still there: {path}")


def _confirm(count: int, bank: str) -> None:
    if not _is_terminal():
        raise InputError("--yes", "is needed where there is no terminal to ask on")
    # Not typer.confirm: it lets part of the question out on standard output.
    typer.echo(
        f"Forget {count} {'memory' if count == 1 else 'memories'} of bank {bank!r}? [y/N] ",
        nl=False,
        err=True,
    )
    if sys.stdin.readline().strip().lower() not in {"y", "yes"}:
        say("nothing was forgotten")
        raise typer.Exit(NEGATIVE)


def _is_terminal() -> bool:
    return sys.stdin.isatty()
