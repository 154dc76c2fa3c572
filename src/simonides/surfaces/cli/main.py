"""The `simonides` command: exit codes and errors; ``commands`` lists what it can do.

Exit codes:
    0    the command did what was asked.
    1    it ran, and the answer is no: nothing recalled, an id that is not there, a check that failed.
    2    it could not run: wrong use, bad input, or files, models and packages that cannot be used.
    130  interrupted; what was stored before stays stored, in whole batches.

Standard output carries the answer and nothing else. An error is one line on standard error; set
``SIMONIDES_TRACEBACK=1`` to see where it arose. Nothing heavy is imported before a command needs it.
"""

import os
import re
import sys
from contextlib import suppress
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from simonides.surfaces.cli.commands import LazyCommands, summaries
from simonides.surfaces.cli.options import option
from simonides.surfaces.cli.output import (
    INTERRUPTED,
    explained,
    fail,
    print_text,
    printable,
    redacted,
    remember,
    say,
)
from simonides.surfaces.cli.plain_values import spare_own_conversions


def _print_version(asked: bool) -> None:  # noqa: FBT001 -- the shape of a Typer callback
    if asked:
        from importlib.metadata import version

        print_text(f"simonides {version('simonides')}")
        raise typer.Exit


class _Commands(TyperGroup):
    """Builds each command at its first use; turns every failure into one line and an exit code."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**{**attributes, "commands": None})
        spare_own_conversions(self)
        self.commands = LazyCommands()

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        remember(args)
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            _reword(error)
            raise

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - Typer's shape
        return list(self.commands)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        summaries().format_commands(ctx, formatter)

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
                _reword(error)
                raise
            if os.environ.get("SIMONIDES_TRACEBACK"):
                raise
            fail(explained(error))


_PYDANTIC = (("Value error, ", ""), ("Input should be a valid integer", "expected a whole number"))
"""How the library that converts values begins a message → what we say; what follows a comma goes with it."""


_OTHER_WORDS = {
    "add": "retain", "remember": "retain", "save": "retain", "store": "retain",
    "ask": "recall", "find": "recall", "query": "recall", "search": "recall",
    "delete": "forget", "remove": "forget", "rm": "forget",
    "edit": "update-memory", "get": "get-memory", "list": "list-memories", "ls": "list-memories",
    "memories": "list-memories", "update": "update-memory", "doctor": "verify",
}  # fmt: skip
"""What other programs call a command → what it is called here."""


def _reword(error: Exception) -> None:
    """Make what Typer is going to print plain, and leave secrets out of it."""
    message = getattr(error, "message", None)
    if not isinstance(message, str):
        return
    found = re.match(r"No such command '([a-z-]+)'", message)
    if found and found[1] in _OTHER_WORDS:
        message = f"No such command {found[1]!r}. Use {_OTHER_WORDS[found[1]]!r}."
    if message.startswith("Got unexpected extra argument"):
        message += "; a text of several words stands in quotes"
    for theirs, ours in _PYDANTIC:
        if message.startswith(theirs):
            message = ours or message.removeprefix(theirs)
    error.message = printable(redacted(message))  # type: ignore[attr-defined]  # looked at above


def _close_quietly() -> None:
    """The reader of the pipe has gone (`... | head`); leave nothing for the interpreter to flush."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


app = typer.Typer(
    cls=_Commands,
    name="simonides",
    add_completion=True,
    no_args_is_help=True,
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
        bool, option("--version", "Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """A memory for AI agents: store what they learn, recall the few facts that answer."""
    from simonides.surfaces.cli.configuration import option_defaults

    name = ctx.invoked_subcommand
    if name and name != "config":
        ctx.default_map = option_defaults({name: ctx.command.commands[name]})  # type: ignore[attr-defined]


def main() -> None:
    """Run the command line; the process ends with its exit code.

    A hook ends with 0, whatever happens: agents take other codes for an order to drop the user's prompt.
    """
    _settle_streams()
    try:
        app(prog_name="simonides")
    except SystemExit:
        if sys.argv[1:2] == ["hook"]:
            sys.exit(0)
        raise


def _settle_streams() -> None:
    """A stream that the caller closed is empty or swallows; a narrow character set gets escapes."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            # Stays open as long as the process, like the stream that it stands for.
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115
        elif mode == "w" and isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
