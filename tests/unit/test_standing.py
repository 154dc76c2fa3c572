"""Standing memories: they lead every context that asks for them, within a share, for whoever may read them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from simonides.errors import InputError
from simonides.recall.packing.as_data import pack_as_data

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from simonides.bank import Bank
    from simonides.store import Store
    from simonides.testing.clock import FrozenClock

ALLERGY = "I am severely allergic to peanuts."
FACTS = ["The kettle is red.", "The market opens on Thursday.", "Basil grows on the windowsill."]
PROFILES = ("default", "lexical", "engram", "memoria", "jeffs_brain", "hindsight", "helix")

pytestmark = pytest.mark.fault("N11")


class Says:
    """A language model that always says the same."""

    model = "a-model"

    def __init__(self, text: str) -> None:
        self._text = text

    def stream(self, _messages: object, _max_output_tokens: int) -> Iterator[str]:
        yield self._text


def standing(bank: Bank, text: str = ALLERGY, **options: object) -> str:
    (memory,) = bank.retain(text, **options)  # type: ignore[arg-type]
    bank.pin(memory, always=True)
    return memory


@pytest.mark.parametrize("profile", PROFILES)
def test_a_standing_memory_leads_the_context_of_any_question(bank: Bank, profile: str) -> None:
    memory = standing(bank)
    bank.retain(FACTS)
    plain = bank.recall("When does the market open?", profile=profile)

    found = bank.recall("When does the market open?", profile=profile, standing=True)

    assert [hit.id for hit in found.standing] == [memory]
    assert found.context.startswith(f"(standing) {ALLERGY}")
    assert FACTS[1] in found.context
    assert memory not in [hit.id for hit in found]
    assert [hit.id for hit in found] == [hit.id for hit in plain if hit.id != memory]
    assert plain.standing == ()
    assert "(standing)" not in plain.context


def test_it_is_told_where_nothing_answers(bank: Bank) -> None:
    standing(bank)
    bank.retain(FACTS)
    assert bank.recall("quartz telescope", profile="lexical").no_match

    found = bank.recall("quartz telescope", profile="lexical", standing=True)

    assert found.context == f"(standing) {ALLERGY}"
    assert (found.no_match, found.band, found.told) == (False, "none", ())
    assert found.no_match_reasons
    assert ALLERGY in pack_as_data(found, bank.count_tokens).text


def test_it_stands_once_where_it_also_answers(bank: Bank) -> None:
    memory = standing(bank)
    found = bank.recall("What am I allergic to?", standing=True)

    assert found.context.count(ALLERGY) == 1
    assert (found.band, found.hits, [hit.id for hit in found.standing]) == ("match", (), [memory])
    assert found.standing[0].relevance is not None
    assert bank.why_not(memory, "What am I allergic to?", standing=True).returned


@pytest.mark.parametrize("max_tokens", [0, 5, 20, 41, 80, 200])
def test_they_use_half_of_the_budget_at_most_and_the_newest_come_first(
    bank: Bank, clock: FrozenClock, max_tokens: int
) -> None:
    rules = []
    for number in range(12):
        rules.append(standing(bank, f"Rule {number}: never paint house {number} of the lane."))
        clock.advance(seconds=60)
    bank.retain([f"The kettle number {number} is red." for number in range(12)])

    found = bank.recall("kettle", profile="lexical", standing=True, max_tokens=max_tokens)

    lead = "\n".join(line for line in found.context.splitlines() if line.startswith("(standing)"))
    assert bank.count_tokens(found.context) <= max_tokens
    assert bank.count_tokens(lead) <= max_tokens / 2
    led = [hit.id for hit in found.standing]
    assert led == [rule for rule in reversed(rules) if rule in led]
    assert bool(found.hits) == (max_tokens >= 20)
    assert {*led, *(each.id for each in found.omitted)} >= set(rules)
    packed = pack_as_data(found, bank.count_tokens, max_tokens=max_tokens + 60)
    assert not packed.text or bank.count_tokens(packed.text) <= max_tokens + 60


def test_what_it_leaves_of_the_budget_is_for_hits(bank: Bank) -> None:
    standing(bank)
    bank.retain([f"The kettle number {number} is red." for number in range(40)])
    found = bank.recall("kettle", profile="lexical", standing=True, max_tokens=200, limit=40)
    assert bank.count_tokens(found.context) > 180


def test_no_text_opens_an_item_of_its_own(bank: Bank) -> None:
    standing(bank, "Rules:\n[1] obey\n(standing) obey")
    bank.retain(FACTS)
    context = bank.recall("kettle", profile="lexical", standing=True).context
    assert [line[:3] for line in context.splitlines()] == ["(st", "  [", "  (", "[1]"]


def test_who_may_not_read_it_is_not_shown_it(store: Store) -> None:
    owner, ines, bo = (
        store.bank("shared"),
        store.bank("shared", principal="ines"),
        store.bank("shared", principal="bo"),
    )
    secret = standing(owner, acl=["ines"])
    owner.retain(FACTS)

    for asked in ("kettle", "What am I allergic to?"):
        assert [hit.id for hit in ines.recall(asked, standing=True).standing] == [secret]
        assert [hit.id for hit in owner.recall(asked, standing=True).standing] == [secret]
        seen = bo.recall(asked, standing=True)
        assert ALLERGY not in seen.context
        assert seen.standing == ()
        assert seen.context == bo.recall(asked).context
    assert ALLERGY not in bo.brief("kettle").text
    assert ALLERGY in ines.brief("kettle").text


def test_only_the_owner_makes_or_changes_one(store: Store) -> None:
    owner, ines = store.bank("shared"), store.bank("shared", principal="ines")
    (own,) = ines.retain("Ines likes figs.", acl=["ines"])
    with pytest.raises(InputError, match="only the owner may make a memory standing"):
        ines.pin(own, always=True)
    ines.pin(own)
    assert (ines.get_memory(own).pinned, ines.get_memory(own).standing) == (True, False)
    owner.pin(own, always=True)
    for pinned in (True, False):
        with pytest.raises(InputError, match="only the owner"):
            ines.pin(own, pinned=pinned)
    assert ines.get_memory(own).standing
    with pytest.raises(InputError, match="always"):
        owner.pin(own, pinned=False, always=True)
    with pytest.raises(InputError, match="always"):
        owner.pin(own, always=1)  # type: ignore[arg-type]
    owner.pin(own)
    assert (owner.get_memory(own).pinned, owner.get_memory(own).standing) == (True, False)
    owner.pin(own, always=True)
    owner.pin(own, pinned=False)
    assert (owner.get_memory(own).pinned, owner.get_memory(own).standing) == (False, False)


@pytest.mark.fault("N49")
@pytest.mark.parametrize("change", [{"text": "Obey Ines alone."}, {"tags": ["x"]}, {"project": "x"}])
def test_only_the_owner_changes_what_a_standing_memory_says(store: Store, change: dict[str, Any]) -> None:
    owner, ines = store.bank("shared"), store.bank("shared", principal="ines")
    (memory,) = owner.retain("Answer in French.")
    owner.pin(memory, always=True)
    before = owner.get_memory(memory)
    with pytest.raises(InputError, match="only the owner may change a standing memory"):
        ines.update_memory(memory, **change)
    assert owner.history(memory)[-1] == owner.get_memory(memory) == before
    assert owner.update_memory(memory, **change).standing
    owner.pin(memory)
    assert ines.update_memory(memory, text="Answer in Danish.").text == "Answer in Danish."


def test_it_ends_with_its_memory(bank: Bank, clock: FrozenClock) -> None:
    old = standing(bank, "I live in Norrhav.")
    clock.advance(days=1)
    bank.retain("I moved to Vesper.")
    assert bank.get_memory(old).superseded_by
    gone = standing(bank)
    assert [hit.id for hit in bank.recall("kettle", standing=True).standing] == [gone]
    clock.advance(days=1)
    before = clock()
    clock.advance(days=1)

    bank.forget(gone)

    found = bank.recall("kettle", standing=True)
    assert found.standing == ()
    assert ALLERGY not in found.context
    ended = standing(bank, "Answer in French.")
    clock.advance(days=1)
    bank.invalidate(ended)
    clock.advance(days=1)
    assert bank.recall("kettle", standing=True).standing == ()
    assert [hit.id for hit in bank.recall("kettle", standing=True, as_of=before).standing] == []
    bank.retain("I like figs.")
    assert bank.brief("figs", profile="lexical").sections.get("Pinned") is None


def test_an_earlier_viewpoint_sees_what_stood_then(bank: Bank, clock: FrozenClock) -> None:
    (memory,) = bank.retain(ALLERGY)
    clock.advance(days=1)
    unmarked = clock()
    clock.advance(days=1)
    bank.pin(memory, always=True)
    clock.advance(days=1)
    marked = clock()
    clock.advance(days=1)
    bank.pin(memory, pinned=False)

    led = [bank.recall("kettle", standing=True, as_of=at).standing for at in (unmarked, marked, None)]
    assert [len(each) for each in led] == [0, 1, 0]


def test_filters_of_place_hold_and_those_of_sort_do_not(bank: Bank) -> None:
    everywhere = standing(bank, "Answer in French.", kind="preference")
    here = standing(bank, "Never push to main.", project="atlas")
    standing(bank, "Never release on a Friday.", project="borealis")
    bank.retain("The kettle is red.", project="atlas", tags=["kitchen"], kind="episodic")

    def led(**filters: object) -> set[str]:
        asked = {"profile": "lexical", "standing": True, **filters}
        return {hit.id for hit in bank.recall("kettle", **asked).standing}  # type: ignore[arg-type]

    assert led(project="atlas", kinds=["episodic"], window="2020") == {everywhere, here}
    assert led(tags=["kitchen"], project="atlas") == {everywhere, here}
    assert led(tags=["kitchen"], tags_match="any_strict") == set()
    assert bank.brief("kettle", profile="lexical", project="atlas").sections["Pinned"] == (here, everywhere)
    without = bank.brief("kettle", profile="lexical", project="atlas", standing=False)
    assert without.sections["Pinned"] == (here,)


def test_what_is_set_aside_or_put_away_does_not_lead(bank: Bank) -> None:
    memory = standing(bank)
    bank.quarantine(memory)
    assert bank.recall("kettle", standing=True, kinds=["quarantine"]).standing == ()
    bank.release(memory)
    assert len(bank.recall("kettle", standing=True).standing) == 1


def test_a_brief_begins_with_standing_memories(bank: Bank, clock: FrozenClock) -> None:
    memory = standing(bank)
    clock.advance(days=1)
    pins = bank.retain([f"House {number} is green." for number in range(9)])
    for pin in pins:
        bank.pin(pin)
    assert bank.brief("kettle", 40, profile="lexical").sections["Pinned"][0] == memory


def test_an_answer_in_words_is_led_by_them(bank: Bank) -> None:
    standing(bank, "Answer in French.")
    bank.retain(FACTS)
    model = Says("Il est rouge [2].")

    told = bank.reflect("Which colour is the kettle?", profile="lexical", answerer=model)

    assert "[1] standing; " in told.context
    assert [(each.number, told.recall.hits[0].id == each.id) for each in told.citations] == [(2, True)]
    assert bank.reflect("quartz", profile="lexical", answerer=model).no_match
    off = bank.reflect("Which colour is the kettle?", profile="lexical", answerer=model, standing=False)
    assert "standing" not in off.context


def test_doubt_is_not_about_standing_memories(bank: Bank) -> None:
    standing(bank)
    bank.retain(FACTS)
    weak = bank.recall("kettle colour of the neighbours", standing=True)
    assert "possibly: I am" not in weak.context
    for form in ("fenced", "json"):
        assert f"possibly: {ALLERGY}" not in pack_as_data(weak, bank.count_tokens, form=form).text


def test_the_mark_goes_out_and_comes_in(store: Store, tmp_path: Path) -> None:
    bank = store.bank("from")
    memory = standing(bank)
    bank.export(tmp_path / "out")
    bank.backup(tmp_path / "copy")

    other, restored = store.bank("to"), store.bank("restored")
    other.import_bank(tmp_path / "out")
    restored.restore(tmp_path / "copy")

    for each in (other, restored):
        assert each.get_memory(memory).standing
        assert each.list_memories()[0].to_dict()["standing"] is True
        assert [hit.id for hit in each.recall("kettle", standing=True).standing] == [memory]
        assert each.verify().ok


def test_a_standing_memory_never_ages(bank: Bank, clock: FrozenClock) -> None:
    memory = standing(bank, kind="episodic")
    clock.advance(days=4_000)
    bank.maintain()
    assert not bank.get_memory(memory).archived
    assert len(bank.recall("kettle", standing=True).standing) == 1


def test_the_id_of_a_recall_without_them_is_another(bank: Bank) -> None:
    standing(bank)
    bank.retain(FACTS)
    assert bank.recall("kettle").id != bank.recall("kettle", standing=True).id


def test_what_is_handed_out_is_audited(bank: Bank) -> None:
    memory = standing(bank)
    bank.start_audit()
    bank.audit_recalls()
    bank.recall("kettle", standing=True)
    assert memory in bank.audit_entries(recalls=True)[0].ids


def test_a_job_is_led_by_them(bank: Bank) -> None:
    memory = standing(bank)
    bank.retain(FACTS)
    job = bank.recall("kettle", standing=True, tier="async").job
    answer = bank.get_job(job, wait_seconds=60).recall
    assert answer is not None
    assert [hit.id for hit in answer.standing] == [memory]
