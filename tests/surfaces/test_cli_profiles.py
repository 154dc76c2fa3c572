"""`simonides profiles`: list, show, diff, check."""

from __future__ import annotations

import json
import tomllib
from typing import TYPE_CHECKING, Any

import pytest

from simonides.profiles import list_profiles
from simonides.profiles.loader import load_profile

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from typer.testing import Result

    Cli = Callable[..., Result]
    CliJson = Callable[..., Any]


def write(folder: Path, text: str, name: str = "mine.toml") -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def options(stage: dict[str, Any]) -> dict[str, Any]:
    return {option["name"]: option["value"] for option in stage["options"]}


def test_the_list_names_every_built_in_profile(cli: Cli, cli_json: CliJson) -> None:
    listed = cli_json("profiles", "list")["profiles"]
    assert [profile["name"] for profile in listed] == list(list_profiles())
    assert all(profile["description"] for profile in listed)
    text = cli("profiles", "list").stdout
    assert all(name in text for name in list_profiles())


def test_show_has_every_stage_in_order_with_its_options(cli: Cli, cli_json: CliJson) -> None:
    answer = cli_json("profiles", "show", "helix")
    plan = load_profile("helix")
    names = [stage["name"] for stage in answer["stages"]]
    assert names[0] == plan.understanders[0].name
    assert names[-1] == plan.packer.name
    assert [stage["shape"] for stage in answer["stages"]].count("fuser") == 1
    stages = {stage["name"]: stage for stage in answer["stages"]}
    assert options(stages["lexical"])["depth"] > 0
    text = cli("profiles", "show", "helix").stdout
    starts = [line.split()[0] for line in text.splitlines() if line and not line.startswith(" ")]
    assert [start for start in starts if start in names] == names


def test_show_says_where_each_option_is_from(cli: Cli, cli_json: CliJson, tmp_path: Path) -> None:
    parent = write(tmp_path, 'extends = "lexical"\n[stages.lexical]\nb = 0.3\nk1 = 1.0\n', "parent.toml")
    mine = write(tmp_path, 'extends = "parent.toml"\n[stages.lexical]\nk1 = 7.5\nfields = { text = 3.0 }\n')
    answer = cli_json("profiles", "show", mine)
    assert answer["files"] == [mine, parent, "lexical.toml"]
    lexical = next(stage for stage in answer["stages"] if stage["name"] == "lexical")
    origins = {option["name"]: option["from"] for option in lexical["options"]}
    assert options(lexical)["k1"] == 7.5
    assert options(lexical)["fields.text"] == 3.0
    assert (origins["k1"], origins["fields.text"], origins["b"]) == (mine, mine, parent)
    assert (origins["depth"], origins["fields.context"]) == ("lexical.toml", "lexical.toml")
    assert origins["budgeted"] == "default of the technique"
    text = cli("profiles", "show", mine).stdout
    assert any("k1" in line and "7.5" in line and "this file" in line for line in text.splitlines())


@pytest.mark.parametrize("name", list_profiles())
def test_show_prints_every_value_whatever_the_width(
    cli: Cli, cli_json: CliJson, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    wanted = [
        f"{option} = {json.dumps(value, ensure_ascii=False)}"
        for stage in cli_json("profiles", "show", name)["stages"]
        for option, value in options(stage).items()
    ]
    monkeypatch.setenv("COLUMNS", "30")
    lines = [line.strip() for line in cli("profiles", "show", name).stdout.splitlines()]
    assert all(any(line.startswith(each) for line in lines) for each in wanted)


@pytest.mark.parametrize("name", list_profiles())
def test_the_merged_toml_stands_alone_and_runs_the_same(cli: Cli, name: str, tmp_path: Path) -> None:
    text = cli("profiles", "show", name, "--toml").stdout
    assert "extends" not in tomllib.loads(text)
    assert load_profile(tmp_path / write(tmp_path, text)) == load_profile(name)


def test_the_merged_toml_of_a_child_leaves_out_what_does_not_run(cli: Cli, tmp_path: Path) -> None:
    mine = write(
        tmp_path,
        'name = "a \\"b\\""\nextends = "helix"\n'
        f"order = {['terms', 'lexical', 'fused', 'blend', 'near_duplicates', 'outside_in']!r}\n"
        '[stages.fused]\ntechnique = "reciprocal_rank"\nk = 60\n[stages.fused.weights]\ndense = 2.0\n'
        "lexical = 1.5\n",
    )
    merged = tomllib.loads(cli("profiles", "show", mine, "--toml").stdout)
    assert merged["name"] == 'a "b"'
    assert merged["stages"]["fused"]["weights"] == {"lexical": 1.5}
    load_profile(tmp_path / write(tmp_path, cli("profiles", "show", mine, "--toml").stdout, "alone.toml"))


def test_diff_says_what_was_added_removed_moved_and_changed(
    cli: Cli, cli_json: CliJson, tmp_path: Path
) -> None:
    one = write(
        tmp_path,
        'extends = "lexical"\norder = ["terms", "aliases", "lexical", "reciprocal_rank", "token_budget"]\n',
        "one.toml",
    )
    two = write(
        tmp_path,
        'extends = "lexical"\nlimit = 7\noptional = ["terms"]\n'
        'order = ["time_window", "aliases", "terms", "words", "reciprocal_rank", "token_budget"]\n'
        '[stages.words]\ntechnique = "lexical"\ndepth = 5\nk1 = 1.0\nb = 0.0\nfields = { text = 1.0 }\n'
        "[stages.reciprocal_rank]\nk = 9\n",
        "two.toml",
    )
    result = cli("profiles", "diff", one, two)
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    before = load_profile("lexical").fuser.stage
    assert lines == [
        "- lexical: lexical",
        "+ time_window: time_window",
        "+ words: lexical",
        *(line for line in lines if line.startswith("> ")),
        f"~ reciprocal_rank.k: {before.k:.1f} → 9.0",  # type: ignore[attr-defined]
        "~ limit: 10 → 7",
        '~ optional: - → ["terms"]',
    ]
    assert sum(line.startswith("> ") for line in lines) == 1
    answer = cli_json("profiles", "diff", one, two, code=1)
    assert answer["same"] is False
    assert answer["changes"][0] == {
        "change": "removed",
        "stage": "lexical",
        "option": "",
        "before": "lexical",
        "after": None,
    }
    assert len(answer["changes"]) == len(lines)


def test_diff_of_the_same_says_so(cli: Cli, cli_json: CliJson, tmp_path: Path) -> None:
    copy = write(tmp_path, 'extends = "helix"\nname = "other"\ndescription = "Other prose."\n')
    result = cli("profiles", "diff", "helix", copy)
    assert (result.exit_code, result.stdout) == (0, "")
    assert cli_json("profiles", "diff", "helix", copy) == {
        "a": "helix", "b": copy, "same": True, "changes": []
    }  # fmt: skip


def test_check_passes_what_can_run_and_names_missing_models(
    cli: Cli, cli_json: CliJson, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = cli("profiles", "check", "lexical")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "ok\n", "")
    monkeypatch.setenv("SIMONIDES_EMBEDDER", "auto")
    answer = cli_json("profiles", "check", "hindsight")
    assert (answer["ok"], answer["problem"], answer["files"]) == (True, "", ["hindsight.toml"])
    embedding, reranker = answer["warnings"]
    assert embedding.startswith("embedding: model all-MiniLM-L6-v2 is not in ")
    assert "simonides models pull" in embedding
    assert reranker.startswith("cross_encoder: model ")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('extends = "mine.toml"', "extends: goes in a circle: "),
        ('extends = "lexcal"', "did you mean 'lexical'?"),
        ('extends = "gone.toml"', "there is no file "),
        ('extends = "lexical"\nlimit = true', "limit: expected a whole number from 1 to 10,000, got True"),
        ('extends = "lexical"\n[stages.lexical]\nk2 = 7', "stages.lexical.k2: 'lexical' has no option 'k2'"),
        ('extends = "lexical"\noptional = ["token_budget"]', "'token_budget' always runs"),
        ('extends = "lexical"\n[at_most.lexical]\ndepth = 1', "is above 1, the most that"),
        ('extends = "hindsight"\n[stages.budget]\nleast = 9000', "stages.budget."),
        ("order = [", "is not valid TOML"),
    ],
)
def test_check_says_in_one_line_what_is_wrong_where_and_what_to_do(
    cli: Cli, cli_json: CliJson, tmp_path: Path, text: str, says: str
) -> None:
    mine = write(tmp_path, text + "\n")
    result = cli("profiles", "check", mine)
    assert result.exit_code == 1
    assert result.stderr == ""
    assert result.stdout.startswith("not ok: ")
    assert result.stdout.count("\n") == 1
    assert says in result.stdout
    assert ".toml" in result.stdout
    answer = cli_json("profiles", "check", mine, code=1)
    assert answer["ok"] is False
    assert f"not ok: {answer['problem']}\n" == result.stdout


@pytest.mark.parametrize("command", ["show", "diff"])
def test_an_unknown_profile_is_met_with_the_nearest(cli: Cli, command: str) -> None:
    result = cli("profiles", command, "defualt", *(["default"] if command == "diff" else []))
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "did you mean 'default'?" in result.stderr


def test_a_file_that_is_not_there(cli: Cli, tmp_path: Path) -> None:
    result = cli("profiles", "show", str(tmp_path / "none.toml"))
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
