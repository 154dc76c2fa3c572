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
import re
import zlib
from typing import TYPE_CHECKING, Any, NoReturn

from simonides.backends.embedded.export_fields import RECORDED_TIMES, check_recorded_times
from simonides.errors import InputError
from simonides.records.hygiene import shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

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

_CHECK_LENGTH = len(',"~":"00000000"}\n')
_LONGEST_HEADER = 1 << 20
# In a text the quotes are escaped, so it matches keys only; those of metadata are told apart afterwards.
_STAMPS = re.compile(b'"(?:%b)": *([0-9]{1,19})' % "|".join(RECORDED_TIMES).encode())
_OTHER = "is no export of a bank; simonides import reads other formats, too, see its --format"


def encode_line(record: Mapping[str, Any]) -> bytes:
    """One line, with its check and its end."""
    body = json.dumps(
        record, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
    ).encode()
    return b'%b,"~":"%08x"}\n' % (body[:-1], zlib.crc32(body))


def check_line(raw: bytes) -> bytes:
    """The JSON of a line without its check.

    Raises:
        ValueError: the line is cut off, or not what was written.
    """
    if not raw.endswith(b"\n"):
        raise ValueError("is cut off; export the bank again, or copy the file again")
    body = raw[:-_CHECK_LENGTH] + b"}"
    if raw[-_CHECK_LENGTH:] != b',"~":"%08x"}\n' % zlib.crc32(body):
        raise ValueError("is not what was written; the file was damaged, or changed by hand")
    return body


def decode_line(raw: bytes) -> dict[str, Any]:
    """The record of a line.

    Raises:
        ValueError: the line is not what was written, or holds text that no bank keeps.
    """
    try:
        record = json.loads(check_line(raw), parse_constant=_no_constant)
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    if not isinstance(record, dict):
        raise TypeError("is no JSON object")
    if b"\\u" in raw:
        _check_texts(record)
    return record


def check_file(path: Path, now: int) -> tuple[dict[str, Any], int]:
    """Read a whole export before anything of it is stored.

    Args:
        path: the file.
        now: the clock, microseconds UTC; no recorded time may lie after it.

    Returns:
        its header, and how many lines it has.

    Raises:
        InputError: another format or version, damage, or a recorded time after the clock; names the line.
        OSError: the file cannot be read.
    """
    last, number = b"", 0
    with path.open("rb") as lines:
        header = _header(path, lines.readline(_LONGEST_HEADER))
        lines.seek(0)
        for number, last in enumerate(lines, start=1):
            try:
                check_line(last)
                if any(int(stamp) > now for stamp in _STAMPS.findall(last)):
                    check_recorded_times(decode_line(last), now)
            except (ValueError, TypeError) as error:
                raise InputError(f"{path}:{number}", str(error)) from None
    end = decode_line(last)
    if end.get("record") != "end":
        raise InputError(
            f"{path}:{number}", "is the last line, but no end; the file is cut off, copy it again"
        )
    if end.get("lines") != number:
        raise InputError(
            f"{path}:{number}", f"says {shown(end.get('lines'))} lines; some are missing or added"
        )
    return header, number


def read_records(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Line numbers and records of a checked export, header and end left out.

    Raises:
        InputError: a line is not what was written; names it.
    """
    with path.open("rb") as lines:
        for number, raw in enumerate(lines, start=1):
            try:
                record = decode_line(raw)
            except (ValueError, TypeError) as error:
                raise InputError(f"{path}:{number}", str(error)) from None
            if record.get("record") not in {"header", "end"}:
                yield number, record


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


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"holds {name}, which is no JSON number")
