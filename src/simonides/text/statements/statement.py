"""What a text states, and what a later text changes about it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Statement:
    """One subject, one attribute, one value.

    Attributes:
        subject: folded, ``"user"`` for the first person; a thing that the user owns goes without its owner.
        attribute: folded: ``residence``, ``password``, ``port``; a verb where no rule names it.
        value: folded; empty where only an end is stated.
        single_valued: the subject has one such value at a time.
        ended: the value, or whatever the subject had, is so no more.
        old_value: the value that the text itself says this one replaces, folded.
        marker: what says that something changed: ``now``, ``moved``, ``back``, ``correction``, ``new``.
        kind: of value: ``time``, ``date``, ``money``, ``number``, ``version``, ``code``, ``address``,
            ``name``, ``floor`` or ``words``.
        qualifier: what narrows it (``weekdays``, ``for short trips``): two that differ are both true.
        sure: two values of it are surely not both true.
    """

    subject: str
    attribute: str
    value: str
    single_valued: bool
    ended: bool = False
    old_value: str = ""
    marker: str = ""
    kind: str = "words"
    qualifier: str = ""
    sure: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """That a later text states another value than an earlier one.

    Attributes:
        rule: which rule found it.
        sure: the earlier text may be ended for it; else the later one only leads.
    """

    rule: str
    sure: bool
