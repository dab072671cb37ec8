"""Effects of each loss of a broker or rack: takeovers, loads, and follower orders that spread them.

A loss is one broker in service, or all of one rack. Lost leaders go to the first replica of their list that is in
service and in sync, or copied by the plan. Loads do not include copies for lost replicas or catching up.

Example: broker 0 leads two partitions [0, 1, 2] and sends 10 MB/s for each; broker 1 sends 50 of 60 MB/s. Without
broker 0 it sends 70: 1.17 × its capacity. With one list in the order [0, 2, 1] it sends 60.

Changed lists get a follower order that spreads each lost broker's leaders. Unchanged lists stay unless an option asks:
a new order copies nothing, but needs a command. O(P·W + losses·B).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kafka_assignors.arrays import ABSENT, Flags, Floats, Ints, Longs
from kafka_rebalance.cluster_arrays.problem import Problem, broker_loads, columns_of
from kafka_rebalance.planner.followers import Staying, ordered_followers
from kafka_rebalance.plans.dead_band import gained, worst_deviation
from kafka_rebalance.plans.draft import Bands, Draft, Outcome, draft_of, empty_draft, placement_after
from kafka_rebalance.plans.params import DEFAULTS, RobustnessParams
from kafka_rebalance.plans.plan import Robustness, Verdict
from kafka_rebalance.plans.request import PlanRequest
from kafka_rebalance.resources import BOUNDED, COUNTED, ROWS, Carrier
from kafka_rebalance.scoring.placement_scores import moved_loads, successors
from kafka_rebalance.scoring.scores import AfterFailure, LoadAfterLoss, Losses, Takeover, WorstLoss

# leading uses it; a failure fills no disk
LOADED = tuple(name for name in BOUNDED if ROWS[name].carrier is not Carrier.REPLICAS or name == "in")


@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """One placement: who is ``able`` to take over; for each resource of known capacity ``base`` float64[B] broker loads
    and ``extra`` float64[P] a leader's additional load.
    """

    replicas: Ints
    able: Flags
    leader: Ints
    base: dict[str, Floats]
    extra: dict[str, Floats]


@dataclass(frozen=True, slots=True, eq=False)
class Loss:
    """Brokers lost together: ``group`` int32[B] (ABSENT: never lost), ``names`` of the groups."""

    group: Ints
    names: list[str]


def after_failure_of(plan_request: PlanRequest, draft: Draft, outcome: Outcome) -> AfterFailure | None:
    serves = in_service(plan_request)
    if not serves.any() or not len(plan_request.partitions.placement.replicas):
        return None
    losses = losses_of(plan_request, serves)
    before = standing(plan_request, empty_draft(plan_request), outcome.before_by_resource, serves)
    after = standing(plan_request, draft, outcome.after_by_resource, serves)
    return AfterFailure(_losses(plan_request, before, losses, serves), _losses(plan_request, after, losses, serves))


def in_service(plan_request: PlanRequest) -> Flags:
    """Responsive, also if removed or demoted."""
    return np.array([broker.state.is_responsive for broker in plan_request.brokers.brokers], dtype=np.bool_)


def losses_of(plan_request: PlanRequest, serves: Flags) -> dict[str, Loss]:
    brokers = plan_request.brokers.brokers
    single = np.where(serves, np.arange(len(brokers)), ABSENT).astype(np.int32)
    losses = {"broker": Loss(single, [str(broker.id) for broker in brokers])}
    racks = sorted({b.rack for b, is_there in zip(brokers, serves.tolist(), strict=True) if b.rack and is_there})
    if len(racks) > 1:
        group = [racks.index(b.rack) if b.rack in racks and serves[i] else ABSENT for i, b in enumerate(brokers)]
        losses["rack"] = Loss(np.array(group, dtype=np.int32), racks)
    return losses


def standing(plan_request: PlanRequest, draft: Draft, loads: dict[str, Floats], serves: Flags) -> Standing:
    """Placement after ``draft``."""
    replicas, leader, _ = placement_after(plan_request, draft)
    rf = (replicas >= 0).sum(axis=1).astype(np.int32)
    capacity = plan_request.brokers.arrays.capacity
    columns = columns_of(plan_request.partitions.placement.loads, rf, plan_request.resources)
    counted = [name for name in LOADED if name in columns.resources and name in capacity]
    return Standing(
        replicas=replicas,
        able=able_to_lead(plan_request, replicas, serves),
        leader=leader,
        base={name: loads[name] for name in counted},
        extra={name: columns.leader_extra[:, columns.resources.index(name)] for name in counted},
    )


def able_to_lead(plan_request: PlanRequest, replicas: Ints, serves: Flags) -> Flags:
    """In service and in sync today."""
    able = (replicas != ABSENT) & serves[replicas]
    table = plan_request.snapshot.partitions
    if table.in_sync is not None:
        behind = np.flatnonzero(~np.asarray(table.in_sync, dtype=np.bool_))
        rows, brokers = table.row_of_replica[behind], plan_request.brokers.indices(table.replicas[behind])
        able[rows] &= ~_pairs(replicas, rows, brokers)[rows]
    return np.asarray(able)


def _pairs(replicas: Ints, rows: Longs, brokers: Ints) -> Flags:
    marked = np.zeros(replicas.shape, dtype=np.bool_)
    at, column = np.nonzero(replicas[rows] == brokers[:, None])
    marked[rows[at], column] = True
    return marked


def _losses(plan_request: PlanRequest, placed: Standing, losses: dict[str, Loss], serves: Flags) -> Losses:
    worst = {kind: worst_loss(plan_request, placed, loss, serves) for kind, loss in losses.items()}
    return Losses(worst["broker"], worst.get("rack"))


def worst_loss(plan_request: PlanRequest, placed: Standing, loss: Loss, serves: Flags) -> WorstLoss:
    """Worst takeover and load; ties: the first lost, then the first broker."""
    ids, count = plan_request.brokers.arrays.ids.tolist(), len(loss.names)
    heirs = successors(placed.replicas, placed.able, placed.leader, loss.group)
    takeovers = moved_loads(placed.leader, heirs, loss.group, np.ones(len(heirs)), count).astype(np.int64)
    even = -(-takeovers.sum(axis=1) // np.maximum(could_take(placed, loss), 1))
    takeover = None
    if takeovers.any():
        excess = np.where(takeovers.any(axis=1), takeovers.max(axis=1, initial=0) - even, -1)
        lost = int(excess.argmax())
        broker = int(takeovers[lost].argmax())
        takeover = Takeover(loss.names[lost], ids[broker], int(takeovers[lost, broker]), int(even[lost]))
    survives = serves[None, :] & (loss.group[None, :] != np.arange(count)[:, None])
    highest: LoadAfterLoss | None = None
    for name, base in placed.base.items():
        load = base[None, :] + moved_loads(placed.leader, heirs, loss.group, placed.extra[name], count)
        capacity = plan_request.brokers.arrays.capacity[name]
        ratio = np.where(survives & (capacity > 0)[None, :], load / np.where(capacity > 0, capacity, 1.0), -1.0)
        lost, broker = divmod(int(ratio.argmax()), len(base))
        if ratio[lost, broker] >= 0 and (highest is None or ratio[lost, broker] > highest.ratio):
            highest = LoadAfterLoss(
                loss.names[lost], ids[broker], name, float(load[lost, broker]), float(capacity[broker])
            )
    return WorstLoss(takeover, highest)


def could_take(placed: Standing, loss: Loss) -> Ints:
    """Brokers with an in-sync replica of a partition that the lost ones lead."""
    brokers = len(loss.group)
    mine = np.where(placed.leader != ABSENT, loss.group[placed.leader], ABSENT)
    others = placed.able & (mine != ABSENT)[:, None] & (loss.group[placed.replicas] != mine[:, None])
    could = np.zeros(len(loss.names) * brokers, dtype=np.bool_)
    row, column = np.nonzero(others)
    could[mine[row].astype(np.int64) * brokers + placed.replicas[row, column]] = True
    return np.asarray(could.reshape(len(loss.names), brokers).sum(axis=1), dtype=np.int32)


def with_follower_order(plan_request: PlanRequest, draft: Draft) -> Draft:
    most = plan_request.options.max_reorders
    if not (len(draft) or most) or plan_request.options.preferred_election:
        return draft
    arrays, partitions = plan_request.brokers.arrays, plan_request.partitions
    replicas, leader, _ = placement_after(plan_request, draft)
    is_led_first = (replicas[:, 0] == leader) & (leader != ABSENT)
    is_free = np.zeros(len(replicas), dtype=np.bool_)
    is_free[draft.row[(draft.start != draft.end).any(axis=1)]] = True  # an election keeps its list
    responds = np.array([not broker.state.is_unresponsive for broker in plan_request.brokers.brokers], dtype=np.bool_)
    may_lead = arrays.keeps_leaders & responds
    weight = partitions.placement.loads.out_bytes_per_s
    ordered = ordered_followers(
        replicas,
        is_free & is_led_first,
        may_lead[replicas] & (replicas != ABSENT) & is_led_first[:, None],
        np.ones(len(replicas)) if weight is None else np.nan_to_num(weight),
        len(arrays.ids),
        Staying(_may_be_reordered(plan_request) & is_led_first & ~is_free, most),
    )
    return draft_of(plan_request, ordered[plan_request.rows], leader[plan_request.rows])


def _may_be_reordered(plan_request: PlanRequest) -> Flags:
    may = np.zeros(len(plan_request.partitions.placement.replicas), dtype=np.bool_)
    may[plan_request.rows] = ~plan_request.pinned
    replicas = plan_request.partitions.placement.replicas
    stays = plan_request.brokers.arrays.stays
    on_leaving = ((replicas >= 0) & ~stays[replicas]).any(axis=1)
    return np.asarray(may & ~plan_request.partitions.under_replicated & ~on_leaving)


# Each trial multiplies every partition's disk, in, out and CPU by its own factor from 1 - noise to 1 + noise, then
# checks that the moves remove most of the imbalance, or that a verdict without moves holds.


def robustness_of(
    problem: Problem,
    verdict: Verdict,
    planned: tuple[Ints, Ints],
    within: float,
    dead_band: float,
    *,
    seed: int,
    params: RobustnessParams = DEFAULTS.robustness,
) -> Robustness | None:
    """None where only counts are known."""
    measured = [d for d, name in enumerate(problem.resources) if name not in COUNTED]
    if not measured or problem.partition_count == 0:
        return None
    draw = np.random.Generator(np.random.PCG64(seed))
    still_holds = 0
    for _ in range(params.trials):
        shaken = _shaken(problem, measured, draw, params.noise)
        before = broker_loads(shaken, shaken.replicas, shaken.leader)
        bands = Bands(shaken.band_low, shaken.band_high, np.zeros(len(problem.resources)), problem.band_rank)
        was, gain = gained(bands, (before,), (broker_loads(shaken, *planned),), problem.stays)
        if verdict is Verdict.NOTHING_TO_DO:
            worst = worst_deviation(shaken, before, within)
            still_holds += worst is None or abs(worst.ratio - 1) <= dead_band
        elif verdict is Verdict.NOT_FIXABLE_BY_MOVING:
            still_holds += was > 0
        else:
            still_holds += gain >= 0.5 * was
    return Robustness(params.trials, params.noise, int(still_holds))


def _shaken(problem: Problem, measured: list[int], draw: np.random.Generator, noise: float) -> Problem:
    """Each band keeps its level relative to the mean."""
    follower, extra = problem.follower_load.copy(), problem.leader_extra.copy()
    low, high = problem.band_low.copy(), problem.band_high.copy()
    own = None if problem.own_disk is None else problem.own_disk.copy()
    for d in measured:
        factor = draw.uniform(1 - noise, 1 + noise, problem.partition_count)
        total = _total(problem, d)
        follower[:, d] *= factor
        extra[:, d] *= factor
        if own is not None and problem.resources[d] == "disk":
            own *= factor[:, None]
        shaken = replace(problem, follower_load=follower, leader_extra=extra)
        change = _total(shaken, d) / total if total > 0 else 1.0
        low[:, d] *= change
        high[:, d] *= change
    disk = problem.column("disk")
    size = problem.move_bytes if disk is None else follower[:, disk]
    return replace(
        problem, follower_load=follower, leader_extra=extra, band_low=low, band_high=high, own_disk=own, move_bytes=size
    )


def _total(problem: Problem, d: int) -> float:
    return float((problem.follower_load[:, d] * problem.target_rf).sum() + problem.leader_extra[:, d].sum())
