from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pytest

from simonides.errors import InputError, UnavailableError
from simonides.evaluation.results import QuestionResult, read_qrels, read_run, write_qrels, write_run

if TYPE_CHECKING:
    from pathlib import Path

RESULTS = (
    QuestionResult("q1", "1", True, ("a", "b"), ("b", "c", "a")),
    QuestionResult("q2", "5", False, (), ("c",)),
    QuestionResult("q3", "1", True, ("c",), ()),
)


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    write_run(tmp_path / "run", RESULTS, "mine")
    write_qrels(tmp_path / "qrels", RESULTS)
    assert (tmp_path / "run").read_text().splitlines()[0] == "q1 Q0 b 1 3 mine"
    assert (tmp_path / "qrels").read_text() == "q1 0 a 1\nq1 0 b 1\nq3 0 c 1\n"
    assert read_run(tmp_path / "run") == {"q1": ("b", "c", "a")}
    assert read_qrels(tmp_path / "qrels") == {"q1": ("a", "b"), "q3": ("c",)}


def test_a_run_is_read_by_score_whatever_the_order_of_lines(tmp_path: Path) -> None:
    (tmp_path / "run").write_text(
        "q Q0 low 1 0.5 t\n\nq Q0 high 2 1e1 t\nq Q0 tied 1 10 t\nq Q0 low 3 0.1 t\n"
    )
    assert read_run(tmp_path / "run") == {"q": ("tied", "high", "low")}


def test_a_compressed_run_is_read(tmp_path: Path) -> None:
    (tmp_path / "run.gz").write_bytes(gzip.compress(b"q Q0 a 1 2 t\n"))
    assert read_run(tmp_path / "run.gz") == {"q": ("a",)}
    (tmp_path / "run.gz").write_bytes(b"q Q0 a 1 2 t")
    with pytest.raises(InputError, match="cannot be read"):
        read_run(tmp_path / "run.gz")


def test_judgements_of_zero_are_no_gold(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("q 0 a 0\nq 0 b 2\n")
    assert read_qrels(tmp_path / "qrels") == {"q": ("b",)}
    (tmp_path / "qrels").write_text("q 0 a 0\n")
    with pytest.raises(InputError, match="judges nothing as relevant"):
        read_qrels(tmp_path / "qrels")


@pytest.mark.parametrize("text", ["q Q0 a 1\n", "q Q0 a one 2 t\n", "q Q0 a 1 high t\n"])
def test_a_line_of_another_form_is_refused_with_its_number(tmp_path: Path, text: str) -> None:
    (tmp_path / "run").write_text(f"q Q0 z 1 2 t\n{text}")
    with pytest.raises(InputError, match="line 2"):
        read_run(tmp_path / "run")


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_run(tmp_path / "none")
    with pytest.raises(UnavailableError, match="cannot be written"):
        write_qrels(tmp_path / "none" / "qrels", RESULTS)
