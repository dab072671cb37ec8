from __future__ import annotations

import json

import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.snapshot.model import BrokerState, Capacity
from rebalance_advisor.dumps import read_input
from rebalance_advisor.dumps.broker_lists import looks_like_brokers, read_brokers
from rebalance_advisor.dumps.capacity_file import (
    Capacities,
    looks_like_capacity,
    parse_capacity,
    read_capacity,
    with_capacity,
)

CSV = "broker,disk_bytes,in_bytes_per_s,out_bytes_per_s,cpu_percent\n1,1000,2e3,,100\n2,,,,\n"
CRUISE_CONTROL = {
    "brokerCapacities": [
        {"brokerId": "-1", "capacity": {"DISK": "10", "CPU": "100", "NW_IN": "3", "NW_OUT": 4.5}, "doc": "default"},
        {"brokerId": "2", "capacity": {"DISK": {"/a": "1", "/b": 2}, "CPU": {"num.cores": "16"}}},
    ]
}


def write(folder, text, name="capacity"):
    path = folder / name
    path.write_text(text if isinstance(text, str) else json.dumps(text))
    return path


def test_a_csv_gives_bytes_and_leaves_empty_cells_unknown(tmp_path):
    capacity = read_capacity(write(tmp_path, CSV))
    assert capacity.of_broker[1] == Capacity(1000, 2000, None, 100)
    assert capacity.of_broker[2] == Capacity()
    assert capacity.default is None


def test_cruise_controls_units_are_mib_and_kib_and_its_disks_add_up(tmp_path):
    capacity = read_capacity(write(tmp_path, CRUISE_CONTROL))
    assert capacity.default == Capacity(10 * 2**20, 3 * 2**10, 4.5 * 2**10, 100)
    assert capacity.of_broker[2] == Capacity(3 * 2**20, None, None, 100)


def test_capacities_are_added_to_a_snapshot_and_the_default_fills_the_rest(tmp_path):
    rows = {"version": 1, "partitions": [{"topic": "t", "partition": 0, "replicas": [1, 2]}]}
    snapshot = read_input(write(tmp_path, rows, "map.json"))
    brokers = with_capacity(snapshot, read_capacity(write(tmp_path, CRUISE_CONTROL))).brokers
    assert [broker.capacity.disk_bytes for broker in brokers] == [10 * 2**20, 3 * 2**20]
    assert with_capacity(snapshot, read_capacity(write(tmp_path, CSV))).brokers[0].capacity.cpu_percent == 100
    with pytest.raises(InvalidInputError, match=r"broker 3 is not among the brokers of map"):
        with_capacity(snapshot, read_capacity(write(tmp_path, CSV.replace("\n2,", "\n3,"))))


def test_a_broker_of_the_file_is_not_filled_up_from_the_default(tmp_path):
    """Cruise Control's default is for brokers that are not listed: 2 has no network figures, 1 has the default's."""
    rows = {"version": 1, "partitions": [{"topic": "t", "partition": 0, "replicas": [1, 2]}]}
    snapshot = read_input(write(tmp_path, rows, "map.json"))
    before = with_capacity(snapshot, Capacities({2: Capacity(in_bytes_per_s=7.0, cpu_percent=50.0)}))
    brokers = with_capacity(before, parse_capacity(json.dumps(CRUISE_CONTROL), "c")).brokers
    assert brokers[0].capacity == Capacity(10 * 2**20, 3 * 2**10, 4.5 * 2**10, 100)
    assert brokers[1].capacity == Capacity(3 * 2**20, 7.0, None, 100)  # missing fields keep their values


def test_a_capacity_file_is_known_by_its_first_line_or_its_key():
    assert all(looks_like_capacity(text) for text in (CSV, json.dumps(CRUISE_CONTROL), " Broker , CPU_percent\n"))
    assert not any(looks_like_capacity(text) for text in ("broker,rack\n1,a\n", "id,disk_bytes\n", '{"brokers": []}'))


def changed(change):
    document = json.loads(json.dumps(CRUISE_CONTROL))
    change(document["brokerCapacities"])
    return document


BROKEN = {
    "empty": (CSV.split("\n", maxsplit=1)[0] + "\n", r"capacity: holds no broker"),
    "unknown column": (CSV.replace("cpu_percent", "cpu"), r"capacity:1: unknown column 'cpu'"),
    "no broker column": (CSV.replace("broker,", "id,"), r"capacity:1: column 'broker' is missing"),
    "column twice": (CSV.replace("cpu_percent", "disk_bytes"), r"capacity:1: column 'disk_bytes' stands twice"),
    "cells": (CSV.replace("1,1000,", "1,"), r"capacity:2: has 4 cells, the header 5"),
    "broker": (CSV.replace("\n1,", "\n-1,"), r"capacity:2: expected a broker id, found '-1'"),
    "broker twice": (CSV.replace("\n2,", "\n1,"), r"capacity:3: broker 1 is listed twice"),
    "zero": (CSV.replace("1000", "0"), r"capacity:2, disk_bytes: '0' is no capacity"),
    "text": (CSV.replace("1000", "1TB"), r"capacity:2, disk_bytes: '1TB' is no capacity"),
    "not finite": (CSV.replace("1000", "nan"), r"capacity:2, disk_bytes: 'nan' is no capacity"),
    "json list": ({"brokerCapacities": []}, r"capacity\.brokerCapacities: expected a list"),
    "json id": (changed(lambda rows: rows[1].update(brokerId="two")), r"\[1\]\.brokerId: expected a broker id, or -1"),
    "json twice": (changed(lambda rows: rows[1].update(brokerId=-1)), r"\[1\]: broker -1 is listed twice"),
    "json resource": (changed(lambda rows: rows[0]["capacity"].update(MEM=1)), r"capacity: unknown resource 'MEM'"),
    "json number": (changed(lambda rows: rows[0]["capacity"].update(DISK="x")), r"capacity\.DISK: 'x' is no capacity"),
    "json disks": (changed(lambda rows: rows[0]["capacity"].update(DISK={})), r"capacity\.DISK: \{\} is no capacity"),
    "json row": (changed(lambda rows: rows[0].pop("capacity")), r"\[0\]: expected brokerId and capacity"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "message"), BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_capacity_file_is_refused_with_its_place(tmp_path, text, message):
    with pytest.raises(InvalidInputError, match=message):
        read_capacity(write(tmp_path, text))


def test_brokers_have_racks_hosts_ports_and_states():
    text = "ID, Rack ,host,port,state\n5,r1,h5,9092,\n6,,h6,,drain\n"
    assert looks_like_brokers(text)
    given = read_brokers(text, "brokers.csv")
    brokers = given.brokers
    assert given.stated == {6}, "an empty state says nothing"
    assert (brokers[5].rack, brokers[5].port, brokers[5].state) == ("r1", 9092, BrokerState.ALIVE)
    assert (brokers[6].rack, brokers[6].port, brokers[6].state) == (None, None, BrokerState.DRAINING)


@pytest.mark.parametrize("state", ["alive", "new", "demoted", "unresponsive", "fenced", "dead"])
def test_a_state_is_one_of_the_snapshots(state):
    assert read_brokers(f"id,rack,state\n1,a,{state}\n", "brokers.csv").brokers[1].state is BrokerState(state)


BROKEN_BROKERS = {
    "no id": ("rack,host\na,h\n", r":1: column 'id' is missing"),
    "unknown column": ("id,rack,zone\n1,a,b\n", r":1: unknown column 'zone'"),
    "twice": ("id,rack\n1,a\n2,a\n1,b\n", r":4: broker 1 is listed twice"),
    "id": ("id,rack\none,a\n", r":2: expected a broker id, found 'one'"),
    "negative": ("id,rack\n-1,a\n", r":2: expected a broker id, found '-1'"),
    "cells": ("id,rack\n1\n", r":2: has 1 cells, the header 2"),
    "too many": ("id,rack\n1,a,b\n", r":2: has 3 cells, the header 2"),
    "port": ("id,rack,port\n1,a,70000\n", r":2: expected a port, found '70000'"),
    "state": ("id,rack,state\n1,a,gone\n", r":2: unknown state 'gone'; known: alive, new, drain, .*, dead"),
    "column twice": ("id,rack,rack\n1,a,b\n", r":1: column 'rack' stands twice"),
}


@pytest.mark.parametrize(("text", "message"), BROKEN_BROKERS.values(), ids=BROKEN_BROKERS.keys())
def test_a_broken_broker_list_is_refused_with_file_and_line(text, message):
    with pytest.raises(InvalidInputError, match=r"^brokers\.csv" + message):
        read_brokers(text, "brokers.csv")
