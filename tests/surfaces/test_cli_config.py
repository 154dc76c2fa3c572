"""Settings: option > environment > file of the folder > file of the user > default."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from simonides.surfaces.cli.configuration import SETTINGS, option_defaults

if TYPE_CHECKING:
    from pathlib import Path

    from tests.surfaces.conftest import Cli, CliJson


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of the current folder."""
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder / "simonides.toml"


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of the user."""
    folder = tmp_path / "config" / "simonides"
    folder.mkdir(parents=True)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return folder / "simonides.toml"


def _origins(cli_json: CliJson) -> dict[str, tuple[object, str]]:
    return {each["key"]: (each["value"], each["origin"]) for each in cli_json("config", "show")["settings"]}


def test_each_source_hides_the_next(
    cli: Cli, cli_json: CliJson, here: Path, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _origins(cli_json)["bank"] == ("default", "default")
    own.write_text('bank = "shelf"\n[serve]\nport = 9000\n')
    assert _origins(cli_json)["bank"] == ("shelf", str(own))
    assert _origins(cli_json)["serve.port"] == (9000, str(own))
    here.write_text('bank = "shed"\n')
    assert _origins(cli_json)["bank"] == ("shed", "simonides.toml")
    monkeypatch.setenv("SIMONIDES_BANK", "attic")
    assert _origins(cli_json)["bank"] == ("attic", "SIMONIDES_BANK")

    cli("retain", "Figs need water.", "--bank", "cellar")
    cli("retain", "Figs need water.")
    monkeypatch.delenv("SIMONIDES_BANK")
    cli("retain", "Figs need water.")
    here.unlink()
    cli("retain", "Figs need water.")
    own.unlink()
    cli("retain", "Figs need water.")
    assert cli_json("list-banks")["banks"] == ["attic", "cellar", "default", "shed", "shelf"]


def test_a_file_names_store_profile_and_embedder(
    cli: Cli, here: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("SIMONIDES_STORE")
    monkeypatch.delenv("SIMONIDES_EMBEDDER")
    here.write_text(f'store = "{tmp_path / "elsewhere"}"\nembedder = "none"\nprofile = "lexical"\n')
    assert cli("retain", "Figs need water.").exit_code == 0
    assert (tmp_path / "elsewhere" / "bank-default").is_dir()
    shown = cli("recall", "figs", "--json", "--trace")
    assert '"lexical"' in shown.stdout


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('bnak = "x"\n', "did you mean 'bank'?"),
        ("[serve]\nprot = 1\n", "did you mean 'serve.port'?"),
        ("bank = 3\n", "expected a text"),
        ('[serve]\nport = "x"\n', "expected a whole number"),
        ("bank = \n", "is not TOML"),
        ('[llm]\nbase_url = "http://elsewhere.example"\n', "may not come from the current folder"),
        ('[serve]\nhost = "0.0.0.0"\n', "may not come from the current folder"),
    ],
)
def test_a_wrong_file_stops_every_command(cli: Cli, here: Path, text: str, told: str) -> None:
    here.write_text(text)
    for command in (("config", "show"), ("list-banks",), ("retain", "x")):
        result = cli(*command)
        assert result.exit_code == 2
        assert told in result.stderr
        assert "simonides.toml" in result.stderr


def test_the_users_file_may_name_what_others_may_not(cli_json: CliJson, here: Path, own: Path) -> None:
    own.write_text('[llm]\nmodel = "m"\n[serve]\nallow_origin = ["https://notes.example"]\n')
    assert _origins(cli_json)["llm.model"] == ("m", str(own))
    assert _origins(cli_json)["serve.allow_origin"][0] == ["https://notes.example"]


def test_options_take_their_defaults_from_the_files(own: Path, here: Path) -> None:
    import typer.main  # noqa: PLC0415 the one test that needs it

    from simonides.surfaces.cli.main import app  # noqa: PLC0415 see above

    own.write_text(
        'store = "s"\nbank = "b"\nprofile = "engram"\n'
        '[serve]\nhost = "::1"\nport = 1\nallow_host = ["a"]\nallow_origin = ["o"]\nworkers = 2\nqueue = 3\n'
        'open_banks = 5\nmaintain_every = 60\nmaintain_steps = 7\nmaintain_profile = "engram"\n'
    )
    defaults = option_defaults(typer.main.get_command(app).commands)  # type: ignore[attr-defined]
    assert defaults["serve"] == {
        "store": "s", "bank": "b", "host": "::1", "port": 1, "allow_host": ["a"], "allow_origin": ["o"],
        "workers": 2, "queue": 3, "open_banks": 5,
        "maintain_every": 60, "maintain_steps": 7, "maintain_profile": "engram",
    }  # fmt: skip
    assert defaults["recall"] == {"store": "s", "bank": "b", "profile": "engram"}
    assert "bank" not in defaults["mcp"]
    assert "bank" not in defaults["token"]["create"]


def test_the_page_for_people_names_every_setting(cli: Cli) -> None:
    printed = cli("config", "show").stdout
    assert all(key in printed for key in SETTINGS)
