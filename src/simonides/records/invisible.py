"""Characters that show nothing: marks of format and of writing direction, fillers, tags, variation selectors.

``INVISIBLE`` and ``JOINERS`` are ranges for a character class. Joiners are kept where text is shown, since
Persian words and emoji need them.
"""

from __future__ import annotations

import re

INVISIBLE = (
    "\u00ad\u034f\u061c\u070f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"
)
"""What Unicode says to leave out of sight, without ``JOINERS``."""
JOINERS = "\u200c\u200d\ufe0e\ufe0f"

_SEEN = re.compile(f"[^\\s\x00-\x1f\x7f-\x9f{INVISIBLE}{JOINERS}]")


def shows_nothing(text: str) -> bool:
    """Whether no character of *text* can be seen."""
    return _SEEN.search(text) is None
