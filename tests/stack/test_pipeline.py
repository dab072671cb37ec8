"""The DAG in a real Airflow publishes what the shell finds in one process: rows and files."""

import json
from pathlib import Path

import psycopg
import pytest

from kafka_rebalance.advisory.advise import advise
from rebalance_advisor.dumps import read_input
from rebalance_advisor.run_parameters import plan_options
from rebalance_advisor.version import advisor_version
from stack.airflow.cluster_entries import write_entry
from stack.airflow.server import CHECKOUT
from stack.demo import pipeline as demo

pytestmark = [pytest.mark.stack, pytest.mark.slow, pytest.mark.timeout(3600)]

REAL_MAP = CHECKOUT / "tests" / "data" / "kafka-kit-256-partitions-23-brokers.json"


def published_by_the_dag(machine, name, path):
    kind = "folder" if path.is_dir() else "file"
    write_entry(machine.clusters_file, name, {kind: str(path)})
    published = demo.advise(machine.airflow.client, name, print)
    assert published["closing_words"][0].startswith("Verdict:")
    return Path(published["folder"]), published["run_id"]


def as_the_shell_finds_it(name, path):
    return advise(read_input(path, name), plan_options({}), seed=0, advisor_version=advisor_version()).document()


def assert_the_same(folder, document):
    document = json.loads(json.dumps(document))
    assert json.loads((folder / "plan.json").read_text()) == document["plan"]
    assert json.loads((folder / "findings.json").read_text()) == document["findings"]
    assert json.loads((folder / "groups.json").read_text()) == document["groups"]


def test_the_real_map_is_advised_and_its_bytes_are_unknown_never_zero(machine):
    folder, run_id = published_by_the_dag(machine, "real-map", REAL_MAP)
    assert_the_same(folder, as_the_shell_finds_it("real-map", REAL_MAP))
    plan = json.loads((folder / "plan.json").read_text())
    assert {move["kind"] for move in plan["moves"]} == {"replica", "leader"}
    assert plan["cost"]["bytes"] is None
    assert plan["cost"]["seconds"] is None
    assert all(move["bytes"] is None for move in plan["moves"] if move["kind"] == "replica")
    assert "disk" in plan["left_out"]
    with psycopg.connect(machine.dsn("advisor")) as connection:
        connection.execute("SET ROLE advisor_reader")
        query = "SELECT run_id, bytes, replica_moves FROM advisor.plan_latest WHERE cluster = 'real-map'"
        assert connection.execute(query).fetchall() == [(run_id, None, plan["cost"]["replica_moves"])]


def test_the_demo_is_advised_as_from_a_shell(machine):
    demo.write_demo(machine)
    folder, _ = published_by_the_dag(machine, "demo", machine.run / "demo")
    assert_the_same(folder, as_the_shell_finds_it("demo", machine.run / "demo"))
    found = {each["code"] for each in json.loads((folder / "findings.json").read_text())}
    assert {"broker_disk_full", "leaders_piled_up", "rack_violated", "idle_members", "dead_static_member"} <= found
    assert (folder / "report.html").stat().st_size > 10_000
