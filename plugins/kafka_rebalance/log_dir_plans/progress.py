"""How far a plan between log dirs is, on a newer reading: what lies where, and what is being copied right now.

DescribeLogDirs tells for each replica the dir it lies in, and while it moves a second, future copy in the dir it goes
to. The copy takes its place once it has caught up; from then on the replica is in the new dir.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.log_dir_plans.plan import FORMAT_VERSION, sealed_id
from kafka_rebalance.snapshot.model import ClusterSnapshot, Partition
from kafka_rebalance.visible_text import excerpt


class DirMoveState(StrEnum):
    """One of these for each replica that moves."""

    DONE = "done"  # it lies in the new dir
    MOVING = "moving"  # a future copy is in the new dir
    OPEN = "open"  # it lies in the old dir, and nothing is being copied
    ELSEWHERE = "elsewhere"  # in another dir, or on the way to one
    GONE = "gone"  # no such replica, or of a topic that was made anew
    UNKNOWN = "unknown"  # its broker did not tell its log dirs


@dataclass(frozen=True, slots=True)
class DirProgress:
    """``states`` of each replica that moves, in the plan's order; ``not_empty``: dirs to be emptied that hold some."""

    states: tuple[DirMoveState, ...]
    not_empty: tuple[str, ...]

    @property
    def counts(self) -> dict[DirMoveState, int]:
        """How many are in each state, in the order of the states."""
        found = Counter(self.states)
        return {state: found[state] for state in DirMoveState}

    @property
    def is_done(self) -> bool:
        """Every replica lies where the plan has it, and what was to be emptied is empty."""
        return set(self.states) <= {DirMoveState.DONE} and not self.not_empty


def require_log_dir_plan(document: Any, place: str) -> Mapping[str, Any]:
    """Raises InvalidInputError where it is no such plan, of another version, or was changed after it was made."""
    if not isinstance(document, Mapping) or not {"plan_id", "moves", "parameters", "brokers"} <= document.keys():
        raise InvalidInputError.at(place, "is no plan between log dirs", "give log_dirs.json")
    if (found := document.get("format_version")) != FORMAT_VERSION:
        problem = f"{excerpt(found)} is unknown, this advisor reads {FORMAT_VERSION}"
        raise InvalidInputError.at(f"{place}: format_version", problem, "make the plan anew")
    if sealed_id(document) != document["plan_id"]:
        raise InvalidInputError.at(place, "plan_id is not its hash", "it was changed after it was made: make a new one")
    return document


def progress_of(document: Mapping[str, Any], snapshot: ClusterSnapshot) -> DirProgress:
    """``document``: as ``require_log_dir_plan`` gives it. O(moves + replicas)."""
    if document["cluster_id"] is not None and snapshot.cluster_id not in (None, document["cluster_id"]):
        raise InvalidInputError.at("snapshot", f"is of cluster {snapshot.cluster_id}, the plan of another")
    row_of, ids = snapshot.row_of, {topic.name: topic.topic_id for topic in snapshot.topics}
    states: list[DirMoveState] = []
    for move in document["moves"]:
        row = row_of.get((move["topic"], move["partition"]))
        then, now = document["topic_ids"].get(move["topic"]), ids.get(move["topic"])
        is_anew = then is not None and now is not None and then != now
        today = None if row is None or is_anew else snapshot.partition(row)
        ways = zip(move["replicas"], move["dirs_from"], move["dirs_to"], strict=True)
        states += [_state(snapshot, today, broker, (old, new)) for broker, old, new in ways if new is not None]
    return DirProgress(tuple(states), tuple(_not_empty(document["parameters"]["remove_log_dirs"], snapshot)))


def _state(snapshot: ClusterSnapshot, today: Partition | None, broker: int, way: tuple[str, str]) -> DirMoveState:
    if today is None or broker not in today.replicas:
        return DirMoveState.GONE
    paths = next(([one.path for one in owner.log_dirs] for owner in snapshot.brokers if owner.id == broker), [])
    goes_to = [paths[future.log_dir] for future in today.future if future.broker == broker]
    if goes_to:
        return DirMoveState.MOVING if goes_to == [way[1]] else DirMoveState.ELSEWHERE
    place = today.log_dirs[today.replicas.index(broker)] if today.log_dirs else None
    if place is None:
        return DirMoveState.UNKNOWN
    if paths[place] == way[1]:
        return DirMoveState.DONE
    return DirMoveState.OPEN if paths[place] == way[0] else DirMoveState.ELSEWHERE


def _not_empty(removed: Mapping[str, list[str]], snapshot: ClusterSnapshot) -> list[str]:
    """A dir that is gone by now is empty."""
    wanted = {(int(broker), path) for broker, paths in removed.items() for path in paths}
    found = []
    for broker in snapshot.brokers:
        for index, log_dir in enumerate(broker.log_dirs):
            table = snapshot.partitions
            if (broker.id, log_dir.path) in wanted and table.log_dir is not None:
                held = int(((table.replicas == broker.id) & (table.log_dir == index)).sum())
                found += [f"broker {broker.id} {log_dir.path}: {held:,} replicas"] if held else []
    return found
