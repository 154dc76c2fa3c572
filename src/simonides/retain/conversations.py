"""A conversation as items: one turn each, with its neighbours as context. A chat message is a turn.

A turn alone often says too little to be found ("Yes, the blue one."); the turns around it hold the words that
a question uses. Weakness: neighbours share words, so hits of one conversation crowd together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from simonides.errors import InputError, UnknownNameError
from simonides.options import OF_THE_WHOLE
from simonides.records.hygiene import shown, shows_nothing
from simonides.records.source import LONGEST_NEIGHBOUR, Origin
from simonides.retain.items import ITEM_KEYS, ORIGIN
from simonides.retain.messages import MessageReader, is_message

if TYPE_CHECKING:
    from collections import Counter

    from simonides.retain.messages import MessageObject


def context_of(turns: Sequence[str], index: int, *, before: int = 1, after: int = 1) -> str:
    """The texts around turn *index* of one conversation, blank ones left out, joined by line breaks.

    *before* and *after*: how many turns on either side, from 0; near an end there are fewer.
    ``InputError``: *index* is not the position of a turn, or a number of turns is negative.
    """
    if not 0 <= index < len(turns):
        raise InputError("index", f"{index} is outside the {len(turns)} turns; positions count from 0")
    for field, number in (("before", before), ("after", after)):
        if number < 0:
            raise InputError(field, f"{number} is negative; give a number of turns from 0")
    around = (*turns[max(0, index - before) : index], *turns[index + 1 : index + 1 + after])
    return "\n".join(turn.strip() for turn in around if turn.strip())


WINDOW = 2
"""Turns on either side that become context. recall@10 on LoCoMo with windows of 0, 1, 2 and 3 turns: 0.704,
0.756, 0.767 and 0.766 (default), 0.665, 0.729, 0.766 and 0.754 (lexical)."""

_KEYS = ITEM_KEYS - OF_THE_WHOLE


_PlacedTurn = tuple[dict[str, Any], str]
"""A turn, and where the caller's list has it."""


@dataclass(frozen=True, slots=True)
class Given:
    """Items among which there were messages.

    Attributes:
        items: for ``read_items``; a message is a turn with its neighbours as context, or is left out.
        places: name of each, for errors: ``messages[3]`` or ``items[3]``.
        left_out: how many of what was left out of messages.
    """

    items: list[object]
    places: list[str]
    left_out: Counter[str]


def conversation_items(
    turns: Iterable[Mapping[str, Any] | MessageObject],
    *,
    session: str,
    before: int = WINDOW,
    after: int = WINDOW,
    left_out: Counter[str] | None = None,
) -> list[dict[str, Any]]:
    """Items for ``Bank.retain``, one per turn, in order; the text is ``Speaker: text``.

    Args:
        turns: mappings with ``text`` and any other key of an item but those of ``OF_THE_WHOLE``; or chat
            messages.
        before, after: how many turns on either side become a turn's context, from 0.

    Raises:
        InputError: a turn is no such mapping, by its place (``turns[3].text``), or a window is below 0.
    """
    _check_window(before, "before")
    _check_window(after, "after")
    reader = MessageReader() if left_out is None else MessageReader(left_out)
    return [{**item, "session": session} for item in _with_neighbours(_read(turns, reader), before, after)]


def with_messages(items: object, shared: Mapping[str, object]) -> Given | None:
    """What was given to ``retain``, each run of messages as turns; ``None`` = there is no message.

    A run ends at an item that is no message, and where the session changes. Turns of a session have their
    neighbours as context, unless the caller states another. Others have none: what is forgotten is taken out
    of the contexts of its session. ``InputError``: a message is wrong, by its place
    (``messages[3].content``).
    """
    alone = is_message(items)
    if not alone and (
        not isinstance(items, Iterable) or isinstance(items, str | Mapping | bytes | bytearray | AbstractSet)
    ):
        return None
    entries = [items] if alone or not isinstance(items, Iterable) else list(items)
    if not any(map(is_message, entries)):
        return None
    reader = MessageReader()
    found: list[object] = []
    places: list[str] = []
    run: list[_PlacedTurn] = []

    def end_run() -> None:
        window = WINDOW if run and (run[0][0].get("session") or shared.get("session")) else 0
        items = _with_neighbours(run, window, window)
        if shared.get("context") is not None:
            items = [{key: value for key, value in item.items() if key != "context"} for item in items]
        found.extend(items)
        places.extend(place for _, place in run)
        run.clear()

    for number, entry in enumerate(entries):
        if not is_message(entry):
            end_run()
            found.append(entry)
            places.append("" if alone else f"items[{number}]")
            continue
        place = "" if alone else f"messages[{number}]"
        for turn in reader.read(entry, place):
            if run and run[-1][0].get("session") != turn.get("session"):
                end_run()
            run.append((turn, place))
    end_run()
    return Given(found, places, reader.left_out)


def left_out_of(items: object) -> dict[str, int]:
    """How many of what ``retain`` leaves out of messages, by name, sorted; of messages that are right."""
    given = with_messages(items, {})
    return {} if given is None else dict(sorted(given.left_out.items()))


def _with_neighbours(placed: Sequence[_PlacedTurn], before: int, after: int) -> list[dict[str, Any]]:
    """Turns with their neighbours as context, after the context that they have themselves."""
    lines = [_line(turn) for turn, _ in placed]
    shortened = [line[:LONGEST_NEIGHBOUR] for line in lines]
    items = []
    for number, ((turn, place), line) in enumerate(zip(placed, lines, strict=True)):
        around = context_of(shortened, number, before=before, after=after)
        own = turn.get("context")
        # What is no text is refused when the item is read.
        context = own if own and not isinstance(own, str) else "\n".join(filter(None, (own, around)))
        origin = Origin(turn["text"], 0, len(turn["text"]), place)
        items.append({**turn, "text": line, "context": context, ORIGIN: origin})
    return items


def _check_window(size: object, field: str) -> None:
    if isinstance(size, bool) or not isinstance(size, int) or size < 0:
        raise InputError(field, f"expected a number of turns from 0, got {shown(size)}")


def _read(turns: object, reader: MessageReader) -> list[_PlacedTurn]:
    if not isinstance(turns, Iterable) or isinstance(turns, str | bytes | Mapping):
        raise InputError("turns", f"expected a list of mappings with a text each, got {type(turns).__name__}")
    found: list[_PlacedTurn] = []
    for number, turn in enumerate(turns):
        place = f"turns[{number}]"
        if is_message(turn):
            # Session and document are the whole conversation's to say.
            for said in reader.read(turn, place):
                kept = {key: said[key] for key in said if key == "context" or key in _KEYS}
                found.append((kept, place))
        else:
            found.append((_turn(turn, place), place))
    return found


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
    if shows_nothing(turn["text"]):
        raise InputError(f"{place}.text", "is blank; leave the turn out")
    return {key: value for key, value in turn.items() if value is not None}


def _line(turn: Mapping[str, Any]) -> str:
    speaker = turn.get("speaker", "").strip()
    return f"{speaker}: {turn['text']}" if speaker else str(turn["text"])
