from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import apsw
import numpy as np
import pytest

from simonides.backends.embedded.connection import Connections

if TYPE_CHECKING:
    from tests.unit.backends.embedded.conftest import Desk, Words


@dataclass(frozen=True)
class Stems:
    """Another analyser: the first three letters of each word."""

    fingerprint: str = "stems"

    def terms(self, text: str) -> list[str]:
        return [word[:3] for word in text.lower().split()]

    def query_terms(self, text: str) -> list[str]:
        return self.terms(text)

    def is_filler(self, text: str) -> bool:
        return False


ITEMS = [
    {"text": "lamps lamp lampshade", "context": "cellar", "relation": "lights"},
    {"text": "wiring", "relation": " "},
    {"text": "fuses"},
]


@pytest.fixture
def stems() -> Words:
    return Stems()  # type: ignore[return-value]


def terms(desk: Desk, name: str) -> list[tuple[bytes, bytes]]:
    return [(t, d) for t, d in desk.sql("SELECT terms, digest FROM memories ORDER BY ordinal", name=name)]


def test_terms_are_made_anew_as_if_they_had_been_so_from_the_start(
    desk: Desk, stems: Words, small_merges: int
) -> None:
    old = desk.open()
    desk.retain(old, *ITEMS, *(f"noise {n}" for n in range(4)))
    old.close()
    assert desk.index_files(), "there is an index of the old terms"
    again = desk.open(analyser=stems, identity="e2")
    with again.reading() as reading:
        assert (reading.meta.analyser, reading.meta.bank, reading.meta.epoch) == ("stems", "b1", "e2")
        lam, _ = reading.snapshot.postings.blocks[0][1]["text"].postings("lam")
        assert lam.tolist() == [0]
    report = again.verify()
    assert report.problems == ()
    assert [t for t, _ in terms(desk, "bank")][:3] == [
        b'{"text":{"lam":3},"context":{"cel":1},"relation":{"lig":1}}',
        b'{"text":{"wir":1}}',
        b'{"text":{"fus":1}}',
    ], "as a retain writes them: fields without terms are left out"


def test_the_same_analyser_leaves_everything_as_it_is(desk: Desk) -> None:
    bank = desk.open()
    desk.retain(bank, *ITEMS)
    bank.close()
    before = desk.dump()
    desk.open(identity="e2")
    assert desk.dump() == before


def test_nothing_but_terms_digests_and_epoch_changes(desk: Desk, stems: Words) -> None:
    bank = desk.open()
    desk.retain(bank, *ITEMS)
    bank.close()
    before = desk.dump()
    desk.open(analyser=stems, identity="e2").close()
    after = desk.dump()
    changed = {table for table in before if before[table] != after[table]}
    assert changed == {"memories", "meta"}
    columns = [name for _, name, *_ in desk.sql("SELECT * FROM pragma_table_info('memories')")]
    differing = {
        name
        for old, new in zip(before["memories"], after["memories"], strict=True)
        for name, a, b in zip(columns, old, new, strict=True)
        if a != b
    }
    assert differing == {"terms", "digest"}


def test_another_process_that_has_the_bank_open_follows(desk: Desk, stems: Words, small_merges: int) -> None:
    other = desk.open()
    desk.retain(other, *ITEMS, *(f"noise {n}" for n in range(4)))
    assert len(desk.search(other, "wiring").lexical) == 1
    desk.open(analyser=stems, identity="e2")
    with other.reading() as reading:
        assert reading.meta.epoch == "e2"
        postings = reading.snapshot.postings
    everything = np.ones(7, np.bool_)
    found, _ = postings.bm25(
        [("wir", 1)], everything, everything, field_weights={"text": 1.0}, k1=1.2, b=0.75
    )
    assert found.tolist() == [1]
    assert other.verify().ok


def test_a_failure_leaves_the_old_terms_whole(desk: Desk) -> None:
    @dataclass(frozen=True)
    class Broken(Stems):
        def terms(self, text: str) -> list[str]:
            if text == "wiring":
                raise RuntimeError("no stems for this")
            return super().terms(text)

    bank = desk.open()
    desk.retain(bank, *ITEMS)
    bank.close()
    before = desk.dump()
    with pytest.raises(RuntimeError):
        desk.open(analyser=Broken(), identity="e2")  # type: ignore[arg-type]
    assert desk.dump() == before
    assert desk.open().verify().ok


def test_a_read_only_bank_keeps_its_terms(desk: Desk, stems: Words, monkeypatch: pytest.MonkeyPatch) -> None:
    bank = desk.open()
    desk.retain(bank, *ITEMS)
    bank.close()

    def refuse(self: Connections) -> apsw.Connection:
        raise apsw.ReadOnlyError("attempt to write a readonly database")

    monkeypatch.setattr(Connections, "_open_writable", refuse)
    reader = desk.open(analyser=stems, identity="e2")
    assert len(desk.search(reader, "wiring").lexical) == 1
