"""Questions that a memory answers, made by rules from what was extracted (doc2query, HX-16).

A question asks with words that the answer does not use: "works at" is asked as "job" and "employer". Each
relation has its questions, in ``extraction/rules/questions.txt``; a date asks what happened then, and a name
with it asks when.
recall@10 on LoCoMo with the questions and without: 0.765 and 0.756 (default), 0.766 and 0.759 (lexical); the
questions about dates help, those about relations change nothing there. On MuSiQue 0.718 and 0.715 (default).
Weakness: most memories get no question, and the templates are English.

Source: Nogueira et al., Document Expansion by Query Prediction (2019); here rules stand in for the model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from simonides.records.extraction import EntityKind, Relation
from simonides.retain.extraction.rules import read_rules
from simonides.text.dates import spell_date
from simonides.text.statements.reading import read_statements
from simonides.text.statements.words import USER

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from simonides.records.extraction import Extraction

MOST_QUESTIONS = 12

QUESTIONS = {rule.name: tuple(rule.values["asks"]) for rule in read_rules("questions")}
"""By relation, with places for its subject and object."""


_BY_ATTRIBUTE = {"residence": "lives in", "employer": "works at"}
"""By attribute of a statement (``text.statements``), the relation whose questions it answers."""


@dataclass(frozen=True, slots=True)
class QuestionRules:
    """The rule-based ``protocols.Expander``."""

    def expand(self, text: str, found: Extraction) -> str:
        """Questions, one a line; empty where no rule applies."""
        named = {relation.name for relation in found.relations}
        stated = (one for one in _stated_relations(text) if one.name not in named)
        asked = dict.fromkeys(
            [*_about_relations(found.relations), *_about_relations(stated), *_about_times(found)]
        )
        return "\n".join(list(asked)[:MOST_QUESTIONS])


def _stated_relations(text: str) -> Iterator[Relation]:
    """Relations of what a text states as a change: it is asked for as the value that it ends was."""
    for one in read_statements(text):
        name = _BY_ATTRIBUTE.get(one.attribute)
        if name and one.single_valued and not one.ended:
            subject = "the user" if one.subject == USER else one.subject
            yield Relation(name, subject, one.value, single_valued=True)


def _about_relations(relations: Iterable[Relation]) -> Iterator[str]:
    for relation in relations:
        for question in QUESTIONS.get(relation.name, ()):
            yield question.format(subject=relation.subject, object=relation.object)


def _about_times(found: Extraction) -> Iterator[str]:
    people = [mention.name for mention in found.mentions if mention.kind is EntityKind.PERSON]
    for time in found.times:
        date = spell_date(time.interval)
        if date:
            yield f"What happened on {date}?"
            yield from (f"When did {name} do this, on what date?" for name in people[:1])
