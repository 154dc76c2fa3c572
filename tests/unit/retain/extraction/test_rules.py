"""Every rule carries its own examples; here they are run, rule by rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from simonides.retain.extraction.causes import CONNECTIVES, Connective, find_causes
from simonides.retain.extraction.certainty import HEDGES, SALIENT, WeightedCue
from simonides.retain.extraction.kinds import KIND_CUES, KindCue, find_kind
from simonides.retain.extraction.name_kinds import HINTS, Hint, kind_of
from simonides.retain.extraction.names import FORMS, Form, find_names, find_structured
from simonides.retain.extraction.passage import Cue, Passage, by_trigger, compiled, find_speaker, triggered
from simonides.retain.extraction.relations import RELATION_RULES, RelationRule, find_relations

if TYPE_CHECKING:
    from simonides.records.extraction import EntityKind

CUES: tuple[Cue, ...] = (*RELATION_RULES, *CONNECTIVES, *KIND_CUES, *SALIENT, *HEDGES)


def name_of(cue: Cue) -> str:
    return f"{type(cue).__name__}-{cue.name}".replace(" ", "-")


@pytest.mark.parametrize("cue", CUES, ids=name_of)
def test_a_cue_is_found_in_its_example_through_its_triggers(cue: Cue) -> None:
    passage = Passage.read(cue.example)

    assert list(cue.matches(cue.example))
    assert list(triggered(passage, (cue,), by_trigger((cue,))))


@pytest.mark.parametrize("cue", [c for c in CUES if not isinstance(c, RelationRule)], ids=name_of)
def test_a_cue_is_not_found_in_its_counterexample(cue: Cue) -> None:
    assert not list(cue.matches(cue.counterexample))


@pytest.mark.parametrize("cue", CUES, ids=name_of)
def test_a_cue_does_without_empty_matches_and_groups_that_it_does_not_need(cue: Cue) -> None:
    assert not compiled(cue.pattern).match("")
    assert compiled(cue.pattern).groups == 0


@pytest.mark.parametrize("rule", RELATION_RULES, ids=name_of)
def test_a_relation_rule_reads_subject_and_object_from_its_example_alone(rule: RelationRule) -> None:
    def found(text: str) -> set[tuple[str, str, str, bool]]:
        passage, speaker = Passage.read(text), find_speaker(text)
        relations = find_relations(passage, find_names(passage, speaker=speaker), speaker)
        return {(r.name, r.subject, r.object, r.single_valued) for r in relations}

    assert (rule.name, *rule.finds, rule.single_valued) in found(rule.example)
    assert rule.name not in {name for name, *_ in found(rule.counterexample)}


@pytest.mark.spec("HI-03")
@pytest.mark.parametrize("connective", CONNECTIVES, ids=name_of)
def test_a_connective_reads_cause_and_effect_from_its_example(connective: Connective) -> None:
    text = connective.example

    causes = find_causes(Passage.read(text))

    assert [(text[slice(*c.cause)], text[slice(*c.effect)], c.weight) for c in causes] == [
        (*connective.finds, connective.weight)
    ]
    assert 0 < connective.weight <= 1


@pytest.mark.spec("HX-21")
@pytest.mark.parametrize("cue", KIND_CUES, ids=name_of)
def test_a_kind_cue_decides_the_kind_of_its_example(cue: KindCue) -> None:
    passage = Passage.read(cue.example)

    assert find_kind(passage, find_names(passage)) is cue.kind


@pytest.mark.spec("HX-10")
@pytest.mark.parametrize("cue", [*SALIENT, *HEDGES], ids=name_of)
def test_weights_lie_between_zero_and_one(cue: WeightedCue) -> None:
    assert 0 < cue.weight < 1


@pytest.mark.parametrize(
    ("form", "text", "name"),
    [(form, text, name) for form in FORMS for text, name in form.examples],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_form_is_found_in_its_examples(form: Form, text: str, name: str) -> None:
    found = [(m.name, m.kind) for m in find_structured(text) if text[m.start : m.stop] == name]

    assert (name, form.kind) in found


@pytest.mark.parametrize(
    ("form", "text"),
    [(form, text) for form in FORMS for text in form.counterexamples],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_form_is_not_found_in_its_counterexamples(form: Form, text: str) -> None:
    assert form.kind not in {mention.kind for mention in find_structured(text)}


@pytest.mark.parametrize("hint", HINTS, ids=lambda hint: f"{hint.kind}-{hint.example[1]}")
def test_a_hint_tells_the_kind_in_its_example_alone(hint: Hint) -> None:
    def kind(text: str, name: str) -> EntityKind:
        start = text.index(name)
        return kind_of([name.lower()], text, start, start + len(name))

    def hinted(text: str, name: str) -> bool:
        start = text.index(name)
        before = bool(hint.before) and compiled(hint.before).search(text[:start])
        after = bool(hint.after) and compiled(hint.after).match(text[start + len(name) :])
        return bool(before or after)

    assert hinted(*hint.example)
    assert kind(*hint.example) is hint.kind
    assert not hinted(*hint.counterexample)
    assert bool(hint.before) != bool(hint.after)
