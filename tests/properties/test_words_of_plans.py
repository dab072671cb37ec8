"""Whatever is planned, each move is told by what it repairs: never an amount "instead of" itself, never two resources,
and what is said to get worse without the move does get worse.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import pytest

from kafka_rebalance.planner.params import Effort, SolveParams
from kafka_rebalance.plans.params import DEFAULTS
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import Move, Plan
from tests.properties.any_cluster import any_case
from tests.properties.small_clusters import small_cluster

SHORT = replace(DEFAULTS, solve=SolveParams(effort=Effort(program_steps=0, anneal_steps=0)))
REASON = re.compile(r"(relieves|fills|makes up for other moves of) broker (\d+): its (.*) ([\d.]+) × its share")
WORSE = re.compile(r"broker (\d+)'s (.*) (\S+) × its share instead of (\S+) ×")


def _plan(seed: int) -> Plan:
    if seed % 2:
        snapshot, options = small_cluster(seed)
    else:
        case = any_case(seed)
        snapshot, options = case.snapshot, replace(case.options, with_frontier=False)
    return make_plan(snapshot, options, params=SHORT)


def _wrong(move: Move) -> str:
    """What is wrong with the words of a move that is made for balance's sake; empty for what must move anyway."""
    reason, worse = REASON.fullmatch(move.reason), WORSE.fullmatch(move.worse_without)
    if (reason is None) is not (worse is None):
        return "one of the two speaks of balance"
    if reason is None or worse is None:
        return ""
    if (reason[2], reason[3]) != (worse[1], worse[2]):
        return "they name different brokers or resources"
    before, without, after = float(reason[4]), float(worse[3]), float(worse[4])
    if without == after or abs(without - 1) < abs(after - 1):
        return "without it nothing gets worse"
    is_right = {"relieves": before >= 1, "fills": before <= 1}
    return "" if is_right.get(reason[1], True) else "it stood on the other side of its share"


def _hold(seeds: Sequence[int]) -> int:
    told = 0
    for seed in seeds:
        for move in _plan(seed).moves:
            wrong = _wrong(move)
            assert wrong == "", (seed, move.topic, move.partition, move.reason, move.worse_without)
            told += REASON.fullmatch(move.reason) is not None
    return told


def test_moves_are_told_by_what_they_repair() -> None:
    assert _hold(range(40)) > 50


@pytest.mark.matrix
@pytest.mark.slow
def test_moves_of_six_hundred_plans_are_told_by_what_they_repair() -> None:
    assert _hold(range(40, 640)) > 600
