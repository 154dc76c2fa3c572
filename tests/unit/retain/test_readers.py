from __future__ import annotations

import pytest

from simonides.retain.placing import all_may_read, same_readers

EVERYONE: tuple[str, ...] = ()


@pytest.mark.parametrize(
    ("readers", "theirs", "may", "same"),
    [
        (EVERYONE, EVERYONE, True, True),
        (EVERYONE, ("ann",), False, False),
        (("ann",), EVERYONE, True, False),
        (("ann",), ("ann",), True, True),
        (("ann",), ("ann", "ben"), True, False),
        (("ann", "ben"), ("ann",), False, False),
        (("ann", "ben"), ("ben", "ann"), True, True),
        (("ann",), ("ben",), False, False),
    ],
)
def test_who_may_read_and_who_reads_the_same(
    readers: tuple[str, ...], theirs: tuple[str, ...], *, may: bool, same: bool
) -> None:
    assert all_may_read(readers, theirs) is may
    assert same_readers(readers, theirs) is same
    assert all_may_read(readers, frozenset(theirs)) is may
