"""`simonides retain-conversation`: store a conversation by turns."""

import contextlib
import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from simonides.errors import InputError
from simonides.records.hygiene import read_at_most
from simonides.surfaces.cli.opening import open_for_writing
from simonides.surfaces.cli.operating import perform
from simonides.surfaces.cli.options import (
    AclOption,
    BankOption,
    JsonOption,
    OnExpiryOption,
    ProjectOption,
    RedactOption,
    SourceOption,
    StoreOption,
    TagsOption,
    TtlOption,
    ValidFromOption,
    ValidToOption,
    ZoneOption,
)
from simonides.surfaces.cli.output import print_json, print_text, say
from simonides.surfaces.cli.progress import bars


def retain_conversation(
    turns: Annotated[
        str,
        typer.Argument(
            metavar="FILE|-",
            help='Lines of JSON such as {"speaker": "Ivo", "text": "…"}, each with keys of an item; or a '
            "JSON list of these or of chat messages; or -.",
        ),
    ],
    *,
    session: Annotated[
        str | None,
        typer.Option(
            "--session",
            metavar="NAME",
            help="Your name for the conversation.",
            show_default="the file's name",
        ),
    ] = None,
    window: Annotated[
        int | None,
        typer.Option(
            "--window",
            metavar="N",
            min=0,
            max=20,
            help="Turns on either side that become context.",
            show_default="the engine's",
        ),
    ] = None,
    tag: TagsOption = None,
    project: ProjectOption = None,
    event_time: Annotated[
        str | None, typer.Option("--event-time", metavar="TIME", help="When it happened.")
    ] = None,
    valid_from: ValidFromOption = None,
    valid_to: ValidToOption = None,
    acl: AclOption = None,
    source: SourceOption = None,
    ttl: TtlOption = None,
    on_expiry: OnExpiryOption = None,
    idempotency_key: Annotated[
        str | None,
        typer.Option(
            "--idempotency-key", metavar="KEY", help="The same key with the same turns stores nothing again."
        ),
    ] = None,
    redact: RedactOption = None,
    store: StoreOption = None,
    zone: ZoneOption = None,
    bank: BankOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Store a conversation by turns; print one id a turn. Turns that are there already stay as they are."""
    if session is None and turns == "-":
        raise InputError("--session", "is needed with standard input; give a name for the conversation")
    read = _turns(turns)
    with (
        bars() as progress,
        open_for_writing(store, bank, progress=progress, redact=redact, zone=zone) as opened,
    ):
        answer = perform(
            "retain_conversation",
            opened,
            turns=read,
            session=Path(turns).name if session is None else session,
            window=window,
            tags=tag,
            project=project,
            event_time=event_time,
            valid_from=valid_from,
            valid_to=valid_to,
            acl=acl,
            source=source,
            ttl=ttl,
            on_expiry=on_expiry,
            idempotency_key=idempotency_key,
        )
    if as_json:
        print_json(answer)
    else:
        print_text("\n".join(answer["ids"]))
        say(f"{len(answer['ids'])} turns")


_LARGEST_FILE = 1 << 28


def _turns(place: str) -> list[Any]:
    """The turns of a JSON list, or of an object with ``messages``; else every line that is not blank.

    Raises:
        InputError: a line is no JSON, or there is none.
    """
    if place == "-":
        raw = read_at_most(sys.stdin.buffer, _LARGEST_FILE, "standard input")
    else:
        with Path(place).open("rb") as stream:
            raw = read_at_most(stream, _LARGEST_FILE, place)
    with contextlib.suppress(ValueError, RecursionError):
        whole = json.loads(raw)
        listed = whole.get("messages", [whole]) if isinstance(whole, dict) else whole
        if isinstance(listed, list) and listed:
            return listed
    found = []
    for number, line in enumerate(raw.splitlines(), start=1):
        if line.strip():
            try:
                found.append(json.loads(line))
            except ValueError as error:
                raise InputError(f"{place}:{number}", f"is not JSON ({error})") from None
    if not found:
        raise InputError("FILE", "there is no turn in what was given; nothing was stored")
    return found
