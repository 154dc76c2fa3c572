"""Notes that moved, changed or left: what `import --sync` makes of them."""

from __future__ import annotations

import random
import shutil
from typing import TYPE_CHECKING, Any

import apsw
import pytest
from tests.surfaces.conftest import cli, cli_json, store_path

import simonides
from simonides.bank import Bank
from simonides.errors import InputError
from simonides.testing.embedder import StubEmbedder
from simonides.testing.sparse import StubSparseEncoder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from tests.surfaces.conftest import Cli, CliJson

    from simonides.records.memory import Memory
    from simonides.testing.clock import FrozenClock

pytestmark = pytest.mark.fault("N44")

__all__ = ["cli", "cli_json", "store_path"]  # fixtures


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """Three notes in two folders."""
    folder = tmp_path / "vault"
    (folder / "beds").mkdir(parents=True)
    (folder / "figs.md").write_text("# Figs\n\nThe figs came in March.\n\nIlse waters them on Tuesdays.")
    (folder / "pump.md").write_text("The pump gives four litres a minute.")
    (folder / "beds" / "north.md").write_text("---\ntags: [bed]\n---\nThe north bed holds garlic.")
    return folder


def held(store: Path, bank: str = "default") -> dict[str, Memory]:
    """What the bank holds now, by text."""
    with simonides.open(store, embedder=None) as opened:
        return {memory.text: memory for memory in opened.bank(bank).list_memories()}


def sync(cli_json: CliJson, vault: Path) -> dict[str, Any]:
    answer = cli_json("import", "--sync", str(vault))
    return {name: answer[name] for name in ("stored", "moved", "ended", "unchanged") if answer[name]}


def test_a_renamed_note_keeps_its_memory(cli: Cli, cli_json: CliJson, vault: Path, store_path: Path) -> None:
    assert sync(cli_json, vault) == {"stored": 4}
    before = held(store_path)
    (vault / "trees").mkdir()
    (vault / "figs.md").rename(vault / "trees" / "orchard.md")
    assert sync(cli_json, vault) == {"moved": 2, "unchanged": 4}
    after = held(store_path)
    assert {text: memory.id for text, memory in after.items()} == {
        text: memory.id for text, memory in before.items()
    }
    moved = after["Ilse waters them on Tuesdays."]
    assert (moved.path, moved.source) == ("trees/orchard.md", "orchard.md")
    assert moved.document == f"file:{vault.as_posix()}/trees/orchard.md"
    assert after["The pump gives four litres a minute."].version == 1
    with simonides.open(store_path, embedder=None) as store:
        bank = store.bank()
        assert [memory.path for memory in bank.history(moved.id)] == ["figs.md", "trees/orchard.md"]
        assert bank.source(moved.id).text == (vault / "trees" / "orchard.md").read_text()
        assert bank.verify().ok
    assert sync(cli_json, vault) == {"unchanged": 4}
    assert cli("verify").exit_code == 0


def test_what_left_ends_and_stays_in_history(cli_json: CliJson, vault: Path, store_path: Path) -> None:
    sync(cli_json, vault)
    pump = held(store_path)["The pump gives four litres a minute."].id
    (vault / "pump.md").unlink()
    assert sync(cli_json, vault) == {"ended": 1, "unchanged": 3}
    assert "The pump gives four litres a minute." not in believed(store_path)
    with simonides.open(store_path, embedder=None) as store:
        bank = store.bank()
        assert bank.history(pump)[-1].valid_to is not None
        assert not any(hit.memory.id == pump for hit in bank.recall("litres of the pump").hits)


def believed(store: Path) -> list[str]:
    with simonides.open(store, embedder=None) as opened:
        return sorted(change.text for change in opened.bank().diff("1970").begun)


def test_a_note_that_comes_back_is_stored_again(cli_json: CliJson, vault: Path, store_path: Path) -> None:
    sync(cli_json, vault)
    text = (vault / "pump.md").read_text()
    (vault / "pump.md").unlink()
    sync(cli_json, vault)
    (vault / "pump.md").write_text(text)
    assert sync(cli_json, vault) == {"stored": 1, "unchanged": 3}
    assert text in believed(store_path)


def test_a_renamed_and_edited_note_replaces_its_old_value(
    cli: Cli, cli_json: CliJson, vault: Path, store_path: Path
) -> None:
    sync(cli_json, vault)
    before = held(store_path)
    (vault / "figs.md").unlink()
    (vault / "orchard.md").write_text("# Figs\n\nThe figs came in April.\n\nIlse waters them on Tuesdays.")
    answer = sync(cli_json, vault)
    assert (answer["moved"], answer["ended"]) == (1, 1)
    assert [text for text in believed(store_path) if "figs came" in text] == [
        "# Figs\n\nThe figs came in April."
    ]
    kept = "Ilse waters them on Tuesdays."
    assert held(store_path)[kept].id == before[kept].id
    hits = cli_json("recall", "when did the figs come?")["hits"]
    assert "April" in hits[0]["text"]


def test_an_edited_note_replaces_its_old(cli_json: CliJson, vault: Path, store_path: Path) -> None:
    sync(cli_json, vault)
    (vault / "pump.md").write_text("The pump gives five litres a minute.")
    sync(cli_json, vault)
    assert [text for text in believed(store_path) if "pump" in text] == [
        "The pump gives five litres a minute."
    ]


@pytest.mark.parametrize("through", ["overwritten", "swapped", "divided", "joined", "cut and pasted"])
def test_paragraphs_are_followed_one_by_one(
    cli_json: CliJson, vault: Path, store_path: Path, through: str
) -> None:
    sync(cli_json, vault)
    before = held(store_path)
    figs, pump = vault / "figs.md", vault / "pump.md"
    first, second, third = figs.read_text().split("\n\n")
    if through == "overwritten":
        figs.rename(pump)
    elif through == "swapped":
        figs.rename(vault / "x")
        pump.rename(figs)
        (vault / "x").rename(pump)
    elif through == "divided":
        figs.write_text(f"{first}\n\n{second}")
        (vault / "water.md").write_text(third)
    elif through == "joined":
        pump.write_text(f"{pump.read_text()}\n\n{figs.read_text()}")
        figs.unlink()
    else:
        figs.write_text(f"{first}\n\n{second}")
        pump.write_text(f"{pump.read_text()}\n\n{third}")
    sync(cli_json, vault)
    after = {text: memory for text, memory in held(store_path).items() if text in believed(store_path)}
    gone = {"The pump gives four litres a minute."} if through == "overwritten" else set()
    assert set(after) == set(before) - gone
    assert all(memory.id == before[text].id for text, memory in after.items())
    assert {memory.document for memory in after.values()} == {
        f"file:{path.as_posix()}" for path in vault.rglob("*.md")
    }


def test_a_copy_is_another_note(cli_json: CliJson, vault: Path, store_path: Path) -> None:
    sync(cli_json, vault)
    shutil.copy(vault / "pump.md", vault / "pump copy.md")
    assert sync(cli_json, vault) == {"stored": 1, "unchanged": 4}


def test_an_emptied_note_ends(cli_json: CliJson, vault: Path, store_path: Path) -> None:
    sync(cli_json, vault)
    (vault / "pump.md").write_text("---\ntitle: Pump\n---\n\n")
    assert sync(cli_json, vault) == {"ended": 1, "unchanged": 3}


@pytest.mark.parametrize("how", ["hidden folder", "other suffix", "left the folder"])
def test_what_is_no_longer_read_ends(cli_json: CliJson, vault: Path, store_path: Path, how: str) -> None:
    sync(cli_json, vault)
    (vault / ".trash").mkdir()
    target = {"hidden folder": ".trash/pump.md", "other suffix": "pump.org", "left the folder": "../pump.md"}[
        how
    ]
    (vault / "pump.md").rename(vault / target)
    assert sync(cli_json, vault) == {"ended": 1, "unchanged": 3}


def test_a_note_that_cannot_be_read_has_not_left(
    cli: Cli, cli_json: CliJson, vault: Path, store_path: Path
) -> None:
    sync(cli_json, vault)
    (vault / "pump.md").write_bytes(b"The pump gives vier Liter f\xfcr alle.")
    (vault / "figs.md").unlink()
    result = cli("import", "--sync", str(vault))
    assert result.exit_code == 2
    assert len(believed(store_path)) == 4, "nothing was ended"
    answer = cli_json("import", "--sync", "--skip-malformed", str(vault))
    assert (answer["ended"], answer["skipped"]) == (2, 1)
    assert believed(store_path) == ["The north bed holds garlic.", "The pump gives four litres a minute."]


def test_what_the_bank_refuses_has_not_left(
    cli: Cli, cli_json: CliJson, vault: Path, store_path: Path
) -> None:
    sync(cli_json, vault)
    (vault / "pump.md").write_text("postgres://shop:hunter2hunter2@db.example/shop")
    options = ("--sync", "--redact", "refuse", str(vault))
    assert cli("import", *options).exit_code == 2
    answer = cli_json("import", "--skip-malformed", *options)
    assert (answer["ended"], answer["skipped"], answer["unchanged"]) == (0, 1, 3)
    assert "The pump gives four litres a minute." in believed(store_path)


def test_only_the_folder_that_is_named_is_synced(cli_json: CliJson, vault: Path, store_path: Path) -> None:
    sync(cli_json, vault)
    shutil.copytree(vault, vault.parent / "vault2")
    assert sync(cli_json, vault.parent / "vault2") == {"stored": 4}
    (vault / "pump.md").unlink()
    (vault / "beds" / "north.md").unlink()
    (vault / "beds" / "south.md").write_text("The south bed holds beans.")
    assert sync(cli_json, vault / "beds") == {"stored": 1, "ended": 1}
    assert sum("pump" in text for text in believed(store_path)) == 2


def test_a_note_follows_from_one_folder_into_another(
    cli_json: CliJson, vault: Path, store_path: Path
) -> None:
    other = vault.parent / "archive"
    other.mkdir()
    (other / "old.md").write_text("The old pump leaked.")
    cli_json("import", "--sync", str(vault), str(other))
    before = held(store_path)
    (vault / "pump.md").rename(other / "pump.md")
    answer = cli_json("import", "--sync", str(vault), str(other))
    assert (answer["moved"], answer["ended"], answer["stored"]) == (1, 0, 0)
    assert {text: m.id for text, m in held(store_path).items()} == {text: m.id for text, m in before.items()}


@pytest.mark.parametrize("verb", ["forget", "invalidate"])
def test_what_was_taken_out_stays_so_when_its_note_moves(
    cli: Cli, cli_json: CliJson, vault: Path, store_path: Path, verb: str
) -> None:
    sync(cli_json, vault)
    kept = "Ilse waters them on Tuesdays."
    memory = next(m for text, m in held(store_path).items() if "figs came" in text)
    with simonides.open(store_path, embedder=None) as store:
        getattr(store.bank(), verb)(memory.id)
    (vault / "figs.md").rename(vault / "orchard.md")
    assert sync(cli_json, vault) == {"moved": 1, "unchanged": 4}
    assert [text for text in believed(store_path) if "figs" in text or text == kept] == [kept]


def test_what_a_note_that_left_had_replaced_holds_again(
    cli_json: CliJson, tmp_path: Path, store_path: Path
) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "a.md").write_text("Odalys lives in Norrhav.")
    sync(cli_json, vault)
    (vault / "b.md").write_text("Odalys lives in Quillstad now.")
    sync(cli_json, vault)
    assert believed(store_path) == ["Odalys lives in Quillstad now."]
    (vault / "b.md").unlink()
    sync(cli_json, vault)
    assert believed(store_path) == ["Odalys lives in Norrhav."]


def test_in_a_vault_a_new_name_is_a_new_title_of_the_same_memory(
    cli_json: CliJson, vault: Path, store_path: Path
) -> None:
    (vault / ".obsidian").mkdir()
    sync(cli_json, vault)
    before = held(store_path)["The pump gives four litres a minute."]
    assert before.context == "pump"
    (vault / "pump.md").rename(vault / "Well house.md")
    assert sync(cli_json, vault) == {"moved": 1, "unchanged": 4}
    after = held(store_path)["The pump gives four litres a minute."]
    assert (after.id, after.context) == (before.id, "Well house")
    hits = cli_json("recall", "well house")["hits"]
    assert hits[0]["id"] == before.id


def test_nothing_is_encoded_when_a_note_moves(
    tmp_path: Path, vault: Path, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoded: list[str] = []
    real = StubEmbedder.encode

    def encode(embedder: StubEmbedder, texts: Sequence[str]) -> Any:
        encoded.extend(texts)
        return real(embedder, texts)

    monkeypatch.setattr(StubEmbedder, "encode", encode)
    with simonides.open(tmp_path / "store", embedder=StubEmbedder(dimension=16), clock=clock) as store:
        bank = store.bank()
        run(bank, vault)
        assert len(encoded) == 4
        clock.advance(days=1)
        (vault / "figs.md").rename(vault / "orchard.md")
        assert run(bank, vault) == (2, 0)
        assert len(encoded) == 4
        assert bank.stats()["with_vector"] == bank.stats()["versions"] == 6


def test_under_another_title_learned_terms_are_made_anew(tmp_path: Path, clock: FrozenClock) -> None:
    profile = tmp_path / "sparse.toml"
    profile.write_text(
        'extends = "lexical"\norder = ["sparse_terms", "sparse", "reciprocal_rank", "token_budget"]\n'
        "[stages.sparse]\ndepth = 100\n"
    )

    def note(title: str) -> list[dict[str, Any]]:
        item = {"text": "The figs came.", "context": title, "document_id": f"notes/{title}"}
        return [{**item, "role": "document", "path": title}]

    options: dict[str, Any] = {"embedder": None, "sparse": StubSparseEncoder(), "clock": clock}
    with simonides.open(tmp_path / "store", **options) as store:
        synced, fresh = store.bank("synced"), store.bank("fresh")
        synced.import_items(note("Orchard"))
        clock.advance(days=1)
        assert synced.sync_documents(note("Well house"), below="notes/").moved == 1
        assert synced.import_items(note("Well house")).unchanged == 1
        fresh.import_items(note("Well house"))
        answers = [bank.recall("well house", profile=profile) for bank in (synced, fresh)]
        scores = [[hit.channel_scores for hit in answer.hits] for answer in answers]
        assert scores[0] == scores[1] != []
        assert synced.verify().ok


FIGS, WATER = "The figs came in March.", "Ilse waters them on Tuesdays."


@pytest.mark.fault("N49")
@pytest.mark.parametrize("moves", [1, 2])
@pytest.mark.parametrize("says", [WATER, "Ilse waters them on Fridays."])
@pytest.mark.parametrize("by", ["sync", "import"])
def test_words_that_were_edited_in_the_bank_stay_when_their_note_moves_or_changes_elsewhere(
    bank: Bank, clock: FrozenClock, tmp_path: Path, moves: int, says: str, by: str
) -> None:
    note = tmp_path / "vault" / "figs.md"
    note.parent.mkdir()
    note.write_text(f"{FIGS}\n\n{WATER}")
    run(bank, note.parent)
    (figs,) = (memory.id for memory in bank.list_memories() if memory.text == FIGS)
    clock.advance(days=1)
    bank.update_memory(figs, text="The figs came in May.")
    for number in range(moves):
        clock.advance(days=1)
        note.write_text(f"{FIGS}\n\n{says}")
        if by == "sync":
            note = note.rename(note.parent / f"orchard {number}.md")
            run(bank, note.parent)
        else:
            bank.import_items(notes(note))
        held = {change.text: change.id for change in bank.diff("1970").begun}
        assert held.keys() == {"The figs came in May.", says}
        assert held["The figs came in May."] == figs
        assert bank.get_memory(figs).path == note.name
        assert run(bank, note.parent) == (0, 0)
    assert bank.history(figs)[0].text == FIGS
    clock.advance(days=1)
    note.write_text(f"The figs came in June.\n\n{says}")
    run(bank, note.parent)
    assert {change.text for change in bank.diff("1970").begun} == {"The figs came in June.", says}
    assert bank.verify().ok


@pytest.mark.fault("N49")
@pytest.mark.parametrize("verb", ["forget", "invalidate"])
def test_what_was_edited_and_taken_out_stays_so_when_its_note_moves(
    bank: Bank, clock: FrozenClock, tmp_path: Path, verb: str
) -> None:
    note = tmp_path / "vault" / "figs.md"
    note.parent.mkdir()
    note.write_text(f"{FIGS}\n\n{WATER}")
    run(bank, note.parent)
    (figs,) = (memory.id for memory in bank.list_memories() if memory.text == FIGS)
    clock.advance(days=1)
    bank.update_memory(figs, text="The figs came in May.")
    clock.advance(days=1)
    getattr(bank, verb)(figs)
    clock.advance(days=1)
    note.rename(note.parent / "orchard.md")
    run(bank, note.parent)
    assert [change.text for change in bank.diff("1970").begun] == [WATER]


@pytest.mark.fault("N49")
def test_a_copy_of_a_note_that_moved_is_another_note(bank: Bank, clock: FrozenClock, tmp_path: Path) -> None:
    note = tmp_path / "vault" / "figs.md"
    note.parent.mkdir()
    note.write_text(FIGS)
    run(bank, note.parent)
    clock.advance(days=1)
    bank.update_memory(bank.list_memories()[0].id, text="The figs came in May.")
    clock.advance(days=1)
    note.rename(note.parent / "orchard.md")
    run(bank, note.parent)
    clock.advance(days=1)
    note.write_text(FIGS)
    assert run(bank, note.parent) == (0, 0)
    held = sorted((memory.text, memory.path) for memory in bank.list_memories())
    assert held == [(FIGS, "figs.md"), ("The figs came in May.", "orchard.md")]


@pytest.mark.fault("N49")
def test_a_document_that_is_retained_again_keeps_the_words_that_were_edited(
    bank: Bank, clock: FrozenClock
) -> None:
    figs, _ = bank.retain_document(f"{FIGS}\n\n{WATER}", document_id="figs")
    clock.advance(days=1)
    bank.update_memory(figs, text="The figs came in May.")
    clock.advance(days=1)
    again = bank.retain_document(f"{FIGS}\n\n{WATER}\n\nThey grow.", document_id="figs")
    assert again[0] == figs
    assert len(again) == len(bank.list_memories()) == 3
    assert bank.get_memory(figs).text == "The figs came in May."


def run(bank: Bank, vault: Path) -> tuple[int, int]:
    """What the command does, in Python."""
    items = [item for path in sorted(vault.rglob("*.md")) for item in notes(path)]
    synced = bank.sync_documents(items, below=f"file:{vault.resolve().as_posix()}/")
    bank.import_items(items)
    return synced.moved, synced.ended


def notes(path: Path) -> Iterator[dict[str, Any]]:
    from simonides.retain.importing.formats import named_file, read_file  # noqa: PLC0415 - most tests run commands

    for item in read_file(path, "markdown", named_file(path, path.name)):
        yield item.item


def test_of_what_others_may_not_read_nothing_moves_or_ends(tmp_path: Path, clock: FrozenClock) -> None:
    with simonides.open(tmp_path / "store", embedder=None, clock=clock) as store:
        bank = store.bank()
        own = {"text": "The figs came.", "document_id": "notes/a", "role": "document"}
        bank.import_items([own])
        bank.import_items([{"text": "Ilse said so.", "document_id": "notes/a/b", "role": "user"}])
        store.bank(principal="mo").import_items([{**own, "text": "A secret of Mo.", "acl": ["mo"]}])
        clock.advance(days=1)
        synced = bank.sync_documents([], below="notes/")
        assert synced.to_dict() == {"moved": 0, "ended": 1}
        assert {change.text for change in bank.diff("1970").begun} == {"Ilse said so.", "A secret of Mo."}
        with pytest.raises(InputError, match="below"):
            bank.sync_documents([], below="")
        with pytest.raises(InputError, match=r"items\[0\]"):
            bank.sync_documents([{"text": " "}], below="notes/")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["figs.md"], "is no folder"),
        (["empty"], "holds no file that can be imported"),
        ([".", "--convert", "out.jsonl"], "leave --convert out"),
        ([".", "--vectors", "v.npy"], "leave --vectors out"),
        ([".", "--format", "obsidian"], "leave --format out"),
    ],
)
def test_where_it_makes_no_sense_it_is_refused(
    cli: Cli,
    vault: Path,
    store_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    problem: str,
) -> None:
    """An empty folder may be a disk that is not there."""
    (vault / "empty").mkdir()
    monkeypatch.chdir(vault)
    result = cli("import", "--sync", *arguments)
    assert result.exit_code == 2
    assert problem in result.stderr
    assert not store_path.exists()


def test_of_a_note_that_moved_a_paragraph_can_be_forgotten(
    cli: Cli, cli_json: CliJson, vault: Path, store_path: Path
) -> None:
    """Its words stand in the raw text of both documents."""
    sync(cli_json, vault)
    (vault / "figs.md").rename(vault / "orchard.md")
    sync(cli_json, vault)
    memory = next(m for text, m in held(store_path).items() if "figs came" in text)
    assert cli("forget", memory.id, "--yes").exit_code == 0
    with simonides.open(store_path, embedder=None) as store:
        bank = store.bank()
        (sibling,) = [m for m in bank.list_memories() if "Ilse waters" in m.text]
        assert "March" not in bank.source(sibling.id).text
        assert bank.verify().ok
    raw = b"".join(path.read_bytes() for path in (store_path / "bank-default").rglob("*") if path.is_file())
    assert b"Ilse waters them" in raw
    assert sync(cli_json, vault) == {"unchanged": 4}
    texts = (
        apsw.Connection(str(next(store_path.rglob("memory.db"))))
        .execute("SELECT text FROM episodes")
        .fetchall()
    )
    assert not [text for (text,) in texts if "March" in str(text)]


def test_what_moved_goes_through_an_export(
    cli: Cli, cli_json: CliJson, vault: Path, store_path: Path, tmp_path: Path
) -> None:
    sync(cli_json, vault)
    (vault / "figs.md").rename(vault / "orchard.md")
    sync(cli_json, vault)
    for name, bank in (("one", "default"), ("two", "copy")):
        assert cli("export", str(tmp_path / name), "--bank", bank).exit_code == 0
        if bank == "default":
            assert cli("import", str(tmp_path / name), "--bank", "copy").exit_code == 0
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    with simonides.open(store_path, embedder=None) as store:
        moved = held(store_path, "copy")["Ilse waters them on Tuesdays."]
        assert [memory.path for memory in store.bank("copy").history(moved.id)] == ["figs.md", "orchard.md"]


def test_a_sync_that_was_interrupted_is_made_again(
    cli: Cli, cli_json: CliJson, vault: Path, store_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync(cli_json, vault)
    (vault / "figs.md").rename(vault / "orchard.md")
    (vault / "pump.md").write_text("The pump gives five litres a minute.")
    (vault / "beds" / "north.md").unlink()

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Bank, "import_items", interrupt)
        assert cli("import", "--sync", str(vault)).exit_code == 130
    sync(cli_json, vault)
    cli_json("import", str(vault), "--bank", "fresh")
    assert state(store_path, "default") == state(store_path, "fresh")


# -- rounds of changes

PLACES = ("beds", "trees", "beds/old", "pumps", "")
THINGS = ("fig", "pear", "plum", "quince", "medlar", "hazel", "walnut", "currant", "cherry", "apple")
DEEDS = ("pruned", "watered", "moved", "grafted", "picked", "sold", "weighed", "fed", "tied up", "counted")


class Vault:
    """An invented vault that someone works on.

    Args:
        folder: to make.
        chance: decides what is done.
        size: notes at the beginning.
    """

    def __init__(self, folder: Path, chance: random.Random, size: int) -> None:
        self.folder, self._chance, self._said = folder, chance, 0
        (folder / ".obsidian").mkdir(parents=True)
        for _ in range(size):
            self.create()

    def notes(self) -> list[Path]:
        return sorted(self.folder.rglob("*.md"))

    def paragraph(self) -> str:
        """Mostly one that nobody said before."""
        self._said += 1
        if self._chance.random() < 0.1:
            return "Nothing happened on this day."
        deed, thing = self._chance.choice(DEEDS), self._chance.choice(THINGS)
        return f"Visit {self._said}: Ilse {deed} the {thing} in row {self._chance.randrange(90)}."

    def create(self) -> None:
        path = self._free()
        head = f"---\ntags: [{self._chance.choice(THINGS)}]\naliases: [{path.stem} yard]\n---\n"
        body = "\n\n".join(self.paragraph() for _ in range(self._chance.randrange(1, 6)))
        self._write(path, (head if self._chance.random() < 0.5 else "") + f"# {path.stem}\n\n{body}")

    def rename(self) -> None:
        path, target = self._any(), self._free()
        target.parent.mkdir(parents=True, exist_ok=True)
        path.rename(target)

    def overwrite(self) -> None:
        path, other = self._any(), self._any()
        path.rename(other)

    def swap(self) -> None:
        path, other = self._any(), self._any()
        first, second = path.read_text(), other.read_text()
        self._write(path, second)
        self._write(other, first)

    def edit(self) -> None:
        path = self._any()
        parts = path.read_text().split("\n\n")
        parts[self._chance.randrange(len(parts))] = self.paragraph()
        self._write(path, "\n\n".join(parts))

    def rename_and_edit(self) -> None:
        path = self._any()
        text = path.read_text()
        path.unlink()
        self._write(self._free(), f"{text}\n\n{self.paragraph()}")

    def paste(self) -> None:
        path, other = self._any(), self._any()
        *rest, last = path.read_text().split("\n\n")
        if rest and path != other:
            self._write(path, "\n\n".join(rest))
            self._write(other, f"{other.read_text()}\n\n{last}")

    def copy(self) -> None:
        self._write(self._free(), self._any().read_text())

    def delete(self) -> None:
        self._any().unlink()

    def empty(self) -> None:
        self._write(self._any(), "")

    def work(self, times: int) -> None:
        deeds: list[Callable[[], None]] = [
            self.create, self.rename, self.rename, self.overwrite, self.swap, self.edit, self.edit,
            self.rename_and_edit, self.paste, self.copy, self.delete, self.delete, self.empty,
        ]  # fmt: skip
        for _ in range(times):
            self._chance.choice(deeds)()

    def _any(self) -> Path:
        return self._chance.choice(self.notes())

    def _free(self) -> Path:
        while True:
            name = f"{self._chance.choice(THINGS)} {self._chance.randrange(10_000)}.md"
            path = self.folder / self._chance.choice(PLACES) / name
            if not path.exists():
                return path

    @staticmethod
    def _write(path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def state(store: Path, bank: str) -> list[tuple[object, ...]]:
    """All that a bank believes now, without ids and stamps."""
    with simonides.open(store, embedder=None) as opened:
        owner = opened.bank(bank)
        assert owner.verify().ok
        now = {change.id for change in owner.diff("1970").begun}
        memories: list[Memory] = []
        while page := owner.list_memories(after=memories[-1].id if memories else None, limit=1_000):
            memories += page
        assert len({memory.id for memory in memories}) == len(memories)
        return sorted(
            (m.document or "", m.text, m.context, m.path, m.source, m.tags, str(m.metadata), str(m.kind))
            for m in memories
            if m.id in now
        )


def rounds(
    cli_json: CliJson, folder: Path, store: Path, *, seed: int, size: int, times: int
) -> tuple[int, int]:
    """Rounds of work, each synced and compared with a fresh import; how much moved and ended in all."""
    vault = Vault(folder, random.Random(seed), size)
    cli_json("import", "--sync", str(folder))
    moved = ended = 0
    for number in range(times):
        vault.work(size // 5)
        answer = cli_json("import", "--sync", str(folder))
        moved, ended = moved + answer["moved"], ended + answer["ended"]
        cli_json("import", str(folder), "--bank", f"fresh-{number}")
        assert state(store, "default") == state(store, f"fresh-{number}")
        again = cli_json("import", "--sync", str(folder))
        assert (again["stored"], again["moved"], again["ended"]) == (0, 0, 0)
    return moved, ended


@pytest.mark.parametrize("seed", [7, pytest.param(11, marks=pytest.mark.soak)])
def test_after_rounds_of_changes_it_is_as_after_a_fresh_import(
    cli_json: CliJson, tmp_path: Path, store_path: Path, seed: int
) -> None:
    moved, ended = rounds(cli_json, tmp_path / "vault", store_path, seed=seed, size=40, times=4)
    assert moved > 10
    assert ended > 10


@pytest.mark.soak
def test_after_ten_rounds_a_vault_of_300_notes_is_as_after_a_fresh_import(
    cli_json: CliJson, tmp_path: Path, store_path: Path
) -> None:
    moved, ended = rounds(cli_json, tmp_path / "vault", store_path, seed=3, size=300, times=10)
    assert moved > 300
    assert ended > 300
