"""Whether a later text states another value of the same attribute of the same subject.

A text that tells of a change, about what an earlier one states: *gave the choir over to Marek*.

Where no rule reads what became of it: the later text has a word of change, it is about the same subject, and
it takes up what the earlier one says. Never a sure change: the newer text is only the newer one. Linear.

Two sentences of the same words but for one slot: *opens on Mondays*, *opens on Tuesdays*.

Never a sure change: it says which of two near-equal sentences is the newer one. The slot stands behind the
verb, both fillers are of one sort, and the verb is one that has one object at a time, as far as a list of the
others knows. Linear in the words.

Three ways, the surest first: what the later text itself says it replaces or ends; one subject and one
attribute that has a value at a time; two sentences that differ in one slot, where the frame says that the
slot holds one value at a time. What coexists is no change: other qualifiers, *also*, events, likings of
different things.
"""

from __future__ import annotations

import re
from functools import lru_cache, partial
from itertools import pairwise
from typing import TYPE_CHECKING

from simonides.text.statements.objects import Change
from simonides.text.statements.predicate import begins_at, is_unsure, leading
from simonides.text.statements.reading import fold_speaker, read_statements, says_one_thing, subjects_of
from simonides.text.statements.words import (
    LONGEST,
    USER,
    base_of,
    fold_value,
    fold_word,
    kind_of,
    read_words,
    same_value,
    stem,
    verb_bases,
    words,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from simonides.text.statements.objects import Statement
    from simonides.text.statements.words import Word


TOLD_CHANGE = Change("told change", sure=False)
_LIGHT = words("light") | {""}
_HALF = 0.5


def told_change(before: Sequence[Statement], later: str, speaker: str | None) -> Change | None:
    """The change, if a text takes up what an earlier one states with a word of change.

    Args:
        before: statements of the earlier text.
        later: the later text.
        speaker: who says the later one; ``None`` = the user.
    """
    told = _told(later)
    if not (before and told):
        return None
    subjects = subjects_of(later, speaker)
    for old in before:
        if old.ended or old.marker == "also" or not _is_about(old, subjects):
            continue
        parts = [*old.value.split(" "), *old.attribute.split(" ")]
        content = {stem(part) for part in parts if part not in _LIGHT and part not in words("determiners")}
        shared = content & told
        whole = {stem(part) for part in old.value.split(" ") if part not in _LIGHT}
        enough = bool(shared) if old.subject != USER else len(shared) >= _HALF * len(content)
        if shared and (enough or whole <= shared):
            return TOLD_CHANGE
    return None


def tells_change(text: str) -> bool:
    """Whether a text has a word of change, and neither denies, asks nor adds."""
    return bool(_told(text))


def takes_up(earlier: str, later: str, speaker: str | None, other: str | None) -> bool:
    """Whether a later text speaks of whom an earlier one speaks of, or tells what became of whom it names.

    Args:
        earlier: a text.
        later: another one.
        speaker: who says the earlier one; ``None`` = the user.
        other: the same of the later one.
    """
    before, after = subjects_of(earlier, speaker), subjects_of(later, other)
    told, names = _lows(later), _names_in(earlier)
    if before & after or any(one != USER and told.issuperset(one.split(" ")) for one in before):
        return True
    if names.isdisjoint(told):
        return False
    if USER in after:
        # "I switched from Brightwell": of whatever I have of theirs, not of what somebody else has.
        return not any(names.intersection(one.split(" ")) for one in before)
    # "Nightheron merged".
    return not told.isdisjoint(words("endings")) and any(
        _lows(earlier).issuperset(one.split(" ")) for one in after
    )


def other_counts(earlier: str, later: str) -> bool:
    """Whether two texts state numbers, each one that the other does not."""
    mine, theirs = _numbers(earlier), _numbers(later)
    return bool(mine - theirs and theirs - mine)


@lru_cache(maxsize=4096)
def _lows(text: str) -> frozenset[str]:
    return frozenset(word.low.removesuffix("'s") for word in read_words(text))


def _names_in(text: str) -> frozenset[str]:
    return frozenset(
        word.low.removesuffix("'s") for word in read_words(text)[1:] if word.raw[0].isupper() and word.raw[1:]
    )


def _numbers(text: str) -> frozenset[str]:
    counting = words("numbers") | words("tens")
    return frozenset(low for low in _lows(text) if low[:1].isdigit() or low.partition("-")[0] in counting)


@lru_cache(maxsize=4096)
def _told(text: str) -> frozenset[str]:
    """Stems of a text that has a word of change; none where it denies, asks or adds."""
    found = {word.low for word in read_words(text)}
    if not found.isdisjoint({"not", "never", "no", "?", "also", "too", "until"}) or found.isdisjoint(
        words("cues")
    ):
        return frozenset()
    return frozenset(stem(form) for low in found for form in (low, base_of(low)))


def _is_about(old: Statement, subjects: Collection[str]) -> bool:
    if old.subject in subjects:
        return True
    # "Elke improved her best time": of whom the thing is.
    return old.subject != USER and any(
        each != USER and (old.subject.startswith(f"{each} ") or each.startswith(f"{old.subject} "))
        for each in subjects
    )


ONE_SLOT = Change("one slot", sure=False)
_LONGEST_SLOT = 5
_SHORTEST_FRAME = 2
_TYPED = frozenset({"money", "number", "version", "code", "address", "date"})
_MARKS = frozenset({".", ",", "!", ";", ":"})
_GROUNDS = frozenset({"since", "because", "as", "thanks", "after", "due", "although", "which", "who", "so"})
_TEMPORARY = words("passing")
_ATTITUDES = frozenset({"like", "love", "enjoy", "adore", "hate", "dislike", "detest", "prefer", "be"})


def one_slot(earlier: str, later: str) -> Change | None:
    """The change, if two texts differ in one slot that holds one thing at a time."""
    if max(len(earlier), len(later)) > LONGEST:
        return None
    before, after = _frame(earlier), _frame(later)
    if before is None or after is None:
        return None
    start = 0
    shortest = min(len(before), len(after))
    while start < shortest and _same(before[start], after[start]):
        start += 1
    end = 0
    while end < shortest - start and _same(before[-1 - end], after[-1 - end]):
        end += 1
    mine, theirs = before[start : len(before) - end], after[start : len(after) - end]
    if not (0 < len(mine) <= _LONGEST_SLOT and 0 < len(theirs) <= _LONGEST_SLOT) or start < _SHORTEST_FRAME:
        return None
    if leading(read_words(earlier)) != leading(read_words(later)) or not _holds_one(
        after[:start], mine, theirs, after[len(after) - end :]
    ):
        return None
    return ONE_SLOT


@lru_cache(maxsize=4096)
def _frame(text: str) -> tuple[Word, ...] | None:
    """The words of a statement without what leads it and without its grounds."""
    found = [word for word in read_words(text) if word.low not in words("change")]
    if any(word.low == "?" for word in found) or is_unsure(tuple(found)):
        return None
    found = found[begins_at(tuple(found)) :]
    for place, word in enumerate(found):
        if place and word.low in _GROUNDS:
            found = found[:place]
            break
    while found and found[-1].low in _MARKS:
        found.pop()
    # A second sentence says more than one thing.
    return None if any(word.low in {".", ";", "!"} for word in found) else tuple(found)


def _same(one: Word, other: Word) -> bool:
    return fold_word(one.low) == fold_word(other.low)


def _holds_one(
    frame: Sequence[Word], mine: Sequence[Word], theirs: Sequence[Word], behind: Sequence[Word]
) -> bool:
    lows = [word.low for word in frame]
    if mine[0].low in words("prepositions") and theirs[0].low in words("prepositions"):
        # "on cards", "with barcodes".
        mine, theirs = mine[1:], theirs[1:]
        if not (mine and theirs):
            return False
    for filler in (mine, theirs):
        if any(word.low in _TEMPORARY or word.low in words("temporary") for word in filler):
            return False
        # A verb or a further phrase: more than one slot.
        if any(
            (word.low in words("auxiliaries") and word.raw.islower()) or word.low == ":" for word in filler
        ) or any(
            word.low in words("prepositions") or (word.low in verb_bases() and word.raw.islower())
            for word in filler[1:]
        ):
            return False
    if any(low.endswith("ed") and before not in words("auxiliaries") for before, low in pairwise(lows)):
        return False
    kinds = kind_of(mine), kind_of(theirs)
    if kinds[0] != kinds[1] or "time" in kinds or (lows[-1] == "at" and kinds[0] == "version"):
        return False
    if same_value(fold_value(mine, kinds[0]), fold_value(theirs, kinds[1])):
        return False
    if lows[0] in {"a", "an", "some", "one"} or "can" in lows or "not" in lows:
        return False
    if kinds[0] in {"name", "words"} and any(low in words("several") for low in lows):
        return False
    if not set(lows).isdisjoint({"was", "were", "had", "did"}):
        return False
    helpers = [at for at in range(1, len(lows)) if lows[at] in words("auxiliaries")]
    others = [at for at in range(1, len(lows)) if lows[at] in verb_bases()]
    place = (helpers or others or [0])[0]
    if not place:
        # The verb is none of the list: a slot at the end of a longer frame.
        return len(lows) > _SHORTEST_FRAME
    verb = lows[place]
    base = base_of(verb)
    passive = verb in {"is", "are"} and place + 1 < len(lows)
    participle = lows[place + 1] if passive else ""
    if participle.endswith("ed") or verb_bases().get(participle, participle) != participle:
        return base_of(participle) not in words("manifold")
    if verb in words("auxiliaries"):
        return kinds[0] in _TYPED and verb in {"is", "are", "am", "has", "have"}
    if base != verb and not verb.endswith("s"):
        return False
    if base in words("manifold") or base in _ATTITUDES:
        counted = len(mine) == len(theirs) == 1 and not (behind and behind[0].low in words("months"))
        return kinds[0] in _TYPED and base not in _ATTITUDES and counted
    return True


_APPOSED = re.compile(r"\b(?:[Mm]y|[Oo]ur) (\w+),? (?=[A-Z]\w)")
_RELATED = words("people") | {"dog", "cat", "pet"}
_SCHEDULED = frozenset(
    {"when", "deadline", "place", "leave", "land", "arrive", "open", "close", "end", "start"}
)
_CHANGED = frozenset({"moved", "renamed", "correction", "back", "now", "new", "left"})
_ONE_SORT = frozenset({"time", "date", "money", "number", "version", "floor", "address"})


def compare_statements(
    earlier: str, later: str, *, earlier_speaker: str | None = None, later_speaker: str | None = None
) -> Change | None:
    """What the later of two texts changes about the earlier one; ``None`` where both may be true.

    Args:
        earlier: text that was true first.
        later: text that was true later.
        earlier_speaker: who says it; ``None`` = the user.
        later_speaker: the same of the later one.
    """
    if earlier == later:
        return None
    after = read_statements(later, later_speaker)
    before = read_statements(earlier, earlier_speaker)
    change = compare_texts(before, after, alone=says_one_thing(earlier)) if before and after else None
    if change is None and _one_speaker(earlier_speaker, later_speaker):
        decided = any(
            new.single_valued
            and old.single_valued
            and (new.subject, new.attribute) == (old.subject, old.attribute)
            for new in after
            for old in before
        )
        negated = decided or any(
            one.ended or one.marker == "also" or one.qualifier == "today" for one in (*before, *after)
        )
        if negated:
            return None
        again = partial(compare_statements, earlier_speaker=earlier_speaker, later_speaker=later_speaker)
        return (
            one_slot(earlier, later)
            or told_change(before, later, later_speaker)
            or compare_by_one_name(earlier, later, again)
        )
    return change


def compare_by_one_name(
    earlier: str, later: str, compare: Callable[[str, str], Change | None]
) -> Change | None:
    """What *compare* finds where one text names "my sister Ada" and the other "Ada"; else ``None``.

    That both mean the same Ada is likely, not sure.
    """
    pair = (_by_name(earlier), _by_name(later))
    if (pair[0] == earlier) == (pair[1] == later):
        return None
    found = compare(*pair)
    return Change(found.rule, sure=False) if found else None


@lru_cache(maxsize=4096)
def _by_name(text: str) -> str:
    return _APPOSED.sub(lambda found: "" if found[1].lower() in _RELATED else found[0], text)


def _one_speaker(earlier: str | None, later: str | None) -> bool:
    return fold_speaker(earlier) == fold_speaker(later)


def compare_texts(before: Sequence[Statement], after: Sequence[Statement], *, alone: bool) -> Change | None:
    """The same of what two texts state.

    Args:
        before: of the earlier text.
        after: of the later one.
        alone: the earlier text says nothing else; what says more is never surely over.
    """
    found: Change | None = None
    for new in after:
        for old in before:
            change = compare(old, new)
            if change is not None and change.sure and not alone:
                change = Change(change.rule, sure=False)
            if change is not None and (found is None or change.sure):
                found = change
            if found is not None and found.sure:
                return found
    return found


def compare(old: Statement, new: Statement) -> Change | None:
    """What a later statement changes about an earlier one."""
    if new.marker == "also" or old.marker == "also":
        return None
    if new.ended:
        return _ends(old, new)
    if old.ended:
        return _resumes(old, new)
    replaced = _replaces(old, new)
    if replaced is not None:
        return replaced
    if not _one_subject(old, new):
        return None
    if new.attribute.startswith("attitude"):
        opposite = (
            old.attribute == new.attribute and old.value != new.value and old.qualifier == new.qualifier
        )
        return Change("opposite", sure=new.marker in _CHANGED) if opposite else None
    if old.qualifier != new.qualifier:
        return None
    if not _one_attribute(old, new) or _one_value(old, new) or _parts_from_another(old, new):
        return None
    if not _one_sort(old, new):
        return None
    if new.single_valued and (old.single_valued or new.attribute.startswith(("role", "want ", "prefer"))):
        marked = new.marker in _CHANGED
        either = marked and new.marker != "new" and new.attribute != "role" and (new.sure or old.sure)
        sure = (old.sure and new.sure) or either
        # "house number 5", "build 7": the number tells one of several from the others.
        sure = sure and (marked or all(_counts_first(one) for one in (old, new)))
        return Change("same attribute", sure=sure)
    if new.marker not in _CHANGED or new.marker == "new" or old.attribute != new.attribute:
        return None
    # What one may have several of, said to be so now: the newer goes first, and nothing ends.
    verb = new.attribute.split(" ")[0]
    if (
        new.qualifier
        or (verb not in words("manifold") and verb not in {"be", "have"})
        or new.marker == "correction"
    ):
        return Change("same attribute, now", sure=False)
    return None


def _one_subject(old: Statement, new: Statement) -> bool:
    if old.subject == new.subject:
        return True
    if new.marker == "correction" and old.subject and new.subject:
        mine, theirs = set(old.subject.split(" ")), set(new.subject.split(" "))
        return mine <= theirs or theirs <= mine
    return False


def _parts_from_another(old: Statement, new: Statement) -> bool:
    """Whether somebody who is with one person is said to have parted from another one."""
    if new.attribute != "marital status" or not new.value.startswith(("divorced ", "separated ")):
        return False
    other = old.value.partition(" ")[2]
    return bool(other) and not same_value(other, new.value.partition(" ")[2])


def _one_value(old: Statement, new: Statement) -> bool:
    # A deputy manager is no manager.
    return old.value == new.value if new.attribute == "role" else same_value(old.value, new.value)


def _one_attribute(old: Statement, new: Statement) -> bool:
    if old.attribute == new.attribute:
        return bool(old.attribute) or (
            old.kind == new.kind and new.subject != USER and new.marker in _CHANGED
        )
    if not old.attribute and old.marker in _CHANGED and old.subject != USER:
        return old.kind == new.kind and old.kind in _ONE_SORT
    if new.attribute or new.marker not in _CHANGED:
        return False
    if new.subject == USER:
        return False
    # "was moved to Friday": of whatever the thing has that is such a value.
    if old.kind in _ONE_SORT:
        return old.kind == new.kind and old.single_valued
    return old.single_valued and new.kind not in _ONE_SORT and old.attribute not in {"be", "name"}


def _one_sort(old: Statement, new: Statement) -> bool:
    """Whether two values are of one sort, so that one can stand in place of the other."""
    if "number" in {old.kind, new.kind} and _unit(old.value) != _unit(new.value):
        return False
    if old.attribute == "residence" or new.attribute == "residence":
        return _one_grain(old, new)
    if {old.kind, new.kind} <= _ONE_SORT:
        return old.kind == new.kind or {old.kind, new.kind} <= {"money", "number"}
    if new.attribute == "place" and new.marker not in _CHANGED:
        return old.kind == new.kind and _one_grain(old, new)
    if new.attribute in {"when", "be", "deadline", "status"}:
        return old.kind == new.kind
    if "floor" in {old.kind, new.kind}:
        return old.kind == new.kind
    return True


def _counts_first(one: Statement) -> bool:
    return one.kind != "number" or one.value[:1].isdigit()


def _unit(value: str) -> str:
    """What a number measures: 2 km and 2000 m cannot be compared."""
    return next((part for part in value.split(" ") if part in words("units")), "")


def _one_grain(old: Statement, new: Statement) -> bool:
    """A country and a city are both true of one home, and so are a street and its town."""
    mine, theirs = _grain(old.value), _grain(new.value)
    if mine == theirs:
        return True
    return new.marker in {"moved", "back"} and mine == "street" and theirs == "town"


def _grain(value: str) -> str:
    parts = value.split(" ")
    if set(parts) & words("countries"):
        return "country"
    if parts[0][:1].isdigit() or parts[-1] in words("grains"):
        return "street"
    return "town"


def _ends(old: Statement, new: Statement) -> Change | None:
    """*no longer*, *stopped*, *left*, *cancelled*."""
    if old.ended:
        return None
    if not (_one_subject(old, new) or _names(old, new)):
        # "I closed the Kestrel account": the account that is with Kestrel, if it is mine.
        thing = new.subject == USER and not new.attribute and old.subject in new.value.split(" ")
        return Change("ended", sure=False) if thing and _holds(old, new.value) else None
    if old.attribute.startswith("attitude") or new.attribute.startswith("attitude"):
        return None
    if new.qualifier and new.qualifier != old.qualifier:
        return None
    partners = new.attribute == "partner" and old.attribute in words("partners")
    if {old.attribute, new.attribute} <= words("using") and new.value == old.value:
        # Who needs no crutches uses none.
        return Change("ended", sure=new.attribute == old.attribute and new.marker != "not")
    if new.attribute and not (partners or f"{old.attribute} ".startswith(f"{new.attribute} ")):
        return None
    if new.marker == "gone" and not (_names(old, new) or old.attribute.split(" ")[0] in words("having")):
        return None
    if not new.value:
        if new.attribute:
            # Who retires is a nurse no more; what else somebody is may stay.
            return Change("ended", sure=new.marker != "not" and (new.attribute != "role" or old.sure))
        return Change("ended", sure=new.marker != "not") if old.attribute in _SCHEDULED else None
    if _holds(old, new.value):
        return Change("ended", sure=new.marker != "not")
    if old.qualifier and _holds(old, new.value, old.qualifier):
        return Change("ended", sure=False)
    return None


def _names(old: Statement, new: Statement) -> bool:
    """Whether what ended is what the earlier statement is about: *gave up the flat*, Jorunn's flat."""
    if not new.value or new.attribute:
        return False
    if old.subject == new.value and old.value == new.subject:
        return True
    owner = "" if new.subject == USER else f"{new.subject} "
    return old.subject == f"{owner}{new.value}" or f"{old.subject} {old.attribute}" == f"{owner}{new.value}"


def _holds(old: Statement, value: str, more: str = "") -> bool:
    """Whether an earlier statement is about *value*: it is its value, its verb or its thing."""
    wanted = [stem(part) for part in value.split(" ")]
    held = {stem(part) for part in f"{old.subject} {old.attribute} {old.value} {more}".split(" ")}
    return bool(wanted) and all(part in held for part in wanted)


def _resumes(old: Statement, new: Statement) -> Change | None:
    """*Sunna is vegan again* after *Sunna is not vegan any more*."""
    if not _one_subject(old, new) or old.attribute != new.attribute or old.qualifier != new.qualifier:
        return None
    if old.value and not (same_value(old.value, new.value) or _holds(new, old.value)):
        return None
    return Change("resumed", sure=new.marker in {"back", "now"})


def _replaces(old: Statement, new: Statement) -> Change | None:
    """*from X to Y*, *not X but Y*, *renamed*, *replaced X*."""
    if new.attribute == "name" and old.attribute == "name" and _ends_with(new.subject, old.value):
        return Change("renamed", sure=True)
    if not new.old_value:
        return None
    told = new.old_value
    subject = _one_subject(old, new) or not new.subject or new.subject == USER or _shares(old, new)
    if not subject:
        return None
    if same_value(old.value, told) or told in old.value.split(" ") or _within(told, old.value):
        if (
            new.attribute
            and old.attribute
            and new.attribute != old.attribute
            and new.marker not in {"renamed", "moved"}
        ):
            return None
        return Change(
            "replaced", sure=_one_subject(old, new) or bool(new.attribute and new.attribute == old.attribute)
        )
    return None


def _within(part: str, whole: str) -> bool:
    return len(part) > 3 and part in whole


def _shares(old: Statement, new: Statement) -> bool:
    mine, theirs = set(old.subject.split(" ")), set(new.subject.split(" "))
    return bool(mine) and (mine <= theirs or theirs <= mine)


def _ends_with(longer: str, shorter: str) -> bool:
    return longer == shorter or longer.endswith(f" {shorter}")
