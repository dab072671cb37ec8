"""Numbers in pinned answers: nine digits, beyond the rounding of sums."""

from __future__ import annotations

import numpy as np


def number(value: float) -> str:
    """0.3 for 0.30000000000000004."""
    return f"{float(value) + 0.0:.9g}"


def numbers(values: np.ndarray) -> str:
    rows = np.atleast_2d(values)
    return " | ".join(" ".join("0" if abs(value) < 1e-12 else number(value) for value in row) for row in rows.tolist())


def digits(values: np.ndarray) -> str:
    rows = np.atleast_2d(np.asarray(values, dtype=np.int64))
    return " | ".join(" ".join(map(str, row)) for row in rows.tolist())
