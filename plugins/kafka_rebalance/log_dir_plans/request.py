"""What is asked of a plan between log dirs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kafka_rebalance.errors import UsageError
from kafka_rebalance.options.plan_options import DEFAULT_THROTTLE_BYTES_PER_S
from kafka_rebalance.snapshot.model import Broker, ClusterSnapshot
from kafka_rebalance.visible_text import excerpt

BALANCE, REMOVE = "--balance-log-dirs", "--remove-log-dir"


@dataclass(frozen=True, slots=True)
class LogDirRequest:
    """At least one of the first two is given. Raises UsageError for a value that cannot be.

    within   how far the used share of each disk may be from the share used of its broker's disks together: 0.1 is ten
             points of a hundred; None: disks are not balanced
    removed  broker and path of each dir to be emptied
    """

    within: float | None = None
    removed: frozenset[tuple[int, str]] = frozenset()
    throttle_bytes_per_s: int = DEFAULT_THROTTLE_BYTES_PER_S
    partitions_per_wave: int = 5000

    def __post_init__(self) -> None:
        if self.within is None and not self.removed:
            raise UsageError.at("log dirs", "nothing is asked", f"give {BALANCE} 10% or {REMOVE} BROKER:/path")
        if self.within is not None and not (math.isfinite(self.within) and 0 <= self.within < 1):
            raise UsageError.at(BALANCE, f"{excerpt(self.within)} is no share", "give 10% or 0.1")
        for name in ("throttle_bytes_per_s", "partitions_per_wave"):
            if getattr(self, name) < 1:
                raise UsageError.at(name, f"{excerpt(getattr(self, name))} cannot be", "give 1 or more")

    def removed_of(self, broker: int) -> frozenset[str]:
        """Paths of the dirs of one broker that are to be emptied."""
        return frozenset(path for owner, path in self.removed if owner == broker)

    def document(self) -> dict[str, Any]:
        """For ``parameters`` of log_dirs.json: complete."""
        removed: dict[str, list[str]] = {}
        for broker, path in sorted(self.removed):
            removed.setdefault(str(broker), []).append(path)
        return {
            "balance_within": self.within,
            "remove_log_dirs": removed,
            "throttle_bytes_per_s": self.throttle_bytes_per_s,
            "partitions_per_wave": self.partitions_per_wave,
        }


def require_dirs_fit(snapshot: ClusterSnapshot, request: LogDirRequest) -> None:
    """Raises UsageError for a dir that is not there or cannot be emptied, and for a cluster with no dirs to choose."""
    brokers = {broker.id: broker for broker in snapshot.brokers}
    if not any(len(broker.log_dirs) > 1 for broker in snapshot.brokers):
        raise UsageError.at("log dirs", "no broker is seen to have two of them", "read the live cluster, or its dump")
    for broker, path in sorted(request.removed):
        _require_removable(brokers, broker, path, request.removed_of(broker))


def _require_removable(brokers: Mapping[int, Broker], broker: int, path: str, removed: frozenset[str]) -> None:
    place = f"{REMOVE} {broker}:{excerpt(path)}"
    if broker not in brokers:
        raise UsageError.at(place, "there is no such broker", f"known: {', '.join(map(str, sorted(brokers)))}")
    found = {log_dir.path: log_dir for log_dir in brokers[broker].log_dirs}
    if path not in found:
        raise UsageError.at(place, "the broker has no such log dir", f"known: {', '.join(found) or 'none'}")
    if found[path].error is not None:
        raise UsageError.at(place, "the dir failed: nothing can be copied from it", "take its broker's replicas off it")
    if not brokers[broker].state.is_heard:
        raise UsageError.at(place, f"the broker is {brokers[broker].state.value}", "start it first")
    if not brokers[broker].state.stays:
        raise UsageError.at(place, f"the broker is {brokers[broker].state.value}", "everything leaves it anyway")
    staying = [one for one in found.values() if one.path not in removed and one.error is None and not one.is_cordoned]
    if not staying:
        raise UsageError.at(
            place, "no other dir of the broker may receive", f"remove the broker: --remove-broker {broker}"
        )
