"""How far a source is trusted; stamped by the store from who retains and in which role, never from a claim.

A row of low trust does not close one of higher trust (see ``supersession``).
"""

from __future__ import annotations

from simonides.records.kind import TRUST


def trust_of(role: str) -> float:
    """How far a role is trusted, 0 to 1; an unknown one as little as an import."""
    return TRUST.get(role, TRUST["import"])
