"""Where one broker's replicas are to lie: dirs to be emptied are empty, disks as even as was asked, for few bytes.

**Promises, in this order.** A dir that is to be emptied holds nothing. No disk is filled above the most it may be used,
and one that is fuller already gets no fuller. Each disk within its limits, as near as whole replicas come. Few bytes.

Where no balance was asked for, what leaves a dir goes, the largest first, to the disk that is then the least used; only
if that overfills one, replicas are placed in whatever room there is. Example: 40 and 20 leave, disks of 100 hold 10 and
40: 40 goes to the first (50), 20 to the second (60). A balance that is not worth its bytes is left: less than a share
of them brought nearer. O(``place_in_log_dirs`` + R × D).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kafka_rebalance.arrays import Longs
from kafka_rebalance.errors import InfeasibleError
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.log_dir_plans.places import BrokerPlaces
from kafka_rebalance.planner.log_dirs.bound import fewest_moved_bytes
from kafka_rebalance.planner.log_dirs.placement import place_in_log_dirs
from kafka_rebalance.planner.log_dirs.problem import LogDirProblem
from kafka_rebalance.planner.params import LOG_DIRS, LogDirParams


@dataclass(frozen=True, slots=True, eq=False)
class PlacedDirs:
    """``place_of`` int64[R] after the plan; ``floor_bytes``, ``ceiling_bytes`` int64[D]: what a place's movable
    replicas should hold, as it was asked; ``fixed_bytes`` int64[D]: what else its volume holds; ``bound_bytes``: no
    placement moves less whose places end within these limits, each widened to where this one leaves it.
    """

    places: BrokerPlaces
    place_of: Longs
    floor_bytes: Longs
    ceiling_bytes: Longs
    fixed_bytes: Longs
    bound_bytes: int

    @property
    def moved_bytes(self) -> int:
        """Bytes that are copied between dirs of this broker."""
        return int(self.places.size_bytes[self.place_of != self.places.place_of].sum())


def place_broker(places: BrokerPlaces, within: float | None, params: LogDirParams = LOG_DIRS) -> PlacedDirs:
    """Raises InfeasibleError where a dir cannot be emptied."""
    _refuse_stuck(places)
    fixed, most = _fixed(places), _most(places, params)
    floor, ceiling = _asked(places, within, fixed, most)
    held = places.held_bytes(places.place_of)
    lacking = 0
    for found in _tries(places, within, (floor, ceiling), most, params):
        after = places.held_bytes(found)
        is_left = places.is_removed[found]
        over = np.where(places.is_removed, 0, np.maximum(after - np.maximum(most, held), 0))
        lacking = int(places.size_bytes[is_left].sum() + over.sum())
        if not is_left.any() and not over.any():
            asked = _problem(places, floor, ceiling)
            return PlacedDirs(places, found, floor, ceiling, fixed, _bound(places, asked, found))
    removed = (dirs for dirs, is_removed in zip(places.dirs, places.is_removed.tolist(), strict=True) if is_removed)
    raise InfeasibleError(
        fact(
            FactCode.DIR_NOT_EMPTIED,
            broker=places.broker.id,
            paths=tuple(log_dir.path for dirs in removed for log_dir in dirs),
            lacking_bytes=lacking,
            most_used_share=params.most_used_ratio,
        ),
        fact(FactCode.FREE_DIR),
    )


def _refuse_stuck(places: BrokerPlaces) -> None:
    if places.is_removed.any() and len(places.stuck):
        raise InfeasibleError(
            fact(FactCode.DIR_HOLDS_IMMOVABLE, broker=places.broker.id, replicas=len(places.stuck)),
            fact(FactCode.WAIT_FOR_DIR_MOVES),
        )


def _fixed(places: BrokerPlaces) -> Longs:
    """int64[D]: what a place's volume holds beside all replicas on it that may move."""
    held = np.zeros(len(places.total_bytes), dtype=np.int64)
    np.add.at(held, places.volume_of, places.held_bytes(places.place_of))
    fixed: Longs = np.maximum(places.used_bytes - held, 0)[places.volume_of]
    return fixed


def _most(places: BrokerPlaces, params: LogDirParams) -> Longs:
    """int64[D]: movable bytes at most, by the size of the disk; where that is unknown, all there are."""
    if not places.knows_sizes:
        return np.full(len(places.dirs), int(places.size_bytes.sum()), dtype=np.int64)
    allowed = np.floor(params.most_used_ratio * places.total_bytes).astype(np.int64)[places.volume_of]
    most: Longs = np.maximum(allowed - _fixed(places), 0)
    return most


def _asked(places: BrokerPlaces, within: float | None, fixed: Longs, most: Longs) -> tuple[Longs, Longs]:
    """Floor and ceiling of each place's movable bytes."""
    floor = np.zeros(len(places.dirs), dtype=np.int64)
    held, stays = places.held_bytes(places.place_of), ~places.is_removed
    ceiling = np.where(stays, np.maximum(most, held), 0)
    if within is not None and places.knows_sizes:
        total = places.total_bytes[places.volume_of]
        share = (int(held.sum()) + int(fixed[stays].sum())) / int(total[stays].sum())
        high = np.floor((share + within) * total).astype(np.int64) - fixed
        low = np.ceil((share - within) * total).astype(np.int64) - fixed
        ceiling = np.where(stays, np.clip(high, 0, ceiling), 0)
        floor = np.where(places.may_receive, np.clip(low, 0, ceiling), 0)
    return floor, ceiling


def _tries(
    places: BrokerPlaces, within: float | None, asked: tuple[Longs, Longs], most: Longs, params: LogDirParams
) -> Iterator[Longs]:
    """Placements to choose from, the best first; the last one may use all the room there is."""
    if within is None or not places.knows_sizes:
        yield _spread(places)
    else:
        problem = _problem(places, *asked)
        found = place_in_log_dirs(problem).dir_of
        outside, then = (sum(problem.cost(dir_of)[:2]) for dir_of in (problem.dir_of, found))
        is_vain = outside - then < params.least_gain_per_byte * problem.moved_bytes(found)
        yield problem.dir_of if is_vain and not places.is_removed.any() else found
    held = places.held_bytes(places.place_of)
    widest = np.where(places.is_removed, 0, np.maximum(most, held))
    yield place_in_log_dirs(_problem(places, np.zeros(len(held), dtype=np.int64), widest)).dir_of


def _spread(places: BrokerPlaces) -> Longs:
    """What leaves goes, the largest first, to the disk that is then the least used; without sizes, holds the least."""
    place_of = places.place_of.copy()
    used = (places.held_bytes(place_of) + _fixed(places)).astype(np.float64)
    scale = places.total_bytes[places.volume_of].astype(np.float64) if places.knows_sizes else np.ones(len(used))
    leaving = np.flatnonzero(places.is_removed[place_of])
    for row in leaving[np.argsort(-places.size_bytes[leaving], kind="stable")].tolist():
        after = np.where(places.may_receive, (used + places.size_bytes[row]) / scale, np.inf)
        target = int(after.argmin())
        place_of[row] = target
        used[target] += places.size_bytes[row]
    return place_of


def _problem(places: BrokerPlaces, floor: Longs, ceiling: Longs) -> LogDirProblem:
    return LogDirProblem(
        size_bytes=np.maximum(places.size_bytes, 1),
        dir_of=places.place_of,
        floor_bytes=np.minimum(floor, ceiling),
        ceiling_bytes=ceiling,
        may_receive=places.may_receive,
    )


def _bound(places: BrokerPlaces, asked: LogDirProblem, place_of: Longs) -> int:
    """Empty replicas count as a byte there, and cost none."""
    load = asked.load_bytes(place_of)
    floor, ceiling = np.minimum(asked.floor_bytes, load), np.maximum(asked.ceiling_bytes, load)
    return max(0, fewest_moved_bytes(asked, floor, ceiling) - int((places.size_bytes == 0).sum()))
