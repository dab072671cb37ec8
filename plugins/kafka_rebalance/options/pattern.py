"""Regular expressions that options hold: one refusal for all of them."""

from __future__ import annotations

import re

from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.options.limits import LONGEST_TEXT
from kafka_rebalance.visible_text import excerpt


def require_pattern(pattern: object, place: str) -> None:
    """Raises InvalidInputError at ``place`` for what is no text, a blank one, or no regular expression."""
    if not isinstance(pattern, str) or not pattern.strip():
        raise InvalidInputError.at(place, f"{excerpt(pattern)} is no text")
    if len(pattern) > LONGEST_TEXT:
        raise InvalidInputError.at(place, f"{excerpt(pattern)} is longer than {LONGEST_TEXT:,} characters")
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise InvalidInputError.at(place, f"{excerpt(pattern)} is no regular expression ({error})") from error
