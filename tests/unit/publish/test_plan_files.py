import json

import jsonschema
import pytest

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.verify import verify_plan
from kafka_rebalance.verify.files import expected_files
from rebalance_advisor.publish.plan_files import plan_files
from tests.unit.planner.sample_clusters import random_cluster

REASSIGNMENT = {
    "type": "object",
    "additionalProperties": False,
    "required": ["version", "partitions"],
    "properties": {
        "version": {"const": 1},
        "partitions": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["topic", "partition", "replicas"],
                "properties": {
                    "topic": {"type": "string"},
                    "partition": {"type": "integer", "minimum": 0},
                    "replicas": {"type": "array", "minItems": 1, "uniqueItems": True, "items": {"type": "integer"}},
                },
            },
        },
    },
}
ELECTION = {
    "type": "object",
    "additionalProperties": False,
    "required": ["partitions"],
    "properties": {
        "partitions": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["topic", "partition"],
                "properties": {"topic": {"type": "string"}, "partition": {"type": "integer", "minimum": 0}},
            },
        }
    },
}


@pytest.fixture(scope="module")
def snapshot():
    return random_cluster(11, topics=40)


@pytest.fixture(scope="module")
def plan(snapshot):
    return make_plan(snapshot, PlanOptions(within=0.1, moves_per_broker=4))


def test_waves_rollback_and_elections_are_in_kafkas_formats(plan) -> None:
    files = plan_files(plan)
    for name, content in files.items():
        if name.startswith(("waves/", "rollback/")):
            jsonschema.validate(json.loads(content), REASSIGNMENT)
        elif name.startswith("elections/"):
            jsonschema.validate(json.loads(content), ELECTION)
    assert {"plan.json", "commands.md", "moves.csv", "waves/01.json", "rollback/01.json"} <= files.keys()


def test_waves_applied_in_order_give_the_placement_of_the_plan_and_rollback_restores_the_start(plan, snapshot) -> None:
    files = plan_files(plan)
    start = {
        (partition.topic, partition.partition): list(partition.replicas) for partition in snapshot.each_partition()
    }
    now = dict(start)
    for name in sorted(file for file in files if file.startswith("waves/")):
        for row in json.loads(files[name])["partitions"]:
            now[row["topic"], row["partition"]] = row["replicas"]
    wanted = start | {(move.topic, move.partition): list(move.to_replicas) for move in plan.moves}
    assert now == wanted
    counts = {broker.id: 0.0 for broker in snapshot.brokers}
    for replicas in now.values():
        for broker in replicas:
            counts[broker] += 1
    assert counts == dict(next(outcome.after for outcome in plan.resources if outcome.resource == "replicas"))
    for name in sorted(file for file in files if file.startswith("rollback/")):
        for row in json.loads(files[name])["partitions"]:
            now[row["topic"], row["partition"]] = row["replicas"]
    assert now == start


def test_rollback_01_undoes_the_last_wave(plan) -> None:
    files = plan_files(plan)
    last = max(file for file in files if file.startswith("waves/"))
    moved = {(row["topic"], row["partition"]) for row in json.loads(files[last])["partitions"]}
    undone = {(row["topic"], row["partition"]) for row in json.loads(files["rollback/01.json"])["partitions"]}
    assert undone == moved


def test_the_verifier_written_apart_expects_the_same_files(plan, snapshot) -> None:
    files = plan_files(plan)
    document = json.loads(files["plan.json"])
    written = {name: json.loads(content) for name, content in files.items() if "/" in name}
    assert written.keys() == expected_files(document).keys()
    assert not {"file", "hash", "shape"} & verify_plan(document, snapshot, written).counts.keys()


def test_commands_name_every_file_once_in_order(plan) -> None:
    text = plan_files(plan)["commands.md"].decode()
    places = [text.index(f"waves/{number:02d}.json --execute") for number in range(1, len(plan.waves) + 1)]
    assert places == sorted(places)
    assert f"--throttle {plan.waves[0].throttle_bytes_per_s}" in text
    afterwards = text.index("\nAfterwards: read a new snapshot")
    assert places[-1] < afterwards < text.index("# Rollback")
    assert '`rebalance-advisor snapshot --bootstrap "$BOOTSTRAP" --out NEW_SNAPSHOT.json`' in text
    assert "--command-config client.properties" not in text[: text.index("Ask first")]  # the advisor's login: it reads
    assert text.index("Rollback 01") > places[-1]
