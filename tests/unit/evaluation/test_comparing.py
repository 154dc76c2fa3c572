from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from simonides.errors import InputError
from simonides.evaluation.comparing import compare_systems
from simonides.evaluation.results import Measured, QuestionResult, read_measured, save_runs

if TYPE_CHECKING:
    from pathlib import Path


def system(name: str, *found: bool) -> Measured:
    """Question n is answered first thing where *found*, else not at all; two categories in turn."""
    return Measured(
        name,
        tuple(
            QuestionResult(f"q{n}", str(n % 2), True, (f"k{n}",), (f"k{n}" if hit else "other",))
            for n, hit in enumerate(found)
        ),
    )


def test_identical_systems_are_told_apart_nowhere() -> None:
    found = compare_systems([system("a", True, False, True), system("b", True, False, True)])
    for line in (*found.overall, *found.by_category):
        assert (line.difference, line.low, line.high, line.p_value, line.p_holm) == (0, 0, 0, 1, 1)
        assert not line.significant


def test_a_gain_on_every_question() -> None:
    lines = compare_systems([system("a", *[False] * 12), system("b", *[True] * 12)]).overall
    assert {line.measure for line in lines} == {"recall@5", "recall@10", "ndcg@10", "all@10"}
    for line in lines:
        assert (line.first_mean, line.second_mean, line.difference) == (0, 1, 1)
        assert line.p_value == 2 / 2**12
        assert line.p_holm == pytest.approx(4 * line.p_value)
        assert line.significant


def test_holm_counts_every_system_and_measure() -> None:
    first, other = system("a", *[False] * 12), system("b", *[True] * 12)
    lines = compare_systems([first, other, Measured("c", other.results)], measures=["recall@5"]).overall
    assert [(line.second, line.p_holm) for line in lines] == [("b", 4 / 2**12), ("c", 4 / 2**12)]


def test_by_category_only_its_own_questions() -> None:
    found = compare_systems([system("a", True, False, True, False), system("b", True, True, True, False)])
    by = {(line.category, line.measure): line for line in found.by_category}
    assert by["0", "recall@10"].difference == 0
    assert (by["1", "recall@10"].questions, by["1", "recall@10"].difference) == (2, 0.5)


def test_runs_judged_otherwise_are_refused() -> None:
    with pytest.raises(InputError, match="'q1' and 0 more differ"):
        compare_systems([system("a", True), system("b", True, True)])
    with pytest.raises(InputError, match="two runs or more"):
        compare_systems([system("a", True)])


def test_saved_runs_compare_like_those_in_memory(tmp_path: Path) -> None:
    first, second = system("a", True, False, True), system("b c/d", False, True, True)
    files = [save_runs(tmp_path / "runs", "invented", each) for each in (first, second)]
    assert [path.name for path in files[1]] == [f"invented-b_c_d{end}" for end in (".json", ".run", ".qrels")]
    read = [read_measured(paths[0]) for paths in files]
    assert read == [first, second]
    assert compare_systems(read) == compare_systems([first, second])
    runs = [read_measured(paths[1]) for paths in files]
    lines = compare_systems(runs).overall
    assert [line.p_value for line in lines] == [line.p_value for line in compare_systems(read).overall]
    again = [path.read_bytes() for path in save_runs(tmp_path / "again", "invented", first)]
    assert again == [path.read_bytes() for path in files[0]]


@pytest.mark.parametrize("text", ["[]", "{", '{"system": "a", "questions": [{"qid": "q"}]}'])
def test_a_file_of_another_form_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(InputError, match="is not a result file"):
        read_measured(tmp_path / "a.json")
