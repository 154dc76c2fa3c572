"""Commands that store: texts, lines, notes and folders, batch by batch; and conversations by turns.

A batch is one transaction and one embedding pass: it is stored as a whole or not at all. An interruption
(Ctrl-C) waits for the batch at hand, so that the count it reports is exact; a second one does not wait.
"""

import contextlib
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simonides.errors import InputError, SimonidesError
from simonides.options import DESCRIPTION, IDEMPOTENCY_KEY, KIND, TURN_WINDOW
from simonides.records.hygiene import read_at_most
from simonides.records.interval import parse_time
from simonides.surfaces.cli.interruption import unbroken
from simonides.surfaces.cli.maintenance import settle_all
from simonides.surfaces.cli.opening import open_for_writing
from simonides.surfaces.cli.operating import perform, takes
from simonides.surfaces.cli.options import (
    BankOption,
    JsonOption,
    RedactOption,
    StoreOption,
    ZoneOption,
    option,
)
from simonides.surfaces.cli.output import INTERRUPTED, explained, fail, print_json, print_text, say
from simonides.surfaces.cli.progress import Report, bars
from simonides.surfaces.cli.sources import Piece, read_pieces

if TYPE_CHECKING:
    from simonides.bank import Bank

# How the bank names the item or message that it refused: "items[3].kind", "messages[3].content".
_ITEM = re.compile(r"(?:items|messages)\[(?P<position>\d+)\](?:\.(?P<key>.+))?")
_TIMES = frozenset({"event_time", "valid_from", "valid_to"})
_OF_ALL = {"tags", "project", *_TIMES, "acl", "source", "ttl", "on_expiry"}
_DESCRIPTION = tuple(each for each in DESCRIPTION if each.name in _OF_ALL)
"""What a command says of every item; the rest stands in the line of each item."""


@takes((KIND, *_DESCRIPTION), into="described")
def retain(
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TEXT|PATH|-",
            help="Texts, .json (chats), .jsonl, .md or .txt files, folders of notes, or - for standard input "
            "(the default).",
            show_default=False,
        ),
    ] = None,
    *,
    described: dict[str, Any],
    batch: Annotated[int, option("--batch N", "Items per transaction.", min=1, max=100_000)] = 256,
    no_deduplicate: Annotated[
        bool, option("--no-deduplicate", "Store texts again that are there already.")
    ] = False,
    lines: Annotated[bool, option("--lines", "Each line of standard input is one memory.")] = False,
    skip_malformed: Annotated[
        bool, option("--skip-malformed", "Report items that cannot be stored and go on.")
    ] = False,
    redact: RedactOption = None,
    store: StoreOption = None,
    zone: ZoneOption = None,
    bank: BankOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Store memories; print their ids, one a line.

    The options describe every item; what a .jsonl line says about its own item comes first.
    """
    for name in _TIMES & described.keys():
        parse_time(described[name], f"--{name.replace('_', '-')}")
    defaults = described | ({"deduplicate": False} if no_deduplicate else {})
    load = _Load(defaults, skips=skip_malformed)
    try:
        batches = _batches(read_pieces(sources or [], by_line=lines, skipped=load.skipper), batch)
        # The first batch is read before the store is opened: input that cannot be read makes no store.
        first = next(batches, None)
        if first is not None:
            with (
                bars() as progress,
                open_for_writing(store, bank, progress=progress, redact=redact, zone=zone) as opened,
            ):
                load.run(opened, chain([first], batches), progress)
        elif not load.skipped:
            raise InputError("SOURCES", "there is no text in what was given; nothing was stored")
    except KeyboardInterrupt:
        load.print_ids(as_json=as_json)
        say(f"interrupted; {load.count()} stored")
        raise typer.Exit(INTERRUPTED) from None
    except (SimonidesError, OSError) as error:
        if not load.ids:
            raise
        load.print_ids(as_json=as_json)
        fail(f"{explained(error)}; {load.count()} stored before it")
    load.print_ids(as_json=as_json)
    if len(load.ids) != 1 or load.skipped:
        say(f"{load.count()} stored" + (f", {load.skipped} skipped" if load.skipped else ""))
    if load.left_out:
        listed = ", ".join(f"{count} {name}" for name, count in sorted(load.left_out.items()))
        say(f"left out of messages: {listed}")


class _Load:
    """What has been stored so far, and how to go on."""

    def __init__(self, defaults: dict[str, Any], *, skips: bool) -> None:
        self.ids: list[str] = []
        self.skipped = 0
        self.left_out: Counter[str] = Counter()
        self._defaults = defaults
        self.skipper = self._skip if skips else None

    def run(self, bank: "Bank", batches: Iterable[list[Piece]], progress: Report | None) -> None:
        from simonides.retain.storing import LARGEST_COMPARED

        left = False
        for batch in batches:
            self._store(bank, batch)
            left = left or len(batch) > LARGEST_COMPARED
            if progress:
                progress("memories retained", len(self.ids), None)
        if left:
            settle_all(bank, progress)

    def count(self) -> str:
        return f"{len(self.ids)} {'memory' if len(self.ids) == 1 else 'memories'}"

    def print_ids(self, *, as_json: bool) -> None:
        if as_json:
            counts = {"stored": len(self.ids), "skipped": self.skipped}
            print_json({"ids": self.ids, **counts, **({"left_out": self.left_out} if self.left_out else {})})
        elif self.ids:
            print_text("\n".join(self.ids))

    def _store(self, bank: "Bank", batch: list[Piece]) -> None:
        """One transaction; with --skip-malformed, once more without the item that was refused."""
        from simonides.retain.conversations import left_out_of

        pieces = list(batch)
        while pieces:
            try:
                with unbroken():
                    items = [piece.item for piece in pieces]
                    self.ids += bank.retain(items, **self._defaults)
            except InputError as error:
                refused = _ITEM.match(error.field)
                if not refused:
                    raise
                piece = pieces.pop(int(refused["position"]))
                problem = str(error)[len(refused[0]) :].removeprefix(": ")
                placed = InputError(piece.origin, f"{refused['key'] or 'item'}: {problem}")
                if not self.skipper:
                    raise placed from None
                self.skipper(placed)
            else:
                self.left_out.update(left_out_of(items))
                return

    def _skip(self, error: InputError) -> None:
        self.skipped += 1
        say(f"skipped {error}")


def _batches(pieces: Iterator[Piece], size: int) -> Iterator[list[Piece]]:
    """Batches of *size* items; a document is not divided."""
    batch: list[Piece] = []
    for piece in pieces:
        if len(batch) >= size and piece.document != batch[-1].document:
            yield batch
            batch = []
        batch.append(piece)
        # At once, before a piece is read that may not be readable.
        if len(batch) >= size and not piece.document:
            yield batch
            batch = []
    if batch:
        yield batch


@takes((TURN_WINDOW, *_DESCRIPTION, IDEMPOTENCY_KEY), into="described")
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
    described: dict[str, Any],
    session: Annotated[
        str | None, option("--session NAME", "Your name for the conversation.", "the file's name")
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
        asked = {"turns": read, "session": Path(turns).name if session is None else session, **described}
        answer = perform("retain_conversation", opened, asked)
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
