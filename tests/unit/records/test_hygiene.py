import pytest

from simonides.errors import InputError, UnknownNameError
from simonides.records.hygiene import (
    MAX_LABEL_CHARACTERS,
    MAX_LABELS,
    clean_choice,
    clean_label,
    clean_labels,
    clean_text,
    shown,
)


def test_a_sound_text_comes_back_unchanged() -> None:
    text = "  Mira’s 📦 naïve\ttext\n"
    assert clean_text(text, "text", 100) == text
    assert not clean_text("", "text", 100)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (None, "expected a string, got NoneType"),
        (3, "expected a string, got int"),
        (b"bytes", "got bytes; decode it first"),
        ("a\0b", "holds a NUL at character 1"),
        ("ab\ud83d", r"lone surrogate \(U\+D83D\) at character 2"),
    ],
)
@pytest.mark.fault("L6")
def test_an_unsound_text_is_refused_by_name(value: object, problem: str) -> None:
    with pytest.raises(InputError, match=problem) as caught:
        clean_text(value, "items[3].text", 100)
    assert caught.value.field == "items[3].text"
    str(caught.value).encode("utf-8")


def test_the_limit_counts_bytes_not_characters() -> None:
    assert clean_text("é" * 5, "text", 10)
    with pytest.raises(InputError, match=r"is 11 bytes long in UTF-8, at most 10 are allowed; split it"):
        clean_text("é" * 5 + "e", "text", 10, remedy="split it")


def test_labels_are_sorted_without_repeats() -> None:
    assert clean_labels(["b", "a", "b"], "tags") == ("a", "b")
    assert clean_labels({"b", "a"}, "tags") == ("a", "b")
    assert clean_labels(("A", "a"), "tags") == ("A", "a")
    assert clean_labels([], "tags") == ()


@pytest.mark.parametrize(
    ("value", "field", "problem"),
    [
        ("work", "tags", r"a list of strings, got a string; write \['work'\]"),
        ({"work": 1}, "tags", "got dict"),
        (7, "tags", "got int"),
        (["a", 7], "tags[1]", "expected a string, got int"),
        (["a", " \t"], "tags[1]", "is blank"),
        ([""], "tags[0]", "is blank"),
        (["a\0"], "tags[0]", "NUL"),
        (["\udc00"], "tags[0]", "surrogate"),
        (["x" * 257], "tags[0]", "257 characters long, at most 256"),
        ({7, 8}, "tags", "expected a string, got int"),
        pytest.param({10**5000, "a"}, "tags", "expected a string, got int", id="huge"),
    ],
)
@pytest.mark.fault("L6")
def test_bad_labels_are_refused_by_position(value: object, field: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem) as caught:
        clean_labels(value, "tags")
    assert caught.value.field == field


def test_limits_of_labels_are_reached_and_not_passed() -> None:
    longest = "語" * MAX_LABEL_CHARACTERS
    assert clean_label(longest, "tag") == longest
    many = [f"tag {n}" for n in range(MAX_LABELS)]
    assert len(clean_labels(many + many, "tags")) == MAX_LABELS
    with pytest.raises(InputError, match="holds 1,001 labels, at most 1,000"):
        clean_labels([*many, "one more"], "tags")


def test_a_choice_must_be_one_of_the_words() -> None:
    assert clean_choice("all", "tags_match", ("any", "all")) == "all"
    with pytest.raises(UnknownNameError, match="did you mean 'any'"):
        clean_choice("anyy", "tags_match", ("any", "all"))
    with pytest.raises(InputError, match="expected one of any, all, got list"):
        clean_choice(["any"], "tags_match", ("any", "all"))
    with pytest.raises(UnknownNameError) as caught:
        clean_choice("x" * 10_000_000, "tags_match", ("any", "all"))
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("plain", "'plain'"),
        ("\ud83d", r"'\ud83d'"),
        pytest.param("x" * 1000, f"'{'x' * 60}'… (1,000 characters)", id="long"),
        (True, "True"),
        (-1, "-1"),
        (2.5, "2.5"),
        pytest.param(10**5000, "a whole number of 16,610 bits", id="huge"),
        (object(), "object"),
        ([1], "list"),
    ],
)
def test_a_value_is_shown_short_and_printable(value: object, text: str) -> None:
    assert shown(value) == text
    shown(value).encode("utf-8")
