"""The marks that maintenance and its owner set on a version of a memory; they add up.

A mark never changes what a memory states. It is part of the version, so an earlier viewpoint sees the marks
that stood then.
"""

from __future__ import annotations

PINNED = 1
"""Kept from decay, and first in a brief."""

ARCHIVED = 2
"""Found on request only, until it is used again."""

CONSOLIDATED = 4
"""An observation that maintenance made from several memories (HI-17)."""

STANDING = 8
"""A pinned memory that also leads the context of each recall that asks for standing memories."""

ALL_STATES = PINNED | ARCHIVED | CONSOLIDATED | STANDING
