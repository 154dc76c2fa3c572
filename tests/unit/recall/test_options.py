from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import pytest

from simonides.errors import InputError, ProfileError
from simonides.recall.options import make, nearest

if TYPE_CHECKING:
    from collections.abc import Mapping
    from decimal import Decimal


@dataclass(frozen=True, slots=True)
class Sample:
    depth: int
    ratio: float = 0.5
    title: str = ""
    strict: bool = False
    mode: Literal["fast", "exact"] = "fast"
    weights: Mapping[str, float] | None = None
    by_kind: Mapping[str, Mapping[str, float]] | None = None
    parts: tuple[str, ...] = ()
    floor: float | None = None

    def __post_init__(self) -> None:
        if self.depth < 1:
            raise InputError("depth", f"{self.depth} is below 1")


@dataclass(frozen=True, slots=True)
class Unresolved:
    amount: Decimal


def sample(**options: object) -> Sample:
    made: Sample = make(Sample, options, technique="sample", field="stages.s", place="mine.toml")
    return made


def problem(**options: object) -> str:
    with pytest.raises(ProfileError) as caught:
        sample(**options)
    return str(caught.value)


def test_options_become_fields() -> None:
    made = sample(
        depth=3,
        ratio=1,
        title="x",
        strict=True,
        mode="exact",
        weights={"a": 2, "b": 0.5},
        by_kind={"code": {"sim": 1}},
        parts=["p", "q"],
        floor=1.5,
    )
    weights, by_kind = {"a": 2.0, "b": 0.5}, {"code": {"sim": 1.0}}
    assert made == Sample(3, 1.0, "x", True, "exact", weights, by_kind, ("p", "q"), 1.5)
    assert type(made.ratio) is float


def test_options_left_out_keep_their_defaults() -> None:
    assert sample(depth=1) == Sample(1)


def test_an_unknown_option_is_refused_with_the_nearest_and_the_file() -> None:
    message = problem(depth=1, dept=2)
    assert message.startswith("stages.s.dept: 'sample' has no option 'dept', in mine.toml;")
    assert message.endswith("did you mean 'depth'?")


def test_a_missing_option_is_named_with_what_it_wants() -> None:
    assert problem() == "stages.s.depth: is missing in mine.toml; 'sample' needs a whole number"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"depth": 1.0}, "stages.s.depth: expected a whole number, got 1.0, in mine.toml"),
        ({"depth": True}, "stages.s.depth: expected a whole number, got True"),
        ({"depth": "1"}, "stages.s.depth: expected a whole number, got '1'"),
        ({"ratio": True}, "stages.s.ratio: expected a number, got True"),
        ({"ratio": "x"}, "stages.s.ratio: expected a number, got 'x'"),
        ({"ratio": float("nan")}, "stages.s.ratio: expected a number, got nan"),
        ({"ratio": float("inf")}, "stages.s.ratio: expected a number, got inf"),
        ({"ratio": 10**400}, "stages.s.ratio: expected a number, got a whole number of 1,329 bits"),
        ({"title": 3}, "stages.s.title: expected a string, got 3"),
        ({"strict": 1}, "stages.s.strict: expected true or false, got 1"),
        ({"mode": "exakt"}, "stages.s.mode: 'exakt' is not known, in mine.toml; did you mean 'exact'?"),
        ({"mode": 1}, "stages.s.mode: expected one of 'fast', 'exact', got 1"),
        ({"weights": 1.0}, "stages.s.weights: expected a table whose values are each a number, got 1.0"),
        ({"weights": {"a": "x"}}, "stages.s.weights.a: expected a number, got 'x'"),
        ({"by_kind": {"code": {"sim": "x"}}}, "stages.s.by_kind.code.sim: expected a number, got 'x'"),
        ({"parts": "p"}, "stages.s.parts: expected an array whose entries are each a string, got 'p'"),
        ({"parts": ["p", 1]}, "stages.s.parts[1]: expected a string, got 1"),
        ({"floor": []}, "stages.s.floor: expected a number, got list"),
    ],
)
def test_a_wrong_type_is_refused_at_its_place(options: dict[str, Any], says: str) -> None:
    assert problem(**({"depth": 1} | options)).startswith(says)


def test_what_the_stage_refuses_is_passed_on_with_its_place() -> None:
    assert problem(depth=0) == "stages.s.depth: 0 is below 1 (in mine.toml)"


def test_a_type_that_cannot_be_resolved_says_what_the_author_must_do() -> None:
    with pytest.raises(ProfileError, match="outside of TYPE_CHECKING"):
        make(Unresolved, {"amount": 1}, technique="unresolved", field="stages.u", place="mine.toml")


@pytest.mark.parametrize(
    ("valid", "says"),
    [
        (["depth", "rescore"], "did you mean 'depth'?"),
        (["k1", "b"], "valid: b, k1"),
        ([], "there are none"),
    ],
)
def test_the_nearest_name_else_all(valid: list[str], says: str) -> None:
    assert nearest("dept", valid) == says
