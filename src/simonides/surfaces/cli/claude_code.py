"""`simonides claude-code`: what the hooks of the Claude Code plugin call, with the event on standard input.

A hook never holds the user up: whatever goes wrong is said on standard error, and the exit code is 0.
"""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from simonides.errors import InputError, SimonidesError
from simonides.surfaces.cli.opening import environment_embedder, open_for_reading, open_for_writing
from simonides.surfaces.cli.options import StoreOption, ZoneOption
from simonides.surfaces.cli.output import explained, print_json, say

claude_code = typer.Typer(
    help="Hooks of the Claude Code plugin.", no_args_is_help=True, rich_markup_mode=None
)

_LARGEST_EVENT = 16 * 1024 * 1024
_BankOption = Annotated[str, typer.Option("--bank", metavar="NAME", help="Bank to use.")]


@claude_code.command()
def recall(
    *,
    max_tokens: Annotated[
        int, typer.Option("--max-tokens", metavar="N", min=1, help="Budget of what is recalled.")
    ] = 1_500,
    store: StoreOption = None,
    zone: ZoneOption = None,
    bank: _BankOption = "claude-code",
) -> None:
    """Recall what fits a prompt (UserPromptSubmit), as context for it; prints nothing where nothing does."""
    with _lenient():
        prompt = _event().get("prompt")
        if not isinstance(prompt, str) or not prompt.strip():
            return
        from simonides.recall.packing.as_data import pack_as_data

        with open_for_reading(store, bank, embedder=environment_embedder(), zone=zone) as opened:
            found = opened.recall(prompt, max_tokens=max_tokens)
            text = pack_as_data(found, opened.count_tokens, max_tokens=max_tokens).text
        if text:
            print_json(
                {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": text}}
            )


@claude_code.command()
def retain(*, store: StoreOption = None, zone: ZoneOption = None, bank: _BankOption = "claude-code") -> None:
    """Retain what a session has said so far (Stop); what was retained before is passed over."""
    with _lenient():
        transcript = _event().get("transcript_path")
        if not isinstance(transcript, str) or not transcript:
            raise InputError("transcript_path", "is missing in the event")
        from simonides.retain.importing.batches import batches
        from simonides.retain.importing.files import named_file, read_file

        path = Path(transcript).expanduser()
        named = named_file(path, path.name)
        with open_for_writing(store, bank, zone=zone) as opened:
            for batch in batches(read_file(path, "claude-code", named, lambda _: None), named):
                opened.import_items([item.item for item in batch])


@contextmanager
def _lenient() -> Iterator[None]:
    try:
        yield
    except (SimonidesError, OSError, ValueError) as error:
        say(f"simonides: {explained(error)}")


def _event() -> dict[str, Any]:
    event = json.loads(sys.stdin.read(_LARGEST_EVENT))
    if not isinstance(event, dict):
        raise InputError("event", "standard input holds no JSON object")
    return event
