"""A plan's levels, bands and capacities, right and slightly wrong: 15, 10, 5 GB become 11, 10, 9."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kafka_rebalance.snapshot.figures import LoadKind
from kafka_rebalance.snapshot.model import Capacity, ClusterSnapshot
from kafka_rebalance.verify.loads import band_of, check_outcomes, recompute, requested_band
from tests.unit.planner.sample_clusters import GB, brokers, cluster, row
from tests.unit.plans.hand_plans import ROWS, SNAPSHOT
from tests.unit.verify.hand_claims import DISK, arrays, claims, faults_of, parameters


def resource_row(
    name: str, unit: str, source: str, mean: float, skews: tuple[float, float], **more: object
) -> dict[str, Any]:
    return {
        "resource": name, "unit": unit, "source": source, "mean_level": mean, "basis": "fair_share",
        "is_ordered": True, "watched": None, "band_asked": [0.8, 1.2], "widened_to": [None, None],
        "skew_before": skews[0],
        "skew_after": skews[1],
        "capacity": None,
    } | more  # fmt: skip


def by_broker(*values: float) -> dict[str, float]:
    return {str(broker): value for broker, value in enumerate(values)}


DOCUMENT: dict[str, Any] = {
    "verdict": "rebalance",
    "resources": [
        resource_row("disk", "bytes", "log_dirs", 10 * GB, (1.5, 1.1)),
        resource_row("replicas", "count", "counted", 2, (1.5, 1)),
        resource_row("leaders", "count", "counted", 1, (3, 2), widened_to=[0.0, 2.0]),  # 2, 0 and 1 of one each
    ],
    "left_out": {name: {"code": "figure_not_measured", "args": {}} for name in ("in", "out", "cpu")},
    "before": {
        "disk": by_broker(15 * GB, 10 * GB, 5 * GB), "replicas": by_broker(3, 2, 1), "leaders": by_broker(3, 0, 0),
    },
    "after": {
        "disk": by_broker(11 * GB, 10 * GB, 9 * GB), "replicas": by_broker(2, 2, 2), "leaders": by_broker(2, 0, 1),
    },
    "preferred_leaders": {"before": by_broker(3, 0, 0), "after": by_broker(2, 0, 1)},
    "topic_excess_replicas": [1, 0],
}  # fmt: skip


def codes(document: dict[str, Any], snapshot: ClusterSnapshot = SNAPSHOT, **asked: object) -> list[str]:
    known, claimed, given = arrays(snapshot, **asked), claims(snapshot=snapshot, **asked), parameters(**asked)
    levels = recompute(claimed, known, given)
    return faults_of(check_outcomes, document, levels, claimed, known, given)


def changed(*path: str | int, to: object) -> dict[str, Any]:
    document = copy.deepcopy(DOCUMENT)
    inner: Any = document
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = to
    return document


def test_what_is_right_is_no_fault() -> None:
    assert codes(DOCUMENT) == []


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        (("resources", 0, "mean_level"), 10e9 + 5, []),  # a billionth is rounding
        (("resources", 0, "mean_level"), 10e9 + 20, ["mean"]),
        (("resources", 0, "skew_before"), 1.5 + 1e-9, []),
        (("resources", 0, "skew_before"), 1.5 + 1e-8, ["skew"]),
        (("resources", 0, "skew_after"), 1.1 - 1e-8, ["skew"]),
        (("resources", 0, "unit"), "bytes/s", ["resource"]),
        (("resources", 1, "source"), "log_dirs", ["resource"]),
        (("resources", 0, "source"), "counted", ["resource"]),
        (("resources", 0, "capacity"), by_broker(1, 1, 1), ["mean"]),
        (("resources", 0, "basis"), "plain_mean", ["band"]),
        (("resources", 0, "band_asked"), [0.8, 1.2 + 1e-8], ["band"]),
        (("resources", 0, "band_asked"), [None, 1.2], ["band"]),
        (("before", "disk", "0"), 15 * GB + 1, ["before"]),  # whole bytes: exact
        (("after", "replicas", "1"), 2.0000001, ["after"]),
        (("after", "disk"), {"0": 11 * GB, "1": 10 * GB}, ["after"]),
        (("before", "cpu"), by_broker(1, 2, 3), ["before"]),
        (("topic_excess_replicas",), [0, 0], ["topic_excess"]),
        (("topic_excess_replicas",), [1, 1], ["topic_excess"]),
        (("left_out", "disk"), "too small", ["resource"]),  # it is balanced
        (("left_out", "tape"), "nobody has one", ["resource"]),
        (("left_out", "leader_in"), "nobody asked", ["resource"]),
        (("left_out",), {"in": "unknown", "out": "unknown"}, ["resource"]),  # nothing of cpu
        (("resources", 0, "widened_to"), [None, 1.1], ["band"]),  # all are inside
        (("resources", 0, "widened_to"), [0.9, None], ["band"]),
        (("resources", 2, "widened_to"), [None, 2.0], ["band"]),
        (("resources", 2, "widened_to"), [0.0, None], ["band"]),
        (("resources", 2, "widened_to"), [0.0, 2.0 + 1e-8], []),
        (("resources", 2, "widened_to"), [0.0, 2.0 + 1e-6], ["band"]),
        (("resources", 2, "widened_to"), [0.0, 1.0], ["band"]),  # one is there, and another further out
        (("resources", 2, "widened_to"), [-0.1, 2.0], ["band"]),
        (("verdict",), "infeasible", ["band"]),
        (("verdict",), "cannot_tell", ["band"]),
        (("verdict",), "not_fixable_by_moving", []),
    ],
)
def test_what_is_a_little_off(path: tuple[str | int, ...], value: object, expected: list[str]) -> None:
    assert codes(changed(*path, to=value)) == expected


def test_a_band_of_nothing_is_the_share_itself() -> None:
    """After the plan disks carry 11, 10 and 9 of 10 GB each, and leaders 2, 0 and 1 of one each."""
    widened = ([0.9, 1.1], [None, None], [0.0, 2.0])
    for asked, expected in (([1.0, 1.0], []), ([0.0, 1.0], ["band"]), ([1.0, 2.0], ["band"])):
        outcomes = [
            outcome | {"band_asked": asked, "widened_to": levels}
            for outcome, levels in zip(DOCUMENT["resources"], widened, strict=True)
        ]
        assert codes(DOCUMENT | {"resources": outcomes}, balance_within=0.0) == expected


def test_resources_stand_in_order_once_each_and_none_is_forgotten() -> None:
    disk, replicas, leaders = DOCUMENT["resources"]
    assert codes(DOCUMENT | {"resources": [replicas, disk, leaders]}) == ["order"]
    assert codes(DOCUMENT | {"resources": [disk, disk, replicas, leaders]}) == ["order", "resource"]
    assert codes(DOCUMENT | {"resources": [disk, leaders]}) == ["after", "before", "resource"]
    out = DOCUMENT["left_out"] | {"replicas": "counted anyway"}
    kept = {side: {name: DOCUMENT[side][name] for name in ("disk", "leaders")} for side in ("before", "after")}
    assert codes(DOCUMENT | kept | {"resources": [disk, leaders], "left_out": out}) == ["resource"]
    cpu = resource_row("cpu", "percent", "given", 1, (1, 1))
    sides = {side: DOCUMENT[side] | {"cpu": by_broker(1, 1, 1)} for side in ("before", "after")}
    unknown = {name: why for name, why in DOCUMENT["left_out"].items() if name != "cpu"}
    document = DOCUMENT | sides | {"resources": [disk, cpu, replicas, leaders], "left_out": unknown}
    assert codes(document) == ["resource"]


def test_leaders_only_tells_of_leaders_only() -> None:
    left = DOCUMENT["left_out"] | {"disk": "no replica moves", "replicas": "no replica moves"}
    sides = {side: {"leaders": DOCUMENT[side]["leaders"]} for side in ("before", "after")}
    document = DOCUMENT | sides | {"left_out": left, "resources": DOCUMENT["resources"][2:]}
    assert codes(document, leaders_only=True) == []
    assert "resource" in codes(document)


def test_measured_figures_may_be_off_by_a_billionth_of_what_brokers_carry() -> None:
    """Written 10, 20, 30: 60, 30 and 30 of 40 on average; the fourth broker carries nothing, and then 30 on average."""
    rates = {LoadKind.IN_BYTES_PER_S: [10.0, 20.0, 30.0]}
    measured = cluster(ROWS, brokers(4), rates=rates)
    asked = {"balance_within": 0.9, "targets": {"in": [0.0, 100.0]}}
    known, given = arrays(measured, **asked), parameters(**asked)
    levels = recompute(claims(snapshot=measured, **asked), known, given)
    assert levels.before["in"].tolist() == [60, 30, 30, 0]

    def fault_codes(claimed: float) -> list[str]:
        before = {"0": 60.0, "1": 30.0, "2": 30.0, "3": claimed}
        after = by_broker(*levels.after["in"].tolist())
        resource = resource_row("in", "bytes/s", "given", 30.0, (2.0, float(levels.after["in"].max()) / 30),
                        basis="plain_mean", band_asked=[0.0, 100.0])  # fmt: skip
        document = DOCUMENT | {"resources": [resource], "before": {"in": before}, "after": {"in": after}}
        return [code for code in faults_of(check_outcomes, document, levels, claims(snapshot=measured, **asked), known,
                                           given) if code in ("before", "after")]  # fmt: skip

    assert (fault_codes(0.0), fault_codes(2.5e-8), fault_codes(3.5e-8)) == ([], [], ["before"])


def sized(*disks: float) -> ClusterSnapshot:
    known = zip(SNAPSHOT.brokers, disks, strict=True)
    return replace(SNAPSHOT, brokers=tuple(replace(b, capacity=Capacity(disk_bytes=disk * GB)) for b, disk in known))


def with_capacity(*disks: float) -> dict[str, Any]:
    """Document values where disks have these sizes (GB), without a band option."""
    document = copy.deepcopy(DOCUMENT)
    before, after = np.array([15.0, 10, 5]), np.array([11.0, 10, 9])
    of = np.array(disks)
    mean = 30 / of.sum()
    document["resources"][0] |= {
        "capacity": by_broker(*(of * GB)), "mean_level": mean,
        "skew_before": (before / of).max() / mean, "skew_after": (after / of).max() / mean,
    }  # fmt: skip
    for outcome in document["resources"]:
        outcome |= {"basis": "plain_mean", "band_asked": [0.0, 100.0], "is_ordered": True, "widened_to": [None, None]}
    return document


@pytest.mark.parametrize(
    ("disks", "expected"),
    [
        ((20, 20, 9), []),
        ((20, 20, 8.999), ["capacity"]),
        ((8, 20, 20), []),  # full before, and less so afterwards
        ((20, 10, 20), []),
    ],
)
def test_nobody_is_lifted_above_its_capacity(disks: tuple[float, ...], expected: list[str]) -> None:
    targets = {outcome["resource"]: [0.0, 100.0] for outcome in DOCUMENT["resources"]}
    assert codes(with_capacity(*disks), sized(*disks), targets=targets) == expected


@pytest.mark.parametrize(
    ("caps", "expected"),
    [
        ({"disk": 11e9}, []),
        ({"disk": 11e9 * (1 - 0.9e-9)}, []),
        ({"disk": 11e9 * (1 - 1.1e-9)}, ["band", "capacity"]),
        ({"disk": 10.99e9}, ["band", "capacity"]),
        ({"leaders": 2}, []),
        ({"leaders": 1}, ["capacity"]),
    ],
)
def test_nobody_carries_more_than_its_cap(caps: dict[str, float], expected: list[str]) -> None:
    assert codes(DOCUMENT, caps=caps) == expected


def test_a_cap_on_what_nobody_measured_cannot_be_kept() -> None:
    assert codes(DOCUMENT, caps={"cpu": 50.0}) == ["capacity"]
    assert codes(DOCUMENT | {"verdict": "not_fixable_by_moving"}, caps={"cpu": 50.0}) == []


BEFORE = np.array([15.0, 10.0, 5.0]) * GB


def edges(outcome: dict[str, Any], *, capacity: Any = None, **asked: object) -> list[list[float]]:
    band = band_of(outcome, BEFORE, capacity, arrays(**asked), parameters(**asked))
    scale = GB if outcome["resource"] == "disk" else 1
    return [(side / scale).round(9).tolist() for side in (band.low, band.high)]


def test_a_band_by_hand() -> None:
    """30 GB on three brokers: 8 to 12 around the mean of 10; on two, where one is to go, 12 to 18."""
    assert edges(DISK) == [[8, 8, 8], [12, 12, 12]]
    assert edges(DISK, capacity=np.array([1.0, 2.0, 1.0])) == [[6, 12, 6], [9, 18, 9]]
    assert edges(DISK, remove_brokers=[2]) == [[12, 12, 0], [18, 18, 0]]
    assert edges(DISK | {"widened_to": [0.5, 1.4]}) == [[5, 5, 5], [14, 14, 14]]
    assert edges(DISK | {"widened_to": [0.9, 1.1]}) == [[8, 8, 8], [12, 12, 12]]  # no wider than requested
    assert edges(DISK | {"widened_to": [0.5, 1.4]}, remove_brokers=[2]) == [[7.5, 7.5, 0], [21, 21, 0]]
    assert edges(DISK | {"band_asked": [None, 1.2]}) == [[0, 0, 0], [12, 12, 12]]
    assert edges(DISK | {"band_asked": [0.8, None]}) == [[8, 8, 8], [np.inf] * 3]
    assert edges(DISK, caps={"disk": 11e9}) == [[8, 8, 8], [11, 11, 11]]
    assert edges(DISK, caps={"disk": 7e9}) == [[7, 7, 7], [7, 7, 7]]
    assert edges(DISK, replication_factor=1) == [[4, 4, 4], [6, 6, 6]]


def test_who_can_be_given_no_more_may_stay_below_its_band() -> None:
    assert edges(DISK, exclude_brokers=[2]) == [[8, 8, 5], [12, 12, 12]]
    assert edges(DISK, exclude_brokers=[0]) == [[8, 8, 8], [12, 12, 12]]  # it has enough
    leaders = DISK | {"resource": "leaders"}
    known, given = arrays(demote_brokers=[2]), parameters(demote_brokers=[2])
    low = requested_band(leaders, np.array([1.0, 2.0, 0.5]), None, known, given)[0].low
    assert low.tolist() == [1, 1, 0]  # 1.5 for each of two, rounded; the demoted one leads nothing
    known, given = arrays(exclude_brokers=[2]), parameters(exclude_brokers=[2])
    low = requested_band(leaders, np.array([1.0, 2.0, 0.5]), None, known, given)[0].low
    assert low == pytest.approx([0.8, 0.8, 0.0])  # it leads none today, whatever the document has


def test_what_it_holds_counts_as_it_weighs_afterwards() -> None:
    """Each broker leads one partition of RF 3, written at 10, read at 2: 22 are sent; 12 with RF 2. Band 0.99 to
    1.01.
    """
    rows = [row("t", p, [p, (p + 1) % 3, (p + 2) % 3]) for p in range(3)]
    rates = {LoadKind.IN_BYTES_PER_S: [10.0] * 3, LoadKind.OUT_BYTES_PER_S: [2.0, 2.0, 8.0]}
    measured, asked = cluster(rows, brokers(3), rates=rates), {"exclude_brokers": [0], "replication_factor": 2}
    out = DISK | {"resource": "out", "band_asked": [0.99, 1.01]}
    before = np.array([22.0, 22.0, 28.0])
    low = requested_band(out, before, None, arrays(measured, **asked), parameters(**asked))[0].low
    assert low == pytest.approx([12.0, 13.86, 13.86])  # the mean is (12 + 12 + 18) / 3 = 14


def test_cpu_is_shared_apart_where_somebody_may_not_lead() -> None:
    """A follower has 0.15 · 10 of 0.7 · 10 + 0.15 · 10: 12 of 6 + 6 / 8.5 · 1.5 are followers'. Broker 2 leads
    nothing.
    """
    rates = {
        LoadKind.IN_BYTES_PER_S: [10.0, 20, 30],
        LoadKind.OUT_BYTES_PER_S: [0.0] * 3,
        LoadKind.CPU_PERCENT: [1.0, 2, 3],
    }
    measured, demoted = cluster(ROWS, brokers(3), rates=rates), {"demote_brokers": [2]}
    cpu = DISK | {"resource": "cpu"}
    follower = 6 * 1.5 / 8.5
    whole = 6 + follower
    high = band_of(cpu, BEFORE, None, arrays(measured, **demoted), parameters(**demoted)).high
    bare = 2 * follower / 3
    assert high / 1.2 == pytest.approx([(whole - bare) / 2, (whole - bare) / 2, bare])
    assert band_of(cpu, BEFORE, None, arrays(measured), parameters()).high / 1.2 == pytest.approx([whole / 3] * 3)
    nobody = {"demote_brokers": [0, 1, 2]}
    assert band_of(cpu, BEFORE, None, arrays(measured, **nobody), parameters(**nobody)).high / 1.2 == pytest.approx(
        [whole / 3] * 3
    )


def test_counts_are_rounded_away_from_the_middle_and_targets_only_where_nothing_is_inside() -> None:
    """Six replicas on three brokers are 2 each, three leaders one each; five leaders on three are 1 or 2."""
    replicas = DISK | {"resource": "replicas"}
    assert edges(replicas) == [[1.6, 1.6, 1.6], [2.4, 2.4, 2.4]]
    assert edges(replicas, remove_brokers=[2]) == [[2.4, 2.4, 0], [3.6, 3.6, 0]]
    # A broker that gets nothing need not hold more than today: broker 0 holds 3, broker 2 holds 1.
    assert edges(replicas, exclude_brokers=[0]) == [[1.6, 1.6, 1.6], [2.4, 2.4, 2.4]]
    assert edges(replicas, exclude_brokers=[2]) == [[1.6, 1.6, 1.0], [2.4, 2.4, 2.4]]
    tight = {"band_asked": [0.99, 1.01]}
    assert edges(replicas | tight, replication_factor=3) == [[2.97] * 3, [3.03] * 3]
    uneven = replicas | tight | {"basis": "fair_share"}
    known = arrays(cluster([*ROWS, row("t", 3, (0,))], brokers(3)))
    band = band_of(uneven, BEFORE, None, known, parameters())
    assert (band.low.tolist(), band.high.tolist()) == ([2.0] * 3, [3.0] * 3)  # 7 on three: 2 or 3
    band = band_of(uneven | {"basis": "plain_mean"}, BEFORE, None, known, parameters())
    assert (band.low.tolist(), band.high.tolist()) == ([2.0] * 3, [3.0] * 3)  # 2.31 to 2.357 holds no number
    wide = uneven | {"basis": "plain_mean", "band_asked": [0.8, 1.3]}  # 1.87 to 3.03 holds two
    band = band_of(wide, BEFORE, None, known, parameters())
    assert band.low == pytest.approx([7 / 3 * 0.8] * 3)
    assert band.high == pytest.approx([7 / 3 * 1.3] * 3)
    open_above = band_of(uneven | {"band_asked": [0.99, None]}, BEFORE, None, known, parameters())
    assert (open_above.low.tolist(), open_above.high.tolist()) == ([2.0] * 3, [np.inf] * 3)
