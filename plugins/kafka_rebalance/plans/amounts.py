"""Bytes as people say them."""

from __future__ import annotations


def in_words(amount: float) -> str:
    """``312 GB``: decimal units, as disks are sold."""
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if amount < 1000 or unit == "TB":
            return f"{amount:.3g} {unit}" if amount < 1000 else f"{amount:,.0f} {unit}"
        amount /= 1000
    raise AssertionError
