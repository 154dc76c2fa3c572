"""The `simonides` command: exit codes, errors, and the list of commands.

Exit codes:
    0    the command did what was asked.
    1    it ran, and the answer is no: nothing recalled, an id that is not there, a check that failed.
    2    it could not run: wrong use, bad input, or files, models and packages that cannot be used.
    130  interrupted; what was stored before stays stored, in whole batches.

Standard output carries the answer and nothing else. An error is one line on standard error; set
``SIMONIDES_TRACEBACK=1`` to see where it arose. Nothing heavy is imported before a command needs it.
"""

import os
import sys
from contextlib import suppress
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from simonides.surfaces.cli.alias import alias
from simonides.surfaces.cli.audit import audit
from simonides.surfaces.cli.backup import backup, restore
from simonides.surfaces.cli.banks import create_bank, delete_bank, list_banks
from simonides.surfaces.cli.bench import bench
from simonides.surfaces.cli.brief import brief
from simonides.surfaces.cli.check import check
from simonides.surfaces.cli.claude_code import claude_code
from simonides.surfaces.cli.config import config
from simonides.surfaces.cli.demo import demo
from simonides.surfaces.cli.diff import diff
from simonides.surfaces.cli.enrich import enrich
from simonides.surfaces.cli.entities import entities
from simonides.surfaces.cli.export import export
from simonides.surfaces.cli.forget import forget
from simonides.surfaces.cli.history import history
from simonides.surfaces.cli.import_ import import_
from simonides.surfaces.cli.invalidate import invalidate
from simonides.surfaces.cli.jobs import jobs
from simonides.surfaces.cli.list_memories import list_memories
from simonides.surfaces.cli.maintain import maintain
from simonides.surfaces.cli.mcp import mcp
from simonides.surfaces.cli.merge import merge, unmerge
from simonides.surfaces.cli.models import models
from simonides.surfaces.cli.moves import moves, undo
from simonides.surfaces.cli.output import INTERRUPTED, explained, fail, print_text, say
from simonides.surfaces.cli.pin import pin, unpin
from simonides.surfaces.cli.profiles import profiles
from simonides.surfaces.cli.quarantine import quarantine, release
from simonides.surfaces.cli.recall import recall
from simonides.surfaces.cli.reembed import reembed
from simonides.surfaces.cli.reflect import reflect
from simonides.surfaces.cli.retain import retain
from simonides.surfaces.cli.retain_conversation import retain_conversation
from simonides.surfaces.cli.serve import serve
from simonides.surfaces.cli.settle import settle
from simonides.surfaces.cli.show import show
from simonides.surfaces.cli.source import source
from simonides.surfaces.cli.stats import stats
from simonides.surfaces.cli.token import token
from simonides.surfaces.cli.train_reranker import train_reranker
from simonides.surfaces.cli.tune import tune
from simonides.surfaces.cli.update_memory import update_memory
from simonides.surfaces.cli.used import used
from simonides.surfaces.cli.verify import verify
from simonides.surfaces.cli.when import when
from simonides.surfaces.cli.why_not import why_not


def _print_version(asked: bool) -> None:  # noqa: FBT001 -- the shape of a Typer callback
    if asked:
        from importlib.metadata import version

        print_text(f"simonides {version('simonides')}")
        raise typer.Exit


class _Commands(TyperGroup):
    """Turns every failure of a command into one line and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        try:
            try:
                return super().invoke(ctx)
            finally:
                sys.stdout.flush()
        except KeyboardInterrupt:
            say("interrupted")
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            _close_quietly()
            raise typer.Exit(0) from None
        except Exception as error:
            # Typer's own signals (exit, wrong use) carry their code, and Typer reports them.
            if hasattr(error, "exit_code") or isinstance(error, typer.Abort):
                raise
            if os.environ.get("SIMONIDES_TRACEBACK"):
                raise
            fail(explained(error))


def _close_quietly() -> None:
    """The reader of the pipe has gone (`... | head`); leave nothing for the interpreter to flush."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


app = typer.Typer(
    cls=_Commands,
    name="simonides",
    add_completion=True,
    pretty_exceptions_enable=False,
    # Plain help needs no rich, which takes longer to load than everything else here.
    rich_markup_mode=None,
)


@app.callback(
    epilog="Exit codes: 0 done; 1 done, and the answer is no; 2 wrong use, or it cannot run; 130 interrupted."
)
def _simonides(
    ctx: typer.Context,
    *,
    _version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """A memory for agents: retain what was seen, recall the right few facts."""
    from simonides.surfaces.cli.configuration import option_defaults

    if ctx.invoked_subcommand != "config":
        ctx.default_map = option_defaults(ctx.command.commands)  # type: ignore[attr-defined]


for command in (
    retain,
    retain_conversation,
    recall,
    reflect,
    show,
    list_memories,
    history,
    source,
    diff,
    update_memory,
    invalidate,
    forget,
    quarantine,
    release,
    used,
    entities,
    alias,
    merge,
    unmerge,
    settle,
    enrich,
    reembed,
    maintain,
    moves,
    undo,
    pin,
    unpin,
    check,
    brief,
    list_banks,
    create_bank,
    delete_bank,
    export,
    backup,
    restore,
    tune,
    stats,
    verify,
    when,
    serve,
    mcp,
    demo,
):
    app.command()(command)
app.command("import")(import_)
app.command("why-not")(why_not)
app.command("train-reranker")(train_reranker)
app.add_typer(audit, name="audit")
app.add_typer(config, name="config")
app.add_typer(jobs, name="jobs")
app.add_typer(models, name="models")
app.add_typer(profiles, name="profiles")
app.add_typer(token, name="token")
app.add_typer(claude_code, name="claude-code")
app.add_typer(bench, name="bench")


def main() -> None:
    """Run the command line; the process ends with its exit code."""
    _settle_streams()
    app(prog_name="simonides")


def _settle_streams() -> None:
    """A stream that the caller closed is empty or swallows; a narrow character set gets escapes."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            # Stays open as long as the process, like the stream that it stands for.
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115
        elif mode == "w" and isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
