"""Any text: no error but the promised ones, and no call over a second of CPU."""

from __future__ import annotations

import random
import time
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from tests.fuzz.strings import TEXTS, mutated, seeds
from tests.fuzz.targets import SHARES, OnDisk, targets
from tests.reliability.conftest import record, say, share  # noqa: F401 - fixtures

from simonides.errors import SimonidesError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.reliability.conftest import Record, Share

LONGEST_CPU_SECONDS = 1.0
NAMES = (
    "words", "plain_query", "extended_query", "times", "document", "profile", "detection", "export_file", "http_body", "recall",
    "recall_extended", "retain", "import_markdown", "import_jsonl", "import_chatgpt", "import_claude-code",
    "import_knowledge-graph", "import_mem0", "import_locomo", "import_claude-ai", "import_obsidian",
)  # fmt: skip


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OnDisk]:
    opened = OnDisk(tmp_path_factory.mktemp("fuzz"))
    yield opened
    opened.close()


def call(target: Callable[[str], None], text: str) -> str:
    """What came of it: answered, refused, slow, or the unhandled error."""
    began = time.process_time()
    try:
        target(text)
        outcome = "answered"
    except SimonidesError:
        outcome = "refused"
    except Exception as error:  # noqa: BLE001 - whatever else comes out is a finding
        return f"{type(error).__name__}: {error}"
    return "slow" if time.process_time() - began > LONGEST_CPU_SECONDS else outcome


def test_every_target_has_a_name(disk: OnDisk) -> None:
    assert set(NAMES) == set(targets(disk))


@pytest.mark.fault("L1")
@pytest.mark.fault("L6")
@pytest.mark.parametrize("name", NAMES)
def test_kept_strings(disk: OnDisk, name: str) -> None:
    target = targets(disk)[name]
    for text in seeds(name):
        assert call(target, text) in {"answered", "refused"}, ascii(text)


@pytest.mark.fault("L1")
@pytest.mark.parametrize("name", NAMES)
def test_any_text(disk: OnDisk, name: str) -> None:
    target = targets(disk)[name]

    @given(TEXTS)
    def run(text: str) -> None:
        assert call(target, text) in {"answered", "refused"}

    run()


def test_the_harness_sees_an_unhandled_error() -> None:
    def breaks(text: str) -> None:
        text.encode()

    assert call(breaks, "\ud83d").startswith("UnicodeEncodeError")


@pytest.mark.soak
@pytest.mark.fault("L1")
def test_200_000_strings(disk: OnDisk, record: Record, share: Share) -> None:  # noqa: F811
    chance = random.Random(6_000 + share.number)
    runs = targets(disk)
    weights = [SHARES.get(name, 1.0) for name in NAMES]
    kept = {name: seeds(name) for name in NAMES}
    outcomes: Counter[str] = Counter()
    problems: dict[str, str] = {}
    longest = 0.0
    for _ in range(share.part(200_000)):
        (name,) = chance.choices(NAMES, weights)
        text = mutated(chance, kept[name])
        began = time.process_time()
        outcome = call(runs[name], text)
        longest = max(longest, time.process_time() - began)
        if outcome not in {"answered", "refused", "slow"}:
            problems.setdefault(f"{name}: {outcome[:80]}", ascii(text))
            outcome = "unhandled"
        elif outcome == "slow":
            problems.setdefault(f"{name}: slow", ascii(text))
        outcomes[outcome] += 1
    counts = {name: outcomes[name] for name in ("answered", "refused", "slow", "unhandled")}
    record("P6", {"strings": outcomes.total(), **counts, "longest_cpu_seconds": round(longest, 3)})
    assert not problems, problems
