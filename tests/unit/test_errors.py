import inspect
import re

import pytest

from simonides import errors
from simonides.errors import InputError, NotFoundError, SimonidesError, UnknownNameError

CLASSES = {
    name: value
    for name, value in vars(errors).items()
    if inspect.isclass(value) and issubclass(value, BaseException)
}


def drawn_tree() -> dict[str, str]:
    """Each drawn class with the class it hangs under; the root hangs under nothing."""
    assert errors.__doc__ is not None
    above: list[tuple[int, str]] = []
    parents: dict[str, str] = {}
    for line in errors.__doc__.splitlines():
        match = re.fullmatch(r"(?P<indent>    [ │├└─]*)(?P<name>[A-Z]\w+Error)\b.*", line)
        if match is None:
            continue
        indent = len(match["indent"])
        while above and above[-1][0] >= indent:
            above.pop()
        parents[match["name"]] = above[-1][1] if above else ""
        above.append((indent, match["name"]))
    return parents


def test_the_drawn_tree_lists_exactly_the_classes_of_the_module() -> None:
    assert set(drawn_tree()) == set(CLASSES)


def test_each_class_hangs_under_the_class_that_is_drawn_above_it() -> None:
    for name, parent in drawn_tree().items():
        if parent:
            assert CLASSES[parent] in CLASSES[name].__bases__, name


def test_every_class_is_a_simonides_error() -> None:
    assert len(CLASSES) > 10
    for value in CLASSES.values():
        assert issubclass(value, SimonidesError)


def test_an_input_error_names_its_field_and_is_a_value_error() -> None:
    with pytest.raises(ValueError, match=r"^tags\[0\]: is blank$") as caught:
        raise InputError("tags[0]", "is blank")
    assert isinstance(caught.value, InputError)
    assert caught.value.field == "tags[0]"


def test_an_unknown_name_offers_the_nearest_one() -> None:
    error = UnknownNameError("kind", "semantik", ["semantic", "episodic"], place="default.toml")
    assert str(error) == "kind: 'semantik' is not known in default.toml; did you mean 'semantic'?"
    assert error.valid == ("episodic", "semantic")


def test_an_unknown_name_with_nothing_near_lists_them_all() -> None:
    assert str(UnknownNameError("kind", "xyz", ["b", "a"])).endswith("valid names: a, b")


def test_a_not_found_error_prints_its_message_without_quotes() -> None:
    assert str(NotFoundError("memory 'm1' is not there")) == "memory 'm1' is not there"
    assert not str(NotFoundError())
