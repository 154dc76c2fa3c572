"""Reads rules from files: cues, hints and forms of names, each with texts where it is found and where not.

``rules/*.txt``: a rule is a line with its name and, below it, indented lines ``key: value``; a key that
stands again goes on with its value, or gives one more. ``NAME = text`` in front of the rules says what
``{NAME}`` in a value stands for. A line that starts with ``#`` is a comment.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from importlib.resources import files

_DEFINED = re.compile(r"\{([A-Z_]+)\}")


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule, as its file has it."""

    name: str
    values: dict[str, list[str]] = field(default_factory=dict)

    def __getitem__(self, key: str) -> str:
        """The value of a key; empty = it has none."""
        return "".join(self.values.get(key, ()))

    @property
    def cue(self) -> tuple[str, str, str, str, str]:
        """The fields of a ``Cue``."""
        triggers = " ".join(self.values["triggers"])
        return self.name, self["pattern"], triggers, self["example"], self["counterexample"]

    def pairs(self, key: str) -> tuple[tuple[str, str], ...]:
        """The two sides of each value of a key, which a bar parts."""
        parted = (value.partition(" | ") for value in self.values[key])
        return tuple((left, right) for left, _, right in parted)


def read_rules(file: str) -> list[Rule]:
    """The rules of a file, in order."""
    rules: list[Rule] = []
    defined: dict[str, str] = {}
    path = files("simonides.retain.extraction").joinpath("rules", f"{file}.txt")
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        name, parted, value = _DEFINED.sub(lambda found: defined[found[1]], line).partition(
            ": " if line.startswith("  ") else " = "
        )
        if not parted:
            rules.append(Rule(name))
        elif line.startswith("  "):
            rules[-1].values.setdefault(name.strip(), []).append(value)
        else:
            defined[name] = defined.get(name, "") + value
    return rules
