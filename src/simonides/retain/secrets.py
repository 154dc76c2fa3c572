"""Find secrets in what is retained, before it is stored: leave them, mask them, or refuse the item.

Known shapes are matched by their own prefixes and lengths, so that a word such as "password" alone is none.
What has no known shape is taken for a secret only where it is named as one (``api_key = …``) and looks
random: Shannon entropy of at least 3.5 bits a character over at least 20 characters with both letters and
digits. Every part of an item that is stored is looked at: text, context, source, path, tags, metadata
and the rest.
Readers (acl) are not: they are names that a credential is compared with.
Cost: one pass per shape, about 0.2 ms of CPU for a text of 500 characters. Not found: secrets without a
shape and a name, split over several items, or written out in words.
"""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from simonides.errors import InputError
from simonides.records.extraction import Relation
from simonides.retain.metadata import canonical_json

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from simonides.records.draft import Draft

Policy: TypeAlias = Literal["off", "mask", "refuse"]
POLICIES = ("off", "mask", "refuse")

_LEAST_ENTROPY_BITS = 3.5
_FIELDS = (
    "text",
    "context",
    "relation",
    "expansion",
    "path",
    "project",
    "source",
    "document",
    "session",
    "speaker",
)

_NO_MORE = r"(?![A-Za-z0-9_-])"
_START = r"(?<![A-Za-z0-9_])"


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
        r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"
        r"(?:(?:[^-]|-(?!----)){0,20000}-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"
        r"|[A-Za-z0-9+/=\s]{0,20000})",
    ),
    _shape("jwt", _START + r"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
    _shape("aws_key", _START + r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}" + _NO_MORE),
    _shape("google_key", _START + r"AIza[A-Za-z0-9_-]{35}" + _NO_MORE),
    _shape("google_oauth", _START + r"(?:ya29\.[A-Za-z0-9_-]{30,}|GOCSPX-[A-Za-z0-9_-]{28})"),
    _shape("github_token", _START + r"(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{60,255})"),
    _shape("gitlab_token", _START + r"gl(?:pat|dt|rt|ptt)-[A-Za-z0-9_-]{20,}"),
    _shape("slack_token", _START + r"xox[abeoprs]-[A-Za-z0-9-]{10,}"),
    _shape("slack_webhook", r"https://hooks\.slack\.com/services/(?P<secret>[A-Za-z0-9/_-]{20,})"),
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
    _shape("url_password", r"[a-z][a-z0-9+.-]{1,20}://[^\s/:@]{0,256}:(?P<secret>[^\s/@]{3,256})@"),
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
    start, end = match.span("secret" if "secret" in match.re.groupindex else 0)
    if text_is_placeholder(match.string[start:end]):
        return
    place = bisect_left(found, (start, end, kind))
    if (place == 0 or found[place - 1][1] <= start) and (place == len(found) or end <= found[place][0]):
        found.insert(place, (start, end, kind))


def text_is_placeholder(text: str) -> bool:
    """Whether a secret stands here already masked."""
    return text.startswith("[REDACTED:")


def _looks_random(text: str) -> bool:
    mixed = any(c.isdigit() for c in text) and any(c.isalpha() for c in text)
    return mixed and entropy_bits(text) >= _LEAST_ENTROPY_BITS


def entropy_bits(text: str) -> float:
    """Shannon entropy of the characters, bits per character; 0 for an empty text."""
    counts = Counter(text).values()
    return -sum(count / len(text) * math.log2(count / len(text)) for count in counts)


def masked(text: str) -> str:
    """*text* with a placeholder ``[REDACTED:kind]`` in the place of each secret."""
    return _masked(text, find_secrets(text))


def _masked(text: str, found: Sequence[tuple[int, int, str]]) -> str:
    parts, done = [], 0
    for start, end, kind in found:
        parts += [text[done:start], f"[REDACTED:{kind}]"]
        done = end
    return "".join([*parts, text[done:]])


def screen(drafts: Sequence[Draft], policy: Policy) -> tuple[list[Draft], dict[str, int]]:
    """Apply the policy to checked items.

    Args:
        drafts: checked items.
        policy: one of ``POLICIES``.

    Returns:
        the items that are to be stored, and how many secrets of each kind were masked.

    Raises:
        InputError: the policy is to refuse, and an item holds a secret; the message does not repeat it.
    """
    found: Counter[str] = Counter()
    if policy == "off":
        return list(drafts), {}
    return [_screened(draft, policy, found) for draft in drafts], dict(found)


def _screened(draft: Draft, policy: Policy, found: Counter[str]) -> Draft:
    def clean(text: str, field: str) -> str:
        secrets = find_secrets(text)
        if secrets and policy == "refuse":
            place = f"{draft.place}.{field}" if draft.place else field
            raise InputError(
                place, f"holds a secret ({secrets[0][2]}); take it out, or open the store with redact='mask'"
            )
        found.update(kind for _, _, kind in secrets)
        return _masked(text, secrets)

    changed = {field: clean(getattr(draft, field), field) for field in _FIELDS}
    said = draft.statement
    source, span = _source(draft, clean)
    return replace(
        draft,
        **changed,  # type: ignore[arg-type]  # all of _FIELDS are texts
        tags=tuple(sorted({clean(tag, "tags") for tag in draft.tags})),
        metadata_json=_metadata(draft.metadata_json, clean),
        statement=said
        and Relation(
            said.name, clean(said.subject, "subject"), clean(said.object, "object"), said.single_valued
        ),
        source_text=source,
        span=span,
    )


def _source(draft: Draft, clean: Callable[[str, str], str]) -> tuple[str, tuple[int, int] | None]:
    """The raw text without its secrets, and where the item's part of it lies now."""
    if draft.span is None or not draft.source_text:
        return clean(draft.source_text, "text"), draft.span
    secrets = find_secrets(draft.source_text)
    text = clean(draft.source_text, "text")
    start, stop = (_moved(place, secrets) for place in draft.span)
    return text, (start, max(start, stop))


def _moved(place: int, secrets: Sequence[tuple[int, int, str]]) -> int:
    """Where a character of the raw text lies after masking; inside a secret, at its placeholder's start."""
    shift = 0
    for start, end, kind in secrets:
        if place <= start:
            break
        if place < end:
            return start + shift
        shift += len(f"[REDACTED:{kind}]") - (end - start)
    return place + shift


def _metadata(text: str, clean: Callable[[str, str], str]) -> str:
    """Metadata with every text in it cleaned, keys too; unchanged where there is no secret."""

    def cleaned(value: Any) -> Any:
        if isinstance(value, str):
            return clean(value, "metadata")
        if isinstance(value, list):
            return [cleaned(entry) for entry in value]
        if isinstance(value, dict):
            # A value is named by its key: {"api_key": "…"} reads as api_key: …
            return {clean(key, "metadata"): _named_value(key, cleaned(entry)) for key, entry in value.items()}
        return value

    def _named_value(key: str, value: Any) -> Any:
        if not isinstance(value, str) or not value:
            return value
        whole = f"{key}: {value}"
        return clean(whole, "metadata")[len(key) + 2 :] if _NAMED.match(whole) else value

    return canonical_json(cleaned(json.loads(text)), "metadata")
