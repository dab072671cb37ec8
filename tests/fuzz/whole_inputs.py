"""Inputs that are right, of every kind: what damage is done to."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from functools import cache
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import to_document
from kafka_rebalance.snapshot.codec import snapshot_to_document
from kafka_rebalance.snapshot.model import ClusterSnapshot
from rebalance_advisor.dumps import read_input
from tests.conformance.recorded import cases, families
from tests.properties.small_clusters import small_cluster
from tests.unit.dumps import dump_texts

SAMPLES = 24  # small clusters
PLANS = (0, 1, 2, 4, 5)  # of them, those whose plan is put to things: quick ones, one without moves, two drains
_LATER = "audit-log:0:90\norders:0:300\norders:1:50\n"
_LONGEST_CASE = 4000  # characters of a recorded case
_MIB, _KIB = 2**20, 2**10

CAPACITY_CSV = (
    "broker,disk_bytes,in_bytes_per_s,out_bytes_per_s,cpu_percent\n0,1000000000000,,,\n1,2e12,1e8,2e8,100\n2,5,6,7,8\n"
)
CRUISE_CONTROL = {
    "brokerCapacities": [
        {"brokerId": "-1", "capacity": {"DISK": "100000", "CPU": "100", "NW_IN": "10000", "NW_OUT": "10000"}},
        {"brokerId": "0", "capacity": {"DISK": {"/a": "500", "/b": "700"}, "CPU": {"num.cores": "8"}, "NW_IN": "5"}},
        {"brokerId": "1", "capacity": {"DISK": 100000, "NW_OUT": 3.5}, "doc": "by hand"},
    ]
}
PROPERTIES = (
    "# a client\nbootstrap.servers=b1.example:9092,b2.example:9093\nsecurity.protocol=SASL_SSL\nsasl.mechanism=PLAIN\n"
    'sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \\\n  username="u" '
    'password="p";\n'
    "ssl.endpoint.identification.algorithm=https\nrequest.timeout.ms=5000\nclient.id: advisor\nacks all\n"
)
CLUSTERS = (
    '[clusters.orders]\nconnection = "kafka_orders"\n\n[clusters.audit]\nfolder = "dumps/audit"\n'
    'capacity = "audit.csv"\n\n[clusters.planned]\nfile = "planned.json.gz"\nschedule = "0 4 * * 1-5"\n'
    'tags = ["a", "b"]\nretries = 3\nthrottle = "100MB"\nremove_broker = [3]\npermissions = {ops = ["can_read"]}\n'
    '[[clusters.planned.owners]]\npattern = "pay-.*"\nteam = "pay"\ntier = 1\nsubject_type = "topic"\n'
    '[[clusters.planned.mutes]]\ncode = "idle_members"\nuntil = 2026-12-31\nreason = "spare"\n'
    '[[clusters.planned.mutes]]\npattern = "a|b"\nuntil = 2026-12-31T10:00:00+01:00\nreason = "spare"\n'
)


@cache
def sample(number: int) -> ClusterSnapshot:
    """A small cluster."""
    return small_cluster(number)[0]


@cache
def snapshot_document(number: int) -> dict[str, Any]:
    """A snapshot; every third is that of the folder of dumps, with groups and coverage."""
    if number % 3:
        return snapshot_to_document(sample(number))
    with TemporaryDirectory() as scratch:
        document = snapshot_to_document(read_input(dump_texts.write_folder(Path(scratch) / "dumps")))
    document["groups"][0]["members"][0] |= {"user_data": "AAEC", "owned": [["orders", [0]]], "generation": 3}
    return document


@cache
def model_document(number: int) -> dict[str, Any]:
    """A cluster model in MiB and KiB/s."""
    snapshot = sample(number)
    return {
        "name": f"world-{number}",
        "brokers": [
            {"id": broker.id, "rack": broker.rack, "state": "alive", "capacity": {"disk": 900_000, "cpu": 100}}
            for broker in snapshot.brokers
        ],
        "partitions": [
            {
                "topic": partition.topic,
                "partition": partition.partition,
                "replicas": list(partition.replicas),
                "load": {"disk": (partition.log_bytes[0] or 0) / _MIB, "nw_in": row + 0.5, "nw_out": row, "cpu": None},
            }
            for row, partition in enumerate(snapshot.each_partition())
        ],
    }


@cache
def reassignment_document(number: int) -> dict[str, Any]:
    """Kafka's own format."""
    rows = [
        {"topic": row.topic, "partition": row.partition, "replicas": list(row.replicas), "log_dirs": ["any"]}
        for row in sample(number).each_partition()
    ]
    return {"version": 1, "partitions": rows}


def printed_reassignment(number: int) -> str:
    """What ``kafka-reassign-partitions --generate`` prints."""
    text = json.dumps(reassignment_document(number))
    return f"Current partition replica assignment\n{text}\n\nProposed partition reassignment configuration\n{text}\n"


def folder(draw: random.Random) -> Mapping[str, str]:
    """The files of a folder of dumps, in one of the forms that Kafka's versions print, of one reading or two."""
    files = dict(dump_texts.DUMPS)
    files["members.txt"] = draw.choice((dump_texts.MEMBERS, dump_texts.MEMBERS_3_6, dump_texts.MEMBERS_3_9))
    if draw.random() < 0.3:
        files["capacity.csv"] = "broker,disk_bytes\n1,100000\n2,100000\n"
    if draw.random() < 0.3:
        needed = {"topics.txt", "captured_at"}  # a cluster, and the times that rates are between
        files.pop(draw.choice(sorted(files.keys() - needed)))
    if draw.random() < 0.2:
        later = files | {"captured_at": "2026-11-20T07:00:00Z\n", "latest.txt": _LATER}
        return {f"1/{name}": text for name, text in files.items()} | {f"2/{name}": text for name, text in later.items()}
    return files


@cache
def plan_document(number: int) -> tuple[dict[str, Any], ClusterSnapshot, PlanOptions]:
    """A plan as its file has it, the cluster that it was made for, and what was wanted."""
    snapshot, options = small_cluster(number)
    return json.loads(json.dumps(to_document(make_plan(snapshot, options)))), snapshot, options


@cache
def replay_cases() -> list[dict[str, Any]]:
    """A few short recorded cases of each family."""
    results: list[dict[str, Any]] = []
    for family in families():
        short = (case for case in cases(family) if len(json.dumps(case)) < _LONGEST_CASE)
        results += [{name: case[name] for name in ("id", "strategy", "input")} for case in islice(short, 3)]
    return results
