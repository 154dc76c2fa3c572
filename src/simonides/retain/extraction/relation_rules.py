"""The relations that a cue states surely, as data.

``single_valued`` is kept for what one subject has once at a time, because a new value closes the old one:
where one works, lives, who leads. What one likes, uses or tests is never so. Where one person may well have
two (jobs, e-mail addresses of different sorts), the pattern is narrow: ``Ann's e-mail is``, not ``Ann's work
e-mail is``.

Weakness: "lives in Portugal" and "lives in Lisbon" are both true, so a country or region is never
single-valued.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from simonides.records.extraction import EntityKind
from simonides.retain.extraction.passage import Cue, by_trigger


class ObjectForm(StrEnum):
    """What the object of a relation must look like."""

    NAME = "name"
    """A mention that stands right behind the cue, an article or quotation mark aside."""

    PHRASE = "phrase"
    """A few words, cut at the end of the clause and before most prepositions."""

    CLAUSE = "clause"
    """The words up to the end of the clause."""

    TIME = "time"
    """A date, a year or a weekday."""

    PHONE = "phone"
    """A telephone number."""


_ANY = frozenset(EntityKind)
_PEOPLE = frozenset({EntityKind.PERSON, EntityKind.HANDLE, EntityKind.OTHER})
_BODIES = frozenset({EntityKind.ORGANISATION, EntityKind.OTHER, EntityKind.URL, EntityKind.PLACE})
_PLACES = frozenset({EntityKind.PLACE, EntityKind.OTHER})
_SURE_PLACES = frozenset({EntityKind.PLACE})
_THINGS = _ANY - {EntityKind.PERSON, EntityKind.EMAIL}
_IS = r"(?:\bis|\bam|'m|'s)"
_WAS = r"\b(?:was|were|is|are|has\s+been|got)"


@dataclass(frozen=True, slots=True)
class RelationRule(Cue):
    """A cue between a subject and an object.

    Attributes:
        finds: subject and object in the example.
        single_valued: a subject has one object at a time.
        subjects: kinds of mention that may be the subject.
        objects: kinds of mention that may be the object, for names.
        link: when not empty, the cue stands before the subject and this pattern between subject and object:
            ``the deadline of X is Y``.
        swapped: the text names the object first: ``Y leads X`` is ``X, led by, Y``.
        generic: a phrase with a definite article is no object: "I like the idea" is not about ideas.
        listed: in a phrase, ``a and b`` are two objects.
    """

    finds: tuple[str, str]
    single_valued: bool = False
    subjects: frozenset[EntityKind] = _ANY
    form: ObjectForm = ObjectForm.NAME
    objects: frozenset[EntityKind] = _ANY
    link: str = ""
    swapped: bool = False
    generic: bool = False
    listed: bool = False


RELATION_RULES = (
    RelationRule(
        "works at",
        rf"(?:\bworks?|{_IS}\s+(?:working|employed))\s+(?:at|for|by)\b",
        "work works working employed",
        "Odalys Fennimark works at Gullspire.",
        "Odalys Fennimark works on Gullspire.",
        ("Odalys Fennimark", "Gullspire"),
        single_valued=True,
        subjects=_PEOPLE,
        objects=_BODIES,
    ),
    RelationRule(
        "works as",
        r"\bworks?\s+as\s+(?:an?|the)\b",
        "work works",
        "Kofi Dunmarrow works as a data scientist.",
        "It works as planned.",
        ("Kofi Dunmarrow", "data scientist"),
        subjects=_PEOPLE,
        form=ObjectForm.PHRASE,
    ),
    RelationRule(
        "studies at",
        rf"(?:\bstud(?:y|ies)|{_IS}\s+studying)\s+at\b",
        "study studies studying",
        "Wrenna studies at Leiden University.",
        "Wrenna studies at night.",
        ("Wrenna", "Leiden University"),
        subjects=_PEOPLE,
        objects=_BODIES,
    ),
    RelationRule(
        "lives in",
        rf"(?:\blives?|{_IS}\s+(?:living|based))\s+in\b",
        "live lives living based",
        "Joss Underbeck lives in Lisbon.",
        "Joss Underbeck lives in hope.",
        ("Joss Underbeck", "Lisbon"),
        single_valued=True,
        subjects=_PEOPLE,
        objects=_PLACES,
    ),
    RelationRule(
        "lives in",
        r"\bmoved\s+(?:back\s+)?to\b",
        "moved",
        "Joss Underbeck moved to Lisbon in May.",
        "The service moved to Kubernetes.",
        ("Joss Underbeck", "Lisbon"),
        single_valued=True,
        subjects=_PEOPLE,
        objects=_SURE_PLACES,
    ),
    RelationRule(
        "prefers",
        r"\bprefers?\b",
        "prefer prefers",
        "Nerys Halvorquill prefers charts without gridlines.",
        "Nerys preferred not to.",
        ("Nerys Halvorquill", "charts without gridlines"),
        subjects=_PEOPLE,
        form=ObjectForm.PHRASE,
    ),
    RelationRule(
        "likes",
        rf"\b(?:likes?|loves?|enjoys?|adores?)\b|{_IS}\s+(?:very\s+)?fond\s+of\b|{_IS}\s+a\s+(?:big\s+"
        rf"|huge\s+)?fan\s+of\b",
        "like likes love loves enjoy enjoys adore adores fond fan",
        "Mo likes rye.",
        "It looks like rain.",
        ("Mo", "rye"),
        subjects=_PEOPLE,
        form=ObjectForm.PHRASE,
        generic=True,
    ),
    RelationRule(
        "dislikes",
        r"\b(?:dislikes?|hates?|detests?|can(?:no|')t\s+stand|(?:does\s*n[o']t|do\s*n[o']t|doesn't"
        r"|don't)\s+like)\b",
        "dislike dislikes hate hates detest detests stand like",
        "Mo dislikes celery.",
        "Mo likes celery.",
        ("Mo", "celery"),
        subjects=_PEOPLE,
        form=ObjectForm.PHRASE,
        generic=True,
    ),
    RelationRule(
        "allergic to",
        rf"(?:{_IS}|\bis\s+severely|\bhas\s+been)\s+(?:also\s+|very\s+|badly\s+|severely\s+)?allergic\s+to\b",
        "allergic",
        "Isaura Plimwater is allergic to hazelnuts.",
        "Nobody is allergic to fun.",
        ("Isaura Plimwater", "hazelnuts"),
        subjects=_PEOPLE,
        form=ObjectForm.PHRASE,
        listed=True,
    ),
    RelationRule(
        "decided",
        r"\b(?:has\s+|have\s+|'ve\s+)?decided\s+(?=(?:to|on|against)\b)",
        "decided",
        "Ambrose Kettlewynd decided to postpone the release.",
        "It was decided to wait.",
        ("Ambrose Kettlewynd", "to postpone the release"),
        subjects=_PEOPLE,
        form=ObjectForm.CLAUSE,
    ),
    RelationRule(
        "owns",
        rf"\bowns?\b|{_IS}\s+the\s+owner\s+of\b",
        "own owns owner",
        "Isaura Plimwater owns ingest.",
        "Isaura has her own desk.",
        ("Isaura Plimwater", "ingest"),
        form=ObjectForm.PHRASE,
    ),
    RelationRule(
        "led by",
        r"\b(?:is|are)\s+(?:now\s+)?(?:led|run|headed)\s+by\b",
        "led run headed",
        "Project Heron is led by Odalys Fennimark.",
        "Everyone is led by Odalys Fennimark.",
        ("Heron", "Odalys Fennimark"),
        single_valued=True,
        subjects=_THINGS,
        objects=_PEOPLE,
    ),
    RelationRule(
        "led by",
        rf"\bleads\b|{_IS}\s+leading\b|{_IS}\s+the\s+(?:lead|head|leader)\s+of\b",
        "leads leading lead head leader",
        "Ambrose Kettlewynd leads Project Cormorant.",
        "That leads Ambrose astray.",
        ("Cormorant", "Ambrose Kettlewynd"),
        single_valued=True,
        subjects=_PEOPLE,
        objects=_THINGS - {EntityKind.PLACE},
        swapped=True,
    ),
    RelationRule(
        "reports to",
        r"\breports?\s+(?:directly\s+)?to\b",
        "report reports",
        "Kofi Dunmarrow reports to Odalys Fennimark.",
        "Kofi reports to work.",
        ("Kofi Dunmarrow", "Odalys Fennimark"),
        single_valued=True,
        subjects=_PEOPLE,
        objects=_PEOPLE,
    ),
    RelationRule(
        "depends on",
        r"\b(?:depends|relies)\s+(?:heavily\s+)?on\b|\bis\s+dependent\s+on\b",
        "depends relies dependent",
        "Kestrel depends on Osprey.",
        "That depends on Osprey.",
        ("Kestrel", "Osprey"),
    ),
    RelationRule(
        "blocked by",
        r"\b(?:is|are|was)\s+(?:still\s+|currently\s+|now\s+)?blocked\s+(?:by|on)\b",
        "blocked",
        "TG-207 is blocked by TG-188.",
        "The road was blocked by TG-188.",
        ("TG-207", "TG-188"),
    ),
    RelationRule(
        "uses",
        r"\b(?:uses|(?<=I\s)use)\b",
        "uses use",
        "Kestrel uses PostgreSQL.",
        "Kestrel uses plenty.",
        ("Kestrel", "PostgreSQL"),
        objects=_THINGS - {EntityKind.PLACE},
    ),
    RelationRule(
        "located in",
        r"\bis\s+(?:located|situated)\s+in\b",
        "located situated",
        "Marrowtide is located in Brackwater.",
        "Marrowtide is located in between.",
        ("Marrowtide", "Brackwater"),
        subjects=_ANY - {EntityKind.PERSON},
        objects=_PLACES,
    ),
    RelationRule(
        "part of",
        r"\bis\s+(?:now\s+)?(?:a\s+)?part\s+of\b|\bbelongs\s+to\b",
        "part belongs",
        "Limpet is part of Marrowtide.",
        "Limpet is part of us.",
        ("Limpet", "Marrowtide"),
    ),
    RelationRule(
        "married to",
        rf"(?:{_IS}|\bgot)\s+married\s+to\b|\bmarried\b",
        "married",
        "Merrin Stoutfathom is married to Hollis Marwindle.",
        "Merrin is happily married.",
        ("Merrin Stoutfathom", "Hollis Marwindle"),
        single_valued=True,
        subjects=_PEOPLE,
        objects=_PEOPLE,
    ),
    RelationRule(
        "married to",
        r"(?:'s|\bmy)\s+(?:wife|husband|spouse)(?:'s\s+name)?\s+is(?:\s+called|\s+named)?\b",
        "wife husband spouse wife's husband's spouse's",
        "Merrin Stoutfathom's husband is Hollis Marwindle.",
        "Merrin's husband is away.",
        ("Merrin Stoutfathom", "Hollis Marwindle"),
        single_valued=True,
        subjects=_PEOPLE,
        objects=_PEOPLE,
    ),
    RelationRule(
        "born in",
        r"\bwas\s+born\s+(?:and\s+raised\s+)?in\b",
        "born",
        "Tamsin Sternlocke was born in Lisbon.",
        "The idea was born in haste.",
        ("Tamsin Sternlocke", "Lisbon"),
        single_valued=True,
        subjects=_PEOPLE,
        objects=_PLACES,
    ),
    RelationRule(
        "born on",
        r"\bwas\s+born\s+(?:on|in)\b",
        "born",
        "Tamsin Sternlocke was born on 3 May 1990.",
        "Tamsin was born in Lisbon.",
        ("Tamsin Sternlocke", "3 May 1990"),
        single_valued=True,
        subjects=_PEOPLE,
        form=ObjectForm.TIME,
    ),
    RelationRule(
        "birthday is",
        r"(?:'s|\bmy)\s+birthday\s+(?:is|falls)(?:\s+on)?\b",
        "birthday",
        "Teodric Wexhollow's birthday is on 14 October.",
        "Teodric's birthday is near.",
        ("Teodric Wexhollow", "14 October"),
        single_valued=True,
        subjects=_PEOPLE,
        form=ObjectForm.TIME,
    ),
    RelationRule(
        "on call on",
        rf"{_IS}\s+(?:now\s+)?on[\s-]call\s+(?:on\b)?",
        "call on-call",
        "Priya is on call on Tuesday.",
        "Priya is on call again.",
        ("Priya", "Tuesday"),
        single_valued=True,
        subjects=_PEOPLE,
        form=ObjectForm.TIME,
    ),
    RelationRule(
        "deadline is",
        r"'s\s+deadline\s+(?:is|moved\s+to)(?:\s+on)?\b",
        "deadline",
        "Cormorant's deadline is 2 March 2026.",
        "Cormorant's deadline is tight.",
        ("Cormorant", "2 March 2026"),
        single_valued=True,
        form=ObjectForm.TIME,
    ),
    RelationRule(
        "deadline is",
        r"\bdeadline\s+(?:for|of)\b",
        "deadline",
        "The deadline for Cormorant is 2 March 2026.",
        "The deadline for Cormorant is tight.",
        ("Cormorant", "2 March 2026"),
        single_valued=True,
        form=ObjectForm.TIME,
        link=r"\s+(?:is|moved\s+to|moves\s+to)(?:\s+on)?\b",
    ),
    RelationRule(
        "ships on",
        r"\b(?:ships|launches|is\s+due|is\s+released|will\s+be\s+released|goes\s+live"
        r"|is\s+planned\s+for)(?:\s+(?:on|in))?\b",
        "ships launches due released live planned",
        "Cormorant ships on 13 April 2026.",
        "Cormorant ships on time.",
        ("Cormorant", "13 April 2026"),
        single_valued=True,
        subjects=_THINGS,
        form=ObjectForm.TIME,
    ),
    RelationRule(
        "replaces",
        r"\b(?:replaces|replaced|supersedes|superseded)\b",
        "replaces replaced supersedes superseded",
        "Cormorant replaces Bittern.",
        "Cormorant replaced most of it.",
        ("Cormorant", "Bittern"),
    ),
    RelationRule(
        "replaces",
        rf"{_WAS}\s+(?:replaced|superseded)\s+by\b",
        "replaced superseded",
        "Bittern was replaced by Cormorant.",
        "Bittern was replaced by magic.",
        ("Cormorant", "Bittern"),
        swapped=True,
    ),
    RelationRule(
        "created by",
        rf"{_WAS}\s+(?:created|written|founded|designed|invented|authored)\s+by\b",
        "created written founded designed invented authored",
        "Marrowtide was founded by Teodric Wexhollow.",
        "Marrowtide was founded by accident.",
        ("Marrowtide", "Teodric Wexhollow"),
        subjects=_THINGS,
        objects=_PEOPLE | {EntityKind.ORGANISATION},
    ),
    RelationRule(
        "created by",
        r"\b(?:founded|co-founded|invented)\b",
        "founded co-founded invented",
        "Teodric Wexhollow founded Marrowtide.",
        "Teodric founded a choir.",
        ("Marrowtide", "Teodric Wexhollow"),
        subjects=_PEOPLE,
        objects=_THINGS,
        swapped=True,
    ),
    RelationRule(
        "assigned to",
        r"\b(?:is|was)\s+(?:now\s+)?assigned\s+to\b",
        "assigned",
        "TG-118 was assigned to Joss Underbeck.",
        "TG-118 was assigned to nobody.",
        ("TG-118", "Joss Underbeck"),
        single_valued=True,
        objects=_PEOPLE,
    ),
    RelationRule(
        "status is",
        r"'s\s+(?:current\s+)?status\s+is(?:\s+now)?\b",
        "status",
        "TG-118's status is closed.",
        "Status is a matter of taste.",
        ("TG-118", "closed"),
        single_valued=True,
        form=ObjectForm.PHRASE,
    ),
    RelationRule(
        "status is",
        r"\bstatus\s+of\b",
        "status",
        "The status of TG-118 is closed.",
        "The status of TG-118 changed.",
        ("TG-118", "closed"),
        single_valued=True,
        form=ObjectForm.PHRASE,
        link=r"\s+is(?:\s+now)?\b",
    ),
    RelationRule(
        "version is",
        r"(?:'s\s+(?:current\s+|latest\s+)?version\s+is|\bis\s+(?:now\s+)?(?:at|on)\s+(?:version\b)?)",
        "version at on",
        "Heron's version is 1.4.0.",
        "Heron is on Tuesday.",
        ("Heron", "1.4.0"),
        single_valued=True,
        subjects=_THINGS,
        objects=frozenset({EntityKind.VERSION}),
    ),
    RelationRule(
        "name is",
        r"(?:'s|\bmy)\s+(?:full\s+|real\s+)?name\s+is\b",
        "name",
        "Ann: My name is Annika Solberg.",
        "Ann: My name is long.",
        ("Ann", "Annika Solberg"),
        single_valued=True,
    ),
    RelationRule(
        "e-mail is",
        r"(?:'s|\bmy)\s+e-?mail(?:\s+address)?\s+is\b",
        "email e-mail",
        "Odalys Fennimark's e-mail is odalys@example.org.",
        "Odalys's email is broken.",
        ("Odalys Fennimark", "odalys@example.org"),
        single_valued=True,
        objects=frozenset({EntityKind.EMAIL}),
    ),
    RelationRule(
        "phone is",
        r"(?:'s|\bmy)\s+(?:phone|telephone|mobile)(?:\s+number)?\s+is\b",
        "phone telephone mobile",
        "Cordula Vantwick's phone number is +49 151 0000000.",
        "Cordula's phone is off.",
        ("Cordula Vantwick", "+49 151 0000000"),
        single_valued=True,
        form=ObjectForm.PHONE,
    ),
)
"""Every rule; a place in the text gives at most one relation of each name."""

BY_TRIGGER = by_trigger(RELATION_RULES)
