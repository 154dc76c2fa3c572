"""A pytest plug-in: one line per requirement, passed, failed or missing, with the tests that prove it.

make conformance
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

COUNTS = {"EN": 13, "ME": 11, "JB": 13, "HI": 17, "HX": 21, "DF": 12}
IDS = tuple(f"{system}-{number:02}" for system, count in COUNTS.items() for number in range(1, count + 1))


class Conformance:
    """Gathers the outcomes of tests by the ids that they are marked with."""

    def __init__(self) -> None:
        self._ids: dict[str, list[str]] = {}
        self._failed: set[str] = set()
        self._passed: set[str] = set()

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        for item in items:
            self._ids[item.nodeid] = [str(one) for mark in item.iter_markers("spec") for one in mark.args]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._failed.add(report.nodeid)
        elif report.when == "call" and report.passed:
            self._passed.add(report.nodeid)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        tests: dict[str, list[str]] = defaultdict(list)
        for test, ids in self._ids.items():
            for one in ids:
                if test in self._passed or test in self._failed:
                    tests[one].append(test)
        counts = {"passed": 0, "failed": 0, "missing": 0}
        terminalreporter.section("conformance")
        for one in IDS:
            outcome = self._outcome(tests[one])
            counts[outcome] += 1
            terminalreporter.line(f"{one}  {outcome:<8} {_named(tests[one])}")
        summary = ", ".join(f"{count} {outcome}" for outcome, count in counts.items())
        terminalreporter.line(f"{len(IDS)} ids: {summary}")

    def _outcome(self, tests: list[str]) -> str:
        if not tests:
            return "missing"
        return "failed" if any(test in self._failed for test in tests) else "passed"


def _named(tests: list[str]) -> str:
    if not tests:
        return ""
    more = f" and {len(tests) - 1} more" if len(tests) > 1 else ""
    return f"{tests[0].split('::')[-1]}{more}"


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Conformance(), "conformance")
