"""What `simonides --help` loads and costs: nothing that a command needs only when it runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

_HEAVY = {
    "numpy", "onnxruntime", "apsw", "rich", "fastapi", "pydantic", "uvicorn", "mcp", "openai", "httpx",
    "tokenizers", "Stemmer", "asyncio", "ssl", "tomllib",
}  # fmt: skip
_ASK = """
import atexit, json, sys
atexit.register(lambda: print(json.dumps(sorted(sys.modules)), file=sys.stderr))
sys.argv = ["simonides", "--help"]
from simonides.surfaces.cli.main import main
main()
"""


@pytest.mark.spec("ME-11")
def test_help_loads_nothing_heavy() -> None:
    answer = subprocess.run(
        [sys.executable, "-c", _ASK], capture_output=True, text=True, check=True, timeout=60
    )
    loaded = json.loads(answer.stderr)
    assert "retain" in answer.stdout
    assert not _HEAVY & {name.partition(".")[0] for name in loaded}
    # An interpreter alone has about 60 and Typer about 120; a library more would show here.
    assert len(loaded) < 340


def test_help_is_soon_there() -> None:
    """Processor time, with room for a slow and busy machine; `bench/run_cold_start.py` measures it."""
    start = "import sys; sys.argv[:] = ['simonides', '--help']; from simonides.surfaces.cli.main import main; main()"
    times = []
    for _ in range(3):
        process = subprocess.Popen([sys.executable, "-c", start], stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0
        times.append(usage.ru_utime + usage.ru_stime)
    assert min(times) < 1.0
