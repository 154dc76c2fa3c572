"""What waits for a decision: each way to decide it, by mouse and by keyboard, and each way back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page
    from tests.page.conftest import Opener, Served

pytestmark = pytest.mark.browser

OSLO, PORT, KEY = (
    "Mara Quill lives in Oslo.",
    "listens on port 8080",
    "The spare key hangs behind the blue door.",
)


def stated(place: str, day: str) -> dict[str, Any]:
    """A statement of one value, beside which no other may hold."""
    statement = {"subject": "Odalys Brenn", "relation": "works at", "object": place, "single_valued": True}
    return {"text": f"Odalys Brenn works at {place}.", "event_time": day, **statement}


@pytest.fixture
def waiting(served: Served) -> Served:
    """Two that were replaced, newest first, and one that was set aside, newest of all."""
    [hit] = served.call("recall", query="spare key")["hits"][:1]
    served.call("quarantine", ids=[hit["id"]])
    return served


def card(page: Page) -> Locator:
    return page.locator(".inbox-card")


def listed(page: Page) -> Locator:
    """The list of what waits."""
    return page.get_by_role("list", name="What waits").get_by_role("listitem")


def of(served: Served, text: str) -> Any:
    """The memory of a waiting item, undecided or not."""
    [memory] = [
        each["memory"] for each in served.call("review", most=100)["items"] if text in each["memory"]["text"]
    ]
    return memory


def undecided(served: Served) -> list[str]:
    items = served.call("review", most=100)["items"]
    return [each["memory"]["text"] for each in items if not each["decided"]]


def undo(page: Page) -> None:
    page.get_by_role("button", name="Undo", exact=True).last.click()


def test_what_was_replaced_is_kept_so_and_comes_back_by_undo(waiting: Served, open_page: Opener) -> None:
    page = open_page(waiting, "inbox?what=superseded")
    expect(listed(page)).to_have_count(2)
    expect(card(page)).to_contain_text("A newer statement replaced this one")
    expect(card(page).get_by_role("deletion")).to_contain_text(["8080."])
    expect(card(page).get_by_role("insertion").last).to_have_text("9090.")
    expect(card(page)).to_contain_text("same attribute")
    card(page).get_by_role("button", name="Rightly so").click()
    expect(listed(page)).to_have_count(1)
    expect(card(page)).to_contain_text("Oslo")
    assert undecided(waiting) == [KEY, OSLO]
    [record] = waiting.call("list_records", space="review")["records"]
    assert record["value"]["decided"] == "kept"
    undo(page)
    expect(listed(page)).to_have_count(2)
    expect(card(page)).to_contain_text("8080")
    assert waiting.call("list_records", space="review")["records"] == []
    assert len(undecided(waiting)) == 3


def test_the_keyboard_walks_decides_and_opens_and_the_address_holds_the_item(
    waiting: Served, open_page: Opener
) -> None:
    page = open_page(waiting, "inbox")
    expect(card(page)).to_contain_text(KEY)
    expect(card(page)).to_contain_text("1 of 3")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    expect(card(page)).to_contain_text("8080")
    page.wait_for_url("**at=*")
    address = page.url
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name="One memory")).to_contain_text("8080")
    page.goto("about:blank")
    page.goto(address)
    expect(card(page)).to_contain_text("2 of 3")
    page.keyboard.press("u")
    expect(page.get_by_text("Undone: both hold again.")).to_be_visible()
    expect(listed(page)).to_have_count(2)
    expect(card(page)).to_contain_text("Oslo")
    assert sum("listens on port" in text for text in waiting.texts()) == 2
    undo(page)
    expect(page.get_by_text("Undone.", exact=True)).to_be_visible()
    assert sum("listens on port" in text for text in waiting.texts()) == 1
    page.keyboard.press("k")
    page.keyboard.press("k")
    expect(card(page)).to_contain_text(KEY)
    page.keyboard.press("a")
    expect(listed(page)).to_have_count(1)
    assert undecided(waiting)[:1] != [KEY]


def test_of_two_that_contradict_each_other_either_is_ended_and_comes_back(
    served: Served, open_page: Opener
) -> None:
    served.call("retain", items=[{**stated("Tarn Mill", "2026-01-05"), "role": "user"}])
    served.call("retain", items=[{**stated("Norrhav Port", "2026-02-05"), "role": "tool"}])
    page = open_page(served, "inbox?what=conflict")
    expect(card(page)).to_contain_text("Two memories contradict each other")
    for name, gone, day in (
        ("End the older", "Tarn Mill", "2026-02-05"),
        ("End the newer", "Norrhav Port", ""),
    ):
        card(page).get_by_role("button", name=name).click()
        expect(page.get_by_text("None of this kind waits.")).to_be_visible()
        assert not any(gone in text for text in served.texts())
        [ended] = [
            each for each in served.call("moves")["moves"] if not each["became"] and not each["undone_at"]
        ]
        memory = served.call("get_memory", memory=ended["memory"])["memory"]
        assert gone in memory["text"]
        assert memory["valid_to"].startswith(day)
        undo(page)
        expect(card(page)).to_contain_text("Two memories contradict each other")
        assert any(gone in text for text in served.texts())


def test_what_was_set_aside_is_released_and_goes_back_by_undo(waiting: Served, open_page: Opener) -> None:
    page = open_page(waiting, "inbox?what=quarantined")
    expect(card(page)).to_contain_text("It is told to nobody until somebody releases it.")
    assert KEY not in waiting.texts()
    page.keyboard.press("r")
    expect(page.get_by_text("Released: it is told like any other.")).to_be_visible()
    assert KEY in waiting.texts()
    undo(page)
    expect(page.get_by_text("Undone.")).to_be_visible()
    assert KEY not in waiting.texts()
    page.goto(waiting.at("inbox"))
    expect(page.get_by_role("button", name="Set aside 1")).to_be_visible()


def test_a_day_that_the_words_leave_open_is_dated_by_one_key_and_open_again_by_undo(
    served: Served, open_page: Opener
) -> None:
    [memory] = served.call("retain", items=["The dentist was supposed to be on Monday."])["ids"]
    page = open_page(served, "inbox?what=unsure_date")
    expect(card(page)).to_contain_text("The words do not tell which day")
    [item] = [each for each in served.call("review", most=100)["items"] if each["memory"]["id"] == memory]
    page.keyboard.press("2")
    expect(page.get_by_text("The date is set.")).to_be_visible()
    dated = served.call("get_memory", memory=memory)["memory"]
    assert dated["event_time"].startswith(item["days"][1])
    undo(page)
    expect(card(page)).to_contain_text("The words do not tell which day")
    assert served.call("get_memory", memory=memory)["memory"]["event_time"] is None
    page.keyboard.press("t")
    page.get_by_label("When it was true").fill("2026-02-20")
    page.keyboard.press("Enter")
    expect(page.get_by_text("The date is corrected.")).to_be_visible()
    assert served.call("get_memory", memory=memory)["memory"]["event_time"].startswith("2026-02-20")
    served.call("update_memory", memory=memory, event_time="2026-02-21")
    undo(page)
    expect(page.get_by_text("it was changed meanwhile")).to_be_visible()
    assert served.call("get_memory", memory=memory)["memory"]["event_time"].startswith("2026-02-21")


def test_either_text_is_corrected_and_comes_back(waiting: Served, open_page: Opener) -> None:
    page = open_page(waiting, "inbox?what=superseded")
    expect(card(page)).to_contain_text("8080")
    page.keyboard.press("j")
    expect(card(page)).to_contain_text("Oslo")
    memory = of(waiting, OSLO)
    card(page).get_by_role("button", name="Correct the text").last.click()
    editor = page.get_by_label("Text of the memory")
    editor.press("Escape")
    expect(editor).to_have_count(0)
    page.keyboard.press("e")
    expect(editor).to_be_focused()
    editor.fill("Mara Quill lives in Old Oslo.")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("Corrected.")).to_be_visible()
    assert of(waiting, "Old Oslo")["id"] == memory["id"]
    undo(page)
    expect(page.get_by_text("Undone.", exact=True)).to_be_visible()
    assert of(waiting, OSLO)["id"] == memory["id"]


def test_one_of_the_two_is_forgotten(waiting: Served, open_page: Opener) -> None:
    page = open_page(waiting, "inbox?what=superseded")
    expect(card(page)).to_be_visible()
    page.keyboard.press("d")
    dialog = page.get_by_role("dialog", name="Forget this memory?")
    expect(dialog.get_by_role("radio").first).to_be_checked()
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    assert of(waiting, PORT)
    page.keyboard.press("d")
    dialog.get_by_label("Ended:").check()
    dialog.get_by_role("button", name="Forget for ever").click()
    expect(page.get_by_text("Forgotten, with every version.")).to_be_visible()
    expect(listed(page)).to_have_count(1)
    assert undecided(waiting) == [KEY, OSLO]
    assert any("port 9090" in text for text in waiting.texts())


def test_a_reader_sees_what_waits_and_decides_nothing(waiting: Served, open_page: Opener) -> None:
    page = open_page(waiting, "inbox", token=waiting.make_token("read"))
    expect(card(page)).to_contain_text("You may read, and decide nothing.")
    expect(card(page).locator(".actions button")).to_have_count(0)
    for key in "jauontedr":
        page.keyboard.press(key)
    expect(card(page)).to_contain_text("2 of 3")
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert len(undecided(waiting)) == 3


def test_a_decision_that_does_not_reach_the_server_leaves_the_item(
    waiting: Served, open_page: Opener
) -> None:
    page = open_page(waiting, "inbox")
    expect(card(page)).to_be_visible()
    busy: dict[str, Any] = {
        "status": 429,
        "headers": {"retry-after": "3"},
        "json": {"detail": "too many requests at once"},
    }
    page.route("**/put-records", lambda asked: asked.fulfill(**busy))
    page.keyboard.press("a")
    expect(page.locator(".notice.wrong")).to_contain_text("too many requests at once Try again in 3 s.")
    expect(listed(page)).to_have_count(3)
    page.unroute("**/put-records")
    page.context.set_offline(True)
    page.keyboard.press("a")
    expect(page.locator(".notice.wrong").last).to_contain_text("The server does not answer.")
    expect(listed(page)).to_have_count(3)
    assert len(undecided(waiting)) == 3
    page.context.set_offline(False)
    for left in (2, 1):
        page.keyboard.press("a")
        expect(listed(page)).to_have_count(left)
    page.keyboard.press("a")
    expect(page.get_by_text("Nothing waits for you.")).to_be_visible()
    assert undecided(waiting) == []


def test_what_never_held_cannot_be_ended(empty: Served, open_page: Opener) -> None:
    """The newer one of the same day took its place from the start."""
    empty.call("retain", items=[stated("Tarn Mill", "2026-01-05")])
    empty.call("retain", items=[stated("Norrhav Port", "2026-01-05")])
    page = open_page(empty, "inbox")
    expect(card(page)).to_contain_text("Tarn Mill")
    expect(card(page).get_by_role("button", name="End the newer")).to_be_visible()
    expect(card(page).get_by_role("button", name="End the older")).to_have_count(0)
