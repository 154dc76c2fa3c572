"""What becomes of secrets in a caller's words before they are stored: nothing, a placeholder, a refusal.

    words       text, context, expansion, relation, speaker, source, path, project, tags, metadata …
                → the plain placeholder: ``[REDACTED:jwt]``
    names apart document_id, session, idempotency key, subject and object of a statement
                → one with a digest, since two of them must not become one (``secrets.masked_apart``)
    names       readers (acl), principals, banks, aliases
                → refused under either policy: a masked reader would let others read, a masked bank or alias
                would be found by nobody

Queries are words, too, where they are stored: with a job of the async tier. Raw texts are looked at whole, so
that a secret that lies across two paragraphs, or in the half of a line that stands as context, is found.
Cost: that of ``find_secrets`` for each text, and once for each raw text.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from simonides.errors import InputError
from simonides.records.extraction import Relation
from simonides.retain.items import canonical_json
from simonides.retain.redacted_errors import without
from simonides.retain.secrets import (
    find_secrets,
    is_named_secret,
    masked_apart,
    placeholder,
    with_placeholders,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simonides.records.draft import Draft
    from simonides.retain.secrets import Policy

    # A raw text with placeholders, and where its secrets stood.
    _Whole = tuple[str, list[tuple[int, int, str]]]

T = TypeVar("T")

_WORDS = ("text", "relation", "expansion", "path", "project", "source", "speaker")
_APART = ("document", "session")
_CALLED = {"document": "document_id"}
_NAME = "token: "
"""Stands for a key that names a secret, and may hold one itself."""


@dataclass(slots=True)
class Redactor:
    """Applies a policy of ``secrets.POLICIES`` to what is about to be stored.

    Counts what it masks in *found*.

    Every method raises ``InputError`` when the policy is to refuse and there is a secret; the message does
    not repeat it. With ``off`` everything passes as it is.
    """

    policy: Policy
    found: Counter[str] = field(default_factory=Counter)

    def words(self, text: T, place: str) -> T | str:
        """A text with placeholders; what is no text passes, since whoever reads it says so."""
        if self.policy == "off" or not isinstance(text, str):
            return text
        secrets = self._secrets(text, place)
        return with_placeholders(text, secrets) if secrets else text

    def apart(self, text: str, place: str) -> str:
        """A name with placeholders that keep it apart from others."""
        return masked_apart(text) if self.policy != "off" and self._secrets(text, place) else text

    def name(self, text: T, place: str) -> T:
        """A name that must stay as it is; a secret in it is refused under either policy."""
        if self.policy != "off" and isinstance(text, str):
            for _, _, kind in find_secrets(text):
                raise InputError(
                    place, f"holds a secret ({kind}), and a name cannot be masked; choose another name"
                )
        return text

    def changes(self, changes: Mapping[str, Any]) -> dict[str, Any]:
        """Changes of a memory, by field, as ``editing.read_changes`` gives them."""
        if self.policy == "off":
            return dict(changes)
        return {name: self._change(name, value) for name, value in changes.items()}

    def _change(self, name: str, value: Any) -> Any:
        if name == "tags":
            return self._tags(value, name)
        return self._metadata(value, name) if name == "metadata" else self.words(value, name)

    def json_text(self, text: str, place: str) -> str:
        """JSON with placeholders in its texts and keys."""
        if self.policy == "off":
            return text
        return json.dumps(self._value(json.loads(text), place))

    def drafts(self, drafts: Sequence[Draft]) -> list[Draft]:
        """Checked items as they are to be stored; a secret in a name is refused under either policy."""
        if self.policy == "off":
            return list(drafts)
        sources = {draft.source_text: draft.place for draft in drafts if draft.source_text}
        whole = {text: self._whole(text, f"{place}.text".lstrip(".")) for text, place in sources.items()}
        known = {text[start:end] for text, (_, secrets) in whole.items() for start, end, _ in secrets}
        return [self._draft(draft, whole, known) for draft in drafts]

    def _whole(self, text: str, place: str) -> _Whole:
        secrets = self._secrets(text, place)
        return with_placeholders(text, secrets), secrets

    def _draft(self, draft: Draft, whole: Mapping[str, _Whole], known: set[str]) -> Draft:
        def place(name: str) -> str:
            called = _CALLED.get(name, name)
            return f"{draft.place}.{called}" if draft.place else called

        for reader in draft.acl:
            self.name(reader, place("acl"))
        draft = _from_source(draft, whole)
        changed: dict[str, Any] = {name: self.words(getattr(draft, name), place(name)) for name in _WORDS}
        changed |= {name: self.apart(getattr(draft, name), place(name)) for name in _APART}
        said = draft.statement
        return replace(
            draft,
            **changed,
            # A neighbour's line or a heading may have been cut inside a secret.
            context=without(str(self.words(draft.context, place("context"))), known),
            tags=self._tags(draft.tags, place("tags")),
            metadata_json=self._metadata(draft.metadata_json, place("metadata")),
            statement=said
            and Relation(
                str(self.words(said.name, place("relation"))),
                self.apart(said.subject, place("subject")),
                self.apart(said.object, place("object")),
                said.single_valued,
            ),
        )

    def _secrets(self, text: str, place: str) -> list[tuple[int, int, str]]:
        secrets = find_secrets(text)
        if secrets and self.policy == "refuse":
            raise InputError(
                place, f"holds a secret ({secrets[0][2]}); take it out, or open the store with redact='mask'"
            )
        self.found.update(kind for _, _, kind in secrets)
        return secrets

    def _tags(self, tags: Sequence[str], place: str) -> tuple[str, ...]:
        return tuple(sorted({str(self.words(tag, place)) for tag in tags}))

    def _metadata(self, text: str, place: str) -> str:
        """Metadata with every text in it cleaned, keys too; unchanged where there is no secret."""
        return canonical_json(self._value(json.loads(text), place), place)

    def _value(self, value: Any, place: str) -> Any:
        if isinstance(value, list):
            return [self._value(entry, place) for entry in value]
        if isinstance(value, dict):
            return {
                self.words(key, place): self._named(key, self._value(entry, place), place)
                for key, entry in value.items()
            }
        return self.words(value, place)

    def _named(self, key: str, value: Any, place: str) -> Any:
        """A value is named by its key: ``{"api_key": "…"}`` reads as ``api_key: …``."""
        if not isinstance(value, str) or not is_named_secret(key, value):
            return value
        return str(self.words(f"{_NAME}{value}", place))[len(_NAME) :]


def _from_source(draft: Draft, whole: Mapping[str, _Whole]) -> Draft:
    """The raw text without its secrets, where the item's part lies now, and the part itself."""
    source, secrets = whole.get(draft.source_text, ("", []))
    if not secrets:
        return draft
    if draft.span is None:
        return replace(draft, source_text=source)
    start, stop = (_moved(at, secrets) for at in draft.span)
    text = draft.text
    if text == draft.source_text[slice(*draft.span)]:
        # Nothing is left of a part that lies inside a secret.
        text = source[start:stop]
        if not text.strip():
            text = placeholder(next(kind for _, end, kind in secrets if draft.span[0] < end))
            stop = start + len(text)
    return replace(draft, text=text, source_text=source, span=(start, max(start, stop)))


def _moved(place: int, secrets: Sequence[tuple[int, int, str]]) -> int:
    """Where a character of the raw text lies after masking; inside a secret, at its placeholder's start."""
    shift = 0
    for start, end, kind in secrets:
        if place <= start:
            break
        if place < end:
            return start + shift
        shift += len(placeholder(kind)) - (end - start)
    return place + shift


def secrets_in(value: Any) -> Iterator[str]:
    """The kinds of the secrets in a value of JSON, its keys included."""
    if isinstance(value, str):
        yield from (kind for _, _, kind in find_secrets(value))
    elif isinstance(value, Mapping):
        for key, entry in value.items():
            yield from secrets_in(key)
            if isinstance(entry, str) and is_named_secret(key, entry):
                yield "named_secret"
            yield from secrets_in(entry)
    elif isinstance(value, list):
        for entry in value:
            yield from secrets_in(entry)
