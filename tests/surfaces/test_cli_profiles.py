"""`simonides profiles`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simonides.profiles.loader import list_profiles

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from typer.testing import Result

    Cli = Callable[..., Result]
    CliJson = Callable[..., Any]


def test_the_list_names_every_built_in_profile(cli: Cli, cli_json: CliJson) -> None:
    listed = cli_json("profiles")["profiles"]
    assert [profile["name"] for profile in listed] == list(list_profiles())
    assert all(profile["description"] for profile in listed)
    text = cli("profiles").stdout
    assert all(name in text for name in list_profiles())


def test_one_profile_shows_its_file_and_its_stages(cli: Cli, cli_json: CliJson) -> None:
    answer = cli_json("profiles", "default")
    stages = {stage["name"]: stage for stage in answer["stages"]}
    assert stages["lexical"]["shape"] == "channel"
    assert stages["lexical"]["options"]["depth"] > 0
    assert [stage["shape"] for stage in answer["stages"]].count("fuser") == 1
    assert answer["toml"] in cli("profiles", "default").stdout


def test_a_file_of_one_s_own(cli_json: CliJson, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('extends = "default"\n[stages.lexical]\nk1 = 7.5\n', encoding="utf-8")
    answer = cli_json("profiles", str(path))
    stages = {stage["name"]: stage for stage in answer["stages"]}
    assert stages["lexical"]["options"]["k1"] == 7.5
    assert stages["lexical"]["options"]["depth"] > 0


def test_an_unknown_profile_is_met_with_the_nearest(cli: Cli) -> None:
    result = cli("profiles", "defualt")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "did you mean 'default'?" in result.stderr


def test_a_wrong_option_names_the_file(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('extends = "default"\n[stages.lexical]\nk2 = 7\n', encoding="utf-8")
    result = cli("profiles", str(path))
    assert result.exit_code == 2
    assert "mine.toml" in result.stderr
    assert "k2" in result.stderr


def test_a_file_that_is_not_there(cli: Cli, tmp_path: Path) -> None:
    result = cli("profiles", str(tmp_path / "none.toml"))
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
