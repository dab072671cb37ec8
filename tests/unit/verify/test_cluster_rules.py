from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kafka_rebalance.facts import FactCode
from kafka_rebalance.snapshot.model import BrokerState, Capacity, LogDir
from kafka_rebalance.verify import loads
from kafka_rebalance.verify.bounds import (
    check_bounds,
    counting_bounds,
    least_copied,
    least_leader_changes,
    least_seconds,
    price_bound,
    recomputed_bounds,
    touchable,
)
from kafka_rebalance.verify.cluster import (
    check_observability,
    check_preconditions,
    distinct_racks,
    is_spread_evenly,
    rack_counts,
)
from kafka_rebalance.verify.loads import (
    band_of,
    breaks_a_hard_rule,
    fair_share_of,
    must_change,
    recompute,
    requested_band,
    resources_in_play,
    target_factors,
    weights_of,
)
from kafka_rebalance.verify.verdict_rules import check_verdict, imbalance, worst_deviation_from_share
from tests.coverage_gaps import gap_of
from tests.unit.planner.sample_clusters import GB, brokers, cluster, row
from tests.unit.plans.hand_plans import ROWS, SNAPSHOT
from tests.unit.verify.hand_claims import DISK, MOVE, arrays, claims, faults_of, parameters

BEFORE = np.array([15.0, 10.0, 5.0]) * GB


def test_what_brokers_carry_before_and_after_the_move() -> None:
    levels = recompute(claims(), arrays(), parameters())
    assert (levels.before["disk"] / GB).tolist() == [15, 10, 5]
    assert (levels.after["disk"] / GB).tolist() == [11, 10, 9]
    assert levels.before["leaders"].tolist() == [3, 0, 0]
    assert levels.after["leaders"].tolist() == [2, 0, 1]
    assert resources_in_play(arrays(), parameters()) == ("disk", "replicas", "leaders")


def test_mean_skew_and_topic_excess() -> None:
    everybody = np.ones(3, dtype=bool)
    assert loads.plain_mean(BEFORE, None, everybody) == 10 * GB
    assert loads.skew_of(BEFORE, None, everybody) == pytest.approx(1.5)
    assert loads.skew_of(BEFORE, np.array([2.0, 1.0, 1.0]), everybody) == pytest.approx(10 / 7.5)
    assert loads.topic_excess(arrays(), arrays().now) == 1  # six replicas, two a broker, three on broker 0


def test_a_followers_cpu_is_its_part_of_writing_and_sending() -> None:
    """Written 10, sent 10 (to one follower): replicating costs 1.5 of 7 + 1.5. The leader carries the rest."""
    figures = {"cpu": np.array([85.0, 5.0]), "in": np.array([10.0, 0.0]), "out": np.array([0.0, 0.0])}
    share, extra = weights_of("cpu", np.array([2, 2]), replace(arrays(), figures=figures))
    assert share == pytest.approx([15.0, 0.0])
    assert extra == pytest.approx([70.0, 5.0])


def test_capacities_given_told_and_missing() -> None:
    volumes = tuple(replace(b, log_dirs=(LogDir("/a", 100, 40), LogDir("/b", 100, 40))) for b in SNAPSHOT.brokers)
    reported = arrays(replace(SNAPSHOT, brokers=volumes))
    assert loads.capacities_of(reported, {})["disk"].tolist() == [100, 100, 100]  # one volume under both
    given = loads.capacities_of(reported, {1: Capacity(disk_bytes=50.0)})["disk"]
    assert given.tolist() == [100, 50, 100]
    assert loads.capacities_of(arrays(), {0: Capacity(disk_bytes=50.0)})["disk"] is None  # two are not known
    limits = loads.hard_limits(reported, {"disk": given}, {"disk": np.array([10.0, 10.0, 70.0])})
    assert limits["disk"].tolist() == [50, 50, 100]  # its own and 40 more, never above its capacity


def test_racks_of_a_placement() -> None:
    known = arrays(cluster(ROWS, brokers(3, racks=2)))  # 0 and 2 in one rack
    assert distinct_racks(known, known.now).tolist() == [2, 2, 1]
    assert is_spread_evenly(known, np.arange(3), known.now).tolist() == [True, True, False]
    three = arrays(cluster([row("t", 0, (0, 1, 2), GB)], brokers(4, racks=2)))
    assert is_spread_evenly(three, np.arange(1), three.now).tolist() == [True]  # two and one: as even as can be


def test_fair_shares_rise_until_a_rack_is_full() -> None:
    """Racks of 4, 3 and 3, RF 3, 30 partitions: every rack holds 30 replicas, so 7.5 and 10 a broker."""
    rows = [row("t", p, (0, 1, 2), GB) for p in range(30)]
    known = arrays(cluster(rows, brokers(10, racks=3)))
    shares = fair_share_of(known, np.full(30, 3), np.ones(30), np.ones(10))
    assert shares == pytest.approx([7.5 if b % 3 == 0 else 10 for b in range(10)])
    assert [held.tolist() for held, _ in (rack_counts(5, np.array([1, 3, 3])),)] == [[1, 2, 2]]
    assert rack_counts(3, np.array([2, 2, 2, 2]))[1] == 3


def test_the_band_asked_for_and_the_widened_one() -> None:
    known = arrays()
    band = band_of(DISK, BEFORE, None, known, parameters())
    assert band.low == pytest.approx(np.full(3, 8 * GB))
    assert band.high == pytest.approx(np.full(3, 12 * GB))
    wider = band_of(DISK | {"widened_to": [0.5, 1.5]}, BEFORE, None, known, parameters())
    assert (wider.low / GB).tolist() == pytest.approx([5, 5, 5])
    assert (wider.high / GB).tolist() == pytest.approx([15, 15, 15])
    counts, mean = requested_band(DISK | {"resource": "leaders"}, np.array([3.0, 0, 0]), None, known, parameters())
    assert (counts.low.tolist(), counts.high.tolist(), mean.tolist()) == ([0.8] * 3, [1.2] * 3, [1] * 3)


def test_bounds_by_counting() -> None:
    """Broker 0 is 3 GB above 12: no replica gives 3 in part for less, so 3 GB; of replicas one has to go."""
    known, asked = arrays(), parameters()
    bands = {"disk": band_of(DISK, BEFORE, None, known, asked)}
    size = np.nan_to_num(known.size)
    assert least_copied(known, asked, bands, {"disk": BEFORE}, size) == pytest.approx(3 * GB)
    assert least_copied(known, asked, bands, {"disk": BEFORE}, np.ones(3)) == 1
    assert least_seconds(known, bands, {"disk": BEFORE}, 3 * GB, 1e6) == pytest.approx(3000)  # broker 2 lacks 3 GB
    leaders = {"leaders": requested_band(DISK | {"resource": "leaders"}, np.zeros(3), None, known, asked)[0]}
    assert least_leader_changes(known, asked, leaders, {"leaders": np.array([3.0, 0, 0])}) == 2
    assert touchable(known, target_factors(known, asked)).tolist() == [True] * 3


def test_a_leaving_broker_forces_what_it_holds() -> None:
    asked, known = parameters(remove_brokers=[0]), arrays(remove_brokers=[0])
    wide = {"disk": band_of(DISK | {"band_asked": [None, None]}, BEFORE, None, known, asked)}
    wide["disk"] = replace(wide["disk"], high=np.full(3, np.inf))
    assert least_copied(known, asked, wide, {"disk": BEFORE}, np.nan_to_num(known.size)) == pytest.approx(15 * GB)
    assert price_bound(known, asked, wide, {}) == pytest.approx(15 * GB)


def test_prices_prove_the_excess() -> None:
    known, asked = arrays(), parameters()
    bands = {"disk": band_of(DISK, BEFORE, None, known, asked)}
    assert price_bound(known, asked, bands, {"disk": np.array([1.0, 0, 0])}) == pytest.approx(3 * GB)
    assert price_bound(known, asked, bands, {"disk": np.array([0, 0, -1.0])}) == pytest.approx(3 * GB)  # it lacks 3
    assert price_bound(known, asked, bands, {}) == 0


def test_a_stated_bound_is_neither_above_the_cost_nor_unproved() -> None:
    known, asked = arrays(), parameters()
    levels = recompute(claims(), known, asked)
    cost = {"bytes": 4 * GB, "replica_moves": 1, "leader_changes": None, "seconds": None}
    document = {
        "verdict": "rebalance", "resources": [DISK], "certificate": {"disk": {"0": 1.0}}, "proofs": {}, "moves": [MOVE],
        "waves": [], "parameters": {"prefer": "bytes", "slack": None}, "cost": cost,
        "lower_bound": [
            {"cost": "bytes", "value": 3e9, "gap": 1 / 3, "proof": "linear_program", "is_within_slack": None},
            {"cost": "replica_moves", "value": 1, "gap": 0.0, "proof": "counted_replicas", "is_within_slack": None},
        ],
    }  # fmt: skip
    bands = {"disk": band_of(DISK, levels.before["disk"], None, known, asked)}
    bare = document | {"resources": [DISK]}
    levels.before["leaders"][:] = 1  # this document balances disks alone
    leaders = DISK | {"resource": "leaders"}
    bands["leaders"] = band_of(leaders, levels.before["leaders"], None, known, asked)
    document["resources"] = [DISK, leaders]
    assert counting_bounds(bare, bands, levels, known, asked)["replica_moves"] == 1
    assert recomputed_bounds(document, levels, known, asked)["bytes"] == pytest.approx(3 * GB)

    def codes(value: float, gap: float) -> list[str]:
        first = document["lower_bound"][0] | {"value": value, "gap": gap}
        changed = document | {"lower_bound": [first, document["lower_bound"][1]]}
        return faults_of(check_bounds, changed, levels, known, asked)

    assert codes(3e9, 1 / 3) == []
    assert codes(5e9, -0.2) == ["bound_above_cost", "bound_not_proved"]
    assert codes(3.5e9, 1 / 7) == ["bound_not_proved"]
    assert codes(2e9, 1.0) == ["bound_weak"]
    assert codes(3e9, 0.5) == ["gap"]


def test_what_today_breaks_by_itself() -> None:
    assert not must_change(arrays(), parameters())
    assert must_change(arrays(remove_brokers=[0]), parameters(remove_brokers=[0]))
    assert must_change(arrays(demote_brokers=[0]), parameters(demote_brokers=[0]))
    assert must_change(arrays(replication_factor=3), parameters(replication_factor=3))
    assert not must_change(arrays(replication_factor=3), parameters(replication_factor=3, leaders_only=True))
    shared = cluster(ROWS, brokers(3, racks=2))
    assert must_change(arrays(shared), parameters())


def test_disks_that_overflow_today_break_a_hard_rule() -> None:
    small = tuple(replace(b, capacity=Capacity(disk_bytes=14.0 * GB)) for b in SNAPSHOT.brokers)
    full = replace(SNAPSHOT, brokers=small)
    levels = recompute(claims(snapshot=full), arrays(full), parameters())
    assert breaks_a_hard_rule(arrays(full), parameters(), levels)
    roomy = tuple(replace(b, capacity=Capacity(disk_bytes=16.0 * GB)) for b in SNAPSHOT.brokers)
    free = replace(SNAPSHOT, brokers=roomy)
    assert not breaks_a_hard_rule(
        arrays(free), parameters(), recompute(claims(snapshot=free), arrays(free), parameters())
    )


def test_what_the_plan_says_it_saw() -> None:
    seen = {
        "broker_racks": {"0": None, "1": None, "2": None}, "dead_brokers": [], "topic_partitions": {"t": 3},
        "reassigning": [],
    }  # fmt: skip
    document = {"moves": [MOVE], "topic_ids": {"t": None}, "seen": seen}
    assert faults_of(check_preconditions, document, SNAPSHOT, parameters()) == []
    for changed in ({"dead_brokers": [1]}, {"topic_partitions": {"t": 2}}, {"reassigning": [["t", 0]]}):
        wrong = document | {"seen": seen | changed}
        assert faults_of(check_preconditions, wrong, SNAPSHOT, parameters()) == ["identity"]


def test_cannot_tell_needs_something_unseen() -> None:
    blind = {"verdict": "cannot_tell", "moves": [], "frontier": []}
    assert faults_of(check_observability, blind, SNAPSHOT) == ["verdict"]
    gap = replace(
        SNAPSHOT,
        coverage=(gap_of("topic", "u", FactCode.LACKS_DESCRIPTION, "denied"),),
    )
    assert faults_of(check_observability, blind, gap) == []
    assert faults_of(check_observability, blind | {"moves": [MOVE]}, gap) == ["verdict"]
    dead = replace(SNAPSHOT, brokers=tuple(replace(b, state=BrokerState.DEAD) for b in SNAPSHOT.brokers))
    quiet = {"verdict": "nothing_to_do", "moves": [], "frontier": []}
    assert faults_of(check_observability, quiet, dead) == ["verdict"]
    assert faults_of(check_observability, quiet, SNAPSHOT) == []


def test_imbalance_and_the_furthest_from_its_share() -> None:
    known, asked = arrays(), parameters()
    bands = {"disk": band_of(DISK, BEFORE, None, known, asked)}
    assert imbalance(bands, {"disk": BEFORE}, known) == pytest.approx(0.1)  # 3 of 30 GB above, 3 below
    assert worst_deviation_from_share(bands, {"disk": BEFORE}, known, asked) == pytest.approx(0.5)
    assert worst_deviation_from_share(bands, {"disk": np.full(3, 10.0 * GB)}, known, asked) == 0


REASON = {"code": "all_inside_band", "args": {}}


@pytest.mark.parametrize(
    ("verdict", "moves", "reasons", "is_right"),
    [
        ("rebalance", [MOVE], [REASON], True),
        ("rebalance", [], [REASON], False),
        ("nothing_to_do", [MOVE], [REASON], False),
        ("nothing_to_do", [], [REASON], False),  # 15 of at most 12
        ("not_fixable_by_moving", [], [REASON], True),
        ("infeasible", [], [REASON], False),
        ("rebalance", [MOVE], [], False),
    ],
)
def test_a_verdict_follows_from_what_brokers_carry(verdict: str, moves: list, reasons: list, is_right: bool) -> None:
    known, asked = arrays(), parameters()
    document = {
        "verdict": verdict, "moves": moves, "reasons": reasons, "resources": [DISK], "continues": None,
        "steps": [],
    }  # fmt: skip
    levels = recompute(claims(), known, asked)
    assert faults_of(check_verdict, document, levels, known, asked) == ([] if is_right else ["verdict"])
