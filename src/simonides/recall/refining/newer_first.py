"""Puts the newer of two statements before the older one, also by words that say of a change."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from simonides.errors import InputError
from simonides.protocols import Refined
from simonides.recall.refining.pool import first_recorded
from simonides.records.interval import FOREVER
from simonides.records.kind import Utterance, role_by_trust
from simonides.records.recall import EARLIER
from simonides.text.speech import to_first_person, unlabelled
from simonides.text.statements.comparing import (
    ONE_SLOT,
    TOLD_CHANGE,
    compare_by_one_name,
    compare_statements,
    compare_texts,
    other_counts,
    takes_up,
    tells_change,
)
from simonides.text.statements.objects import Change
from simonides.text.statements.reading import read_statements, says_from_when, says_one_thing
from simonides.text.statements.words import DAY_OR_MONTH, LONGEST

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from simonides.protocols import Analyser, Tools, View
    from simonides.records.candidate import Candidate
    from simonides.records.query import Query


_MOVES = (
    r"moved|moves? (?:from|to|me|us|him|her|it|them|the|my|our)|changed|rescheduled|postponed|delayed|shifted"
    r"|slip(?:s|ped)|brought forward|put off|pushed back|cancel+ed|instead"
)
_SHIFTS = re.compile(rf"\b(?:{_MOVES})\b", re.IGNORECASE)
_SAYS_SO = re.compile(
    rf"\b(?:{_MOVES}|switched|swapped|upgraded|downgraded|updated|renamed|replaced"
    r"|(?:went|gone|go|goes) (?:up|down)|rose|raised|dropped|no longer|any ?more|from now on"
    r"|now|these days|nowadays|(?:got|has) a new|returned to|settled|doubled|halved|traded"
    r"|correct(?:ed|ion)|wrong|mistaken|since then|meanwhile|back to)\b",
    re.IGNORECASE,
)
_WHEN = re.compile(
    rf"\b(?:\d\d?[:.]\d\d|\d{{4}}-\d\d-\d\d|noon|o'clock|today|tomorrow|{DAY_OR_MONTH})\b",
    re.IGNORECASE,
)
_UNREAL = re.compile(
    r"\b(?:dreams?|dreamed|wish(?:es|ed)?|hopes?|hoped|would(?! rather)|could|might|may|wants?|wanted"
    r"|consider(?:s|ed|ing)?|turned down|decided against|if|almost|nearly"
    r"|(?<!was )(?<!were )(?<!been )(?:rejected|declined|refused)"
    r"|thought about|thinks? about|thinking|plans?(?= (?:to|on|an?|for)\b)|planned|planning"
    r"|someday|one day|offered)\b"
)
_OTHERS = re.compile(
    r"\b(?:brother|sister|mother|father|mum|mom|dad|son|daughter|wife|husband|partner|cousin|uncle|aunt|friend"
    r"|neighbour|neighbor|colleague|boss|flatmate|roommate|girlfriend|boyfriend|parents?|grand\w+)(?:'s|s)?\b",
    re.IGNORECASE,
)
# What may be a name: a word inside a sentence, or after a title.
_INSIDE = re.compile(
    r"(?:(?<=[\w,;:] )|(?<=M[rs]\. )|(?<=Dr\. )|(?<=Mrs\. )|(?<=Prof\. ))(?!(?:M[rs]|Dr|Mrs|Prof)\.)\w+"
)
_SHARED_WORDS, _SHARE = 2, 1 / 4
_LONGEST = 200


@dataclass(frozen=True)
class ChangeWords:
    """A text as it is compared; each part is read when it is first asked for, since few pairs need them all.

    Attributes:
        text: without a label of its speaker.
        speaker: who says it, folded; empty = the caller.
        assistant: whether an assistant does.
    """

    text: str
    speaker: str
    assistant: bool
    analyser: Analyser

    @cached_property
    def words(self) -> frozenset[str]:
        """Its terms but for stop-words, days and times."""
        return frozenset(self.analyser.query_terms(_WHEN.sub(" ", self.text)))

    @cached_property
    def names(self) -> frozenset[str]:
        """Those in it, without days and months."""
        return frozenset(
            word
            for word in _INSIDE.findall(self.text)
            if word[0].isupper() and len(word) > 1 and not _WHEN.match(word)
        )

    @cached_property
    def when(self) -> frozenset[str]:
        """The days and times that it says."""
        return frozenset(found[0].lower() for found in _WHEN.finditer(self.text))

    @cached_property
    def values(self) -> frozenset[str]:
        """Names, words with a digit, days and times, folded."""
        numbers = {word for word in self.words if any(map(str.isdigit, word))}
        return frozenset(name.casefold() for name in self.names) | numbers | self.when

    @cached_property
    def says_so(self) -> bool:
        """Whether it says that something changed."""
        return bool(_SAYS_SO.search(self.text))

    @cached_property
    def shifts(self) -> bool:
        """Whether it says that a day or a time may have changed."""
        return bool(_SHIFTS.search(self.text))

    @property
    def short(self) -> bool:
        """Whether it is short enough to be about one thing."""
        return len(self.text) <= _LONGEST and "\n" not in self.text

    @cached_property
    def unreal(self) -> bool:
        """Whether it tells of a wish, a plan or what did not come about."""
        return bool(_UNREAL.search(self.text))

    @cached_property
    def others(self) -> frozenset[str]:
        """Those who stand in some relation to somebody ("my brother")."""
        return frozenset(found[0].lower() for found in _OTHERS.finditer(self.text))


def says_changed(old: ChangeWords, new: ChangeWords, asked: frozenset[str]) -> bool:
    """Whether a text says that something changed ("moved", "instead", "now") about what another text tells.

    It is about the same if both are of one speaker or one is an assistant's, if they share a name where both
    have one, a word of the query where the other has one, and two words and a quarter of the longer one's, or
    one word where both say when and the later one says that something was moved. Both have a value, and the
    later one has one for itself: a number, a name, a day or a time. A text of more than 200 characters tells
    many things, and which of them changed is not seen.
    Only for order: what changed, and whether the other text is no longer so, is not known.

    Args:
        old: of a text that was true first.
        new: of a text that was true later.
        asked: terms of the query.
    """
    if not (new.says_so and new.short and old.short) or not (
        old.speaker == new.speaker or old.assistant or new.assistant
    ):
        return False
    shared = old.words & new.words
    if old.words & asked and not shared & asked:
        return False
    if old.names and new.names and not old.names & new.names:
        return False
    if not (old.values and new.values - old.values):
        return False
    if shared and old.when and new.when and new.shifts:
        return True
    # "e10" is read as "e10" and "10": one word.
    whole = [word for word in shared if not any(word != other and word in other for other in shared)]
    return len(whole) >= _SHARED_WORDS and share_words(old, new)


def share_words(old: ChangeWords, new: ChangeWords) -> bool:
    """Whether two texts share a quarter of the words of the longer one."""
    return len(old.words & new.words) >= _SHARE * max(len(old.words), len(new.words))


def shares_of_shorter(old: ChangeWords, new: ChangeWords) -> float:
    """Which share of the words of the shorter of two short texts both hold; 0 where one is long."""
    if not (new.short and old.short and old.speaker == new.speaker and old.others == new.others):
        return 0.0
    return len(old.words & new.words) / max(1, min(len(old.words), len(new.words)))


def other_numbers(old: ChangeWords, new: ChangeWords) -> bool:
    """Whether both texts hold words with digits, and each one that the other has not."""
    mine, theirs = ({v for v in words.values if any(map(str.isdigit, v))} for words in (new, old))
    return bool(mine - theirs and theirs - mine)


SIGNAL = "newer_first"

SAYS_SO = Change("it says that something changed", sure=False)
ALIKE = Change("it is newer and tells of the same", sure=False)
_MARKS_NOTHING = frozenset({SAYS_SO.rule, ALIKE.rule, ONE_SLOT.rule, TOLD_CHANGE.rule})
"""Rules that say which of two is newer, but not that the older one is over."""
_MINUTE = 60_000_000
_STATES = frozenset({int(Utterance.STATEMENT), int(Utterance.ASSISTANT)})


@dataclass(frozen=True, slots=True)
class NewerFirst:
    """Moves the newer of two statements of one attribute directly before the older one, and marks the older.

        a row states another value than an older row   (``text.statements``; where that is not sure, only if
        both are short, or share a quarter of their words: long texts tell many things)
            ⇒ it comes directly before that row, if it came behind it; the older row is marked ``earlier``
            where
              the change is sure, or both state a value of one attribute, and the newer row says that
              something changed or other numbers stand in the two
        a row says that something changed, about what an older row tells   (``words_of_change``)
            ⇒ the same, but nothing is marked: what changed is not sure
        a row tells of the same as an older row (it says that something became otherwise with whom that speaks
        of, and is near to it; or holds a third of the words of the shorter one, or one word and has a
        high cosine, and holds as many words of the query or is about as near to it by cosine, is valid from a
        minute later or more, and has a score that is not far below
            ⇒ the same: both answer alike, and the newer one is the better guess

    The last rule, and hints that a value changed, are for statements that are kept one by one. Turns of a
    conversation tell of the same again and again, and the newer one is no better an answer: with these rules
    for them, too, nDCG@10 of LoCoMo is 0.6348 instead of 0.6430.

    Where a change is sure when it is written, the older statement ends, and no recall of today sees it. Of
    all others both are returned, and their words are so alike that chance decides which one leads. Newer is
    what is valid from a later time; at the same time, what was recorded later; then what was stored later.
    What is less trusted changes nothing that is trusted more. Only what the asker sees is compared, as of the
    time that is asked about. Nothing else moves; scores stay as they are.
    Cost: at most *most* texts, each read once: about 0.1 ms each. Weakness: a newer value that the channels
    put beyond the first rows does not lead.

    Attributes:
        most: so many of the first rows are compared, from 2.
        alike: share of the words of the shorter of two texts from which they tell of the same, above 0 to 1.
        score_share: share of the older one's score that the newer one must have for that, 0 to 1.
        cosines: by embedder, the cosine of two texts from which they tell of the same, -1 to 1; with others,
            or none, words decide.
        cosine_said: so much less suffices where the newer one says that something changed and holds as many
            words of the query, 0 to 2.
        query_cosine: so much lower may the newer one's cosine with the query be where it holds fewer of its
            words, 0 to 2.
        cosine_subject, query_subject: the same two of a row that says that something became otherwise with
            what the older one tells of, 0 to 2.
    """

    most: int
    alike: float
    score_share: float
    cosines: Mapping[str, float]
    cosine_said: float
    query_cosine: float
    cosine_subject: float
    query_subject: float

    def __post_init__(self) -> None:
        if self.most < 2:
            raise InputError("most", f"{self.most} is below 2; to drop the stage, leave it out")
        if not 0 < self.alike <= 1:
            raise InputError("alike", f"{self.alike} is not above 0 and at most 1; 0.34 is usual")
        if not 0 <= self.score_share <= 1:
            raise InputError("score_share", f"{self.score_share} is not from 0 to 1; 0.3 is usual")
        for name, cosine in self.cosines.items():
            if not -1 <= cosine <= 1:
                raise InputError(f"cosines.{name}", f"{cosine} is not from -1 to 1; 0.55 is usual")
        for name in ("cosine_said", "query_cosine", "cosine_subject", "query_subject"):
            if not 0 <= getattr(self, name) <= 2:
                raise InputError(name, f"{getattr(self, name)} is not from 0 to 2")

    def refine(self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools) -> Refined:
        """The same pool; what was moved has the signal ``newer_first``, what it changes ``earlier``."""
        read = _read(view, pool[: self.most], tools.analyser, query.as_of)
        near = self._near(view, query, [row.ordinal for row in read if not row.turn], tools)
        changes = self._changes(read, near, frozenset(term for term, _ in query.terms))
        if not changes:
            return Refined(pool)
        place = {candidate.ordinal: n for n, candidate in enumerate(pool)}
        notes = _notes(changes, place)
        leads = {new for (old, new) in changes if place[new] > place[old]}
        words = {row.ordinal: row.words for row in read}
        earlier = {
            old
            for (old, new), change in changes.items()
            if change.rule not in _MARKS_NOTHING
            and (change.sure or words[new].says_so or other_numbers(words[old], words[new]))
        }
        ordered = []
        for candidate in _newer_before_older(pool, changes, place):
            signals = {
                name: 1.0 for name, rows in ((SIGNAL, leads), (EARLIER, earlier)) if candidate.ordinal in rows
            }
            ordered.append(
                candidate.with_signals(candidate.score, candidate.scored_by, signals)
                if signals
                else candidate
            )
        return Refined(tuple(ordered), notes=notes)

    def _near(self, view: View, query: Query, rows: Sequence[int], tools: Tools) -> _Cosines | None:
        """The cosines of rows that are no turns; ``None`` where the embedder has no bound."""
        bound = self.cosines.get(tools.embedder.name) if tools.embedder else None
        if bound is None or query.vector is None or len(rows) < 2:
            return None
        ordinals = np.array(rows, np.int64)
        vectors = view.vectors(ordinals).astype(np.float64)
        place = {ordinal: n for n, ordinal in enumerate(rows)}
        return _Cosines(bound, place, (vectors @ vectors.T).round(6), view.cosines(query.vector, ordinals))

    def _changes(
        self, read: Sequence[_Row], near: _Cosines | None, asked: frozenset[str]
    ) -> dict[tuple[int, int], Change]:
        """By pair (older, newer), what the newer one changes; a pair that changes nothing is left out."""
        found: dict[tuple[int, int], Change] = {}
        for old in read:
            for new in read:
                if new.moment > old.moment and new.trust >= old.trust:
                    change = _change(old, new, asked) or (
                        ALIKE if self._tell_alike(old, new, near, asked) else None
                    )
                    if change is not None:
                        found[old.ordinal, new.ordinal] = change
        return found

    def _tell_alike(self, old: _Row, new: _Row, near: _Cosines | None, asked: frozenset[str]) -> bool:
        by_chance = old.turn or new.turn or new.moment[0] - old.moment[0] < _MINUTE or old.score <= 0
        if by_chance or new.words.unreal or new.words.assistant:
            return False
        if near is not None and self._became_otherwise(old, new, near):
            return True
        shared = shares_of_shorter(old.words, new.words)
        if not shared or new.score < old.score * self.score_share:
            return False
        less = self.cosine_said if new.words.says_so else 0.0
        if len(old.words.words & asked) > len(new.words.words & asked):
            # It holds less of what is asked for, so its meaning must be as near.
            if near is None or near.to_query(new) < near.to_query(old) - self.query_cosine:
                return False
            less = 0.0
        return shared >= self.alike or (near is not None and near.between(old, new) >= near.bound - less)

    def _became_otherwise(self, old: _Row, new: _Row, near: _Cosines) -> bool:
        """Whether the newer row says that something became otherwise with what the older one tells of.

        That is so where their meaning is near; or less near, and both as near to the query.
        """
        between = near.between(old, new) - near.bound
        if not (old.words.short and new.words.short) or between < -self.cosine_subject:
            return False
        told = new.words.says_so or tells_change(new.text)
        closer = near.to_query(new) - near.to_query(old)
        alike = closer >= (-self.query_subject if told else 0) or (
            between >= 0 and (told or other_counts(old.text, new.text))
        )
        # Last, because it reads the clauses of both.
        return alike and takes_up(old.text, new.text, old.speaker, new.speaker)


@dataclass(frozen=True, slots=True)
class _Cosines:
    """Of the rows that are compared, by place.

    Attributes:
        bound: from which on two rows tell of the same.
        place: of each row's ordinal in the arrays.
        rows: float64, shape (rows, rows): of each with each.
        query: float64, shape (rows,): of each with the query.
    """

    bound: float
    place: Mapping[int, int]
    rows: NDArray[np.float64]
    query: NDArray[np.float64]

    def between(self, old: _Row, new: _Row) -> float:
        return float(self.rows[self.place[old.ordinal], self.place[new.ordinal]])

    def to_query(self, row: _Row) -> float:
        return float(self.query[self.place[row.ordinal]])


@dataclass(frozen=True, slots=True)
class _Row:
    """A row that states something.

    Attributes:
        moment: from when it is valid, when it was first recorded, and its place among all that was stored.
        trust: of who says it.
        score: by which it stands where it does.
        text: what it says; empty where it has several lines, which say more than one thing. "You" of an
            assistant is the user's "I".
        speaker: who says it; ``None`` = the user.
        turn: whether it belongs to a conversation.
        words: by which it may say that something changed.
    """

    ordinal: int
    moment: tuple[int, int, int]
    trust: float
    score: float
    text: str
    speaker: str | None
    turn: bool
    words: ChangeWords


def _read(view: View, head: Sequence[Candidate], analyser: Analyser, as_of: int) -> list[_Row]:
    ordinals = np.array([candidate.ordinal for candidate in head], np.int64)
    scores = {candidate.ordinal: candidate.score for candidate in head}
    kinds = view.column("utterance", ordinals)
    ordinals = ordinals[np.isin(kinds, [int(kind) for kind in _STATES])]
    if len(ordinals) < 2:
        return []
    recorded, roots = first_recorded(view, ordinals), view.column("root", ordinals)
    begins = view.column("occurred_from", ordinals)
    ahead = (as_of < begins) & (begins < FOREVER)
    rows = []
    for memory, first, root, later in zip(
        view.memories(ordinals.tolist()), recorded, roots, ahead, strict=True
    ):
        text, said_by = unlabelled(memory.text, memory.speaker), memory.speaker
        if len(text) > LONGEST or (later and says_from_when(text)):
            continue  # It tells many things, and states none of them alone; or does not hold yet.
        assistant = role_by_trust(memory.trust, filed=False) == "assistant"
        if assistant:
            text, said_by = to_first_person(text), ""
        rows.append(
            _Row(
                memory.ordinal,
                (memory.valid_from_micros, int(first), int(root)),
                memory.trust,
                scores[memory.ordinal],
                "" if "\n" in text else text,
                said_by or None,
                bool(memory.session),
                ChangeWords(text, said_by.casefold(), assistant, analyser),
            )
        )
    return rows


def _change(old: _Row, new: _Row, asked: frozenset[str]) -> Change | None:
    if old.turn or new.turn:
        compare = partial(_compare_turns, old, new)
        found = compare(old.text, new.text) or compare_by_one_name(old.text, new.text, compare)
    else:
        found = compare_statements(old.text, new.text, earlier_speaker=old.speaker, later_speaker=new.speaker)
    if found is not None and not (found.sure or _about_one(old, new)):
        # Two of many things that long texts tell.
        found = None
    return SAYS_SO if found is None and says_changed(old.words, new.words, asked) else found


def _about_one(old: _Row, new: _Row) -> bool:
    """Whether both tell so much of the same that an unsure change is one."""
    if old.turn or new.turn:
        return share_words(old.words, new.words)
    return old.words.short and new.words.short


def _compare_turns(old: _Row, new: _Row, earlier: str, later: str) -> Change | None:
    before, after = read_statements(earlier, old.speaker), read_statements(later, new.speaker)
    return compare_texts(before, after, alone=says_one_thing(earlier))


def _newer_before_older(
    pool: Sequence[Candidate], changes: Mapping[tuple[int, int], Change], place: Mapping[int, int]
) -> tuple[Candidate, ...]:
    """The pool in its order, but all that changes a row directly before it."""
    newer: dict[int, set[int]] = {}
    for old, new in changes:
        newer.setdefault(old, set()).add(new)
    ordered: list[Candidate] = []
    placed: set[int] = set()

    def put(candidate: Candidate) -> None:
        # Newer is a total order, so this ends.
        placed.add(candidate.ordinal)
        for other in sorted(newer.get(candidate.ordinal, ()), key=place.__getitem__):
            if other not in placed:
                put(pool[place[other]])
        ordered.append(candidate)

    for candidate in pool:
        if candidate.ordinal not in placed:
            put(candidate)
    return tuple(ordered)


def _notes(changes: Mapping[tuple[int, int], Change], place: Mapping[int, int]) -> dict[int, str]:
    """By ordinal, the rules by which a row was moved or marked."""
    told: dict[int, list[str]] = {}
    for (old, new), change in changes.items():
        if place[new] > place[old]:
            told.setdefault(new, []).append(f"moved before an earlier one ({change.rule})")
        told.setdefault(old, []).append(f"a newer one changes it ({change.rule})")
    return {ordinal: "; ".join(dict.fromkeys(each)) for ordinal, each in told.items()}
