"""What stands around a turn of a conversation: the text that goes into its context field."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simonides.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence


def context_of(turns: Sequence[str], index: int, *, before: int = 1, after: int = 1) -> str:
    """The turns around one turn, joined by line breaks, the turn itself left out.

    Args:
        turns: texts of one conversation, in order.
        index: position of the turn, from 0.
        before: how many turns in front of it to take, from 0.
        after: how many turns behind it to take, from 0.

    Returns:
        the neighbouring texts in order; blank ones are left out, and near an end there are fewer.

    Raises:
        InputError: *index* is not the position of a turn, or a number of turns is negative.
    """
    if not 0 <= index < len(turns):
        raise InputError("index", f"{index} is outside the {len(turns)} turns; positions count from 0")
    for field, number in (("before", before), ("after", after)):
        if number < 0:
            raise InputError(field, f"{number} is negative; give a number of turns from 0")
    around = (*turns[max(0, index - before) : index], *turns[index + 1 : index + 1 + after])
    return "\n".join(turn.strip() for turn in around if turn.strip())
