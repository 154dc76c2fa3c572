"""Find secrets in texts by their shape, and put placeholders in their place.

Known shapes are matched by their own prefixes and lengths, so that a word such as "password" alone is none.
What has no known shape is taken for a secret only where it is named as one (``api_key = …``) and looks
random: Shannon entropy of at least 3.5 bits a character over at least 20 characters with both letters and
digits. ``screening`` says which words of a caller are looked at, and what becomes of them.
Cost: one pass per shape, about 0.2 ms of CPU for a text of 500 characters, and linear in its length: what a
pattern repeats is bounded, or ends where the pattern may begin anew. Not found: secrets without a shape and a
name, split over several items, or written out in words. Of an address that holds a password and further on
another ``@``, all between is taken for the password: ``https://u:pw@host/@name`` loses its host.
"""

from __future__ import annotations

import hashlib
import math
import re
from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

from simonides.records.hygiene import clean_choice

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Policy: TypeAlias = Literal["off", "mask", "refuse"]
POLICIES = ("off", "mask", "refuse")
VARIABLE = "SIMONIDES_REDACT"

_LEAST_ENTROPY_BITS = 3.5

_NO_MORE = r"(?![A-Za-z0-9_-])"
_START = r"(?<![A-Za-z0-9_])"


_PEM_NAME = r"(?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----"
_PEM_BEGIN = r"-----BEGIN " + _PEM_NAME
# Without its end: headers such as "Proc-Type: 4,ENCRYPTED", then what a body consists of.
_PEM_CUT_OFF = r"(?:\s*[A-Z][A-Za-z-]{2,20}: [^\n]*+\n)*[A-Za-z0-9+/=\\\s]*+"

# Of a file, what follows a colon is a folder.
_SCHEME = r"[A-Za-z][A-Za-z0-9+.-]{1,20}(?<!file)(?<!FILE)://"
# "host:8080/path" has a port; so has "host:${PORT}/path", "host:{port}/path" and "host:<port>/path".
_PORT = r"(?:[0-9]{1,5}|\$?\{[^{}\s]{0,64}\}|<[^<>\s]{0,64}>|(?i:port))(?![^/?#,;|)\]}\"'<>`\\])"
# To the last @ of the address: a password may hold / and @.
_ANY_PASSWORD = r"(?!" + _PORT + r")(?:(?!://)[^\s\"'<>`]){3,2048}"


@dataclass(frozen=True, slots=True)
class Shape:
    """One sort of secret: its name in the placeholder, and what it looks like (group ``secret``, or all)."""

    kind: str
    pattern: re.Pattern[str]


def _shape(kind: str, pattern: str) -> Shape:
    return Shape(kind, re.compile(pattern))


SHAPES = (
    _shape(
        "private_key",
        _PEM_BEGIN + r"(?:[^-]*+(?:-(?!----)[^-]*+)*+-----END " + _PEM_NAME + r"|" + _PEM_CUT_OFF + r")",
    ),
    # The header is bounded, because the next one may begin inside it.
    # A header ends where another token may begin; else each beginning would read 2,000 characters again.
    _shape(
        "jwt", _START + r"eyJ(?:(?!-eyJ)[A-Za-z0-9_-]){10,2000}+\.eyJ[A-Za-z0-9_-]{10,}+\.[A-Za-z0-9_-]{10,}+"
    ),
    _shape("aws_key", _START + r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}" + _NO_MORE),
    _shape("google_key", _START + r"AIza[A-Za-z0-9_-]{35}" + _NO_MORE),
    _shape("google_oauth", _START + r"(?:ya29\.[A-Za-z0-9_-]{30,}|GOCSPX-[A-Za-z0-9_-]{28})"),
    _shape("github_token", _START + r"(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{60,255})"),
    _shape("gitlab_token", _START + r"gl(?:pat|dt|rt|ptt)-[A-Za-z0-9_-]{20,}"),
    _shape("slack_token", _START + r"xox[abeoprs]-[A-Za-z0-9-]{10,}"),
    _shape("slack_webhook", r"(?i:https://hooks\.slack\.com/services/)(?P<secret>[A-Za-z0-9/_-]{20,})"),
    _shape("stripe_key", _START + r"(?:sk|rk|whsec)_(?:live_|test_)?[A-Za-z0-9]{24,}"),
    _shape("anthropic_key", _START + r"sk-ant-[A-Za-z0-9_-]{20,}"),
    _shape("openai_key", _START + r"sk-(?:proj-|svcacct-)?[A-Za-z0-9_-]{32,}"),
    _shape("hugging_face_token", _START + r"hf_[A-Za-z0-9]{30,}"),
    _shape("npm_token", _START + r"npm_[A-Za-z0-9]{36}" + _NO_MORE),
    _shape("pypi_token", _START + r"pypi-[A-Za-z0-9_-]{50,}"),
    _shape("sendgrid_key", _START + r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,64}"),
    _shape("twilio_key", _START + r"SK[0-9a-f]{32}" + _NO_MORE),
    _shape("digitalocean_token", _START + r"do[opr]_v1_[0-9a-f]{64}"),
    _shape("vault_token", _START + r"hv[sbr]\.[A-Za-z0-9_-]{24,}"),
    _shape("telegram_token", _START + r"[0-9]{8,10}:AA[A-Za-z0-9_-]{33}" + _NO_MORE),
    _shape("azure_key", r"(?i:AccountKey|SharedAccessKey)=(?P<secret>[A-Za-z0-9+/]{40,90}={0,2})"),
    _shape("url_password", _SCHEME + r"[^\s/:@\[\]]{0,256}:(?P<secret>" + _ANY_PASSWORD + r")@"),
    _shape("url_password", _SCHEME + r"[^\s/:\[\]]{0,256}:(?P<secret>[^\s/]{3,256})@"),
    _shape(
        "bearer_token",
        r"(?i:bearer|basic)\s+(?P<secret>(?=[A-Za-z._~+/-]*[0-9])[A-Za-z0-9._~+/-]{20,}={0,2})",
    ),
)
"""In order: the first one that matches names the secret."""

_NAMED = re.compile(
    r"(?i)(?:api[_ -]?key|secret(?:[_ -]?key)?|access[_ -]?key|auth[_ -]?token|access[_ -]?token|token|"
    r"passw(?:or)?d|passphrase|client[_ -]?secret|credentials?)[\"']?\s{0,3}(?:[:=]|=>|\bis\b)\s{0,3}[\"']?"
    r"(?P<secret>[A-Za-z0-9+/_=.~!@#$%^&*-]{20,200})"
)


PLACEHOLDER = r"\[REDACTED:[a-z_]{1,32}(?::[0-9a-f]{16})?\]"
"""Pattern of what ``placeholder`` and ``masked_apart`` write."""

GUESSABLE = frozenset({"url_password", "bearer_token"})
"""Kinds that people choose themselves, too; ``Basic …`` is a name and a password."""


def read_policy(given: object, environ: Mapping[str, str], place: str = "redact") -> Policy:
    """What is to become of secrets: as *given* (in *place*), else by ``SIMONIDES_REDACT``, else nothing.

    ``InputError``: neither off, mask nor refuse; the message names who says so.
    """
    if given is None:
        given, place = environ.get(VARIABLE, "").strip() or "off", VARIABLE
    return cast("Policy", clean_choice(given, place, POLICIES))


def find_secrets(text: str) -> list[tuple[int, int, str]]:
    """Where secrets stand in a text: start, end and kind, in order; they do not overlap."""
    found: list[tuple[int, int, str]] = []
    for shape in SHAPES:
        for match in shape.pattern.finditer(text):
            _add(found, match, shape.kind)
    for match in _NAMED.finditer(text):
        if _looks_random(match["secret"]):
            _add(found, match, "named_secret")
    return found


def _add(found: list[tuple[int, int, str]], match: re.Match[str], kind: str) -> None:
    """Take up what *match* holds and no earlier one does: where they overlap, what is left of it."""
    start, end = match.span("secret" if "secret" in match.re.groupindex else 0)
    if text_is_placeholder(match.string[start:end]):
        return
    place = bisect_left(found, (start, start, ""))
    if place and found[place - 1][1] > start:
        start = found[place - 1][1]
    while start < end:
        taken = place < len(found) and found[place][0] < end
        stop = found[place][0] if taken else end
        if start < stop:
            found.insert(place, (start, stop, kind))
            place += 1
        if not taken:
            return
        start = found[place][1]
        place += 1


def text_is_placeholder(text: str) -> bool:
    """Whether a secret stands here already masked."""
    return text.startswith("[REDACTED:")


def is_named_secret(name: str, value: str) -> bool:
    """Whether a value is a secret because of its name, such as that of a setting."""
    match = _NAMED.match(f"{name}: {value}") if value else None
    return match is not None and _looks_random(match["secret"])


def _looks_random(text: str) -> bool:
    mixed = any(c.isdigit() for c in text) and any(c.isalpha() for c in text)
    return mixed and entropy_bits(text) >= _LEAST_ENTROPY_BITS


def entropy_bits(text: str) -> float:
    """Shannon entropy of the characters, bits per character; 0 for an empty text."""
    counts = Counter(text).values()
    return -sum(count / len(text) * math.log2(count / len(text)) for count in counts)


def masked(text: str) -> str:
    """*text* with a placeholder ``[REDACTED:kind]`` in the place of each secret."""
    return with_placeholders(text, find_secrets(text))


def with_placeholders(text: str, found: Sequence[tuple[int, int, str]]) -> str:
    """*text* masked where secrets were *found* in it."""
    parts, done = [], 0
    for start, end, kind in found:
        parts += [text[done:start], placeholder(kind)]
        done = end
    return "".join([*parts, text[done:]])


def placeholder(kind: str) -> str:
    """What stands in the place of a secret."""
    return f"[REDACTED:{kind}]"


def masked_apart(text: str) -> str:
    """*text* masked so that two names that differ in a secret stay two: ``[REDACTED:jwt:1f0c…]``.

    The 16 hexadecimal digits are of the secret's BLAKE2b hash, from which nobody finds what was drawn at
    random. What is of the kinds in ``GUESSABLE`` might be guessed and tried, so it gets the plain one.
    """
    parts, done = [], 0
    for start, end, kind in find_secrets(text):
        digest = hashlib.blake2b(text[start:end].encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
        parts += [text[done:start], placeholder(kind if kind in GUESSABLE else f"{kind}:{digest}")]
        done = end
    return "".join([*parts, text[done:]])
