"""The limits that a team sets to any plan: what it may cost, what it may not touch, when it may be carried out."""

from __future__ import annotations

import re
from dataclasses import dataclass

from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.policy.weekly_window import WeeklyWindow
from kafka_rebalance.visible_text import excerpt


@dataclass(frozen=True, slots=True)
class PlanPolicy:
    """None, or nothing in a list: no such limit.

    max_hours                    of all waves at the plan's throttle
    max_wave_hours               of each of them
    max_move_bytes, max_moves, max_leader_changes
    max_throttle_bytes_per_s     of each broker in each direction
    max_gap                      share of its proven bound that the plan's bytes may lie above it
    never_moved                  patterns of topics: no replica and no leader of them
    never_filled                 brokers that nothing is copied to
    windows                      of the week: a wave must fit into one; carrying out begins within one
    """

    max_hours: float | None = None
    max_wave_hours: float | None = None
    max_move_bytes: int | None = None
    max_moves: int | None = None
    max_leader_changes: int | None = None
    max_throttle_bytes_per_s: int | None = None
    max_gap: float | None = None
    never_moved: tuple[str, ...] = ()
    never_filled: tuple[int, ...] = ()
    windows: tuple[WeeklyWindow, ...] = ()

    def __post_init__(self) -> None:
        """Raises InvalidInputError for a pattern that is none."""
        for pattern in self.never_moved:
            try:
                re.compile(pattern)
            except re.error as error:
                raise InvalidInputError.at(f"never_moved: {excerpt(pattern)}", f"is no pattern: {error}") from error

    def forbids(self, topic: str) -> bool:
        """May this topic not be touched?"""
        return any(re.fullmatch(pattern, topic) for pattern in self.never_moved)
