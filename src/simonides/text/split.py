"""A document in spans: one paragraph each, headings with the paragraph that they introduce.

Paragraphs end at blank lines and before headings. A Markdown heading (``# …`` or underlined with ``=`` or
``-``) and a rule (``---``) stay with the paragraph that follows, over blank lines; a fenced code block is not
divided by what is inside. A paragraph longer than the limit is divided by semantic-text-splitter at the
largest structure that fits: items of a list, rows of a table, lines of code, sentences and words by Unicode's
rules, and never inside a character with its marks unless that alone is too long.

Cost: linear; below 0.1 s per megabyte of prose, 0.5 s of text without a gap. Weakness:
``Dr. Vale`` reads as the end of a sentence; it matters only in long paragraphs. Why a paragraph is the unit:
docs/adr/0005-splitting.md.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from semantic_text_splitter import MarkdownSplitter

from simonides.errors import InputError

MAX_CHARS = 1_200
"""Default limit of a span: about 300 tokens of English, what a small embedder reads at once."""

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]|$)")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*$")
_RULE = re.compile(r" {0,3}(?:(?:-[ \t]*+){3,}|(?:\*[ \t]*+){3,}|(?:_[ \t]*+){3,})$")
_FENCE = re.compile(r" {0,3}(`{3,}+(?!.*`)|~{3,}+)")
_WINDOW = 64
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a document: level from 1, its words, and where its line starts."""

    level: int
    title: str
    start: int


@dataclass(frozen=True, slots=True)
class _Paragraph:
    """Headings from ``start``, their paragraph from ``body``."""

    start: int
    body: int
    stop: int


def split_document(text: str, *, max_chars: int = MAX_CHARS) -> list[tuple[int, int]]:
    """Spans of the paragraphs of a Markdown or plain text, of at most *max_chars* characters.

    Returns:
        half-open ``(start, stop)``, ascending, not empty, without white space at either end; every other
        character of *text* lies in exactly one of them.

    Raises:
        InputError: *max_chars* is below 1.
    """
    if max_chars < 1:
        raise InputError("max_chars", f"{max_chars} is too small; give a length from 1")
    paragraphs, _ = _scan(text)
    # The library takes no lone surrogates; what stands in for one is as long, and only its place counts.
    plain = _SURROGATE.sub("?", text)
    return [span for paragraph in paragraphs for span in _divide(plain, paragraph, max_chars)]


def headings(text: str) -> list[Heading]:
    """The Markdown headings of *text*, in order; a fenced code block has none."""
    return _scan(text)[1]


def _scan(text: str) -> tuple[list[_Paragraph], list[Heading]]:
    paragraphs: list[_Paragraph] = []
    found: list[Heading] = []
    start = body = body_lines = 0
    fence, before = "", ""
    for match in _LINE.finditer(text):
        line, here = match[0].rstrip(), match.start()
        opening = _FENCE.match(line)
        heading = _HEADING.match(line)
        if fence:
            if opening and opening[1].startswith(fence) and line.strip() == opening[1]:
                fence = ""
        elif body_lines == 1 and _UNDERLINE.match(line):
            found.append(Heading(1 if "=" in line else 2, before.strip(), body))
            body, body_lines = match.end(), 0
        elif not line or heading or _RULE.match(line):
            if body_lines:
                paragraphs.append(_Paragraph(start, body, here))
                start, body_lines = here, 0
            if heading:
                marks = heading[0].strip()
                found.append(Heading(len(marks), line[heading.end() :].strip(" \t#"), here))
            body = match.end()
        else:
            body_lines += 1
            fence = opening[1] if opening else ""
        before = line
    paragraphs.append(_Paragraph(start, body, len(text)))
    return paragraphs, found


def _divide(text: str, paragraph: _Paragraph, limit: int) -> list[tuple[int, int]]:
    start, stop = _stripped(text, paragraph.start, paragraph.stop)
    if stop - start <= limit:
        return [(start, stop)] if start < stop else []
    spans: list[tuple[int, int]] = []
    body, _ = _stripped(text, paragraph.body, paragraph.stop)
    if start < body < min(start + limit, stop):
        # The library would leave the headings alone; they take as much of the body along as fits.
        room = limit - (body - start)
        _, first = _chunks(text, body, min(body + 2 * limit, stop), room)[0]
        spans.append((start, first))
        start = first
    return [*spans, *_chunks(text, start, stop, limit)]


def _chunks(text: str, start: int, stop: int, limit: int) -> list[tuple[int, int]]:
    """The library's chunks of ``text[start:stop]``, white space at their ends left out."""
    splitter = MarkdownSplitter(limit)
    spans: list[tuple[int, int]] = []
    # The library is quadratic in text without a gap, so it gets windows; a window's last chunk is cut anew.
    while start < stop:
        end = min(start + _WINDOW * limit, stop)
        chunks = splitter.chunk_indices(text[start:end])
        found = [_stripped(text, start + at, start + at + len(chunk)) for at, chunk in chunks]
        again = end < stop and len(found) > 1
        spans += found[:-1] if again else found
        start = found[-1][0] if again else end
    return [(first, last) for first, last in spans if first < last]


def _stripped(text: str, start: int, stop: int) -> tuple[int, int]:
    """The span without white space at its ends; empty when there is nothing else."""
    piece = text[start:stop]
    left = start + len(piece) - len(piece.lstrip())
    return left, max(left, start + len(piece.rstrip()))
