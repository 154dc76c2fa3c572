"""The budget of a packed context, by counters of several habits, over texts in any script."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simonides.recall.packing.outside_in import OutsideIn
from simonides.recall.packing.packers import TokenBudget
from simonides.records.candidate import Candidate
from simonides.records.interval import parse_time
from simonides.testing.fakes import FakeView, WordCounter, fake_memory, fake_query, fake_tools
from simonides.text.token_count import ApproximateTokenCounter

if TYPE_CHECKING:
    from simonides.protocols import Packed, TokenCounter
    from simonides.recall.packing.packers import LabelPart


@dataclass(frozen=True)
class Bytes:
    """A token is *size* bytes of UTF-8; a rest counts as one token, or as none."""

    size: int
    rest: bool
    name: str = "bytes"

    def count(self, text: str) -> int:
        length = len(text.encode())
        return -(-length // self.size) if self.rest else length // self.size


COUNTERS: list[TokenCounter] = [WordCounter(), Bytes(1, True), Bytes(4, True), Bytes(7, False)]

ALPHABET = st.one_of(
    st.sampled_from("ab \n\r\u2028\t[]()请求書火曜한국어🟢👩‍🚀é"),
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"),
)
TEXT = st.text(ALPHABET, min_size=1, max_size=40).filter(lambda text: bool(text.strip()))
DATES = st.sampled_from([None, *(parse_time(t, "t") for t in ("2026", "2026-03", "2026-03-02"))])
PARTS: list[LabelPart] = ["date", "kind", "id"]
LABELS = st.lists(st.sampled_from(PARTS), unique=True)


@dataclass(frozen=True)
class Case:
    view: FakeView
    packer: TokenBudget
    counter: TokenCounter
    max_tokens: int | None
    limit: int | None

    @property
    def pool(self) -> tuple[Candidate, ...]:
        return tuple(Candidate(n, -n, "test") for n in range(len(self.view.stored)))

    def pack(self) -> Packed:
        query = fake_query("q", max_tokens=self.max_tokens, limit=self.limit)
        return self.packer.pack(self.view, query, self.pool, fake_tools(tokens=self.counter))


@st.composite
def cases(draw: st.DrawFn, count: Literal["rendered", "text"]) -> Case:
    dated = draw(st.lists(st.tuples(TEXT, DATES), max_size=8))
    return Case(
        view=FakeView.of([fake_memory(text, id=f"m{n}", occurred=on) for n, (text, on) in enumerate(dated)]),
        packer=TokenBudget(count=count, label=tuple(draw(LABELS))),
        counter=draw(st.sampled_from(COUNTERS)),
        max_tokens=draw(st.none() | st.integers(0, 120)),
        limit=draw(st.none() | st.integers(1, 6)),
    )


@pytest.mark.fault("R1")
@given(cases("rendered"))
def test_the_context_never_exceeds_its_budget(case: Case) -> None:
    packed = case.pack()
    if case.max_tokens is not None:
        assert case.counter.count(packed.context) <= case.max_tokens


@pytest.mark.spec("HI-11")
@given(cases("text"))
def test_by_text_the_packing_equals_its_twin(case: Case) -> None:
    left = float("inf") if case.max_tokens is None else case.max_tokens
    chosen: list[str] = []
    over: list[tuple[str, str, int]] = []
    for memory in case.view.stored:
        if len(chosen) == case.limit:
            break
        cost = max(1, case.counter.count(memory.text))
        if cost <= left:
            left -= cost
            chosen.append(memory.id)
        else:
            over.append((memory.id, "over budget", cost))
    packed = case.pack()
    assert [hit.id for hit in packed.hits] == chosen
    assert [(omitted.id, omitted.reason, omitted.tokens) for omitted in packed.omitted] == over


@pytest.mark.fault("R1")
@given(st.one_of(cases("rendered"), cases("text")))
def test_hits_and_omitted_are_the_head_of_the_pool(case: Case) -> None:
    packed = case.pack()
    hits = [hit.id for hit in packed.hits]
    omitted = [each.id for each in packed.omitted]
    stored = [memory.id for memory in case.view.stored]
    assert hits == [id_ for id_ in stored if id_ in hits]
    assert omitted == [id_ for id_ in stored if id_ in omitted]
    assert not set(hits) & set(omitted)
    assert [hit.rank for hit in packed.hits] == list(range(1, len(hits) + 1))
    if case.limit is not None:
        assert len(hits) <= case.limit
    if case.limit is None or len(hits) < case.limit:
        assert len(hits) + len(omitted) == len(stored)
    if case.max_tokens is None:
        assert omitted == []


@pytest.mark.fault("R1")
@given(cases("rendered"))
def test_what_was_omitted_did_not_fit(case: Case) -> None:
    packed = case.pack()
    for omitted in packed.omitted:
        before = [hit for hit in packed.hits if hit.memory.id < omitted.id]
        assert case.max_tokens is not None
        used = sum(hit.tokens for hit in before)
        # For a counter by which a whole may cost more than its parts, one token of slack per part.
        slack = len(packed.hits) + 1 if case.counter == Bytes(7, False) else 0
        assert used + omitted.tokens + slack > case.max_tokens


@pytest.mark.fault("R1")
@given(cases("rendered"))
def test_each_hit_is_one_item_of_the_context(case: Case) -> None:
    packed = case.pack()
    lines = packed.context.splitlines()
    items = [line for line in lines if not line.startswith("  ")]
    assert len(items) == len(packed.hits)
    assert all(line.startswith(f"[{n}] ") for n, line in enumerate(items, start=1))


@dataclass(frozen=True)
class Silent:
    """The approximate counter, which here promises nothing about lines."""

    name: str = "silent"

    def count(self, text: str) -> int:
        return ApproximateTokenCounter().count(text)


@pytest.mark.fault("R1")
@given(cases("rendered"))
def test_a_counter_that_counts_by_line_packs_as_one_whose_wholes_are_counted(case: Case) -> None:
    outside_in = OutsideIn(most=5, count="rendered", label=case.packer.label)
    query = fake_query("q", max_tokens=case.max_tokens, limit=case.limit)
    for packer in (case.packer, outside_in):
        quick, slow = (
            packer.pack(case.view, query, case.pool, fake_tools(tokens=counter))
            for counter in (ApproximateTokenCounter(), Silent())
        )
        assert quick == slow
        if case.max_tokens is not None:
            assert Silent().count(quick.context) <= case.max_tokens
