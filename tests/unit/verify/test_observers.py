from __future__ import annotations

import random
from dataclasses import replace

import pytest

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import to_document
from kafka_rebalance.snapshot.partition_table import partition_table
from kafka_rebalance.verify import verify_plan
from kafka_rebalance.verify.cluster import cluster_arrays
from kafka_rebalance.verify.document import read_parameters
from kafka_rebalance.verify.faults import FaultList
from rebalance_advisor.dumps.dump_folder import DumpParts, snapshot_of_parts
from tests.unit.findings.sample_clusters import RACKS, brokers, cluster, findings_of, striped
from tests.unit.verify.sample_plans import as_if_made_from, plain_plan

JOBS = {
    "balance": PlanOptions(within=0.1, with_frontier=False),
    "leaders only": PlanOptions(within=0.1, leaders_only=True, with_frontier=False),
    "election": PlanOptions(preferred_election=True, with_frontier=False),
}


def observed(snapshot, seed, share=0.3):
    """``snapshot`` with the last replica of some partitions as an observer out of the ISR, and their names."""
    draw, rows, names = random.Random(seed), [], set()
    for row in snapshot.each_partition():
        last = row.replicas[-1]
        if len(row.replicas) > 1 and row.leader != last and draw.random() < share:
            isr = tuple(broker for broker in row.replicas if broker != last)
            rows.append(replace(row, isr=isr, observers=(last,)))
            names.add((row.topic, row.partition))
        else:
            rows.append(row)
    index = {topic.name: number for number, topic in enumerate(snapshot.topics)}
    return replace(snapshot, partitions=partition_table(rows, index)), names


@pytest.mark.parametrize("job", JOBS)
def test_no_plan_touches_them_and_the_verifier_agrees(job):
    snapshot, names = observed(plain_plan().snapshot, 1)
    document = to_document(make_plan(snapshot, JOBS[job]))
    assert len(names) > 10
    assert names.isdisjoint((move["topic"], move["partition"]) for move in document["moves"])
    verification = verify_plan(document, snapshot)
    assert [str(fault) for fault in verification.wrong] == []
    assert job == "election" or document["moves"]


def test_a_plan_that_moves_them_is_caught():
    sample = plain_plan()
    snapshot, names = observed(sample.snapshot, 1)
    touched = [move for move in sample.document["moves"] if (move["topic"], move["partition"]) in names]
    counts = verify_plan(as_if_made_from(snapshot, sample.document), snapshot).counts
    assert touched
    assert counts["unmovable"] == len(touched)


def test_they_are_not_missing_from_the_isr_but_count_on_disk_and_a_real_gap_is_still_seen():
    plain = cluster(striped("t", 12))
    snapshot, names = observed(plain, 2, share=1)
    assert len(names) == 12
    for code in ("under_replicated", "dead_broker", "rack_violated", "preferred_leaders_off"):
        assert findings_of(snapshot, code) == [], code
    parameters = read_parameters(to_document(make_plan(snapshot, JOBS["balance"]))["parameters"], FaultList())
    arrays = cluster_arrays(snapshot, parameters)
    assert not arrays.under_replicated.any()
    sizes = [
        partition_table(list(reading.each_partition()), {"t": 0}).replica_log_bytes.sum()
        for reading in (plain, snapshot)
    ]
    assert sizes[0] == sizes[1]
    rows = [replace(row, isr=row.isr[:1]) if row.partition == 0 else row for row in snapshot.each_partition()]
    (finding,) = findings_of(cluster(rows), "under_replicated")
    assert finding.evidence["under_replicated_partitions"] == finding.evidence["missing_replicas"] == 1


def test_a_promoted_observer_is_in_the_isr_and_nobody_is_missing():
    rows = [replace(row, observers=row.replicas[-1:]) for row in striped("t", 12)]
    snapshot = cluster(rows)
    assert snapshot.partitions.idle_observers.sum() == 0
    assert findings_of(snapshot, "under_replicated") == []


def test_observers_in_the_rack_of_another_replica_are_no_violation():
    rows = [replace(row, replicas=(0, 3, 1), leader=0, isr=(0, 1)) for row in striped("t", 1)]
    assert findings_of(cluster(rows), "rack_violated") != []
    assert findings_of(cluster([replace(row, observers=(3,)) for row in rows]), "rack_violated") == []


def test_an_observer_is_no_preferred_leader():
    rows = [replace(row, leader=row.replicas[1], observers=row.replicas[:1], isr=row.replicas[1:])
            for row in striped("t", 12)]  # fmt: skip
    assert findings_of(cluster(rows), "preferred_leaders_off") == []
    assert findings_of(cluster(rows), "leaders_piled_up") == []
    assert findings_of(cluster([replace(row, observers=()) for row in rows]), "preferred_leaders_off") != []


def test_a_broker_that_holds_observed_partitions_cannot_be_emptied():
    snapshot, _ = observed(cluster(striped("t", 12), of=brokers()), 3, share=1)
    plan = to_document(make_plan(snapshot, PlanOptions(remove_brokers=frozenset({0}), with_frontier=False)))
    assert plan["verdict"] == "infeasible"
    assert len(RACKS) == 3


HEAD = "Topic: t\tPartitionCount: 1\tReplicationFactor: 3\tConfigs: \n\tTopic: t\tPartition: 0\tLeader: 1\t"


@pytest.mark.parametrize(
    ("row", "dead"),
    [
        ("Replicas: 1,2,3\tIsr: 1,2\tOffline: \tObservers: 3", []),
        ("Replicas: 1,2,3\tIsr: 1,2\tOffline: \tObservers: 3\tLiveObservers: 3", []),
        ("Replicas: 1,2,3\tIsr: 1,2\tOffline: \tObservers: 3\tLiveObservers: ", [3]),
        ("Replicas: 1,2,3\tIsr: 1,2\tOffline: 3\tObservers: 3", [3]),
        ("Replicas: 1,2,3\tIsr: 1,2\tOffline: ", [3]),
    ],
)
def test_an_observer_that_copies_is_a_broker_that_lives(row, dead):
    parts = DumpParts("c", "folder")
    parts.topics.read(f"{HEAD}{row}\n", "topics.txt")
    snapshot = snapshot_of_parts(parts)
    assert [broker.id for broker in snapshot.brokers if broker.state.value == "dead"] == dead
    assert snapshot.partition(0).observers == ((3,) if "Observers" in row else ())
