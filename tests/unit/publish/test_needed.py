from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kafka_rebalance.facts import BoundProof
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import Bound
from kafka_rebalance.render.needed import describe_needed
from kafka_rebalance.render.plan_reasons import PROOFS
from rebalance_advisor.publish.plan_text import frontier_rows, plan_lines
from rebalance_advisor.publish.report import key_figures
from tests.unit.plans.hand_plans import SNAPSHOT

GIB = 2**30


@pytest.mark.parametrize(
    ("cost", "amount", "bound", "text"),
    [
        ("replica_moves", 17, 2.0, "at least 2 needed"),  # a gap of 750 %
        ("leader_changes", 5, 4.3, "the fewest possible"),  # a change is whole
        ("leader_changes", 6, 4.3, "at least 5 needed"),
        ("bytes", 10.1 * GIB, 10.0 * GIB, "1.00 % above what is provably needed"),
        ("bytes", 20 * GIB, 10 * GIB, "at least 10.0 GiB needed"),
        ("seconds", 7200.0, 3600.0, "at least 1 h 0 min needed"),
        ("seconds", 1.4, 1.0, "40.00 % above what is provably needed"),  # both are 1 s in words
        ("bytes", 0, 0.0, "0.00 % above what is provably needed"),
        ("bytes", 5, 0.0, ""),  # nothing is known to be needed
        ("bytes", None, 3.0, ""),
        ("bytes", 5, None, ""),
    ],
)
def test_what_is_needed_in_words(cost: str, amount: float | None, bound: float | None, text: str) -> None:
    assert describe_needed(cost, amount, bound) == text


def test_no_rendering_tells_a_large_percentage() -> None:
    """Costs and bounds of any size: terminal, key figures and frontier use the one function's words."""
    draw = np.random.default_rng(3)
    made = make_plan(SNAPSHOT, PlanOptions(within=0.2, with_frontier=False))
    for _ in range(300):
        moves, size = int(draw.integers(1, 50)), int(draw.lognormal(20, 4))
        least, floor = draw.uniform(0, moves), size * draw.uniform(0, 1)
        costs = {"replica_moves": (moves, least), "bytes": (size, floor)}
        plan = replace(
            made,
            cost=replace(made.cost, replica_moves=moves, bytes=size),
            lower_bound=tuple(
                Bound(name, value, cost / value - 1, BoundProof.LINEAR_PROGRAM) for name, (cost, value) in costs.items()
            ),
        )
        (count_line, byte_line) = (
            line for line in plan_lines(plan) if line.endswith(f"({PROOFS[BoundProof.LINEAR_PROGRAM]})")
        )
        assert "%" not in count_line
        assert describe_needed("replica_moves", moves, least) in count_line
        text = describe_needed("bytes", size, floor)
        assert text in byte_line
        bounds = [{"cost": bound.cost, "value": bound.value, "gap": bound.gap} for bound in plan.lower_bound]
        cost = {name: getattr(plan.cost, name) for name in ("bytes", "replica_moves", "leader_changes", "seconds")}
        *_, last = key_figures({"cost": cost, "lower_bound": bounds})
        assert f"{last['value']} {last['name']}" == text
        point = {
            "tolerance": 0.1, "bytes": size, "lower_bound_bytes": floor, "replica_moves": moves, "leader_changes": 0,
            "skew": {}, "name": None, "is_recommended": False, "reasons": [],
        }  # fmt: skip
        assert frontier_rows([point], ["disk"])[0]["gap"] == text
