"""Numbers of a recommendation as people read them."""

from __future__ import annotations

from collections.abc import Iterable

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
LISTED = 5


def in_bytes(value: float) -> str:
    """``1536`` → ``1.5 KiB``."""
    size = float(value)
    for unit in _UNITS[:-1]:
        if abs(size) < 1024:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} {_UNITS[-1]}"


def in_amount(value: float, unit: str) -> str:
    """A load in the unit that its resource has."""
    if unit == "bytes":
        return in_bytes(value)
    if unit == "bytes/s":
        return f"{in_bytes(value)}/s"
    return f"{value:.1f} %" if unit == "percent" else f"{value:,.0f}"


def in_time(seconds: float) -> str:
    """``5400`` → ``1 h 30 min``."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    hours, rest = divmod(minutes, 60)
    if hours == 0:
        return f"{minutes} min"
    return f"{hours} h {rest} min" if hours < 48 else f"{hours / 24:.1f} days"


def listed(names: Iterable[object], most: int = LISTED) -> str:
    """``a, b and 3 more``."""
    every = [str(name) for name in names]
    more = len(every) - most
    return ", ".join(every[:most]) + (f" and {more} more" if more > 0 else "")


def counted(count: int, noun: str) -> str:
    """``1 partition``, ``2 partitions``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
