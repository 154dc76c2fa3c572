"""The lines of an export: one canonical JSON object each, closed by a check.

    {"record":"header","format":"simonides-export","version":1,"bank":…,"analyser":…,"embedders":[…],
     "embedder":…,"counts":{…},"~":"…"}
    {"record":"entity",…}  {"record":"alias",…}  {"record":"merge",…}
    {"record":"episode",…} {"record":"chunk",…}  {"record":"memory",…}   versions of one together
    {"record":"link",…}    {"record":"key",…}
    {"record":"end","lines":…,"~":"…"}

Keys are sorted, nothing is spaced, text is UTF-8. Entities, episodes and chunks are numbered from 1 in the
order of their lines and referred to by that number, memories by their id: no number of the bank's rows is in
the file, so equal banks give equal bytes. An episode or chunk stands before the first memory that needs it.
Times are microseconds since 1970 UTC with the int64 limits as open ends; bytes are base64. ``~`` is the
CRC-32 of the line without it: it finds damage, it proves no origin.
"""

from __future__ import annotations

import json
import os
import re
import zlib
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NoReturn

from simonides.errors import InputError
from simonides.files import disk_errors, new_file
from simonides.records.entity import described, find_cycles
from simonides.records.hygiene import shown
from simonides.records.interval import FOREVER
from simonides.storage.export_fields import RECORDED_TIMES, check_recorded_times

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    Lines = list[tuple[int, dict[str, Any]]]

FORMAT = "simonides-export"
VERSION = 1

MEMORY_COLUMNS = (
    "id", "version", "kind", "layer", "text", "context", "relation", "expansion", "valid_from",
    "valid_from_precision", "valid_to", "valid_to_precision", "ingested_at", "expired_at", "occurred_from",
    "occurred_to", "occurred_precision", "salience", "confidence", "proof_count", "access_count",
    "last_access", "source", "metadata", "superseded_by", "state", "signature", "terms", "content_key",
)  # fmt: skip
"""Columns of ``memories`` that a line carries as they are."""

EPISODE_COLUMNS = ("text", "source", "document", "session", "speaker", "author", "trust", "recorded_at")

_PARTS_OF_MEMORIES = frozenset({"episode", "chunk", "memory"})
_CHECK_LENGTH = len(',"~":"00000000"}\n')
_LONGEST_HEADER = 1 << 20
# In a text the quotes are escaped, so it matches keys only; those of metadata are told apart afterwards.
_STAMPS = re.compile(b'"(?:%b)": *([0-9]{1,19})' % "|".join(RECORDED_TIMES).encode())
_LONGEST_MERGE = 1_000
_PIECE = 1 << 20
LONGEST_LINE = 400 << 20
"""Bytes of a line: a document of the largest size with each byte escaped by six, and what else it says."""
_CUT_OFF = "is cut off; export the bank again, or copy the file again"
_DAMAGED = "is not what was written; the file was damaged, or changed by hand"
_OTHER = "is no export of a bank; simonides import reads other formats, too, see its --format"


def encode_line(record: Mapping[str, Any]) -> bytes:
    """One line, with its check and its end."""
    body = json.dumps(
        record, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
    ).encode()
    return b'%b,"~":"%08x"}\n' % (body[:-1], zlib.crc32(body))


def check_line(raw: bytes) -> bytes:
    """The JSON of a line without its check; ``ValueError``: the line is cut off, or not what was written."""
    if not raw.endswith(b"\n"):
        raise ValueError(_CUT_OFF)
    body = raw[:-_CHECK_LENGTH] + b"}"
    if raw[-_CHECK_LENGTH:] != b',"~":"%08x"}\n' % zlib.crc32(body):
        raise ValueError(_DAMAGED)
    return body


def decode_line(raw: bytes) -> dict[str, Any]:
    """The record of a line; ``ValueError``: it is not what was written, or holds text that no bank keeps."""
    try:
        record = json.loads(check_line(raw), parse_constant=refuse_constant)
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    if not isinstance(record, dict):
        raise TypeError("is no JSON object")
    if b"\\u" in raw:
        _check_texts(record)
    return record


def check_file(path: Path, now: int) -> tuple[dict[str, Any], int]:
    """Read a whole export before anything of it is stored; its header, and how many lines it has.

    Raises:
        InputError: another format or version, damage, a recorded time after *now*, or merged names that form
            a cycle; names the line.
        UnavailableError: the file cannot be read.
    """
    last, number = b"", 0
    merges: dict[int, tuple[int, int]] = {}
    with disk_errors(path, "read"), path.open("rb") as lines:
        header = _header(path, lines.readline(_LONGEST_HEADER))
        lines.seek(0)
        try:
            while line := _check_next(lines):
                if any(int(stamp) > now for stamp in _STAMPS.findall(line)):
                    check_recorded_times(decode_line(line), now)
                if len(line) <= _LONGEST_MERGE and b'"record":"merge"' in line:
                    _note_merge(decode_line(line), number + 1, merges)
                last, number = line, number + 1
        except (ValueError, TypeError) as error:
            raise InputError(f"{path}:{number + 1}", str(error)) from None
    _check_merges(path, merges)
    try:
        end = decode_line(last)
    except (ValueError, TypeError) as error:
        raise InputError(f"{path}:{number}", str(error)) from None
    if end.get("record") != "end":
        raise InputError(
            f"{path}:{number}", "is the last line, but no end; the file is cut off, copy it again"
        )
    if end.get("lines") != number:
        raise InputError(
            f"{path}:{number}", f"says {shown(end.get('lines'))} lines; some are missing or added"
        )
    return header, number


def _check_next(stream: IO[bytes]) -> bytes:
    """Check the next line, piece by piece: the line, or of a long one its last bytes; nothing at the end.

    ``ValueError``: it is cut off, too long, or not what was written.
    """
    line = stream.readline(_PIECE)
    if len(line) < _PIECE or line.endswith(b"\n"):
        if line:
            check_line(line)
        return line
    size, check = 0, 0
    while True:
        size += len(line)
        if size > LONGEST_LINE:
            raise ValueError(f"is longer than {LONGEST_LINE:,} bytes, which no line of an export is")
        check, held = zlib.crc32(line[:-_CHECK_LENGTH], check), line[-_CHECK_LENGTH:]
        if held.endswith(b"\n"):
            if held != b',"~":"%08x"}\n' % zlib.crc32(b"}", check):
                raise ValueError(_DAMAGED)
            return held
        piece = stream.readline(_PIECE)
        if not piece:
            raise ValueError(_CUT_OFF)
        size -= len(held)
        line = held + piece


def _note_merge(record: dict[str, Any], number: int, merges: dict[int, tuple[int, int]]) -> None:
    """Note a merge that was not undone: entity → what it counts as, and the number of the line."""
    entity, into = record.get("entity"), record.get("into")
    if isinstance(entity, int) and isinstance(into, int) and record.get("undone_at") == FOREVER:
        merges[entity] = into, number


def _check_merges(path: Path, merges: Mapping[int, tuple[int, int]]) -> None:
    """Refuse merges that form a cycle, by the names of its entities."""
    cycle = next(find_cycles({entity: into for entity, (into, _) in merges.items()}), None)
    if cycle is None:
        return
    names = {entity: f"entity {entity}" for entity in cycle}
    for _, record in read_records(path):
        if record.get("record") == "entity" and record.get("number") in names:
            names[record["number"]] = shown(record.get("name"))
    raise InputError(
        f"{path}:{max(merges[entity][1] for entity in cycle)}",
        f"merges names in a cycle, so that none stands for all: {described(cycle, names.__getitem__)}; "
        "undo one of these merges in the bank that was exported, and export it again",
    )


def read_records(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Line numbers and records of a checked export, header and end left out.

    ``InputError``: a line is not what was written; names it.
    """
    with disk_errors(path, "read"), path.open("rb") as lines:
        for number, raw in enumerate(iter(lambda: lines.readline(LONGEST_LINE), b""), start=1):
            try:
                record = decode_line(raw)
            except (ValueError, TypeError) as error:
                raise InputError(f"{path}:{number}", str(error)) from None
            if record.get("record") not in {"header", "end"}:
                yield number, record


def read_batches(path: Path, most: int) -> Iterator[Lines]:
    """The same records in batches of *most* lines; more where one memory with its versions has more."""
    batch: Lines = []
    for unit in _units(read_records(path)):
        if batch and len(batch) + len(unit) > most:
            yield batch
            batch = []
        batch += unit
    if batch:
        yield batch


def _units(records: Iterable[tuple[int, dict[str, Any]]]) -> Iterator[Lines]:
    """Lines that belong into one transaction: a memory's versions with their sources, or a line alone."""
    unit: Lines = []
    sources: Lines = []
    current: object = None
    for number, record in records:
        kind = record.get("record")
        if kind not in _PARTS_OF_MEMORIES:
            if unit or sources:
                yield unit + sources
                unit, sources, current = [], [], None
            yield [(number, record)]
        elif kind != "memory":
            sources.append((number, record))
        else:
            if unit and record.get("id") != current:
                yield unit
                unit = []
            current = record.get("id")
            unit += [*sources, (number, record)]
            sources = []
    if unit or sources:
        yield unit + sources


def _header(path: Path, raw: bytes) -> dict[str, Any]:
    try:
        # Before the check: a newer version may have another one.
        header = json.loads(raw)
    except (ValueError, RecursionError):
        header = None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise InputError(f"{path}:1", _OTHER)
    if header.get("version") != VERSION:
        raise InputError(
            f"{path}:1",
            f"has version {shown(header.get('version'))} of the format, this version of simonides reads "
            f"{VERSION}; upgrade simonides",
        )
    return header


def _check_texts(value: object) -> None:
    """Refuse NULs and lone surrogates, which JSON can spell and a bank does not keep."""
    if isinstance(value, str):
        value.encode()
        if "\0" in value:
            raise ValueError("holds a NUL")
    elif isinstance(value, dict):
        for key, inner in value.items():
            _check_texts(key)
            _check_texts(inner)
    elif isinstance(value, list):
        for inner in value:
            _check_texts(inner)


def refuse_constant(name: str) -> NoReturn:
    """For ``parse_constant`` of ``json.loads``: NaN and infinities are no JSON."""
    raise ValueError(f"holds {name}, which is no JSON number")


def write_export(target: str | os.PathLike[str] | IO[bytes], lines: Iterable[bytes]) -> None:
    """Write *lines* to a binary file, or to a path: whole or not at all, readable by the owner only.

    Raises:
        InputError: the path cannot be a file's.
        UnavailableError: it cannot be written; what was there before is still there.
    """
    if not isinstance(target, str | os.PathLike) and callable(getattr(target, "write", None)):
        target.writelines(lines)
        return
    with new_file(_regular(target)) as file:
        file.writelines(lines)


def _regular(target: object) -> Path:
    if not isinstance(target, str | os.PathLike) or "\0" in os.fspath(target) or not os.fspath(target):
        raise InputError("target", "expected the path of a file, or a file opened for binary writing")
    path = Path(target)
    with disk_errors(path):
        if path.exists() and not path.is_file():
            raise InputError("target", f"{path} is no regular file; name a file that is there, or a new one")
        if not path.parent.is_dir():
            raise InputError("target", f"{path.parent} is no folder; make it first")
    return path
