"""``H`` in a schedule: a moment of the cluster's own, so that a thousand clusters do not all begin at once.

``H * * * *`` is some minute of every hour, the same one each time: it is made from the cluster's name (croniter's
hashed expressions, as Jenkins has them). ``H(0-3)`` is one of 0 to 3, ``H/15`` every 15 from some one on.
"""

from __future__ import annotations

import re

_HASHED = re.compile(r"(?<![A-Za-z])H(?![A-Za-z])")  # not in THU, nor in MARCH


def own_moment(schedule: str, whose: str) -> str:
    """The schedule in plain cron. Raises croniter's errors for what is no schedule."""
    fields = schedule.split()
    if not any(_HASHED.search(field) for field in fields):
        return schedule
    from croniter import croniter

    expanded, _ = croniter.expand(schedule, hash_id=whose.encode())
    return " ".join(
        ",".join(str(value) for value in values) if _HASHED.search(field) else field
        for field, values in zip(fields, expanded, strict=True)
    )
