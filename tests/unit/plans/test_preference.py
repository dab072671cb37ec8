from __future__ import annotations

import pytest

from kafka_rebalance.errors import UsageError
from kafka_rebalance.options.plan_options import PlanOptions, Preference, order_of
from kafka_rebalance.options.values import Target
from kafka_rebalance.plans.budget import chosen
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import Plan, to_document
from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.verify import verify_plan
from tests.unit.planner.sample_clusters import GB, brokers, cluster, row

SMALL = 950_000_000


def one_large_or_ten_small() -> ClusterSnapshot:
    """Broker 0 holds 10 GB in one replica and 9.5 GB in ten; broker 1 is empty. Neither may hold more than 10 GB."""
    rows = [row("large", 0, [0], 10 * GB), *(row("small", number, [0], SMALL) for number in range(10))]
    return cluster(rows, brokers(2))


def planned(snapshot: ClusterSnapshot, **asked: object) -> Plan:
    options = PlanOptions(within=0.9, targets={"disk": Target(None, 10 / 9.75)}, with_frontier=False, **asked)
    plan = make_plan(snapshot, options)
    assert [str(fault) for fault in verify_plan(to_document(plan), snapshot).wrong] == []
    return plan


def cost(plan: Plan) -> tuple[int | None, int]:
    return plan.cost.bytes, plan.cost.replica_moves


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        ({}, (10 * SMALL, 10)),  # 9.5 GB, as 19.5 - 10 must leave
        ({"prefer": "moves"}, (10 * GB, 1)),
        ({"prefer": "leaders"}, (10 * GB, 1)),  # the receiver of an only replica leads it
        ({"slack": 0.06}, (10 * GB, 1)),  # 10 / 9.5 is 5.3 % above the bound: within 6 % one move is better than ten
        ({"slack": 0.04}, (10 * SMALL, 10)),
    ],
)
def test_one_large_replica_goes_instead_of_ten_small_ones_where_moves_count(asked, wanted) -> None:
    assert cost(planned(one_large_or_ten_small(), **asked)) == wanted


def test_a_plan_for_moves_fits_a_budget_that_the_one_for_bytes_does_not() -> None:
    assert cost(planned(one_large_or_ten_small(), prefer="moves", max_moves=1)) == (10 * GB, 1)


def test_each_bound_says_whether_its_cost_is_within_the_slack() -> None:
    """1 move where 1 is needed, and 10 GB where 9.5 are: 5.3 % above. No statement without the option."""
    reported = {
        bound.cost: bound.is_within_slack for bound in planned(one_large_or_ten_small(), prefer="moves").lower_bound
    }
    assert (reported["bytes"], reported["replica_moves"]) == (False, True)
    assert {bound.is_within_slack for bound in planned(one_large_or_ten_small()).lower_bound} == {None}


def test_the_first_cost_is_given_up_within_its_slack_and_no_further() -> None:
    """Bounds of 100 each, slack 10 %: up to 110 moves count as 100 while the bytes come within their slack."""
    least = dict.fromkeys(Preference, 100.0)

    def costs(moves: float, copied: float) -> dict[Preference, float]:
        return least | {Preference.MOVES: moves, Preference.BYTES: copied}

    def choice(*plans: dict[Preference, float]) -> int:
        return chosen(plans, least, order_of("moves"), 0.1)

    assert choice(costs(101, 150), costs(109, 105)) == 1  # both within 10 % of the moves, one of the bytes
    assert choice(costs(101, 150), costs(112, 105)) == 0  # 112 moves are too many
    assert choice(costs(101, 109), costs(105, 100)) == 0  # all within their slack: the fewest moves
    assert choice(costs(120, 150), costs(121, 100)) == 0  # all outside: the nearest
    assert choice(costs(105, 120), costs(105, 101)) == 1
    assert choice(costs(105, 125), costs(104, 130)) == 1  # 130 bytes are within 10 % of the nearest, 125


def test_the_others_follow_in_their_order() -> None:
    assert [cost.value for cost in order_of("time")] == ["time", "bytes", "moves", "leaders"]
    assert [cost.value for cost in order_of("bytes")] == ["bytes", "moves", "time", "leaders"]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"prefer": "cheap"}, "--prefer: 'cheap' is no cost"),
        ({"prefer": None}, "--prefer: None is no cost"),
        ({"slack": 1.0}, "--slack: 1.0 is no share"),
        ({"slack": -0.1}, "--slack: -0.1 is no share"),
        ({"slack": "5%"}, "--slack: '5%' is no share"),
    ],
)
def test_what_is_no_cost_or_share_is_refused(asked, message) -> None:
    with pytest.raises(UsageError) as refusal:
        PlanOptions(**asked)
    assert message in str(refusal.value)
