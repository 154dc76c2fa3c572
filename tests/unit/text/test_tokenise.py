from __future__ import annotations

import string
import time

import pytest

from simonides.text.analyser import tokenise
from simonides.text.normalise import MAX_TERM

L1_MEMORY = "Build 7 stopped at lint (see #4471, cc @dana)"
L2_MEMORY = "Invoice KX-20931 was paid on 2027-02-09"
L3_MEMORY = r"retryPolicyV2.apply_backoff raised EPIPE in C:\svc\relay\tx_queue.rs:118"
L3_DECOYS = (
    "The retry of the new policy came with v2 of the relay",
    "Apply for a longer backoff, 2 hours at most",
    "A queue formed at the tx desk; rs 118 was the fee",
)
L5_MEMORY = "来週の火曜に請求書batch_77を再送する 🟢"


def shared(query: str, memory: str) -> set[str]:
    return set(tokenise(query)) & set(tokenise(memory))


@pytest.mark.fault("L1")
@pytest.mark.parametrize("mark", string.punctuation)
def test_punctuation_around_a_word_does_not_hide_it(mark: str) -> None:
    assert tokenise(mark) == []
    for query in (f"lint{mark}", f"{mark}lint", f"{mark}lint{mark}", '"lint'):
        assert "lint" in shared(query, L1_MEMORY), query


@pytest.mark.fault("L1")
@pytest.mark.parametrize("query", ["#4471", "4471", "@dana", "(see", "cc", "7."])
def test_sigils_and_brackets_are_no_part_of_a_term(query: str) -> None:
    assert shared(query, L1_MEMORY)


@pytest.mark.fault("L2")
@pytest.mark.parametrize(
    ("query", "whole"),
    [("KX-20931", "kx-20931"), ("kx-20931", "kx-20931"), ("2027-02-09", "2027-02-09")],
)
def test_ticket_and_date_are_found_whole(query: str, whole: str) -> None:
    assert whole in shared(query, L2_MEMORY)
    assert whole not in tokenise("KX paid 20931 on 09.02.2027")


@pytest.mark.fault("L2")
@pytest.mark.parametrize("query", ["kx 20931", "KX20931", "kx_20931", "KX/20931"])
def test_ticket_is_found_in_parts_however_it_is_joined(query: str) -> None:
    assert shared(query, L2_MEMORY) >= {"kx", "20931"}


@pytest.mark.fault("L3")
@pytest.mark.parametrize(
    ("query", "whole"),
    [
        ("retryPolicyV2", "retrypolicyv2"),
        ("RETRYPOLICYV2", "retrypolicyv2"),
        ("retrypolicyv2", "retrypolicyv2"),
        ("retryPolicyV2.apply_backoff", "retrypolicyv2.apply_backoff"),
        ("apply_backoff", "apply_backoff"),
        ("tx_queue", "tx_queue"),
        ("tx_queue.rs", "tx_queue.rs"),
        ("tx_queue.rs:118", "tx_queue.rs:118"),
        (r"C:\svc\relay\tx_queue.rs:118", "c:/svc/relay/tx_queue.rs:118"),
        ("C:/svc/relay/tx_queue.rs:118", "c:/svc/relay/tx_queue.rs:118"),
        (r"C:\\svc\\relay\\tx_queue.rs:118", "c:/svc/relay/tx_queue.rs:118"),
    ],
)
def test_exact_identifier_shares_a_term_that_decoys_lack(query: str, whole: str) -> None:
    assert whole in shared(query, L3_MEMORY)
    for decoy in L3_DECOYS:
        assert shared(query, decoy) < shared(query, L3_MEMORY)
        assert whole not in tokenise(decoy)


@pytest.mark.fault("L3")
@pytest.mark.parametrize(
    ("query", "terms"),
    [
        ("retry policy", {"retry", "policy"}),
        ("backoff", {"backoff"}),
        ("Relay 118", {"relay", "118"}),
        ("v2", {"v2"}),
        ("epipe", {"epipe"}),
    ],
)
def test_parts_of_identifiers_are_found(query: str, terms: set[str]) -> None:
    assert shared(query, L3_MEMORY) >= terms


@pytest.mark.fault("L4")
def test_a_text_of_one_emoji_has_one_term_and_a_text_without_terms_has_none() -> None:
    assert tokenise("🟢") == ["🟢"]
    assert tokenise("") == tokenise(" \n\t") == tokenise("… -- !?") == tokenise("\x00") == []


@pytest.mark.fault("L5")
@pytest.mark.parametrize("query", ["請求書", "火曜", "火", "再送", "batch_77", "batch 77", "🟢"])
def test_unspaced_scripts_glued_ascii_and_emoji_are_found(query: str) -> None:
    assert set(tokenise(query)) <= set(tokenise(L5_MEMORY))


@pytest.mark.fault("L5")
@pytest.mark.parametrize("query", ["🔴", "金曜日刊", "batch_78x"])
def test_what_is_not_there_shares_no_whole_term(query: str) -> None:
    assert not set(tokenise(query)) <= set(tokenise(L5_MEMORY))


@pytest.mark.fault("L5")
def test_another_emoji_shares_nothing() -> None:
    assert shared("🔴", L5_MEMORY) == set()


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("猫", ["猫"]),
        ("猫がいる", ["猫が", "がい", "いる", "猫"]),
        ("ガギグ", ["ガギ", "ギグ"]),
        ("か が", ["か", "が"]),
        ("第3章API設計", ["第", "3", "章", "api", "設計", "設", "計"]),
        ("서울에서 API를 밥", ["서울에서", "서울", "울에", "에서", "api", "를", "밥"]),
        ("서울", ["서울"]),
        ("หมา", ["หม", "มา"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("Ελλάς ёлка йод", ["ελλασ", "елка", "йод"]),
        ("שָׁלוֹם سَلَام", ["שלום", "سلام"]),
    ],
)
def test_scripts(text: str, terms: list[str]) -> None:
    assert tokenise(text) == terms


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("🟢🟢", ["🟢", "🟢"]),
        ("👍🏽", ["👍"]),
        ("❤️", ["❤"]),
        ("👩‍💻", ["👩", "💻"]),
        ("🇩🇪🇳🇱", ["🇩🇪", "🇳🇱"]),
        ("done✔", ["done", "✔"]),
        ("20 °C", ["20", "°", "c"]),
        ("\U0001faea", ["\U0001faea"]),  # younger than the tables of some supported Pythons
    ],
)
def test_symbols(text: str, terms: list[str]) -> None:
    assert tokenise(text) == terms


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("café", "CAFE\u0301"),
        ("ｒｅｔｒｙ　２", "retry 2"),
        ("ﬁle", "file"),
        ("Straße", "STRASSE"),
        ("ÆRØ", "aero"),
        ("Łódź", "lodz"),
        ("İstanbul ısı", "istanbul isi"),
        ("soft\u00adware zero\u200bwidth", "software zerowidth"),
        ("KX\u201120931", "KX-20931"),
        ("don\u2019t", "don't"),
        ("١٢٣", "123"),
        ("no\u00a0break", "no break"),
    ],
)
def test_spellings_that_are_one(left: str, right: str) -> None:
    assert tokenise(left) == tokenise(right)


@pytest.mark.parametrize(
    ("left", "right"), [("か", "が"), ("は", "ぱ"), ("कि", "का"), ("มา", "มี"), ("й", "и")]
)
def test_marks_that_make_another_letter_stay(left: str, right: str) -> None:
    assert tokenise(left) != tokenise(right)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Caroline's", ["caroline"]),
        ("Caroline’s", ["caroline"]),
        ("CAROLINE'S", ["caroline"]),
        ("the dogs' bowls", ["the", "dogs", "bowls"]),
        ("don't DON’T", ["dont", "dont"]),
        ("we'll I'd they've you're I'm", ["we", "i", "they", "you", "i"]),
        ("shouldn't've", ["shouldnt"]),
        ("O'Brien", ["obrien", "brien"]),
        ("l'homme", ["lhomme", "homme"]),
        ("'quoted'", ["quoted"]),
    ],
)
def test_apostrophes(text: str, terms: list[str]) -> None:
    assert tokenise(text) == terms


@pytest.mark.parametrize("text", ["word", "Word", "WORD", "4471", "naïve", "слово"])
def test_a_plain_word_gives_one_term(text: str) -> None:
    assert len(tokenise(text)) == 1


@pytest.mark.fault("L6")
@pytest.mark.parametrize("text", ["\ud83d", "lint \ud83d", "lint\ud83dlint", "\udfff\ud800 lint", "猫\ud83d"])
def test_lone_surrogates_separate_and_never_become_terms(text: str) -> None:
    terms = tokenise(text)
    assert "".join(terms).isprintable()
    assert ("lint" in terms) == ("lint" in text)


@pytest.mark.parametrize("length", [MAX_TERM, MAX_TERM + 1, 100_000])
def test_a_long_token_is_cut_to_the_longest_term(length: int) -> None:
    assert tokenise("a" * length) == ["a" * MAX_TERM]
    assert tokenise("A" * length) == ["a" * MAX_TERM]
    assert max(map(len, tokenise("aB1-" * length))) <= MAX_TERM


@pytest.mark.parametrize(
    "unit",
    [
        *("a", "aA", "a'", "'s", "n't", "_", "a_", "a_-_", "1", "1.", "c++", "a#", ".", ".a", "+"),
        *("é", "猫", "ガ", "🟢", "न\u093c\u094d\u200d", "\u093c\u094d", "\u0301\u0323", "1\u0903"),
        *("a://", "://", "a\\\\"),
    ],
)
def test_adversarial_repetition_takes_linear_time(unit: str) -> None:
    # A quadratic step would take minutes at this length; a linear one takes about 0.1 s.
    text = "a" + unit * (100_000 // len(unit)) + "x"
    start = time.process_time()
    tokenise(text)
    assert time.process_time() - start < 5
