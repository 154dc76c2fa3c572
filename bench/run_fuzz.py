"""Let coverage guide the fuzzing: libFuzzer by atheris over the same targets as ``tests/fuzz/test_fuzz.py``.

    PYTHONPATH=. python bench/run_fuzz.py [--target recall] [--seconds 60] [--keep FOLDER]

Each target runs in a process of its own for so many seconds, beginning with the kept strings. What raises an
error that is not promised, or takes more than a second of CPU, ends it: the string lies in FOLDER (default:
the current one), and belongs into ``tests/fuzz/corpus`` once it is mended. Exit status 1 when there was one.
Needs atheris (`make fuzz`).
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import atheris

with atheris.instrument_imports(include=["simonides"]):
    from tests.fuzz.strings import CORPUS, LONGEST
    from tests.fuzz.targets import OnDisk, targets
    from tests.fuzz.test_fuzz import NAMES, call


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--target", choices=NAMES, action="append")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--keep", type=Path, default=Path())
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.inside:
        _fuzz(asked.inside, asked.seconds, asked.keep)
    failed = [name for name in asked.target or NAMES if not _ended_well(name, asked.seconds, asked.keep)]
    print(f"found something: {', '.join(failed)}" if failed else "nothing found")
    return int(bool(failed))


def _ended_well(name: str, seconds: int, keep: Path) -> bool:
    print(f"{name}: {seconds} s", flush=True)
    command = [sys.executable, __file__, "--inside", name, "--seconds", str(seconds), "--keep", str(keep)]
    return subprocess.run(command, check=False).returncode == 0


def _fuzz(name: str, seconds: int, keep: Path) -> None:
    """Fuzz one target; libFuzzer ends the process."""
    with TemporaryDirectory() as folder:
        disk = OnDisk(Path(folder))
        target = targets(disk)[name]
        grown = Path(folder) / "corpus"
        grown.mkdir()
        for kept in (*CORPUS.glob(f"{name}-*"), *CORPUS.glob("any-*")):
            shutil.copy(kept, grown)

        def one(data: bytes) -> None:
            outcome = call(target, data.decode("utf-8", "surrogateescape"))
            if outcome not in {"answered", "refused"}:
                raise AssertionError(outcome)

        options = [
            f"-max_total_time={seconds}",
            f"-max_len={LONGEST}",
            "-print_final_stats=1",
            "-verbosity=0",
        ]
        atheris.Setup([sys.argv[0], *options, f"-artifact_prefix={keep}/{name}-", str(grown)], one)
        atheris.Fuzz()


if __name__ == "__main__":
    sys.exit(main())
