"""Whole numbers in answers of foreign code: of any type that is one, numpy's among them; 2.0 and True are none."""

from __future__ import annotations

import operator


def whole_number(value: object) -> int | None:
    """The number, ``None`` where it is none or a truth value."""
    if isinstance(value, bool):
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return None
