"""Numbers in sentences, read back: ``1.5 GiB``, ``312 GB``, ``2 h 5 min``, ``unknown``.

A rounded number stands for all values that round to it; so a sentence is right where the exact value is among them.
"""

from __future__ import annotations

import re

_BYTES = re.compile(r"(-?[\d,]+(?:\.\d+)?)(?:e\+?(-?\d+))? (B|kB|MB|GB|TB|KiB|MiB|GiB|TiB|PiB)")
_UNITS = {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}
_UNITS |= {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40, "PiB": 2**50}
_TIME = re.compile(r"(?:(\d+) h )?(\d+) (s|min)|(\d+(?:\.\d+)?) days")
_UNKNOWN, _BRIEF = "unknown", "under 1 s"


def tells_bytes(text: str, value: float | None) -> bool:
    """Whether ``text`` is ``value`` bytes, rounded."""
    if value is None:
        return text == _UNKNOWN
    match = _BYTES.fullmatch(text)
    if match is None:
        return False
    reported = float(match[1].replace(",", "")) * 10.0 ** int(match[2] or 0)
    return abs(reported - value / _UNITS[match[3]]) <= _step(abs(reported), match[3]) / 2 * (1 + 1e-6)


def _step(reported: float, unit: str) -> float:
    """What the last digit that was kept is worth: one decimal of KiB and up, three digits of kB and up."""
    if unit == "B":
        return 1.0
    if unit.endswith("iB"):
        return 0.1
    return 0.01 if reported < 10 else 0.1 if reported < 100 else 1.0


def tells_seconds(text: str, value: float | None) -> bool:
    """Whether ``text`` is ``value`` seconds, rounded as people read times."""
    if value is None:
        return text == _UNKNOWN
    if text == _BRIEF:
        return 0 < value < 1
    match = _TIME.fullmatch(text)
    if match is None:
        return False
    if match[4] is not None:
        return abs(float(match[4]) - value / 86400) <= 0.05 * (1 + 1e-6)
    reported = int(match[2]) * (1 if match[3] == "s" else 60) + int(match[1] or 0) * 3600
    return abs(reported - value) <= (0.5 if match[3] == "s" else 30) * (1 + 1e-6)


def tells_count(text: str, value: int) -> bool:
    """Whether ``text`` is a whole number with or without commas."""
    return text.replace(",", "") == str(value)
