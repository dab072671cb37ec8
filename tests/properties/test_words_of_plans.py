"""Whatever is planned, each move is explained by what it repairs: one broker, one resource, and what its facts say gets
worse without the move does get worse; and every fact of a plan has words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from kafka_rebalance.facts import FactCode
from kafka_rebalance.planner.params import Effort, SolveParams
from kafka_rebalance.plans.params import DEFAULTS
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import Move, Plan
from kafka_rebalance.render import render
from tests.properties.any_cluster import any_case
from tests.properties.small_clusters import small_cluster

SHORT = replace(DEFAULTS, solve=SolveParams(effort=Effort(program_steps=0, anneal_steps=0)))
BALANCE = {
    FactCode.RELIEVES_BROKER: lambda level: level >= 1,
    FactCode.FILLS_BROKER: lambda level: level <= 1,
    FactCode.MAKES_UP_FOR_MOVES: lambda _: True,
}


def _plan(seed: int) -> Plan:
    if seed % 2:
        snapshot, options = small_cluster(seed)
    else:
        case = any_case(seed)
        snapshot, options = case.snapshot, replace(case.options, with_frontier=False)
    return make_plan(snapshot, options, params=SHORT)


def _wrong(move: Move) -> str:
    """What is wrong with the facts of a move that is made for balance's sake; empty for what must move anyway."""
    reason, worse = move.reason, move.worse_without
    if (reason.code in BALANCE) is not (worse.code is FactCode.BROKER_FURTHER_OFF):
        return "one of the two is about balance"
    if reason.code not in BALANCE:
        return ""
    if any(reason.args[name] != worse.args[name] for name in ("broker", "resource")):
        return "they name different brokers or resources"
    without, after = worse.args["times_share_without"], worse.args["times_share_after"]
    if abs(without - 1) <= abs(after - 1):
        return "without it nothing gets worse"
    return "" if BALANCE[reason.code](reason.args["times_share"]) else "it was on the other side of its share"


def _hold(seeds: Sequence[int]) -> int:
    counted = 0
    for seed in seeds:
        plan = _plan(seed)
        for move in plan.moves:
            assert _wrong(move) == "", (seed, move.topic, move.partition, move.reason, move.worse_without)
            assert render(move.reason) and render(move.worse_without)  # noqa: PT018
            counted += move.reason.code in BALANCE
        assert all(render(fact) for fact in (*plan.preconditions, *plan.explanations))
    return counted


def test_moves_are_told_by_what_they_repair() -> None:
    assert _hold(range(40)) > 50


@pytest.mark.matrix
@pytest.mark.slow
def test_moves_of_six_hundred_plans_are_told_by_what_they_repair() -> None:
    assert _hold(range(40, 640)) > 600
