"""What happens in a bank, and what is to be decided there."""

from typing import TYPE_CHECKING, Any

from simonides.surfaces.cli.operating import Command
from simonides.surfaces.cli.output import print_text, say

if TYPE_CHECKING:
    from collections.abc import Mapping


def _show_activity(answer: "Mapping[str, Any]") -> None:
    for event in answer["events"]:
        memory, by = event["memory"], event["by"]
        who = f" by {by}" if by else ""
        print_text(f"{_minute(event['at'])}  {event['what']}{who}  {' '.join(event['ids'])}")
        text = memory["text"] if memory else event["query"]
        print_text("\n".join(f"  {line}" for part in (text, event["context"]) for line in part.splitlines()))
    if not answer["events"]:
        say("nothing happened")
    say(f"what comes then: --after {answer['next']}")


def _show_review(answer: "Mapping[str, Any]") -> None:
    for item in answer["items"]:
        move = "" if item["move"] is None else f" (move {item['move']})"
        decided = ", decided" if item["decided"] else ""
        print_text(f"{item['key']}  {item['what']}{decided}: {item['rule']}{move}")
        for memory in filter(None, (item["memory"], item["other"])):
            print_text(f"  {memory['id']}  {' '.join(memory['text'].split())}")
    if not answer["items"]:
        say("nothing is to be decided")
    if answer["next"]:
        say(f"there are more: --cursor {answer['next']}")


def _minute(written: str | None) -> str:
    return written.replace("T", " ")[:16] if written else "-"


ACTIVITY = Command("activity", _show_activity, no=lambda answer: not answer["events"])
REVIEW = Command("review", _show_review, no=lambda answer: not answer["items"])
