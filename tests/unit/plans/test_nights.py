"""Waves in nights of some hours: each fits, the plan says how many nights it takes, and what the first leaves."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from kafka_rebalance.facts import FactCode
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import Plan, Verdict, to_document
from kafka_rebalance.plans.wave_filling import WaveLimits, busiest_bytes, waves_of
from kafka_rebalance.plans.waves import by_night
from kafka_rebalance.snapshot.model import ClusterSnapshot, partition_table
from kafka_rebalance.verify import verify_plan
from tests.sample import for_each
from tests.unit.plans.test_hours import planned, uneven
from tests.unit.plans.waves.test_waves import no_hurry, transfers

ASKED = PlanOptions(within=0.1, with_frontier=False)


def in_nights(snapshot: ClusterSnapshot, nights: float) -> tuple[Plan, Plan]:
    """The plan without nights, and the one with nights of that part of its time."""
    whole = planned(snapshot, ASKED)
    hours = (whole.cost.seconds or 0.0) / nights / 3600
    return whole, planned(snapshot, replace(ASKED, night_hours=hours))


def said(plan: Plan, code: FactCode) -> dict[str, Any]:
    (args,) = (reason.args for reason in plan.reasons if reason.code is code)
    return dict(args)


@for_each("seed", range(40), fast=range(2), rest_mark=pytest.mark.matrix)
def test_each_wave_fits_and_what_the_first_night_leaves_is_said(seed: int) -> None:
    whole, plan = in_nights(uneven(seed), 3.5)
    if whole.verdict is not Verdict.REBALANCE:
        return
    assert [move.to_replicas for move in plan.moves] == [move.to_replicas for move in whole.moves]
    figures = said(plan, FactCode.NIGHTS_NEEDED)
    first = figures["first_waves"]
    left = [plan.moves[m] for wave in plan.waves[first:] for m in wave.moves]
    assert 3 <= figures["nights"] <= 6
    assert figures["left_bytes"] == sum(move.bytes or 0 for move in left) > 0
    night_s = 3600 * figures["night_hours"] * (1 + 1e-9)
    is_longer = any(reason.code is FactCode.WAVES_LONGER_THAN_NIGHT for reason in plan.reasons)
    assert is_longer is any((wave.seconds or 0.0) > night_s for wave in plan.waves)


def test_waves_are_put_into_nights_in_order() -> None:
    assert by_night([], 3.0) == []
    assert by_night([2.0, 1.0, 3.0, 0.0, 9.0, 1.0], 3.0) == [[0, 1], [2, 3], [4], [5]]


def test_a_partition_that_is_larger_than_a_night_has_its_wave_alone_on_its_brokers() -> None:
    moves = transfers([(0, 1), (0, 2), (3, 4), (0, 4)], [9, 1, 2, 2])
    wave = waves_of(moves, no_hurry(moves), 5, None, WaveLimits(1, 10, 100, most_bytes=3.0))
    assert sorted(busiest_bytes(moves, wave, 5).tolist()) == [1.0, 2.0, 9.0]
    assert wave[0] not in (wave[1], wave[3])
    plan = in_nights(uneven(0), 1000.0)[1]
    longer = said(plan, FactCode.WAVES_LONGER_THAN_NIGHT)
    assert longer["waves"] == len([wave for wave in plan.waves if (wave.seconds or 0) > 3600 * longer["night_hours"]])


def test_nights_cannot_be_kept_where_sizes_are_unknown() -> None:
    snapshot = uneven(2)
    rows = [replace(row, log_bytes=()) for row in snapshot.each_partition()]
    unknown = replace(snapshot, partitions=partition_table(rows, {"t": 0}))
    plan = planned(unknown, replace(ASKED, night_hours=1.0))
    assert (plan.reasons[0].code, plan.reasons[0].args["option"]) == (FactCode.SIZES_UNKNOWN, "--night-hours")


def test_a_plan_that_misstates_its_nights_is_refused() -> None:
    """Fewer nights than it takes, and waves that were cut for longer nights."""
    snapshot = uneven(1)
    plan = in_nights(snapshot, 3.5)[1]
    document = json.loads(json.dumps(to_document(plan)))
    reason = next(reason for reason in document["reasons"] if reason["code"] == "nights_needed")
    reason["args"]["nights"] -= 1
    assert "wave_night" in {fault.code for fault in verify_plan(document, snapshot).wrong}
    document = json.loads(json.dumps(to_document(make_plan(snapshot, ASKED))))
    document["parameters"]["night_hours"] = 0.9 * max(wave["seconds"] for wave in document["waves"]) / 3600
    places = {fault.location for fault in verify_plan(document, snapshot).wrong if fault.code == "wave_night"}
    assert any(location.startswith("waves[") for location in places)
