"""What a job is asked to do, as text that outlives a process."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simonides.errors import InputError
from simonides.options import LONGEST_WAIT_SECONDS
from simonides.records.hygiene import shown, to_float
from simonides.records.interval import from_micros

if TYPE_CHECKING:
    from simonides.records.explanation import Trace
    from simonides.records.recall import Recall


@dataclass(frozen=True, slots=True)
class JobRequest:
    """A recall that was asked for.

    Attributes:
        query: the caller's words.
        profile: a name, or the whole path of a file.
        helpers: of ``options.HELPER_NAMES``.
        options: other arguments of ``Bank.recall``, by name.
    """

    query: str
    profile: str
    helpers: tuple[str, ...]
    options: Mapping[str, Any]

    def at(self, trace: Trace) -> JobRequest:
        """The same at the viewpoint and with the seed of the recall that *trace* tells of."""
        settled = {
            "as_of": from_micros(trace.as_of),
            "known_at": from_micros(trace.known_at),
            "seed": trace.seed,
            # It is for the answer that is waited for.
            "deadline_ms": None,
        }
        # A file is named from a folder that another process need not stand in.
        is_file = "/" in self.profile or self.profile.endswith(".toml")
        profile = str(Path(self.profile).absolute()) if is_file else self.profile
        return replace(self, profile=profile, options={**self.options, **settled})

    def identity(self, recall: str) -> str:
        """The job's id, 32 hexadecimal digits: the same for the same recall and helpers.

        Args:
            recall: id of the recall that was answered at once.
        """
        return hashlib.blake2b(f"{recall} {self.helpers}".encode(), digest_size=16).hexdigest()

    def to_json(self) -> str:
        """The whole as text."""
        return json.dumps(
            {
                "query": self.query,
                "profile": self.profile,
                "helpers": self.helpers,
                "options": _plain(self.options),
            }
        )

    @classmethod
    def from_json(cls, text: str) -> JobRequest:
        """What ``to_json`` wrote."""
        read = json.loads(text)
        return cls(read["query"], read["profile"], tuple(read["helpers"]), read["options"])


def degraded(answer: Recall, *notes: str) -> Recall:
    """*answer* with more notes on what was done less well than asked."""
    if not notes:
        return answer
    return replace(answer, trace=replace(answer.trace, degraded=(*answer.trace.degraded, *notes)))


def read_wait(value: object) -> float:
    """Seconds to wait; ``InputError``: it is no number from 0 to ``LONGEST_WAIT_SECONDS``."""
    if (
        isinstance(value, bool)
        or not isinstance(value, Real)
        or not 0 <= to_float(value) <= LONGEST_WAIT_SECONDS
    ):
        raise InputError(
            "wait_seconds",
            f"expected a number from 0 to {LONGEST_WAIT_SECONDS:,}, got {shown(value)}",
        )
    return float(value)


def _plain(value: Any) -> Any:
    """The same in JSON's own types; what a recall took, a recall takes again."""
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, str):
        return str(value)
    if isinstance(value, set | frozenset):
        return sorted(_plain(entry) for entry in value)
    return [_plain(entry) for entry in value] if isinstance(value, Iterable) else value
