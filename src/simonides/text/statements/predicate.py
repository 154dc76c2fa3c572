"""Subject and verb of a clause, and what the clause says besides: what changed, what coexists, what ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from simonides.text.statements.markers import read_markers
from simonides.text.statements.words import USER, base_of, fold_subject, verb_bases, words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simonides.text.statements.words import Clause, Word

SOMEBODY = "they"
"""The subject of a change that somebody unnamed made."""

_BE = frozenset({"is", "are", "am", "was", "were", "be", "been", "being", "got", "gets"})
_HAVE = frozenset({"has", "have", "had"})
_MODALS = words("auxiliaries") - _BE - _HAVE - {"do", "does", "did"}
_PAST = frozenset({"was", "were", "had", "did"})
_PLANNED = frozenset(
    {"move", "relocate", "leave", "start", "join", "switch", "migrate", "quit", "stop", "marry"}
)
"""In the progressive these tell of a plan: "is moving to"."""

_SHORTEST_PARTICIPLE = 4
_SKIPPED = (
    words("corrections")
    | words("adverbs")
    | {
        ",",
        ":",
        "ok",
        "okay",
        "well",
        "hey",
        "hi",
        "and",
        "but",
        "so",
        "yes",
        "no",
        "please",
        "note",
        "fyi",
        "today",
        "yesterday",
        "then",
        "anymore",
        "instead",
    }
)
_OPENERS = (("from", "now", "on"), ("as", "of"), ("these", "days"), ("by", "the", "way"))
_STARTERS = frozenset({"the", "my", "our", "a", "an", "user", "this"})
_SAME_IN_THE_PAST = frozenset({"put", "set", "quit", "reset", "shut", "cut", "let", "split", "hit", "cost"})
_BEFORE_VERB = words("adverbs") | {"no", "longer", "not", "never", "also", ","}
_DETERMINED = (words("determiners") - {"that", "this", "these", "those", "her"}) | words("adjectives")
_SMALL = (
    words("determiners")
    | words("prepositions")
    | words("stoppers")
    | {"and", "or", "but", "not", "than", "less"}
)
_GROUNDS = frozenset({"since", "with", "after", "because", "due", "thanks", "from", "following"})
_NARROWS = frozenset(
    {"in", "on", "at", "for", "during", "under", "by", "until", "while", "before", "as", "within"}
)


@dataclass(frozen=True, slots=True)
class Context:
    """What the clauses before say.

    Attributes:
        speaker: who "I" is; empty = nobody.
        subject: of the clause before; empty = none.
        marker: what the text began with.
        left: a clause before told that something was left or ended.
        thing: what the clause before speaks of behind its verb; *it* stands for it.
        says_i: the subject of the clause before is *I* or *we*, so no *she* and no *her* stands for it.
    """

    speaker: str
    subject: str = ""
    marker: str = ""
    left: bool = False
    thing: str = ""
    says_i: bool = False


@dataclass(frozen=True, slots=True)
class Predicate:
    """A clause, taken apart.

    Attributes:
        subjects: folded; several where two are joined.
        subject_words: as they stand.
        definite: it names one thing: a name, a pronoun, or with *the* or an owner.
        verb: base form; ``be`` for a mere copula.
        passive: a form of *be* with a participle.
        past: it tells what was or happened, not what is.
        ended: it is so no more.
        negated: it is not so.
        rest: words behind the verb, without markers.
        marker: what says that something changed.
        coexists: it is said to stand beside others.
        old: the value that it is said to replace, folded.
        qualifier: what stood before the subject and narrows it.
        context: of the clauses before.
    """

    subjects: tuple[str, ...]
    subject_words: tuple[Word, ...]
    definite: bool
    verb: str
    passive: bool
    past: bool
    ended: bool
    negated: bool
    rest: tuple[Word, ...]
    marker: str
    coexists: bool
    old: str
    qualifier: str
    context: Context

    @property
    def subject(self) -> str:
        return self.subjects[0]

    @property
    def unowned(self) -> bool:
        """Whether nothing says whose the subject is: *the address*."""
        return (
            bool(self.subject_words)
            and self.subject_words[0].low == "the"
            and USER not in {word.low.removesuffix("'s") for word in self.subject_words}
        )


def read_predicate(clause: Clause, context: Context) -> Predicate | None:
    """Take a clause apart; ``None`` where it states nothing surely."""
    lows = [word.low for word in clause]
    if "?" in lows or is_unsure(clause):
        return None
    start, qualifier, leading = _lead(clause)
    found = _verb_at(clause, start)
    if found is None:
        return None
    at, subject_words = found
    group = _verb_group(clause, at)
    if group is None:
        return None
    verb, passive, past, negated, ended, behind, marker, coexists = group
    if subject_words and subject_words[0].low == "new":
        marker = "new"
    subjects = _subjects(subject_words, context, first=clause[at].raw[0].isupper())
    if subjects is None and verb in words("change verbs") | {"move", "set"} and not passive:
        # "They changed the code": whoever they are, the code is another one.
        subjects = (SOMEBODY,) if [word.low for word in subject_words] == ["they"] else None
    if subjects is None:
        return None
    definite = _is_definite(subject_words)
    rest = clause[behind:]
    rest, told = read_markers(rest)
    return Predicate(
        subjects,
        subject_words,
        definite,
        verb,
        passive,
        past,
        ended or (told.ended and negated),
        negated,
        rest,
        context.marker or leading or told.marker or marker,
        coexists or told.coexists or any(w.low in words("coexist") - {"second"} for w in subject_words),
        told.old,
        qualifier,
        context,
    )


def is_unsure(clause: Clause) -> bool:
    """Whether a clause tells of a wish, a plan, a condition or what somebody says."""
    unsure = words("unsure")
    for place, word in enumerate(clause):
        low = word.low
        if low not in unsure:
            continue
        following = clause[place + 1].low if place + 1 < len(clause) else ""
        before = clause[place - 1].low if place else ""
        if low in {"want", "wants"} and following != "to":
            continue
        if low in {"planned", "plan", "plans"} and (before in _BE or following not in {"to", "on"}):
            continue
        return True
    return any(word.low == "may" and word.raw == "may" for word in clause)


def begins_at(clause: Clause) -> int:
    """Where the subject of a clause starts, behind what leads it."""
    return _lead(clause)[0]


def leading(clause: Clause) -> str:
    """What stands before the subject and narrows the clause."""
    return _lead(clause)[1]


def _lead(clause: Clause) -> tuple[int, str, str]:
    """Where the subject starts, what narrows the clause before it, and what says there that it changed."""
    lows = [word.low for word in clause]
    place = 0
    qualifier = marker = ""
    for _ in range(6):
        before = place
        while place < len(lows) and lows[place] in _SKIPPED:
            marker = "now" if lows[place] in words("change") else marker
            place += 1
        for opener in _OPENERS:
            if tuple(lows[place : place + len(opener)]) == opener:
                marker = "now" if opener[0] in {"from", "as", "these"} else marker
                place += len(opener)
        if place >= len(lows):
            break
        dated = _dated_until(lows, place)
        second = 0 if dated else _second_phrase(clause, place)
        if dated:
            if _recurs(lows[place:dated]):
                qualifier = _plain_words(lows[place + 1 : dated])
            place = dated
        elif second and lows[place] in _GROUNDS:
            marker = marker or "now"
            place = second
        elif second and lows[place] in _NARROWS:
            qualifier = _plain_words(lows[place:second])
            place = second
        elif _is_dated(lows[place]) and place + 1 < len(lows) and lows[place + 1] == ",":
            place += 2
        elif lows[place][:-1] in words("weekdays") and place + 1 < len(lows):
            # "Mondays we serve soup."
            qualifier, place = lows[place], place + 1
        if place == before:
            break
    return place, qualifier, marker


def _plain_words(lows: Sequence[str]) -> str:
    return " ".join(low for low in lows if low not in words("determiners") and low != ",")


def _dated_until(lows: Sequence[str], place: int) -> int:
    """Where a leading time ends: *in May*, *since last week*; 0 = there is none."""
    if lows[place] not in {"in", "on", "since", "from", "at", "during", "for", "starting"}:
        return 0
    end = place + 1
    while end < len(lows) and end - place < 6 and (_is_dated(lows[end]) or lows[end] in words("determiners")):
        end += 1
    while end > place and lows[end - 1] in words("determiners") - {"this", "that"}:
        end -= 1
    if end > place + 1 and end < len(lows) and lows[end] == ",":
        end += 1
    return end if end > place + 1 else 0


def _second_phrase(clause: Clause, place: int) -> int:
    """Where the subject begins behind a leading phrase: *since the frost patch | the driver*; 0 = nowhere."""
    limit = min(len(clause) - 1, place + 10)
    for position in range(place + 1, limit):
        low = clause[position].low
        if low == ",":
            return position + 1
        if position < place + 2:
            continue
        if low in words("auxiliaries"):
            return 0
        if low in {"i", "we", "he", "she", "they", "it"} or low in _STARTERS:
            return 0 if clause[position - 1].low in words("prepositions") else position
        named = clause[position].raw[0].isupper() and clause[position - 1].raw.islower()
        if named and clause[position - 1].low not in _SMALL:
            return position
    return 0


def _is_dated(low: str) -> bool:
    return (
        low in words("months")
        or low in words("days")
        or low.rstrip("s") in words("weekdays")
        or low[:1].isdigit()
        or low
        in {
            "next",
            "last",
            "this",
            "week",
            "month",
            "year",
            "weekend",
            "weekends",
            "weekdays",
            "now",
            "on",
            "of",
            "morning",
            "evening",
            "afternoon",
            "first",
        }
    )


def _recurs(phrase: Sequence[str]) -> bool:
    return phrase[0] in {"during", "for"} or any(
        low in words("temporary") or (low.endswith("s") and low[:-1] in words("weekdays")) for low in phrase
    )


def _verb_at(clause: Clause, start: int) -> tuple[int, tuple[Word, ...]] | None:
    """Where the verb stands, and the words of the subject."""
    auxiliaries, verbs = words("auxiliaries"), verb_bases()
    determiners = words("determiners")
    for place in range(start, min(len(clause), start + 12)):
        word = clause[place]
        low = word.low
        if word.quoted or not (low in auxiliaries or low in verbs):
            continue
        if place == start:
            # No subject: "Moved to Oslo in May." A base form is an order, and what ends in -ing a noun.
            if low.endswith("ing") or (
                word.raw[0].isupper() and clause[place + 1 : place + 2] and clause[place + 1].raw[0].isupper()
            ):
                continue
            if word.raw[0].islower() or (verbs.get(low) != low and low.endswith(("ed", "t"))):
                return place, ()
            return None
        before = clause[place - 1].low
        if low not in auxiliaries:
            # "my plans", "the new price", "Ana's works": a noun.
            if before in determiners - {"that", "this", "these", "those", "her"} or before in words(
                "adjectives"
            ):
                continue
            if before.endswith(("'s", "s'")) or before in words("prepositions"):
                continue
            plain = verbs[low] == low and low not in _SAME_IN_THE_PAST
            if plain and not _takes_base(clause[start:place]):
                continue
            if place + 1 < len(clause) and clause[place + 1].low in auxiliaries:
                continue
            if low.endswith("ing") or (low in verbs and word.raw[0].isupper()):
                continue
            if any(later.low in auxiliaries for later in clause[place + 1 : place + 3]) and low.endswith("s"):
                continue
        elif low in {"will", "may"} and word.raw[0].isupper():
            continue
        return place, clause[start : _subject_end(clause, start, place)]
    return _guessed_verb(clause, start)


def _subject_end(clause: Clause, start: int, place: int) -> int:
    while place > start and clause[place - 1].low in _BEFORE_VERB:
        place -= 1
    return place


def _guessed_verb(clause: Clause, start: int) -> tuple[int, tuple[Word, ...]] | None:
    """The same where the verb is none of the list: by its place and its ending."""
    if start >= len(clause):
        return None
    plural = clause[start].low in {"i", "we", "they", "you"}
    for place in range(start + 1, min(len(clause), start + 8)):
        word, before = clause[place], clause[place - 1].low
        low = word.low
        if low in _BEFORE_VERB and low != ",":
            continue
        if word.quoted or not low.isalpha() or not word.raw.islower() or low in _SMALL:
            if plural:
                return None
            continue
        if plural:
            return place, clause[start : _subject_end(clause, start, place)]
        if before in _DETERMINED or before.endswith("'s") or before in words("prepositions"):
            continue
        third = low.endswith("s") and not low.endswith(("ss", "us", "is")) and place + 1 < len(clause)
        if third or (low.endswith("ed") and len(low) > 4):
            return place, clause[start : _subject_end(clause, start, place)]
    return None


def _takes_base(subject: Sequence[Word]) -> bool:
    """Whether the verb of a subject is in the base form: *I*, *we*, *they*, a plural, two that are joined."""
    lows = [
        word.low for word in subject if word.low not in words("adverbs") and word.low not in {"no", "longer"}
    ]
    if not lows:
        return False
    if "and" in lows or lows[-1] in {"i", "we", "they", "you"}:
        return True
    return lows[-1].endswith("s") and not lows[-1].endswith(("ss", "'s", "us"))


def _verb_group(clause: Clause, place: int) -> tuple[str, bool, bool, bool, bool, int, str, bool] | None:
    """Verb, passive, past, negated, ended, where the rest starts, marker, coexists."""
    verbs, adverbs = verb_bases(), words("adverbs")
    passive = past = negated = ended = coexists = perfect = progressive = False
    marker = ""
    # Adverbs stand before the verb, too: "I no longer use".
    back = place
    while back and clause[back - 1].low in adverbs | {"no", "longer", "not", "never", "also"}:
        back -= 1
    end = min(len(clause), place + 9)
    be = have = False
    position = back
    while position < end:
        low = clause[position].low
        if low == "no" and position + 1 < end and clause[position + 1].low == "longer":
            negated = ended = True
            position += 2
            continue
        if low == "not" and be and any(word.low == "but" for word in clause[position + 2 :]):
            break
        if low in {"not", "never"}:
            negated = True
        elif low in words("coexist") - {"second"}:
            coexists = True
        elif low in words("change"):
            marker = "now"
        elif low == "again":
            marker = "back"
        elif low in adverbs:
            pass
        elif low in _MODALS:
            if low == "will" and position + 1 < end and clause[position + 1].low == "not":
                negated = ended = True
            elif low == "will":
                marker = marker or "will"
            elif low not in {"can", "could"}:
                return None
        elif low in _BE and not (low in {"got", "gets"} and not _participle(clause, position + 1)):
            be = True
            past = past or low in _PAST
        elif low == "had" and clause[position + 1 : position + 2] and clause[position + 1].low == "to":
            # "had to go": it went.
            past = True
            position += 1
        elif low in _HAVE and not have and not be:
            follows = _participle(clause, position + 1)
            if not follows and not _been(clause, position + 1):
                return "have", False, low == "had", negated, ended, position + 1, marker, coexists
            have = perfect = True
        elif low in {"do", "does", "did"} and (position + 1 < end):
            past = past or low == "did"
        elif low in verbs or position == place or ((be or have) and is_participle(low)):
            base = base_of(low)
            if low == "used" and position + 1 < end and clause[position + 1].low == "to":
                ended = True
                position += 2
                continue
            progressive = be and low.endswith("ing")
            if (
                be
                and not progressive
                and base == low
                and low in verbs
                and low not in {"set", "put", "cut", "run", "become"}
            ):
                # "is home", "is work": a noun.
                return "be", False, past and not perfect, negated, ended, position, marker, coexists
            passive = be and not progressive
            if perfect and not be:
                marker = marker or "done"
            if not passive and not be and not have and base != low and not low.endswith(("s", "ing")):
                past = True
            if low in _SAME_IN_THE_PAST - {"cost"} and not be and back == place:
                past = True
            if base == "go" and progressive and position + 1 < end and clause[position + 1].low == "to":
                return None
            if progressive and base in _PLANNED:
                return None
            if marker == "will":
                marker = "" if base != "be" else marker
                if not (
                    passive
                    or base
                    in {
                        "take",
                        "start",
                        "begin",
                        "happen",
                        "meet",
                        "open",
                        "close",
                        "land",
                        "arrive",
                        "leave",
                        "depart",
                        "cost",
                    }
                ):
                    return None
            return base, passive, past and not perfect, negated, ended, position + 1, marker, coexists
        else:
            break
        position += 1
    if not be and clause[place].low in {"do", "does"} and place + 1 < len(clause):
        return "do", False, False, negated, ended, position, marker, coexists
    if be:
        if marker == "will":
            marker = ""
        return "be", False, past, negated, ended, position, marker, coexists
    return None


def is_participle(low: str) -> bool:
    """Whether a word that is no verb of the list looks like a participle."""
    return low.endswith("ed") and len(low) > _SHORTEST_PARTICIPLE and low.isalpha()


def _participle(clause: Clause, place: int) -> bool:
    """Whether a participle follows, adverbs between."""
    verbs = verb_bases()
    skipped = words("adverbs") | {"not", "never", "also", "been", "no", "longer"}
    while place < len(clause) and clause[place].low in skipped:
        place += 1
    if place >= len(clause):
        return False
    low = clause[place].low
    if is_participle(low) and low not in verbs:
        return True
    return (
        low in verbs
        and (verbs[low] != low or low in _SAME_IN_THE_PAST | {"become", "run"})
        and not (low.endswith("ing") or (low.endswith("s") and not low.endswith("ss")))
    )


def _been(clause: Clause, place: int) -> bool:
    while place < len(clause) and clause[place].low in words("adverbs") | {"not"}:
        place += 1
    return place < len(clause) and clause[place].low in {"been", "got"}


def _subjects(found: tuple[Word, ...], context: Context, *, first: bool) -> tuple[str, ...] | None:
    lows = [word.low for word in found]
    if "," in lows:
        found = found[: lows.index(",")]
        lows = [word.low for word in found]
    if not found:
        subject = context.subject or (context.speaker if first else "")
        return (subject,) if subject else None
    if lows[0] in words("prepositions"):
        return None
    if not (lows == ["it"] and context.thing) and context.subject == context.speaker:
        # Who says "I" is no "she", and nobody is an "it".
        others = words("pronouns") | {"his", "her", "its", "their"} if context.says_i else {"it", "its"}
        if lows[0] in others:
            return None
    if "and" in lows[1:-1] and not {"of", "for"} & set(lows):
        place = lows.index("and")
        parts = [
            fold_subject(part, context.speaker, context.subject)
            for part in (found[:place], found[place + 1 :])
        ]
        if any(part is None for part in parts):
            return None
        return tuple(part for part in parts if part)
    if any(word.low in words("former") and word.raw.islower() for word in found) and len(lows) > 1:
        return None
    stands_for = context.thing if lows == ["it"] and context.thing else context.subject
    one = fold_subject(found, context.speaker, stands_for)
    return None if one is None else (one,)


def _is_definite(found: Sequence[Word]) -> bool:
    if not found:
        return True
    first = found[0]
    if first.low in {"a", "an", "some", "any"}:
        return False
    if first.low in words("determiners") or first.low in words("pronouns") or first.low in {"i", "we"}:
        return True
    return (
        any(word.low.endswith(("'s", "s'")) for word in found)
        or any(word.raw[0].isupper() for word in found[1:])
        or (len(found) == 1 and first.raw[0].isupper())
    )
