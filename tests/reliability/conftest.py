"""What the tests of faults share: programs in processes of their own, and a look below a bank's front door."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pytest
from tests.embedded_rows import connection_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from simonides.bank import Bank

HERE = Path(__file__).parent


class Start(Protocol):
    def __call__(
        self, program: str, *arguments: object, prefix: Sequence[str] = (), **options: Any
    ) -> subprocess.Popen[str]: ...


@dataclass(frozen=True, slots=True)
class Ack:
    """What one retain of ``writer.py`` returned, and how long that took."""

    ids: tuple[str, ...]
    texts: tuple[str, ...]
    seconds: float


if TYPE_CHECKING:
    ReadAcks = Callable[[Iterable[str]], list[Ack]]
    Stored = Callable[[Bank], dict[str, str]]
    AssertChannelsAgree = Callable[[Bank], None]
    Say = Callable[[str], None]
    Record = Callable[[str, dict[str, Any]], None]


@pytest.fixture
def start() -> Iterator[Start]:
    """Start a program of this folder, perhaps by another command; what runs when the test ends is killed."""
    running: list[subprocess.Popen[str]] = []

    def run(
        program: str, *arguments: object, prefix: Sequence[str] = (), **options: Any
    ) -> subprocess.Popen[str]:
        command = [*prefix, sys.executable, str(HERE / program), *map(str, arguments)]
        running.append(subprocess.Popen(command, text=True, **options))
        return running[-1]

    yield run
    for process in running:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()


@pytest.fixture
def mounting() -> list[str]:
    """The command before a command that may mount file systems that no one else sees."""
    command = ["unshare", "--mount"]
    _skip_unless_it_runs([*command, "mount", "-t", "tmpfs", "tmpfs", str(HERE)], "mount a file system")
    return command


@pytest.fixture
def without_override() -> list[str]:
    """The command before a command for which permission bits hold, also when the tests run as root."""
    if os.geteuid() != 0:
        return []
    command = ["setpriv", "--bounding-set=-dac_override"]
    _skip_unless_it_runs([*command, "true"], "give up root's right to write everywhere")
    return command


def _skip_unless_it_runs(command: Sequence[str], what: str) -> None:
    try:
        answer = subprocess.run(command, capture_output=True, text=True, check=False)
        reason = answer.stderr.strip() if answer.returncode else ""
    except OSError as error:
        reason = str(error)
    if reason:
        pytest.skip(f"cannot {what} here: {reason}")


@pytest.fixture
def read_acks() -> ReadAcks:
    """The acknowledgements in a writer's lines; a last line that was cut short promised nothing."""

    def read(lines: Iterable[str]) -> list[Ack]:
        said = [json.loads(line) for line in lines if line.endswith("\n")]
        return [Ack(tuple(s["ids"]), tuple(s["texts"]), s["seconds"]) for s in said if "ids" in s]

    return read


@pytest.fixture
def stored() -> Stored:
    """Every text in the rows, by id."""

    def read(bank: Bank) -> dict[str, str]:
        with bank._rows.reading() as reading:
            return dict(connection_of(reading).execute("SELECT id, text FROM memories"))

    return read


@pytest.fixture
def assert_channels_agree() -> AssertChannelsAgree:
    """Rows, lexical postings and vectors count the same, and ``verify`` finds nothing."""

    def check(bank: Bank) -> None:
        with bank._rows.reading() as reading:
            ((rows, with_terms, with_vector),) = (
                connection_of(reading)
                .execute(
                    "SELECT count(*), sum(terms <> CAST('{}' AS BLOB)), (SELECT count(*) FROM vectors) FROM memories"
                )
                .fetchall()
            )
            blocks = reading.snapshot.blocks
            lengths = [sum(field.lengths for field in block.postings.values()) for block in blocks]
            lexical = sum(int(np.count_nonzero(part)) for part in lengths)
            vectors = sum(int(np.count_nonzero(block.vectors.scales)) for block in blocks)
            assert reading.snapshot.rows == rows
        assert lexical == (with_terms or 0)
        assert vectors == with_vector
        report = bank.verify()
        assert report.ok, report.problems

    return check


@pytest.fixture
def say(request: pytest.FixtureRequest) -> Say:
    """Print a measured figure past pytest's capture."""
    plugins = request.config.pluginmanager
    reporter, capture = plugins.get_plugin("terminalreporter"), plugins.get_plugin("capturemanager")

    def write(figure: str) -> None:
        if reporter is not None and capture is not None:
            with capture.global_and_fixture_disabled():
                reporter.ensure_newline()
                reporter.write_line(f"    {figure}")

    return write


@dataclass(frozen=True, slots=True)
class Share:
    """This process's part of a soak that several processes run side by side (``bench/run_reliability.py``).

    Attributes:
        number: of the process, from 0; moves every seed.
        of: how many processes there are.
    """

    number: int = 0
    of: int = 1

    def part(self, trials: int) -> int:
        """How many of *trials* are this process's; together they are at least *trials*."""
        return -(-trials // self.of)


@pytest.fixture(scope="session")
def share() -> Share:
    """From ``RELIABILITY_SHARE=NUMBER/OF``; all of it when that is not set."""
    number, _, of = os.environ.get("RELIABILITY_SHARE", "0/1").partition("/")
    return Share(int(number), int(of))


@pytest.fixture
def record(request: pytest.FixtureRequest, say: Say) -> Callable[[str, dict[str, Any]], None]:
    """Print the counts of a target (``P2``), and append them to the file ``RELIABILITY_RECORD``, if set."""

    def write(target: str, counts: dict[str, Any]) -> None:
        say(f"{target}: " + ", ".join(f"{name} {value}" for name, value in counts.items()))
        path = os.environ.get("RELIABILITY_RECORD")
        if path:
            line = {"target": target, "test": request.node.name, "counts": counts}
            with Path(path).open("a", encoding="utf-8") as file:
                file.write(json.dumps(line, ensure_ascii=False) + "\n")

    return write
