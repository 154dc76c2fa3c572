"""Composes texts from what a bank holds: an answer with citations, and a brief for the next session."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from simonides.errors import InputError, UnknownNameError
from simonides.lifecycle.briefing import newest_first, recent_changes, sort_out, write_brief
from simonides.options import ANSWER_TOKENS, BRIEF_STANDING, BRIEF_TOKENS, RECALL_DEFAULTS, TASK
from simonides.recall.answering import Asking, reflect
from simonides.recall.arguments import ASYNC_ELSEWHERE
from simonides.recall.telemetry import operation
from simonides.records.activity import BRIEFED
from simonides.records.query import Filters
from simonides.services.recalling import Recalling
from simonides.services.viewing import Viewing, verified

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from simonides.protocols import Answerer
    from simonides.records.memory import Brief
    from simonides.records.recall import Reflection
    from simonides.services.context import BankContext

# Hits of the recall that finds what is relevant to a brief.
_RELEVANT = 20


@dataclass(frozen=True, slots=True)
class Composing:
    """Composes texts."""

    context: BankContext

    def reflect(
        self,
        query: str,
        *,
        max_tokens: int | None,
        max_answer_tokens: int,
        answerer: Answerer | None,
        on_text: Callable[[str], object] | None,
        **options: Any,
    ) -> Reflection:
        self.context.check((ANSWER_TOKENS,), {"max_answer_tokens": max_answer_tokens})
        known = {*RECALL_DEFAULTS, "profile", "zone"} - {"max_tokens"}
        for name in options:
            if name not in known:
                raise UnknownNameError(name, name, known)
        if options.get("tier") == "async":
            raise InputError("tier", ASYNC_ELSEWHERE)
        options = {"standing": True, **options}
        with operation(self.context.name, "recall") as note:
            recall = Recalling(self.context).recall(query, max_tokens=max_tokens, **options)
            note(recall)
        parts = self.context.parts
        asking = Asking(
            parts.answerer if answerer is None else answerer,
            parts.tokens.count,
            max_tokens,
            max_answer_tokens,
            on_text or (lambda _: None),
        )
        reflection = reflect(query, recall, asking)
        self.context.rows.recent_recalls.amend(recall.id, context=reflection.context)
        return reflection

    def brief(
        self, task: str, max_tokens: int, *, profile: str | Path, project: str | None, standing: bool
    ) -> Brief:
        given = {"task": task, "max_tokens": max_tokens, "standing": standing}
        self.context.check((TASK, BRIEF_TOKENS, BRIEF_STANDING), given)
        context, viewing = self.context, Viewing(self.context)
        with operation(context.name, "recall") as note:
            found = Recalling(context).recall(
                task, max_tokens=max_tokens, profile=profile, project=project, limit=_RELEVANT
            )
            note(found)
        filters = Filters(principal=context.principal, project=project)
        with context.reading() as reading:
            view = viewing.view(reading, filters)
            first = viewing.standing(reading, filters, context.now()) if standing else []
            held = [memory for memory in newest_first(view) if memory.id not in {each.id for each in first}]
            current = verified(reading, [*first, *held])
            changed = recent_changes(reading, view, context.may_read)
        told = [*current, *(memory for pair in changed for memory in pair)]
        context.record_read("brief", reading, [memory.id for memory in told], task)
        relevant = tuple((hit.memory, found.mark_of(hit)) for hit in found.told)
        brief = write_brief(sort_out(current, changed, relevant), max_tokens, context.parts.tokens)
        ids = tuple(dict.fromkeys(memory for section in brief.sections.values() for memory in section))
        context.rows.recent_recalls.amend(found.id, what=BRIEFED, ids=ids, context=brief.text)
        return brief
