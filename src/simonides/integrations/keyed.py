"""What the frameworks share: questions of any text, and values under keys (``Bank.put_records``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from simonides.errors import InputError
from simonides.records.hygiene import shows_nothing
from simonides.records.keyed_record import record_of, tag_of, value_is_in_source
from simonides.retain.importing.sources import clean_characters

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from simonides.bank import Bank
    from simonides.records.keyed_record import KeyedRecord
    from simonides.surfaces.client.remote import RemoteBank

    AnyBank: TypeAlias = Bank | RemoteBank

LONGEST_TEXT = 200_000
"""Characters by which a value is found."""

_LONGEST_QUESTION = 16_000
"""Characters from the end of a text: what is asked stands behind what was pasted."""


def check_bank(bank: object) -> None:
    """Refuse what cannot be asked, such as a bank's name.

    Raises:
        InputError: it is no bank.
    """
    if not callable(getattr(bank, "recall", None)):
        raise InputError("bank", f"expected a bank, got {type(bank).__name__}; give store.bank(NAME)")


def question_of(text: object) -> str:
    """What a text asks, without what no query may hold; empty = nothing.

    A framework asks with whatever its users and models said, and goes on when nothing is found.
    """
    asked = clean_characters(text)[-_LONGEST_QUESTION:] if isinstance(text, str) else ""
    return "" if shows_nothing(asked) else asked


def search_records(
    bank: AnyBank, space: str, path: Sequence[str], query: str, limit: int
) -> list[KeyedRecord]:
    """The *limit* records at or below a path that are nearest to a query, best first.

    All of them, whatever the band: a record's score is its relevance where the bank judges it.
    """
    found = bank.recall(
        query,
        tags=[tag_of(space, path)],
        tags_match="all_strict",
        limit=limit,
        max_tokens=None,
        precision="wide",
    )
    records = []
    for hit in found:
        source = bank.source(hit.id) if value_is_in_source(hit.memory, space) else None
        record = record_of(hit.memory, space, source, hit.judged)
        if record is not None:
            records.append(record)
    return records


def newest_of_each(records: Iterable[KeyedRecord]) -> list[KeyedRecord]:
    """One record a key, the newest, in the order of their times.

    Version 0.1 left several values under a key where two writers put it at once, and so may an import.
    """
    ordered = sorted(records, key=lambda record: record.updated_at)
    return list({record.path: record for record in ordered}.values())


def words_of(value: Any) -> str:
    """The texts in a JSON value, one a line: what it is found by; without what no memory may hold."""
    if isinstance(value, str):
        return value.replace("\0", "").encode(errors="ignore").decode()
    if isinstance(value, dict):
        lines = [f"{name}: {words}" for name, item in value.items() if (words := words_of(item))]
        return "\n".join(lines)
    if isinstance(value, list | tuple):
        return "\n".join(words for item in value if (words := words_of(item)))
    return "" if value is None or isinstance(value, bool) else str(value)
