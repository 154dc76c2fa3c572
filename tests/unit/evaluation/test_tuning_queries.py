"""Judged queries: each malformed line is named, with what would be right."""

from __future__ import annotations

import json

import pytest

from simonides.errors import InputError
from simonides.evaluation.tuning_file import JudgedQuery, read_judged_queries

GOOD = '{"query": "who repaired the pump?", "relevant": ["m1", "m2"]}'


def test_lines_are_read_with_their_arguments() -> None:
    lines = [
        GOOD,
        "",
        '{"query": "pump", "relevant": ["m1"], "as_of": "2026-05-01", "kinds": ["fact"], "tags": null}',
    ]
    assert read_judged_queries(lines, {}) == (
        JudgedQuery(1, "who repaired the pump?", ("m1", "m2")),
        JudgedQuery(3, "pump", ("m1",), {"kinds": ["fact"], "as_of": "2026-05-01"}),
    )


def test_what_was_used_of_a_recall_counts_as_relevant() -> None:
    lines = ['{"query": "pump", "recall_id": "r1"}']
    assert read_judged_queries(lines, {"r1": ("m7",)}) == (JudgedQuery(1, "pump", ("m7",), {}, True),)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "is not JSON"),
        ("[1]", "expected an object"),
        ('"words"', "expected an object"),
        ('{"relevant": ["m1"]}', "query: expected the words"),
        ('{"query": " ", "relevant": ["m1"]}', "query: expected the words"),
        ('{"query": 3, "relevant": ["m1"]}', "query: expected the words"),
        ('{"query": "q", "relevent": ["m1"]}', "did you mean 'relevant'"),
        ('{"query": "q", "limit": 3, "relevant": ["m1"]}', "means nothing here"),
        ('{"query": "q"}', "either relevant"),
        ('{"query": "q", "relevant": ["m1"], "recall_id": "r1"}', "either relevant"),
        ('{"query": "q", "relevant": []}', "is empty, so no answer could be right"),
        ('{"query": "q", "relevant": "m1"}', "expected an array of ids"),
        ('{"query": "q", "relevant": [1]}', "expected an array of ids"),
        ('{"query": "q", "relevant": [""]}', "expected an array of ids"),
        ('{"query": "q", "relevant": ["m1", "m2", "m1"]}', "names 'm1' twice"),
        ('{"query": "q", "recall_id": "r2"}', "nothing is known to be used of 'r2'"),
        ('{"query": "q", "recall_id": ["r1"]}', "nothing is known to be used of"),
    ],
)
def test_a_wrong_line_is_named(line: str, problem: str) -> None:
    with pytest.raises(InputError) as caught:
        read_judged_queries([GOOD, "", line], {"r1": ("m1",)}, place="mine.jsonl")
    assert str(caught.value).startswith("mine.jsonl, line 3: ")
    assert problem in str(caught.value)


def test_a_question_stands_once_and_its_arguments_make_it_another() -> None:
    line = {"query": "who  repaired the pump?", "relevant": ["m3"]}
    with pytest.raises(InputError, match=r"line 2: asks what line 1 asks; join their ids"):
        read_judged_queries([GOOD, json.dumps(line)], {})
    line["as_of"] = "2026-05-01"
    assert len(read_judged_queries([GOOD, json.dumps(line)], {})) == 2
