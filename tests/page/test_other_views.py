"""Live, Time, Names and Health: what each shows, and what each does, read back past the page."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Locator, Page
    from tests.page.conftest import Opener, Served

pytestmark = pytest.mark.browser

BUSY: dict[str, Any] = {
    "status": 429,
    "headers": {"retry-after": "2"},
    "json": {"detail": "too many requests at once"},
}
NEW = "The heron service now listens on port 9091."


def undo(page: Page) -> None:
    page.locator(".notice").get_by_role("button", name="Undo").last.click()


# -- live


def events(page: Page) -> Locator:
    return page.locator(".events > li")


def test_live_shows_what_is_stored_asked_and_forgotten_as_it_happens(
    served: Served, open_page: Opener
) -> None:
    page = open_page(served, "live")
    expect(events(page)).to_have_count(14)
    expect(page.get_by_text("Listening")).to_be_visible()
    served.call("retain", items=[{"text": "Ada Brun keeps bees."}])
    expect(events(page).first).to_contain_text("Ada Brun keeps bees.")
    answer = served.call("recall", query="Where does Mara live?")
    expect(events(page).first).to_contain_text("Where does Mara live?")
    given = events(page).first.get_by_text("The exact text that the agent was given")
    given.click()
    expect(events(page).first.locator("pre")).to_have_text(answer["context"], use_inner_text=True)
    served.call("forget", ids=[answer["hits"][0]["id"]])
    expect(events(page).filter(has_text="What was forgotten is not told.")).to_have_count(1)
    expect(events(page).filter(has_text="Mara Quill now lives in Bergen.")).to_have_count(0)
    page.get_by_role("button", name="Forgotten").click()
    expect(events(page)).to_have_count(1)
    page.get_by_role("button", name="Recalled").click()
    expect(events(page)).to_have_count(2)
    assert "what=forgotten%2Crecalled" in page.url
    page.get_by_role("button", name="Everything").click()
    expect(events(page).filter(has_text="Ada Brun")).to_have_count(1)


def test_live_is_paused_and_walked_by_keys_and_goes_on_where_it_was(
    served: Served, open_page: Opener
) -> None:
    page = open_page(served, "live?what=stored")
    expect(events(page).first).to_contain_text("passphrase")
    page.keyboard.press("p")
    expect(page.get_by_text("Paused")).to_be_visible()
    served.call("retain", items=[{"text": NEW}])
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    expect(events(page).nth(1)).to_be_focused()
    expect(events(page).first).to_contain_text("passphrase")
    page.keyboard.press("p")
    expect(events(page).first).to_contain_text(NEW)
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name="One memory")).to_be_visible()
    page.goto(served.at("live?paused=yes"))
    expect(page.get_by_text("Go on to see what happens.")).to_be_visible()
    page.get_by_role("button", name="Go on").click()
    expect(events(page).first).to_be_visible()


def test_live_asks_a_busy_or_lost_server_again_and_misses_nothing(served: Served, open_page: Opener) -> None:
    page = open_page(served, "live")
    expect(events(page).first).to_contain_text("passphrase")
    page.route("**/activity?*", lambda asked: asked.fulfill(**BUSY))
    expect(page.get_by_text("The server is busy; asked again in 2 s")).to_be_visible()
    page.unroute("**/activity?*")
    page.route("**/activity?*", lambda asked: asked.fulfill(status=400, json={"detail": "of another state"}))
    expect(page.get_by_text("of another state; asked again in")).to_be_visible()
    page.unroute("**/activity?*")
    page.context.set_offline(True)
    page.keyboard.press("p")
    expect(page.get_by_text("Paused")).to_be_visible()
    page.keyboard.press("p")
    expect(page.get_by_text("The server does not answer.")).to_be_visible()
    served.call("retain", items=[{"text": NEW}])
    page.context.set_offline(False)
    expect(events(page).filter(has_text=NEW).first).to_be_visible(timeout=10_000)
    expect(page.get_by_text("Listening")).to_be_visible()
    expect(events(page).filter(has_text="passphrase")).to_have_count(1)


# -- time


def test_time_shows_what_was_true_then_as_known_then_or_now(served: Served, open_page: Opener) -> None:
    page = open_page(served, "time?as_of=2026-01-20T12:00:00Z")
    table = page.locator("table.memories")
    expect(page.get_by_text("Nothing was true here then.")).to_be_visible()
    page.get_by_label("what is known now").check()
    expect(table.get_by_role("link")).to_have_text(["Mara Quill lives in Oslo."])
    expect(page.get_by_role("heading", name="1 memory true on 20 Jan 2026, as known now")).to_be_visible()
    page.get_by_label("what is known now").blur()
    page.keyboard.press("]")
    expect(page.get_by_role("heading", name="true on 20 Feb 2026")).to_be_visible()
    expect(table).to_contain_text("Fennwick Labs")
    page.get_by_label("True at", exact=True).focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("heading", name="true on 21 Feb 2026")).to_be_visible()
    page.get_by_label("True at, exactly").fill("2026-04-01T12:00")
    page.get_by_label("True at, exactly").blur()
    expect(table).to_contain_text("Mara Quill now lives in Bergen.")
    expect(table).not_to_contain_text("Mara Quill lives in Oslo.")
    page.get_by_label("what was known on another day").check()
    expect(page.get_by_label("Known by, exactly")).to_be_visible()
    page.get_by_role("button", name="As known now").click()
    expect(table).to_contain_text("Bergen")
    page.get_by_role("button", name="Now", exact=True).click()
    expect(page.get_by_role("heading", name=re.compile("10 memories true now"))).to_be_visible()


def test_time_answers_a_question_at_its_moment_from_the_address(served: Served, open_page: Opener) -> None:
    page = open_page(served, "time?as_of=2026-01-20T12:00:00Z&known=now")
    page.keyboard.press("/")
    page.keyboard.type("Where does Mara live?")
    page.keyboard.press("Enter")
    answer = page.locator(".answer")
    expect(answer.get_by_role("listitem").first).to_contain_text("Mara Quill lives in Oslo.")
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    expect(answer.get_by_role("listitem").first).to_contain_text("Mara Quill lives in Oslo.")
    answer.get_by_text("The context that an agent is given").click()
    expect(answer.locator("pre")).to_contain_text("Oslo")
    page.get_by_role("button", name="Now", exact=True).click()
    expect(answer.get_by_role("listitem").first).to_contain_text("Mara Quill now lives in Bergen.")


def test_time_compares_two_moments(served: Served, open_page: Opener) -> None:
    page = open_page(served, "time")
    page.get_by_role("button", name="Between two moments").click()
    page.get_by_label("From, exactly").fill("2026-01-01T12:00")
    page.get_by_label("From, exactly").blur()
    begun = page.locator("#begun")
    expect(begun).to_contain_text("Nils Varga likes rye bread.")
    expect(begun.get_by_role("listitem")).to_have_count(10)
    page.goto(served.at("time?show=between&from=2026-05-01T00:00:00Z&to=2026-04-01T00:00:00Z"))
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("The first moment is not before the second.")
    alert.get_by_role("button", name="Change them round").click()
    expect(alert).to_have_count(0)
    expect(page.get_by_text("Nothing changed.")).to_be_visible()
    before = max(each["ingested_at"] for each in served.memories())
    [port] = [each for each in served.memories() if "port 9090" in each["text"]]
    served.call("update_memory", memory=port["id"], text="The heron service now listens on port 9095.")
    served.call("retain", items=[{"text": "Mara Quill now lives in Tromsø."}])
    page.goto(served.at(f"time?show=between&from={before.replace('+', '%2B')}"))
    changed = page.locator("#changed")
    expect(changed.get_by_role("listitem")).to_have_count(2)
    expect(changed).to_contain_text("another value of 'lives in'")
    expect(changed.get_by_role("deletion").filter(has_text="9090")).to_be_visible()
    expect(changed.get_by_role("insertion").filter(has_text="Tromsø")).to_be_visible()


# -- names


def entity(served: Served, name: str) -> Any:
    entities = served.call("entities", limit=100)["entities"]
    [found] = [each for each in entities if each["name"] == name]
    return found


def test_names_are_searched_and_walked_and_show_what_stands_beside(served: Served, open_page: Opener) -> None:
    page = open_page(served, "names")
    listed = page.get_by_role("list", name="Names").get_by_role("listitem")
    expect(listed).to_have_count(5)
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    head = page.locator(".name-head")
    expect(head.get_by_role("heading", name="Nils Varga")).to_be_visible()
    expect(head).to_contain_text("3 memories mention it")
    expect(page.locator("table.memories").get_by_role("link")).to_have_count(3)
    page.locator("svg.around").get_by_text("Mara Quill").click()
    expect(head.get_by_role("heading", name="Mara Quill")).to_be_visible()
    page.get_by_label("As of, exactly").fill("2026-01-20T12:00")
    page.get_by_label("As of, exactly").blur()
    expect(page.get_by_text("Nothing mentioned it at this moment.")).to_be_visible()
    page.get_by_role("button", name="Now", exact=True).click()
    expect(page.locator("table.memories").get_by_role("link").first).to_be_visible()
    page.get_by_label("Kind").select_option("person")
    expect(listed).to_have_count(2)
    page.keyboard.press("f")
    page.keyboard.type("varg")
    expect(listed).to_have_count(1)
    expect(listed).to_contain_text("Nils Varga")
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    expect(listed).to_have_count(1)
    expect(head.get_by_role("heading", name="Mara Quill")).to_be_visible()


def test_a_name_is_added_and_removed_each_with_undo(served: Served, open_page: Opener) -> None:
    mara = entity(served, "Mara Quill")["number"]
    page = open_page(served, f"names?entity={mara}")
    alias = page.locator(".alias")
    page.get_by_role("button", name="Add a name").click()
    page.get_by_label("Another name").press("Escape")
    expect(page.get_by_label("Another name")).to_have_count(0)
    page.get_by_role("button", name="Add a name").click()
    page.keyboard.type("Marinka")
    page.keyboard.press("Enter")
    expect(alias).to_contain_text("Marinka")
    assert entity(served, "Mara Quill")["aliases"] == ["Marinka"]
    undo(page)
    expect(alias).to_have_count(0)
    assert entity(served, "Mara Quill")["aliases"] == []
    served.call("add_alias", entity=mara, name="Marinka")
    page.reload()
    page.get_by_role("button", name="Remove the name Marinka").click()
    expect(page.get_by_text("“Marinka” does not mean Mara Quill any more.")).to_be_visible()
    assert entity(served, "Mara Quill")["aliases"] == []
    undo(page)
    expect(alias).to_contain_text("Marinka")
    assert entity(served, "Mara Quill")["aliases"] == ["Marinka"]


def test_two_names_are_merged_and_parted_again(served: Served, open_page: Opener) -> None:
    nils, mara = entity(served, "Nils Varga")["number"], entity(served, "Mara Quill")["number"]

    def apart() -> int:
        return sum(each["number"] in (nils, mara) for each in served.call("entities", limit=100)["entities"])

    page = open_page(served, f"names?entity={nils}")
    head = page.locator(".name-head")
    page.get_by_role("button", name="Merge into another…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Merge", exact=True)).to_be_disabled()
    dialog.get_by_label("Which name is the same?").fill("quill")
    dialog.get_by_role("radio", name="Mara Quill").check()
    expect(dialog).to_contain_text("Nils Varga counts as Mara Quill from then on")
    dialog.get_by_role("button", name="Merge into Mara Quill").click()
    expect(head.get_by_role("heading", name="Mara Quill")).to_be_visible()
    expect(head).to_contain_text("5 memories mention it")
    assert apart() == 1
    undo(page)
    expect(head).to_contain_text("3 memories mention it")
    assert apart() == 2
    served.call("merge_entities", entity=nils, into=mara)
    page.reload()
    merged = page.get_by_role("row").filter(has_text="Nils Varga").filter(has=page.get_by_role("button"))
    merged.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Nils Varga stands for itself again.")).to_be_visible()
    assert apart() == 2
    undo(page)
    expect(head).to_contain_text("5 memories mention it")
    assert apart() == 1


# -- health


def test_health_checks_for_damage_and_tells_what_the_bank_holds(served: Served, open_page: Opener) -> None:
    page = open_page(served, "health")
    expect(page.get_by_role("row", name=re.compile("Memories that hold now 10"))).to_be_visible()
    page.route("**/verify*", lambda asked: asked.fulfill(**BUSY))
    page.get_by_role("button", name="Check now").click()
    expect(page.get_by_role("alert")).to_contain_text("Try again in 2 s.")
    page.unroute("**/verify*")
    page.get_by_role("button", name="Check now").click()
    expect(page.locator(".verdict")).to_contain_text("No damage")
    expect(page.get_by_text(re.compile("Checked: .*rows"))).to_be_visible()


def test_health_undoes_a_move_and_runs_maintenance_only_when_told(served: Served, open_page: Opener) -> None:
    served.call("retain", items=[{"text": "The parking code is 4411.", "ttl": 0.001, "on_expiry": "archive"}])
    page = open_page(served, "health?part=maintenance")
    page.get_by_role("button", name="See what it would do").click()
    expect(page.get_by_text("parking code").first).to_be_visible()
    before = served.call("moves")["moves"]
    page.get_by_role("button", name="Do these 1 steps").click()
    expect(page.get_by_text("Maintenance is done.")).to_be_visible()
    assert len(served.call("moves")["moves"]) == len(before) + 1
    undo(page)
    expect(page.get_by_text("Undone.", exact=True)).to_be_visible()
    assert sum(bool(each["undone_at"]) for each in served.call("moves")["moves"]) == 1
    page.get_by_role("group", name="Show only").get_by_role("button", name="Replaced").click()
    oslo = page.get_by_role("row").filter(has_text="Mara Quill lives in Oslo.")
    expect(oslo).to_contain_text("Mara Quill now lives in Bergen.")
    assert "action=close" in page.url
    oslo.get_by_role("button", name="Undo").click()
    expect(oslo).to_contain_text("undone")
    assert "Mara Quill lives in Oslo." in served.texts()


def test_health_shows_the_log_the_server_and_gives_copies(
    served: Served, open_page: Opener, tmp_path: Path
) -> None:
    page = open_page(served, "health?part=log")
    expect(page.get_by_text("The log is empty.")).to_be_visible()
    page.get_by_role("button", name="Check every row").click()
    expect(page.get_by_text("This bank keeps no audit log.")).to_be_visible()
    page.get_by_role("button", name="Reads").click()
    expect(page.get_by_role("heading", name="Who read")).to_be_visible()
    page.get_by_role("navigation", name="Parts of health").get_by_role("link", name="Server").click()
    expect(page.locator(".verdict")).to_contain_text("Version")
    expect(page.get_by_text("You are the owner, and may")).to_be_visible()
    expect(page.get_by_role("row").filter(has_text="retain").first).to_be_visible()
    page.get_by_role("navigation", name="Parts of health").get_by_role("link", name="Copies").click()
    for title, ending in (("Lines of JSON", ".jsonl"), ("One database file", ".simonides")):
        with page.expect_download() as coming:
            page.get_by_role("button", name=f"Download: {title}").click()
        assert coming.value.suggested_filename.startswith(f"{served.bank}-2")
        assert coming.value.suggested_filename.endswith(ending)
        coming.value.save_as(tmp_path / f"copy{ending}")
    lines = (tmp_path / "copy.jsonl").read_text("utf-8").splitlines()
    assert any("rye bread" in json.dumps(json.loads(line)) for line in lines)
    assert (tmp_path / "copy.simonides").stat().st_size > 0
    page.context.set_offline(True)
    page.get_by_role("button", name="Download: Lines of JSON").click()
    expect(page.locator(".notice.wrong")).to_contain_text("The server does not answer.")
    page.context.set_offline(False)


# -- who only reads


def test_a_reader_sees_each_view_and_changes_nothing(served: Served, open_page: Opener) -> None:
    mara = entity(served, "Mara Quill")["number"]
    served.call("add_alias", entity=mara, name="Marinka")
    page = open_page(served, "live", token=served.make_token("read"))
    expect(events(page).first).to_be_visible()
    page.goto(served.at("time?q=Where+does+Mara+live%3F"))
    expect(page.locator(".answer")).to_contain_text("Bergen")
    page.goto(served.at(f"names?entity={mara}"))
    expect(page.locator(".alias")).to_contain_text("Marinka")
    for name in ("Add a name", "Merge into another…", "Remove the name Marinka"):
        expect(page.get_by_role("button", name=name)).to_have_count(0)
    page.goto(served.at("health?part=copies"))
    expect(page.get_by_role("button", name="Check now")).to_be_visible()
    parts = page.get_by_role("navigation", name="Parts of health").get_by_role("link")
    expect(parts).to_have_text(["State", "Maintenance", "Server"])
    page.goto(served.at("health?part=maintenance"))
    expect(page.get_by_role("row").filter(has_text="Mara Quill lives in Oslo.")).to_be_visible()
    expect(page.locator("main").get_by_role("button", name="Undo")).to_have_count(0)
    expect(page.get_by_role("button", name="See what it would do")).to_have_count(0)
