"""`simonides when`: the time expressions of a text, and what they mean at a given moment."""

import os
from datetime import datetime, tzinfo
from typing import Annotated, Any

import typer

from simonides.records.extraction import TimeMention
from simonides.records.interval import default_zone, from_micros, local_time, parse_time
from simonides.surfaces.cli.opening import zone_choice
from simonides.surfaces.cli.options import JsonOption, option
from simonides.surfaces.cli.output import NEGATIVE, print_json, print_table, print_text, printable, table


def when(
    text: Annotated[str, typer.Argument(metavar="TEXT", help='An expression ("last Friday") or any text.')],
    *,
    at: Annotated[str | None, option("--at TIME", "When it was said.", "now")] = None,
    tz: Annotated[
        str | None,
        typer.Option(
            "--zone",
            "--tz",
            metavar="ZONE",
            help="Time zone, such as Europe/Berlin; reckons the days.  "
            "[default: SIMONIDES_ZONE, the system's]",
            show_default=False,
        ),
    ] = None,
    southern: Annotated[bool, option("--southern", "Seasons of the southern hemisphere.")] = False,
    language: Annotated[
        list[str] | None,
        option(
            "--language CODE",
            "Also whole dates in this language, such as de (repeatable; needs the extra dates).",
            False,
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Print the times that a text names; exit code 1 when it names none."""
    # The rules of the grammar are built when it is imported.
    from simonides.text.times.expressions import find_times, parse_time_expression

    chosen = zone_choice(tz)
    zone = chosen["zone"] if "zone" in chosen else default_zone(chosen.get("environ", os.environ))
    options: dict[str, Any] = {
        "anchor": _moment(at, zone), "zone": zone, "southern": southern, "languages": language or ()
    }  # fmt: skip
    whole = parse_time_expression(text, **options)
    found = [_row(mention, zone) for mention in ([whole] if whole else find_times(text, **options))]
    if as_json:
        _print_json(found)
    elif found:
        _print_table(found)
    else:
        print_text("no time")
    if not found:
        raise typer.Exit(NEGATIVE)


def _moment(at: str | None, zone: tzinfo) -> datetime:
    if at is None:
        return datetime.now(zone)
    moment = from_micros(parse_time(at, "--at", zone=zone).start)
    assert moment is not None
    return moment


def _row(mention: TimeMention, zone: tzinfo) -> dict[str, Any]:
    start, end = (_in_zone(moment, zone) for moment in (mention.interval.start, mention.interval.end))
    return {"start": start, "end": end, "precision": mention.interval.precision, "text": mention.text}


def _in_zone(micros: int, zone: tzinfo) -> str | None:
    """The time on the clock of *zone*; in UTC where the year there is not from 1 to 9999."""
    moment = local_time(micros, zone) or from_micros(micros)
    return None if moment is None else moment.isoformat()


def _for_people(time: str | None) -> str:
    """As short as it is exact."""
    if time is None:
        return "-"
    moment = datetime.fromisoformat(time)
    return moment.isoformat(" ", "auto" if moment.second or moment.microsecond else "minutes")


def _print_json(found: list[dict[str, Any]]) -> None:
    """The first time, with all of them when there are more; ``null`` for none."""
    if not found:
        print_text("null")
    elif len(found) == 1:
        print_json(found[0])
    else:
        print_json({**found[0], "all": found})


def _print_table(found: list[dict[str, Any]]) -> None:
    lines = table("text", "start", "end", "precision", whole=("start", "end"))
    for row in found:
        start, end = _for_people(row["start"]), _for_people(row["end"])
        lines.add_row(printable(row["text"]), start, end, row["precision"])
    print_table(lines)
