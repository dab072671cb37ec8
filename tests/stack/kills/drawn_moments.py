"""The moments at which something is killed, drawn from a seed: the same seed, the same list."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DrawnMoment:
    """``fraction``: of a run, or of the process's life where it lives in one task; ``pick``: which of several."""

    number: int
    kind: str
    fraction: float
    pick: float

    def one_of(self, pids: Sequence[int]) -> int:
        """The drawn one."""
        return sorted(pids)[int(self.pick * len(pids))]


def draw(kinds: Sequence[str], seed: int, times: int = 4) -> list[DrawnMoment]:
    """Every kind so many ``times``, in random order. Of each kind one falls into every part of the time, so that
    four draws are not four of the same task.
    """
    chance = random.Random(seed)
    drawn = [(kind, (part + chance.random()) / times, chance.random()) for kind in kinds for part in range(times)]
    chance.shuffle(drawn)
    return [DrawnMoment(number, *moment) for number, moment in enumerate(drawn, 1)]
