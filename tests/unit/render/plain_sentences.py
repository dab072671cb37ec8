"""Properties of every text that ``render`` makes: complete, and with numbers that agree with their nouns."""

from __future__ import annotations

import re

_NOTHING = re.compile(r"\bNone\b|\bnan\b|\binf\b|  ")
_WRONG_NUMBER = re.compile(
    r"(?<![\d.,])(?:1 (?:partitions|members|messages|topics|records|restarts|rebalances)"
    r"|(?!1 )\d[\d,.]* (?:partition|member|message|topic|record|restart|rebalance))\b(?!·)"
)


def require_plain(text: str, case: object = None) -> None:
    """Fail for an unknown value, a gap, or a number beside the wrong form of its noun."""
    assert text.strip() == text != "", (text, case)
    assert not _NOTHING.search(text), (text, case)
    assert not _WRONG_NUMBER.search(text), (_WRONG_NUMBER.search(text), text, case)
