"""A profile as TOML that stands alone, its differences from another, and the models that it lacks here.

A stage's options are those of the stage that runs: what the files say, then the technique's own defaults.
Without a model that it asks for a profile runs and does less.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from simonides.models.catalogue import DEFAULT_EMBEDDER, DEFAULT_RERANKER, DEFAULT_SPARSE
from simonides.models.resolve import embedder_status
from simonides.profiles.loader import leaves

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simonides.profiles.loader import Described
    from simonides.recall.plan import Plan, Step


DEFAULT = "default of the technique"
"""The origin of an option that no file names."""

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_WEIGHTS = ("weights", "intents")


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a stage that runs.

    Attributes:
        name: dotted inside a table, such as ``fields.text``.
        value: JSON-ready.
        origin: the file that says it, or ``DEFAULT``.
    """

    name: str
    value: object
    origin: str


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage that runs, with all its options."""

    name: str
    shape: str
    technique: str
    options: tuple[Option, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """One difference between two profiles.

    Attributes:
        change: a stage was added, removed, moved, or given another technique; or something was changed.
        stage: its name; empty for what belongs to the whole profile.
        option: dotted; empty for the stage itself.
        before, after: the values, ``None`` where there is none; of a moved stage, the one before it.
    """

    change: Literal["added", "removed", "moved", "changed"]
    stage: str
    option: str
    before: object
    after: object

    def __str__(self) -> str:
        if self.change in {"added", "removed"} and not self.option:
            return f"{'+' if self.change == 'added' else '-'} {self.stage}: {self.after or self.before}"
        if self.change == "moved":
            return f"> {self.stage}: after {self.before or 'nothing'} → after {self.after or 'nothing'}"
        where = ".".join(filter(None, (self.stage, self.option)))
        return f"~ {where}: {_shown(self.before)} → {_shown(self.after)}"


def stages(described: Described) -> tuple[Stage, ...]:
    """The stages in the order in which they run."""
    return tuple(
        Stage(step.name, shape, step.technique, tuple(_options(step, described.origins.get(step.name, {}))))
        for shape, step in _steps(described.plan)
    )


def differences(before: Described, after: Described) -> tuple[Change, ...]:
    """What turns one profile into the other: stages first, in the order in which they run, then the rest."""
    old = {stage.name: stage for stage in stages(before)}
    new = {stage.name: stage for stage in stages(after)}
    return (
        *(Change("removed", n, "", old[n].technique, None) for n in old if n not in new),
        *(Change("added", n, "", None, new[n].technique) for n in new if n not in old),
        *_moves([n for n in old if n in new], [n for n in new if n in old]),
        *(change for name in new if name in old for change in _stage_changes(old[name], new[name])),
        *_table_changes("", _whole(before), _whole(after)),
    )


def as_toml(described: Described) -> str:
    """One file that stands alone and runs the same plan.

    Weights of channels that do not run are left out: alone, the file would be refused for naming them.
    """
    plan = described.plan
    names = [step.name for _, step in _steps(plan)]
    head: dict[str, object] = {"name": plan.name, "description": plan.description}
    head |= {
        key: value
        for key, value in (("limit", plan.limit), ("max_depth", plan.max_depth))
        if value is not None
    }
    head |= {"order": names, "required": list(described.required), "optional": list(plan.optional)}
    lines = [f"{key} = {toml_value(value)}" for key, value in head.items() if value not in ([], "")]
    lines += _toml_table("expected_ms", plan.expected_ms)
    for technique in sorted(plan.at_most):
        lines += _toml_table(f"at_most.{toml_key(technique)}", plan.at_most[technique])
    for name in names:
        table = described.tables[name]
        if name == plan.fuser.name:
            table = _running(table, names)
        lines += _toml_table(f"stages.{toml_key(name)}", table)
    return "\n".join(lines) + "\n"


def _steps(plan: Plan) -> Iterator[tuple[str, Step[Any]]]:
    by_shape: tuple[tuple[str, tuple[Step[Any], ...]], ...] = (
        ("understander", plan.understanders),
        ("channel", plan.channels),
        ("fuser", (plan.fuser,)),
        ("refiner", plan.refiners),
        ("packer", (plan.packer,)),
    )
    for shape, steps in by_shape:
        for step in steps:
            yield shape, step


def _options(step: Step[Any], origins: Mapping[str, str]) -> Iterator[Option]:
    for path, value in leaves(asdict(step.stage)).items():
        # A stage may add keys to a table, or clear it: then whoever named the table has the say.
        table = path.rpartition(".")[0]
        said = origins.get(path) or next(
            (o for p, o in origins.items() if table and p.startswith(f"{table}.")), ""
        )
        yield Option(path, value, said or DEFAULT)


def _moves(before: list[str], after: list[str]) -> Iterator[Change]:
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    kept = {
        name for block in matcher.get_matching_blocks() for name in before[block.a : block.a + block.size]
    }
    for name in after:
        if name not in kept:
            yield Change("moved", name, "", _previous(before, name), _previous(after, name))


def _previous(order: list[str], name: str) -> str | None:
    place = order.index(name)
    return order[place - 1] if place else None


def _stage_changes(before: Stage, after: Stage) -> Iterator[Change]:
    if before.technique != after.technique:
        yield Change("changed", after.name, "technique", before.technique, after.technique)
        return
    old = {option.name: option.value for option in before.options}
    new = {option.name: option.value for option in after.options}
    yield from _table_changes(after.name, old, new)


def _table_changes(stage: str, old: Mapping[str, object], new: Mapping[str, object]) -> Iterator[Change]:
    for option in dict.fromkeys((*old, *new)):
        if old.get(option) != new.get(option):
            yield Change("changed", stage, option, old.get(option), new.get(option))


def _whole(described: Described) -> dict[str, object]:
    """What belongs to the whole profile and changes what a recall does; names and prose do not."""
    plan = described.plan
    whole: dict[str, object] = {
        "limit": plan.limit,
        "max_depth": plan.max_depth,
        "required": sorted(described.required),
        "optional": list(plan.optional),
        "expected_ms": dict(plan.expected_ms),
        "at_most": {technique: dict(options) for technique, options in plan.at_most.items()},
    }
    return {path: value for path, value in leaves(whole).items() if value not in ({}, [], None)}


def _running(table: Mapping[str, object], names: list[str]) -> dict[str, object]:
    """*table* without weights of channels that do not run."""
    kept = dict(table)
    for key in _WEIGHTS:
        weights = kept.get(key)
        if isinstance(weights, dict):
            kept[key] = {
                name: _running({"weights": value}, names)["weights"] if isinstance(value, dict) else value
                for name, value in weights.items()
                if isinstance(value, dict) or name in names
            }
    return kept


def _toml_table(name: str, table: Mapping[str, object]) -> list[str]:
    """The lines of one table, those inside it last; nothing for an empty one."""
    if not table:
        return []
    plain = {key: value for key, value in table.items() if not isinstance(value, Mapping)}
    lines = ["", f"[{name}]"] if plain or not any(table.values()) else []
    lines += [f"{toml_key(key)} = {toml_value(value)}" for key, value in plain.items()]
    for key, value in table.items():
        if isinstance(value, Mapping):
            lines += _toml_table(f"{name}.{toml_key(key)}", value) or ["", f"[{name}.{toml_key(key)}]"]
    return lines


def toml_key(name: str) -> str:
    """A key as TOML writes it, quoted where it must be."""
    return name if _BARE.fullmatch(name) else toml_value(name)


def toml_value(value: object) -> str:
    """A string, number, truth value or array as TOML writes it."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(toml_value(each) for each in value)}]"
    if isinstance(value, str):
        # JSON's escapes are TOML's, but for DEL, which TOML wants escaped and JSON leaves.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value)


def _shown(value: object) -> str:
    return "-" if value is None else json.dumps(value, ensure_ascii=False)


MODEL_OF = {
    "embedding": "embedder",
    "sparse_terms": "sparse encoder",
    "cross_encoder": "cross-encoder",
    "head_rerank": "cross-encoder",
}
"""Technique → sort of the model that it asks for."""


def missing_models(plan: Plan, embedder: str | None = "auto") -> tuple[str, ...]:
    """One line for each stage of a plan that would find no model here: the stage, the model, and the remedy.

    *embedder* is the store's: ``"auto"``, a catalogued name, or ``None`` for none.
    """
    lines: list[str] = []
    steps: tuple[Step[Any], ...] = (*plan.understanders, *plan.refiners)
    for step in steps:
        kind = MODEL_OF.get(step.technique)
        if kind == "embedder" and embedder is None:
            lines.append(f"{step.name}: no embedder is configured, so recall uses keyword search only")
        elif kind == "embedder":
            lines += _missing(step.name, DEFAULT_EMBEDDER if embedder in {None, "auto"} else str(embedder))
        elif kind == "sparse encoder":
            lines += _missing(step.name, DEFAULT_SPARSE)
        elif kind == "cross-encoder":
            lines += _missing(step.name, DEFAULT_RERANKER)
    return tuple(lines)


def _missing(stage: str, model: str) -> list[str]:
    status = embedder_status(model)
    if status.state == "ready":
        return []
    return [f"{stage}: {status.problem}"]
