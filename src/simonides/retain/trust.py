"""How far a source is trusted; stamped by the store from who retains and in which role, never from a claim.

A row of low trust does not close one of higher trust (see ``supersession``).
"""

from __future__ import annotations

TRUST = {"user": 1.0, "": 1.0, "assistant": 0.7, "tool": 0.6, "document": 0.6, "import": 0.5}
"""By role; an empty role is the caller itself."""


def trust_of(role: str) -> float:
    """How far a role is trusted, 0 to 1; an unknown one as little as an import."""
    return TRUST.get(role, TRUST["import"])
