"""Look the locked dependencies up among known vulnerabilities, and say plainly when nobody was asked.

    python scripts/audit.py [LOCKFILE]

Exit status 0: every pinned package was looked up and none has a known vulnerability.
Exit status 1: one has, or could not be looked up where that counts as failure.

`pip-audit` passes over packages that its service does not know, and the service may be out of reach. Both
mean *not audited*, which is never printed as *sound*. A developer's run then says so and goes on; where CI is
"true" it fails. With AUDIT=offline, where a place is offline by design, nobody is asked and the run goes on.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PATIENCE_SECONDS = 300
_SHOWN = 5


def main() -> int:
    """Audit the lock file named by the first argument, or the checkout's."""
    if os.environ.get("AUDIT") == "offline":
        print("NOT AUDITED: AUDIT=offline, so nobody was asked; run `make audit` in one that is not")
        return 0
    lock = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "requirements.lock"
    found, problem = ask(lock)
    vulnerable, unknown, known = sorted_out(found)
    for line in vulnerable:
        print(f"VULNERABLE: {line}")
    if problem or unknown:
        print(f"NOT AUDITED: {problem or missing(unknown, known)}")
    elif not vulnerable:
        print(f"{known} locked dependencies, none with a known vulnerability")
    unasked = bool(problem or unknown) and os.environ.get("CI") == "true"
    return int(bool(vulnerable) or unasked)


def ask(lock: Path) -> tuple[dict[str, Any], str]:
    """What `pip-audit` answers about a lock file, and why it does not (empty = it does)."""
    command = [sys.executable, "-m", "pip_audit", "--requirement", str(lock), "--require-hashes"]
    command += ["--disable-pip", "--progress-spinner", "off", "--format", "json", "--timeout", "15"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        return {}, f"no answer within {PATIENCE_SECONDS} seconds"
    try:
        found = json.loads(done.stdout)
    except ValueError:
        lines = done.stderr.strip().splitlines() or ["it said nothing"]
        return {}, f"the advisory service cannot be asked ({lines[-1][:200]})"
    return (found, "") if isinstance(found, dict) else ({}, "the answer is none")


def sorted_out(found: dict[str, Any]) -> tuple[list[str], list[str], int]:
    """Vulnerabilities, packages that nobody looked up, and how many were looked up."""
    vulnerable, unknown, known = [], [], 0
    for package in found.get("dependencies", ()):
        if "skip_reason" in package:
            unknown.append(str(package["name"]))
            continue
        known += 1
        for each in package.get("vulns", ()):
            fixed = ", ".join(each.get("fix_versions", ())) or "no version yet"
            vulnerable.append(f"{package['name']} {package['version']}: {each['id']}; fixed in {fixed}")
    return vulnerable, unknown, known


def missing(unknown: list[str], known: int) -> str:
    """Which packages nobody looked up, in one line."""
    shown = ", ".join(unknown[:_SHOWN]) + (f" and {len(unknown) - _SHOWN} more" if unknown[_SHOWN:] else "")
    return (
        f"the advisory service knows nothing of {len(unknown)} of {len(unknown) + known} packages ({shown})"
    )


if __name__ == "__main__":
    sys.exit(main())
