"""What each move repairs: the broker and resource that stand further from their share without it.

A move changes what every broker that it touches carries. Leaving it out of the whole plan, a broker's load goes back by
what the move changed; where that takes it further from its share, the move repairs it. Of all that a move repairs, what
stood furthest from its share before is told.

Example: disks at 1.5, 1.0 and 0.5 × their share, one move of 0.5 from the first to the last. Without it the first
stands at 1.5 instead of 1.0, the last at 0.5: both are repaired alike, and who gives comes first.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from kafka_rebalance.arrays import Floats, Ints, Longs
from kafka_rebalance.cluster_arrays.resource_columns import columns_of
from kafka_rebalance.cluster_arrays.tolerances import BAND_ROUNDING
from kafka_rebalance.plans.draft import Draft
from kafka_rebalance.plans.request import PlanRequest


class Repair(IntEnum):
    """How a broker comes nearer to its share."""

    RELIEVES = 0  # it had more
    FILLS = 1  # it had less
    MAKES_UP = 2  # other moves would take it past its share
    NONE = 3  # not by this move alone: no broker stands further from its share without it


@dataclass(frozen=True, slots=True, eq=False)
class Ratios:
    """float64[B, D]: load over fair share, before and after; ``share`` float64[B, D]."""

    before: Floats
    after: Floats
    share: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Repaired:
    """For each move: the broker, the resource (a column), a ``Repair``, and the load over share without the move."""

    broker: Longs
    resource: Longs
    kind: Longs
    without: Floats


def what_is_repaired(plan_request: PlanRequest, draft: Draft, resources: tuple[str, ...], ratios: Ratios) -> Repaired:
    """The strongest repair of each move. O(M·W·D)."""
    broker = np.concatenate([draft.start, draft.end], axis=1)
    change = _change(plan_request, draft, broker, resources)
    place = np.maximum(broker, 0)
    before, after, share = ratios.before[place], ratios.after[place], ratios.share[place]
    without = after - np.divide(change, share, out=np.zeros_like(change), where=share > 0)
    distance = np.where(change < 0, before - 1, 1 - before)
    worse = np.abs(without - 1) - np.abs(after - 1)
    is_repair = worse > BAND_ROUNDING
    best = _first(np.where(is_repair, distance, -np.inf))
    nothing = ~is_repair.any(axis=(1, 2))
    best[nothing] = _first(np.where(change[nothing] != 0, worse[nothing], -np.inf))
    slot, d = np.divmod(best, len(resources))
    rows = np.arange(len(draft))
    kind = np.where(change[rows, slot, d] < 0, Repair.RELIEVES, Repair.FILLS)
    kind[distance[rows, slot, d] < 0] = Repair.MAKES_UP
    kind[nothing] = Repair.NONE
    return Repaired(place[rows, slot], d, kind, without[rows, slot, d])


def _first(rank: Floats) -> Longs:
    """int64[M]: where the highest of each row of ``rank`` float64[M, S, D] stands, the first of equals."""
    return np.asarray(rank.reshape(len(rank), rank.shape[1] * rank.shape[2]).argmax(axis=1))


def _change(plan_request: PlanRequest, draft: Draft, broker: Ints, resources: tuple[str, ...]) -> Floats:
    """float64[M, S, D]: what each move adds to each of its brokers; a broker of both lists counts once."""
    placement = plan_request.partitions.placement
    factor = np.ones(len(placement.replicas), dtype=np.int32)
    factor[draft.row] = (draft.end >= 0).sum(axis=1)
    columns = columns_of(placement.loads, factor, resources)
    arrives = np.concatenate([np.zeros_like(draft.is_dropped), draft.is_new], axis=1).astype(np.float64)
    leaves = np.concatenate([draft.is_dropped, np.zeros_like(draft.is_new)], axis=1)
    is_first = np.concatenate([np.ones_like(draft.is_dropped), draft.is_new], axis=1) & (broker >= 0)
    leads = (broker == draft.leader_to[:, None]).astype(np.float64) - (broker == draft.leader_from[:, None])
    replicas = columns.follower_load[draft.row][:, None, :] * (arrives - leaves)[:, :, None]
    leaders = columns.leader_extra[draft.row][:, None, :] * (leads * is_first)[:, :, None]
    return np.asarray(replicas + leaders)
