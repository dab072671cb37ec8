from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.facts import FactCode
from kafka_rebalance.snapshot.figures import LoadKind
from rebalance_advisor.dumps import read_input

REAL_MAP = Path(__file__).parents[2] / "data" / "kafka-kit-256-partitions-23-brokers.json"

PRINTED = """Current partition replica assignment
{"version":1,"partitions":[{"topic":"orders","partition":0,"replicas":[0,2],"log_dirs":["any","any"]},\
{"topic":"orders","partition":1,"replicas":[1,2],"log_dirs":["any"]}]}

Proposed partition reassignment configuration
{"version":1,"partitions":[{"topic":"orders","partition":0,"replicas":[3,0],"log_dirs":["any","any"]}]}
"""


def write(folder, text, name="map.json"):
    path = folder / name
    path.write_text(text if isinstance(text, str) else json.dumps(text))
    return path


def rows(*replicas):
    return {"version": 1, "partitions": [{"topic": "t", "partition": p, "replicas": r} for p, r in enumerate(replicas)]}


def test_the_real_map_of_256_partitions_has_23_brokers_and_unknown_bytes():
    snapshot = read_input(REAL_MAP)
    listed = json.loads(REAL_MAP.read_text())["partitions"]
    assert len(snapshot.partitions) == len(listed) == 256
    assert len(snapshot.brokers) == 23
    leaders = Counter(snapshot.partitions.leader.tolist())
    assert leaders == Counter(row["replicas"][0] for row in listed)
    assert (min(leaders.values()), max(leaders.values())) == (2, 26)
    assert all(np.isnan(snapshot.load(kind)).all() for kind in LoadKind)
    assert snapshot.captured_at is None
    assert {gap.what.code for gap in snapshot.coverage} == {
        FactCode.LACKS_SIZES, FactCode.LACKS_RATES, FactCode.LACKS_RACKS, FactCode.LACKS_GROUPS,
    }  # fmt: skip


def test_replicas_keep_kafkas_order_and_the_first_leads(tmp_path):
    snapshot = read_input(write(tmp_path, rows([4, 2], [1, 4, 2])))
    assert [partition.replicas for partition in snapshot.each_partition()] == [(4, 2), (1, 4, 2)]
    assert [partition.leader for partition in snapshot.each_partition()] == [4, 1]
    assert [broker.id for broker in snapshot.brokers] == [1, 2, 4]
    assert snapshot.partition(0).isr is None
    assert snapshot.partition(0).log_bytes == (None, None)


def test_what_generate_prints_is_read_as_the_current_assignment(tmp_path):
    snapshot = read_input(write(tmp_path, PRINTED, "generate.txt"))
    assert [partition.replicas for partition in snapshot.each_partition()] == [(0, 2), (1, 2)]


@pytest.mark.parametrize("width", [40, 64, 79])
def test_json_wrapped_by_a_terminal_is_joined_again(tmp_path, width):
    title, body, *rest = PRINTED.split("\n")
    wrapped = [body[at : at + width] for at in range(0, len(body), width)]
    snapshot = read_input(write(tmp_path, "\n".join([title, *wrapped, *rest])))
    assert [partition.replicas for partition in snapshot.each_partition()] == [(0, 2), (1, 2)]


def test_pretty_printed_json_with_carriage_returns_is_read(tmp_path):
    text = json.dumps(rows([1, 2]), indent=2).replace("\n", "\r\n")
    path = tmp_path / "map.json"
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert read_input(path).partition(0).replicas == (1, 2)


def test_utf_16_of_powershell_is_read(tmp_path):
    path = tmp_path / "map.json"
    path.write_bytes(b"\xff\xfe" + json.dumps(rows([1, 2])).encode("utf-16-le"))
    assert read_input(path).partition(0).replicas == (1, 2)


BROKEN = {
    "version": ({**rows([1]), "version": 2}, r"version: 2 is unknown"),
    "version text": ({**rows([1]), "version": "1"}, r"version: '1' is unknown"),
    "extra key": ({**rows([1]), "topics": []}, r"unknown field 'topics'"),
    "empty": ({"version": 1, "partitions": []}, r"partitions: holds no partitions"),
    "no list": ({"version": 1, "partitions": {}}, r"partitions: expected a list"),
    "row": ({"version": 1, "partitions": [3]}, r"partitions\[0\]: expected an object, found 3"),
    "twice": (
        {"version": 1, "partitions": rows([1], [2])["partitions"] + rows([3])["partitions"]},
        r"\[2\]: t-0 is already",
    ),
    "broker twice": (rows([1, 2], [3, 3]), r"partitions\[1\]\.replicas: broker 3 stands twice"),
    "no replicas": (rows([]), r"partitions\[0\]\.replicas: expected a list of broker ids"),
    "negative": (rows([1, -1]), r"partitions\[0\]\.replicas\[1\]: expected a broker id, found -1"),
    "text id": (rows(["1"]), r"replicas\[0\]: expected a broker id, found '1'"),
    "unknown field": (
        {"version": 1, "partitions": [{"topic": "t", "partition": 0, "replica": [1]}]},
        r"unknown field 'replica'",
    ),
    "missing": ({"version": 1, "partitions": [{"topic": "t", "replicas": [1]}]}, r"'partition' is missing"),
    "cut short": (json.dumps(rows([1, 2]), indent=1)[:-6], r"map\.json:\d+: is no JSON"),
    "two values": (json.dumps(rows([1])) + json.dumps(rows([2])), r"map\.json:1: is no JSON: Extra data"),
    "empty file": ("\n\n", r"map\.json: is empty"),
    "no json": ("hello\n", r"map\.json:1: is none of the known inputs"),
    "other json": ({"topics": [{"topic": "t"}]}, r"JSON of an unknown kind \(dict\)"),
    "a list": ("[1]", r"JSON of an unknown kind \(list\)"),
    "title only": ("Current partition replica assignment\n\n", r"map\.json:1: no JSON stands under"),
    "broken block": (PRINTED.replace('"replicas":[1,2]', '"replicas":[1'), r"map\.json:2: is no JSON"),
    "not wrapped": (
        'Current partition replica assignment\n{"version":1,"par\ntitions":[]}',
        r"map\.json:2: is no JSON",
    ),
}


@pytest.mark.parametrize(("document", "message"), BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_reassignment_is_refused_with_its_place(tmp_path, document, message):
    with pytest.raises(InvalidInputError, match=message):
        read_input(write(tmp_path, document))


def test_a_missing_file_and_broken_gzip_and_bytes_that_are_no_text_are_named(tmp_path):
    with pytest.raises(InvalidInputError, match=r"nothing\.json: does not exist"):
        read_input(tmp_path / "nothing.json")
    cut = tmp_path / "cut.json.gz"
    cut.write_bytes(b"\x1f\x8b\x08\x00\x00")
    with pytest.raises(InvalidInputError, match=r"cut\.json\.gz: is gzip, but broken"):
        read_input(cut)
    binary = tmp_path / "binary.json"
    binary.write_bytes(b'{"version": 1,\n"\xff": 2}')
    with pytest.raises(InvalidInputError, match=r"binary\.json:2: is no utf-8 text \(byte 16\)"):
        read_input(binary)
