"""Releases of a client or of Kafka, and spans of them with equal answers.

Example: ``Releases("Kafka", "3.5.2", "3.7.0")`` holds 3.6.2 and 3.7.0, not 3.7.1. "3.7" is some release of that line:
of "3.5.2 – 3.7.0" and "3.7.1 – 4.3" both, so that whoever asks has to name the third number.
"""

from __future__ import annotations

from dataclasses import dataclass

from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.visible_text import excerpt

Release = tuple[int, ...]


def release_of(text: object, place: str = "version") -> Release:
    """``4.0.1`` → (4, 0, 1). Raises InvalidInputError, naming ``place``, for what is no release."""
    parts = text.split(".") if isinstance(text, str) else []
    is_release = 1 <= len(parts) <= 3 and all(part.isdecimal() and part.isascii() and len(part) <= 4 for part in parts)
    if not is_release:
        raise InvalidInputError.at(place, f"expected a release such as 3.7.1, found {excerpt(text)}")
    return tuple(int(part) for part in parts)


@dataclass(frozen=True, slots=True)
class Releases:
    """All releases of ``product`` from ``first`` to ``last``; a last one of two numbers is its whole line."""

    product: str
    first: str
    last: str

    def __str__(self) -> str:
        span = self.first if self.first == self.last else f"{self.first} – {self.last}"
        return f"{self.product} {span}"

    def touches(self, release: Release) -> bool:
        """``release`` (or one of its line, where it is shorter than three numbers) is among them."""
        first, last = release_of(self.first), release_of(self.last)
        return first[: len(release)] <= release and release[: len(last)] <= last
