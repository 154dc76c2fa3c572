"""`activity` and `review`: what they print, and how they end."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.surfaces.conftest import Cli, CliJson


def test_what_happens_is_shown_and_followed(cli: Cli, cli_json: CliJson) -> None:
    cli("retain", "Figs need water.")
    memory = cli_json("list-memories")["memories"][0]["id"]
    shown = cli("activity")
    assert shown.exit_code == 0
    assert f"stored  {memory}\n  Figs need water.\n" in shown.stdout
    after = shown.stderr.partition("--after ")[2].strip()
    assert cli("activity", "--after", after).exit_code == 1
    cli("retain", "Ivo paints the gate.")
    (event,) = cli_json("activity", "--after", after, "--most", "5")["events"]
    assert (event["what"], event["memory"]["text"]) == ("stored", "Ivo paints the gate.")
    assert "after" in cli("activity", "--after", "nothing").stderr


def test_what_is_to_be_decided_is_listed_page_by_page(cli: Cli, cli_json: CliJson) -> None:
    cli("retain", "Figs need water.")
    assert cli("review").exit_code == 1
    for thing in ("office", "boat"):
        cli("retain", f"My {thing} is in Lisbon.")
        cli("retain", f"My {thing} is in Porto now.")
    page = cli_json("review", "--most", "1")
    (item,) = page["items"]
    shown = cli("review", "--most", "1")
    assert f"{item['key']}  superseded: {item['rule']} (move {item['move']})" in shown.stdout
    assert f"  {item['memory']['id']}  My boat is in Lisbon.\n" in shown.stdout
    assert f"--cursor {page['next']}" in shown.stderr
    (other,) = cli_json("review", "--cursor", page["next"])["items"]
    assert other["memory"]["text"] == "My office is in Lisbon."
    cli("undo-move", str(item["move"]))
    assert [each["key"] for each in cli_json("review", "--include-decided")["items"]] == [other["key"]]
