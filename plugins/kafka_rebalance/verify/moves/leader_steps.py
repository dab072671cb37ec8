"""Leaders that change in one wave: at most so many from a broker and to it, and what moves with them is told."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.verify.cluster.arrays import ClusterArrays, Floats
from kafka_rebalance.verify.cluster.claimed_moves import ClaimedMoves
from kafka_rebalance.verify.faults import FaultList

Longs = npt.NDArray[np.int64]


def check_leader_steps(
    place: str,
    wave: dict[str, Any],
    claimed: ClaimedMoves,
    cluster: ClusterArrays,
    parameters: PlanOptions,
    faults: FaultList,
) -> None:
    """One wave, forward or back: as many leaders change the one way as the other. Without a limit nothing is told."""
    members = np.array(wave["moves"], dtype=np.int64)
    limit = parameters.max_leader_changes_per_wave
    changed = members[claimed.leader_from[members] != claimed.leader_to[members]]
    expected: tuple[int | None, float | None, float | None] = (None, None, None)
    if limit is not None:
        rows = claimed.row[changed]
        expected = (len(changed), _known_sum(cluster.rate[rows]), _known_sum(cluster.read_rate[rows]))
    count, written, read = expected
    faults.require_equal("wave_leaders", f"{place}.leader_changes", wave["leader_changes"], count)
    for name, found in (("leader_in_bytes_per_s", written), ("leader_out_bytes_per_s", read)):
        faults.require_close("wave_leaders", f"{place}.{name}", wave[name], found)
    for broker, leaders in enumerate(leader_changes(claimed, cluster, members)):
        if limit is not None and leaders > limit:
            text = f"broker {cluster.ids[broker]} gives or takes {leaders} leaders, {limit} allowed in one wave"
            faults.add("wave_limit", place, text)


def leader_changes(claimed: ClaimedMoves, cluster: ClusterArrays, members: Longs) -> list[int]:
    """By broker: how many leaders it gives, or takes, whichever is more."""
    changed = members[claimed.leader_from[members] != claimed.leader_to[members]]
    before, after = claimed.leader_from[changed], claimed.leader_to[changed]
    count = len(cluster.ids)
    sides = [np.bincount(side[side >= 0], minlength=count).tolist() for side in (before, after)]
    return [max(pair) for pair in zip(*sides, strict=True)]


def _known_sum(rates: Floats) -> float | None:
    total = float(rates.sum())
    return None if np.isnan(total) else total
