"""Hash and identity: is this the plan that was sealed, and is it of this snapshot?"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from typing import Any

from kafka_rebalance.snapshot.codec import snapshot_id
from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.snapshot.times import optional_time_text
from kafka_rebalance.verify.faults import Fault, FaultList

_SNAPSHOT_PLACE = "plan.snapshot_id"
_ID = re.compile(r"[0-9a-f]{64}")


def check_seal(document: dict[str, Any], faults: FaultList) -> None:
    """``plan_id`` is the sha256 of the rest: UTF-8, keys sorted, no spaces (DESIGN §6)."""
    rest = {key: value for key, value in document.items() if key != "plan_id"}
    try:
        text = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        faults.add("hash", "plan", f"cannot be written as JSON ({error})")
        return
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    faults.require_equal("hash", "plan.plan_id", document.get("plan_id"), digest)


def check_identity(document: dict[str, Any], snapshot: ClusterSnapshot, faults: FaultList) -> None:
    """Add a fault where the plan does not name this cluster and this snapshot.

    Of another snapshot only that is reported: everything else would differ with it.
    """
    found = snapshot_id(snapshot)
    if document["snapshot_id"] != found:
        faults.add("identity", _SNAPSHOT_PLACE, _made_from_another(document["snapshot_id"], found))
    else:
        faults.require_equal("identity", "plan.cluster", document["cluster"], snapshot.cluster)
        faults.require_equal("identity", "plan.cluster_id", document["cluster_id"], snapshot.cluster_id)
        written = optional_time_text(snapshot.captured_at)
        faults.require_equal("identity", "plan.captured_at", document["captured_at"], written)
    if document["continues"] is not None and not _ID.fullmatch(document["continues"]):
        faults.add("identity", "plan.continues", f"{document['continues'][:80]!r} is no plan_id")


def is_of_another_snapshot(faults: Iterable[Fault]) -> bool:
    """Whether ``check_identity`` found that; then nothing else is worth a look."""
    return any(fault.place == _SNAPSHOT_PLACE for fault in faults)


def _made_from_another(claimed: str, found: str) -> str:
    return (
        f"this plan was made from snapshot {claimed[:8]}, INPUT is {found[:8]}, not what it was made from: whether it "
        "still holds, or is done, tells `rebalance-advisor check PLAN INPUT`"
    )
