"""Sets that do not fit on a broker: brokers 0, 1 and 2 hold 6 + 4 + 5, 6 + 4 and 5 GB, 12 at most."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kafka_rebalance.verify.bounds import check_covers, price_bound, rows_named, surcharges_of
from kafka_rebalance.verify.faults import FaultList
from kafka_rebalance.verify.loads import Band
from tests.unit.verify.hand_claims import GB, arrays, parameters

BANDS = {"disk": Band(np.zeros(3), np.full(3, 12.0 * GB)), "replicas": Band(np.zeros(3), np.full(3, np.inf))}


def cover(**fields: object) -> dict[str, Any]:
    """All of broker 0: 3 GB too much, so a whole replica of at least 4 GB leaves: 4/3 for each byte of the surplus."""
    return {"broker": 0, "resource": "disk", "price": 4 / 3, "gone": {}, "come": {}} | fields


def proved(*covers: dict[str, Any]) -> float:
    known, given = arrays(), parameters()
    return price_bound(known, given, BANDS, {}, dearer=surcharges_of(covers, BANDS, known, given))


def test_a_whole_replica_is_proved() -> None:
    known, given = arrays(), parameters()
    (charge,) = surcharges_of([cover()], BANDS, known, given)
    assert charge.row.tolist() == [0, 1, 2]
    assert charge.amount.tolist() == pytest.approx([4 * GB] * 3)
    assert charge.constant == pytest.approx(-8 * GB)
    assert proved(cover()) == pytest.approx(4 * GB)
    assert proved(cover(price=1.0)) == pytest.approx(3 * GB)


def test_who_is_gone_is_in_no_set_and_who_comes_is() -> None:
    known, given = arrays(), parameters()
    (topic,) = {topic for topic in known.topic_names if (known.topic == known.topic_names.index(topic)).all()}
    numbers = known.partition.tolist()
    assert surcharges_of([cover(gone={topic: numbers[:1]})], BANDS, known, given) == []  # 9 fit
    (charge,) = surcharges_of([cover(broker=2, come={topic: numbers[:2]})], BANDS, known, given)
    assert charge.row.tolist() == [0, 1, 2]
    assert charge.amount.tolist() == pytest.approx([4 * GB] * 3)  # 15 of 12 again


@pytest.mark.parametrize(
    "nothing",
    [
        cover(broker=1),  # 10 fit
        cover(broker=9),
        cover(resource="memory"),
        cover(resource="replicas"),  # any number fits
        cover(price=0),
        cover(price=-1.0),
    ],
)
def test_what_says_nothing_proves_nothing(nothing: dict[str, Any]) -> None:
    assert surcharges_of([nothing], BANDS, arrays(), parameters()) == []
    assert proved(nothing) == 0


def test_the_price_of_a_surplus_within_rounding_proves_nothing() -> None:
    known, given = arrays(), parameters()
    tight = {"disk": Band(np.zeros(3), np.full(3, 15.0 * GB * (1 - 1e-9)))}
    assert surcharges_of([cover(price=1e9)], tight, known, given) == []


def test_no_price_is_so_large_that_rounding_proves_something() -> None:
    for price in (1e3, 1e20, 1e100, 1e280, 1e299):
        value = proved(cover(price=price))
        assert not value > 6 * GB


@pytest.mark.parametrize(
    ("fields", "faults"),
    [
        (cover(), 0),
        (cover(broker=9), 1),
        (cover(resource="memory"), 1),
        (cover(price=0), 1),
        (cover(gone={"nowhere": [0]}), 1),
        (cover(come={"nowhere": [0]}, price=-1), 2),
    ],
)
def test_covers_are_of_what_is_there(fields: dict[str, Any], faults: int) -> None:
    fault_list = FaultList()
    check_covers([fields], "plan.proofs.bytes.covers", ["disk"], arrays(), fault_list)
    assert sum(fault_list.counts.values()) == faults
    assert all(fault.location == "plan.proofs.bytes.covers[0]" for fault in fault_list.faults)


def test_partitions_are_named_once() -> None:
    known = arrays()
    topic, number = known.topic_names[int(known.topic[0])], int(known.partition[0])
    assert rows_named({topic: [number, 10**9, -1], "nowhere": [0]}, known).tolist() == [0]
    for twice in ({"gone": {topic: [number, number]}}, {"gone": {topic: [number]}, "come": {topic: [number]}}):
        fault_list = FaultList()
        check_covers([cover(**twice)], "here", ["disk"], known, fault_list)
        assert fault_list.counts == {"certificate": 1}
