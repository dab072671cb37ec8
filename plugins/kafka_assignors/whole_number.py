"""Whole numbers of foreign code, numpy's included; 2.0 and True are none."""

from __future__ import annotations

import operator


def whole_number(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return None
