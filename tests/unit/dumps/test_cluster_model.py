from __future__ import annotations

import copy
import gzip
import json
import math

import numpy as np
import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.snapshot.figures import LoadKind, LoadSource
from kafka_rebalance.snapshot.model import BrokerState
from rebalance_advisor.dumps import read_input
from rebalance_advisor.dumps.any_input import is_cluster_model, read_cluster_model

MODEL = {
    "name": "three-brokers",
    "units": {"disk": "MiB", "nw": "KiB/s", "cpu": "% of broker"},
    "brokers": [
        {"id": 7, "rack": "r0", "host": "h7", "state": "alive", "capacity": {"cpu": 100, "nw_in": 10, "disk": 1.5}},
        {"id": 2, "rack": "", "state": "drain"},
        {"id": 5, "rack": None, "host": "h5", "state": "new", "capacity": {}},
    ],
    "partitions": [
        {"topic": "b", "partition": 1, "replicas": [5, 7], "load": {"cpu": 1, "nw_in": 2, "nw_out": 4, "disk": 0.5}},
        {"topic": "b", "partition": 0, "replicas": [7], "load": {"cpu": 2.5, "nw_in": None, "nw_out": 0, "disk": 3}},
        {"topic": "a", "partition": 3, "replicas": [2, 5, 7], "load": None},
    ],
}


def write(folder, document, name="model.json"):
    path = folder / name
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return path


def test_units_are_converted_exactly_and_rows_are_sorted(tmp_path):
    snapshot = read_input(write(tmp_path, MODEL))
    assert snapshot.cluster == "three-brokers"
    assert snapshot.source == "cluster-model"
    assert [snapshot.name_of(row) for row in range(3)] == ["a-3", "b-0", "b-1"]
    assert [p.replicas for p in snapshot.each_partition()] == [(2, 5, 7), (7,), (5, 7)]
    assert [p.leader for p in snapshot.each_partition()] == [2, 7, 5]
    assert snapshot.load(LoadKind.LOG_BYTES).tolist()[1:] == [3 * 2**20, 2**19]
    assert snapshot.load(LoadKind.OUT_BYTES_PER_S).tolist()[1:] == [0.0, 4096.0]
    assert snapshot.load(LoadKind.CPU_PERCENT).tolist()[1:] == [2.5, 1.0]
    assert {column.source for column in snapshot.loads.columns.values()} == {LoadSource.GIVEN}


def test_an_absent_load_is_unknown_and_never_zero(tmp_path):
    snapshot = read_input(write(tmp_path, MODEL))
    for kind in (LoadKind.LOG_BYTES, LoadKind.IN_BYTES_PER_S, LoadKind.OUT_BYTES_PER_S, LoadKind.CPU_PERCENT):
        assert math.isnan(snapshot.load(kind)[0])
    assert np.isnan(snapshot.load(LoadKind.IN_BYTES_PER_S)).tolist() == [True, True, False]
    assert snapshot.loads.column(LoadKind.IN_MESSAGES_PER_S) is None


def test_a_model_without_any_load_has_no_load_columns(tmp_path):
    model = copy.deepcopy(MODEL)
    for row in model["partitions"]:
        del row["load"]
    assert read_input(write(tmp_path, model)).loads.columns == {}


def test_states_racks_and_capacities(tmp_path):
    first, drained, new = read_input(write(tmp_path, MODEL)).brokers
    assert (first.state, drained.state, new.state) == (BrokerState.ALIVE, BrokerState.DRAINING, BrokerState.NEW)
    assert (first.rack, drained.rack, new.rack) == ("r0", None, None)
    assert first.capacity.disk_bytes == 1.5 * 2**20
    assert first.capacity.in_bytes_per_s == 10240
    assert first.capacity.out_bytes_per_s is None
    assert new.capacity.disk_bytes is None


@pytest.mark.parametrize(
    ("state", "expected"), [("demoted", BrokerState.DEMOTED), ("dead", BrokerState.DEAD), (None, BrokerState.ALIVE)]
)
def test_every_state_of_the_format_is_known(tmp_path, state, expected):
    model = copy.deepcopy(MODEL)
    model["brokers"][1]["state"] = state
    assert read_input(write(tmp_path, model)).brokers[1].state is expected


def test_gzip_is_seen_by_content_and_the_order_of_rows_does_not_matter(tmp_path):
    plain = read_input(write(tmp_path, MODEL))
    turned = copy.deepcopy(MODEL)
    turned["partitions"].reverse()
    packed = tmp_path / "packed.json"
    packed.write_bytes(gzip.compress(json.dumps(turned).encode()))
    other = read_input(packed)
    assert list(other.each_partition()) == list(plain.each_partition())
    assert other.load(LoadKind.LOG_BYTES)[1:].tolist() == plain.load(LoadKind.LOG_BYTES)[1:].tolist()


def test_the_file_names_a_cluster_that_has_no_name(tmp_path):
    model = {key: value for key, value in MODEL.items() if key != "name"}
    assert read_input(write(tmp_path, model, "prod-eu.json")).cluster == "prod-eu"
    assert read_input(write(tmp_path, model, "prod-eu.json"), cluster="asked").cluster == "asked"


def test_a_model_is_known_by_its_two_keys_and_named_by_the_caller_where_it_has_no_name():
    assert is_cluster_model(MODEL)
    assert not any(is_cluster_model(other) for other in ([MODEL], {"partitions": []}, {"brokers": []}, None))
    nameless = {key: value for key, value in MODEL.items() if key != "name"}
    assert read_cluster_model(copy.deepcopy(nameless), "place", "asked").cluster == "asked"
    assert read_cluster_model(copy.deepcopy(MODEL), "place", "asked").cluster == "three-brokers"


def _broken(change):
    model = copy.deepcopy(MODEL)
    change(model)
    return json.dumps(model)


BROKEN = [
    ("cut short", lambda: json.dumps(MODEL)[:200], r"model\.json:1: is no JSON"),
    ("other unit", lambda: _broken(lambda m: m["units"].update(disk="GiB")), r"units\.disk: 'GiB' is another unit"),
    ("broker twice", lambda: _broken(lambda m: m["brokers"][2].update(id=7)), r"brokers\[2\]: broker 7 is already"),
    ("negative id", lambda: _broken(lambda m: m["brokers"][0].update(id=-1)), r"brokers\[0\]\.id: .*-1"),
    ("unknown state", lambda: _broken(lambda m: m["brokers"][1].update(state="gone")), r"brokers\[1\]\.state: 'gone'"),
    ("misspelt", lambda: _broken(lambda m: m["brokers"][0].update(capacities={})), r"brokers\[0\]: unknown field"),
    ("no capacity", lambda: _broken(lambda m: m["brokers"][0]["capacity"].update(disk=0)), r"capacity\.disk: 0"),
    ("capacity text", lambda: _broken(lambda m: m["brokers"][0]["capacity"].update(cpu="1")), r"capacity\.cpu: .*'1'"),
    ("no brokers", lambda: _broken(lambda m: m.update(brokers=[])), r"brokers: holds no brokers"),
    ("no partitions", lambda: _broken(lambda m: m.update(partitions=[])), r"partitions: holds no partitions"),
    ("object", lambda: _broken(lambda m: m.update(partitions={})), r"partitions: expected a list"),
    ("no topic", lambda: _broken(lambda m: m["partitions"][1].pop("topic")), r"partitions\[1\]: 'topic' is missing"),
    (
        "topic number",
        lambda: _broken(lambda m: m["partitions"][1].update(topic=3)),
        r"partitions\[1\]\.topic: .*found 3",
    ),
    ("not whole", lambda: _broken(lambda m: m["partitions"][0].update(partition=1.0)), r"\[0\]\.partition: .*1\.0"),
    ("bool", lambda: _broken(lambda m: m["partitions"][0].update(partition=True)), r"\[0\]\.partition: .*True"),
    ("twice", lambda: _broken(lambda m: m["partitions"][0].update(partition=0)), r"\[1\]: b-0 is already listed"),
    ("replicas twice", lambda: _broken(lambda m: m["partitions"][2].update(replicas=[5, 5])), r"broker 5 stands twice"),
    (
        "no replicas",
        lambda: _broken(lambda m: m["partitions"][2].update(replicas=[])),
        r"\[2\]\.replicas: expected a l",
    ),
    (
        "stranger",
        lambda: _broken(lambda m: m["partitions"][2].update(replicas=[9])),
        r"\[2\]\.replicas: broker 9 is not",
    ),
    (
        "huge id",
        lambda: _broken(lambda m: m["partitions"][2].update(replicas=[2**40])),
        r"replicas\[0\]: .*1099511627776",
    ),
    (
        "negative load",
        lambda: _broken(lambda m: m["partitions"][1]["load"].update(disk=-1)),
        r"\[1\]\.load\.disk: -1 is",
    ),
    ("load text", lambda: _broken(lambda m: m["partitions"][1]["load"].update(disk="3")), r"\[1\]\.load\.disk: '3' is"),
    (
        "load key",
        lambda: _broken(lambda m: m["partitions"][0]["load"].update(mem=1)),
        r"\[0\]\.load: unknown field 'mem'",
    ),
    ("load list", lambda: _broken(lambda m: m["partitions"][0].update(load=[])), r"\[0\]\.load: expected an object"),
    (
        "not finite",
        lambda: _broken(lambda m: None).replace('"disk": 3}', '"disk": NaN}'),
        r"model\.json:1: NaN is no JSON",
    ),
    (
        "overflow",
        lambda: _broken(lambda m: None).replace('"disk": 3}', '"disk": 1e999}'),
        r"model\.json:\d+: holds a number that is too large",
    ),
    (
        "key twice",
        lambda: _broken(lambda m: None).replace('"disk": 3}', '"disk": 3, "disk": 4}'),
        r"a key stands twice",
    ),
]


@pytest.mark.parametrize(("make", "message"), [case[1:] for case in BROKEN], ids=[case[0] for case in BROKEN])
def test_a_broken_model_is_refused_with_its_place(tmp_path, make, message):
    with pytest.raises(InvalidInputError, match=message) as refusal:
        read_input(write(tmp_path, make()))
    assert str(tmp_path / "model.json") in str(refusal.value)
