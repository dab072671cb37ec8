from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kafka_rebalance.errors import InfeasibleError, UsageError
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.options.plan_options import LOSSES
from kafka_rebalance.planner.params import SurviveParams
from kafka_rebalance.planner.survive import LossState
from kafka_rebalance.plans.draft import draft_of, empty_draft
from kafka_rebalance.plans.explain import MoveFacts
from kafka_rebalance.plans.params import DEFAULTS
from kafka_rebalance.plans.request import PlanRequest, build_request
from kafka_rebalance.plans.survival import (
    Overload,
    Proof,
    cannot_survive,
    counted_overload,
    explain_survival,
    is_survived,
    loss_of,
    loss_state_of,
    refuse_a_partition_above_all,
    require_losses_known,
    surviving,
    untouched,
    worst_overload,
)
from tests.unit.planner.survive.exact_survival import can_survive
from tests.unit.planner.survive.loss_states import state_of, three, tight

LISTS = [[0, 1, 2], [0, 1, 2], [1, 2, 0], [1, 0, 2], [2, 0, 1], [2, 1, 0]]


def asked(capacity: float, kind: str = "broker") -> tuple[PlanRequest, LossState]:
    snapshot, options = three(LISTS, [20.0] * 6, capacity)
    request = build_request(snapshot, replace(options, survive=kind))
    return request, untouched(request, request.problem(0.1))


def test_what_is_lost_is_each_broker_or_each_rack() -> None:
    assert [loss_of(asked(60.0, kind)[0]).names for kind in LOSSES] == [
        ["0", "1", "2"],
        ["rack-0", "rack-1", "rack-2"],
    ]


def test_the_worst_is_named_with_its_figures() -> None:
    request, state = asked(60.0)
    worst = worst_overload(request, state)
    assert worst == Overload("0", 1, "out", 80.0, 60.0)
    args = {"kind": "broker", "lost": "0", "broker": 1, "resource": "out", "load": 80.0, "capacity": 60.0}
    assert worst.fact("broker").args == args
    for proof in Proof:
        reported = cannot_survive(request, worst, proof).cause.args
        assert reported == args | {"proof": proof.value, "is_limited": False}


def test_what_is_counted_lacks_whatever_the_placement() -> None:
    """Against every placement of random small clusters: who is counted out cannot survive."""
    request, state = asked(50.0)
    assert counted_overload(request, state) == Overload("0", None, "out", 120.0, 100.0)
    assert counted_overload(*asked(60.0)) is None
    counted = 0
    for seed in range(80):
        snapshot, options = tight(seed)
        scarce = {b: replace(c, out_bytes_per_s=0.9 * (c.out_bytes_per_s or 0)) for b, c in options.capacities.items()}
        if len(snapshot.partitions) > 8:
            continue
        request = build_request(snapshot, replace(options, capacities=scarce))
        state = untouched(request, request.problem(0.1))
        if counted_overload(request, state) is not None:
            counted += 1
            assert can_survive(state) is False, seed
    assert counted > 1


def test_a_partition_that_no_broker_can_lead_is_named() -> None:
    snapshot, options = three([[0, 1, 2]], [80.0], 70.0)
    request = build_request(snapshot, options)
    with pytest.raises(
        InfeasibleError,
        match=r"partition_above_limit\(partition='t-0', resource='out', load=80.0, limit=70.0, is_capacity=True",
    ):
        refuse_a_partition_above_all(request, untouched(request, request.problem(0.1)))
    refuse_a_partition_above_all(*asked(50.0))


def test_a_draft_is_judged_by_what_it_leads_to() -> None:
    request, state = asked(60.0)
    problem = request.problem(0.1)
    lists = state.lists.copy()
    lists[0] = [0, 2, 1]
    draft = draft_of(request, lists, state.leader)
    assert not is_survived(request, problem, empty_draft(request))
    assert is_survived(request, problem, draft)
    assert loss_state_of(request, problem, draft).total == 0
    assert surviving(request, problem, draft, DEFAULTS).draft is draft
    result = surviving(request, problem, empty_draft(request), DEFAULTS).draft
    assert (len(result), bool(result.is_reorder.all())) == (1, True)


def test_a_move_that_surviving_rests_on_says_so_and_others_do_not() -> None:
    request, state = asked(60.0)
    lists = state.lists.copy()
    lists[0], lists[2] = [0, 2, 1], [1, 0, 2]
    lists[3] = [1, 2, 0]
    draft = draft_of(request, lists, state.leader)
    other = fact(FactCode.SEPARATES_RACKS)
    why = MoveFacts([other] * len(draft), [other] * len(draft))
    explain_survival(request, request.problem(0.1), draft, why, SurviveParams(most_cells=1))
    of = {"broker": 1, "resource": "out", "lost_kind": "broker", "lost": "0"}
    assert why.reasons[0] == fact(FactCode.KEEPS_WITHIN_CAPACITY, **of)
    assert why.worse_without[0] == fact(FactCode.ABOVE_CAPACITY, **of, load=80.0, capacity=60.0)


def test_what_may_be_changed_is_what_nothing_pins() -> None:
    snapshot, options = tight(1)
    names = [snapshot.topics[0].name]
    state = state_of(snapshot, replace(options, exclude_topics=tuple(names)))
    of_topic = np.asarray(snapshot.partitions.topic) == 0
    assert not state.arrays.may_change[of_topic].any()


def test_losses_that_nobody_knows_are_refused() -> None:
    snapshot, options = three(LISTS, [20.0] * 6, 60.0)
    require_losses_known(build_request(snapshot, options))
    with pytest.raises(UsageError, match="give capacities with --capacity"):
        require_losses_known(build_request(snapshot, replace(options, capacities={})))
