"""All memories as a table: narrowed, searched, corrected in place, and changed many at once, with a way back."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page, Route
    from tests.page.conftest import Opener, Served

pytestmark = pytest.mark.browser

BUSY: dict[str, Any] = {
    "status": 429,
    "headers": {"retry-after": "1"},
    "json": {"detail": "too many requests at once"},
}
FAILED: dict[str, Any] = {"status": 500, "json": {"detail": "the disk is full"}}
KEY, RYE, PORT = "The spare key hangs", "likes rye bread", "listens on port 9090"


def rows(page: Page) -> Locator:
    """What the table shows."""
    return page.locator(".memory-row:not(.head)")


def row(page: Page, text: str) -> Locator:
    return rows(page).filter(has_text=text)


def choose(page: Page, *texts: str) -> None:
    for text in texts:
        row(page, text).get_by_role("checkbox").check()
    expect(page.get_by_text(f"{len(texts)} chosen")).to_be_visible()


def held(served: Served, text: str) -> Any:
    """The memory of a text, archived and ended ones, too."""
    found = served.call("list_memories", limit=1_000, include_archived="true")["memories"]
    [memory] = [each for each in found if text in each["text"]]
    return served.call("get_memory", memory=memory["id"])["memory"]


def job(page: Page) -> Locator:
    """The report of a change of many."""
    return page.get_by_role("region", name="Changes of many memories")


def test_filters_narrow_the_list_and_stand_in_the_address(served: Served, open_page: Opener) -> None:
    page = open_page(served, "memories")
    expect(rows(page)).to_have_count(10)
    expect(page.get_by_text("10 memories")).to_be_visible()
    filters = page.locator(".filters")
    people = filters.get_by_role("button", name="people 5")
    people.click()
    expect(people).to_have_attribute("aria-pressed", "true")
    expect(rows(page)).to_have_count(5)
    filters.get_by_role("button", name="health 1").click()
    expect(rows(page)).to_have_count(1)
    expect(rows(page)).to_contain_text("walnuts")
    address = page.url
    assert "tags=people%2Chealth" in address
    page.goto("about:blank")
    page.goto(address)
    expect(rows(page)).to_have_count(1)
    chips = page.get_by_label("Filters in force")
    chips.get_by_role("button", name="health").click()
    expect(rows(page)).to_have_count(5)
    page.go_back()
    expect(rows(page)).to_have_count(1)
    chips.get_by_role("button", name="Take all away").click()
    expect(rows(page)).to_have_count(10)
    for name, count in (("decision 1", 1), ("heron 3", 3), ("2026-05 1", 1)):
        filters.get_by_role("button", name=name).click()
        expect(rows(page)).to_have_count(count)
        chips.get_by_role("button").first.click()
        expect(rows(page)).to_have_count(10)
    filters.get_by_label("From").fill("2026-02-01")
    filters.get_by_label("To", exact=True).fill("2026-02-28")
    expect(rows(page)).to_have_count(1)
    expect(rows(page)).to_contain_text("Fennwick Labs")


def test_a_moment_before_everything_says_so_and_leads_to_what_was_true_then(
    served: Served, open_page: Opener
) -> None:
    page = open_page(served, "memories?as_of=2026-01-20T12:00:00Z")
    expect(page.get_by_text("Nothing was known then.")).to_be_visible()
    page.get_by_role("button", name="Show what was true then").click()
    expect(rows(page)).to_have_count(1)
    expect(rows(page)).to_contain_text("Mara Quill lives in Oslo.")
    expect(page.get_by_label("with what was learned later")).to_be_checked()
    page.goto(served.at("memories?project=nowhere"))
    expect(page.get_by_text("No memory fits.")).to_be_visible()


def test_a_search_is_narrowed_ordered_by_relevance_and_copied(served: Served, open_page: Opener) -> None:
    page = open_page(served, "memories", permissions=["clipboard-read", "clipboard-write"])
    page.keyboard.press("/")
    page.keyboard.type("rye bread")
    expect(rows(page).first).to_contain_text(RYE)
    expect(rows(page).first.get_by_label("relevance")).to_be_visible()
    expect(page).to_have_url(re.compile(r"q=rye\+bread"))
    page.get_by_role("button", name="Copy as curl").click()
    expect(page.get_by_text("curl copied.")).to_be_visible()
    assert '"query":"rye bread"' in page.evaluate("navigator.clipboard.readText()")
    page.goto(served.at("memories?q=ledger&kinds=decision"))
    expect(rows(page)).to_have_count(1)
    expect(rows(page)).to_contain_text("ledger")
    page.get_by_role("searchbox", name="Search the memories").fill("")
    expect(rows(page)).to_have_count(1)
    expect(page.get_by_text("1 memory")).to_be_visible()
    page.goto(served.at("memories"))
    ids = sorted(each["id"] for each in served.memories())
    page.get_by_label("Order").select_option("id")
    expect(rows(page).first.get_by_role("link")).to_have_attribute("href", re.compile(ids[0]))


def test_a_spoilt_address_shows_the_page(served: Served, open_page: Opener) -> None:
    page = open_page(served, "memories")
    for spoilt in ("%/ask", f"{served.bank}/%E0%A4%A", f"{served.bank}/constructor"):
        page.goto("about:blank")
        page.goto(f"{served.address}/ui#/{spoilt}")
        expect(page.get_by_role("link", name="Memories", exact=True)).to_be_visible()


def test_the_help_names_the_keys_of_the_view_before_those_of_the_page(
    served: Served, open_page: Opener
) -> None:
    page = open_page(served, "memories")
    expect(rows(page).first).to_be_visible()
    for _ in range(2):  # The page is drawn anew when the help was shown.
        page.keyboard.press("?")
        keys = page.get_by_role("dialog", name="Keys")
        expect(keys).to_contain_text("Search here")
        expect(keys).not_to_contain_text("Ask a question")
        page.keyboard.press("Escape")
        expect(keys).to_have_count(0)


def test_no_key_is_lost_while_the_page_is_late_and_a_space_stays(served: Served, open_page: Opener) -> None:
    page = open_page(served, "live")
    # What the library does after a paint comes a second later, as on a busy machine.
    page.evaluate(
        "() => { const soon = setTimeout; window.setTimeout = (run, ms) => soon(run, ms === undefined ? 1000 : ms); }"
    )
    search = page.get_by_role("searchbox", name="Search the memories")
    for view, box in (
        ("memories", search),
        ("time", page.get_by_role("searchbox", name="A question, asked at this moment")),
        ("names", page.get_by_role("searchbox", name="Search the names")),
        ("ask", page.get_by_role("searchbox", name="Question")),
    ):
        page.get_by_role("link", name=view.capitalize(), exact=True).click()
        box.focus()
        page.keyboard.type("rye")
        expect(box).to_have_value("rye")
    page.get_by_role("link", name="Memories", exact=True).click()
    search.focus()
    page.keyboard.type("rye ")
    expect(page).to_have_url(re.compile("q=rye$"))
    page.keyboard.type("bread")
    expect(search).to_have_value("rye bread")


def test_the_keyboard_walks_opens_comes_back_chooses_and_corrects(served: Served, open_page: Opener) -> None:
    page = open_page(served, "memories")
    expect(rows(page).first).to_contain_text("passphrase")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    current = page.locator(".memory-row[aria-current=true]")
    expect(current).to_contain_text("met in Bergen")
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name="One memory")).to_contain_text("met in Bergen")
    page.go_back()
    expect(current).to_contain_text("met in Bergen")
    page.keyboard.press("j")
    expect(current).to_contain_text(KEY)
    page.keyboard.press("x")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("X")
    expect(page.get_by_text("3 chosen")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_text("3 chosen")).to_have_count(0)
    page.keyboard.press("k")
    page.keyboard.press("k")
    expect(current).to_contain_text(KEY)
    page.keyboard.press("e")
    editor = page.get_by_label("Text of the memory")
    expect(editor).to_be_focused()
    page.keyboard.press("Control+a")
    page.keyboard.type("The spare key hangs behind the red door.")
    expect(editor).to_have_value("The spare key hangs behind the red door.")
    page.keyboard.press("Control+Enter")
    expect(current).to_contain_text("red door")
    assert held(served, KEY)["text"].endswith("red door.")
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox", name="Search the memories")).to_be_focused()
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(current).to_contain_text("blue door")
    assert held(served, KEY)["text"].endswith("blue door.")


def test_an_undo_in_the_list_leaves_what_somebody_else_changed_since(
    served: Served, open_page: Opener
) -> None:
    page = open_page(served, "memories")
    memory = held(served, KEY)["id"]
    row(page, KEY).click(position={"x": 400, "y": 4})
    page.keyboard.press("e")
    page.get_by_label("Text of the memory").fill("The spare key hangs behind the red door.")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("Corrected.")).to_be_visible()
    served.call("update_memory", memory=memory, text="The spare key hangs behind the green door.")
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(page.get_by_text("it was changed meanwhile")).to_be_visible()
    assert served.call("get_memory", memory=memory)["memory"]["text"].endswith("green door.")


def test_a_text_that_was_begun_waits_and_can_be_thrown_away(served: Served, open_page: Opener) -> None:
    page = open_page(served, "memories")
    row(page, KEY).click(position={"x": 400, "y": 4})
    page.keyboard.press("e")
    page.get_by_label("Text of the memory").fill("The spare key is lost.")
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    expect(row(page, KEY).get_by_text("unsaved")).to_be_visible()
    page.goto(served.at("health"))
    page.goto(served.at("memories"))
    expect(row(page, KEY).get_by_text("unsaved")).to_be_visible()
    row(page, KEY).click(position={"x": 400, "y": 4})
    page.keyboard.press("e")
    expect(page.get_by_label("Text of the memory")).to_have_value("The spare key is lost.")
    page.get_by_role("button", name="Throw away").click()
    expect(page.get_by_text("unsaved")).to_have_count(0)
    assert held(served, KEY)["version"] == 1


def test_two_who_correct_one_row_see_both_texts(served: Served, open_page: Opener) -> None:
    page = open_page(served, "memories")
    found = held(served, KEY)
    for answer, door, kept in (
        ("Keep theirs", "green", "green door."),
        ("Save mine over it", "red", "the pot."),
    ):
        row(page, "The spare key").click(position={"x": 400, "y": 4})
        page.keyboard.press("e")
        page.get_by_label("Text of the memory").fill("The spare key lies under the pot.")
        served.call("update_memory", memory=found["id"], text=f"The spare key hangs behind the {door} door.")
        page.get_by_role("button", name="Save").click()
        conflict = page.get_by_role("dialog", name="Somebody changed this memory meanwhile")
        expect(conflict.get_by_role("insertion").first).to_have_text(door)
        expect(conflict.get_by_role("insertion").last).to_contain_text("pot.")
        conflict.get_by_role("button", name=answer).click()
        expect(row(page, kept)).to_be_visible()
        assert served.call("get_memory", memory=found["id"])["memory"]["text"].endswith(kept)
    texts = [each["text"] for each in served.call("history", memory=found["id"])["versions"]]
    assert [text.split()[-2] for text in texts] == ["blue", "green", "red", "the"]


def test_tags_of_many_are_added_and_removed_and_taken_back(served: Served, open_page: Opener) -> None:
    page = open_page(served, "memories")
    choose(page, KEY, RYE)
    page.get_by_role("button", name="Add tag…").click()
    page.get_by_role("dialog").get_by_label("Tag").fill("people")
    page.keyboard.press("Enter")
    expect(job(page)).to_contain_text("Tag added to 1 memory. 1 needed no change.")
    expect(row(page, KEY).locator(".tags")).to_contain_text("people")
    assert sorted(held(served, KEY)["tags"]) == ["home", "people"]
    job(page).get_by_role("button", name="Undo").click()
    expect(job(page)).to_contain_text("Undone for 1 memory.")
    assert held(served, KEY)["tags"] == ["home"]
    page.get_by_role("button", name="Remove tag…").click()
    page.get_by_role("dialog").get_by_role("button", name="people").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(job(page)).to_contain_text("Tag removed from 1 memory.")
    assert held(served, RYE)["tags"] == []
    job(page).get_by_role("button", name="Undo").click()
    expect(row(page, RYE).locator(".tags")).to_contain_text("people")
    assert held(served, RYE)["tags"] == ["people"]
    job(page).get_by_role("button", name="close this report").click()
    expect(job(page)).to_have_count(0)


def test_many_are_pinned_archived_and_ended_each_with_undo(served: Served, open_page: Opener) -> None:
    page = open_page(served, "memories")
    choose(page, KEY, RYE)
    undo = job(page).get_by_role("button", name="Undo")
    page.get_by_role("button", name="Pin", exact=True).click()
    expect(row(page, KEY).locator(".marks")).to_contain_text("pinned")
    expect(job(page)).to_contain_text("Pinned: 2 memories.")
    assert held(served, KEY)["pinned"]
    assert held(served, RYE)["pinned"]
    undo.click()
    expect(job(page)).to_contain_text("Undone for 2 memories.")
    assert not held(served, KEY)["pinned"]
    served.call("pin", memory=held(served, RYE)["id"], always=True)
    page.get_by_role("button", name="Unpin", exact=True).click()
    expect(job(page)).to_contain_text("Unpinned: 1 memory. 1 needed no change.")
    assert not held(served, RYE)["standing"]
    undo.click()
    expect(row(page, RYE).locator(".marks")).to_contain_text("always told")
    assert held(served, RYE)["standing"]
    page.get_by_role("button", name="Archive", exact=True).click()
    expect(job(page)).to_contain_text("Archived: 1 memory.")
    expect(job(page).locator(".failures")).to_contain_text("is pinned, nothing was changed; unpin it first")
    expect(row(page, KEY).locator(".marks")).to_contain_text("archived")
    assert held(served, KEY)["archived"]
    assert not held(served, RYE)["archived"]
    undo.click()
    expect(job(page)).to_contain_text("Undone for 1 memory.")
    assert not held(served, KEY)["archived"]
    page.get_by_role("button", name="End…").click()
    page.get_by_role("button", name="End 2 memories").click()
    expect(job(page)).to_contain_text("Ended: 2 memories.")
    expect(row(page, KEY).locator(".marks")).to_contain_text("ended")
    assert KEY not in " ".join(served.texts())
    undo.click()
    expect(job(page)).to_contain_text("Undone for 2 memories.")
    assert held(served, KEY)["valid_to"] is None
    assert held(served, RYE)["valid_to"] is None


def test_forgetting_tells_what_would_go_and_of_many_asks_for_their_number(
    served: Served, open_page: Opener
) -> None:
    served.call("retain", items=[{"text": f"Shelf {n} holds box {n}.", "tags": ["shelf"]} for n in range(21)])
    page = open_page(served, "memories")
    choose(page, KEY)
    page.get_by_role("button", name="Forget…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text(re.compile(r"With it go .*1 raw source"))
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    assert held(served, KEY)
    page.get_by_role("button", name="Forget…").click()
    dialog.get_by_role("button", name="Forget for ever").click()
    expect(job(page)).to_contain_text("Forgotten: 1 memory.")
    expect(row(page, KEY)).to_have_count(0)
    assert KEY not in " ".join(served.texts())
    page.goto(served.at("memories?tags=shelf"))
    expect(page.get_by_text("21 memories")).to_be_visible()
    page.get_by_label("choose all 21 that are loaded").check()
    page.get_by_role("button", name="Forget…").click()
    forget = dialog.get_by_role("button", name="Forget for ever")
    expect(dialog).to_contain_text("With them go")
    expect(forget).to_be_disabled()
    dialog.get_by_label("Type 21 to confirm").fill("21")
    forget.click()
    expect(page.get_by_text("No memory fits.")).to_be_visible()
    assert not [text for text in served.texts() if text.startswith("Shelf")]


def test_a_busy_server_is_waited_for_and_what_failed_is_named(served: Served, open_page: Opener) -> None:
    page = open_page(served, "memories")
    broken = held(served, RYE)["id"]
    refused: list[str] = []

    def answer(asked: Route) -> None:
        if asked.request.method != "PATCH":
            asked.continue_()
        elif broken in asked.request.url:
            asked.fulfill(**FAILED)
        elif not refused:
            refused.append(asked.request.url)
            asked.fulfill(**BUSY)
        else:
            asked.continue_()

    page.route("**/memories/*", answer)
    choose(page, KEY, RYE, PORT)
    page.get_by_role("button", name="Add tag…").click()
    page.get_by_role("dialog").get_by_label("Tag").fill("checked")
    page.keyboard.press("Enter")
    expect(job(page)).to_contain_text("the server is busy, going on in 1 s")
    expect(job(page)).to_contain_text("Tag added to 2 memories.")
    expect(job(page)).to_contain_text("1 memory could not be changed; the rest was done")
    expect(job(page).locator(".failures")).to_contain_text("the disk is full")
    expect(job(page).locator(".failures")).to_contain_text(broken)
    assert refused
    assert "checked" in held(served, KEY)["tags"]
    assert "checked" in held(served, PORT)["tags"]
    assert held(served, RYE)["tags"] == ["people"]


def test_a_change_of_many_can_be_stopped(served: Served, open_page: Opener) -> None:
    page = open_page(served, "memories")
    slow = {**BUSY, "headers": {"retry-after": "2"}}
    page.route("**/pin", lambda asked: asked.fulfill(**slow))
    choose(page, KEY, RYE, PORT)
    page.get_by_role("button", name="Pin", exact=True).click()
    job(page).get_by_role("button", name="Stop").click()
    expect(job(page)).to_contain_text("Stopped: 2 left as they were.")
    assert not any(each["pinned"] for each in served.memories())


def test_a_list_that_the_server_refuses_can_be_asked_for_again(served: Served, open_page: Opener) -> None:
    page = open_page(served, "health")
    page.route("**/memories?*", lambda asked: asked.fulfill(**BUSY))
    page.goto(served.at("memories"))
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("The server is busy")
    expect(alert).to_contain_text("Try again in 1 s.")
    page.unroute("**/memories?*")
    page.route("**/memories?*", lambda asked: asked.abort())
    alert.get_by_role("button", name="Try again").click()
    expect(alert).to_contain_text("The server does not answer.")
    page.unroute("**/memories?*")
    alert.get_by_role("button", name="Try again").click()
    expect(rows(page)).to_have_count(10)
    row(page, KEY).click(position={"x": 400, "y": 4})
    page.keyboard.press("e")
    page.get_by_label("Text of the memory").fill("The spare key is lost.")
    page.context.set_offline(True)
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".notice.wrong")).to_contain_text("The server does not answer.")
    expect(page.get_by_label("Text of the memory")).to_have_value("The spare key is lost.")
    page.context.set_offline(False)
    page.get_by_role("button", name="Save").click()
    expect(row(page, "The spare key is lost.")).to_be_visible()
    assert "The spare key is lost." in served.texts()


def test_a_first_memory_is_stored_from_an_empty_list_and_taken_back(empty: Served, open_page: Opener) -> None:
    page = open_page(empty, "memories")
    page.get_by_label("Here").fill("Mara Quill lives in Bergen.")
    page.get_by_role("button", name="Store it").click()
    expect(rows(page)).to_have_count(1)
    assert empty.texts() == ["Mara Quill lives in Bergen."]
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(page.get_by_text("Nothing is remembered here yet")).to_be_visible()
    assert empty.texts() == []


def test_a_reader_filters_and_opens_and_changes_nothing(served: Served, open_page: Opener) -> None:
    page = open_page(served, "memories", token=served.make_token("read"))
    expect(rows(page)).to_have_count(10)
    expect(page.get_by_role("checkbox", name=re.compile("choose"))).to_have_count(0)
    page.keyboard.press("j")
    page.keyboard.press("e")
    page.keyboard.press("x")
    expect(page.locator(".memory-row[aria-current=true]")).to_be_visible()
    expect(page.get_by_label("Text of the memory")).to_have_count(0)
    expect(page.get_by_role("toolbar")).to_have_count(0)
    page.locator(".filters").get_by_role("button", name="home 2").click()
    expect(rows(page)).to_have_count(2)
    row(page, KEY).get_by_role("link").click()
    expect(page.get_by_role("region", name="One memory")).to_contain_text("spare key")
    assert all(each["version"] == 1 for each in served.memories())
