"""Names that only their capital gives away: runs of capitalised words.

A capital inside a sentence marks a name, unless the word is common English, a day, a language, an initialism
that names nothing, or stands in the text in lower case as well. At the start of a sentence a capital marks
nothing, so a single word there needs more: a given name, a listed place, a possessive ending, the same
capital elsewhere inside a sentence, or a verb in the third person right behind it. Common words in front of a
run are cut off (``Thanks Caroline`` → Caroline), titles in quotation marks are kept whole, a title stays
where one name follows it (``Dr. Vale``). Lines in title case, shouting and texts in other languages give only
what the lists know.

Precision before recall: a name that is missed here is still found by its words; a greeting taken for a name
would join half of the bank. Cost: linear; about 60 µs for 40 words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from simonides.records.extraction import EntityKind, Mention
from simonides.retain.extraction.name_kinds import is_place, kind_of
from simonides.retain.extraction.passage import given_names, has_common_shape, is_common, section
from simonides.text.analyser import irregular_forms, stopwords

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simonides.retain.extraction.passage import Passage

MAX_RUN = 6
"""Longest run that is a name; what is longer is a heading."""

_LONGEST_WORD = 40
_ENDING = re.compile(r"'(?:s|S|ll|d|re|ve|m|t)\Z")
_POSSESSIVE = re.compile(r"'[sS]\Z")
# A capital behind one of these may open a sentence or a quotation.
_OPENING = re.compile(r"[.!?…:;\"(\[{«—–\n*•>|]|\s-+\s|[\u2190-\U0001ffff]")
_SPACE = re.compile(r"[ \u00a0]\Z")
_POINT = re.compile(r"\.[ \u00a0]?\Z")
_TITLED = re.compile(r"\"([A-Z][^\"\n]{1,70})\"")
_TITLE_WORD = re.compile(r"[^\s-]+")

_CONNECTORS = section("grammar", "connectors")
_INNER = section("grammar", "inner")
_PREPOSITIONS = section("grammar", "prepositions")
_ABBREVIATIONS = section("grammar", "abbreviations")
_BEFORE_A_MONTH = re.compile(
    r"(?<!\w)(?:in|since|until|till|by|of|from|during|early|mid|late|last|next|this|\d{1,2}(?:st|nd|rd|th)?)\s\Z",
    re.IGNORECASE,
)
_ADVERB = r"(?:\s+(?:also|always|now|never|really|still|often|usually|already|finally|just|then|currently))?"
_VERB = re.compile(
    _ADVERB
    + r"\s+(?:(?:is|was|has|had|does|did|will|would|can|could|should|must|may|might|isn't|wasn't|hasn't"
    r"|doesn't|didn't|won't|can't)\b|(?P<verb>[a-z]{3,20})\b)"
)
_VERB_OF_PEOPLE = re.compile(
    _ADVERB + r"\s+(?:said|says|told|asked|asks|thinks|thought|likes|loves|hates|dislikes|prefers|lives|lived"
    r"|works|worked|wants|wanted|wrote|writes|phoned|emailed|joined|moved|enjoys|believes|knows|met|went"
    r"|got|plays)\b"
)
_NO_VERB_ENDINGS = ("ss", "us", "is")
_NO_VERBS = section("grammar", "no_verbs")
_PASTS = section("grammar", "pasts")
_TITLE_CASE_SHARE = 0.85
_TITLE_CASE_WORDS = 5


@dataclass(frozen=True, slots=True)
class _Token:
    """A capitalised word, or a small word between two of them."""

    start: int
    stop: int
    text: str
    lower: str
    whole: str
    initial: bool
    possessive: bool


@dataclass(frozen=True, slots=True)
class _Evidence:
    """What the rest of the text says about its capitals."""

    passage: Passage
    inside: frozenset[str]
    uncapitalised: frozenset[str]


def find_capitalised(passage: Passage, body: int = 0) -> list[Mention]:
    """Names that are told by their capitals, in order; those in quotation marks may overlap others.

    *body* is where to start: a speaker's label in front of it is not looked at.
    """
    if not passage.english:
        return []
    runs = list(_runs(passage, body))
    inside = frozenset(
        token.lower for run in runs for token in run if not token.initial and token.text[0].isupper()
    )
    written = frozenset(passage.text[start:stop] for start, stop in passage.words)
    evidence = _Evidence(passage, inside, written)
    mentions = [mention for run in runs for mention in _read(run, evidence)]
    return mentions + list(_quoted_titles(passage.text, body))


def _runs(passage: Passage, body: int) -> Iterator[list[_Token]]:
    """Runs of capitalised words, joined over single spaces and small words."""
    text, words = passage.text, passage.words
    place = 0
    while place < len(words):
        start = words[place][0]
        if start < body or not text[start].isupper():
            place += 1
            continue
        run = [_token(passage, place, body)]
        place += 1
        while place < len(words) and not run[-1].possessive:
            step = _step(passage, place, run[-1])
            if step == 0:
                break
            run += [_token(passage, at, body) for at in range(place, place + step)]
            place += step
        yield run


def _step(passage: Passage, place: int, last: _Token) -> int:
    """How many words from *place* go on with a run: a capital, or small words and a capital; 0 = it ends."""
    text, words = passage.text, passage.words
    gap = text[words[place - 1][1] : words[place][0]]
    if text[words[place][0]].isupper():
        abbreviated = len(last.text) == 1 or last.lower in section("name_words", "title") | _ABBREVIATIONS
        return int(bool(_SPACE.match(gap) or (abbreviated and _POINT.match(gap))))
    small = 0
    while small < 2 and place + small < len(words) and passage.lower[place + small] in _CONNECTORS:
        small += 1
    after = place + small
    if small == 0 or after >= len(words) or not text[words[after][0]].isupper():
        return 0
    gaps = (text[words[at - 1][1] : words[at][0]] for at in range(place, after + 1))
    return small + 1 if all(map(_SPACE.match, gaps)) else 0


def _token(passage: Passage, place: int, body: int) -> _Token:
    text = passage.text
    start, stop = passage.words[place]
    before = text[passage.words[place - 1][1] : start] if place else "\n"
    initial = start == body or bool(_OPENING.search(before)) or place == 0
    word = text[start:stop]
    possessive = bool(_POSSESSIVE.search(word)) or text[stop : stop + 1] == "'"
    ending = _ENDING.search(word)
    bare = word[: ending.start()] if ending else word
    # Python-based: the name ends where the small letters of the next part begin.
    head, hyphen, tail = bare.partition("-")
    if hyphen and tail[:1].islower():
        bare = head
    return _Token(start, start + len(bare), bare, bare.lower(), passage.lower[place], initial, possessive)


def _read(run: list[_Token], evidence: _Evidence) -> Iterator[Mention]:
    """The names in one run."""
    for part in _parts(run):
        tokens = _trimmed(part, evidence.passage) if len(part) <= 2 * MAX_RUN else []
        if len(tokens) > MAX_RUN:
            continue
        if len(tokens) > 1:
            mention = _several(tokens, evidence)
        elif tokens:
            mention = _single(tokens[0], evidence, initial=tokens[0].initial and tokens[0] is part[0])
        else:
            mention = None
        if mention is not None:
            yield mention


def _parts(run: list[_Token]) -> Iterator[list[_Token]]:
    """A run cut at words that no name holds: pronouns, auxiliaries, contractions."""
    part: list[_Token] = []
    for token in run:
        if _cuts(token):
            yield part
            part = []
        else:
            part.append(token)
    yield part


def _cuts(token: _Token) -> bool:
    stop = stopwords("english")
    # The list holds contractions as the tokeniser folds them: dont, im.
    if token.whole != token.lower and token.whole.replace("'", "") in stop:
        return True
    if token.lower not in stop or token.lower in _INNER or token.lower in given_names():
        return False
    return token.initial or token.lower not in _PREPOSITIONS


def _trimmed(part: list[_Token], passage: Passage) -> list[_Token]:
    """A part without small words at its ends and common words at its start."""
    tokens = part
    while tokens and (tokens[-1].lower in _INNER or tokens[-1].lower in section("name_words", "time")):
        tokens = tokens[:-1]
    leading = bool(tokens) and tokens[0].initial
    while len(tokens) > 1 and (tokens[0].lower in _INNER or _says_nothing(tokens, passage, leading=leading)):
        tokens = tokens[1:]
    if tokens and tokens[0].lower in _INNER:
        return []
    titles = section("name_words", "title")
    if len(tokens) > 2 and tokens[0].lower in titles and tokens[1].lower not in _INNER:
        return tokens[1:]
    if len(tokens) > 1 and tokens[0].lower == "project":
        return tokens[1:]
    return tokens


def _says_nothing(tokens: Sequence[_Token], passage: Passage, *, leading: bool) -> bool:
    """Whether the first word of a run is only there because a sentence starts, or greets the second."""
    first, second = tokens[0].lower, tokens[1].lower
    if first in section("name_words", "title"):
        return False
    start = tokens[0].start
    # Behind a preposition or a day it is a month: ``in May Ann left``.
    if first in section("name_words", "time") and _BEFORE_A_MONTH.search(
        passage.text, max(0, start - 12), start
    ):
        return True
    if first in given_names():
        number = passage.sentence_number(tokens[0].start)
        asks = "?" in passage.text[tokens[0].start : passage.sentence_end(number)]
        return leading and asks and first in stopwords("english")
    if not is_common(first):
        return first in section("name_words", "time")
    if leading:
        return first not in section("name_words", "head") or second in given_names()
    return second in given_names() and first not in section("name_words", "head")


def _several(tokens: list[_Token], evidence: _Evidence) -> Mention | None:
    """A name of several words."""
    text = evidence.passage.text
    start, stop = tokens[0].start, tokens[-1].stop
    words = [token.lower for token in tokens]
    name = text[start:stop]
    own = [word for word in words if word not in _INNER]
    if all(len(word) == 1 for word in own) or any(len(word) > _LONGEST_WORD for word in own):
        return None
    if is_place(name):
        return Mention(name, EntityKind.PLACE, start, stop)
    if all(map(_names_nothing, own)):
        return None
    if name.isupper() and any(map(is_common, own)):
        return None
    kind = kind_of(words, text, start, stop)
    listed = kind is EntityKind.PERSON and own[0] in given_names()
    if not listed and _is_title_case(evidence.passage, start):
        return None
    return Mention(name, kind, start, stop)


def _single(token: _Token, evidence: _Evidence, *, initial: bool) -> Mention | None:
    """A name of one word."""
    word, text = token.lower, evidence.passage.text
    if not 2 <= len(word) <= _LONGEST_WORD or _names_nothing(word):
        return None
    dropped_g = text[token.stop : token.stop + 1] == "'" and word.endswith("in")
    given, common = word in given_names(), is_common(word + "g" if dropped_g else word)
    if token.text.isupper() and (common or _shouts(evidence.passage, token)):
        return None
    sure = not common and (given or is_place(token.text))
    if not sure and _is_title_case(evidence.passage, token.start):
        return None
    if initial:
        accepted = sure or _stands_at_the_start(token, evidence, given=given, common=common)
    else:
        accepted = given or (not common and word not in evidence.uncapitalised)
    if not accepted:
        return None
    return Mention(token.text, kind_of([word], text, token.start, token.stop), token.start, token.stop)


def _stands_at_the_start(token: _Token, evidence: _Evidence, *, given: bool, common: bool) -> bool:
    """Whether a word that opens a sentence is a name all the same."""
    text = evidence.passage.text
    if common:
        return given and bool(_VERB_OF_PEOPLE.match(text, token.stop))
    if token.lower in evidence.uncapitalised or has_common_shape(token.lower):
        return False
    if token.text.isupper() or any(map(str.isdigit, token.text)):
        return True
    if token.possessive or token.lower in evidence.inside:
        return True
    verb = _VERB.match(text, token.stop)
    if verb is None:
        return False
    word = verb["verb"]
    return word is None or word in _PASTS or _looks_like_a_verb(word)


def _looks_like_a_verb(word: str) -> bool:
    """Third person or past: -s, -ed, an irregular past."""
    if word in _NO_VERBS or word.endswith(_NO_VERB_ENDINGS):
        return False
    return word.endswith(("s", "ed")) and word not in irregular_forms("english")


def _names_nothing(word: str) -> bool:
    return (
        word in section("name_words", "time")
        or word in section("name_words", "people")
        or word in section("name_words", "initialism")
        or (word in stopwords("english") and word not in given_names())
    )


def _shouts(passage: Passage, token: _Token) -> bool:
    """Whether the sentence is in capitals, so that one word's capitals mean nothing."""
    start, stop = passage.sentence(token.start)
    around = passage.text[max(start, token.start - 60) : min(stop, token.stop + 60)]
    letters = [character for character in around if character.isalpha()]
    return len(letters) > 3 * len(token.text) and sum(map(str.isupper, letters)) > len(letters) / 2


def _is_title_case(passage: Passage, position: int) -> bool:
    """Whether the line around *position* is a heading: a Markdown one, or nearly every word has a capital."""
    text = passage.text
    start = text.rfind("\n", max(0, position - 200), position) + 1 or max(0, position - 200)
    stop = text.find("\n", position, position + 200)
    line = text[start : stop if stop >= 0 else position + 200]
    if line.startswith("#"):
        return True
    words = [word for word in _TITLE_WORD.findall(line) if word[0].isalpha() and word not in _INNER]
    if len(words) < _TITLE_CASE_WORDS or line.rstrip().endswith("."):
        return False
    capitals: int = sum(word[0].isupper() for word in words)
    return capitals >= _TITLE_CASE_SHARE * len(words)


def _quoted_titles(text: str, body: int) -> Iterator[Mention]:
    """Titles in quotation marks: every word but the small ones has a capital."""
    if '"' not in text:
        return
    for found in _TITLED.finditer(text, body):
        title = found[1]
        words = _TITLE_WORD.findall(title)
        large = [word for word in words if word.lower() not in _INNER]
        if title[-1] in ".,!?;:…" or len(words) > MAX_RUN + 2:
            continue
        if not all(word[0].isupper() or word[0].isdigit() or word == "&" for word in large):
            continue
        if len(words) == 1 and (is_common(title.lower()) or _names_nothing(title.lower())):
            continue
        yield Mention(title, EntityKind.OTHER, found.start(1), found.end(1))
