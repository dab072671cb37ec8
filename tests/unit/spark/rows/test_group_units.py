"""What the executors get: whole groups, giants in parts, packed so that the dearest task comes first."""

from dataclasses import replace

import pytest

from kafka_rebalance.groups.scenarios.catalogue import SCENARIOS
from kafka_rebalance.groups.scenarios.cost import estimated_cost, split
from rebalance_advisor.dumps import read_input
from rebalance_advisor.spark.rows.arrow import pack_groups
from rebalance_advisor.spark.rows.binned import BIN, binned, unbinned
from rebalance_advisor.spark.rows.group_units import group_units
from stack.demo.cluster import write_demo_cluster


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    return read_input(write_demo_cluster(tmp_path_factory.mktemp("units") / "demo"))


def test_every_scenario_of_every_group_is_in_one_unit(demo):
    units = group_units(pack_groups(demo), demo.groups, SCENARIOS, bins=8)
    asked = [(row["group_id"], name) for row in units.rows.to_pylist() for name in row["scenarios"]]
    assert len(asked) == len(set(asked)) == len(demo.groups) * len(SCENARIOS)
    first = [row["group_id"] for row in units.rows.to_pylist() if row["part"] == 0]
    assert first == [group.id for group in demo.groups]


def test_a_giant_is_split_so_that_no_part_is_dearer_than_two_fair_shares(demo):
    largest = max(demo.groups, key=lambda group: len(group.members) * sum(len(m.assigned) for m in group.members))
    alone = replace(demo, groups=(largest,))
    units = group_units(pack_groups(alone), alone.groups, SCENARIOS, bins=4)
    assert 1 < len(units.costs) <= 4
    assert units.what == "pieces of groups"
    assert max(units.costs) <= 2 * sum(units.costs) / 4
    assert len(group_units(pack_groups(alone), alone.groups, (), bins=4).costs) == 1  # today's replay is one piece
    assert group_units(pack_groups(alone), alone.groups, (), bins=4).what == "groups"


def test_a_change_of_the_strategy_stays_with_the_restart_that_it_is_made_of():
    for parts in (2, 3, 5):
        shares = split(SCENARIOS, 12, 128, parts)
        assert sorted(name for share in shares for name in share) == sorted(SCENARIOS)
        (together,) = [share for share in shares if "strategy_changes" in share]
        assert "rolling_restart" in together


def test_cost_grows_with_members_and_stops_growing_at_twenty_that_are_tried():
    # Of 12 members each one leaves: 12 calls; of 40 so many as of 20, each call a little dearer.
    dearer = estimated_cost(40, 100, ("member_leaves",)) / estimated_cost(20, 100, ("member_leaves",))
    assert dearer == pytest.approx((140 + 140) / (140 + 120))
    assert estimated_cost(12, 128, SCENARIOS) > 5 * estimated_cost(12, 128)


def test_bins_hold_all_rows_and_the_dearest_comes_first(demo):
    rows = pack_groups(demo)
    costs = [float(len(group.members)) for group in demo.groups]
    packed = binned(rows, costs, 6)
    assert packed.column(BIN).to_pylist() == list(range(6))
    cost_of = dict(zip((group.id for group in demo.groups), costs, strict=True))
    parts = [part for batch in packed.to_batches() for part in unbinned(batch)]
    loads = [sum(cost_of[name] for name in part.column("group_id").to_pylist()) for part in parts]
    assert loads == sorted(loads, reverse=True)
    names = [name for part in parts for name in part.column("group_id").to_pylist()]
    assert sorted(names) == sorted(cost_of)
    assert parts[0].schema == rows.schema
