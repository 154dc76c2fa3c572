"""How many secrets are found, and how many harmless texts are taken for one: 400 and 2,000 of each sort.

Everything is made by a seeded generator from shapes; nothing is copied from anywhere. Secrets stand in sentences,
settings, JSON, commands and addresses as people write them. Harmless are ordinary sentences, and what looks
random and is none: hashes, ids, versions, paths, encoded pictures, placeholders, telephone numbers, code.
"""

from __future__ import annotations

import base64
import random
import string
import uuid
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from tests.reliability.conftest import record, say  # noqa: F401 - fixtures
from tests.unit.retain.test_secrets import examples

from simonides.retain.secrets import find_secrets, masked

if TYPE_CHECKING:
    from tests.reliability.conftest import Record

POSITIVES, NEGATIVES = 400, 2_000
LEAST_FOUND, MOST_FALSE = 0.95, 0.005

ALPHANUMERIC = string.ascii_letters + string.digits
WORDS = [
    "the",
    "kettle",
    "leaks",
    "again",
    "and",
    "Odalys",
    "wants",
    "a",
    "new",
    "gauge",
    "before",
    "Monday",
    "because",
    "rain",
    "is",
    "coming",
    "to",
    "Norrhav",
    "please",
    "ask",
    "Tove",
    "about",
    "budget",
    "notes",
    "from",
    "last",
    "week",
    "she",
    "keeps",
    "them",
    "in",
    "a",
    "blue",
    "folder",
    "next",
    "to",
    "the",
    "stove",
]
NAMES = (
    "api_key",
    "API-KEY",
    "secret key",
    "client_secret",
    "access_token",
    "auth token",
    "password",
    "passphrase",
)
FRAMES = (
    "Ravi wrote: {} and went home.",
    "export KEY={}",
    '{{"config": {{"value": "{}"}}, "page": 3}}',
    "- step 2: use {} for staging, not for production",
    "`curl -H 'X-Key: {}' https://api.example.org/v1/items`",
    "KEY: {}\nREGION: north",
    "Log 2026-03-01 09:00:00 [warn] rejected {} (expired)",
    "\u8acb\u6c42\u66f8\u306e\u9375\u306f {} \u3067\u3059",
)


def made_up(chance: random.Random, alphabet: str, length: int) -> str:
    return "".join(chance.choices(alphabet, k=length))


def secret(chance: random.Random, number: int) -> tuple[str, str]:
    """A secret of one of all shapes in turn, and its kind."""
    kinds = sorted(examples(0))
    kind = kinds[number % len(kinds)]
    if kind != "named_secret":
        return kind, examples(chance.randrange(10**6))[kind]
    value = made_up(chance, ALPHANUMERIC + "+/_-", chance.randint(22, 48)) + "7q"
    return kind, f"{chance.choice(NAMES)}{chance.choice((' = ', ': ', '=', ' is ', '=> '))}{value}"


def sentence(chance: random.Random) -> str:
    return " ".join(chance.choices(WORDS, k=chance.randint(4, 14))).capitalize() + "."


def harmless(chance: random.Random) -> str:
    """Any of the sorts of text that hold no secret."""
    digits, small = string.digits, "0123456789abcdef"
    sorts = (
        lambda: sentence(chance),
        lambda: f"The {chance.choice(NAMES)} is changed every month; ask Tove for it.",
        lambda: f"Set {chance.choice(NAMES)} in the settings before the first start.",
        lambda: f"{chance.choice(NAMES)}: {chance.choice(('changeme', '<your key here>', '${API_KEY}', 'None', '********'))}",
        lambda: f"See commit {made_up(chance, small, 40)} for the fix.",
        lambda: f"sha256:{made_up(chance, small, 64)}  memory-{chance.randint(1, 9)}.tar.gz",
        lambda: f"request {uuid.UUID(int=chance.getrandbits(128))} failed twice",
        lambda: f"https://example.org:8443/{made_up(chance, string.ascii_lowercase, 12)}?page={chance.randint(1, 99)}&q=a@b",
        lambda: f"git clone ssh://git@example.org:2222/{made_up(chance, string.ascii_lowercase, 8)}/tools.git",
        lambda: f"data:image/png;base64,{base64.b64encode(chance.randbytes(90)).decode()}",
        lambda: f"/srv/relay/{made_up(chance, ALPHANUMERIC, 24)}/tx_queue.rs:{chance.randint(1, 999)}",
        lambda: f"Call +49 30 {made_up(chance, digits, 8)} or order {made_up(chance, digits, 16)}.",
        lambda: f"def {chance.choice(WORDS).lower()}(token: str, password: str | None = None) -> bytes:",
        lambda: f"token = tokens[{chance.randint(0, 99)}] if password else read_{chance.choice(WORDS).lower()}_token(path)",
        lambda: f"pip install {chance.choice(WORDS).lower()}=={chance.randint(0, 9)}.{chance.randint(0, 40)}.{chance.randint(0, 9)}",
        lambda: f"password: {'-'.join(chance.choices([w.lower() for w in WORDS], k=5))}",
        lambda: f"postgres://{chance.choice(('db.example', 'localhost'))}:5432/app?sslmode=require",
        lambda: f"The bearer of {' '.join(chance.choices(WORDS, k=4))} told basic {chance.choice(WORDS)} facts.",
        lambda: f"Part VX-{made_up(chance, digits, 4)}, serial {made_up(chance, string.ascii_uppercase + digits, 12)}, lot {made_up(chance, digits, 6)}",
        lambda: f'etag W/"{made_up(chance, small, 32)}" age {chance.randint(1, 9999)}',
        lambda: f"task-{made_up(chance, string.ascii_lowercase, 12)} and risk-{made_up(chance, string.ascii_lowercase, 20)} are done",
        lambda: f"fingerprint {':'.join(made_up(chance, small, 2) for _ in range(20))}",
    )  # fmt: skip
    return f"{chance.choice(sorts)()} {sentence(chance)}"


@pytest.mark.fault("X6")
def test_of_400_secrets_and_2000_harmless_texts(record: Record) -> None:  # noqa: F811
    chance = random.Random(400)
    missed: Counter[str] = Counter()
    wrong_name: Counter[str] = Counter()
    for number in range(POSITIVES):
        kind, value = secret(chance, number)
        text = chance.choice(FRAMES).format(value)
        found = find_secrets(text)
        if not found:
            missed[kind] += 1
        elif kind not in {name for _, _, name in found}:
            wrong_name[kind] += 1
        # What is found is gone whole: no end of it is left over.
        assert all(text[start:end] not in masked(text) for start, end, _ in found)
    texts = [harmless(chance) for _ in range(NEGATIVES)]
    taken = [text for text in texts if find_secrets(text)]
    rate, false = 1 - missed.total() / POSITIVES, len(taken) / NEGATIVES
    record(
        "X6",
        {
            "secrets": POSITIVES,
            "missed": missed.total(),
            "called_otherwise": wrong_name.total(),
            "harmless": NEGATIVES,
            "taken_for_secrets": len(taken),
        },
    )
    assert rate >= LEAST_FOUND, dict(missed)
    assert false <= MOST_FALSE, taken[:10]
    assert len(set(texts)) == NEGATIVES
