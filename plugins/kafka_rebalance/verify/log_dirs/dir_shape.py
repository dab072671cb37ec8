"""The shape of log_dirs.json, and its parameters."""

from __future__ import annotations

from typing import Any

from kafka_rebalance.verify.document.shape import (
    FACT,
    MAYBE_NUMBER,
    MAYBE_TEXT,
    NUMBER,
    Each,
    check_fields,
    is_of_another_version,
)
from kafka_rebalance.verify.faults import FaultList

_MAYBE_WHOLE = (int, type(None))
_PLACE = {
    "paths": [str], "is_removed": bool, "total_bytes": _MAYBE_WHOLE, "used_before": _MAYBE_WHOLE,
    "used_after": _MAYBE_WHOLE, "held_before": int, "held_after": int, "floor_bytes": _MAYBE_WHOLE,
    "ceiling_bytes": _MAYBE_WHOLE,
}  # fmt: skip
_MOVE = {
    "topic": str, "partition": int, "replicas": [int], "dirs_from": [MAYBE_TEXT], "dirs_to": [MAYBE_TEXT],
    "dir_bytes": int, "reasons": [FACT], "wave": int, "kind": str,
}  # fmt: skip
_PLAN = {
    "format_version": int, "plan_id": str, "cluster": str, "cluster_id": MAYBE_TEXT, "snapshot_id": str,
    "captured_at": MAYBE_TEXT, "advisor_version": str, "verdict": str, "reasons": [FACT],
    "parameters": {
        "balance_within": MAYBE_NUMBER, "remove_log_dirs": Each([str], by_broker=True), "throttle_bytes_per_s": int,
        "partitions_per_wave": int,
    },
    "topic_ids": Each(MAYBE_TEXT), "replica_moves": int, "dir_bytes": int, "lower_bound_bytes": int, "seconds": NUMBER,
    "brokers": [{"broker": int, "dir_bytes": int, "lower_bound_bytes": int, "places": [_PLACE]}],
    "moves": [_MOVE], "waves": [{"moves": [int], "dir_bytes": int, "seconds": NUMBER}], "left_out": Each(FACT),
}  # fmt: skip
VERDICTS = ("rebalance", "nothing_to_do", "not_fixable_by_moving", "cannot_tell")


def check_dir_shape(document: Any, faults: FaultList) -> bool:
    """Whether the document can be read at all."""
    if is_of_another_version(document, faults):
        return False
    check_fields(document, _PLAN, "plan", faults)
    if faults.has_any():
        return False
    if document["verdict"] not in VERDICTS:
        faults.add("shape", "plan.verdict", f"{document['verdict']!r} is none of {', '.join(VERDICTS)}")
    _check_parameters(document["parameters"], faults)
    return not faults.has_any()


def _check_parameters(parameters: dict[str, Any], faults: FaultList) -> None:
    within, removed = parameters["balance_within"], parameters["remove_log_dirs"]
    if within is not None and not 0 <= within < 1:
        faults.add("parameter", "parameters.balance_within", f"{within} is no share")
    if within is None and not removed:
        faults.add("parameter", "parameters", "ask for nothing")
    for broker, paths in removed.items():
        if not paths or paths != sorted(set(paths)):
            faults.add("parameter", f"parameters.remove_log_dirs.{broker}", "are no paths in order, each once")
    for name in ("throttle_bytes_per_s", "partitions_per_wave"):
        if parameters[name] < 1:
            faults.add("parameter", f"parameters.{name}", f"{parameters[name]} is below 1")
