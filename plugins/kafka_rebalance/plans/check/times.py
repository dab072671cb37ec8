"""Times of a plan and of a snapshot, compared: ISO 8601, UTC where no zone is told."""

from __future__ import annotations

import re

import numpy as np

from kafka_rebalance.errors import InvalidInputError

_ISO = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[T ]([0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?)"
    r"(?:(Z)|([+-])([0-9]{2}):?([0-9]{2}))?"
)


def moment(text: str, place: str) -> np.datetime64:
    """The moment in UTC. Raises InvalidInputError for what is no time."""
    match = _ISO.fullmatch(text)
    try:
        if match is None:
            raise ValueError
        local = np.datetime64(f"{match[1]}T{match[2]}", "ns")
    except ValueError:
        shown = ascii(text[:60])
        raise InvalidInputError.at(place, f"{shown} is no ISO 8601 time", "2026-11-20T08:00:00Z") from None
    if match[4] is None:
        return local
    minutes = (int(match[5]) * 60 + int(match[6])) * (-1 if match[4] == "-" else 1)
    return local - np.timedelta64(minutes, "m")
