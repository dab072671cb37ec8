"""``log_dirs.json``: a plan between the dirs of each broker, immutable, hashed, self-contained."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from kafka_rebalance.facts import Fact

FORMAT_VERSION = 1
KIND = "log_dir"
ANY = "any"  # Kafka's word for a replica that stays where it is


@dataclass(frozen=True, slots=True)
class LogDirMove:
    """One partition's replicas that change their dir. ``dirs_from`` and ``dirs_to`` run along ``replicas``, ``None``
    where a replica stays in its dir. ``dir_bytes``: what is copied between disks, none of it over the network.
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
    """Moves that are started together. ``seconds``: the busiest broker's bytes over the throttle."""

    moves: tuple[int, ...]
    dir_bytes: int
    seconds: float


@dataclass(frozen=True, slots=True)
class DirPlace:
    """A disk with its dirs, or a dir to be emptied. ``held_*``: bytes of replicas that may move; ``used_*``: of the
    disk, by whomever, ``None`` where that is unknown or the dir is emptied; ``floor_bytes`` and ``ceiling_bytes``: what
    was asked of ``used_after``, ``None`` where nothing was.
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
    """One broker. ``lower_bound_bytes``: nobody moves less for limits widened to where the plan leaves each disk."""

    broker: int
    dir_bytes: int
    lower_bound_bytes: int
    places: tuple[DirPlace, ...]


@dataclass(frozen=True, slots=True)
class LogDirPlan:
    """``verdict``: rebalance, nothing_to_do, not_fixable_by_moving, or cannot_tell, where of a broker that something is
    asked of too little is known. ``left_out``: brokers that were not balanced.
    """

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
        """The same with its ``plan_id``."""
        return replace(self, plan_id=sealed_id(self.document()))

    def document(self) -> dict[str, Any]:
        """The JSON object."""
        document: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return document


def sealed_id(document: Mapping[str, Any]) -> str:
    """sha256 of the document without ``plan_id``: UTF-8, keys sorted, no spaces."""
    content = {key: value for key, value in document.items() if key != "plan_id"}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
