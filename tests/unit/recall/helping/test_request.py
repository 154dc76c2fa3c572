from __future__ import annotations

from datetime import UTC, datetime

import pytest

from simonides.errors import InputError
from simonides.recall.helping.request import JobRequest, read_wait


def test_a_request_outlives_its_process() -> None:
    options = {
        "as_of": datetime(2026, 2, 3, tzinfo=UTC),
        "window": (None, "2026"),
        "tags": frozenset({"b", "a"}),
        "aliases": {"db": ("database",)},
        "limit": 5,
        "explain": False,
    }
    request = JobRequest("q", "default", ("hyde",), options)
    read = JobRequest.from_json(request.to_json())
    assert (read.query, read.profile, read.helpers) == ("q", "default", ("hyde",))
    assert read.options == {
        "as_of": "2026-02-03T00:00:00+00:00",
        "window": [None, "2026"],
        "tags": ["a", "b"],
        "aliases": {"db": ["database"]},
        "limit": 5,
        "explain": False,
    }


def test_the_same_recall_with_other_helpers_is_another_job() -> None:
    one, other = JobRequest("q", "default", ("hyde",), {}), JobRequest("q", "default", (), {})
    assert one.identity("abc") == one.identity("abc") != other.identity("abc")
    assert len(one.identity("abc")) == 32


@pytest.mark.parametrize("value", [-1, 3_601, float("nan"), True, "1", None])
def test_a_wait_has_its_range(value: object) -> None:
    with pytest.raises(InputError, match="wait_seconds"):
        read_wait(value)
    assert read_wait(0) == 0.0
