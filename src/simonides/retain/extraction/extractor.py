"""The rule-based extractor: reads a text once and asks each rule set about it.

    passage ─► speaker ─► times ─► names ─► relations · causes · kind · salience · confidence

Rules are English; in other languages the names that a form or the bank gives away, the speaker and the times
are still found, and nothing is guessed from capitals. Pure: same text, anchor, zone and known names, same
result. Cost: about 0.3 ms CPU for 40 words; ``bench/stages`` has the figure of this machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from simonides.records.extraction import Extraction
from simonides.records.interval import local_time
from simonides.retain.extraction.causes import find_causes
from simonides.retain.extraction.certainty import confidence, salience
from simonides.retain.extraction.kinds import find_kind
from simonides.retain.extraction.names import find_names
from simonides.retain.extraction.passage import Passage, find_speaker
from simonides.retain.extraction.relations import find_relations

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from datetime import datetime, tzinfo

    from simonides.records.extraction import Mention, TimeMention


class FindTimes(Protocol):
    """Reads the time expressions of a text; what it returns does not overlap."""

    def __call__(self, text: str, *, anchor: datetime, zone: tzinfo) -> Sequence[TimeMention]: ...


class FindNames(Protocol):
    """Reads names in another way than the rules do; spans must lie in the text."""

    def __call__(self, text: str) -> Iterable[Mention]: ...


@dataclass(frozen=True, slots=True)
class RuleExtractor:
    """An :class:`~simonides.protocols.Extractor` made of rules.

    Attributes:
        find_times: reads time expressions, as ``simonides.text.times.expressions.find_times`` does; ``None``
            = none are looked for.
        more_names: another finder of names, such as a statistical one; of finds of one length the rules' win.
    """

    find_times: FindTimes | None = None
    more_names: FindNames | None = None

    def extract(self, text: str, *, anchor: int, zone: tzinfo, known: Collection[str] = ()) -> Extraction:
        """Read one text; mentions and times come by start, relations and causes by the place of their cue.

        Args:
            text: of a memory; any string.
            anchor: when it was said, microseconds UTC; at an open end no times are looked for.
            known: names of entities that the bank has; anything but a
                :class:`~simonides.retain.extraction.known_names.KnownNames` is indexed anew at every call.
        """
        passage = Passage.read(text)
        speaker = find_speaker(passage.text)
        body = speaker.body if speaker is not None else 0
        moment = local_time(anchor, zone)
        found = self.find_times(text, anchor=moment, zone=zone) if self.find_times and moment else ()
        times = tuple(sorted(found, key=lambda time: (time.start, time.stop, time.text)))
        mentions = find_names(
            passage,
            known=known,
            speaker=speaker,
            more=self.more_names(text) if self.more_names is not None else (),
            not_in=[(time.start, time.stop) for time in times],
        )
        return Extraction(
            mentions=mentions,
            relations=find_relations(passage, mentions, speaker),
            causes=find_causes(passage, body),
            times=times,
            kind=find_kind(passage, mentions, dated=bool(times), body=body),
            salience=salience(passage, body, names=sum(mention.start >= body for mention in mentions)),
            confidence=confidence(passage),
        )
