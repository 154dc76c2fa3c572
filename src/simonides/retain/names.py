"""Names as they are compared: only case, width, accents, spaces and punctuation fold away.

``VX-1103`` and ``vx 1103`` are one name, ``VX-1105`` is another; ``Ann`` is not ``Joann``. Signs that tell
names apart (``+ # @ / .``) stay, so ``C``, ``C++`` and ``C#`` are three.
"""

from __future__ import annotations

import re

from simonides.text.normalise import fold_case, fold_characters

_BETWEEN = re.compile(r"[^\w+#@/.]+|_+")


def fold_name(name: str) -> str:
    """The folded form of a name; empty when nothing of it is left."""
    return _BETWEEN.sub(" ", fold_case(fold_characters(name))).strip(" .")
