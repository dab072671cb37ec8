"""A plan in 15 lines: every verdict and state, with lists that say how much is left out."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.pipeline import make_plan, plan_of_unfit_reading
from kafka_rebalance.plans.plan import Plan, Verdict
from kafka_rebalance.render.steps import brief_lines, cut, step_table
from kafka_rebalance.snapshot.model import BrokerState
from tests.unit.planner.sample_clusters import GB, brokers, cluster, row

MOST = 13
_BROKEN = re.compile(r"\bNone\b|\bnan\b|\binf\b|unknown the|in never|in unknown|\{|\}")
EVEN = cluster([row("t", p, [p % 3, (p + 1) % 3]) for p in range(9)], brokers(3))
UNEVEN = cluster([row("t", p, [0, 1 + p % 3]) for p in range(12)], brokers(4))
UNSIZED = cluster([row("t", p, [0, 1 + p % 3], None) for p in range(12)], brokers(4))
STUCK = cluster([row("t", 0, [0], 100 * GB), row("t", 1, [1]), row("t", 2, [2])], brokers(3))
DEAD = cluster([row("t", p, [p % 3, (p + 1) % 3]) for p in range(9)], brokers(4, b0=BrokerState.DEAD))
STALE = fact(FactCode.SNAPSHOT_TOO_OLD, age_s=864_000.0, limit_s=7_200.0)


def lines_of(plan: Plan, most: int = MOST, **more: object) -> list[str]:
    lines = brief_lines(plan.document, most=most, **more)  # type: ignore[arg-type]
    assert len(lines) <= most
    assert not [line for line in lines if _BROKEN.search(line)]
    assert lines[0].startswith(f"Verdict: {plan.verdict.value.replace('_', ' ')}")
    return lines


@pytest.mark.parametrize(
    ("plan", "verdict"),
    [
        (make_plan(EVEN, PlanOptions()), Verdict.NOTHING_TO_DO),
        (make_plan(UNEVEN, PlanOptions()), Verdict.REBALANCE),
        (make_plan(UNSIZED, PlanOptions(remove_brokers=frozenset({0}))), Verdict.REBALANCE),
        (make_plan(STUCK, PlanOptions(within=0.1)), Verdict.NOT_FIXABLE_BY_MOVING),
        (make_plan(DEAD, PlanOptions()), Verdict.REBALANCE),
        (make_plan(UNEVEN, PlanOptions(preferred_election=True)), Verdict.NOTHING_TO_DO),
        (plan_of_unfit_reading(UNEVEN, PlanOptions(), (STALE,)), Verdict.CANNOT_TELL),
    ],
)
def test_every_verdict_is_said_in_whole_sentences(plan: Plan, verdict: Verdict) -> None:
    assert plan.verdict is verdict
    lines_of(plan)
    lines_of(plan, urgent=("Broker 0 is dead.", "Broker 1 is dead."), uncovered="parts of topic t")


def test_a_plan_without_a_known_size_or_time_says_so() -> None:
    plan = make_plan(UNSIZED, PlanOptions(remove_brokers=frozenset({0})))
    first, *others = lines_of(plan)
    assert re.fullmatch(r"Verdict: rebalance: move 12 replicas, copy an unknown size, .*time unknown", first)
    assert not [line for line in others if "proof" in line]
    (head, step) = step_table(plan.document)
    assert head.split() == ["step", "bytes", "replicas", "leaders", "time", "before", "→", "after"]
    assert step.split()[4:8] == ["unknown", "12", str(plan.cost.leader_changes), "unknown"]


def test_an_election_copies_nothing() -> None:
    off = replace(EVEN, partitions=cluster([row("t", p, [p % 3, (p + 1) % 3], leader=(p + 1) % 3 if p < 6 else p % 3)
                                            for p in range(9)], brokers(3)).partitions)  # fmt: skip
    plan = make_plan(off, PlanOptions(preferred_election=True))
    assert lines_of(plan)[0] == f"Verdict: rebalance: change {plan.cost.leader_changes} leaders, copy nothing"


def test_the_order_is_verdict_urgent_reasons_steps_proof_blind_spots() -> None:
    plan = make_plan(UNEVEN, PlanOptions())
    lines = lines_of(plan, urgent=("Broker 9 is dead.", "b", "c"), uncovered="parts of topic t", most=40)
    steps = step_table(plan.document)
    assert lines[1] == "  urgent: Broker 9 is dead. ... and 2 more"
    assert lines[2 : 2 + len(plan.reasons)] == lines[2 : -2 - len(steps)]
    assert lines[-2 - len(steps) : -2] == [f"  {step}" for step in steps]
    assert lines[-2].startswith("  proof: ")
    assert lines[-1] == "  blind spots: parts of topic t"


def test_reasons_that_do_not_fit_are_counted() -> None:
    plan = make_plan(UNEVEN, PlanOptions())
    whole = brief_lines(plan.document, most=99)
    fewer = lines_of(plan, most=len(whole) - 1)
    assert len(plan.reasons) > 2
    assert fewer[len(plan.reasons) - 1] == "  ... and 2 more reasons"
    assert [line for line in whole if line not in fewer] == whole[len(plan.reasons) - 1 : len(plan.reasons) + 1]


@pytest.mark.parametrize(
    ("count", "most", "shown"),
    [
        (0, 3, []),
        (3, 3, ["0", "1", "2"]),
        (4, 3, ["0", "1", "... and 2 more moves"]),
        (1_500, 1, ["... and 1,500 more moves"]),
        (2, 0, []),
        (2, -1, []),
    ],
)
def test_a_list_ends_in_how_many_more_there_are(count: int, most: int, shown: list[str]) -> None:
    assert cut([str(number) for number in range(count)], most, "moves") == shown
