"""Rounding: what float64 sums of many loads leave over. No choice of anybody, unlike ``params.py``."""

from __future__ import annotations

# A load may stray by this share of the plain mean before it counts as outside.
BAND_ROUNDING = 1e-9
