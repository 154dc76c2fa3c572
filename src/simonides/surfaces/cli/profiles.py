"""`simonides profiles`: the built-in profiles, or what one of them runs."""

import json
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simonides.surfaces.cli.options import JsonOption
from simonides.surfaces.cli.output import print_json, print_table, print_text, table

if TYPE_CHECKING:
    from simonides.recall.pipeline import Plan


def profiles(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME|FILE", help="Show this one; without it, list them.", show_default=False),
    ] = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """List the profiles, or show what one runs."""
    if name is None:
        _list(as_json=as_json)
    else:
        _show(name, as_json=as_json)


def _list(*, as_json: bool) -> None:
    from simonides.profiles.loader import list_profiles, load_profile

    plans = [load_profile(name) for name in list_profiles()]
    if as_json:
        print_json({"profiles": [{"name": plan.name, "description": plan.description} for plan in plans]})
        return
    rows = table("name", "description")
    for plan in plans:
        rows.add_row(plan.name, plan.description)
    print_table(rows)


def _show(name: str, *, as_json: bool) -> None:
    from simonides.profiles.loader import list_profiles, load_profile

    plan = load_profile(name)
    built_in = files("simonides.profiles") / f"{name}.toml"
    toml = (built_in if name in list_profiles() else Path(name).expanduser()).read_text(encoding="utf-8")
    stages = _stages(plan)
    if as_json:
        print_json(
            {
                "name": plan.name,
                "description": plan.description,
                "limit": plan.limit,
                "stages": stages,
                "toml": toml,
            }
        )
        return
    print_text(toml)
    rows = table("stage", "shape", "technique", "options")
    for stage in stages:
        options = ", ".join(f"{key} = {json.dumps(value)}" for key, value in stage["options"].items())
        rows.add_row(stage["name"], stage["shape"], stage["technique"], options)
    print_table(rows)


def _stages(plan: "Plan") -> list[dict[str, Any]]:
    """The stages in the order in which they run, options inherited and defaulted included."""
    by_shape: tuple[tuple[str, tuple[Any, ...]], ...] = (
        ("understander", plan.understanders),
        ("channel", plan.channels),
        ("fuser", (plan.fuser,)),
        ("refiner", plan.refiners),
        ("packer", (plan.packer,)),
    )
    return [
        {"name": step.name, "shape": shape, "technique": step.technique, "options": asdict(step.stage)}
        for shape, steps in by_shape
        for step in steps
    ]
