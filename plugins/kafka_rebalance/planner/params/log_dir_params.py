"""Placing replicas in the dirs of one broker."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LogDirParams:
    """Placing replicas in the dirs of one broker."""

    bound_units: int = 1_000  # a need is counted in so many units, rounded to the bound's disfavour
    over_weight: float = 1_000.0  # a byte above a ceiling against one below a floor, while moves are chosen
    whole_cells: int = 240  # replicas × dirs up to which a broker is decided in whole numbers: hundredths of a second
    whole_nodes: int = 2_000
    most_used_ratio: float = 0.9  # no disk is filled beyond by what moves to it; one that is fuller gets nothing
    least_gain_per_byte: float = 0.05  # bytes that each byte moved must bring within limits, where nothing must move


LOG_DIRS = LogDirParams()
