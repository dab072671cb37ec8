"""Ours: sticky by weight. Partitions differ in rate or lag, and members should not.

Promises, in order:
1. Complete and disjoint: every partition that somebody subscribes to has one reader, who subscribes to it.
2. The highest load is close to the best achievable, and the answer says how close: it carries a proven bound.
3. Of the assignments with that highest load, few partitions move; with equal weights and equal subscriptions the
   number that moves is exactly the minimum for that highest load.

Worked example: weights t0 = 4, t1 = t2 = t3 = 1, A reads t0 and t1, B reads t2 and t3. Bound: max(4, 7 / 2) = 4. A
gives up t1 (5 > 4), B takes it: loads 4 and 3, one partition moved. ``roundrobin`` would have 5 and 2.

Complexity: equal weights O(owned + P); else O(P log P) and a few passes. Source: PLANNER §2.5; LPT is Graham 1969.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kafka_rebalance.arrays import Floats
from kafka_rebalance.assignors.assignment import Assignment
from kafka_rebalance.assignors.owned_lists import owned_lists
from kafka_rebalance.assignors.request import AssignmentRequest
from kafka_rebalance.assignors.weighted import counts as counts_way
from kafka_rebalance.assignors.weighted import loads as loads_way
from kafka_rebalance.assignors.weighted.bound import heaviest_member_bound
from kafka_rebalance.errors import InvalidInputError

CAP_TRIES = 6
IMPROVE_WORK = 4_000_000  # rows looked at while improving: a budget in steps, never in seconds


@dataclass(frozen=True, slots=True, eq=False)
class WeightedAnswer:
    """An assignment with its proof: ``highest_load`` ≥ ``bound`` for everybody's assignment, ours included.

    ``loads`` float64[M]; ``moved_partitions`` had another reader before; ``moved_weight`` is their weight and
    ``moved_weight_bound`` what has to move for this highest load at least.
    """

    assignment: Assignment
    loads: Floats
    highest_load: float
    bound: float
    moved_partitions: int
    moved_weight: float
    moved_weight_bound: float


@dataclass(frozen=True, slots=True)
class WeightedAssignor:
    """``weighted``, for a client that runs it as its own strategy, and as a what-if for every group."""

    name: str = "weighted"
    versions: str = "Kafka Rebalance Advisor 0.1"

    def assign(self, request: AssignmentRequest) -> Assignment:
        """Raises InvalidInputError for a weight that is negative or unknown."""
        if _is_plain(request):
            return _assign_counts(request)[0]
        return self.solve(request).assignment

    def solve(self, request: AssignmentRequest) -> WeightedAnswer:
        """The assignment with its bounds."""
        members = len(request.members)
        if members == 0:
            empty = np.zeros(0, dtype=np.int32)
            nothing = Assignment.of(np.zeros(1, dtype=np.int64), empty, empty)
            return WeightedAnswer(nothing, np.zeros(0), 0.0, 0.0, 0, 0.0, 0.0)
        return _answer_counts(request) if _is_plain(request) else _answer_loads(request)


def _weights(request: AssignmentRequest) -> Floats:
    total = request.topics.partition_total
    if request.weights is None:
        return np.ones(total)
    wrong = np.flatnonzero(~(request.weights >= 0) | np.isinf(request.weights))
    if len(wrong):
        raise InvalidInputError.at(
            f"weight of partition row {wrong[0]}", f"{request.weights[wrong[0]]} is no weight",
            "give finite weights ≥ 0; leave weights out where nobody measured them",
        )  # fmt: skip
    return request.weights


def _is_plain(request: AssignmentRequest) -> bool:
    """All weights equal, all subscriptions equal and over all topics: counting is enough."""
    members, topics = request.members, request.topics
    if len(members) == 0 or len(topics) == 0:
        return False
    subscribed = members.subscription_topics[: members.subscription_offsets[1]]
    if len(np.unique(subscribed)) != len(topics):
        return False
    if request.weights is not None and (len(request.weights) == 0 or np.any(_weights(request) != request.weights[0])):
        return False
    return bool(counts_way.subscriptions_are_equal(members.subscription_offsets, members.subscription_topics))


def _assign_counts(request: AssignmentRequest) -> tuple[Assignment, npt.NDArray[np.int64]]:
    """Everybody keeps up to ⌈P/M⌉ of what it owns, orphans go to those with least. Also how many each keeps."""
    topics, members = request.topics, request.members
    total = topics.partition_total
    quota = -(-total // len(members))
    taken = np.zeros(total, dtype=np.bool_)
    is_valid = np.zeros(0, dtype=np.bool_)
    owned = owned_lists(members)
    if counts_way.claims_hold(topics.first_row, topics.partition_counts, owned, quota, taken):
        kept = np.minimum(np.diff(members.owned_offsets), quota)
    else:
        taken[:] = False
        is_valid = np.zeros(len(members.owned_topics), dtype=np.bool_)
        kept = counts_way.mark_kept(topics.first_row, topics.partition_counts, owned, quota, taken, is_valid)
    quotas = counts_way.level_quotas(kept, total - int(kept.sum()))
    lists = counts_way.write_lists(topics.first_row, owned, taken, is_valid, kept, quotas)
    return Assignment.of(*lists), kept


def _answer_counts(request: AssignmentRequest) -> WeightedAnswer:
    assignment, kept = _assign_counts(request)
    total, unit = request.topics.partition_total, 1.0 if request.weights is None else float(request.weights[0])
    before = _owner(request, np.ones((len(request.members), len(request.topics)), dtype=np.bool_))
    moved = int((before != loads_way.NOBODY).sum() - kept.sum())
    loads = (assignment.counts * unit).astype(np.float64)
    highest = float(loads.max())
    bound = -(-total // len(request.members)) * unit
    return WeightedAnswer(assignment, loads, highest, bound, moved, moved * unit, moved * unit)


def _owner(request: AssignmentRequest, may_read: npt.NDArray[np.bool_]) -> npt.NDArray[np.int32]:
    topics, members = request.topics, request.members
    owned = owned_lists(members)
    return np.asarray(loads_way.owner_of_rows(topics.first_row, topics.partition_counts, owned, may_read))


@dataclass(frozen=True, slots=True, eq=False)
class _Case:
    """The request as rows."""

    weights: Floats
    order: npt.NDArray[np.int64]
    topic_of: npt.NDArray[np.int32]
    may_read: npt.NDArray[np.bool_]
    before: npt.NDArray[np.int32]
    bound: float
    everybody_reads_all: bool

    @property
    def members(self) -> int:
        return len(self.may_read)


def _case(request: AssignmentRequest) -> _Case:
    topics, members = request.topics, request.members
    may_read = np.zeros((len(members), len(topics)), dtype=np.bool_)
    may_read[np.repeat(np.arange(len(members)), np.diff(members.subscription_offsets)), members.subscription_topics] = (
        True
    )
    may_read[:, ~topics.has_metadata] = False
    topic_of = np.repeat(np.arange(len(topics), dtype=np.int32), np.maximum(topics.partition_counts, 0))
    weights = _weights(request)
    used = may_read[:, topics.partition_counts > 0]
    return _Case(
        weights=weights,
        order=np.argsort(-weights, kind="stable"),
        topic_of=topic_of,
        may_read=may_read,
        before=_owner(request, may_read),
        bound=heaviest_member_bound(weights, topic_of, may_read),
        everybody_reads_all=bool(used.all()),
    )


def _answer_loads(request: AssignmentRequest) -> WeightedAnswer:
    case = _case(request)
    owner, loads = _lowest_cap(case)
    highest = float(loads.max(initial=0.0))
    loads_way.give_back(case.weights, case.order, case.before, highest, owner, loads)
    had_reader = case.before != loads_way.NOBODY
    moved = had_reader & (owner != case.before)
    held = loads_way.loads_of(case.weights, case.before, case.members)
    return WeightedAnswer(
        assignment=Assignment.of(*loads_way.lists_of(owner, case.topic_of, request.topics.first_row, case.members)),
        loads=loads,
        highest_load=highest,
        bound=case.bound,
        moved_partitions=int(moved.sum()),
        moved_weight=float(case.weights[moved].sum()),
        moved_weight_bound=float(np.maximum(held - highest, 0.0).sum()),
    )


def _lowest_cap(case: _Case) -> tuple[npt.NDArray[np.int32], Floats]:
    """The lowest highest load over a few caps: from the bound upwards until one is kept, then the best of all."""
    best: tuple[npt.NDArray[np.int32], Floats] | None = None
    cap = case.bound
    for _ in range(CAP_TRIES):
        owner, loads = _within(case, cap)
        highest = float(loads.max(initial=0.0))
        if best is None or highest < float(best[1].max(initial=0.0)):
            best = owner, loads
        if highest <= cap * (1 + 1e-9) or (case.before == loads_way.NOBODY).all():
            break
        cap = (cap + highest) / 2
    assert best is not None
    return best


def _within(case: _Case, cap: float) -> tuple[npt.NDArray[np.int32], Floats]:
    owner = case.before.copy()
    loads = loads_way.loads_of(case.weights, owner, case.members)
    loads_way.release_above(case.weights, case.order, cap, owner, loads)
    if case.everybody_reads_all:
        loads_way.place_on_lightest(case.weights, case.order, owner, loads)
    else:
        offsets = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(case.may_read.sum(axis=0), dtype=np.int64)))
        audience = np.nonzero(case.may_read.T)[1].astype(np.int32)
        loads_way.place_on_lightest_reader(case.weights, case.order, case.topic_of, offsets, audience, owner, loads)
    steps = max(4, IMPROVE_WORK // max(len(case.order), 1)) if len(case.order) else 0
    rows = loads_way.WeighedRows(case.weights, case.order, case.topic_of, case.may_read)
    loads_way.improve(rows, owner, loads, max(case.bound, cap), min(steps, 400))
    return owner, loads
