"""The files of a tuning: judged queries in, a tuned profile out.

Judged queries are lines of JSON with a question and the memories that answer it:

    {"query": "who repaired the pump?", "relevant": ["<id>", "<id>"]}
    {"query": "what did we know in May?", "relevant": ["<id>"], "as_of": "2026-05-01"}
    {"query": "who repaired the pump?", "recall_id": "<Recall.id>"}

The last form takes what ``Bank.used`` was told about that recall. Beside these keys a line may hold the
arguments of a recall in ``ARGUMENTS``. Blank lines are passed over.

A tuned profile extends its base and states the changed numbers alone, each with its old value beside it; what
was measured stands above as comments, and in full in ``NAME.evidence.json`` beside the file. No date and no
path goes into either: the same tuning gives the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simonides.errors import InputError
from simonides.files import SHARED, write_file
from simonides.options import FILTERS
from simonides.profiles import list_profiles
from simonides.profiles.describing import as_toml, toml_key, toml_value
from simonides.profiles.loader import describe_profile
from simonides.recall.options import nearest
from simonides.records.hygiene import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from simonides.evaluation.tuning_search import Number
    from simonides.profiles.loader import Described


ARGUMENTS = (
    *(each.name for each in FILTERS),
    "entity_hints",
    "mode",
    "question_date",
    "syntax",
    "aliases",
)
"""Arguments of ``Bank.recall`` that a line may hold: what is asked, not how much comes back."""

_KEYS = ("query", "relevant", "recall_id", *ARGUMENTS)


@dataclass(frozen=True, slots=True)
class JudgedQuery:
    """One question with what answers it.

    Attributes:
        line: where it stands, from 1.
        relevant: ids of memories, at least one.
        arguments: of the recall, beside the words.
        from_feedback: whether *relevant* is what was used.
    """

    line: int
    query: str
    relevant: tuple[str, ...]
    arguments: Mapping[str, Any] = field(default_factory=dict)
    from_feedback: bool = False


def read_judged_queries(
    lines: Iterable[str], used: Mapping[str, tuple[str, ...]], *, place: str = "judged"
) -> tuple[JudgedQuery, ...]:
    """Read judged queries.

    Args:
        used: by recall id, what was of use; as ``Bank.used_by_recall`` gives it.
        place: what the lines are called in messages.

    Raises:
        InputError: a line is malformed, judges nothing, repeats an id or a question; names the line.
    """
    found: list[JudgedQuery] = []
    seen: dict[str, int] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        where = f"{place}, line {number}"
        read = _read(_parsed(line, where), number, used, where)
        asked = json.dumps([" ".join(read.query.split()), read.arguments], sort_keys=True)
        if asked in seen:
            raise InputError(
                where,
                f"asks what line {seen[asked]} asks; join their ids in one line, so that it counts once",
            )
        seen[asked] = number
        found.append(read)
    return tuple(found)


def _parsed(line: str, where: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        problem = error.msg if isinstance(error, json.JSONDecodeError) else "cannot be read"
        raise InputError(where, f"is not JSON ({problem}); write one object a line") from None
    if not isinstance(value, dict):
        raise InputError(
            where, f'expected an object such as {{"query": …, "relevant": […]}}, got {shown(value)}'
        )
    for key in value:
        if key not in _KEYS:
            raise InputError(
                where, f"has the key {shown(key)}, which means nothing here; {nearest(key, _KEYS)}"
            )
    return value


def _read(
    value: Mapping[str, Any], number: int, used: Mapping[str, tuple[str, ...]], where: str
) -> JudgedQuery:
    query = value.get("query")
    if not isinstance(query, str) or not query.strip():
        raise InputError(where, f"query: expected the words of a question, got {shown(query)}")
    if ("relevant" in value) == ("recall_id" in value):
        raise InputError(where, "needs either relevant (ids) or recall_id (of a recall with something used)")
    feedback = "recall_id" in value
    relevant = _used(value["recall_id"], used, where) if feedback else _relevant(value["relevant"], where)
    arguments = {name: value[name] for name in ARGUMENTS if value.get(name) is not None}
    return JudgedQuery(number, query, relevant, arguments, feedback)


def _relevant(value: object, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(each, str) and each for each in value):
        raise InputError(where, f"relevant: expected an array of ids, got {shown(value)}")
    if not value:
        raise InputError(
            where, "relevant: is empty, so no answer could be right; name at least one id, or drop the line"
        )
    for place, each in enumerate(value):
        if each in value[:place]:
            raise InputError(where, f"relevant: names {shown(each)} twice; name it once")
    return tuple(value)


def _used(recall: object, used: Mapping[str, tuple[str, ...]], where: str) -> tuple[str, ...]:
    found = used.get(recall) if isinstance(recall, str) else None
    if not found:
        raise InputError(
            where,
            f"recall_id: nothing is known to be used of {shown(recall)}; say so with "
            "Bank.used(ids, recall_id=…), or drop the line",
        )
    return found


SUFFIX = ".toml"


@dataclass(frozen=True, slots=True)
class Change:
    """One number that a tuning changed."""

    number: Number
    after: float

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready description."""
        return {"number": str(self.number), "before": self.number.value, "after": self.after}


@dataclass(frozen=True, slots=True)
class Base:
    """The profile that is tuned; *file* is ``None`` for a built-in one."""

    name: str
    file: Path | None
    described: Described

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the profile in full, parents merged in: changes with anything that it runs."""
        return hashlib.sha256(as_toml(self.described).encode()).hexdigest()

    def extends(self, folder: Path) -> str:
        """How a file in *folder* names the base: relative where that can be, so that both may move."""
        if self.file is None:
            return self.name
        try:
            relative = Path(os.path.relpath(self.file, folder.resolve()))
        except ValueError:  # on another drive
            return str(self.file)
        return f"./{relative.as_posix()}"

    def with_values(self, numbers: Sequence[Number], values: Sequence[float]) -> str:
        """The text of a profile, for a file anywhere, that is this one with other numbers."""
        extends = self.name if self.file is None else str(self.file)
        return "\n".join([f"extends = {toml_value(extends)}", *_stages(changes_of(numbers, values))]) + "\n"


def changes_of(numbers: Sequence[Number], values: Sequence[float]) -> tuple[Change, ...]:
    """The numbers that other values were found for."""
    pairs = zip(numbers, values, strict=True)
    return tuple(Change(number, value) for number, value in pairs if value != number.value)


def base_of(profile: str | Path) -> Base:
    """The profile of that name or path; errors as ``load_profile``."""
    described = describe_profile(profile)
    built_in = isinstance(profile, str) and profile in list_profiles()
    return Base(described.plan.name, None if built_in else Path(described.places[0]), described)


def write_tuned(
    target: Path, base: Base, changes: Sequence[Change], evidence: Mapping[str, Any], *, force: bool = False
) -> Path:
    """Write a tuned profile to a ``.toml`` file and, beside it, its evidence, whose path is returned.

    Raises:
        InputError: the name or folder will not do, or a file is there.
        UnavailableError: it cannot be written.
    """
    beside = check_target(target, base, force=force)
    lines = [
        *(f"# {line}" for line in _told(evidence, beside.name)),
        f"name = {toml_value(target.name.removesuffix(SUFFIX))}",
        f"description = {toml_value(f'{base.name}, tuned to judged queries.')}",
        f"extends = {toml_value(base.extends(target.parent))}",
        *_stages(changes),
    ]
    write_file(beside, json.dumps(evidence, indent=2, sort_keys=True, ensure_ascii=False) + "\n", mode=SHARED)
    write_file(target, "\n".join(lines) + "\n", mode=SHARED)
    return beside


def check_target(target: Path, base: Base, *, force: bool = False) -> Path:
    """Refuse, by ``InputError``, a place that cannot be written to; returns where the evidence goes."""
    if not target.name.endswith(SUFFIX) or target.name == SUFFIX:
        raise InputError("out", f"{str(target)!r} does not end in {SUFFIX}; profiles are TOML files")
    if not target.parent.is_dir():
        raise InputError("out", f"there is no folder {str(target.parent)!r}; make it first")
    if base.file is not None and target.resolve() == base.file.resolve():
        raise InputError("out", f"{str(target)!r} is the profile that is tuned; give another name")
    beside = target.with_name(f"{target.name.removesuffix(SUFFIX)}.evidence.json")
    for path in (target, beside):
        if path.exists() and not force:
            raise InputError("out", f"{str(path)!r} is there already; give another name, or --force")
    return beside


def _stages(changes: Sequence[Change]) -> list[str]:
    lines: list[str] = []
    stage = ""
    for change in changes:
        number = change.number
        if number.stage != stage:
            lines += ["", f"[stages.{toml_key(number.stage)}]"]
            stage = number.stage
        key = ".".join(map(toml_key, number.path))
        lines.append(f"{key} = {toml_value(change.after)} # was {toml_value(number.value)}")
    return lines


def _told(evidence: Mapping[str, Any], beside: str) -> list[str]:
    queries, held_out = evidence["queries"], evidence["held_out"]
    measure, gain = evidence["settings"]["measure"], held_out["difference"]
    return [
        f"Tuned by `simonides tune` on {queries['tuning']} judged queries,",
        f"tested on {queries['held_out']} others; split by seed {evidence['settings']['seed']}.",
        f"Profiles tried: {evidence['search']['trials']}.",
        f"{measure} on the held-out part, with 95 % intervals:",
        f"    before      {_interval(held_out['before'])}",
        f"    after       {_interval(held_out['after'])}",
        f"    difference  {_interval(gain)}, p = {gain['p']:.2g}",
        f"All that was measured: {beside}.",
        "",
    ]


def _interval(row: Mapping[str, float]) -> str:
    return f"{row['mean']:+.4f} ({row['low']:+.4f} to {row['high']:+.4f})"
