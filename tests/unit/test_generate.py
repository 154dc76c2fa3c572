"""docs/generate.py: the reference page follows the commands, and `--check` notices when it does not."""

from __future__ import annotations

import importlib.util
import json
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.conformance.reporter import IDS

if TYPE_CHECKING:
    from types import ModuleType

SCRIPT = Path(__file__).parents[2] / "docs" / "generate.py"


@pytest.fixture
def generate(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    monkeypatch.syspath_prepend(str(SCRIPT.parent))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    # Every page that is written, so that no test touches those of the checkout.
    monkeypatch.setattr(module, "DOCS", tmp_path / "docs")
    monkeypatch.setattr(module, "MODULES", ())
    monkeypatch.setattr(module, "RESULTS", tmp_path / "results")
    (tmp_path / "docs" / "guide").mkdir(parents=True)
    for page, tables in module.TABLES.items():
        marks = "".join(f"<!-- {name} -->\nold\n<!-- /{name} -->\n" for name in tables)
        (tmp_path / "docs" / page).write_text(f"before\n{marks}after\n", encoding="utf-8")
    return module


def run(module: ModuleType, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["generate", *arguments])
    code: int = module.main()
    return code


def test_the_page_lists_each_command_with_its_options(
    generate: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(generate, monkeypatch) == 0

    page = (generate.DOCS / "reference/cli.md").read_text("utf-8")

    assert "## `simonides recall`" in page
    assert "## `simonides models pull`" in page
    recall = page.split("## `simonides recall`")[1].split("## ")[0]
    assert "| `--bank` `NAME` | Bank to use. | `$SIMONIDES_BANK`, else `default` |" in recall


def test_check_tells_a_current_page_from_a_stale_and_a_missing_one(
    generate: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(generate, monkeypatch, "--check") == 1

    run(generate, monkeypatch)
    assert run(generate, monkeypatch, "--check") == 0

    (generate.DOCS / "reference/cli.md").write_text("stale", encoding="utf-8")
    assert run(generate, monkeypatch, "--check") == 1
    assert (generate.DOCS / "reference/cli.md").read_text("utf-8") == "stale"
    assert "make docs" in capsys.readouterr().err


def test_the_readme_shows_the_committed_numbers(
    generate: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "results").mkdir()
    metrics = {"recall@5": 0.5, "recall@10": 0.61234, "ndcg@10": 0.4, "all@10": 0.3, "mrr": 0.2}
    page = {
        "run": {"date": "2026-03-01", "commit": "0123456789abcdef"},
        "result": {"dataset": "locomo", "profile": "default", "questions": 7, "metrics": metrics},
    }
    (tmp_path / "results" / "quality-locomo-default.json").write_text(json.dumps(page), encoding="utf-8")

    assert run(generate, monkeypatch) == 0

    text = (generate.DOCS / "../README.md").read_text("utf-8")
    assert "| LoCoMo | `default` | 7 | 0.500 | 0.612 | 0.400 | 0.300 |" in text
    assert "Measured on 2026-03-01 at 0123456789ab" in text
    assert "old" not in text
    assert text.startswith("before\n")
    assert text.endswith("after\n")


def test_the_page_on_relevance_shows_calibration_and_what_is_given(
    generate: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert run(generate, monkeypatch) == 0
    assert "Not measured." in (generate.DOCS / "guide/relevance.md").read_text("utf-8")
    (tmp_path / "results").mkdir()
    for name, error in (("relevance", 0.0123), ("relevance-words", 0.0456)):
        part = {"n": 1234, "error": error, "bins": []}
        parts = {"all": part, "short": part}
        rates = {"questions": 9, "hits": 2.5, "tokens": 31.26, "nothing": 0.05}
        outcome = {"answerable": {**rates, "precision": 0.5, "recall": 0.8766}, "adversarial": rates}
        result = {
            "questions": {"locomo": 20, "adversarial": 9, "work": 5, "people": 6},
            "answerable": ["locomo"],
            "fitted_on": ["short"],
            "calibration": {"relevance": parts, "confidence": parts},
            "auc": {"all": 0.9, "adversarial": None},
            "precision": {"all": dict.fromkeys(("high", "balanced", "wide"), outcome)},
            "min_relevance": [{"min_relevance": 0.3, **outcome}],
        }
        page = {"run": {"date": "2026-03-01", "commit": "0123456789abcdef"}, "result": result}
        (tmp_path / "results" / f"{name}.json").write_text(json.dumps(page), encoding="utf-8")

    assert run(generate, monkeypatch) == 0

    text = (generate.DOCS / "guide/relevance.md").read_text("utf-8")
    assert "| all | 1,234 | 0.012 | 0.012 | 0.046 | 0.046 |" in text
    assert "| short facts (fitted on) | 1,234 |" in text
    assert "| all | 11 | 0.900 | 0.900 |" in text
    assert "| adversarial | 9 | – | – |" in text
    assert '| `precision="high"` | answerable | 0.500 | 0.877 | 2.5 | 31.3 | 5.0% |' in text
    assert "| `min_relevance=0.3`, wide | adversarial |  |  | 2.5 | 31.3 | 5.0% |" in text
    assert "| all | `wide` | 31 |  | 0.877 | 0.500 | 2.5 |" in text
    assert "| all | `high` | 31 | 0% | 0.877 | 0.500 | 2.5 |" in text
    assert "Measured on 2026-03-01 at 0123456789ab" in text
    assert text.endswith("after\n")


def test_the_page_on_quality_ranks_every_system_and_names_the_missing(
    generate: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert run(generate, monkeypatch) == 0
    assert "Not measured." in (generate.DOCS / "guide/quality.md").read_text("utf-8")
    results = tmp_path / "results"
    results.mkdir()
    circumstances = {"date": "2026-03-01", "commit": "0123456789abcdef"}
    for system, recall in {"simonides": 0.8, "bm25": 0.5, "dense": 0.6, "mem0": None}.items():
        result: dict[str, object] = {
            "dataset": "locomo",
            "system": system,
            "title": system.upper(),
            "note": "texts",
            "version": "1.2",
        }
        if recall is None:
            result["unavailable"] = "cannot be installed: no wheel"
        else:
            result["metrics"] = {"recall@5": 0.1, "recall@10": recall, "ndcg@10": 0.2, "all@10": 0.3}
        page = json.dumps({"run": circumstances, "result": result})
        (results / f"peers-locomo-{system}.json").write_text(page, encoding="utf-8")
    row = {
        "against": "bm25",
        "measure": "recall@10",
        "difference": 0.3,
        "low": 0.2,
        "high": 0.4,
        "p_holm": 0.0012,
    }
    compared = {"result": {"locomo": {"simonides": [row, {**row, "measure": "ndcg@10", "p_holm": 0.9}]}}}
    (results / "peers-significance.json").write_text(json.dumps(compared), encoding="utf-8")

    assert run(generate, monkeypatch) == 0

    lines = (generate.DOCS / "guide/quality.md").read_text("utf-8").splitlines()
    places = [
        next(place for place, line in enumerate(lines) if line.startswith(f"| {name} | 1.2 |"))
        for name in ("SIMONIDES", "DENSE", "BM25", "MEM0")
    ]
    assert places == sorted(places)
    assert lines[places[2]] == (
        "| BM25 | 1.2 | 0.100 | 0.500 | 0.200 | 0.300 | +0.300 (+0.200 to +0.400) | 0.0012 |"
    )
    assert "not measured: cannot be installed: no wheel" in lines[places[3]]
    assert "| MEM0 | texts |" in lines


def test_the_page_on_scale_shows_the_cheapest_setting_of_each_kind_of_codes(
    generate: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def line(kind: str, candidates: int, kept: float, spent: float) -> dict[str, object]:
        return {
            "kind": kind,
            "candidates": candidates,
            "recall_of_candidates": kept,
            "cpu_ms": {"p50": spent},
            "bytes_per_vector": 48.0,
        }

    sizes = [
        {"n": 1_000, "kinds": [line("hamming", 10, 0.90, 1.0), line("hamming", 20, 0.99, 2.0)]},
        {"n": 2_000, "kinds": [line("hamming", 20, 0.95, 2.0), line("prefix", 5, 0.98, 0.5)]},
    ]
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "dense-codes.json").write_text(
        json.dumps({"run": {"date": "2026-02-03", "commit": "0123456789abcdef"}, "result": sizes}), "utf-8"
    )
    assert run(generate, monkeypatch) == 0
    page = (generate.DOCS / "guide/scale.md").read_text("utf-8")
    assert "| codes | bytes | 1,000 | 2,000 |" in page
    assert "(ours) | 48 | 2.0 ms, 20: 0.990 | keeps 0.950 |" in page
    assert "by all | 48 |  | 0.5 ms, 5: 0.980 |" in page
    assert "Measured on 2026-02-03 at 0123456789ab" in page


def test_the_guide_to_quality_gets_its_tables(
    generate: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    results = tmp_path / "results"
    results.mkdir()
    circumstances = {"date": "2026-03-01", "commit": "0123456789abcdef"}
    measures = {"recall@5": 0.25, "recall@10": 0.5, "ndcg@10": 0.375, "all@10": 0.125}

    def write(name: str, result: object) -> None:
        page = json.dumps({"run": circumstances, "result": result})
        (results / f"{name}.json").write_text(page, encoding="utf-8")

    row = {"second": "helix", "difference": -0.125, "low": -0.25, "high": -0.0625, "p_holm": 0.0004}
    write("compare-locomo", {"overall": [{**row, "measure": "recall@10"}, {**row, "measure": "recall@5"}]})
    write("ablation-musique", {"rows": {"random": measures}, "refused": {"without terms": "no words"}})
    asked = {"profile": "default", "metrics": measures, "recall_cpu_ms": {"p50": 12.34, "p95": 23.45}}
    write("distractors-locomo", {"default": asked})
    write("sparse-musique", {"/x/default-sparse.toml": {**asked, "profile": "/x/default-sparse.toml"}})

    assert run(generate, monkeypatch) == 0
    page = (generate.DOCS / "guide/quality.md").read_text("utf-8")

    assert "| LoCoMo | `helix` | recall@10 | +0.125 | +0.062 to +0.250 | 0.0004 |" in page
    assert page.count("`helix`") == 1
    assert "| random | 0.250 | 0.500 | 0.375 | 0.125 |" in page
    assert "| without terms | cannot run |||" in page
    line = "`default`, among 10,000 distractors | 0.250 | 0.500 | 0.375 | 0.125 | 12.3 ms | 23.4 ms |"
    assert f"| LoCoMo | {line}" in page
    assert "| MuSiQue | `default-sparse`, with learned sparse weights |" in page
    assert page.count("Measured on 2026-03-01 at 0123456789ab") == 3
    assert "old" not in page


def test_evidence_becomes_tables_beside_published_figures(
    generate: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    budgets = {"250": 0.25, "500": 0.5, "1000": 0.75, "2000": 1.0}
    measures = {"questions": 4, "mrr": 0.5} | {
        f"{name}@{n}": n / 16 for name in ("recall", "any", "all") for n in (5, 10)
    }
    row = {"title": "ours", "note": "fills the budget", "questions": 3, "complete": budgets}
    row |= {"tokens": {"2000": 126.4}, "sessions": {"1-4": {**measures, "questions": 3}, "1-5": measures}}
    systems = {
        "default": row,
        "default-as-it-comes": {**row, "title": "as it comes", "sessions": {}},
        "mem0": {**row, "title": "mem0"},
        "txtai": {"title": "txtai", "note": "hybrid", "unavailable": "no network"},
    }
    result = {"dataset": "locomo", "tokens": "o200k_base", "embedder": "MiniLM", "systems": systems}
    page = {"run": {"date": "2026-03-01", "commit": "0123456789abcdef"}, "result": result}
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "evidence-locomo.json").write_text(json.dumps(page), encoding="utf-8")

    assert run(generate, monkeypatch) == 0
    text = (generate.DOCS / "guide/evidence.md").read_text("utf-8")

    assert "| system | LoCoMo, 250 | LoCoMo, 500 | LoCoMo, 1,000 | LoCoMo, 2,000 |" in text
    assert "| ours | 0.250 | 0.500 | 0.750 | 1.000 |" in text
    assert "| txtai | not measured: no network |  |  |  |" in text
    assert "| txtai | hybrid |" in text
    assert "LoCoMo: 3 questions. As it comes, `default` puts 126 tokens a question" in text
    ours = "| ours | 5 conversations, categories 1–4, 3 | 0.312 | 0.625 | 0.312 | 0.312 | 0.625 | 0.500 | measured here |"
    assert ours in text
    assert text.count("| mem0 | 5 conversations") == 1, "others on the questions that others publish"
    published = [line for line in text.splitlines() if "as published: [" in line]
    assert len(published) == 8
    assert all("10 conversations, categories 1–5, 1,98" in line for line in published)
    assert text.count("Measured on 2026-03-01 at 0123456789ab") == 2


def test_recalls_side_by_side_become_tables(
    generate: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sides = {"wall_p50_ms": 20.0, "wall_p95_ms": 30.0, "cpu_p50_ms": 19.0, "cpu_p95_ms": 25.0, "recalls": 100}
    beside = {"alone": sides, "beside": sides, "wall_p95_ratio": 1.25, "cpu_p95_ratio": 1.0}
    memory = {"pss": 40.4, "private": 30.0, "anonymous": 25.0}
    result = {
        "n": 100_000,
        "profile": "helix",
        "cores": 2,
        "load_average": {"before": 0.5, "after": 2.5},
        "scaling": {
            sort: {
                "1": {"per_second": 40.0, "by_one": 1.0, "cpu_ms_by_one": 1.0},
                "2": {"per_second": 76.0, "by_one": 1.9, "cpu_ms_by_one": 1.04},
            }
            for sort in ("processes", "threads")
        },
        "beside": {name: {**beside, "written": 90, "written_per_second": 4.5} for name in ("retain", "load")},
        "memory_mb": {"empty": memory, "each_of": {"1": memory, "2": memory}, "own_beyond_empty": 0.0},
    }
    page = {"run": {"date": "2026-03-01", "commit": "0123456789abcdef"}, "result": result}
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "concurrency.json").write_text(json.dumps(page), encoding="utf-8")

    assert run(generate, monkeypatch) == 0
    text = (generate.DOCS / "guide/scale.md").read_text("utf-8")

    assert "| processes | 1 | 2 |" in text
    assert "| by one | 1.00 | 1.90 |" in text
    assert "| a writer that retains | 4.5 | 20 / 30 | 20 / 30 | 1.25 | 25.0 | 25.0 | 1.00 |" in text
    assert "| of 2 | 40 | 30 | 25 |" in text
    assert "load average 0.5 before and 2.5 after. Measured on 2026-03-01 at 0123456789ab" in text


MODULE = """
import pytest

pytestmark = pytest.mark.spec("HX-18")

@pytest.fixture
def bank(default_embedder): ...

@pytest.mark.spec("EN-07", "ME-06")
def test_one(stub): ...

def test_two(bank): ...

@pytest.mark.model
def test_three(): ...

def test_four(request):
    request.getfixturevalue("user_cache")

@pytest.mark.parametrize("embedder", [pytest.param("real", marks=pytest.mark.model)])
@pytest.mark.spec("EN-08")
def test_five(embedder): ...
"""


def test_the_tests_of_a_requirement_are_found_and_those_with_real_weights_told(generate: ModuleType) -> None:
    found = [(test.ids, test.real) for test in generate.conformance.read_tests(MODULE)]
    assert found == [
        (("HX-18", "EN-07", "ME-06"), False),
        (("HX-18",), True),
        (("HX-18",), True),
        (("HX-18",), True),
        (("HX-18", "EN-08"), True),
    ]


def test_a_test_without_a_requirement_is_none_of_them(generate: ModuleType) -> None:
    assert list(generate.conformance.read_tests("def test_one(default_embedder): ...")) == []


def test_every_requirement_is_described_and_what_it_was_measured_by_is_there(generate: ModuleType) -> None:
    known = tomllib.loads(generate.conformance.REQUIREMENTS.read_text("utf-8"))
    assert tuple(known) == IDS
    results = SCRIPT.parents[1] / "bench" / "results"
    assert "is missing" not in generate.conformance.requirements(results)
    sorts = {row.get("model") for row in known.values()} - {None}
    assert sorts == {"embedder", "sparse encoder", "cross-encoder", "language model"}


def test_a_requirement_whose_model_never_ran_says_so(generate: ModuleType) -> None:
    rows = generate.conformance.requirements(SCRIPT.parents[1] / "bench" / "results").splitlines()
    said = {row.split(" | ")[0].removeprefix("| "): row for row in rows if row.startswith("| ")}
    assert "no real weights" in said["EN-07"]
    assert "no real model" in said["HX-17"]
    assert "| all-MiniLM-L6-v2 |" in said["HX-03"]
    assert "no model needed" in said["EN-03"]


def test_a_docstring_says_of_an_option_what_its_declaration_says(generate: ModuleType) -> None:
    source = '''
class Bank:
    def recall(self, query, limit, window):
        """Recall.

        Args:
            query: an old sentence. What Python adds.
            limit: maximum number of hits, 1 to 10,000. Default: the profile's.
            window: the same.
            other: is no option.

        Raises:
            InputError: query: is blank.
        """
'''
    written = generate.with_options(source)
    assert "            query: the question, or keywords. What Python adds.\n" in written
    assert written.replace("the question, or keywords.", "an old sentence.") == source
