"""Commands about single memories: show, list, compare, change, end, quarantine and forget them."""

import json
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simonides.errors import InputError
from simonides.records.receipt import PENDING
from simonides.surfaces.cli.opening import open_for_reading
from simonides.surfaces.cli.operating import Command
from simonides.surfaces.cli.options import BankOption, JsonOption, StoreOption, ZoneOption, option
from simonides.surfaces.cli.output import (
    NEGATIVE,
    ask_or_end,
    fail,
    print_json,
    print_table,
    print_text,
    printable,
    say,
    table,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simonides.records.receipt import Receipt

_WIDTH = 17
"""Of the column of names."""
_UNSET: tuple[object, ...] = (None, "", [], {})


def _show_memory(answer: "Mapping[str, Any]") -> None:
    record = dict(answer["memory"])
    text = record.pop("text")
    # What is not set tells a reader nothing.
    lines = [
        f"{name + ':':<{_WIDTH}}{_plain(value)}" for name, value in record.items() if value not in _UNSET
    ]
    print_text("\n".join([*lines, "", text]))


def _plain(value: object) -> str:
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return ", ".join(value)
    if not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return value.replace("\n", "\n" + " " * _WIDTH)


def _show_page(answer: "Mapping[str, Any]") -> None:
    if not answer["memories"]:
        say("no memories")
        return
    rows = table("id", "kind", "text")
    for memory in answer["memories"]:
        rows.add_row(memory["id"], memory["kind"], printable(memory["text"]))
    print_table(rows)
    if answer["next"]:
        say(f"there are more: --cursor {answer['next']}")


def _show_facets(answer: "Mapping[str, Any]") -> None:
    rows = table("", "value", "memories", numbers=("memories",))
    for name, found in answer["facets"].items():
        for place, each in enumerate(found):
            rows.add_row("" if place else name, printable(each["value"]), f"{each['count']:,}")
    print_table(rows)
    say(f"{answer['total']:,} memories")


def _show_history(answer: "Mapping[str, Any]") -> None:
    versions = answer["versions"]
    rows = table("version", "true from", "until", "learned", "proofs", numbers=("version", "proofs"))
    for column in rows.columns[1:4]:
        column.no_wrap = True
    for memory in versions:
        times = (_moment(memory[name]) for name in ("valid_from", "valid_to", "ingested_at"))
        rows.add_row(str(memory["version"]), *times, str(memory["proof_count"]))
    print_text(versions[-1]["text"])
    print_table(rows)
    # No columns: in a terminal of 80 columns they would be broken.
    for memory in versions:
        if memory["text"] != versions[-1]["text"]:
            print_text(f"version {memory['version']} said: {memory['text']}")
        if memory["superseded_by"]:
            print_text(f"version {memory['version']} was superseded by {memory['superseded_by']}")


def _moment(written: str | None) -> str:
    """To the minute, or to the day at midnight."""
    return written.replace("T", " ")[:16].removesuffix(" 00:00") if written else "-"


def _show_diff(answer: "Mapping[str, Any]") -> None:
    changes = [
        *(("-", memory) for memory in answer["ended"]),
        *(("+", memory) for memory in answer["begun"]),
        *(("~", change["after"]) for change in answer["changed"]),
    ]
    if not changes:
        say("nothing changed between them")
        return
    rows = table("", "id", "true from", "until", "text")
    for column in rows.columns[1:4]:
        column.no_wrap = True
    for sign, memory in changes:
        days = ((memory[name] or "-")[:10] for name in ("valid_from", "valid_to"))
        rows.add_row(sign, memory["id"], *days, printable(memory["text"]))
    print_table(rows)


def _ended(answer: "Mapping[str, Any]") -> dict[str, Any]:
    memory = answer["memory"]
    return {"id": memory["id"], "valid_to": memory["valid_to"] or memory["expired_at"]}


def _show_ended(answer: "Mapping[str, Any]") -> None:
    memory, until = _ended(answer).values()
    print_text(f"{memory} ended at {until}; `simonides history {memory}` shows its versions")


def _show_version(answer: "Mapping[str, Any]") -> None:
    print_text(f"{answer['memory']['id']} is at version {answer['memory']['version']}")


def _show_pin(answer: "Mapping[str, Any]") -> None:
    pinned = "is a standing memory" if answer["standing"] else "pinned"
    print_text(f"{answer['memory']} {pinned if answer['pinned'] else 'no longer pinned'}")


def _record(answer: "Mapping[str, Any]") -> "Mapping[str, Any]":
    record: Mapping[str, Any] = answer["memory"]
    return record


GET_MEMORY = Command("get_memory", _show_memory, as_json=_record)
LIST_MEMORIES = Command("list_memories", _show_page, no=lambda answer: not answer["memories"])
FACETS = Command("facets", _show_facets, no=lambda answer: not answer["total"])
HISTORY = Command("history", _show_history)
SOURCE = Command(
    "source", lambda answer: print_text(answer["source"]["text"]), as_json=lambda answer: answer["source"]
)
DIFF = Command("diff", _show_diff, by_place=("later",))
# Only other words are encoded.
UPDATE_MEMORY = Command("update_memory", _show_version, as_json=_record, encodes="text", redact=True)
INVALIDATE = Command("invalidate", _show_ended, as_json=_ended)
USED = Command(
    "used",
    lambda answer: print_text(f"{answer['recorded']} recorded"),
    no=lambda answer: not answer["recorded"],
)
PIN = Command("pin", _show_pin)
UNPIN = Command("unpin", _show_pin)
ARCHIVE = Command("archive", lambda answer: print_text(f"{answer['archived']} archived"))
QUARANTINE = Command("quarantine", lambda answer: print_text(f"{answer['quarantined']} quarantined"))
RELEASE = Command("release", lambda answer: print_text(f"{answer['released']} released"))


def forget(
    memory_ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ID]…", help="Ids of the memories to forget.", show_default=False),
    ] = None,
    *,
    source: Annotated[str | None, option("--source TEXT", "Only of this source.")] = None,
    writer: Annotated[str | None, option("--writer NAME", "Only what this principal retained.")] = None,
    before: Annotated[str | None, option("--before TIME", "Only what was recorded before.")] = None,
    after: Annotated[str | None, option("--after TIME", "Only what was recorded then or later.")] = None,
    without_source: Annotated[bool, option("--without-source", "Only what has no source.")] = False,
    by_owner: Annotated[bool, option("--by-owner", "Only what the owner retained, who has no name.")] = False,
    everything: Annotated[bool, option("--all", "All memories of the bank.")] = False,
    purge: Annotated[
        bool, option("--purge", "Also rewrite the bank's files, so that no byte of it is left.")
    ] = False,
    dry_run: Annotated[bool, option("--dry-run", "Change nothing; show what would be deleted.")] = False,
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
            count = len(ids) if ids else ask(dry_run=True).memories
            named = f"{count} {'memory' if count == 1 else 'memories'}"
            ask_or_end(f"Forget {named} of bank {bank!r}?", "nothing was forgotten")
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
    for name, count in receipt.rows.items():
        # A memory has a row for each of its versions.
        print_text(f"  {'versions' if name == 'memories' else name}: {count}")
    for path in receipt.left:
        print_text(f"  still there: {path}")
