"""``log_dirs.json``: a hashed plan between the dirs of each broker; and its progress.

DescribeLogDirs returns each replica's dir and, during a move, a future copy in the target dir that replaces it once it
has caught up.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any

from kafka_assignors.errors import InvalidInputError
from kafka_assignors.visible_text import excerpt
from kafka_rebalance.amounts import counted
from kafka_rebalance.facts import Fact
from kafka_rebalance.snapshot.model import ClusterSnapshot, Partition

FORMAT_VERSION = 1
KIND = "log_dir"
ANY = "any"  # Kafka's word for a replica that stays


@dataclass(frozen=True, slots=True)
class LogDirMove:
    """``dirs_from`` and ``dirs_to`` run along ``replicas``, ``None`` for one that stays. ``dir_bytes``: copied between
    disks.
    """

    topic: str
    partition: int
    replicas: tuple[int, ...]
    dirs_from: tuple[str | None, ...]
    dirs_to: tuple[str | None, ...]
    dir_bytes: int
    reasons: tuple[Fact, ...]
    wave: int = 0
    kind: str = KIND


@dataclass(frozen=True, slots=True)
class LogDirWave:
    """``seconds``: the busiest broker's bytes over the throttle."""

    moves: tuple[int, ...]
    dir_bytes: int
    seconds: float


@dataclass(frozen=True, slots=True)
class DirPlace:
    """A disk with its dirs, or a dir to be emptied. ``held_*``: bytes of movable replicas; ``used_*``: of the disk,
    ``None`` if unknown or emptied; ``floor_bytes``, ``ceiling_bytes``: requested limits of ``used_after``.
    """

    paths: tuple[str, ...]
    is_removed: bool
    total_bytes: int | None
    used_before: int | None
    used_after: int | None
    held_before: int
    held_after: int
    floor_bytes: int | None
    ceiling_bytes: int | None


@dataclass(frozen=True, slots=True)
class BrokerDirs:
    broker: int
    dir_bytes: int
    lower_bound_bytes: int
    places: tuple[DirPlace, ...]


@dataclass(frozen=True, slots=True)
class LogDirPlan:
    """``left_out``: brokers that were not balanced."""

    cluster: str
    cluster_id: str | None
    snapshot_id: str
    captured_at: str | None
    parameters: Mapping[str, Any]
    verdict: str
    reasons: tuple[Fact, ...]
    topic_ids: Mapping[str, str | None]
    replica_moves: int
    dir_bytes: int
    lower_bound_bytes: int
    seconds: float
    brokers: tuple[BrokerDirs, ...]
    moves: tuple[LogDirMove, ...]
    waves: tuple[LogDirWave, ...]
    left_out: Mapping[str, Fact]
    advisor_version: str = ""
    plan_id: str = ""
    format_version: int = FORMAT_VERSION

    def sealed(self) -> LogDirPlan:
        return replace(self, plan_id=sealed_id(self.document()))

    def document(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return document


def sealed_id(document: Mapping[str, Any]) -> str:
    """Return the sha256 of the document without ``plan_id``: UTF-8, keys sorted, no spaces."""
    content = {key: value for key, value in document.items() if key != "plan_id"}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class DirMoveState(StrEnum):
    DONE = "done"
    MOVING = "moving"  # future copy in the new dir
    OPEN = "open"
    ELSEWHERE = "elsewhere"  # in or to another dir
    GONE = "gone"  # no such replica, or the topic was recreated
    UNKNOWN = "unknown"  # its broker did not report log dirs


@dataclass(frozen=True, slots=True)
class DirProgress:
    states: tuple[DirMoveState, ...]
    not_empty: tuple[str, ...]

    @property
    def counts(self) -> dict[DirMoveState, int]:
        count_of = Counter(self.states)
        return {state: count_of[state] for state in DirMoveState}

    @property
    def is_done(self) -> bool:
        return set(self.states) <= {DirMoveState.DONE} and not self.not_empty


def require_log_dir_plan(document: Any, source: str) -> Mapping[str, Any]:
    """Raises InvalidInputError for another document, another version, or a changed plan."""
    if not isinstance(document, Mapping) or not {"plan_id", "moves", "parameters", "brokers"} <= document.keys():
        raise InvalidInputError.at(source, "is no plan between log dirs", "give log_dirs.json")
    if (version := document.get("format_version")) != FORMAT_VERSION:
        problem = f"{excerpt(version)} is unknown, this advisor reads {FORMAT_VERSION}"
        raise InvalidInputError.at(f"{source}: format_version", problem, "make the plan anew")
    if sealed_id(document) != document["plan_id"]:
        raise InvalidInputError.at(
            source, "plan_id is not its hash", "it was changed after it was made: make a new one"
        )
    return document


def progress_of(document: Mapping[str, Any], snapshot: ClusterSnapshot) -> DirProgress:
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
    paths = next(([log_dir.path for log_dir in owner.log_dirs] for owner in snapshot.brokers if owner.id == broker), [])
    goes_to = [paths[future.log_dir] for future in today.future if future.broker == broker]
    if goes_to:
        return DirMoveState.MOVING if goes_to == [way[1]] else DirMoveState.ELSEWHERE
    index = today.log_dirs[today.replicas.index(broker)] if today.log_dirs else None
    if index is None:
        return DirMoveState.UNKNOWN
    if paths[index] == way[1]:
        return DirMoveState.DONE
    return DirMoveState.OPEN if paths[index] == way[0] else DirMoveState.ELSEWHERE


def _not_empty(removed: Mapping[str, list[str]], snapshot: ClusterSnapshot) -> list[str]:
    """Return dirs that still hold replicas; a missing dir is empty."""
    emptied = {(int(broker), path) for broker, paths in removed.items() for path in paths}
    occupied = []
    for broker in snapshot.brokers:
        for index, log_dir in enumerate(broker.log_dirs):
            table = snapshot.partitions
            if (broker.id, log_dir.path) in emptied and table.log_dir is not None:
                count = int(((table.replicas == broker.id) & (table.log_dir == index)).sum())
                occupied += [f"broker {broker.id} {log_dir.path}: {counted(count, 'replica')}"] if count else []
    return occupied
