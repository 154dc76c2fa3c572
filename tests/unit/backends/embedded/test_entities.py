"""Names by ranges of their folded forms: through the tables of entities and aliases, and by readers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw
import pytest
from tests.embedded_rows import embedded

from simonides.errors import DamagedError
from simonides.retain.extraction.known_names import KnownNames
from simonides.retain.resolution import fold_name
from simonides.services.viewing import NameLookup

if TYPE_CHECKING:
    from simonides.backends.embedded.bank import EmbeddedBank
    from simonides.store import Store

NAMES = ("Ines Calder", "Ines", "Inês Okafor", "/srv/garden", "C++", "@odalys", "+/ vx19", "Bram")
TEXT = "Did Ines, INÊS OKAFOR or Lady Calder write C++ in srv garden for @odalys? VX19, Bram."


@pytest.fixture
def rows(store: Store) -> EmbeddedBank:
    """A bank that knows NAMES, an alias, and one name that is for two readers alone."""
    found = embedded(store.bank()._rows)
    with found.writing(0) as transaction:
        numbers = [transaction.entities.add(name, fold_name(name), "thing", [], "") for name in NAMES]
        transaction.entities.add_alias(numbers[0], "Lady Calder", "lady calder")
        transaction.entities.add("srv", "srv", "thing", ["ada", "bo"], "")
    return found


@pytest.mark.parametrize("readers", [None, (), ("ada",), ("ada", "cy")])
def test_a_lookup_finds_what_the_index_over_all_names_finds(
    rows: EmbeddedBank, readers: tuple[str, ...] | None
) -> None:
    with rows.reading() as reading:
        known = KnownNames(reading.names(0, readers)[0])
        found = NameLookup(reading, readers).find(TEXT, lambda _: True)

        assert found == known.find(TEXT)
        assert [name for name, _, _ in found] == [
            "Ines", "Inês Okafor", "Lady Calder", "C++", "/srv/garden", "@odalys", "+/ vx19", "Bram",
        ]  # fmt: skip
        assert NameLookup(reading, readers).find("srv", lambda _: True) == known.find("srv")
        assert NameLookup(reading, readers).find("?", lambda _: True) == []


def test_few_rows_are_read(rows: EmbeddedBank) -> None:
    with rows.writing(0) as transaction:
        for number in range(200):
            transaction.entities.add(f"Ines {number}", f"ines {number}", "thing", [], "")

    with rows.reading() as reading:
        assert set(NameLookup(reading, None)._names("Ines 7, Ines Calder")) == {
            "Ines", "Ines 7", "Ines Calder", *(f"Ines {number}" for number in range(70, 80)),
        }  # fmt: skip


def test_a_name_that_is_not_what_was_written_is_refused(rows: EmbeddedBank) -> None:
    with apsw.Connection(str(rows.folder / "memory.db")) as connection:
        connection.execute("DROP TRIGGER seal_entities_update")
        connection.execute("UPDATE entities SET name = 'Bran' WHERE name = 'Bram'")

    with rows.reading() as reading:
        lookup = NameLookup(reading, None)
        assert lookup.find("Ines", lambda _: True) == [("Ines", 0, 4)]
        with pytest.raises(DamagedError, match="entities: row"):
            lookup.find("Bram", lambda _: True)
