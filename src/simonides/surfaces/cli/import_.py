"""`simonides import`: read exports of banks, and what other programs wrote.

Which files there are and of which formats is settled before the first is read. Items are stored in batches,
each whole or not at all; what an earlier import brought is passed over, so one that was interrupted goes on
when it is made again.
"""

import json
import os
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simonides.errors import InputError, SimonidesError
from simonides.records.receipt import Synced
from simonides.surfaces.cli.interruption import unbroken
from simonides.surfaces.cli.opening import open_for_writing
from simonides.surfaces.cli.options import (
    BankOption,
    JsonOption,
    RedactOption,
    StoreOption,
    ZoneOption,
    option,
)
from simonides.surfaces.cli.output import INTERRUPTED, explained, fail, print_json, print_text, say
from simonides.surfaces.cli.progress import Report, bars
from simonides.surfaces.cli.sources import files_below

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from simonides.bank import Bank
    from simonides.records.receipt import Imported
    from simonides.retain.importing.sources import ImportedItem, ImportReport, NamedFile

COUNTS = ("stored", "unchanged", "cleaned", "skipped")


@dataclass(slots=True)
class _File:
    """One file, and how far it has come."""

    path: Path
    place: str
    format: str
    counts: Counter[str] = field(default_factory=Counter)

    report: "ImportReport | None" = None
    items: "list[ImportedItem] | None" = None
    """What it holds, where that was read already."""

    def to_dict(self) -> dict[str, Any]:
        named = {"path": str(self.path), "format": self.format}
        counts = {name: self.counts[name] for name in COUNTS}
        return named | counts | {"left_out": self.left_out()}

    def left_out(self) -> dict[str, int]:
        return dict(sorted(self.report.left_out.items())) if self.report else {}


def import_(
    paths: Annotated[list[str], typer.Argument(metavar="PATH...", help="Files, or folders of notes.")],
    *,
    format_name: Annotated[
        str | None,
        option(
            "--format NAME",
            "simonides, markdown, obsidian, jsonl, chatgpt, claude-ai, claude-code, knowledge-graph,"
            " mem0 or locomo; by default a file's content tells.",
            False,
        ),
    ] = None,
    skip_malformed: Annotated[
        bool, option("--skip-malformed", "Report what cannot be read or stored and go on.")
    ] = False,
    sync: Annotated[
        bool,
        option(
            "--sync",
            "Of folders of notes: end what is no longer there, and let notes that moved keep their memories.",
        ),
    ] = False,
    convert: Annotated[
        str | None,
        option(
            "--convert FILE",
            "Store nothing; write the items as JSON lines, which `simonides retain` reads.",
            False,
        ),
    ] = None,
    workers: Annotated[int, option("--workers N", "Processes that encode, if above 1.", min=1, max=256)] = 1,
    vectors: Annotated[
        Path | None,
        option(
            "--vectors FILE",
            "NumPy file with a row of floats for each item, made by the store's embedder: one file of"
            " items is stored with them, and `simonides settle` reads the texts later.",
            False,
        ),
    ] = None,
    redact: RedactOption = None,
    store: StoreOption = None,
    zone: ZoneOption = None,
    bank: BankOption = "default",
    as_json: JsonOption = False,
) -> None:
    """Import an export, notes, chats or the memories of another program.

    Importing the same again changes nothing.
    """
    from simonides.retain.importing.formats import EXPORT, check_format

    if format_name is not None:
        check_format(format_name)
    below = _synced(paths, convert=convert, vectors=vectors, format_name=format_name) if sync else []
    files = [found for path in paths for found in _files(path, format_name)]
    load = _Load(files, skips=skip_malformed)
    try:
        if convert is not None:
            load.convert(convert)
        else:
            encodes = any(file.format != EXPORT for file in files)
            embedding = 1 if vectors is not None else workers
            with (
                bars() as progress,
                open_for_writing(
                    store,
                    bank,
                    progress=progress,
                    encodes=encodes,
                    workers=embedding,
                    redact=redact,
                    zone=zone,
                ) as opened,
            ):
                if vectors is None:
                    load.run(opened, progress, below)
                else:
                    load.run_embedded(opened, vectors, workers, progress)
    except KeyboardInterrupt:
        say(f"interrupted; {load.said()}; make the same import again to go on")
        raise typer.Exit(INTERRUPTED) from None
    except (SimonidesError, OSError) as error:
        fail(f"{explained(error)}; {load.said()}" if load.count("stored") else explained(error))
    if as_json:
        totals = {name: load.count(name) for name in COUNTS} | load.synced.to_dict()
        print_json(totals | {"files": [file.to_dict() for file in files], "added": dict(load.added)})
    else:
        print_text(load.said())
        if left_out := load.left_out():
            say(f"left out: {left_out}")


class _Load:
    """Reads the files one after the other."""

    def __init__(self, files: list[_File], *, skips: bool) -> None:
        self._files = files
        self._skips = skips
        self.added: Counter[str] = Counter()
        self.synced = Synced()

    def count(self, what: str) -> int:
        return sum(file.counts[what] for file in self._files)

    def said(self) -> str:
        parts = [f"{self.count('stored'):,} stored"]
        counts = self.synced.to_dict() | {name: self.count(name) for name in COUNTS[1:]}
        parts += [f"{count:,} {name}" for name, count in counts.items() if count]
        return ", ".join(parts)

    def left_out(self) -> str:
        counts = sum((Counter(file.left_out()) for file in self._files), Counter())
        return ", ".join(f"{count:,} {kind}" for kind, count in sorted(counts.items()))

    def run(self, bank: "Bank", progress: Report | None, below: "Sequence[str]" = ()) -> None:
        """Store the files; with *below*, the names of folders, move and end what is no longer as it was."""
        from simonides.retain.importing.formats import EXPORT

        if below:
            self._sync(bank, below)
        for file in self._files:
            if file.format == EXPORT:
                self._restore(bank, file, progress)
                continue
            for named, batch in self._batches(file):
                self._store(bank, file, named, batch)
                if progress:
                    progress(f"items of {file.place}", file.counts["stored"] + file.counts["unchanged"], None)

    def run_embedded(self, bank: "Bank", vectors: Path, workers: int, progress: Report | None) -> None:
        """Store the items of the one file with vectors that are there already."""
        from simonides.retain.importing.formats import EXPORT, named_file, read_file

        if len(self._files) != 1 or self._files[0].format == EXPORT or self._skips:
            raise InputError("--vectors", "goes with one file of items, all of which can be read")
        (file,) = self._files
        named = named_file(file.path, file.place)

        def stored(done: int) -> None:
            file.counts["stored"] = done
            if progress:
                progress(f"items of {file.place}", done, None)

        items = (item.item for item in read_file(file.path, file.format, named))
        bank.load(items, read_vectors(vectors), workers=workers, progress=stored)

    def convert(self, target: str) -> None:
        from simonides.retain.importing.formats import EXPORT
        from simonides.storage.export_format import write_export

        if any(file.format == EXPORT for file in self._files):
            raise InputError("--convert", "an export holds rows, not items; import it into a bank")
        write_export(target, self._lines())

    def _lines(self) -> "Iterator[bytes]":
        for file in self._files:
            for _, batch in self._batches(file):
                yield from (_line(item) for item in batch)
                file.counts["stored"] += len(batch)

    def _restore(self, bank: "Bank", file: _File, progress: Report | None) -> None:
        def after_batch(done: int, lines: int) -> None:
            if progress:
                progress(f"lines of {file.place}", done, lines)

        restored = bank.import_bank(file.path, progress=after_batch)
        file.counts.update(stored=restored.added.memories, unchanged=restored.present)
        self.added.update(restored.added.to_dict())

    def _batches(self, file: _File) -> "Iterator[tuple[NamedFile, list[ImportedItem]]]":
        from simonides.retain.importing.formats import batches, named_file, read_file

        named = named_file(file.path, file.place)
        if file.items is None:
            file.report = self._report(file)
            found: Iterable[ImportedItem] = read_file(file.path, file.format, named, file.report)
        else:
            found = file.items
        for batch in batches(found, named):
            yield named, batch

    def _sync(self, bank: "Bank", below: "Sequence[str]") -> None:
        """Read all notes, before anything is stored; one that cannot be read has not left."""
        from simonides.retain.importing.formats import NOTES, named_file, read_file, store_batch

        notes: dict[str, tuple[_File, NamedFile]] = {}
        found: list[ImportedItem] = []
        for file in self._files:
            if file.format in NOTES:
                named = named_file(file.path, file.place)
                notes[named.document] = file, named
                file.report = self._report(file)
                found += read_file(file.path, file.format, named, file.report)

        def place(item: "ImportedItem") -> "tuple[NamedFile, ImportReport]":
            file, named = notes[item.item["document_id"]]
            assert file.report
            return named, file.report

        def sync(items: list[dict[str, Any]]) -> Synced:
            keep = [document for document, (file, _) in notes.items() if file.counts["skipped"]]
            with unbroken():
                return bank.sync_documents(items, below=below, keep=keep)

        self.synced, kept = store_batch(sync, found, place)
        for file, _ in notes.values():
            file.items = []
        for item in kept:
            items = notes[item.item["document_id"]][0].items
            assert items is not None
            items.append(item)

    def _report(self, file: _File) -> "ImportReport":
        from simonides.retain.importing.sources import ImportReport

        def skipped(error: InputError) -> None:
            if not self._skips:
                raise error from None
            file.counts["skipped"] += 1
            say(f"skipped {error}")

        def cleaned(error: InputError) -> None:
            file.counts["cleaned"] += 1
            say(f"cleaned {error}")

        return ImportReport(skipped, cleaned)

    def _store(self, bank: "Bank", file: _File, named: "NamedFile", batch: "list[ImportedItem]") -> None:
        """One transaction; with --skip-malformed, once more without the item that was refused."""
        from simonides.retain.importing.formats import store_batch

        def store(items: list[dict[str, Any]]) -> "Imported":
            with unbroken():
                return bank.import_items(items)

        report = file.report
        assert report
        done, _ = store_batch(store, batch, lambda _: (named, report))
        file.counts.update(stored=len(done.ids), unchanged=done.unchanged)


def read_vectors(path: Path) -> "NDArray[Any]":
    """The array in a NumPy file, mapped; ``InputError`` when it is no such file."""
    import numpy as np

    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)  # type: ignore[no-any-return]
    except (ValueError, EOFError) as error:
        raise InputError(
            "--vectors", f"{path} is no NumPy array ({error}); write it by numpy.save"
        ) from error


def _synced(
    paths: list[str], *, convert: str | None, vectors: Path | None, format_name: str | None
) -> list[str]:
    """How the names of the documents in the folders begin that are to be synced."""
    # A note that an option leaves out would be taken for one that left.
    for flag, value in (("--convert", convert), ("--vectors", vectors), ("--format", format_name)):
        if value is not None:
            raise InputError("--sync", f"compares all notes of a folder; leave {flag} out")
    for path in paths:
        if os.path.lexists(path) and not Path(path).is_dir():
            raise InputError(path, "is no folder; --sync compares a folder with what was imported of it")
    return [f"file:{Path(path).resolve().as_posix().rstrip('/')}/" for path in paths if "\0" not in path]


def _files(path: str, format_name: str | None) -> list[_File]:
    """The files that an argument names, each with its format."""
    from simonides.retain.importing.formats import EXPORT, FORMATS, NOTES, check_regular, detect

    if "\0" in path or not os.path.lexists(path):
        raise InputError(path or "PATH", "there is no such file or folder")
    found = Path(path)
    if not found.is_dir():
        check_regular(found)
        return [_File(found, found.name, format_name or detect(found))]
    if format_name == EXPORT:
        raise InputError(path, "is a folder; name the file that was exported")
    if format_name:
        suffixes = FORMATS[format_name].suffixes
    else:
        suffixes = frozenset[str]().union(*(known.suffixes for known in FORMATS.values()))
    files: list[_File] = []
    others: list[InputError] = []
    for file, place in files_below(found, suffixes):
        check_regular(file)
        try:
            files.append(_File(file, place, format_name if format_name in NOTES else detect(file)))
        except InputError as error:
            # Beside notes and exports lie settings, accounts and the like.
            others.append(error)
    if format_name is not None:
        # What was named counts where no file tells it by itself.
        told = [file for file in files if file.format == format_name]
        files = told or [_File(file, place, format_name) for file, place in files_below(found, suffixes)]
    if not files:
        raise InputError(path, f"holds no file that can be imported ({', '.join(sorted(suffixes))})")
    for other in others:
        say(f"passed over {other.field}: {other.problem.partition('; known:')[0]}")
    return files


def _line(item: "ImportedItem") -> bytes:
    from simonides.retain.items import ORIGIN

    plain = {name: value for name, value in item.item.items() if name != ORIGIN}
    return json.dumps(plain, ensure_ascii=False, default=_iso).encode() + b"\n"


def _iso(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} has no JSON form")
