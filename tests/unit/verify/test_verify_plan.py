"""The verifier names what is wrong with a plan, and finds nothing wrong with one that is right."""

import json
import random
from dataclasses import replace

import pytest

from kafka_rebalance.snapshot.codec import snapshot_id
from kafka_rebalance.snapshot.partition_table import partition_table
from kafka_rebalance.snapshot.times import parse_time
from kafka_rebalance.verify import verify_plan
from kafka_rebalance.verify.files.plan_files import expected_files
from tests.unit.verify.sample_plans import SamplePlan, as_if_made_from, busy_plan, plain_plan, sealed


def sample_of(name: str) -> SamplePlan:
    return busy_plan() if name == "busy" else plain_plan()


@pytest.mark.parametrize("name", ["busy", "plain"])
def test_an_untouched_plan_is_right(name: str) -> None:
    sample = sample_of(name)
    verification = verify_plan(sample.document, sample.snapshot)
    assert [str(fault) for fault in verification.wrong] == []
    assert verification.is_right
    assert verification.bounds["bytes"] > 0


@pytest.mark.parametrize("document", [None, [], "plan", {}, {"plan_id": 1}, {"moves": [{"from": "x"}]}])
def test_what_is_no_plan_at_all_is_a_fault_and_no_crash(document: object) -> None:
    verification = verify_plan(document, plain_plan().snapshot)
    assert set(verification.counts) == {"shape"}


def test_many_faults_of_one_kind_are_counted_and_the_first_shown() -> None:
    sample = plain_plan()
    document = sample.document
    for move in document["moves"]:
        move["reason"] = ""
    verification = verify_plan(sealed(document), sample.snapshot)
    assert verification.counts["explanation"] == len(document["moves"]) > 20
    assert sum(fault.code == "explanation" for fault in verification.faults) == 20


def leaves(value: object, path: tuple = ()) -> list[tuple]:
    """Paths of all plain values."""
    if isinstance(value, dict):
        return [leaf for key, element in value.items() for leaf in leaves(element, (*path, key))]
    if isinstance(value, list):
        return [leaf for number, element in enumerate(value) for leaf in leaves(element, (*path, number))]
    return [path]


def test_no_single_changed_value_crashes_the_verifier() -> None:
    """Any value of a plan replaced by another of its kind, or of no kind: faults, never an exception."""
    sample = busy_plan()
    draw = random.Random(5)
    paths = leaves(sample.document)
    for path in draw.sample(paths, 60):
        document = sample.document
        inner = document
        for step in path[:-1]:
            inner = inner[step]
        old = inner[path[-1]]
        strange = [None, -1, 0, 10**12, 0.5, "", "x", [], {}, True]
        inner[path[-1]] = draw.choice([value for value in strange if value != old])
        verify_plan(sealed(document), sample.snapshot)


def test_files_beside_the_plan_are_judged_with_it() -> None:
    sample = busy_plan()
    files = expected_files(sample.document)
    assert "waves/01.json" in files
    assert "rollback/01.json" in files
    assert "file" not in verify_plan(sample.document, sample.snapshot, files).counts
    spoiled = json.loads(json.dumps(files))
    spoiled["waves/02.json"]["partitions"][0]["replicas"].reverse()
    del spoiled["rollback/01.json"]
    spoiled["elections/99.json"] = {"partitions": []}
    places = [
        fault.place for fault in verify_plan(sample.document, sample.snapshot, spoiled).faults if fault.code == "file"
    ]
    assert places == ["rollback/01.json", "elections/99.json", "waves/02.json"]


def test_a_partition_without_a_leader_cannot_be_moved() -> None:
    sample = plain_plan()
    moved = sample.document["moves"][0]
    rows = [
        replace(partition, leader=None)
        if (partition.topic, partition.partition) == (moved["topic"], moved["partition"])
        else partition
        for partition in sample.snapshot.each_partition()
    ]
    index = {topic.name: i for i, topic in enumerate(sample.snapshot.topics)}
    snapshot = replace(sample.snapshot, partitions=partition_table(rows, index))
    assert "unmovable" in verify_plan(as_if_made_from(snapshot, sample.document), snapshot).counts


def test_of_another_snapshot_only_that_is_told_and_what_needs_none() -> None:
    sample = plain_plan()
    later = replace(sample.snapshot, captured_at=parse_time("2026-11-20T13:00:00Z", "here"), cluster="another")
    verification = verify_plan(sample.document, later)
    assert verification.is_of_another_snapshot
    assert not verification.is_right
    (fault,) = verification.faults
    made, given = sample.document["snapshot_id"][:8], snapshot_id(later)[:8]
    assert fault.message.startswith(f"this plan was made from snapshot {made}, INPUT is {given}, not what it was made")
    assert set(verify_plan(sample.document | {"seed": -7}, later).counts) == {"hash", "identity"}
    assert not verify_plan(sample.document, sample.snapshot).is_of_another_snapshot
