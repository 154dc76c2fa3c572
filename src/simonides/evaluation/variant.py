"""A profile with stages left out or options changed, as a file of its own that stands alone."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from simonides.errors import InputError, UnknownNameError
from simonides.files import SHARED, disk_errors, write_file
from simonides.profiles.describing import as_toml
from simonides.profiles.loader import describe_profile, load_profile

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from simonides.profiles.loader import Described
    from simonides.recall.plan import Plan


def removable(plan: Plan) -> tuple[str, ...]:
    """Stages that can be left out, as they run: all but the fuser, the packer and an only channel."""
    channels = [step.name for step in plan.channels] if len(plan.channels) > 1 else []
    return (
        *(step.name for step in plan.understanders),
        *channels,
        *(step.name for step in plan.refiners),
    )


def variant_toml(profile: str, *, without: Iterable[str] = (), settings: Iterable[str] = ()) -> str:
    """The text of a profile that is *profile* but for what is said.

    What the profile requires of its children does not bind a variant: it is for measuring.

    Args:
        profile: name or path.
        settings: ``STAGE.OPTION=VALUE``, the value as TOML; ``STAGE.TABLE.KEY=VALUE`` inside a table.

    Raises:
        UnknownNameError: no such stage, or it cannot be left out.
        InputError: a setting is not of that form.
    """
    described = describe_profile(profile)
    plan, gone = described.plan, set(without)
    for name in sorted(gone):
        if name not in removable(plan):
            raise UnknownNameError("without", name, removable(plan), place=profile)
    changed = replace(
        plan,
        understanders=tuple(step for step in plan.understanders if step.name not in gone),
        channels=tuple(step for step in plan.channels if step.name not in gone),
        refiners=tuple(step for step in plan.refiners if step.name not in gone),
        optional=tuple(name for name in plan.optional if name not in gone),
        expected_ms={name: ms for name, ms in plan.expected_ms.items() if name not in gone},
    )
    if not changed.channels:
        raise InputError("without", f"leaves {profile!r} no channel; keep at least one")
    tables = _with_settings(described, settings)
    return as_toml(replace(described, plan=changed, required=(), tables=tables))


def write_variant(
    folder: Path, profile: str, *, without: Iterable[str] = (), settings: Iterable[str] = ()
) -> str:
    """The path of a file in *folder* with that variant, checked; *profile* itself when nothing changes.

    Raises:
        ProfileError: what is left cannot run. Others as for ``variant_toml``.
    """
    without, settings = tuple(without), tuple(settings)
    if not without and not settings:
        return profile
    with disk_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"variant-{len(list(folder.iterdir()))}.toml"
    write_file(path, variant_toml(profile, without=without, settings=settings), mode=SHARED)
    load_profile(path)
    return str(path)


def _with_settings(described: Described, settings: Iterable[str]) -> dict[str, Mapping[str, object]]:
    tables: dict[str, Any] = {name: dict(table) for name, table in described.tables.items()}
    for setting in settings:
        place, equals, value = setting.partition("=")
        stage, _, option = place.strip().partition(".")
        if not (equals and option):
            raise InputError("set", f"{setting!r} is not of the form STAGE.OPTION=VALUE")
        if stage not in tables:
            raise UnknownNameError("set", stage, tables, place=described.plan.name)
        try:
            parsed = tomllib.loads(f"value = {value.strip()}")["value"]
        except tomllib.TOMLDecodeError as error:
            raise InputError("set", f"{value!r} in {setting!r} is not a TOML value: {error}") from error
        *above, last = option.split(".")
        table = tables[stage]
        for key in above:
            table[key] = dict(table.get(key, {}))
            table = table[key]
        table[last] = parsed
    return tables
