from __future__ import annotations

import copy
import json

import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.snapshot.codec import snapshot_from_document, snapshot_id, snapshot_to_document
from rebalance_advisor.dumps import read_input

DOCUMENT = {
    "format": "kafka-rebalance-snapshot",
    "format_version": 1,
    "cluster": "prod",
    "captured_at": "2026-11-20T06:00:00Z",
    "brokers": [{"id": 1, "rack": "a"}, {"id": 2, "rack": "b"}],
    "topics": [
        {
            "name": "orders",
            "partitions": [
                {"partition": 0, "replicas": [1, 2], "leader": 1, "isr": [1, 2], "log_bytes": [10, 9]},
                {"partition": 1, "replicas": [2, 1], "leader": 2, "isr": [2], "log_bytes": [20, None]},
            ],
        }
    ],
    "loads": {"in_bytes_per_s": {"source": "given", "values": [1.5, None]}},
    "groups": [{"id": "g", "type": "classic", "members": [{"id": "m", "assigned": [["orders", [0, 1]]]}]}],
}


def write(folder, document):
    path = folder / "snapshot.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return path


def test_a_snapshot_file_is_what_was_written(tmp_path):
    snapshot = read_input(write(tmp_path, DOCUMENT))
    again = read_input(write(tmp_path, snapshot_to_document(snapshot)))
    assert snapshot_id(again) == snapshot_id(snapshot) == snapshot_id(snapshot_from_document(DOCUMENT))
    assert snapshot.partition(1).log_bytes == (20, None)


def changed(change):
    document = copy.deepcopy(DOCUMENT)
    change(document)
    return document


def orders(document):
    return document["topics"][0]["partitions"]


BROKEN = {
    "newer format": (changed(lambda d: d.update(format_version=2)), r"format_version: 2 is unknown"),
    "no cluster": (changed(lambda d: d.pop("cluster")), r"'cluster' is missing"),
    "unknown key": (changed(lambda d: d.update(topicz=[])), r"unknown field 'topicz'"),
    "broker twice": (changed(lambda d: d["brokers"][1].update(id=1)), r"broker 1: is listed twice"),
    "broker state": (changed(lambda d: d["brokers"][1].update(state="odd")), r"brokers\[1\]\.state: 'odd'"),
    "stranger": (changed(lambda d: orders(d)[0].update(replicas=[1, 5], isr=[1])), r"orders-0: replica on broker 5"),
    "in sync": (changed(lambda d: orders(d)[0].update(replicas=[1, 5])), r"orders-0: 'isr' names broker 2"),
    "leader": (changed(lambda d: orders(d)[0].update(leader=3)), r"orders-0: leader 3 is not among"),
    "partition twice": (changed(lambda d: orders(d)[0].update(partition=1)), r"orders-1: is listed twice"),
    "sizes": (changed(lambda d: orders(d)[0].update(log_bytes=[1])), r"orders-0: 1 sizes for 2 replicas"),
    "load length": (changed(lambda d: d["loads"]["in_bytes_per_s"].update(values=[1])), r"1 values for 2 partitions"),
    "load kind": (changed(lambda d: d["loads"].update(heat={})), r"loads\.heat: is no kind of load"),
    "member twice": (changed(lambda d: d["groups"][0]["members"].append({"id": "m"})), r"member m is listed twice"),
    "cut": (json.dumps(DOCUMENT, indent=1)[:300], r"snapshot\.json:\d+: is no JSON"),
    "key twice": (json.dumps(DOCUMENT).replace('"rack": "a"', '"id": 1'), r"snapshot\.json:1: a key stands twice"),
}


@pytest.mark.parametrize(("document", "message"), BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_snapshot_is_refused_with_its_place(tmp_path, document, message):
    with pytest.raises(InvalidInputError, match=message) as refusal:
        read_input(write(tmp_path, document))
    assert str(tmp_path / "snapshot.json") in str(refusal.value)
