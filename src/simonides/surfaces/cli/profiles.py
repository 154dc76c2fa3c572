"""`simonides profiles`: list profiles, show one in full, compare two, check a file."""

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simonides.errors import SimonidesError
from simonides.surfaces.cli.opening import environment_embedder
from simonides.surfaces.cli.options import JsonOption, option
from simonides.surfaces.cli.output import (
    NEGATIVE,
    print_json,
    print_table,
    print_text,
    printable,
    say,
    table,
)

if TYPE_CHECKING:
    from simonides.profiles.describing import Stage
    from simonides.profiles.loader import Described

ProfileArgument = Annotated[
    str, typer.Argument(metavar="NAME|FILE", help="A built-in profile's name, or a file's path.")
]

_VALUES = 46  # columns of an option and its value; a narrow terminal still shows every value
profiles = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@profiles.callback()
def _profiles() -> None:
    """List, show, compare and check profiles: which stages rank, in which order, with which options."""


@profiles.command("list")
def list_all(*, as_json: JsonOption = False) -> None:
    """List the built-in profiles."""
    from simonides.profiles import list_profiles
    from simonides.profiles.loader import load_profile

    plans = [load_profile(name) for name in list_profiles()]
    if as_json:
        print_json({"profiles": [{"name": plan.name, "description": plan.description} for plan in plans]})
        return
    rows = table("name", "description")
    for plan in plans:
        rows.add_row(plan.name, plan.description)
    print_table(rows)


@profiles.command()
def show(
    profile: ProfileArgument,
    *,
    toml: Annotated[
        bool, option("--toml", "Print one TOML file that stands alone, parents merged in.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Show every stage in the order in which it runs, with each option and the file that says it."""
    from simonides.profiles.describing import as_toml, stages
    from simonides.profiles.loader import describe_profile

    described = describe_profile(profile)
    if as_json:
        print_json({**_facts(described), "stages": [_stage(each) for each in stages(described)]})
    elif toml:
        print_text(as_toml(described).rstrip("\n"))
    else:
        _print(described, stages(described))


@profiles.command()
def diff(
    before: Annotated[str, typer.Argument(metavar="A", help="A profile's name, or a file's path.")],
    after: Annotated[str, typer.Argument(metavar="B", help="The other one.")],
    *,
    as_json: JsonOption = False,
) -> None:
    """Say what B runs otherwise than A, one line each; exit code 1 when they differ.

    Signs: - a stage only in A, + only in B, > at another place in the order, ~ another technique or value.
    """
    from simonides.profiles.describing import differences
    from simonides.profiles.loader import describe_profile

    changes = differences(describe_profile(before), describe_profile(after))
    if as_json:
        fields = ("change", "stage", "option", "before", "after")
        listed = [{name: getattr(each, name) for name in fields} for each in changes]
        print_json({"a": before, "b": after, "same": not changes, "changes": listed})
    elif changes:
        print_text("\n".join(map(str, changes)))
    else:
        say("no difference")
    if changes:
        raise typer.Exit(NEGATIVE)


@profiles.command()
def check(profile: ProfileArgument, *, as_json: JsonOption = False) -> None:
    """Load a profile and its parents and build every stage; exit code 1 when something is wrong.

    Models that are missing here are named, and count as no fault: a profile runs without them and does less.
    """
    from simonides.profiles.describing import missing_models
    from simonides.profiles.loader import describe_profile

    problem, warnings = "", list[str]()
    places: tuple[str, ...] = ()
    try:
        described = describe_profile(profile)
        places = described.places
        warnings = list(missing_models(described.plan, environment_embedder()))
    except SimonidesError as error:
        problem = " ".join(str(error).split())
    if as_json:
        print_json({"ok": not problem, "problem": problem, "files": list(places), "warnings": warnings})
    else:
        print_text(f"not ok: {problem}" if problem else "ok")
        for warning in warnings:
            say(f"note: {warning}")
    if problem:
        raise typer.Exit(NEGATIVE)


def _facts(described: "Described") -> dict[str, Any]:
    plan = described.plan
    return {
        "name": plan.name,
        "description": plan.description,
        "files": list(described.places),
        "limit": plan.limit,
        "required": list(described.required),
        "optional": list(plan.optional),
        "expected_ms": dict(plan.expected_ms),
        "at_most": {technique: dict(options) for technique, options in plan.at_most.items()},
    }


def _stage(stage: "Stage") -> dict[str, Any]:
    options = [{"name": each.name, "value": each.value, "from": each.origin} for each in stage.options]
    return {"name": stage.name, "shape": stage.shape, "technique": stage.technique, "options": options}


def _print(described: "Described", stages: "tuple[Stage, ...]") -> None:
    facts = _facts(described)
    print_text(f"{facts['name']}: {facts['description']}" if facts["description"] else facts["name"])
    print_text(_files(facts["files"]))
    print_text(f"limit: {facts['limit'] or 'as many as the token budget holds'}")
    for name in ("required", "optional"):
        if facts[name]:
            print_text(f"{name}: {', '.join(facts[name])}")
    for name in ("expected_ms", "at_most"):
        if facts[name]:
            print_text(f"{name}: {json.dumps(facts[name])}")
    own = described.places[0]
    for stage in stages:
        # A technique that the stage is named after needs no second telling.
        technique = "" if stage.technique == stage.name else f", {stage.technique}"
        print_text(f"\n{stage.name}  {stage.shape}{technique}")
        for each in stage.options:
            said = f"{each.name} = {json.dumps(each.value, ensure_ascii=False)}"
            origin = "this file" if each.origin == own else _short(each.origin)
            print_text(f"  {said:<{_VALUES}}  {origin}")


def _files(places: list[str]) -> str:
    own, *parents = places
    return f"file: {own}" + "".join(f", which extends {place}" for place in parents)


def _short(place: str) -> str:
    return printable(place.replace("\\", "/").rpartition("/")[2])
