from __future__ import annotations

import itertools
import random
import string
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

import simonides
from simonides.errors import InputError
from simonides.retain.secrets import SHAPES, entropy_bits, find_secrets, masked, masked_apart, read_policy

if TYPE_CHECKING:
    from pathlib import Path

    from simonides.testing.embedder import StubEmbedder

ALPHANUMERIC = string.ascii_letters + string.digits


def made_up(length: int, alphabet: str = ALPHANUMERIC, seed: int = 1) -> str:
    generator = random.Random(seed)
    return "".join(generator.choice(alphabet) for _ in range(length - 2)) + "a7"


def examples(seed: int) -> dict[str, str]:
    """One invented secret of each shape; put together here, so that none stands in this file."""
    hexadecimal = "0123456789abcdef"
    return {
        "private_key": f"-----BEGIN RSA PRIVATE {'KEY'}-----\n{made_up(200, seed=seed)}\n-----END RSA PRIVATE {'KEY'}-----",
        "jwt": ".".join(
            ["eyJ" + made_up(20, seed=seed), "eyJ" + made_up(40, seed=seed), made_up(43, seed=seed)]
        ),
        "aws_key": "AKIA" + "".join(random.Random(seed).choices("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", k=16)),
        "google_key": "AIza" + made_up(35, seed=seed),
        "google_oauth": "ya29." + made_up(60, seed=seed),
        "github_token": "ghp_" + made_up(36, seed=seed),
        "gitlab_token": "glpat-" + made_up(20, seed=seed),
        "slack_token": "xoxb-" + made_up(40, seed=seed),
        "slack_webhook": "https://hooks.slack.com/services/T0/B0/" + made_up(24, seed=seed),
        "stripe_key": "sk_live_" + made_up(24, seed=seed),
        "anthropic_key": "sk-ant-" + made_up(40, seed=seed),
        "openai_key": "sk-proj-" + made_up(48, seed=seed),
        "hugging_face_token": "hf_" + made_up(34, seed=seed),
        "npm_token": "npm_" + made_up(36, seed=seed),
        "pypi_token": "pypi-" + made_up(60, seed=seed),
        "sendgrid_key": f"SG.{made_up(22, seed=seed)}.{made_up(43, seed=seed)}",
        "twilio_key": "SK" + made_up(32, hexadecimal, seed=seed),
        "digitalocean_token": "dop_v1_" + made_up(64, hexadecimal, seed=seed),
        "vault_token": "hvs." + made_up(30, seed=seed),
        "telegram_token": "123456789:AA" + made_up(33, seed=seed),
        "azure_key": "AccountKey=" + made_up(86, seed=seed) + "==",
        "url_password": f"postgres://ravi:{made_up(12, seed=seed)}@db.example:5432/app",
        "bearer_token": "Authorization: Bearer " + made_up(30, seed=seed),
        "named_secret": "api_key = " + made_up(32, seed=seed),
    }


def test_there_is_an_example_of_every_shape() -> None:
    assert set(examples(1)) == {shape.kind for shape in SHAPES} | {"named_secret"}


@pytest.mark.fault("X6")
@pytest.mark.parametrize("kind", sorted(examples(1)))
def test_each_shape_is_found_and_masked_where_it_stands(kind: str) -> None:
    for seed in range(20):
        secret = examples(seed)[kind]
        text = f"Ravi wrote: {secret} and went home."
        found = find_secrets(text)
        assert [name for _, _, name in found] == [kind], (kind, secret)
        start, end, _ = found[0]
        clean = masked(text)
        assert text[start:end] not in clean
        assert f"[REDACTED:{kind}]" in clean
        assert clean.startswith("Ravi wrote: ")
        assert clean.endswith(" and went home.")
        assert masked(clean) == clean


@pytest.mark.fault("X6")
@pytest.mark.parametrize(
    "text",
    [
        "The password is changed every month; ask Priya for the token.",
        "Set the api_key in the settings before the first start.",
        "My secret is that I like rye bread more than wheat.",
        "token: the smallest unit that a model reads",
        "See commit 3f785d2e9a1b4c6d8e0f1a2b3c4d5e6f7a8b9c0d for the fix.",
        "id 6ba7b810-9dad-11d1-80b4-00c04fd430c8 failed twice",
        "https://example.org:8443/path?q=bread@home and http://example.org/a:b",
        "retryPolicyV2.apply_backoff raised EPIPE in tx_queue.rs:118",
        "sk-learn and task-force are no keys; risk-averse-and-very-long-hyphenated-words-too are none",
        "The basic information about the bearer of good news travels fast.",
        "sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "passphrase: correct-horse-battery-staple-is-a-comic",
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
        "https://example.org/@odalys and http://localhost:3000/@vite/client, http://localhost:${PORT}/@id/x",
        "git+ssh://git@example.org:harbour/tools.git@v1.2 and ssh://git@example.org:2222/tools@main",
        "amqp://one.example:5672,amqp://tove@two.example and http://[::1]:8080/a@b",
        "file://C:/notes/odalys@home.txt and FILE://d:/a/b@c",
    ],
)
def test_ordinary_texts_are_left_alone(text: str) -> None:
    assert find_secrets(text) == []
    assert masked(text) == text


@given(st.text(max_size=300))
def test_any_text_is_masked_once_and_for_all(text: str) -> None:
    found = find_secrets(text)
    assert all(0 <= start < end <= len(text) for start, end, _ in found)
    assert all(one[1] <= two[0] for one, two in itertools.pairwise(found))
    assert masked(masked(text)) == masked(text)


@pytest.mark.fault("X6")
@pytest.mark.parametrize(
    ("before", "piece"),
    [
        ("", "-----BEGIN PRIVATE KEY-----"),
        ("", "-----BEGIN PRIVATE KEY-----\nX-y: a\n"),
        ("-----BEGIN PRIVATE KEY-----", "- "),
        ("", "-----BEGIN A "),
        ("", "eyJ"),
        ("eyJaaaaaaaaaa.eyJ", "-eyJ"),
        ("", "-eyJaaaaaaaaaa.eyJaaaaaaaaaa"),
        ("", "token = "),
        ("", "x://"),
        ("https://u:pp/", "a:a@"),
        ("", "https://u:p/"),
        ("", "https://u:a@b/"),
        ("", "bearer "),
        ("", "http://a:"),
        ("SG.", "a"),
        ("", "AKIA"),
    ],
)
@pytest.mark.parametrize("kilobytes", [192, pytest.param(1024, marks=pytest.mark.soak)])
def test_no_text_takes_long(before: str, piece: str, kilobytes: int) -> None:
    # A linear search takes 0.2 s for 192 kB; one that is quadratic in the pieces takes several seconds.
    text = before + piece * (kilobytes * 1024 // len(piece))
    started = time.process_time()
    find_secrets(text)
    assert time.process_time() - started < 1 + kilobytes / 256


@pytest.mark.fault("X6")
@pytest.mark.parametrize(
    ("scheme", "password"),
    [
        ("HTTPS", "secretpw"),
        ("Postgres", "pa/ss"),
        ("postgres", "p@ss"),
        ("postgres", "p@ss/w0rd"),
        ("redis", "a/b@c/d@e"),
        ("amqp", "qw'er\"ty"),
        ("https", "x" * 700),
    ],
)
@pytest.mark.parametrize("user", ["User", ""])
def test_passwords_of_addresses_are_found_whole(scheme: str, user: str, password: str) -> None:
    text = f"see {scheme}://{user}:{password}@host.example:5432/app, then rest"
    assert masked(text) == f"see {scheme}://{user}:[REDACTED:url_password]@host.example:5432/app, then rest"


@pytest.mark.fault("X6")
def test_a_user_may_be_an_address_of_mail() -> None:
    text = "smtp://tove@harbour.example:p@ssw0rd@mail.example"
    assert masked(text) == "smtp://tove@harbour.example:[REDACTED:url_password]@mail.example"


@pytest.mark.fault("X6")
@pytest.mark.parametrize("length", [64, 20_000, pytest.param(900_000, marks=pytest.mark.soak)])
@pytest.mark.parametrize("end", ["\n-----END RSA PRIVATE KEY-----", ""])
@pytest.mark.parametrize("headers", ["", "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,0F\n\n"])
def test_a_private_key_is_masked_to_its_end(length: int, end: str, headers: str) -> None:
    body = "\n".join([made_up(64)] * (length // 64))
    text = f"before -----BEGIN RSA PRIVATE {'KEY'}-----\n{headers}{body}{end}"
    started = time.process_time()
    assert masked(text) == "before [REDACTED:private_key]"
    assert time.process_time() - started < 3


@pytest.mark.fault("X6")
def test_what_is_left_beside_another_secret_is_masked_too() -> None:
    key = examples(2)["aws_key"]
    assert "w0rd" not in masked(f"https://u:pa/w0rd@host/x?key={key}&mail=a@b")
    assert key not in masked(f"https://u:pa/w0rd@host/x?key={key}&mail=a@b")


def test_names_stay_apart_unless_they_might_be_guessed() -> None:
    one, two = (masked_apart(f"session {examples(seed)['jwt']}") for seed in (1, 2))
    assert one != two
    assert masked_apart(one) == masked(one) == one
    assert one == masked_apart(f"session {examples(1)['jwt']}")
    assert one.startswith("session [REDACTED:jwt:")
    assert masked_apart("https://u:pw1@h") == masked_apart("https://u:pw2@h")


def test_the_policy_comes_from_the_argument_then_from_the_variable() -> None:
    assert read_policy(None, {}) == "off"
    assert read_policy(None, {"SIMONIDES_REDACT": " mask "}) == "mask"
    assert read_policy("off", {"SIMONIDES_REDACT": "mask"}) == "off"
    with pytest.raises(InputError, match="SIMONIDES_REDACT: 'masc' is not known; did you mean 'mask'"):
        read_policy(None, {"SIMONIDES_REDACT": "masc"})
    with pytest.raises(InputError, match="redact: expected one of off, mask, refuse"):
        read_policy(True, {})


def test_entropy() -> None:
    assert entropy_bits("") == 0
    assert entropy_bits("aaaa") == 0
    assert entropy_bits("abcd") == 2


@pytest.mark.fault("X6")
def test_masked_secrets_are_in_no_field_and_in_no_byte(tmp_path: Path, stub_embedder: StubEmbedder) -> None:
    key = examples(3)["github_token"]
    with simonides.open(tmp_path / "s", embedder=stub_embedder, environ={}, redact="mask") as store:
        bank = store.bank()
        [memory] = bank.retain(
            f"The token {key} is Ravi's.", context=key, source=f"mail {key}", tags=[key], path=key,
            metadata={"k": [key, {"api_key": made_up(32)}], key: 1}, project=key, expansion=key,
            subject=key, relation="owns", object=key,
        )  # fmt: skip
        bank.retain_document(f"# Keys\n\nFirst {key} here.\n\nSecond paragraph.", document_id="d")
        bank.retain_conversation([{"text": f"use {key}", "speaker": "Ravi"}, {"text": "done"}], session="s")
        found = bank.get_memory(memory)
        assert found.text == "The token [REDACTED:github_token] is Ravi's."
        assert found.metadata["k"] == ["[REDACTED:github_token]", {"api_key": "[REDACTED:named_secret]"}]
        source = bank.source(next(h.id for h in bank.recall("second paragraph") if h.memory.document))
        assert source.text[source.start : source.stop] == "Second paragraph."
    needle = key.encode().lower()
    assert not [p for p in tmp_path.rglob("*") if p.is_file() and needle in p.read_bytes().lower()]


@pytest.mark.fault("X6")
def test_refusing_names_the_field_and_not_the_secret(tmp_path: Path) -> None:
    key = examples(4)["aws_key"]
    with simonides.open(tmp_path / "s", embedder=None, environ={}, redact="refuse") as store:
        with pytest.raises(InputError, match=r"items\[1\]\.text: holds a secret \(aws_key\)") as caught:
            store.bank().retain(["fine", f"key {key}"])
        assert key not in str(caught.value)
        assert store.bank().stats()["memories"] == 0


def test_secrets_are_kept_unless_asked(tmp_path: Path) -> None:
    key = examples(4)["aws_key"]
    with simonides.open(tmp_path / "s", embedder=None, environ={}) as store:
        assert key in store.bank().get_memory(store.bank().retain(f"key {key}")[0]).text
    with pytest.raises(InputError, match="redact"):
        simonides.open(tmp_path / "t", redact="some")  # type: ignore[arg-type]
