from __future__ import annotations

import numpy as np
import pytest

from kafka_rebalance.plans.draft import (
    draft_of,
    empty_draft,
    in_problem_rows,
    met_bands,
    outcome_of,
    placement_after,
    reached,
    resource_outcomes,
    total_bytes,
)
from tests.unit.planner.sample_clusters import GB
from tests.unit.plans.hand_plans import MOVED, MOVED_LEADERS, hand


def test_the_one_move_and_what_it_copies() -> None:
    draft = hand().draft
    assert (draft.row.tolist(), draft.start.tolist(), draft.end.tolist()) == ([1], [[0, 1]], [[2, 1]])
    assert (draft.leader_from.tolist(), draft.leader_to.tolist()) == ([0], [2])
    assert (draft.is_new.tolist(), draft.is_dropped.tolist()) == ([[True, False]], [[True, False]])
    assert (draft.copies.tolist(), draft.dropped.tolist()) == ([1], [1])
    assert (draft.bytes_forward(), draft.bytes_back()) == ([4 * GB], [4 * GB])
    assert draft.changes_replicas.tolist() == draft.changes_leader.tolist() == [True]


def test_a_change_of_the_leader_alone_copies_nothing() -> None:
    known = hand()
    draft = draft_of(known.plan_request, np.array([[1, 0], [0, 1], [0, 2]]), np.array([1, 0, 0]))
    assert (draft.row.tolist(), draft.bytes_forward(), draft.changes_replicas.tolist()) == ([0], [0], [False])


def test_a_draft_without_its_moves_is_empty() -> None:
    known = hand()
    assert len(known.draft.without(np.array([0]))) == len(empty_draft(known.plan_request)) == 0


def test_copies_go_from_the_leader_to_the_new_broker_and_back() -> None:
    draft = hand().draft
    forward, backward = draft.forward(), draft.backward()
    assert (forward.source.tolist(), forward.target.tolist()) == ([0], [2])
    assert (backward.source.tolist(), backward.target.tolist()) == ([2], [0])


def test_the_cluster_afterwards() -> None:
    known = hand()
    replicas, leader, own = placement_after(known.plan_request, known.draft)
    assert replicas.tolist() == MOVED.tolist()
    assert leader.tolist() == MOVED_LEADERS.tolist()
    assert own[0].tolist() == [6 * GB, 6 * GB]
    assert np.isnan(own[1, 0])  # the new replica is as large as its leader's
    assert own[1, 1] == 4 * GB
    rows = in_problem_rows(known.draft, known.problem.replicas, known.problem.leader)
    assert (rows[0].tolist(), rows[1].tolist()) == (MOVED.tolist(), MOVED_LEADERS.tolist())


def test_a_sum_with_something_unknown_is_unknown() -> None:
    assert total_bytes([1, 2]) == 3
    assert total_bytes([1, None]) is None


def test_loads_before_and_after() -> None:
    outcome = hand().outcome
    disk, replicas, leaders = (outcome.column(name) for name in ("disk", "replicas", "leaders"))
    assert (outcome.before[:, disk] / GB).tolist() == [15, 10, 5]
    assert (outcome.after[:, disk] / GB).tolist() == [11, 10, 9]
    assert outcome.before[:, replicas].tolist() == [3, 2, 1]
    assert outcome.after[:, replicas].tolist() == [2, 2, 2]
    assert outcome.before[:, leaders].tolist() == [3, 0, 0]
    assert outcome.after[:, leaders].tolist() == [2, 0, 1]
    assert outcome.topic_excess == (1, 0)  # 3 of 2 on broker 0, then 2 on each


def test_outcomes_tell_bands_and_skews() -> None:
    known = hand()
    reported = {
        resource_outcome.resource: resource_outcome
        for resource_outcome in resource_outcomes(known.plan_request, known.outcome, known.bands, 0.2)
    }
    assert (reported["disk"].skew_before, reported["disk"].skew_after) == pytest.approx((1.5, 1.1))
    assert reported["disk"].band_asked == pytest.approx((0.8, 1.2))
    assert reported["disk"].widened_to == (None, None)
    assert reported["disk"].mean_level == 10 * GB
    assert reported["leaders"].widened_to == (0.0, 2.0)  # 0 and 2 where each should lead 1


def test_bands_that_are_not_met_are_widened_to_what_is_reached() -> None:
    known = hand()
    low, high = met_bands(known.plan_request, known.outcome, known.bands)
    disk, leaders = known.outcome.column("disk"), known.outcome.column("leaders")
    assert high[:, disk] == pytest.approx(np.full(3, 12 * GB))
    assert (low[:, leaders].tolist(), high[:, leaders].tolist()) == ([0, 0, 0], [2, 2, 2])


def test_how_far_out_the_worst_stands() -> None:
    known = hand()
    d, everybody, first = known.outcome.column("disk"), np.ones(3, dtype=bool), np.ones(3)
    assert reached(known.bands, known.outcome.before[:, d], d, first, everybody) == pytest.approx((0.5, 1.5))
    assert reached(known.bands, known.outcome.after[:, d], d, first, everybody) == (None, None)


def test_nothing_moved_is_today() -> None:
    known = hand()
    outcome = outcome_of(known.plan_request, empty_draft(known.plan_request))
    assert outcome.before.tolist() == outcome.after.tolist()
