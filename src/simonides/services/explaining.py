"""Says why a recall does not return a memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from simonides.recall.explaining import Recording
from simonides.recall.why_not import Recalled
from simonides.recall.why_not import why_not as find_why_not
from simonides.services.answering import Answering
from simonides.services.viewing import Viewing

if TYPE_CHECKING:
    from pathlib import Path

    from simonides.records.explanation import WhyNot
    from simonides.services.context import BankContext


@dataclass(frozen=True, slots=True)
class Explaining:
    """Runs a recall again and looks for the stage that lost a memory."""

    context: BankContext

    def why_not(
        self, memory: str, query: str, *, profile: str | Path, zone: object = None, **options: Any
    ) -> WhyNot:
        context = self.context.in_zone(zone)
        answering = Answering(context)
        versions = context.versions(memory)
        request = answering.read_options(query, options)
        plan, recording = answering.plan(profile), Recording()
        with context.reading() as reading:
            viewing = Viewing(context)
            view = viewing.view(reading, request.filters, context.now())
            plan, view = viewing.with_observations(plan, view, reading, request.filters)
            answer, tools = answering.answer(plan, view, request, reading, recording)
            context.record_read("why_not", reading, [memory], query)
            return find_why_not(versions, Recalled(plan, view, tools, request.filters, answer, recording))
