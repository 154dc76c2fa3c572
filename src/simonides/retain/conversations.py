"""A conversation as items: one turn each, with its neighbours as context.

A turn alone often says too little to be found ("Yes, the blue one."); the turns around it hold the words that
a question uses. Weakness: neighbours share words, so hits of one conversation crowd together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from simonides.errors import InputError, UnknownNameError
from simonides.records.hygiene import shown
from simonides.records.source import LONGEST_NEIGHBOUR, Origin
from simonides.retain.items import ITEM_KEYS, ORIGIN
from simonides.retain.window import context_of

WINDOW = 2
"""Turns on either side that become context. recall@10 on LoCoMo with windows of 0, 1, 2 and 3 turns: 0.704,
0.756, 0.767 and 0.766 (default), 0.665, 0.729, 0.766 and 0.754 (lexical)."""

OF_THE_WHOLE = frozenset({"session", "context", "document_id"})
"""What the conversation decides, and no turn by itself."""

_KEYS = ITEM_KEYS - OF_THE_WHOLE


def conversation_items(
    turns: Iterable[Mapping[str, Any]], *, session: str, before: int = WINDOW, after: int = WINDOW
) -> list[dict[str, Any]]:
    """Items for ``Bank.retain``, one per turn, in order.

    Args:
        turns: mappings with ``text`` and any other key of an item but those of ``OF_THE_WHOLE``.
        session: the caller's name for the conversation.
        before: how many turns in front of a turn become its context, from 0.
        after: how many turns behind it do.

    Returns:
        items whose text is ``Speaker: text``; the turn as it was said is kept as its origin.

    Raises:
        InputError: a turn is no such mapping, by its place (``turns[3].text``), or a window is below 0.
    """
    _check_window(before, "before")
    _check_window(after, "after")
    read = _read(turns)
    lines = [_line(turn) for turn in read]
    shortened = [line[:LONGEST_NEIGHBOUR] for line in lines]
    return [
        {
            **turn,
            "text": line,
            "session": session,
            "context": context_of(shortened, place, before=before, after=after),
            ORIGIN: Origin(turn["text"], 0, len(turn["text"])),
        }
        for place, (turn, line) in enumerate(zip(read, lines, strict=True))
    ]


def _check_window(size: object, field: str) -> None:
    if isinstance(size, bool) or not isinstance(size, int) or size < 0:
        raise InputError(field, f"expected a number of turns from 0, got {shown(size)}")


def _read(turns: object) -> list[dict[str, Any]]:
    if not isinstance(turns, Iterable) or isinstance(turns, str | bytes | Mapping):
        raise InputError("turns", f"expected a list of mappings with a text each, got {type(turns).__name__}")
    return [_turn(turn, f"turns[{place}]") for place, turn in enumerate(turns)]


def _turn(turn: object, place: str) -> dict[str, Any]:
    if not isinstance(turn, Mapping):
        raise InputError(place, f"expected a mapping with a text, got {type(turn).__name__}")
    for key in turn:
        if key not in _KEYS:
            raise UnknownNameError(f"{place}.{key}" if isinstance(key, str) else place, key, _KEYS)
    for key in ("text", "speaker"):
        value = turn.get(key)
        if not isinstance(value, str) and not (key == "speaker" and value is None):
            raise InputError(f"{place}.{key}", f"expected a string, got {type(value).__name__}")
    if not turn["text"].strip():
        raise InputError(f"{place}.text", "is blank; leave the turn out")
    return {key: value for key, value in turn.items() if value is not None}


def _line(turn: Mapping[str, Any]) -> str:
    speaker = turn.get("speaker", "").strip()
    return f"{speaker}: {turn['text']}" if speaker else str(turn["text"])
