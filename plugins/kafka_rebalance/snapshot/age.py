"""How old a reading is, in words, and whether it is too old to rest advice on. Whoever asks says what time it is."""

from __future__ import annotations

from datetime import datetime, timedelta

# The first words of a plan's reason where its reading was too old: the verifier, which knows no clock, goes by them.
OLD_READING = "the reading is too old: "
_MINUTE, _HOUR, _DAY = 60, 3600, 86_400


def span_words(span: timedelta) -> str:
    """In the largest unit of which there are two or more: ``21 days``, ``36 h``, ``90 min``, ``45 s``."""
    seconds = int(span.total_seconds())
    for size, unit in ((_DAY, "days"), (_HOUR, "h"), (_MINUTE, "min")):
        if seconds >= 2 * size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def too_old(captured_at: datetime | None, now: datetime, limit: timedelta | None) -> str | None:
    """Why no plan can rest on this reading, in words; None where one can, no limit is given, or the input has no time
    (that is a gap of its coverage already).
    """
    if captured_at is None or limit is None or now - captured_at <= limit:
        return None
    age, most = span_words(now - captured_at), span_words(limit)
    if age == most:
        age, most = (f"{int(span.total_seconds()):,} s" for span in (now - captured_at, limit))
    return f"{OLD_READING}{age} old, the limit is {most}"
