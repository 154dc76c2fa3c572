"""N83: merges of entities that form a cycle are refused, found, and never walked for ever."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.embedded_rows import connection_of
from tests.unit.backends.embedded.test_exporting import place_of, records, rewrite

from simonides.errors import InputError
from simonides.records.entity import all_count_as, counts_as, find_cycles
from simonides.records.interval import FOREVER
from simonides.surfaces.cli.sources import files_below

if TYPE_CHECKING:
    from pathlib import Path

    from simonides.bank import Bank
    from simonides.store import Store
    from simonides.testing.clock import FrozenClock

pytestmark = pytest.mark.fault("N83")

NAMES = ("Ana Fennimark", "Annie Brandt", "Anouk Tamm")


def spoken_of(bank: Bank) -> list[int]:
    """The numbers of the three entities, each of which one memory mentions."""
    bank.retain([f"{name} mends the ferry in Norrhav." for name in NAMES])
    numbers = {entity.name: entity.number for entity in bank.entities(None)}
    return [numbers[name] for name in NAMES]


def merged(bank: Bank) -> list[str]:
    """Which of the three names stand for an entity of their own."""
    return sorted(entity.name for entity in bank.entities(None) if entity.name in NAMES)


def with_merges(path: Path, pairs: list[tuple[int, int]]) -> Path:
    """The export with open merges after its entities and aliases, as a stranger would forge it."""

    def forge(found: list[dict[str, Any]]) -> None:
        place = next(at for at, record in enumerate(found) if record["record"] in {"episode", "end"})
        found[place:place] = [
            {"record": "merge", "entity": one, "into": other, "merged_at": 5 + at, "undone_at": FOREVER}
            for at, (one, other) in enumerate(pairs)
        ]

    return rewrite(path, forge)


def rows_of(bank: Bank) -> list[tuple[Any, ...]]:
    """Everything that an import may add, as it is stored."""
    with bank._rows.reading() as reading:
        return [
            row
            for table in ("meta", "entities", "aliases", "merges", "memories", "changes")
            for row in connection_of(reading).execute(f"SELECT * FROM {table}").fetchall()
        ]


def write_cycle(bank: Bank, entities: list[int]) -> None:
    """Merge each entity into the next, and the last into the first, past every check."""
    with bank._rows.writing(5, "") as transaction:
        for one, other in zip(entities, [*entities[1:], entities[0]], strict=True):
            connection_of(transaction).execute(
                "INSERT INTO merges(entity, into_entity, merged_at, undone_at) VALUES (?, ?, 1, ?)",
                (one, other, FOREVER),
            )


def test_banks_that_merged_two_names_in_opposite_ways_become_one(
    store: Store, clock: FrozenClock, tmp_path: Path
) -> None:
    """They say the same, that the two are one: the bank keeps the merge that it has."""
    here, there = store.bank("here"), store.bank("there")
    ana, annie, _ = spoken_of(here)
    merge = here.merge_entities(ana, annie)
    clock.advance(days=1)
    ana, annie, _ = spoken_of(there)
    there.merge_entities(annie, ana)
    there.export(tmp_path / "there")

    for _ in range(2):
        here.import_bank(tmp_path / "there")
        assert merged(here) == ["Annie Brandt", "Anouk Tamm"]
        assert here.recall("What does Ana Fennimark mend?").hits
        assert here.verify().ok

    here.undo_merge(merge)
    assert merged(here) == sorted(NAMES)


def test_a_merge_of_what_counts_as_another_joins_all_of_it(store: Store, tmp_path: Path) -> None:
    """As merge_entities does; otherwise undoing the import's merge would leave the bank's in force, unseen."""
    here, there = store.bank("here"), store.bank("there")
    ana, annie, anouk = spoken_of(here)
    here.merge_entities(ana, annie)
    ana, annie, anouk = spoken_of(there)
    there.merge_entities(ana, anouk)
    there.export(tmp_path / "there")
    here.import_bank(tmp_path / "there")
    assert merged(here) == ["Anouk Tamm"]
    here.import_bank(tmp_path / "there")
    assert merged(here) == ["Anouk Tamm"]
    here.export(tmp_path / "both")
    copy = store.bank("copy")
    copy.import_bank(tmp_path / "both")
    assert merged(copy) == ["Anouk Tamm"]
    assert copy.verify().ok


@pytest.mark.parametrize("length", [1, 2, 3])
@pytest.mark.parametrize("filled", [False, True])
def test_an_export_with_a_cycle_is_refused_by_its_names(
    store: Store, tmp_path: Path, length: int, filled: bool
) -> None:
    bank = store.bank("boats")
    spoken_of(bank)
    bank.export(tmp_path / "boats")
    places = [
        next(
            r["number"] for r in records(tmp_path / "boats") if r["record"] == "entity" and r["name"] == name
        )
        for name in NAMES
    ][:length]
    path = with_merges(tmp_path / "boats", list(zip(places, [*places[1:], places[0]], strict=True)))

    other = store.bank("other")
    if filled:
        spoken_of(other)
    before = rows_of(other)
    with pytest.raises(InputError) as caught:
        other.import_bank(path)
    assert caught.value.field == f"{path}:{place_of(path, 'merge') + length - 1}"
    assert all(repr(name) in caught.value.problem for name in NAMES[:length])
    assert rows_of(other) == before


def test_a_cycle_that_no_longer_holds_is_history(store: Store, tmp_path: Path, clock: FrozenClock) -> None:
    bank = store.bank("boats")
    ana, annie, _ = spoken_of(bank)
    clock.advance(days=1)
    bank.undo_merge(bank.merge_entities(ana, annie))
    clock.advance(days=1)
    bank.merge_entities(annie, ana)
    bank.export(tmp_path / "boats")
    copy = store.bank("copy")
    copy.import_bank(tmp_path / "boats")
    assert merged(copy) == merged(bank) == ["Ana Fennimark", "Anouk Tamm"]
    assert copy.verify().ok


@pytest.mark.parametrize("length", [1, 2, 3])
def test_a_stored_cycle_is_found_and_harms_nothing_else(store: Store, tmp_path: Path, length: int) -> None:
    bank = store.bank("boats")
    entities = spoken_of(bank)
    write_cycle(bank, entities[:length])

    report = bank.verify()
    assert [problem for problem in report.problems if "cycle" in problem] == list(report.problems)
    assert all(repr(name) in report.problems[0] for name in NAMES[:length])
    assert f"simonides undo-merge {length}" in report.problems[0]

    # The smallest number stands for all, at each of these.
    assert merged(bank) == sorted([NAMES[0], *NAMES[length:]])
    for name in NAMES:
        assert bank.recall(f"What does {name} mend?", explain=True).hits
    bank.retain(
        [
            {
                "text": f"{name} lives in {town}",
                "relation": "lives in",
                "subject": name,
                "object": town,
                "single_valued": True,
            }
            for name, town in zip(NAMES, ("Norrhav", "Quillstad", "Vell"), strict=True)
        ]
    )
    bank.brief("the ferry")
    bank.maintain()
    bank.add_alias(entities[0], "The Skipper")
    if length > 1:
        with pytest.raises(InputError, match="merged already"):
            bank.merge_entities(entities[0], entities[1])
    bank.export(tmp_path / "boats")
    with pytest.raises(InputError, match="cycle"):
        store.bank("copy").import_bank(tmp_path / "boats")

    bank.undo_merge(length)
    assert bank.verify().ok
    assert len(merged(bank)) == 3 - (length - 1)


def test_memories_that_supersede_and_rest_on_each_other_harm_nothing(store: Store, tmp_path: Path) -> None:
    """No walk goes from one of these to the next."""
    bank = store.bank("boats")
    bank.retain([f"The ferry {name} leaves at nine." for name in ("Tove", "Mo", "Ravi")])
    bank.export(tmp_path / "boats")

    def forge(found: list[dict[str, Any]]) -> None:
        versions = [record for record in found if record["record"] == "memory"]
        ids = [version["id"] for version in versions]
        for version, following in zip(versions, [*ids[1:], ids[0]], strict=True):
            version["superseded_by"] = following
            found.insert(
                -1,
                {
                    "record": "evidence", "observation": version["id"], "source": following,
                    "stance": "for", "known_from": 5, "known_to": FOREVER,
                },
            )  # fmt: skip
            found.insert(
                -1,
                {
                    "record": "link", "source": version["id"], "target": following, "kind": "causal",
                    "weight": 1.0, "embedder": None,
                },
            )  # fmt: skip

    other = store.bank("other")
    other.import_bank(rewrite(tmp_path / "boats", forge))
    assert other.recall("When does the ferry Mo leave?").hits
    ids = [memory.id for memory in other.list_memories()]
    assert other.brief("the ferry").text
    assert [len(other.history(memory)) for memory in ids] == [1, 1, 1]
    other.maintain()
    other.forget(ids)
    assert other.list_memories() == []


def test_links_that_lead_back_into_their_folder_are_read_once(tmp_path: Path) -> None:
    (tmp_path / "notes" / "inner").mkdir(parents=True)
    (tmp_path / "notes" / "a.md").write_text("The ferry leaves at nine.")
    (tmp_path / "notes" / "inner" / "up").symlink_to(tmp_path / "notes")
    (tmp_path / "notes" / "self").symlink_to(tmp_path / "notes" / "self")
    found = files_below(tmp_path / "notes", {".md"})
    assert [place for _, place in found] == ["a.md"]


@given(st.dictionaries(st.integers(1, 9), st.integers(1, 9)))
def test_all_that_is_one_counts_as_one(merges: dict[int, int]) -> None:
    wholes = all_count_as(merges)
    assert wholes == {entity: counts_as(entity, merges.get)[0] for entity in merges}
    for entity, into in merges.items():
        assert wholes[entity] == wholes.get(into, into)
        assert wholes.get(wholes[entity], wholes[entity]) == wholes[entity]
    cycles = list(find_cycles(merges))
    on_cycles = [entity for cycle in cycles for entity in cycle]
    assert len(set(on_cycles)) == len(on_cycles)
    for entity in merges:
        path = entity
        for _ in range(len(merges)):
            path = merges.get(path, 0)
            if path == entity:
                break
        assert (path == entity) == (entity in on_cycles)


def test_a_long_chain_costs_its_length() -> None:
    steps = 0

    class Counted(dict[int, int]):
        def get(self, key: int, default: Any = None) -> Any:
            nonlocal steps
            steps += 1
            return super().get(key, default)

    length = 20_000
    for pairs in ([(n, n + 1) for n in range(length)], [(n, n + 1) for n in reversed(range(length))]):
        steps = 0
        assert set(all_count_as(Counted(pairs)).values()) == {length}
        assert steps < 5 * length
