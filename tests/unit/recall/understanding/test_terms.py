from __future__ import annotations

from simonides.recall.understanding.question import AnalysedTerms
from simonides.testing.fakes import FakeView, WordAnalyser, fake_query, fake_tools


def terms_of(text: str, stop_words: frozenset[str] = frozenset()) -> tuple[tuple[str, float], ...]:
    tools = fake_tools(analyser=WordAnalyser(stop_words))
    return AnalysedTerms().understand(FakeView.of([]), fake_query(text), tools).terms


def test_terms_keep_first_seen_order_with_their_frequency() -> None:
    assert terms_of("tea or rye, Tea or oats, tea") == (("tea", 3), ("or", 2), ("rye", 1), ("oats", 1))


def test_terms_come_from_the_query_side_of_the_analyser() -> None:
    assert terms_of("the fuse", frozenset({"the"})) == (("fuse", 1),)
    assert terms_of("the", frozenset({"the"})) == (("the", 1),)


def test_a_query_without_terms_stays_without() -> None:
    assert terms_of("?!") == ()


def test_everything_else_of_the_query_stays() -> None:
    query = fake_query("tea", limit=3, notes=("earlier",))
    understood = AnalysedTerms().understand(FakeView.of([]), query, fake_tools())
    assert (understood.text, understood.limit, understood.notes) == ("tea", 3, ("earlier",))
