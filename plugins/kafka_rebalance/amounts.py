"""Amounts for people: bytes in binary units, times, ratios. Unknown is never 0."""

from __future__ import annotations

from collections.abc import Iterable

LISTED = 5
_BYTE_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
UNKNOWN = "unknown"
LEAST_PRICE = 0.5  # a smaller one rounds to nothing


def noun_of(count: int, noun: str) -> str:
    return noun if count == 1 else f"{noun}s"


def counted(count: int, noun: str) -> str:
    return f"{count:,} {noun_of(count, noun)}"


def changing(partitions: int) -> str:
    return f"{counted(partitions, 'partition')} {'changes' if partitions == 1 else 'change'}"


def listed(names: Iterable[object], most: int = LISTED) -> str:
    """``a, b and 3 more``."""
    every = [str(name) for name in names]
    more = len(every) - most
    return ", ".join(every[:most]) + (f" and {more} more" if more > 0 else "")


def format_bytes(value: float | None) -> str:
    """``1536`` → ``1.5 KiB``."""
    if value is None:
        return UNKNOWN
    size, unit = float(value), _BYTE_UNITS[0]
    for unit in _BYTE_UNITS:
        # Rounded first: 1024.0 KiB is 1.0 MiB.
        if abs(round(size, 0 if unit == "B" else 1)) < 1024 or unit == _BYTE_UNITS[-1]:
            break
        size /= 1024
    return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"


def format_seconds(value: float | None) -> str:
    """``5400`` → ``1 h 30 min``; a positive time is never 0: ``0.4`` → ``under 1 s``."""
    if value is None:
        return UNKNOWN
    if 0 < value < 1:
        return "under 1 s"
    if value < 60:
        return f"{value:.0f} s"
    minutes = round(value / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours < 48 else f"{hours / 24:.1f} days"


def format_ratio(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.2f} ×"


def format_percent(value: float | None) -> str:
    return UNKNOWN if value is None else f"{100 * value:.2f} %"


def format_amount(value: float | None, unit: str) -> str:
    if value is None:
        return UNKNOWN
    if unit == "bytes":
        return format_bytes(value)
    if unit == "bytes/s":
        return f"{format_bytes(value)}/s"
    if unit == "count":
        return f"{value:,.0f}"
    return f"{value:,.1f} %" if unit == "percent" else f"{value:,.1f} {unit}"
