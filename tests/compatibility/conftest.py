"""One option of the command line: record answers in place of comparing them."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--record-answers", action="store_true", help="write the answers of the fixture stores anew"
    )


@pytest.fixture
def record_answers(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--record-answers", default=False))
