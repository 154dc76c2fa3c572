"""`simonides audit`: start, show and verify the logs of who changed what and who was told what."""

from typing import Annotated

import typer

from simonides.surfaces.cli.opening import open_for_reading
from simonides.surfaces.cli.options import BankOption, JsonOption, StoreOption
from simonides.surfaces.cli.output import NEGATIVE, print_json, print_text

audit = typer.Typer(
    help="Show and check the audit logs: who changed what, and who read what.", no_args_is_help=True
)


@audit.command()
def start(*, store: StoreOption = None, bank: BankOption = "default", as_json: JsonOption = False) -> None:
    """Make a key beside the bank; from now on every change is audited."""
    with open_for_reading(store, bank) as opened:
        path = opened.start_audit()
    if as_json:
        print_json({"key": str(path)})
    else:
        print_text(f"key in {path}; who can read it can forge the log")


@audit.command()
def recalls(
    *,
    off: Annotated[bool, typer.Option("--off", help="Switch it off.")] = False,
    store: StoreOption = None,
    bank: BankOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Audit also what is handed out, from now on: every recall writes a row before it answers."""
    with open_for_reading(store, bank) as opened:
        changed = opened.audit_recalls(on=not off)
    if as_json:
        print_json({"on": not off, "changed": changed})
    else:
        state = "no longer audited" if off else "audited"
        print_text(f"recalls are {state}" if changed else f"nothing changed: recalls are {state}")


@audit.command()
def show(
    *,
    most: Annotated[int, typer.Option("--most", metavar="N", help="Rows at most, newest first.", min=1)] = 20,
    head: Annotated[bool, typer.Option("--head", help="Print only the head, to keep elsewhere.")] = False,
    recalls: Annotated[bool, typer.Option("--recalls", help="The log of reads.")] = False,
    store: StoreOption = None,
    bank: BankOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Print the newest rows: number, moment, actor, what was done, which changes."""
    with open_for_reading(store, bank) as opened:
        entries = opened.audit_entries(1 if head else most, recalls=recalls)
    if head:
        text = f"{entries[0].number}:{entries[0].seal}" if entries else f"0:{'0' * 64}"
        if as_json:
            print_json({"head": text})
        else:
            print_text(text)
    elif as_json:
        print_json({"entries": [entry.to_dict() for entry in entries]})
    else:
        for entry in entries:
            about = f"{len(entry.ids)} memories" if recalls else f"changes {entry.first} to {entry.last}"
            print_text(f"{entry.number}  {entry.at}  {entry.actor or 'owner'}  {entry.verb}  {about}")


@audit.command()
def verify(
    *,
    anchor: Annotated[
        str | None,
        typer.Option("--anchor", metavar="HEAD", help="A head that you kept: it must be in the log."),
    ] = None,
    recalls_anchor: Annotated[
        str | None,
        typer.Option("--recalls-anchor", metavar="HEAD", help="The same for the log of reads."),
    ] = None,
    store: StoreOption = None,
    bank: BankOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Check every seal; exit code 1 when the log is not what was written."""
    with open_for_reading(store, bank) as opened:
        report = opened.audit_verify(anchor=anchor, recalls_anchor=recalls_anchor)
    if as_json:
        print_json(report.to_dict())
    else:
        lines = [f"{'ok' if report.ok else 'not ok'}: {report.entries} rows, head {report.head}"]
        if report.recalls:
            lines.append(f"recalls: {report.recalls} rows, head {report.recalls_head}")
        print_text("\n".join([*lines, *(f"- {problem}" for problem in report.problems)]))
    if not report.ok:
        raise typer.Exit(NEGATIVE)
