"""`simonides hook`: what the hooks of coding agents call, with the event on standard input.

A hook never holds the user up: whatever goes wrong is said on standard error, and the exit code is 0.
"""

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from simonides.errors import InputError, NotFoundError, SimonidesError, UnknownNameError
from simonides.records.hygiene import read_at_most
from simonides.surfaces.cli.opening import environment_embedder, open_for_reading, open_for_writing
from simonides.surfaces.cli.options import RedactOption, StoreOption, ZoneOption, option
from simonides.surfaces.cli.output import explained, print_json, say

_LARGEST_EVENT = 16 * 1024 * 1024


def hook(
    client: Annotated[
        str,
        typer.Argument(metavar="CLIENT", help="claude-code, codex, gemini or cursor.", show_default=False),
    ],
    *,
    max_tokens: Annotated[int, option("--max-tokens N", "Budget of what is recalled.", min=1)] = 1_500,
    store: StoreOption = None,
    bank: Annotated[
        str | None,
        option("--bank NAME", "One bank for everything.", "that of the repository that the session works in"),
    ] = None,
    redact: RedactOption = None,
    zone: ZoneOption = None,
) -> None:
    """Handle an event of a coding agent: brief, recall or retain. Its hooks call this.

    The event is read from standard input; what is to stand in the model's context is printed. `simonides
    install` writes the hooks.
    """
    with _lenient():
        from simonides.surfaces.agents.hooks import HOOKS, answer_of, hook_of, session_folder
        from simonides.surfaces.agents.projects import bank_of, project_root

        if client not in HOOKS:
            from simonides.surfaces.agents.clients import CLIENTS

            if client in CLIENTS:
                raise InputError(
                    "CLIENT", f"{client} has no hooks; `simonides install {client}` gives it MCP alone"
                )
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
    from simonides.recall.packing.as_data import fenced, harmless

    room = max(0, max_tokens - bank.count_tokens(fenced("\n")))
    text = bank.brief(f"Go on with the work on {root.name or 'this project'}.", max_tokens=room).text
    return fenced(harmless(text))


def _recall(bank: Any, event: Mapping[str, Any], _: Path, max_tokens: int) -> str:
    from simonides.recall.packing.as_data import pack_as_data

    prompt = event.get("prompt")
    query = _query(prompt) if isinstance(prompt, str) else ""
    if not query:
        return ""
    found = bank.recall(query, max_tokens=max_tokens, standing=True)
    return pack_as_data(found, bank.count_tokens, max_tokens=max_tokens).text


def _query(prompt: str) -> str:
    """What is asked with a prompt; of one that is too long, such as with a log pasted in, its two ends."""
    from simonides.options import MAX_QUERY_BYTES
    from simonides.retain.importing.sources import clean_characters

    text = clean_characters(prompt).strip()
    raw = text.encode()
    if len(raw) <= MAX_QUERY_BYTES:
        return text
    half = MAX_QUERY_BYTES // 2 - 1
    return f"{raw[:half].decode(errors='ignore')}\n{raw[-half:].decode(errors='ignore')}"


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
    from simonides.retain.importing.formats import batches, named_file, read_file, store_batch
    from simonides.retain.importing.sources import ImportReport, NamedFile
    from simonides.surfaces.agents.hooks import HOOKS, turns_of

    problems: list[InputError] = []
    report = ImportReport(problems.append, problems.append)
    if action == "turns":
        named = NamedFile(f"{client} event")
        items = turns_of(client, HOOKS[client][event["hook_event_name"]], event, named, report)
        found = [items] if items else []
    else:
        transcript = event.get("transcript_path")
        if not isinstance(transcript, str) or not transcript:
            raise InputError("transcript_path", "is missing in the event")
        path = Path(transcript).expanduser()
        named = named_file(path, path.name)
        found = [*batches(read_file(path, client, named, report), named)]
    if found:
        with open_for_writing(store, bank, redact=redact, zone=zone) as opened:
            for batch in found:
                store_batch(opened.import_items, batch, lambda _: (named, report))
    if problems:
        more = f" and {len(problems) - 1} more" if len(problems) > 1 else ""
        say(f"simonides: stored without what is wrong: {problems[0]}{more}")


@contextmanager
def _lenient() -> Iterator[None]:
    try:
        yield
    except (SimonidesError, OSError, ValueError) as error:
        say(f"simonides: {explained(error)}")


def _event() -> dict[str, Any]:
    raw = read_at_most(sys.stdin.buffer, _LARGEST_EVENT, "standard input")
    try:
        event = json.loads(raw.decode(errors="replace"), strict=False)
    except (ValueError, RecursionError) as error:
        raise InputError("event", f"standard input is not JSON ({error})") from None
    if not isinstance(event, dict):
        raise InputError("event", "standard input holds no JSON object")
    return event
