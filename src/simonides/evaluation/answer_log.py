"""A file of answered questions, one JSON object a line, which a stopped run goes on with.

    {"settings": {"dataset": "locomo", "model": "a-model", …}}
    {"qid": "conv-26-q1", "category": "2", "answer": "On 7 May 2023.", "correct": true, …}

Each line is on the disk before the next question is asked. The last line of a question counts, so one that
failed is asked again and then has two. A last line that a crash cut off is removed. The file is for its
owner only; an API key is never in it.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, Literal

from simonides.errors import InputError
from simonides.files import PRIVATE, disk_errors

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

Failure = Literal["", "answer", "judge", "unavailable"]


@dataclass(frozen=True, slots=True)
class Answered:
    """What became of one question.

    Attributes:
        qid, category, abstains, question, expected: as in the data set.
        answer: what the model said; empty = nothing usable.
        correct: what the judge said; ``None`` = it was not judged.
        failure: what failed: the ``answer``, the ``judge``, or the server was ``unavailable``.
        problem: why, in words.
        context_tokens: of the recalled context, by the store's counter.
        input_tokens, output_tokens: that the server reports for the answer; of a request that was charged.
        judge_input_tokens, judge_output_tokens: likewise for the judge.
    """

    qid: str
    category: str
    abstains: bool
    question: str
    expected: str
    answer: str = ""
    correct: bool | None = None
    failure: Failure = ""
    problem: str = ""
    context_tokens: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    judge_input_tokens: int = 0
    judge_output_tokens: int = 0


class AnswerLog:
    """Reads what is there, then adds to it.

    Attributes:
        answered: per question id the last that is known of it.
    """

    def __init__(self, path: Path, settings: Mapping[str, Any]) -> None:
        """Read the file; it is made with the first answer.

        Args:
            path: of the file, in a folder that is there.
            settings: JSON-ready; all that decides what the answers are.

        Raises:
            InputError: it is of another form, or of a run with other settings, or there is no such folder.
            UnavailableError: it cannot be read.
        """
        if not path.parent.is_dir():
            raise InputError("out", f"there is no folder {path.parent}; make it, or name another file")
        self._path, self._settings = path, dict(settings)
        self.answered: dict[str, Answered] = {}
        with disk_errors(path, "read"):
            self._begun = path.exists() and self._read(path.read_bytes())

    def add(self, answered: Answered) -> None:
        """Keep *answered*, durably.

        Raises:
            UnavailableError: the file cannot be written.
        """
        if not self._begun:
            self._write({"settings": self._settings})
            self._begun = True
        self._write(asdict(answered))
        self.answered[answered.qid] = answered

    def _write(self, row: Mapping[str, Any]) -> None:
        line = f"{json.dumps(row, ensure_ascii=False)}\n".encode("utf-8", "backslashreplace")
        with disk_errors(self._path):
            file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, PRIVATE)
            try:
                while line:
                    line = line[os.write(file, line) :]
                os.fsync(file)
            finally:
                os.close(file)

    def _read(self, content: bytes) -> bool:
        """Read what a run wrote; whether it wrote anything."""
        if not content:
            return False
        whole = content[: content.rfind(b"\n") + 1]
        settings = self._settings
        try:
            first, *rows = [json.loads(line) for line in whole.splitlines()]
            before = first["settings"]
            self.answered = {row["qid"]: _answered(row) for row in rows}
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(
                "out", f"{self._path} is not a file of answers ({error!r}); name another file"
            ) from error
        differing = sorted(key for key in {*before, *settings} if before.get(key) != settings.get(key))
        if differing:
            key = differing[0]
            raise InputError(
                "out",
                f"{self._path} was made with {key} {before.get(key)!r}, not {settings.get(key)!r}; name "
                "another file, or ask as before to go on with it",
            )
        if len(whole) < len(content):
            os.truncate(self._path, len(whole))
        return True


def _answered(row: Mapping[str, Any]) -> Answered:
    return Answered(**{field.name: row[field.name] for field in fields(Answered)})
