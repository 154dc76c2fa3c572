"""Files beside the rows: written whole and private, told of in one error tree, and never silently left."""

from __future__ import annotations

import errno
import importlib
import os
import re
import stat
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from tests.embedded_rows import embedded

import simonides
from simonides.errors import DamagedError, InputError, NotFoundError, StoreError, UnavailableError
from simonides.files import make_empty, new_file, remove_dead, working_folder, write_file
from simonides.index.files import FileLayer
from simonides.records.receipt import COMPLETE, PENDING_COPIES, PENDING_INDEX
from simonides.surfaces.cli.main import app
from simonides.surfaces.rest.uploads import upload_in
from simonides.surfaces.serving.tokens import TokenStore, first_token

if TYPE_CHECKING:
    from pathlib import Path

    from simonides.bank import Bank
    from simonides.store import Store

TEXT = "Plumzifrax keeps the vault key."


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simonides.backends.embedded.forgetting.PATIENCE_MILLISECONDS", 20)


def fail_on(monkeypatch: pytest.MonkeyPatch, name: str, code: int = errno.ENOSPC) -> None:
    def fails(*_: object, **__: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, name, fails)


# -- N60: the key of the audit log


@pytest.mark.fault("N60")
@pytest.mark.parametrize("call", ["fsync", "rename", "replace"])
def test_a_full_disk_leaves_no_audit_and_no_key(
    bank: Bank, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    with monkeypatch.context() as patch:
        fail_on(patch, call)
        if call == "rename":
            patch.setattr(os, "replace", os.rename)
        with pytest.raises(UnavailableError, match=r"audit\.key.*free some space"):
            bank.start_audit()
    bank.retain(TEXT)
    path = bank.start_audit()
    assert path is not None
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    bank.retain("Another fact.")
    assert bank.audit_verify().ok
    assert sorted(each.name for each in path.parent.glob("*audit.key*")) == ["audit.key"]


@pytest.mark.fault("N60")
@pytest.mark.parametrize("held", ["", "ab", "not hexadecimal", "\udcff"])
def test_what_is_no_key_is_made_anew_while_nothing_was_sealed_with_it(bank: Bank, held: str) -> None:
    key = bank._rows.folder / "audit.key"
    key.write_bytes(held.encode(errors="surrogateescape"))
    bank.retain(TEXT)
    assert bank.verify().ok
    assert bank.start_audit() == key
    assert re.fullmatch("[0-9a-f]{64}", key.read_text())
    bank.retain("Another fact.")
    assert bank.audit_verify().ok


@pytest.mark.fault("N60")
@pytest.mark.parametrize("held", ["", "ab", "not hexadecimal"])
def test_what_is_no_key_is_named_where_the_log_was_begun(bank: Bank, tmp_path: Path, held: str) -> None:
    bank.retain(TEXT)
    bank.backup(tmp_path / "copy")
    key = bank.start_audit()
    assert key is not None
    kept = key.read_text()
    key.write_text(held)
    for attempt in (
        lambda: bank.retain("Refused."),
        bank.start_audit,
        bank.audit_verify,
        lambda: bank.restore(tmp_path / "copy"),
    ):
        with pytest.raises(
            DamagedError, match=rf"{re.escape(str(key))}: .* put a copy of the right file back"
        ):
            attempt()
    key.write_text(kept)
    bank.retain("Taken.")
    assert bank.audit_verify().ok


@pytest.mark.fault("N60")
def test_an_audit_whose_start_was_killed_after_the_commit_goes_on(
    bank: Bank, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(_: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("simonides.backends.embedded.bank_audit.adopt_key", killed)
        with pytest.raises(KeyboardInterrupt):
            bank.start_audit()
    bank.retain(TEXT)
    assert bank.audit_verify().ok
    assert bank.audit_verify().entries == 2
    assert bank.start_audit() == bank._rows.folder / "audit.key"


@pytest.mark.fault("N60")
def test_an_audit_whose_start_was_killed_before_the_commit_was_not_begun(bank: Bank) -> None:
    write_file(bank._rows.folder / "audit.key.new", "ab" * 32)
    bank.retain(TEXT)
    with pytest.raises(NotFoundError):
        bank.audit_verify()
    bank.start_audit()
    bank.retain("Another fact.")
    assert bank.audit_verify().ok
    assert not (bank._rows.folder / "audit.key.new").exists()


# -- N60: one error tree, whole files


@pytest.mark.fault("N60")
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EACCES])
def test_what_the_disk_refuses_is_told_by_one_error(
    bank: Bank, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    bank.retain(TEXT)
    bank.export(tmp_path / "old")
    kept = (tmp_path / "old").read_bytes()
    fail_on(monkeypatch, "fsync", code)
    for attempt in (
        lambda: bank.export(tmp_path / "old"),
        lambda: bank.export(tmp_path / "new"),
        lambda: bank.backup(tmp_path / "backup"),
        lambda: first_token(store.folder, "diary", 1),
    ):
        with pytest.raises(UnavailableError, match=re.escape(os.strerror(code))):
            attempt()
    assert (tmp_path / "old").read_bytes() == kept
    assert sorted(path.name for path in tmp_path.iterdir()) == ["old", "store"]


@pytest.mark.fault("N60")
def test_a_file_that_cannot_be_read_is_named(bank: Bank, tmp_path: Path) -> None:
    for name in ("missing", "store"):
        with pytest.raises((UnavailableError, InputError), match=re.escape(str(tmp_path / name))):
            bank.import_bank(tmp_path / name)
        with pytest.raises((UnavailableError, InputError), match=re.escape(str(tmp_path / name))):
            bank.restore(tmp_path / name)


@pytest.mark.fault("N60")
def test_what_a_target_of_the_caller_raises_is_left_as_it_is(bank: Bank) -> None:
    class Pipe:
        def write(self, _: bytes) -> int:
            raise BrokenPipeError(errno.EPIPE, "gone")

        def writelines(self, _: object) -> None:
            raise BrokenPipeError(errno.EPIPE, "gone")

    for write in (bank.export, bank.backup):
        with pytest.raises(BrokenPipeError):
            write(Pipe())  # type: ignore[arg-type]


@pytest.mark.fault("N60")
def test_an_interrupt_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / ("ü" * 100)
    write_file(path, "before")

    def interrupted() -> None:
        with new_file(path) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_text() == "before"
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


@pytest.mark.fault("N60")
def test_a_file_that_is_there_is_not_replaced_unasked(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.symlink_to("nowhere")
    with pytest.raises(InputError, match="there already"):
        write_file(path, "x", replace=False)
    path.unlink()

    def beaten() -> None:
        with new_file(path, replace=False) as file:
            file.write(b"mine")
            path.write_text("theirs")

    with pytest.raises(InputError, match="there already"):
        beaten()
    assert path.read_text() == "theirs"
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


@pytest.mark.fault("N60")
def test_a_file_system_without_hard_links_is_written_to(
    tmp_path: Path, bank: Bank, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_on(monkeypatch, "link", errno.EPERM)
    bank.retain(TEXT)
    bank.backup(tmp_path / "copy")
    assert bank.restore(tmp_path / "copy").memories == 1
    assert (tmp_path / "copy").stat().st_nlink == 1


@pytest.mark.fault("N60")
def test_a_file_has_its_mode_from_the_start(tmp_path: Path) -> None:
    with new_file(tmp_path / "file"):
        (partial,) = tmp_path.iterdir()
        assert stat.S_IMODE(partial.stat().st_mode) == 0o600
    assert make_empty(tmp_path / "empty")
    assert not make_empty(tmp_path / "empty")
    with working_folder(tmp_path, ".work-") as folder:
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {0o600}


@pytest.mark.fault("N60")
def test_what_the_dead_left_goes_and_what_the_living_write_stays(tmp_path: Path) -> None:
    dead = tmp_path / f".file.{'0' * 16}.partial"
    dead.write_text("half")
    theirs = tmp_path / ".file.mine.partial"
    theirs.write_text("of someone else")
    pattern = re.compile(r"\.file\.[0-9a-f]{16}\.partial")
    with new_file(tmp_path / "file") as file:
        file.write(b"whole")
        assert not dead.exists()
        (living,) = remove_dead(tmp_path, pattern)
        assert living.exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == [theirs.name, "file"]


# -- N95, N60: tokens

_FIRST = """
import sys; from pathlib import Path
from simonides.surfaces.serving.tokens import first_token
sys.stdin.readline()
print(first_token(Path(sys.argv[1]), "diary", 1))
"""


@pytest.mark.fault("N95")
def test_servers_that_start_at_once_make_one_token(tmp_path: Path) -> None:
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    starting = [subprocess.Popen([sys.executable, "-c", _FIRST, str(tmp_path)], **pipes) for _ in range(4)]
    answers = [process.communicate("go\n", timeout=60)[0].strip() for process in starting]
    assert [process.returncode for process in starting] == [0] * 4
    assert sum(answer != "None" for answer in answers) == 1
    with TokenStore(tmp_path) as tokens:
        assert len(tokens.list()) == 1
        assert tokens.find((tmp_path / "token").read_text().strip(), 1)


@pytest.mark.fault("N60")
def test_no_token_counts_before_its_file_is_durable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        fail_on(patch, "fsync")
        with pytest.raises(UnavailableError, match="token: cannot be written"):
            first_token(tmp_path, "diary", 1)
    with TokenStore(tmp_path) as tokens:
        assert tokens.list() == ()
    made = first_token(tmp_path, "diary", 1)
    assert made is not None
    assert made[1].read_text().strip() == made[0]


@pytest.mark.fault("N93")
def test_damaged_tokens_are_told_and_count_again_when_they_are_mended(tmp_path: Path) -> None:
    path = tmp_path / "tokens.db"
    with TokenStore(tmp_path) as made:
        token = made.create(banks=["a"], now=1)
    sound = path.read_bytes()
    with TokenStore(tmp_path) as tokens:
        assert tokens.find(token, 2)
        path.unlink()
        path.write_bytes(b"no database at all" * 500)
        for _ in range(2):
            with pytest.raises(UnavailableError, match=r"tokens\.db: .*put a copy of it back"):
                tokens.find(token, 2)
        path.write_bytes(sound)
        assert tokens.find(token, 2)


@pytest.mark.fault("N95")
@pytest.mark.parametrize("check", ["_file", "_index_files", "_leftovers", "_notes"])
def test_a_check_that_a_close_breaks_off_reports_no_problem(
    bank: Bank, monkeypatch: pytest.MonkeyPatch, check: str
) -> None:
    bank.retain(TEXT)
    module = "simonides.backends.embedded.verification"
    then = getattr(importlib.import_module(module), check)

    def closing(*arguments: Any) -> Any:
        found = then(*arguments)
        bank._rows.close()
        return found

    monkeypatch.setattr(f"{module}.{check}", closing)
    with pytest.raises(StoreError, match="closed; open the store again"):
        bank.verify()


# -- N88: what a deletion and a purge leave


def _traces(folder: Path) -> list[str]:
    return sorted(
        path.name
        for path in folder.rglob("*")
        if path.is_file() and (b"plumzifrax" in (body := path.read_bytes().lower()) or b"vault" in body)
    )


def _moved(path: Path, to: Path) -> None:
    path.rename(to)
    path.symlink_to(to)


@pytest.mark.fault("N88")
@pytest.mark.parametrize("what", [".", "index", "memory.db"])
def test_a_bank_behind_a_link_is_not_deleted(store: Store, tmp_path: Path, what: str) -> None:
    with simonides.open(tmp_path / "store", embedder=None, environ={}) as other:
        other.bank("linked").retain(TEXT)
        other.bank("linked")._rows.merge_if_due(force=True)
    folder = store.folder / "bank-linked"
    _moved(folder / what if what != "." else folder, tmp_path / "elsewhere")
    before = _traces(tmp_path)
    with pytest.raises(UnavailableError, match=r"is a link to .*elsewhere.*nothing was deleted"):
        store.delete_bank("linked")
    assert _traces(tmp_path) == before
    assert store.has_bank("linked")
    bank = store.bank("linked")
    bank.retain("Still in use.")
    assert bank.recall("plumzifrax").hits[0].text == TEXT
    assert bank.verify().ok


@pytest.mark.fault("N88")
def test_the_command_says_so_too(store: Store, tmp_path: Path) -> None:
    from typer.testing import CliRunner  # noqa: PLC0415

    store.bank("linked").retain(TEXT)
    store.close_bank("linked")
    _moved(store.folder / "bank-linked", tmp_path / "elsewhere")
    result = CliRunner().invoke(
        app, ["delete-bank", "linked", "--confirm", "linked", "--store", str(store.folder)]
    )
    assert result.exit_code != 0
    assert "is a link to" in result.stderr
    assert "is deleted" not in result.output
    assert store.bank("linked").recall("plumzifrax").hits


@pytest.mark.fault("N88")
def test_a_bank_in_a_store_behind_a_link_is_deleted(store: Store, tmp_path: Path) -> None:
    store.bank("doomed").retain(TEXT)
    (tmp_path / "link").symlink_to(store.folder)
    with simonides.open(tmp_path / "link", embedder=None, environ={}) as linked:
        linked.delete_bank("doomed")
    assert _traces(tmp_path) == []
    assert (tmp_path / "link").is_symlink()


@pytest.mark.fault("N88")
def test_a_bank_with_a_file_of_two_names_is_not_deleted(store: Store, tmp_path: Path) -> None:
    store.bank("doomed").retain(TEXT)
    store.close_bank("doomed")
    os.link(store.folder / "bank-doomed" / "memory.db", tmp_path / "other name")
    with pytest.raises(UnavailableError, match=r"memory\.db: has another name .*nothing was deleted"):
        store.delete_bank("doomed")
    (tmp_path / "other name").unlink()
    store.delete_bank("doomed")
    assert _traces(tmp_path) == []


@pytest.mark.fault("N88")
def test_files_that_stay_are_told_and_go_at_the_next_opening(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.bank("doomed").retain(TEXT)
    with monkeypatch.context() as patch:
        fail_on(patch, "rmdir", errno.EIO)
        with pytest.raises(UnavailableError, match=r"some of its files stay in .*\.deleted-"):
            store.delete_bank("doomed")
    assert store.list_banks() == []
    with simonides.open(store.folder, embedder=None, environ={}):
        assert not list(store.folder.glob(".deleted-*"))


@pytest.mark.fault("N88")
def test_a_purge_counts_the_bodies_of_imports(store: Store, bank: Bank) -> None:
    left = store.folder / ".import-dead"
    left.mkdir()
    (left / "import.jsonl").write_text(TEXT)
    bank.retain(TEXT)
    with upload_in(store.folder) as living:
        living.write_text(TEXT)
        receipt = bank.forget_where(everything=True, purge=True)
        assert receipt.status == PENDING_COPIES
        assert receipt.left == (living.parent.name,)
        assert receipt.to_dict()["left"] == [living.parent.name]
        assert not left.exists()
    assert bank.purge() == COMPLETE
    assert _traces(store.folder) == []


@pytest.mark.fault("N88")
@pytest.mark.parametrize(
    "name", [".export.jsonl.0123456789abcdef.partial", ".backup-1/backup.db", ".restoring-1/x"]
)
def test_a_purge_names_what_cannot_be_removed(bank: Bank, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    bank.retain(TEXT)
    path = bank._rows.folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(TEXT)
    with monkeypatch.context() as patch:
        fail_on(patch, "unlink", errno.EACCES)
        receipt = bank.forget_where(everything=True, purge=True)
    assert receipt.status == PENDING_COPIES
    assert receipt.left == (f"bank-diary/{name.partition('/')[0]}",)
    receipt = bank.forget_where(everything=True, purge=True)
    assert (receipt.status, receipt.left) == (COMPLETE, ())
    assert _traces(bank._rows.folder) == []


@pytest.mark.fault("N88")
def test_a_purge_waits_for_other_names_of_the_index(bank: Bank, tmp_path: Path) -> None:
    bank.retain([f"Fact {number}." for number in range(20)])
    bank.retain(TEXT)
    bank._rows.merge_if_due(force=True)
    (block,) = [
        path
        for path in embedded(bank._rows).cache.folder.rglob("*.arr")
        if path.name in _traces(embedded(bank._rows).cache.folder)
    ]
    os.link(block, tmp_path / "other name")
    for _ in range(2):
        receipt = bank.forget_where(everything=True, purge=True)
        assert receipt.status == PENDING_INDEX
        assert receipt.left == (f"bank-diary/index/{block.parent.name}",)
    (tmp_path / "other name").unlink()
    assert bank.purge() == COMPLETE
    assert _traces(tmp_path) == []
    assert bank.verify().ok


@pytest.mark.fault("N88")
def test_a_purge_waits_for_other_names_of_the_trained_reranker(bank: Bank, tmp_path: Path) -> None:
    (memory,) = bank.retain(TEXT)
    bank._rows.reranker_path.write_text(TEXT)
    os.link(bank._rows.reranker_path, tmp_path / "other name")
    receipt = bank.forget_where(memory, purge=True)
    assert not bank._rows.reranker_path.exists()
    assert receipt.status == PENDING_COPIES
    assert re.fullmatch(r"bank-diary/\.reranker\.npz\.[0-9a-f]{32}\.left", receipt.left[0])
    (tmp_path / "other name").unlink()
    assert bank.purge() == COMPLETE
    assert _traces(tmp_path) == []


@pytest.mark.fault("N88")
def test_a_purge_clears_the_rows_under_every_name(bank: Bank, tmp_path: Path) -> None:
    bank.retain(TEXT)
    os.link(bank._rows.folder / "memory.db", tmp_path / "other name")
    assert bank.forget_where(everything=True, purge=True).status == COMPLETE
    assert _traces(tmp_path) == []


@pytest.mark.fault("N88")
def test_an_old_generation_of_two_names_stays_until_it_has_one(bank: Bank, tmp_path: Path) -> None:
    bank.retain([f"Fact {number}." for number in range(20)])
    bank._rows.merge_if_due(force=True)
    (graph,) = embedded(bank._rows).cache.folder.rglob("graph.arr")
    os.link(graph, tmp_path / "other name")
    FileLayer().remove_folder(graph.parent)
    assert [path.name for path in graph.parent.iterdir()] == ["graph.arr"]
    (tmp_path / "other name").unlink()
    FileLayer().remove_folder(graph.parent)
    assert not graph.parent.exists()
    assert bank.recall("fact").hits
