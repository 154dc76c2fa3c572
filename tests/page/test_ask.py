"""The one screen, with the mouse, with the keyboard alone, and as somebody may who only reads."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from simonides.surfaces.serving.tokens import TokenStore

if TYPE_CHECKING:
    from pathlib import Path

    from tests.page.conftest import Opener, Served

pytestmark = pytest.mark.browser


def test_ask_see_why_correct_and_see_the_changed_answer(served: Served, open_page: Opener) -> None:
    page = open_page(served)
    page.get_by_role("searchbox", name="Question").fill("Where does Mara live?")
    page.get_by_role("button", name="Ask", exact=True).click()
    line = page.locator(".line").first
    expect(line).to_contain_text("Mara Quill now lives in Bergen.")
    expect(page.locator(".hits li")).to_have_count(1)
    line.click()
    card = page.get_by_role("region", name="One memory")
    expect(card).to_contain_text("Why it came")
    expect(card).to_contain_text("It replaced")
    expect(card.get_by_role("link", name="Mara Quill lives in Oslo.")).to_be_visible()
    card.get_by_role("button", name="Correct").click()
    card.get_by_label("Text of the memory").fill("Mara Quill now lives in Trondheim.")
    card.get_by_role("button", name="Save").click()
    expect(page.locator(".line").first).to_contain_text("Trondheim")
    expect(page.locator("pre.context")).to_contain_text("Trondheim")
    assert "Mara Quill now lives in Trondheim." in served.texts()
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(page.locator(".line").first).to_contain_text("Bergen")
    assert "Mara Quill now lives in Bergen." in served.texts()


def test_the_whole_way_by_the_keyboard_alone(served: Served, open_page: Opener) -> None:
    page = open_page(served)
    page.keyboard.press("/")
    page.keyboard.type("heron port")
    page.keyboard.press("Enter")
    expect(page.locator(".line").first).to_contain_text("9090")
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    expect(page.get_by_role("region", name="One memory")).to_contain_text("9090")
    page.keyboard.press("e")
    expect(page.get_by_label("Text of the memory")).to_be_focused()
    page.keyboard.press("Control+a")
    page.keyboard.type("The heron service now listens on port 7070.")
    expect(page.get_by_label("Text of the memory")).to_have_value(
        "The heron service now listens on port 7070."
    )
    page.keyboard.press("Control+Enter")
    expect(page.locator(".line").first).to_contain_text("7070")
    expect(page.get_by_text("Corrected.")).to_be_visible()
    assert "The heron service now listens on port 7070." in served.texts()
    page.keyboard.press("Escape")
    expect(page.get_by_role("region", name="One memory")).to_have_count(0)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_contain_text("Next memory")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_the_address_holds_the_question_its_options_and_the_choice(served: Served, open_page: Opener) -> None:
    page = open_page(served, "ask?q=heron&precision=wide&limit=2")
    expect(page.locator(".line").first).to_be_visible()
    page.locator(".line").first.click()
    expect(page.get_by_role("region", name="One memory")).to_be_visible()
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    expect(page.get_by_role("region", name="One memory")).to_be_visible()
    expect(page.get_by_role("searchbox", name="Question")).to_have_value("heron")
    assert page.get_by_label("precision").input_value() == "wide"
    page.go_back()
    assert "about:blank" in page.url


def test_nothing_known_says_so_and_shows_what_is_nearest(served: Served, open_page: Opener) -> None:
    page = open_page(served, "ask?q=Which+opera+opens+the+season%3F")
    expect(page.locator(".band")).to_contain_text("Nothing known")
    expect(page.get_by_text("Nothing: the context is empty.")).to_be_visible()


def test_the_stages_the_other_profile_and_why_not(served: Served, open_page: Opener) -> None:
    page = open_page(served, "ask?q=Where+does+Mara+live%3F")
    page.get_by_text("How it was found").click()
    table = page.get_by_role("region", name="Time of each stage")
    expect(table).to_contain_text("bounded_priors")
    expect(page.locator(".ranks polyline").first).to_be_attached()
    page.get_by_label("Beside it, the profile").select_option("helix")
    expect(page.get_by_role("heading", name="helix")).to_be_visible()
    expect(page.locator(".columns .hits").nth(1)).to_contain_text("Mara")
    page.get_by_text("Why not another memory?").click()
    page.get_by_label("The memory that you expected").fill("rye bread")
    page.locator("details[open] ul button", has_text="rye bread").click()
    expect(page.get_by_text("Dropped by")).to_be_visible()


def test_judgements_are_kept_and_come_out_as_the_file_that_tune_reads(
    served: Served, open_page: Opener, tmp_path: Path
) -> None:
    page = open_page(served, "ask?q=Where+does+Mara+live%3F")
    right = page.get_by_role("button", name="This answers the question").first
    right.click()
    expect(right).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="Judged questions").click()
    with page.expect_download() as coming:
        page.get_by_role("button", name="Download judged.jsonl").click()
    coming.value.save_as(tmp_path / "judged.jsonl")
    [line] = (tmp_path / "judged.jsonl").read_text().splitlines()
    judged = json.loads(line)
    assert judged["query"] == "Where does Mara live?"
    [memory] = judged["relevant"]
    assert served.call("get_memory", memory=memory)["memory"]["text"] == "Mara Quill now lives in Bergen."
    page.keyboard.press("Escape")
    right.click()
    expect(right).to_have_attribute("aria-pressed", "false")
    assert served.call("list_records", space="judged")["records"] == []


def test_copies_work_as_they_stand(served: Served, open_page: Opener) -> None:
    page = open_page(served, "ask?q=rye", permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy as curl").click()
    expect(page.get_by_text("curl copied.")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert re.match(
        r"curl -X POST -H \"Authorization: Bearer \$TOKEN\" .* '\{\"query\":\"rye\"\}' 'http://", copied
    )
    page.get_by_role("button", name="Copy as Python").click()
    expect(page.get_by_text("Python copied.")).to_be_visible()
    assert f'.bank("{served.bank}").recall(query="rye")' in page.evaluate("navigator.clipboard.readText()")


def test_an_empty_bank_leads_to_the_first_memory(empty: Served, open_page: Opener) -> None:
    page = open_page(empty)
    expect(page.get_by_text("This bank is empty.")).to_be_visible()
    page.get_by_label("A first memory").fill("Mara Quill lives in Bergen.")
    page.get_by_role("button", name="Remember").click()
    expect(page.get_by_text("Remembered.")).to_be_visible()
    assert empty.texts() == ["Mara Quill lives in Bergen."]
    page.get_by_role("searchbox", name="Question").fill("Where is Mara?")
    page.keyboard.press("Enter")
    expect(page.locator(".line").first).to_contain_text("Bergen")


def test_one_memory_is_pinned_ended_and_forgotten_with_undo(served: Served, open_page: Opener) -> None:
    [found] = served.call("recall", query="rye bread")["hits"][:1]
    page = open_page(served, f"memory?id={found['id']}")
    page.get_by_role("button", name="Pin").click()
    expect(page.get_by_role("button", name="Unpin")).to_be_visible()
    assert served.call("get_memory", memory=found["id"])["memory"]["pinned"]
    page.get_by_role("button", name="Undo", exact=True).first.click()
    expect(page.get_by_role("button", name="Pin", exact=True)).to_be_visible()
    assert not served.call("get_memory", memory=found["id"])["memory"]["pinned"]
    page.get_by_role("button", name="It is no longer true").click()
    page.get_by_role("button", name="End it").click()
    expect(page.locator(".mark", has_text="ended")).to_be_visible()
    assert served.call("get_memory", memory=found["id"])["memory"]["valid_to"]
    page.get_by_role("button", name="Forget", exact=True).click()
    page.get_by_role("button", name="Forget for ever").click()
    expect(page.get_by_text("This memory is not there any more.")).to_be_visible()
    assert "Nils Varga likes rye bread." not in served.texts()


def test_two_people_correct_one_memory_and_nothing_is_lost(served: Served, open_page: Opener) -> None:
    [found] = served.call("recall", query="spare key")["hits"][:1]
    first, second = (open_page(served, f"memory?id={found['id']}") for _ in range(2))
    for page in (first, second):
        page.get_by_role("button", name="Correct").click()
    first.get_by_label("Text of the memory").fill("The spare key hangs behind the green door.")
    first.get_by_role("button", name="Save").click()
    expect(first.get_by_text("Corrected.")).to_be_visible()
    second.get_by_label("Text of the memory").fill("The spare key lies under the pot.")
    second.get_by_role("button", name="Save").click()
    conflict = second.get_by_role("alert")
    expect(conflict).to_contain_text("Somebody changed this memory meanwhile.")
    expect(conflict).to_contain_text("green door")
    assert served.call("get_memory", memory=found["id"])["memory"]["text"].endswith("green door.")
    second.get_by_role("button", name="Keep mine, as a newer version").click()
    second.get_by_role("button", name="Save").click()
    expect(second.get_by_text("Corrected.")).to_be_visible()
    texts = [each["text"] for each in served.call("history", memory=found["id"])["versions"]]
    assert texts == [
        "The spare key hangs behind the blue door.",
        "The spare key hangs behind the green door.",
        "The spare key lies under the pot.",
    ]


def test_a_reader_sees_and_changes_nothing(served: Served, open_page: Opener) -> None:
    page = open_page(served, "ask?q=rye", token=served.make_token("read"))
    expect(page.get_by_text("read-only")).to_be_visible()
    page.locator(".line").first.click()
    card = page.get_by_role("region", name="One memory")
    expect(card).to_contain_text("What is known of it")
    for name in ("Correct", "Pin", "Forget", "It is no longer true", "Archive"):
        expect(card.get_by_role("button", name=name)).to_have_count(0)
    expect(page.get_by_role("button", name="This answers the question")).to_have_count(0)


def test_a_revoked_token_leads_back_to_signing_in(served: Served, open_page: Opener) -> None:
    token = served.make_token()
    page = open_page(served, token=token)
    with TokenStore(served.store) as tokens:
        grant = tokens.find(token, 1)
        assert grant
        tokens.revoke(grant.name)
    page.get_by_role("searchbox", name="Question").fill("rye")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()


def test_without_a_server_the_page_says_so_and_goes_on_afterwards(served: Served, open_page: Opener) -> None:
    page = open_page(served)
    page.context.set_offline(True)
    page.get_by_role("searchbox", name="Question").fill("rye")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("The server does not answer.")
    page.context.set_offline(False)
    page.get_by_role("button", name="Try again").click()
    expect(page.locator(".line").first).to_contain_text("rye bread")


def test_secrets_are_masked_until_asked_for(served: Served, open_page: Opener) -> None:
    page = open_page(served, "ask?q=guest+network+passphrase")
    page.locator(".line").first.click()
    card = page.get_by_role("region", name="One memory")
    expect(card.locator(".statement")).to_contain_text("guest network")
    assert "sparrow-lantern-42" not in page.locator("body").inner_text()
    card.locator(".statement").get_by_role("button").click()
    expect(card.locator(".statement")).to_contain_text("sparrow-lantern-42")
