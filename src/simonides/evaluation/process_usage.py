"""What this process and its ended children have used so far; what a system does not tell is 0."""

from __future__ import annotations

import os
import resource
import sys
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Usage:
    """Totals since the process began.

    Attributes:
        wall: seconds on a clock that never goes back.
        own_cpu: seconds of CPU of this process, all threads.
        cpu: the same with children that have ended.
        written: bytes handed to the system by write calls.
        peak_mb: largest resident memory.
        load: average number of runnable processes over the last minute.
    """

    wall: float
    own_cpu: float
    cpu: float
    written: int
    peak_mb: float
    load: float


def usage() -> Usage:
    """What was used up to now."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    own = time.process_time()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return Usage(
        wall=time.perf_counter(),
        own_cpu=own,
        cpu=own + children.ru_utime + children.ru_stime,
        written=_status("/proc/self/io").get("wchar", 0),
        # Kilobytes, but on macOS bytes.
        peak_mb=peak / (1 << 20 if sys.platform == "darwin" else 1 << 10),
        load=load_average(),
    )


def load_average() -> float:
    """Runnable processes over the last minute; 0 where the system does not tell."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0


def resident_mb() -> tuple[float, float]:
    """Resident memory in MB: all of it, and what is private to the process (no file behind it)."""
    found = _status("/proc/self/status")
    if "VmRSS" in found:
        return found["VmRSS"] / 1024, found.get("RssAnon", 0) / 1024
    peak = usage().peak_mb
    return peak, peak


def _status(path: str) -> dict[str, int]:
    """Numbers by name from a file of the kernel; empty where there is none."""
    try:
        lines = Path(path).read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return {}
    pairs = (line.split(":", 1) for line in lines if ":" in line)
    return {
        name: int(value.split()[0]) for name, value in pairs if value.split() and value.split()[0].isdigit()
    }
