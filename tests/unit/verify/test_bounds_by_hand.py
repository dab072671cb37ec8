"""Bounds by counting, on brokers that hold 6 + 4 + 5, 6 + 4 and 5 GB, and on variants."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from kafka_rebalance.snapshot.figures import LoadKind
from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.snapshot.partition_table import Partition
from kafka_rebalance.verify.bounds import (
    check_bounds,
    least_copied,
    least_leader_changes,
    least_seconds,
    recomputed_bounds,
    touchable,
)
from kafka_rebalance.verify.loads import Band, recompute, target_factors
from tests.unit.planner.sample_clusters import GB, brokers, cluster, row
from tests.unit.plans.hand_plans import ROWS, SNAPSHOT
from tests.unit.verify.hand_claims import DISK, MOVE, arrays, claims, faults_of, parameters

RATES: dict[LoadKind, list[float]] = {LoadKind.IN_BYTES_PER_S: [10, 20, 30], LoadKind.OUT_BYTES_PER_S: [0, 0, 0]}


def band(high: Any = np.inf, low: Any = 0.0) -> Band:
    """The same for three brokers, or one figure for each."""
    return Band(np.broadcast_to(low, 3).astype(np.float64), np.broadcast_to(high, 3).astype(np.float64))


def copied(
    bands: Mapping[str, Band], snapshot: ClusterSnapshot = SNAPSHOT, *, in_moves: bool = False, **asked: object
) -> float:
    """Least bytes (in GB), or least moves, for what brokers hold today."""
    known, given = arrays(snapshot, **asked), parameters(**asked)
    before = {name: load for name, load in recompute(claims(snapshot=snapshot, **asked), known, given).before.items()
              if name in bands}  # fmt: skip
    cost = np.ones(len(known.size)) if in_moves else np.nan_to_num(known.size) / GB
    return least_copied(known, given, bands, before, cost)


@pytest.mark.parametrize(
    ("high", "moves", "least_bytes"),
    [
        (15, 0, 0),
        (12, 1, 3),  # of 6 + 4 + 5, the 6 alone is enough: half of it in bytes
        (9, 1, 6),
        (8.5, 2, 6.5),  # 6 are not enough
        (4, 2, 11),  # 6 + 5 to the byte
        (3.9, 3, 11.1),
        (0, 3, 15),
    ],
)
def test_what_broker_0_has_above_its_band_leaves_it(high: float, moves: int, least_bytes: float) -> None:
    bands = {"disk": band([high * GB, np.inf, np.inf])}
    assert copied(bands) == pytest.approx(least_bytes)
    assert copied(bands, in_moves=True) == moves


def test_what_leaves_several_brokers_adds_up_and_of_two_resources_the_harder_counts() -> None:
    """Broker 0 has 3 GB too much, broker 1 has 2, broker 2 none; a band of one replica needs 2 + 1 moves."""
    by_disk = {"disk": band([12 * GB, 8 * GB, 5 * GB])}
    assert copied(by_disk) == pytest.approx(5)
    assert copied(by_disk, in_moves=True) == 2
    by_count = by_disk | {"replicas": band(1.0)}
    assert copied(by_count, in_moves=True) == 3
    assert copied(by_count) == pytest.approx(9 + 4)  # the cheapest two of 6, 4, 5 and the cheaper of 6 and 4


def test_what_a_broker_lacks_is_copied_to_it() -> None:
    """Broker 1 lacks 2 GB and broker 2 lacks 4; by count broker 2 lacks one and a half."""
    known, given = arrays(), parameters()
    before = {"disk": np.array([15.0, 10, 5]), "replicas": np.array([3.0, 2, 1])}
    sizes = np.array([6.0, 4, 5])
    assert least_copied(known, given, {"disk": band(low=[0, 12, 9])}, {"disk": before["disk"]}, sizes) == 6
    counts = {"replicas": band(low=[0, 2, 2.5])}
    assert least_copied(known, given, counts, {"replicas": before["replicas"]}, np.ones(3)) == 2
    assert least_copied(known, given, counts, {"replicas": before["replicas"]}, sizes) == 0


def test_a_lower_replication_factor_drops_for_nothing_and_a_higher_one_copies_the_rest() -> None:
    tight = {"disk": band(1.0)}
    assert copied(tight, replication_factor=1) == copied(tight, replication_factor=1, in_moves=True) == 0
    assert copied({}, replication_factor=3) == 15
    assert copied({}, replication_factor=3, in_moves=True) == 3
    gone = [*ROWS[:2], row("u", 0, (0, 1), 5 * GB)]
    assert copied({}, cluster(gone, brokers(3)), replication_factor=3, exclude_topics=["u"]) == 10


def test_what_is_excluded_neither_leaves_nor_grows_and_an_empty_partition_weighs_nothing() -> None:
    rows = [*ROWS, row("u", 0, (0, 1), 9 * GB), row("t", 3, (0, 2), 0)]
    snapshot = cluster(rows, brokers(3))  # 24 GB on broker 0, of which 9 may not be touched
    assert copied({"disk": band([20 * GB, np.inf, np.inf])}, snapshot, exclude_topics=["u"]) == pytest.approx(4)
    assert copied({"disk": band([1 * GB, np.inf, np.inf])}, snapshot, exclude_topics=["u"]) == pytest.approx(15)
    assert copied({"disk": band([1 * GB, np.inf, np.inf])}, snapshot, in_moves=True, exclude_topics=["u"]) == 3


def test_each_replicas_own_size_counts_where_it_is_told() -> None:
    """Broker 1 holds 3 GB of partition 0 and 4 of partition 1; above 5 GB, 2 of the 3 are half of a move of 6."""
    rows = [row("t", 0, (0, 1), log_bytes=(6 * GB, 3 * GB)), ROWS[1], ROWS[2]]
    bands = {"disk": band([np.inf, 5 * GB, np.inf])}
    assert copied(bands, cluster(rows, brokers(3))) == pytest.approx(2)  # of the 4 GB, which cost 4 for 4
    four = [row("t", 0, (0, 1), log_bytes=(6 * GB, 12 * GB)), ROWS[1], ROWS[2]]
    assert copied(bands, cluster(four, brokers(3))) == pytest.approx(11 / 2)  # 6 copied take 12 off: cheaper


def test_what_is_offline_or_shares_a_rack_has_to_be_copied() -> None:
    offline = cluster([*ROWS[:2], row("t", 2, (0, 2), 5 * GB, offline=(2,), isr=(0,))], brokers(3))
    assert copied({}, offline) == 5
    shared = cluster(ROWS, brokers(3, racks=2))  # 0 and 2 in one rack, and there are two
    assert copied({}, shared) == 5
    assert copied({}, shared, in_moves=True) == 1
    # A copy more can go to the other rack: the requested one.
    assert copied({}, shared, replication_factor=3) == 15
    assert copied({}, cluster(ROWS, brokers(3, racks=1))) == 0
    closed = cluster(ROWS, brokers(3, racks=2))
    assert copied({}, closed, exclude_brokers=[1]) == 0  # no receiver in the other rack


def test_potential_out_follows_the_replication_factor_that_is_asked_for() -> None:
    """Written 10, 20, 30, unread: with RF 2 a leader of each sends that much, with RF 3 twice."""
    measured = cluster(ROWS, brokers(3), rates=RATES)
    caps = {"potential_out": 1000.0}
    assert copied({"potential_out": band([50.0, 30, 30])}, measured, in_moves=True, caps=caps) == 1  # 60 on broker 0
    assert copied({"potential_out": band([60.0, 30, 30])}, measured, in_moves=True, caps=caps) == 0
    three = dict(caps=caps, replication_factor=3)
    assert copied({"potential_out": band([120.0, 60, 60])}, measured, in_moves=True, **three) == 3  # the new ones alone
    assert copied({"potential_out": band([119.0, 60, 60])}, measured, in_moves=True, **three) == 4


def unknown_but(**changes: object) -> list[Partition]:
    """Ten partitions of known size on 0 and 1, and one of unknown size on 0 and 2 with ``changes``."""
    rows = [row("t", p, (0, 1)) for p in range(10)]
    return [*rows, row("t", 10, (0, 2), **({"log_bytes": (None, None)} | changes))]


@pytest.mark.parametrize(
    ("of", "rows", "asked", "may_move"),
    [
        (brokers(3), unknown_but(), {}, False),
        (brokers(3), unknown_but(), {"remove_brokers": [2]}, True),
        (brokers(3), unknown_but(), {"demote_brokers": [0]}, True),
        (brokers(3), unknown_but(), {"demote_brokers": [2]}, False),
        (brokers(3), unknown_but(), {"replication_factor": 3}, True),
        (brokers(3), unknown_but(offline=(2,), isr=(0,)), {}, True),
        (brokers(3, racks=2), unknown_but(), {}, True),  # both in one rack
        (brokers(3, racks=2), unknown_but(), {"exclude_brokers": [1]}, False),  # the other rack takes nothing
        (brokers(3, racks=2), unknown_but(adding=(2,)), {}, False),
        (brokers(3, racks=2), unknown_but(leader=None, isr=()), {}, False),
        (brokers(3, racks=2), unknown_but(), {"exclude_topics": ["t"]}, False),
    ],
)
def test_what_is_unknown_is_left_alone_unless_it_has_to_go(of: list, rows: list, asked: dict, may_move: bool) -> None:
    known = arrays(cluster(rows, of), **asked)
    assert touchable(known, target_factors(known, parameters(**asked))).tolist()[10] is may_move


def changes(before: dict, bands: dict, snapshot: ClusterSnapshot = SNAPSHOT, **asked: object) -> float:
    loads = {name: np.array(values, dtype=np.float64) for name, values in before.items()}
    return least_leader_changes(arrays(snapshot, **asked), parameters(**asked), bands, loads)


LED = {"leaders": [3, 0, 0]}


def test_leaders_above_the_band_stop_and_below_it_start() -> None:
    assert changes(LED, {"leaders": band(1.0)}) == 2  # exactly 2 are too many
    assert changes(LED, {"leaders": band(1.5)}) == 2
    assert changes(LED, {"leaders": band(3.0)}) == 0
    assert changes(LED, {"leaders": band(low=[0, 1, 1])}) == 2
    assert changes(LED, {"leaders": band(low=[3, 0.5, 0])}) == 1
    assert changes(LED, {"leaders": band(-1.0)}) == 3  # a broker cannot lose leaders that it does not have


def test_who_may_not_lead_stops_where_another_may() -> None:
    wide = {"leaders": band()}
    assert changes(LED, wide, demote_brokers=[0]) == 3
    assert changes(LED, wide, demote_brokers=[0], exclude_brokers=[1]) == 1  # only partition 2 has a broker that may
    assert changes(LED, wide, demote_brokers=[0], exclude_topics=["t"]) == 0
    assert changes(LED, {"leaders": band(1.0)}, preferred_election=True, balance_within=None) == 0
    elected = {"preferred_election": True, "balance_within": None, "demote_brokers": [0]}
    assert changes(LED, {"leaders": band()}, **elected) == 3
    offline = cluster([*ROWS[:2], row("t", 2, (0, 2), offline=(2,), isr=(0,))], brokers(3))
    assert changes(LED, wide, offline, demote_brokers=[0]) == 2  # no leaders on a dead disk


def test_what_a_leader_sends_above_its_band_is_led_by_others() -> None:
    """Written 10, 20, 30 and copied once: broker 0 sends 60. Above 30, the partition of 30 is enough."""
    measured, wide = cluster(ROWS, brokers(3), rates=RATES), {"leaders": band()}
    loads = LED | {"out": [60, 0, 0]}
    assert changes(loads, wide | {"out": band([30.0, 0, 0])}, measured) == 1
    assert changes(loads, wide | {"out": band([29.0, 0, 0])}, measured) == 2
    assert changes(loads, wide | {"out": band([60.0, 0, 0])}, measured) == 0
    asked = {"replication_factor": 3}  # 120 with today's leaders
    assert changes(loads, wide | {"out": band([60.0, 0, 0])}, measured, **asked) == 1
    assert changes(loads, wide | {"out": band([59.0, 0, 0])}, measured, **asked) == 2


def test_bytes_take_their_time_at_those_that_may_receive() -> None:
    """90 bytes to three brokers at 10 a second, or to two; or to the one that lacks most."""
    known, before = arrays(), {"disk": np.array([15.0, 10, 5])}
    assert least_seconds(known, {}, {}, 90.0, 10.0) == 3
    assert least_seconds(known, {}, {}, 0.9, 10.0) == pytest.approx(0.03)
    assert least_seconds(arrays(exclude_brokers=[0]), {}, {}, 90.0, 10.0) == 4.5
    assert least_seconds(arrays(exclude_brokers=[0, 1, 2]), {}, {}, 90.0, 10.0) == 9
    assert least_seconds(known, {"disk": band(low=[0, 12, 105])}, before, 90.0, 10.0) == 10
    assert least_seconds(known, {"disk": band(low=[0, 12, 10])}, before, 90.0, 10.0) == 3
    assert least_seconds(known, {"disk": band(low=100.0)}, {}, 90.0, 10.0) == 3
    assert least_seconds(known, {}, {"disk": np.zeros(3)}, 90.0, 10.0) == 3


LEADERS = DISK | {"resource": "leaders", "band_asked": [None, None]}


def bounded(value: float, gap: float | None, cost: float, **more: object) -> dict[str, Any]:
    """A document whose one cost is in bytes; 3 GB of it can be proved by counting (15 GB where 12 are allowed)."""
    return {
        "verdict": "rebalance", "resources": [DISK, LEADERS], "certificate": {}, "proofs": {}, "moves": [MOVE],
        "parameters": {"prefer": "bytes", "slack": None},
        "waves": [{"throttle_bytes_per_s": 1_000_000}],
        "cost": {"bytes": cost, "replica_moves": None, "leader_changes": None, "seconds": None},
        "lower_bound": [
            {"cost": "bytes", "value": value, "gap": gap, "proof": "counted_replicas", "is_within_slack": None}
        ],
    } | more  # fmt: skip


def proof(**fields: object) -> dict[str, Any]:
    """One of moves or time, or of bytes."""
    return {"prices": {}, "receiving": {}, "sending": {}, "covers": []} | fields


@pytest.mark.parametrize(
    ("document", "codes"),
    [
        (bounded(3e9, 1 / 3, 4e9), []),
        (bounded(3e9 + 300, (1e9 - 300) / (3e9 + 300), 4e9), []),  # a ten-millionth of the cost is rounding
        (bounded(3e9 + 500, (1e9 - 500) / (3e9 + 500), 4e9), ["bound_not_proved"]),
        (bounded(3e9 - 500, (1e9 + 500) / (3e9 - 500), 4e9), ["bound_weak"]),
        (bounded(3e9, 0.0, 3e9), []),
        (bounded(3e9, -0.1, 2.7e9), ["bound_above_cost"]),
        (bounded(0.0, None, 4e9), ["bound_weak"]),
        (bounded(0.0, 0.0, 4e9), ["bound_weak", "gap"]),
        (bounded(0.0, 0.0, 0), []),  # nothing costs nothing
        (bounded(-5.0, None, 4e9), ["bound_above_cost", "bound_weak"]),
        (bounded(3e9, 1 / 3, 4e9, lower_bound=[]), ["bound_missing"]),
        (bounded(3e9, 1 / 3, 4e9, lower_bound=bounded(3e9, 1 / 3, 4e9)["lower_bound"] * 2), ["bound_missing"]),
        (bounded(3e9, 1 / 3, 4e9, certificate={"disk": {"0": 1.0}}), []),
        (bounded(3e9, 1 / 3, 4e9, certificate={"disk": {"9": 1.0}}), ["certificate"]),
        (bounded(3e9, 1 / 3, 4e9, certificate={"disk": {"0": 0}}), ["certificate"]),
        (bounded(3e9, 1 / 3, 4e9, certificate={"cpu": {"0": 1.0}}), ["certificate"]),
        (bounded(3e9, 1 / 3, 4e9, certificate={"disk": {"0": 1.0}}, moves=[]), ["certificate"]),
        (bounded(3e9, 1 / 3, 4e9, proofs={"seconds": proof(sending={"0": 1.0})}), []),
        (bounded(3e9, 1 / 3, 4e9, proofs={"seconds": proof(sending={"0": 0.0})}), ["certificate"]),
        (bounded(3e9, 1 / 3, 4e9, proofs={"seconds": proof(receiving={"1": -1.0})}), ["certificate"]),
        (bounded(3e9, 1 / 3, 4e9, proofs={"seconds": proof(receiving={"9": 1.0})}), ["certificate"]),
        (bounded(3e9, 1 / 3, 4e9, proofs={"seconds": proof()}), ["certificate"]),
        (bounded(3e9, 1 / 3, 4e9, proofs={"replica_moves": proof()}), []),
        (bounded(3e9, 1 / 3, 4e9, proofs={"replica_moves": proof(sending={"0": 1.0})}), ["certificate"]),
        (bounded(3e9, 1 / 3, 4e9, proofs={"replica_moves": proof(prices={"cpu": {"0": 1.0}})}), ["certificate"]),
        (bounded(3e9, 1 / 3, 4e9, proofs={"replica_moves": proof(prices={"disk": {"9": 1.0}})}), ["certificate"]),
        (bounded(3e9, 1 / 3, 4e9, proofs={"bytes": proof()}), ["certificate"]),
        (bounded(3e9, 1 / 3, 4e9, proofs={"replica_moves": proof()}, moves=[]), ["certificate"]),
        (bounded(0.0, None, 4e9, verdict="infeasible"), []),
        (bounded(3e9, 1 / 3, 4e9, verdict="cannot_tell"), ["bound_not_proved"]),
    ],
)
def test_a_bound_and_its_gap_at_the_edge(document: dict[str, Any], codes: list[str]) -> None:
    known, given = arrays(), parameters()
    levels = recompute(claims(), known, given)
    assert faults_of(check_bounds, document, levels, known, given) == codes


def test_bounds_of_seconds_take_the_quickest_wave_and_bytes_only_where_they_are_known() -> None:
    known, given = arrays(), parameters()
    levels = recompute(claims(), known, given)
    waves = [{"throttle_bytes_per_s": throttle} for throttle in (1_000_000, 2_000_000)]
    result = recomputed_bounds(bounded(3e9, 0.0, 4e9, waves=waves), levels, known, given)
    assert result == pytest.approx({"leader_changes": 0, "replica_moves": 1, "bytes": 3e9, "seconds": 1500})
    none = bounded(3e9, 0.0, 4e9) | {"cost": {"bytes": None}}
    assert recomputed_bounds(none, levels, known, given) == {"leader_changes": 0, "replica_moves": 1}
    asked = parameters(leaders_only=True)
    leaders = bounded(3e9, 0.0, 4e9, resources=[LEADERS], waves=[])
    result = recomputed_bounds(leaders, levels, arrays(leaders_only=True), asked)
    assert result == {"leader_changes": 0, "replica_moves": 0, "bytes": 0, "seconds": 0}


def test_proofs_of_moves_are_whole_and_those_of_time_a_mean_of_the_busiest() -> None:
    """Broker 0 has 3 GB too much: at 0.3 a GB 0.9 of a move is proved: 1. Its leaders move along."""
    known, given = arrays(), parameters()
    levels = recompute(claims(), known, given)

    def proved(**proofs: object) -> dict[str, float]:
        return recomputed_bounds(bounded(3e9, 0.0, 4e9, proofs=proofs), levels, known, given)

    some = {"disk": {"0": 1.0}}
    assert proved(replica_moves=proof(prices={"disk": {"0": 0.3e-9}}))["replica_moves"] == 1
    assert (
        proved(replica_moves=proof(prices={"disk": {"0": 1e3}}))["replica_moves"] == 1
    )  # they prove less than nothing
    everywhere = {str(broker): 1.0 for broker in known.ids.tolist()}
    alike = proved(seconds=proof(prices=some, receiving=everywhere))["seconds"]
    assert alike == pytest.approx(proved()["seconds"])  # 3 GB that come to 3 brokers at 1 MB/s, or what one lacks
    # Shares that do not sum up to 1 are divided by their sum; one below nothing counts as none.
    third = {broker: share / 3 for broker, share in everywhere.items()}
    assert proved(seconds=proof(prices={"disk": {"0": 1 / 3}}, receiving=third))["seconds"] == pytest.approx(alike)
    less = proved(seconds=proof(prices=some, receiving=everywhere, sending={"0": -2.5}))["seconds"]
    assert less == pytest.approx(alike)
