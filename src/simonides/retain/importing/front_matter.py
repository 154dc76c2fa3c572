r"""The head of a note: a small part of YAML, read without a YAML package.

    ---
    title: Fruit trees            # a comment
    date: 2026-04-02
    tags: [garden, "north bed"]
    authors:
      - Ilse
    ---

Read are ``key: value`` lines at the left edge with plain, 'single' or "double" quoted texts (escapes ``\"``
and ``\\`` only), lists in brackets on one line, and lists of ``- `` lines below a key. A plain text may hold
a colon. Of anything else (nested keys, block texts, anchors) the key that it belongs to is passed over.
Values stay texts: ``1.0`` is not a number.

A block that holds a sentence, or no ``key: value`` line at all, is no head but text between two rules.
"""

from __future__ import annotations

import re

_FENCE = re.compile(r"\ufeff?---[ \t]*\r?\n")
_END = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.MULTILINE)
_PAIR = re.compile(r"([^\s#'\"\[\]{}&*!|>%@`?:-][^:]*):(?:[ \t]++(.*))?")
_ENTRY = re.compile(r"[ \t]*-[ \t]++(.*)")
_SENTENCE = re.compile(r"\A\w[^\s:]*[ \t]+\S")
_QUOTED = re.compile(r'"((?:[^"\\]|\\["\\])*+)"|\'((?:[^\']|\'\')*+)\'')
_IN_BRACKETS = re.compile(r"[^,\[\]{}#'\"]*")
_COMMENT = re.compile(r"(?:^|(?<=[ \t]))#.*")
_BLANKS = re.compile(r"\s*")
_NOT_PLAIN = re.compile(r"[&*!|>%@`{}\[\]'\"?]")


def split_front_matter(text: str) -> tuple[dict[str, str | list[str]], int]:
    """What the head of a note says, and where the note itself begins.

    Args:
        text: the whole note.

    Returns:
        values by lower-case key, none of them empty, and a position in characters, behind a byte order
        mark; nothing when the note has no head.
    """
    start = _FENCE.match(text)
    end = _END.search(text, start.end()) if start else None
    lines = text[start.end() : end.start()].splitlines() if start and end else []
    if start is None or end is None or _is_prose(lines):
        return {}, int(text.startswith("\ufeff"))
    return _read(lines), end.end()


def _is_prose(lines: list[str]) -> bool:
    """Whether a block between two rules is text: else what it says would be lost."""
    others = [line for line in lines if line.strip() and not _PAIR.fullmatch(line)]
    if any(map(_SENTENCE.match, others)):
        return True
    return bool(others) and not any(map(_PAIR.fullmatch, lines))


def _read(lines: list[str]) -> dict[str, str | list[str]]:
    values: dict[str, str | list[str]] = {}
    key = ""
    below: list[str] | None = None  # the lines below the last key, as long as they are a list
    for line in lines:
        pair, entry = _PAIR.fullmatch(line), _ENTRY.fullmatch(line)
        said = _text(entry[1]) if entry else None
        if pair:
            key = pair[1].strip().lower()
            rest = pair[2] or ""
            below = None if _uncommented(rest) else []
            value = below if below is not None else _value(rest)
            values.pop(key, None)
            if value is not None:
                values[key] = value
        elif below is not None and said is not None:
            below.append(said)
        elif _uncommented(line):
            # Something that this part of YAML has no words for: so the key is not understood.
            values.pop(key, None)
            below = None
    return {key: value for key, value in values.items() if value}


def _uncommented(text: str) -> str:
    return _COMMENT.sub("", text).strip()


def _value(text: str) -> str | list[str] | None:
    if text.startswith("["):
        return _listed(text)
    return _text(text, colons=True)


def _text(text: str, *, colons: bool = False) -> str | None:
    """One text on the rest of a line; ``None`` when it is more than that. *colons*: it may hold one."""
    quoted = _QUOTED.match(text)
    if quoted:
        return None if _uncommented(text[quoted.end() :]) else _unquoted(quoted)
    plain = _uncommented(text)
    if not plain or _NOT_PLAIN.match(plain):
        return None
    if not colons and (": " in plain or plain.endswith(":")):
        return None
    return plain


def _listed(text: str) -> list[str] | None:
    """A list in brackets; ``None`` when it does not end on the line or holds more than texts."""
    found: list[str] = []
    place = 1
    while True:
        place = _after_blanks(text, place)
        quoted = _QUOTED.match(text, place)
        part = quoted or _IN_BRACKETS.match(text, place)
        if part is None:
            return None
        said = _unquoted(quoted) if quoted else part[0].strip()
        place = _after_blanks(text, part.end())
        if said:
            found.append(said)
        if text[place : place + 1] == "]":
            return None if _uncommented(text[place + 1 :]) else found
        if text[place : place + 1] != ",":
            return None
        place += 1


def _after_blanks(text: str, place: int) -> int:
    blanks = _BLANKS.match(text, place)
    return blanks.end() if blanks else place


def _unquoted(found: re.Match[str]) -> str:
    if found[1] is not None:
        return re.sub(r"\\(.)", r"\1", found[1])
    return found[2].replace("''", "'")
