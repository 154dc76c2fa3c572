"""`simonides hook`: what the hooks of coding agents call, with the event on standard input.

A hook never holds the user up: whatever goes wrong is said on standard error, and the exit code is 0.
"""

import json
import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from simonides.errors import InputError, NotFoundError, SimonidesError, UnknownNameError
from simonides.surfaces.cli.opening import environment_embedder, open_for_reading, open_for_writing
from simonides.surfaces.cli.options import RedactOption, StoreOption, ZoneOption
from simonides.surfaces.cli.output import explained, print_json, say

_LARGEST_EVENT = 16 * 1024 * 1024


def hook(
    client: Annotated[
        str,
        typer.Argument(metavar="CLIENT", help="claude-code, codex, gemini or cursor.", show_default=False),
    ],
    *,
    max_tokens: Annotated[
        int, typer.Option("--max-tokens", metavar="N", min=1, help="Budget of what is recalled.")
    ] = 1_500,
    store: StoreOption = None,
    bank: Annotated[
        str | None,
        typer.Option(
            "--bank",
            metavar="NAME",
            help="One bank for everything.",
            show_default="that of the repository that the session works in",
        ),
    ] = None,
    redact: RedactOption = None,
    zone: ZoneOption = None,
) -> None:
    """Brief, recall or retain, as an event of a coding agent asks for; its hooks call this.

    The event is read from standard input; what is to stand in the model's context is printed. `simonides
    install` writes the hooks.
    """
    with _lenient():
        from simonides.surfaces.agents.hooks import HOOKS, answer_of, hook_of, session_folder
        from simonides.surfaces.agents.projects import bank_of, project_root

        if client not in HOOKS:
            raise UnknownNameError("CLIENT", client, HOOKS)
        event = _event()
        name, wanted = hook_of(client, event)
        root = project_root(session_folder(client, event, os.environ, Path.cwd()))
        used = bank or bank_of(root)
        for action in wanted.does:
            if action in _CONTEXTS:
                context = _context(action, event, root, store, used, zone, max_tokens)
                if answer := answer_of(client, name, context):
                    print_json(answer)
            else:
                _retain(client, action, event, store, used, redact, zone)


def _context(
    action: str,
    event: Mapping[str, Any],
    root: Path,
    store: str | None,
    bank: str,
    zone: str | None,
    max_tokens: int,
) -> str:
    try:
        with open_for_reading(store, bank, embedder=environment_embedder(), zone=zone) as opened:
            return _CONTEXTS[action](opened, event, root, max_tokens)
    except NotFoundError:
        # Nothing was retained yet.
        return ""


def _brief(bank: Any, _: Mapping[str, Any], root: Path, max_tokens: int) -> str:
    from simonides.recall.packing.as_data import NOTICE, fence_of, harmless

    fence = fence_of(time.time_ns())
    above, below = f"<<memories {fence}>>\n{NOTICE}\n", f"\n<</memories {fence}>>"
    room = max(0, max_tokens - bank.count_tokens(above + below))
    text = bank.brief(f"Go on with the work on {root.name or 'this project'}.", max_tokens=room).text
    return f"{above}{harmless(text)}{below}" if text else ""


def _recall(bank: Any, event: Mapping[str, Any], _: Path, max_tokens: int) -> str:
    from simonides.recall.packing.as_data import pack_as_data

    prompt = event.get("prompt")
    if not isinstance(prompt, str) or not prompt.strip():
        return ""
    found = bank.recall(prompt, max_tokens=max_tokens, standing=True)
    return pack_as_data(found, bank.count_tokens, max_tokens=max_tokens).text


_CONTEXTS = {"brief": _brief, "recall": _recall}


def _retain(
    client: str,
    action: str,
    event: Mapping[str, Any],
    store: str | None,
    bank: str,
    redact: str | None,
    zone: str | None,
) -> None:
    from simonides.retain.importing.batches import batches
    from simonides.retain.importing.files import named_file, read_file
    from simonides.surfaces.agents.hooks import HOOKS, turns_of

    if action == "turns":
        items = turns_of(client, HOOKS[client][event["hook_event_name"]], event)
        if items:
            with open_for_writing(store, bank, redact=redact, zone=zone) as opened:
                opened.import_items(items)
        return
    transcript = event.get("transcript_path")
    if not isinstance(transcript, str) or not transcript:
        raise InputError("transcript_path", "is missing in the event")
    path = Path(transcript).expanduser()
    named = named_file(path, path.name)
    found = [*batches(read_file(path, client, named, lambda _: None), named)]
    if found:
        with open_for_writing(store, bank, redact=redact, zone=zone) as opened:
            for batch in found:
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
