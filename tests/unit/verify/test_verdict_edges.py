"""Rules broken by today's placement, and the verdicts that follow, at their edges, on 15, 10 and 5 GB."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from kafka_rebalance.facts import FactCode
from kafka_rebalance.snapshot.model import BrokerState, Capacity, ClusterSnapshot, LogDir
from kafka_rebalance.verify.cluster import check_observability
from kafka_rebalance.verify.loads import Band, Levels, breaks_a_hard_rule, must_change, recompute
from kafka_rebalance.verify.verdict_rules import check_verdict, imbalance, worst_deviation_from_share
from tests.coverage_gaps import gap_of
from tests.unit.planner.sample_clusters import GB, brokers, cluster, row
from tests.unit.plans.hand_plans import ROWS, SNAPSHOT
from tests.unit.verify.hand_claims import DISK, MOVE, arrays, claims, faults_of, parameters

EVEN = cluster([row("t", p, (p, (p + 1) % 3), 5 * GB) for p in range(3)], brokers(3))  # 10 GB and one leader each
SHARED = cluster(ROWS, brokers(3, racks=2))  # partition 2 on both brokers of a rack


def levels_of(snapshot: ClusterSnapshot, **asked: object) -> Levels:
    """Today, without moves."""
    known, given = arrays(snapshot, **asked), parameters(**asked)
    return recompute(claims(snapshot=snapshot, **asked), known, given)


def is_broken(snapshot: ClusterSnapshot, **asked: object) -> bool:
    return breaks_a_hard_rule(arrays(snapshot, **asked), parameters(**asked), levels_of(snapshot, **asked))


@pytest.mark.parametrize(
    ("snapshot", "asked", "must"),
    [
        (EVEN, {}, False),
        (EVEN, {"remove_brokers": [0]}, True),
        (EVEN, {"remove_brokers": [0], "exclude_topics": ["t"]}, False),
        (EVEN, {"demote_brokers": [1]}, True),
        (EVEN, {"demote_brokers": [1], "leaders_only": True}, True),
        (EVEN, {"demote_brokers": [1], "exclude_topics": ["t"]}, False),
        (EVEN, {"exclude_brokers": [1]}, False),
        (EVEN, {"replication_factor": 2}, False),
        (EVEN, {"replication_factor": 1}, True),
        (EVEN, {"replication_factor": 3}, True),
        (EVEN, {"replication_factor": 3, "exclude_topics": ["t"]}, False),
        (SHARED, {}, True),
        (SHARED, {"leaders_only": True}, False),
        (SHARED, {"exclude_brokers": [1]}, False),  # the other rack takes nothing
        (cluster(ROWS, brokers(3, racks=1)), {}, False),
        (cluster([row("t", 0, (0, 1), offline=(0,), leader=1, isr=(1,))], brokers(3)), {}, True),
        (cluster([row("t", 0, (0, 1), offline=(0,), adding=(1,), leader=1)], brokers(3)), {}, False),
        (cluster([row("t", 0, (0, 1), offline=(0,), leader=None, isr=())], brokers(3)), {}, False),
    ],
)
def test_what_cannot_stay_as_it_is(snapshot: ClusterSnapshot, asked: dict[str, Any], must: bool) -> None:
    assert must_change(arrays(snapshot, **asked), parameters(**asked)) is must


def test_an_election_or_a_limit_may_ask_for_more_than_it_allows() -> None:
    off = cluster([row("t", p, (0, 1), leader=p % 2) for p in range(4)], brokers(3))  # 1 and 3 are led by the second
    election = {"preferred_election": True, "balance_within": None}
    assert is_broken(off, max_leader_changes=1, **election)
    assert not is_broken(off, max_leader_changes=2, **election)
    assert not is_broken(off, max_leader_changes=0)
    assert not is_broken(off, **election)
    assert not is_broken(off, max_leader_changes=0, exclude_topics=["t"], **election)
    unknown = cluster([*EVEN.each_partition(), row("t", 3, (0, 1), None)], brokers(3))
    assert is_broken(unknown, max_move_bytes=10**12)
    assert not is_broken(unknown)
    assert not is_broken(EVEN, max_move_bytes=0)


def test_excluded_replicas_on_a_broker_that_leaves_keep_it_from_leaving() -> None:
    assert is_broken(EVEN, remove_brokers=[0], exclude_topics=["t"])


def with_disks(snapshot: ClusterSnapshot, disk: float) -> ClusterSnapshot:
    return replace(snapshot, brokers=tuple(replace(b, capacity=Capacity(disk_bytes=disk)) for b in snapshot.brokers))


@pytest.mark.parametrize(
    ("snapshot", "asked", "broken"),
    [
        (with_disks(SNAPSHOT, 15 * GB), {}, False),
        (with_disks(SNAPSHOT, 15 * GB * (1 - 0.9e-9)), {}, False),
        (with_disks(SNAPSHOT, 15 * GB * (1 - 1.1e-9)), {}, True),
        (with_disks(EVEN, 10 * GB), {}, True),  # nothing is free: not one replica could move
        (with_disks(EVEN, 10 * GB + 9), {}, True),
        (with_disks(EVEN, 10 * GB + 11), {}, False),
        (with_disks(EVEN, 12 * GB), {"replication_factor": 3}, True),
        (EVEN, {"caps": {"disk": 10e9}}, True),
        (EVEN, {"caps": {"disk": 10e9 + 11}}, False),
        (EVEN, {"caps": {"disk": 10e9 + 9}}, True),
        (SNAPSHOT, {"caps": {"disk": 15e9}}, False),
        (SNAPSHOT, {"caps": {"disk": 15e9 * (1 - 0.9e-9)}}, False),
        (SNAPSHOT, {"caps": {"disk": 15e9 * (1 - 1.1e-9)}}, True),
        (SNAPSHOT, {"caps": {"leaders": 3}}, False),
        (SNAPSHOT, {"caps": {"leaders": 2}}, True),
        (EVEN, {"caps": {"leaders": 1}}, True),  # three leaders on three brokers: all are full
        (EVEN, {"caps": {"leaders": 2}}, False),
    ],
)
def test_full_disks_and_caps_break_a_rule_today(snapshot: ClusterSnapshot, asked: dict[str, Any], broken: bool) -> None:
    assert is_broken(snapshot, **asked) is broken


def test_imbalance_is_the_share_outside_over_or_under_whichever_is_more() -> None:
    """Of 30 GB 3 are above 12, and 3 + 1 below 8 and 11; leaders are even; there is no ``in`` load."""
    known = arrays()
    load = {"disk": np.array([15.0, 10, 5]), "leaders": np.ones(3), "in": np.zeros(3)}
    wide = Band(np.zeros(3), np.full(3, 9.0))
    bands = {
        "disk": Band(np.array([8.0, 11, 8]), np.full(3, 12.0)),
        "leaders": wide,
        "in": Band(np.ones(3), np.ones(3)),
    }
    assert imbalance(bands, load, known) == pytest.approx(4 / 30)
    two = {"disk": Band(np.array([8.0, 9, 8]), np.full(3, 9.0)), "leaders": Band(np.zeros(3), np.full(3, 0.5))}
    assert imbalance(two, load, known) == pytest.approx(7 / 30 + 1.5 / 3)
    assert imbalance(two, load, arrays(remove_brokers=[0])) == pytest.approx(3 / 30 + 1 / 3)  # its own do not count


def test_the_worst_deviation_is_of_brokers_outside_and_a_count_may_be_one_off() -> None:
    known, asked = arrays(), parameters()  # within a fifth: the share is the upper edge over 1.2
    band = Band(np.full(3, 8.0), np.full(3, 12.0))
    assert worst_deviation_from_share({"disk": band}, {"disk": np.array([12.0, 8, 8.5])}, known, asked) == 0
    assert worst_deviation_from_share({"disk": band}, {"disk": np.array([12.5, 8, 8])}, known, asked) == 0.25
    assert worst_deviation_from_share({"disk": band}, {"disk": np.array([12.5, 7, 8])}, known, asked) == pytest.approx(
        0.3
    )
    leaving = arrays(remove_brokers=[1])
    assert worst_deviation_from_share({"disk": band}, {"disk": np.array([12.5, 7, 8])}, leaving, asked) == 0.25
    counts = Band(np.full(3, 1.0), np.full(3, 1.2))
    assert worst_deviation_from_share({"leaders": counts}, {"leaders": np.array([2.0, 0, 1])}, known, asked) == 0
    assert worst_deviation_from_share({"leaders": counts}, {"leaders": np.array([3.0, 0, 1])}, known, asked) == 2
    open_band = Band(np.full(3, 8.0), np.array([np.inf, 12, 0]))
    assert worst_deviation_from_share({"disk": open_band}, {"disk": np.array([1.0, 12, 5])}, known, asked) == 0
    assert worst_deviation_from_share(
        {"disk": Band(np.zeros(3), np.full(3, 10.0))}, {"disk": np.array([11.0, 1, 1])}, known,
        parameters(preferred_election=True),
    ) == pytest.approx(0.1)  # fmt: skip


EVEN_REASON = {"code": "all_inside_band", "args": {}}
QUIET: dict[str, Any] = {
    "verdict": "nothing_to_do", "moves": [], "reasons": [EVEN_REASON], "resources": [DISK], "continues": None,
    "steps": [],
}  # fmt: skip
TENTH = DISK | {"band_asked": [0.9, 1.1], "is_ordered": False}  # the default band


def verdict(document: dict[str, Any], snapshot: ClusterSnapshot = SNAPSHOT, **asked: object) -> list[str]:
    known, given = arrays(snapshot, **asked), parameters(**asked)
    return faults_of(check_verdict, document, levels_of(snapshot, **asked), known, given)


def unpaid(copied: object, share: object, removed: object) -> dict[str, Any]:
    args = {"copied_bytes": copied, "copied_share": share, "imbalance_removed": removed}
    return {"code": "does_not_pay", "args": args}


@pytest.mark.parametrize(
    ("reasons", "is_right"),
    [
        ([], False),
        ([EVEN_REASON], False),  # broker 0 is half above its share, and 0.22 would be near enough
        # 2 of 15 GB, each partition once, and no more than a tenth of the load is outside.
        ([unpaid(2e9, 2 / 15, 0.006)], True),
        ([EVEN_REASON, unpaid(2e9, 2 / 15, 0.006)], True),
        ([unpaid(2e9, 2 / 15, 0.05 * 2 / 15)], True),
        ([unpaid(2e9, 2 / 15, 0.05 * 2 / 15 + 1e-6)], False),  # 0.05 of the share copied is where a plan would pay
        ([unpaid(3e9, 2 / 15, 0.006)], False),
        ([unpaid(2e9, 2 / 15, "0.006")], False),
        ([unpaid(2e9, None, 0.006)], False),
        ([unpaid(True, 2 / 15, 0.006)], False),
        ([{"code": "does_not_pay", "args": {}}], False),
        ([unpaid(1500e9, 100, 0.2)], False),
    ],
)
def test_staying_put_outside_the_dead_band_needs_figures(reasons: list[dict[str, Any]], is_right: bool) -> None:
    result = verdict(QUIET | {"reasons": reasons, "resources": [TENTH]}, is_within_ordered=False)
    assert result == ([] if is_right else ["verdict"])


def test_no_figures_say_more_than_the_imbalance_that_there_is() -> None:
    """4 of 30 GB are outside; at a gain per byte of 1 a fifth of all bytes might take that off, no more."""
    asked = {"is_within_ordered": False, "least_gain_per_byte": 1.0}
    for gain, is_right in ((4 / 30, True), (4 / 30 + 1e-6, False)):
        reason = unpaid(15e9 / 5, 1 / 5, gain)
        document = QUIET | {"reasons": [reason], "resources": [TENTH]}
        assert verdict(document, **asked) == ([] if is_right else ["verdict"])


@pytest.mark.parametrize(
    ("asked", "is_right"),
    [
        ({"is_within_ordered": False, "dead_band": 0.5 / 1.1 + 1e-8}, True),  # a tenth wider: half above the share
        ({"is_within_ordered": False, "dead_band": 0.5 / 1.1 - 1e-8}, False),
        ({"dead_band": 0.9}, False),  # a band was requested
        ({"balance_within": 0.5}, True),
        ({"balance_within": 0.5 - 1e-8}, False),
        ({"balance_within": 0.5 - 1e-10}, True),  # rounding
    ],
)
def test_nothing_to_do_inside_the_band_or_the_dead_band(asked: dict[str, Any], is_right: bool) -> None:
    within = asked.get("balance_within", 0.1 if "is_within_ordered" in asked else 0.2)
    document = QUIET | {"resources": [DISK | {"band_asked": [1 - within, 1 + within]}]}
    assert verdict(document, **asked) == ([] if is_right else ["verdict"])


def test_an_election_aims_at_no_band() -> None:
    bare = DISK | {"band_asked": [0.8, 1.2]}
    assert verdict(QUIET | {"resources": [bare]}, preferred_election=True, balance_within=None) == []


def test_infeasible_needs_a_broken_rule_and_not_fixable_somebody_outside() -> None:
    infeasible = QUIET | {"verdict": "infeasible"}
    assert verdict(infeasible) == ["verdict"]
    assert verdict(infeasible, remove_brokers=[0]) == []
    not_fixable = QUIET | {"verdict": "not_fixable_by_moving"}
    assert verdict(not_fixable) == []
    assert verdict(not_fixable, EVEN) == ["verdict"]
    assert verdict(QUIET | {"verdict": "cannot_tell"}) == []
    for idle in ("infeasible", "not_fixable_by_moving", "cannot_tell", "nothing_to_do"):
        assert verdict(QUIET | {"verdict": idle, "moves": [MOVE]}, remove_brokers=[0]).count("verdict") == 1


def test_a_rebalance_takes_something_off_unless_it_must_move_or_goes_on() -> None:
    moving = QUIET | {"verdict": "rebalance", "moves": [MOVE]}
    known, asked = arrays(), parameters()
    same = levels_of(SNAPSHOT)
    same.after["disk"][:] = same.before["disk"]
    better, worse = levels_of(SNAPSHOT), levels_of(SNAPSHOT)
    worse.after["disk"][:] = np.array([16.0, 10, 4]) * GB
    assert faults_of(check_verdict, moving, better, known, asked) == []
    assert faults_of(check_verdict, moving, worse, known, asked) == ["verdict"]
    assert faults_of(check_verdict, moving | {"continues": "a" * 64}, worse, known, asked) == []
    assert verdict(moving, EVEN) == ["verdict"]  # nothing was outside
    drained = {"remove_brokers": [0]}
    assert faults_of(check_verdict, moving, worse, arrays(**drained), parameters(**drained)) == []
    elected = {"preferred_election": True, "balance_within": None}
    assert faults_of(check_verdict, moving, worse, arrays(**elected), parameters(**elected)) == []


@pytest.mark.parametrize(("times", "is_right"), [(1.009, False), (1.011, True)])
def test_bands_of_unknown_capacity_give_way_where_disks_differ(times: float, is_right: bool) -> None:
    """Disks come nearer to their band, counts of replicas leave theirs by more: right only if one disk is larger."""
    sizes = (100 * GB, 100 * GB, times * 100 * GB)
    disks = [replace(b, capacity=Capacity(disk_bytes=size)) for b, size in zip(SNAPSHOT.brokers, sizes, strict=True)]
    snapshot = replace(SNAPSHOT, brokers=tuple(disks))
    levels = levels_of(snapshot)
    for after in (levels.after, levels.elected_after):
        after["disk"], after["replicas"] = np.array([14.0, 10, 6]) * GB, np.array([6.0, 0, 0])
    moving = QUIET | {"verdict": "rebalance", "moves": [MOVE], "resources": [DISK, DISK | {"resource": "replicas"}]}
    assert faults_of(check_verdict, moving, levels, arrays(snapshot), parameters()) == ([] if is_right else ["verdict"])


DEAD = tuple(replace(b, state=state) for b, state in
             zip(SNAPSHOT.brokers, (BrokerState.DEAD, BrokerState.FENCED, BrokerState.DEAD), strict=True))  # fmt: skip
BLIND = {"verdict": "cannot_tell", "moves": [], "frontier": []}


@pytest.mark.parametrize(
    ("snapshot", "is_blind"),
    [
        (SNAPSHOT, False),
        (replace(SNAPSHOT, brokers=(*SNAPSHOT.brokers[:2],
                                    replace(SNAPSHOT.brokers[2], state=BrokerState.FENCED))), True),
        (replace(SNAPSHOT, brokers=(*SNAPSHOT.brokers[:2],
                                    replace(SNAPSHOT.brokers[2], log_dirs=(LogDir("/a", error="offline"),)))), True),
        (cluster([], brokers(3)), True),
        (cluster([row("t", 0, (0, 1), offline=(1,))], brokers(3)), True),
        (cluster([row("t", 0, (0, 1), leader=None, isr=())], brokers(3)), True),
        (cluster([row("t", 0, (0, 1), None), row("t", 1, (0, 1))], brokers(3)), True),  # one size of two
        (cluster([row("t", 0, (0, 1), None), row("t", 1, (0, 1), None)], brokers(3)), False),  # sizes are unknown
        (replace(SNAPSHOT, coverage=(gap_of("partition", "t-0", FactCode.LACKS_OFFSETS, "denied"),)), True),
        (replace(SNAPSHOT, coverage=(gap_of("group", "g", FactCode.LACKS_OFFSETS, "denied"),)), False),
    ],
)  # fmt: skip
def test_what_hides_something_is_a_reason_not_to_tell(snapshot: ClusterSnapshot, is_blind: bool) -> None:
    assert faults_of(check_observability, BLIND, snapshot) == ([] if is_blind else ["verdict"])


OLD = BLIND | {"reasons": [{"code": "snapshot_too_old", "args": {"age_s": 1_814_400, "limit_s": 7200}}]}
YOUNG = BLIND | {"reasons": [EVEN_REASON, *OLD["reasons"]]}


@pytest.mark.parametrize(("document", "has_time", "faults"), [
    (OLD, True, []), (YOUNG, True, ["verdict"]), (OLD, False, ["verdict"]),  # without a time nothing is old
])  # fmt: skip
def test_how_old_a_reading_was_is_taken_as_told(document: dict[str, Any], has_time: bool, faults: list[str]) -> None:
    seen = replace(SNAPSHOT, captured_at=datetime(2026, 11, 1, tzinfo=UTC) if has_time else None)
    assert faults_of(check_observability, document, seen) == faults


def test_who_cannot_tell_plans_nothing_and_who_tells_has_seen_somebody() -> None:
    hidden = replace(
        SNAPSHOT,
        coverage=(gap_of("cluster", "c", FactCode.LACKS_PARTITIONS, "denied"),),
    )
    assert faults_of(check_observability, BLIND | {"frontier": [{}]}, hidden) == ["verdict"]
    quiet = QUIET | {"frontier": []}
    assert faults_of(check_observability, quiet, replace(SNAPSHOT, brokers=DEAD)) == ["verdict"]
    assert faults_of(check_observability, quiet, replace(SNAPSHOT, brokers=(*DEAD[:2], SNAPSHOT.brokers[2]))) == []
    unled = cluster([row("t", 0, (0, 1), leader=None, isr=())], brokers(3))
    assert faults_of(check_observability, quiet, unled) == ["verdict"]
    assert faults_of(check_observability, quiet, cluster([row("t", 0, (0, 1), leader=0)], brokers(3))) == []
