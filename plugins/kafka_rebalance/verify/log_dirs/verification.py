"""All checks of a plan between log dirs, in order: what cannot be read stops the rest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.verify.document.seal import check_identity, check_seal, is_of_another_snapshot
from kafka_rebalance.verify.faults import Fault, FaultList
from kafka_rebalance.verify.log_dirs.dir_files import check_dir_files
from kafka_rebalance.verify.log_dirs.dir_levels import check_levels, is_unknown
from kafka_rebalance.verify.log_dirs.dir_moves import DirChange, read_dir_moves
from kafka_rebalance.verify.log_dirs.dir_places import disks_of
from kafka_rebalance.verify.log_dirs.dir_shape import check_dir_shape
from kafka_rebalance.verify.log_dirs.dir_waves import check_dir_waves


def check_log_dir_plan(
    document: Any, snapshot: ClusterSnapshot, files: Mapping[str, bytes] | None = None
) -> tuple[Fault, ...]:
    """What is wrong; nothing where all is right. ``files``: what lies beside it, by path. Never raises.

    O(replicas + R × 1,000 for each place).
    """
    faults = FaultList()
    if not check_dir_shape(document, faults):
        return tuple(faults.faults)
    check_seal(document, faults)
    check_identity(document | {"continues": None}, snapshot, faults)
    if is_of_another_snapshot(faults.faults):
        return tuple(faults.faults)
    disks = disks_of(snapshot, document["parameters"])
    for broker, paths in document["parameters"]["remove_log_dirs"].items():
        mine = disks.get(int(broker))
        for path in paths:
            if mine is None or mine.place_at(path) is None:
                faults.add("parameter", f"parameters.remove_log_dirs.{broker}", f"{path} is no dir of it that works")
    changes = read_dir_moves(document, snapshot, disks, faults)
    _check_costs(document, changes, snapshot, faults)
    check_levels(document, disks, changes, faults)
    check_dir_waves(document, disks, changes, faults)
    unknown = {str(broker) for broker, mine in disks.items() if is_unknown(document["parameters"], mine)}
    if document["parameters"]["balance_within"] is not None:
        alive = [broker for broker in snapshot.brokers if broker.state.is_heard and broker.state.stays]
        unknown |= {str(broker.id) for broker in alive if not broker.log_dirs}
    _check_verdict(document, unknown, faults)
    if files is not None:
        check_dir_files(document, files, faults)
    return tuple(faults.faults)


def _check_costs(
    document: dict[str, Any], changes: list[DirChange], snapshot: ClusterSnapshot, faults: FaultList
) -> None:
    faults.require_equal("cost", "plan.replica_moves", document["replica_moves"], len(changes))
    faults.require_equal("cost", "plan.dir_bytes", document["dir_bytes"], sum(change.size for change in changes))
    bounds = sum(entry["lower_bound_bytes"] for entry in document["brokers"])
    faults.require_equal("gap", "plan.lower_bound_bytes", document["lower_bound_bytes"], bounds)
    ids = {topic.name: topic.topic_id for topic in snapshot.topics}
    moved = {move["topic"] for move in document["moves"]}
    faults.require_equal("identity", "plan.topic_ids", document["topic_ids"], {name: ids.get(name) for name in moved})


def _check_verdict(document: dict[str, Any], unknown: set[str], faults: FaultList) -> None:
    verdict, is_moved, parameters = document["verdict"], bool(document["moves"]), document["parameters"]
    outside = [
        place
        for entry in document["brokers"]
        for place in entry["places"]
        if None not in (limits := (place["floor_bytes"], place["used_after"], place["ceiling_bytes"]))
        and not limits[0] <= limits[1] <= limits[2]
        and document["parameters"]["balance_within"] is not None
    ]
    right = "rebalance" if is_moved else "not_fixable_by_moving" if outside else "nothing_to_do"
    if unknown & parameters["remove_log_dirs"].keys() or (unknown and right == "nothing_to_do"):
        right = "cannot_tell"
    if verdict != right:
        faults.add("verdict", "plan.verdict", f"says {verdict}, it is {right}")
    if not document["reasons"]:
        faults.add("verdict", "plan.reasons", "no reason is given")
