"""Whether a text only asks: a question or a request for information, and nothing that it states.

A text is cut into sentences, and each of them asks, states, or is filler ("Hi!", "Sorry, I forgot."). The
text only asks if one asks and none states. A sentence asks

    with a question mark, unless a clause of it states something ("My flight is at 9, can you remind me?");
    without one, if it begins as questions do ("what's the code again", "did I pay the rent", "tell me …").

What looks like a question and hands something over states it: "Can you remind me to …?", "Did you know that
…?". Where it is not sure the answer is no: a question taken for a statement is only placed too high.
English; of other languages the question mark counts, a clause of four words before it is taken for a
statement, and Chinese and Japanese are known by their particles. Cost: linear, 1,000 characters at most.
Weakness: statements without a known verb in front of a question ("Flight at 9, can you remind me?").

What a memory looks like without its text: how long, what it does, whether it asks, a key of who says it.

A name is folded (case, accents, punctuation) and hashed to 64 bits, so an index column can hold it and a
query is compared with a million speakers without reading a row. Two names of one key are possible and
harmless: a memory would be taken for another person's, one time in 10¹⁹.
"""

from __future__ import annotations

import hashlib
import re

from simonides.records.kind import Utterance, role_by_trust
from simonides.text.analyser import small_talk
from simonides.text.normalise import fold_case, fold_characters

_LONGEST = 1_000
"""Characters; a longer text is no mere question."""

_SENTENCE = re.compile(
    r"[^.!?\u2026\u3002\uff01\uff1f\u061f\n]*[.!?\u2026\u3002\uff01\uff1f\u061f\n]*[\"')\]\u00bb\u201d*_]*"
)
_INSIDE = re.compile(r"(?<=\w)[.!?\u2026]+(?=\w)")
_MARK = re.compile(r"[?\uff1f\u061f]")
_PARTICLE = re.compile(
    r"(?:吗|嗎|呢|ですか|ますか|でしたか|ましたか|ませんか|でしょうか|까요|습니까|나요)\W{0,4}$"
)
_CLAUSE = re.compile(
    r"[,;:\u2014\u2013\uff0c\uff1b\uff1a\u00bf]+|\s-+\s"
    r"|\s(?:and|but|so|or)\s(?=(?:can|could|would|will|do|does|did|what|where|when|who|which|how)\b)"
)
_QUESTIONS_WORD = re.compile(r"[\w']+")
_APOSTROPHES = str.maketrans({"\u2019": "'", "\u02bc": "'"})


def _question_words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_WH = _question_words(
    "what where when who whom whose which why how what's where's when's who's how's which's whats wheres"
)
_AUXILIARIES = _question_words(
    "is are am was were isn't aren't wasn't weren't do does did don't doesn't didn't have has had haven't "
    "hasn't hadn't can could can't couldn't will would won't wouldn't shall should shouldn't may might must"
)
_NEVER_BARE = _question_words("do don't have had may must should were")
"""Begin commands, wishes and conditions, too: without a mark only a pronoun makes some of them ask."""

_PRONOUNS = _question_words("i you he she it we they")
_SUBJECTS = _PRONOUNS | {
    pronoun + ending for pronoun in _PRONOUNS for ending in ("'m", "'s", "'re", "'ve", "'ll", "'d")
}
_DETERMINERS = _question_words(
    "the my your his her our their a an this that these those there any some all each every"
)
_SUBORDINATORS = _question_words(
    "if when whenever while since as because before after although though unless until whether that which "
    "who whose where and or for from in at on of about with without like such"
)
_LEADING = small_talk() | _question_words("and but also then now again btw actually just still")
"""Words that may stand in front of a question and add nothing, and the same with phrases."""
_ASIDE = re.compile(
    r"\b(?:by the way|to be clear|excuse me|(?:just )?(?:one|a) (?:(?:more|quick|last) )?(?:question|thing)"
    r"|quick question|one more time)\b"
)

_TAGS = frozenset({"right", "correct", "yes", "no", "eh", "huh", "or", "or not", "true"})
_TAG = re.compile(
    r"(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would)(?:n't)? (?:i|you|he|she|it|we|they)"
)

_VERBS = _AUXILIARIES | _question_words(
    "leaves starts begins ends opens closes lives works costs needs wants likes loves hates goes runs "
    "comes arrives meets moves uses weighs prefers listens belongs stays takes says means keeps hangs lies "
    "sits stands"
)
_NO_VERBS = _question_words("red bed led need speed feed seed weed shed used united called named based")
"""End as past forms do, and are none, or none of a clause by themselves."""

# What the one who asks says of himself, which tells nothing else.
_ABOUT_ASKING = re.compile(
    r"(?:i|we) (?:just )?(?:(?:always |keep |completely |totally )?forg[eo]t(?:ting|ten)?"
    r"|(?:can't|cannot|can not|don't|do not|couldn't|didn't) (?:quite )?(?:remember|recall|know|find it)"
    r"|(?:am|'m) not sure|was (?:just )?wondering|wonder|need to know|want to know|would like to know"
    r"|asked|lost (?:track|it)|remember)\b|i'm (?:not sure|asking|wondering|trying to remember)\b"
    r"|i(?:'d| would) (?:like|love) to know\b|i've (?:forgotten|asked)\b|no idea\b"
    r"|just (?:checking|asking|curious)\b"
)
# The same with what is asked: "I forgot where …", "I wonder whether …".
_INDIRECT = re.compile(
    r"(?:(?:i|we) (?:just |always |have |keep )?(?:forg[eo]t(?:ting|ten)?|wonder|was wondering|am wondering"
    r"|(?:can't|cannot|don't|do not|couldn't) (?:quite )?(?:remember|recall)|want to know|need to know)"
    r"|i(?:'d| would) (?:like|love) to know|i'm (?:not sure|wondering|trying to remember)|wondering"
    r"|any (?:idea|clue))"
    r" (?:what|where|when|who|which|why|how|if|whether|whose)(?:'s)?\b"
)
# Requests for what is known.
_REQUEST = re.compile(
    r"(?:please )?(?:kindly )?(?:(?:tell|show) (?:me|us)(?! (?:to|that)\b)"
    r"|remind (?:me|us)(?: again| please)? (?:what|where|when|who|which|why|how|of|about)\b"
    r"|(?:give|read|name|list|say|repeat|recall|look up|summari[sz]e) (?:me |us )?(?:again )?"
    r"(?:the|my|our|his|her|their|all|that)\b"
    r"|let (?:me|us) know (?:what|where|when|who|which|why|how|if|whether)\b"
    r"|(?:explain|describe) (?:to me |again )?(?:what|where|when|who|which|why|how|the|my|our)\b"
    r"|(?:any|some) (?:idea|clue|news|update|word)\b)"
)
# Asked politely, and handed over: a task, a rule, a fact.
_HANDED_OVER = re.compile(
    r"(?:please )?(?:(?:can|could|would|will) you )?(?:please |kindly )?(?:also )?"
    r"(?:remind (?:me|us) (?:to|that|on|at|in|tomorrow|tonight|next|every|before|by|this)\b"
    r"|(?:remember|note|know|save|store|write down|keep in mind|memori[sz]e|bear in mind) (?:that|down|for)\b"
    r"|(?:always|never|stop|only|not|from now on)\b|tell (?:me|us) to\b)"
    r"|did (?:you|i) (?:know|mention|tell you|say)(?: that)? (?:i|my|we|our|he|she|they|it|the)\b"
)
_NOT_INVERTED = re.compile(
    r"what (?:a|an|i|you|we|he|she|they|it) "
    r"|how (?!do|does|did|is|are|was|were|can|could|should|would|will|have|has|had|much|many|often|long"
    r"|old|far|big|tall|high|late|early|about|come|to|i'm)\w"
    r"|(?:when|where|who|why|which) (?:i|you|we|he|she|they|it|not|the|my|our|a)\b|which (?:is|was|means)\b"
)
"""Without a mark: "What a day", "How lovely", "When I was in Rome …", "Which is why …"."""


def only_asks(text: str) -> bool:
    """Whether *text*, without who says it, asks and states nothing."""
    if len(text) > _LONGEST:
        return False
    asks = False
    plain = _INSIDE.sub("·", text.translate(_APOSTROPHES))
    for found in _SENTENCE.finditer(plain):
        sentence = found[0].strip(" \t\r\n\"'()[]«»“”*_")
        if not sentence:
            continue
        if _asks(sentence):
            asks = True
        elif not _is_filler(sentence):
            return False
    return asks


def _asks(sentence: str) -> bool:
    folded = _ASIDE.sub(" ", fold_case(sentence))
    words = _QUESTIONS_WORD.findall(folded)
    marked = bool(words and _MARK.search(sentence))
    if _PARTICLE.search(sentence):
        return True
    words = _past_leading(words)
    plain = " ".join(words)
    if _HANDED_OVER.match(plain):
        return False
    if marked:
        return not _has_statement(folded)
    return _begins_as_question(words, plain)


def _past_leading(words: list[str]) -> list[str]:
    """The words of a sentence from where it proper begins: after "and", or "okay, so"."""
    begins = (n for n, word in enumerate(words) if word not in _LEADING or word in _WH | _AUXILIARIES)
    return words[next(begins, len(words)) :]


def _begins_as_question(words: list[str], plain: str) -> bool:
    """Whether words without a question mark are a question or a request all the same."""
    if not words:
        return False
    if _REQUEST.match(plain) or _INDIRECT.match(plain):
        return True
    first, second = words[0], words[1] if len(words) > 1 else ""
    if first in _WH:
        return len(words) > 1 and not _NOT_INVERTED.match(plain)
    if first not in _AUXILIARIES:
        return False
    if first in _NEVER_BARE:
        return first in {"do", "don't", "have"} and second in {"i", "you", "we", "they"}
    return second in _SUBJECTS or second in _DETERMINERS


def _has_statement(folded: str) -> bool:
    """Whether a clause of a sentence with a question mark states something beside what is asked."""
    clauses = [each for part in _CLAUSE.split(folded) if (each := " ".join(_QUESTIONS_WORD.findall(part)))]
    if len(clauses) < 2:
        return False
    last = clauses[-1]
    if last in _TAGS or _TAG.fullmatch(last):
        # "The port is 4288, right?" asks for what it says.
        return False
    foreign = not any(word in _ENGLISH for clause in clauses for word in clause.split())
    if foreign:
        return any(len(clause.split()) >= _FOREIGN_CLAUSE for clause in clauses[:-1])
    return any(_states(clause) for clause in clauses)


_ENGLISH = (_WH | _AUXILIARIES | _SUBJECTS | _DETERMINERS) - _question_words(
    "am was an die may must her hat a i all"
)
_FOREIGN_CLAUSE = 4
_RELATIVE = _question_words("that which who where when")


def _states(clause: str) -> bool:
    """Whether a folded clause has a subject and a verb after it, and is not part of a question."""
    words = clause.split()
    if len(words) < 2 or _ABOUT_ASKING.match(clause):
        return False
    first, second = words[0], words[1]
    if first in _SUBORDINATORS or first in _WH or first in _AUXILIARIES or first.startswith("you"):
        return False
    if first in _SUBJECTS:
        return True
    for word in words[1:]:
        if word in _RELATIVE:
            return False
        if word in _VERBS or (word.endswith("ed") and len(word) > 4 and word not in _NO_VERBS):
            return True
    return "'" in first and first.endswith("'s") and second not in _DETERMINERS and len(words) > 2


def _is_filler(sentence: str) -> bool:
    """Whether it says nothing: a greeting, thanks, a name that is called, or that one forgot."""
    words = _QUESTIONS_WORD.findall(_ASIDE.sub(" ", fold_case(sentence)))
    if all(word in _LEADING for word in words):
        return True
    plain = " ".join(_past_leading(words))
    if _ABOUT_ASKING.match(plain):
        return len(words) <= 8 and not any(character.isdigit() for character in plain)
    return len(words) <= 3 and words[0] in small_talk() and not any(c.isdigit() for c in sentence)


_ABOUT_QUESTIONS = re.compile(r"\b(?:ask|asks|asked|asking|question|questions)\b", re.IGNORECASE)


def is_about_questions(query: str) -> bool:
    """Whether *query* wants to know what was asked, so that a question answers it."""
    return bool(_ABOUT_QUESTIONS.search(query))


MOST_WORDS = 65_535
"""What ``count_words`` stops at: the column has 16 bits."""

_LABEL = re.compile(
    r"\s{0,8}(?:\*\*)?([^\W\d_][\w.'-]{0,30}(?: [^\W\d_][\w.'-]{0,30}){0,2}) ?:(?:\*\*)?\s+\S"
)
# ASCII, full width, Arabic.
_QUESTION_MARKS = ("?", "\uff1f", "\u061f")
_CLOSING = " \t\r\n\"')*_\u00bb\u2019\u201d"
_RECALLED = re.compile(r"<<memories [0-9a-f]{16}>>|\bNot in memory[:.]")
# As frameworks keep the call of a tool: an object with its arguments, and no result.
_CALL = re.compile(r"\s{0,8}\{(?=[^{}]{0,400}\"arguments\":)(?![^{}]{0,400}\"(?:output|content|result)\":)")
_SPEECH_WORD = re.compile(r"\w+")
_LONGEST_NAME = 3


def count_words(text: str) -> int:
    """Words between blanks, up to 65,535."""
    return min(MOST_WORDS, len(text.split()))


def asks(text: str) -> bool:
    """Whether the text ends with a question mark, closing quotes and brackets aside."""
    return text.rstrip(_CLOSING).endswith(_QUESTION_MARKS)


def utterance(text: str, speaker: str, trust: float, *, filed: bool) -> Utterance:
    """What a memory does.

    Args:
        text: perhaps with a label, such as ``Ines: …``.
        speaker: as ``retain`` was told; empty = the label may say.
        trust: that the store stamped.
        filed: whether it belongs to a document or a path.
    """
    role = role_by_trust(trust, filed=filed)
    if role == "tool":
        if _RECALLED.search(text):
            return Utterance.ECHO
        return Utterance.QUESTION if _CALL.match(text) else Utterance.TOOL_OUTPUT
    if only_asks(unlabelled(text, speaker)):
        return Utterance.QUESTION
    return Utterance.ASSISTANT if role == "assistant" else Utterance.STATEMENT


_SECOND_PERSON = tuple(
    (re.compile(rf"\b(?:{spoken})\b", re.IGNORECASE), own)
    for spoken, own in (
        ("you are|you're", "I am"),
        ("you were", "I was"),
        ("you've", "I have"),
        ("yours", "mine"),
        ("your", "my"),
        ("you", "I"),
    )
)


def unlabelled(text: str, speaker: str) -> str:
    """*text* without the label of who says it."""
    label = speaker.strip() or label_of(text)
    if label and text.startswith(f"{label}:"):
        return text[len(label) + 1 :].lstrip()
    return text


def to_first_person(text: str) -> str:
    """What an assistant tells its user, as the user would say it: "You live in Brno." → "I live in Brno."."""
    for spoken, own in _SECOND_PERSON:
        text = spoken.sub(own, text)
    return text


def label_of(text: str) -> str:
    """The label at the start of *text* if it may be a name, as in ``Ines: …``; else empty."""
    found = _LABEL.match(text)
    if found is None or not all(word[0].isupper() for word in found[1].split(" ")):
        return ""
    return found[1]


def speaker_key(name: str) -> int:
    """64 bits that stand for a folded name; 0 where nothing of it is left."""
    return _key(_words(name)) if name else 0


def session_key(name: str) -> int:
    """64 bits that stand for the name of a conversation, as it is written; 0 = none."""
    return _key([name]) if name else 0


def name_keys(text: str) -> frozenset[int]:
    """Keys of all runs of one to three words in *text*: of whoever it may name."""
    words = _words(text)
    return frozenset(
        _key(words[start : start + length])
        for length in range(1, _LONGEST_NAME + 1)
        for start in range(len(words) - length + 1)
    )


def _words(text: str) -> list[str]:
    return _SPEECH_WORD.findall(fold_case(fold_characters(text)))


def _key(words: list[str]) -> int:
    if not words:
        return 0
    # Never 0, which stands for nobody.
    return int.from_bytes(hashlib.blake2b(" ".join(words).encode(), digest_size=8).digest(), "little") or 1
