"""Commands about whole banks: make, list and delete them; counts, checks, copies and audit logs."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from simonides.errors import DamagedError, InputError, NotFoundError
from simonides.surfaces.cli.opening import (
    environment_embedder,
    open_for_reading,
    open_for_writing,
    redaction,
    store_path,
)
from simonides.surfaces.cli.operating import Command, perform
from simonides.surfaces.cli.options import BankOption, JsonOption, StoreOption, option
from simonides.surfaces.cli.output import (
    NEGATIVE,
    ask_or_end,
    binary_output,
    fail,
    print_answer,
    print_json,
    print_text,
    printable,
    say,
)

_NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="Name of the bank.")]


def list_banks(*, store: StoreOption = None, as_json: JsonOption = False) -> None:
    """List the banks of a store, one a line; exit code 1 when there is none."""
    from simonides.store import open_store

    with open_store(_there(store), embedder=None, create=False, redact=redaction()) as opened:
        answer = perform("list_banks", opened, {})
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
        option(
            "--zone ZONE",
            "Time zone of the bank's own, such as Europe/Berlin, kept with it; none takes it away.",
            False,
        ),
    ] = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Create a bank, or set the time zone of one that exists."""
    from simonides.store import open_store

    with open_store(store_path(store), embedder=environment_embedder(), redact=redaction()) as opened:
        answer = perform("create_bank", opened, {"name": name, "zone": zone})
    if as_json:
        print_json(answer)
    else:
        made = "is made" if answer["created"] else "was there already"
        print_text(f"{name} {made}" + (f"; its zone is {answer['zone']}" if answer["zone"] else ""))


def delete_bank(
    name: _NameArgument,
    *,
    confirm: Annotated[
        str | None, option("--confirm NAME", "The name once more, in place of a question.", False)
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
            again = _asked(name) if confirm is None else confirm
            answer = perform("delete_bank", opened, {"name": name, "confirm": again})
        except NotFoundError as error:
            fail(str(error), NEGATIVE)
    print_answer(answer, f"{name} is deleted", as_json=as_json)


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
    """The store's folder; ``NotFoundError`` when it is not there."""
    path = store_path(store)
    if not path.is_dir():
        raise NotFoundError(f"--store: there is no store at {path}; create-bank makes one, or check --store")
    return path


def _show_counts(answer: Mapping[str, Any]) -> None:
    print_text("\n".join(_lines(answer, "")))


def _lines(values: Mapping[str, object], indent: str) -> list[str]:
    lines: list[str] = []
    for name, value in values.items():
        if isinstance(value, Mapping):
            lines += [f"{indent}{name}:", *_lines(value, indent + "  ")]
        else:
            lines.append(f"{indent}{name}: {_plain(value)}")
    return lines


def _plain(value: object) -> str:
    if value is None or value in ("", [], ()):
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)


STATS = Command("stats", _show_counts)


def verify(
    *,
    repair: Annotated[bool, option("--repair", "First rebuild everything derived from the rows.")] = False,
    store: StoreOption = None,
    bank: BankOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Check a bank for damage; exit code 1 when there is any."""
    try:
        with open_for_reading(store, bank) as opened:
            report = opened.repair() if repair else opened.verify()
            ok, answer, problems = report.ok, report.to_dict(), list(map(str, report.problems))
    except DamagedError as error:
        # A bank too damaged to open has failed the check as well.
        ok, problems = False, [str(error)]
        answer = {"ok": ok, "problems": problems}
    print_answer(
        answer,
        "ok" if ok else "not ok",
        *(f"- {problem}" for problem in problems),
        as_json=as_json,
    )
    if not ok:
        raise typer.Exit(NEGATIVE)


def export(
    file: Annotated[
        str, typer.Argument(metavar="FILE|-", help="The file to write, or - for standard output.")
    ],
    *,
    store: StoreOption = None,
    bank: BankOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Write everything in a bank to a file of JSON lines; `simonides import` reads it."""
    if file == "-":
        if as_json:
            raise InputError("--json", "would stand among the lines of the export; give a file instead of -")
        with open_for_reading(store, bank) as opened:
            opened.export(binary_output())
        return
    if not file.strip() or "\0" in file:
        raise InputError("FILE", f"{file!r} is not a file's path")
    with open_for_reading(store, bank) as opened:
        counts = opened.export(Path(file)).to_dict()
    print_answer(
        {"file": file, "counts": counts},
        *(f"{kind}: {count:,}" for kind, count in counts.items()),
        as_json=as_json,
    )


def backup(
    path: Annotated[
        Path, typer.Argument(metavar="FILE", help="The file to write; it must not be there yet.")
    ],
    *,
    store: StoreOption = None,
    bank: BankOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Copy a bank to one file, also while it is in use."""
    with open_for_reading(store, bank) as opened:
        saved = opened.backup(path)
    print_answer(
        saved.to_dict(),
        f"{saved.memories} memories, as of change {saved.sequence}, in {saved.path}",
        as_json=as_json,
    )


def restore(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="What `simonides backup` wrote.")],
    *,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    store: StoreOption = None,
    bank: BankOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Replace everything in a bank by a backup; it is verified first."""
    # Before a store is made for it.
    if not path.is_file():
        raise InputError("FILE", f"there is no file {path}; name one that `simonides backup` wrote")
    if not yes:
        ask_or_end(f"Replace everything in bank {bank!r} by the backup?", "nothing was restored")
    with open_for_writing(store, bank, encodes=False) as opened:
        saved = opened.restore(path)
    print_answer(
        saved.to_dict(),
        f"{saved.memories} memories, as of change {saved.sequence}, from {saved.path}",
        as_json=as_json,
    )


audit = typer.Typer(
    help="Show and check the audit logs: who changed what, and who read what.", no_args_is_help=True
)


@audit.command("start")
def audit_start(
    *, store: StoreOption = None, bank: BankOption = "default", as_json: JsonOption = False
) -> None:
    """Make a key beside the bank; from now on every change is audited."""
    with open_for_reading(store, bank) as opened:
        path = opened.start_audit()
    print_answer({"key": str(path)}, f"key in {path}; who can read it can forge the log", as_json=as_json)


@audit.command("recalls")
def audit_recalls(
    *,
    off: Annotated[bool, option("--off", "Switch it off.")] = False,
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


@audit.command("entries")
def audit_entries(
    *,
    most: Annotated[int, option("--most N", "Rows at most, newest first.", min=1)] = 20,
    head: Annotated[bool, option("--head", "Print only the head, to keep elsewhere.")] = False,
    recalls: Annotated[bool, option("--recalls", "The log of reads.")] = False,
    store: StoreOption = None,
    bank: BankOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Print the newest rows: number, moment, actor, what was done, which changes."""
    with open_for_reading(store, bank) as opened:
        entries = opened.audit_entries(1 if head else most, recalls=recalls)
    if head:
        text = f"{entries[0].number}:{entries[0].seal}" if entries else f"0:{'0' * 64}"
        print_answer({"head": text}, text, as_json=as_json)
    elif as_json:
        print_json({"entries": [entry.to_dict() for entry in entries]})
    else:
        for entry in entries:
            about = f"{len(entry.ids)} memories" if recalls else f"changes {entry.first} to {entry.last}"
            print_text(f"{entry.number}  {entry.at}  {entry.actor or 'owner'}  {entry.verb}  {about}")


@audit.command("verify")
def audit_verify(
    *,
    anchor: Annotated[
        str | None, option("--anchor HEAD", "A head that you kept: it must be in the log.")
    ] = None,
    recalls_anchor: Annotated[
        str | None, option("--recalls-anchor HEAD", "The same for the log of reads.")
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
