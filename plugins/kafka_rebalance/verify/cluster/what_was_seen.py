"""``cannot_tell`` and what was seen: no claims about brokers not seen alive, and blindness has a cause."""

from __future__ import annotations

from typing import Any

import numpy as np

from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.verify.cluster.arrays import KINDS
from kafka_rebalance.verify.faults import FaultList

CANNOT_TELL = "cannot_tell"
# How old the reading was when somebody asked cannot be recomputed from plan and snapshot.
TOO_OLD = "snapshot_too_old"


def check_what_was_seen(document: dict[str, Any], snapshot: ClusterSnapshot, faults: FaultList) -> None:
    """The necessary half of the rule: how much of what was not seen is too much stays the planner's judgement."""
    if document["verdict"] == CANNOT_TELL:
        if document["moves"] or document["frontier"]:
            faults.add("verdict", "plan.verdict", "nobody can tell, yet moves or points of a frontier are told")
        if _is_all_seen(snapshot) and not _is_too_old(document, snapshot):
            faults.add("verdict", "plan.verdict", "nobody can tell, yet all of the cluster was seen")
    elif not _is_any_alive(snapshot):
        faults.add("verdict", "plan.verdict", f"{document['verdict']}, yet no broker was seen alive")
    elif not (snapshot.partitions.leader >= 0).any():
        faults.add("verdict", "plan.verdict", f"{document['verdict']}, yet no partition was seen that has a leader")


def _is_too_old(document: dict[str, Any], snapshot: ClusterSnapshot) -> bool:
    """The plan's first reason is the age of a reading that has a time."""
    first = next(iter(document.get("reasons", ())), None)
    return snapshot.captured_at is not None and first is not None and first["code"] == TOO_OLD


def _is_any_alive(snapshot: ClusterSnapshot) -> bool:
    return any(broker.state.is_heard for broker in snapshot.brokers)


def _is_all_seen(snapshot: ClusterSnapshot) -> bool:
    """Brokers alive with their log dirs, partitions led, each kind of load known for all or for none, no gap."""
    table = snapshot.partitions
    if not snapshot.brokers or not len(table) or not bool((table.leader >= 0).all()) or table.offline:
        return False
    if any(gap.subject_type in ("broker", "topic", "partition", "cluster", "right") for gap in snapshot.coverage):
        return False
    healthy = all(
        broker.state.is_heard and not any(log_dir.error for log_dir in broker.log_dirs) for broker in snapshot.brokers
    )
    unknown = [int(np.isnan(snapshot.load(kind)).sum()) for kind in KINDS.values()]
    return healthy and all(count in (0, len(table)) for count in unknown)
