"""Reads a profile: a TOML file with an order of stages and a table of options for each.

    name = "mine"                       # the file's name when left out
    description = "What it is for."
    extends = "default"                 # one parent: a built-in name, or a path beside this file
    limit = 10                          # hits when the caller asks for no number
    max_depth = 1000                    # channels look as deep as a call's limit, up to this
    order = ["terms", "lexical", "fusion", "token_budget"]
    required = ["lexical"]              # techniques that neither this profile nor a child may leave out
    optional = ["graph_expansion"]      # stages that a deadline may leave out, the first to go first

    [expected_ms]                       # what a deadline reckons with, by stage
    graph_expansion = 30.0

    [at_most.cross_encoder]             # options of a technique that no child may set higher
    depth = 30

    [lifecycle.archive]                 # when memories move up, fade and are summed up: lifecycle.thresholds
    floor = 0.05

    [stages.lexical]                    # options by key; those of the parent stay unless named here
    b = 0.4

    [stages.fusion]
    technique = "reciprocal_rank"       # the stage's own name when left out
    k = 60

A child that gives a stage another technique starts from an empty table. Anything unknown, missing or of the
wrong type is refused with the file, the key and the nearest valid name.
"""

from __future__ import annotations

import math
import os
import tomllib
from dataclasses import dataclass, field, fields
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simonides.errors import InputError, NotFoundError, ProfileError, UnknownNameError
from simonides.profiles import SUFFIX, list_profiles
from simonides.recall.options import nearest
from simonides.recall.plan import Plan, Step
from simonides.recall.registry import (
    Shape,
    build_stage,
    is_registered,
    load_technique,
    refuse_former,
    technique_names,
)
from simonides.records.hygiene import read_at_most, shown

if TYPE_CHECKING:
    from collections.abc import Mapping
    from importlib.resources.abc import Traversable

_LARGEST_FILE = 1 << 20
_KEYS = (
    "name", "description", "extends", "limit", "max_depth", "order", "required", "optional", "expected_ms",
    "at_most", "stages", "lifecycle",
)  # fmt: skip
_MOST_PARENTS = 16
_LONGEST_NAME = 256
_LONGEST_DESCRIPTION = 4096
_MOST_HITS = 10_000
_NAMED = {"order": "stages", "required": "techniques", "optional": "stages"}


@dataclass(frozen=True, slots=True)
class _Source:
    """Where a profile's text is: a file of the package, or one of the user's."""

    place: str
    file: Traversable
    built_in: bool


@dataclass(frozen=True, slots=True)
class _Profile:
    """A profile's content, its parent's merged in.

    Attributes:
        own: the stages that the file itself has tables for.
        places: of the file and its parents, nearest first.
        origins: by stage and option (``fields.text`` inside a table), the place that says its value.
    """

    place: str
    name: str
    description: str
    limit: int | None
    order: tuple[str, ...]
    stages: Mapping[str, Mapping[str, object]]
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    expected_ms: Mapping[str, float] = field(default_factory=dict)
    at_most: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    own: frozenset[str] = field(default_factory=frozenset)
    places: tuple[str, ...] = ()
    origins: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    lifecycle: Mapping[str, object] = field(default_factory=dict)
    max_depth: int | None = None


@dataclass(frozen=True, slots=True)
class Described:
    """A profile with its parents merged in, and where each part of it is said.

    Attributes:
        plan: what runs.
        places: of the file and its parents, nearest first.
        required: techniques that no child may leave out.
        tables: what the files say about each stage that runs, ``technique`` included.
        origins: by stage and option (``fields.text`` inside a table), the place that says its value; an
            option that no file names has the technique's own default.
    """

    plan: Plan
    places: tuple[str, ...]
    required: tuple[str, ...]
    tables: Mapping[str, Mapping[str, object]]
    origins: Mapping[str, Mapping[str, str]]


def load_profile(name_or_path: str | Path) -> Plan:
    """A profile as a plan that can run.

    Args:
        name_or_path: the name of a built-in profile, or the path of a file: a ``Path``, or a string that
            holds a slash or ends in ``.toml``.

    Raises:
        UnknownNameError: no such built-in profile, stage or technique.
        NotFoundError: no such file.
        ProfileError: the file cannot be read as a profile; names the file, the key and what would be right.
    """
    source = _find(name_or_path, Path())
    return _built_in(source) if source.built_in else _plan(_read(source, ()))


def describe_profile(name_or_path: str | Path) -> Described:
    """A profile with the origin of every option. Arguments and errors as for ``load_profile``."""
    profile = _read(_find(name_or_path, Path()), ())
    return Described(
        plan=_plan(profile),
        places=profile.places,
        required=profile.required,
        tables={name: profile.stages.get(name, {}) for name in profile.order},
        origins={name: profile.origins.get(name, {}) for name in profile.order},
    )


def load_lifecycle(name_or_path: str | Path) -> tuple[Mapping[str, object], str]:
    """The thresholds of maintenance that a profile states, its parents' merged in, and the profile's place.

    They are checked where they are used (``lifecycle.thresholds``). Errors as for ``load_profile``.
    """
    profile = _read(_find(name_or_path, Path()), ())
    return profile.lifecycle, profile.place


@cache
def _built_in(source: _Source) -> Plan:
    """Built-in files do not change while the program runs; a user's file may."""
    return _plan(_read(source, ()))


def _find(name_or_path: str | Path, beside: Path, child: str = "") -> _Source:
    """Where the profile is that a caller names, or that the file *child* extends."""
    name, key = str(name_or_path), "extends" if child else "profile"
    is_path = isinstance(name_or_path, Path) or name.endswith(SUFFIX) or "/" in name or os.sep in name
    if is_path:
        try:
            path = (beside / Path(name).expanduser()).resolve()
        except (OSError, RuntimeError, ValueError) as error:
            within = f" (in {child})" if child else ""
            raise ProfileError(key, f"{shown(name)} is not a path: {error}{within}") from error
        return _Source(str(path), path, built_in=False)
    if name not in list_profiles():
        raise UnknownNameError(key, name, list_profiles(), place=child)
    return _shipped(name)


@cache
def _shipped(name: str) -> _Source:
    return _Source(f"{name}{SUFFIX}", files("simonides.profiles") / f"{name}{SUFFIX}", built_in=True)


def _read(source: _Source, children: tuple[str, ...]) -> _Profile:
    """The profile at *source*; *children* are the places that extend it, outermost first."""
    place = source.place
    if place in children:
        raise ProfileError("extends", f"goes in a circle: {' → '.join((*children, place))}")
    if len(children) > _MOST_PARENTS:
        raise ProfileError(
            "extends", f"{children[0]} has more than {_MOST_PARENTS} parents above it; join some"
        )
    table = _Table(_parse(source, children[-1] if children else ""), place)
    for key in table.values:
        if key not in _KEYS:
            raise ProfileError(key, f"is no key of a profile, in {place}; {nearest(key, _KEYS)}")
    parent = _parent(table.text("extends", ""), source, children)
    own = table.stages()
    order = table.order(parent.order)
    return _Profile(
        place=place,
        name=table.text("name", source.file.name.removesuffix(SUFFIX), _LONGEST_NAME),
        description=table.text("description", "", _LONGEST_DESCRIPTION),
        limit=table.count("limit", parent.limit),
        max_depth=table.count("max_depth", parent.max_depth),
        order=order,
        stages=_merged_stages(parent.stages, own),
        places=(place, *parent.places),
        origins=_origins(parent, own, place),
        required=tuple(dict.fromkeys((*parent.required, *table.required()))),
        optional=table.names("optional", tuple(name for name in parent.optional if name in order)),
        expected_ms={
            **{name: number for name, number in parent.expected_ms.items() if name in order},
            **table.expected_ms(),
        },
        at_most=_lowest(parent.at_most, table.at_most()),
        own=frozenset(own),
        lifecycle=_merged(parent.lifecycle, table.lifecycle()),
    )


def _parent(extends: str, source: _Source, children: tuple[str, ...]) -> _Profile:
    if not extends:
        return _Profile(source.place, "", "", None, (), {})
    beside = Path() if source.built_in else Path(source.place).parent
    return _read(_find(extends, beside, source.place), (*children, source.place))


def _parse(source: _Source, child: str) -> dict[str, Any]:
    try:
        with source.file.open("rb") as stream:
            return tomllib.loads(read_at_most(stream, _LARGEST_FILE, source.place).decode())
    except FileNotFoundError:
        where = f"{source.place}, which {child} extends" if child else source.place
        key = "extends" if child else "profile"
        raise NotFoundError(f"{key}: there is no file {where}; check the path") from None
    except OSError as error:
        raise ProfileError("profile", f"{source.place} cannot be read: {error.strerror}") from error
    except InputError as error:
        raise ProfileError("profile", str(error)) from None
    except (ValueError, RecursionError) as error:
        raise ProfileError("profile", f"{source.place} is not valid TOML in UTF-8: {error}") from error


@dataclass(frozen=True, slots=True)
class _Table:
    """The top level of a file; each method reads one key and checks its type."""

    values: Mapping[str, Any]
    place: str

    def text(self, key: str, default: str, longest: int = 4096) -> str:
        value = self.values.get(key, default)
        if not isinstance(value, str):
            raise self._wrong(key, "a string", value)
        if len(value) > longest or (key in self.values and not value.isprintable()):
            raise self._wrong(key, f"one line of at most {longest:,} printable characters", value)
        return value

    def count(self, key: str, default: int | None) -> int | None:
        value = self.values.get(key, default)
        if value is None:
            return None
        if type(value) is not int or not 1 <= value <= _MOST_HITS:
            raise self._wrong(key, f"a whole number from 1 to {_MOST_HITS:,}", value)
        return value

    def order(self, default: tuple[str, ...]) -> tuple[str, ...]:
        value = self.names("order", default)
        if not value:
            raise ProfileError("order", f"is missing or empty in {self.place}; list the stages that run")
        for position, name in enumerate(value):
            if name in value[:position]:
                raise ProfileError(
                    "order",
                    f"lists {name!r} twice, in {self.place}; to run a technique twice give the second "
                    "another name and a table [stages.NAME] that names the technique",
                )
        return value

    def names(self, key: str, default: tuple[str, ...]) -> tuple[str, ...]:
        value = self.values.get(key, list(default))
        if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
            raise self._wrong(key, f"an array of names of {_NAMED[key]}", value)
        return tuple(value)

    def expected_ms(self) -> dict[str, float]:
        return self._numbers("expected_ms", self.values.get("expected_ms", {}))

    def at_most(self) -> dict[str, dict[str, float]]:
        value = self.values.get("at_most", {})
        if not isinstance(value, dict):
            raise self._wrong("at_most", "tables [at_most.TECHNIQUE] of numbers by option", value)
        for technique in value:
            self._check_technique(f"at_most.{technique}", technique)
        return {name: self._numbers(f"at_most.{name}", options) for name, options in value.items()}

    def required(self) -> tuple[str, ...]:
        names = self.names("required", ())
        for technique in names:
            self._check_technique("required", technique)
        return names

    def _check_technique(self, key: str, name: str) -> None:
        refuse_former(name, key, self.place)
        if not is_registered(name):
            raise UnknownNameError(key, name, technique_names(), place=self.place)

    def _numbers(self, key: str, value: object) -> dict[str, float]:
        if not isinstance(value, dict):
            raise self._wrong(key, f"a table [{key}] of numbers", value)
        for name, number in value.items():
            if type(number) not in {int, float} or not 0 <= number < math.inf:
                raise self._wrong(f"{key}.{name}", "a number from 0", number)
        return {name: float(number) for name, number in value.items()}

    def lifecycle(self) -> dict[str, object]:
        value = self.values.get("lifecycle", {})
        if not isinstance(value, dict):
            raise self._wrong("lifecycle", "tables [lifecycle.NAME]", value)
        return value

    def stages(self) -> dict[str, dict[str, object]]:
        value = self.values.get("stages", {})
        if not isinstance(value, dict):
            raise self._wrong("stages", "tables [stages.NAME]", value)
        for name, options in value.items():
            if not isinstance(options, dict):
                raise self._wrong(f"stages.{name}", f"a table [stages.{name}]", options)
            if not isinstance(options.get("technique", ""), str):
                raise self._wrong(f"stages.{name}.technique", "a string", options["technique"])
        return value

    def _wrong(self, key: str, wanted: str, value: object) -> ProfileError:
        return ProfileError(key, f"expected {wanted}, got {shown(value)}, in {self.place}")


def _merged_stages(
    parent: Mapping[str, Mapping[str, object]], child: Mapping[str, Mapping[str, object]]
) -> dict[str, Mapping[str, object]]:
    merged = dict(parent)
    for name, options in child.items():
        inherited = parent.get(name, {})
        same = options.get("technique", inherited.get("technique", name)) == inherited.get("technique", name)
        merged[name] = _merged(inherited, options) if same else options
    return merged


def _origins(
    parent: _Profile, own: Mapping[str, Mapping[str, object]], place: str
) -> dict[str, Mapping[str, str]]:
    """Where each option of the merged stages is said."""
    merged = _merged_stages(parent.stages, own)
    origins: dict[str, Mapping[str, str]] = {}
    for name, options in merged.items():
        here, above = leaves(own.get(name, {})), parent.origins.get(name, {})
        origins[name] = {path: place if path in here else above.get(path, place) for path in leaves(options)}
    return origins


def leaves(options: Mapping[str, object], prefix: str = "") -> dict[str, object]:
    """Every value of nested tables by its dotted path, in order; an empty table counts as a value."""
    found: dict[str, object] = {}
    for key, value in options.items():
        if isinstance(value, dict) and value:
            found |= leaves(value, f"{prefix}{key}.")
        else:
            found[f"{prefix}{key}"] = value
    return found


def _merged(parent: Mapping[str, object], child: Mapping[str, object]) -> dict[str, object]:
    """*child* over *parent*, tables inside by key."""
    merged = dict(parent)
    for key, value in child.items():
        inherited = parent.get(key)
        merged[key] = (
            _merged(inherited, value) if isinstance(inherited, dict) and isinstance(value, dict) else value
        )
    return merged


def _lowest(
    parent: Mapping[str, Mapping[str, float]], own: Mapping[str, Mapping[str, float]]
) -> dict[str, Mapping[str, float]]:
    """Both guard rails at once: a child may only be stricter."""
    joined: dict[str, Mapping[str, float]] = dict(parent)
    for technique, options in own.items():
        above = joined.get(technique, {})
        joined[technique] = {**above, **{k: min(v, above.get(k, math.inf)) for k, v in options.items()}}
    return joined


def _plan(profile: _Profile) -> Plan:
    _check_names(profile)
    steps: dict[Shape, list[Step[Any]]] = {shape: [] for shape in Shape}
    last = (Shape.UNDERSTANDER, "")
    for name in profile.order:
        options = dict(profile.stages.get(name, {}))
        technique = str(options.pop("technique", name))
        shape, stage = build_stage(technique, options, field=f"stages.{name}", place=profile.place)
        _check_order(last, (shape, name), profile.place)
        steps[shape].append(Step(name, technique, stage))
        last = (shape, name)
    _check_counts(steps, profile.place)
    _check_weights(steps, profile)
    _check_required(steps, profile)
    _check_optional(steps, profile)
    _check_at_most(profile)
    try:
        return Plan(
            name=profile.name,
            description=profile.description,
            limit=profile.limit,
            max_depth=profile.max_depth,
            understanders=tuple(steps[Shape.UNDERSTANDER]),
            channels=tuple(steps[Shape.CHANNEL]),
            fuser=steps[Shape.FUSER][0],
            refiners=tuple(steps[Shape.REFINER]),
            packer=steps[Shape.PACKER][0],
            optional=profile.optional,
            expected_ms=profile.expected_ms,
            at_most=profile.at_most,
        )
    except InputError as error:
        raise ProfileError(error.field, f"{error.problem} (in {profile.place})") from error


def _check_names(profile: _Profile) -> None:
    for key, names in (("order", profile.order), ("stages", sorted(profile.own))):
        for name in names:
            if "technique" not in profile.stages.get(name, {}):
                refuse_former(name, key, profile.place)
    for name in profile.order:
        if name not in profile.stages and not is_registered(name):
            known = {*profile.stages, *technique_names()}
            raise UnknownNameError("order", name, known, place=profile.place)
    for name in sorted(profile.own):
        if name not in profile.order:
            raise ProfileError(
                f"stages.{name}",
                f"is not in the order of {profile.place}, so it would do nothing; add {name!r} to the order "
                f"or remove the table ({nearest(name, profile.order)})",
            )


def _check_order(last: tuple[Shape, str], following: tuple[Shape, str], place: str) -> None:
    shapes = list(Shape)
    if shapes.index(following[0]) < shapes.index(last[0]):
        raise ProfileError(
            "order",
            f"the {following[0]} {following[1]!r} comes after the {last[0]} {last[1]!r}, in {place}; "
            f"stages run in the order {', '.join(shapes)}",
        )


def _check_counts(steps: Mapping[Shape, list[Step[Any]]], place: str) -> None:
    if not steps[Shape.CHANNEL]:
        raise ProfileError("order", f"has no channel, in {place}; add one, such as 'lexical'")
    for shape in (Shape.FUSER, Shape.PACKER):
        if len(steps[shape]) != 1:
            names = ", ".join(repr(step.name) for step in steps[shape]) or "none"
            raise ProfileError("order", f"needs exactly one {shape}, has {names}, in {place}")


def _check_weights(steps: Mapping[Shape, list[Step[Any]]], profile: _Profile) -> None:
    """A fuser's weights name channels; a name that no stage has is a slip, not a channel without hits."""
    fuser = steps[Shape.FUSER][0]
    tables = {"weights": getattr(fuser.stage, "weights", {})}
    by_intent = getattr(fuser.stage, "intents", {})
    if isinstance(by_intent, dict):
        tables |= {f"intents.{intent}": weights for intent, weights in by_intent.items()}
    known = {*profile.order, *profile.stages}
    for table, weights in tables.items():
        for name in weights if isinstance(weights, dict) else ():
            if name not in known:
                raise ProfileError(
                    f"stages.{fuser.name}.{table}.{name}",
                    f"there is no channel {name!r} in {profile.place}; {nearest(name, known)}",
                )


def _check_required(steps: Mapping[Shape, list[Step[Any]]], profile: _Profile) -> None:
    """What a profile requires of itself holds for all that extend it (HX-04)."""
    techniques = {step.technique for some in steps.values() for step in some}
    for technique in profile.required:
        if technique not in techniques:
            raise ProfileError(
                "order",
                f"leaves out {technique!r}, which the profile or a parent requires, in {profile.place}; "
                f"add {technique!r} to the order, or extend another profile",
            )


def _check_optional(steps: Mapping[Shape, list[Step[Any]]], profile: _Profile) -> None:
    """What a deadline may leave out, and what it reckons with, are stages; fuser and packer always run."""
    always = {steps[shape][0].name for shape in (Shape.FUSER, Shape.PACKER)}
    may = [name for name in profile.order if name not in always]
    techniques = {step.name: step.technique for some in steps.values() for step in some}
    for name in profile.optional:
        if name in always:
            raise ProfileError(
                "optional", f"{name!r} always runs, in {profile.place}; valid: {', '.join(may)}"
            )
        if name not in may:
            raise ProfileError(
                "optional", f"there is no stage {name!r} in {profile.place}; {nearest(name, may)}"
            )
        if techniques[name] in profile.required:
            raise ProfileError(
                "optional", f"{name!r} is required, so no deadline may leave it out, in {profile.place}"
            )
    for name in profile.expected_ms:
        if name not in profile.order and name not in profile.stages:
            raise ProfileError(
                f"expected_ms.{name}",
                f"there is no stage {name!r} in {profile.place}; {nearest(name, profile.order)}",
            )


def _check_at_most(profile: _Profile) -> None:
    """A guard rail around an option that the technique does not have would guard nothing."""
    for technique, options in profile.at_most.items():
        _, cls = load_technique(technique, field=f"at_most.{technique}", place=profile.place)
        known = [each.name for each in fields(cls)]
        for name in options:
            if name not in known:
                raise ProfileError(
                    f"at_most.{technique}.{name}",
                    f"{technique!r} has no option {name!r}, in {profile.place}; {nearest(name, known)}",
                )
