"""A document in spans: one paragraph each, headings with the paragraph that they introduce.

Paragraphs end at blank lines and before headings. A Markdown heading (``# …`` or underlined with ``=`` or
``-``) and a rule (``---``) stay with the paragraph that follows, over blank lines; a fenced code block is not
divided by what is inside. A paragraph longer than the limit is cut after the last sentence that fits (never
between a heading and its text), else at the last white space that fits, else at the limit.

Cost: linear. Weakness: ``Dr. Vale`` reads as the end of a sentence; it matters only in long paragraphs.
"""

from __future__ import annotations

import re

from simonides.errors import InputError

MAX_CHARS = 1_200
"""Default limit of a span: about 300 tokens of English, what a small embedder reads at once."""

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]|$)")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*$")
_RULE = re.compile(r" {0,3}(?:(?:-[ \t]*+){3,}|(?:\*[ \t]*+){3,}|(?:_[ \t]*+){3,})$")
_FENCE = re.compile(r" {0,3}(`{3,}+(?!.*`)|~{3,}+)")
_SENTENCE_END = re.compile(
    r"(?<![.!?\u2026])[.!?\u2026]++[\"'\u201d\u2019)\]]*+(?=\s)"
    r"|[\u3002\uff01\uff1f]++[\u300d\u300f\u201d\u2019]*+"  # full-width stops need no space
)
_SPACE = re.compile(r"\s+")


def split_document(text: str, *, max_chars: int = MAX_CHARS) -> list[tuple[int, int]]:
    """Spans of the paragraphs of a Markdown or plain text.

    Args:
        text: the document.
        max_chars: longest span, in characters, from 1.

    Returns:
        half-open ``(start, stop)``, ascending, not empty, without white space at either end; every other
        character of *text* lies in exactly one of them.

    Raises:
        InputError: *max_chars* is below 1.
    """
    if max_chars < 1:
        raise InputError("max_chars", f"{max_chars} is too small; give a length from 1")
    return [
        span for start, body, stop in _paragraphs(text) for span in _cut(text, start, body, stop, max_chars)
    ]


def _paragraphs(text: str) -> list[tuple[int, int, int]]:
    """Spans ``(start, body, stop)``: headings from start, their paragraph from body."""
    found: list[tuple[int, int, int]] = []
    start = body = body_lines = 0
    fence = ""
    for match in _LINE.finditer(text):
        line, here = match[0].rstrip(), match.start()
        opening = _FENCE.match(line)
        heading = bool(_HEADING.match(line) or _RULE.match(line))
        if fence:
            if opening and opening[1].startswith(fence) and line.strip() == opening[1]:
                fence = ""
        elif body_lines == 1 and _UNDERLINE.match(line):
            body, body_lines = match.end(), 0
        elif not line or heading:
            if body_lines:
                found.append((start, body, here))
                start, body_lines = here, 0
            body = match.end()
        else:
            body_lines += 1
            fence = opening[1] if opening else ""
    found.append((start, body, len(text)))
    return found


def _cut(text: str, start: int, body: int, stop: int, limit: int) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    stop = start + len(text[start:stop].rstrip())
    while (start := _skip_space(text, start)) < stop:
        cut = stop if stop - start <= limit else _cutting_place(text, start, body, start + limit)
        spans.append((start, start + len(text[start:cut].rstrip())))
        start = cut
    return spans


def _cutting_place(text: str, start: int, body: int, last: int) -> int:
    """The last good place to cut after *start*, at most *last*."""
    earliest = body if start < body < last else start
    for pattern in (_SENTENCE_END, _SPACE):
        # One character more than fits: what follows a sentence is looked at, not taken.
        ends = [min(found.end(), last) for found in pattern.finditer(text, earliest, last + 1)]
        if ends:
            return ends[-1]
    return last


def _skip_space(text: str, start: int) -> int:
    space = _SPACE.match(text, start)
    return space.end() if space else start
