from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from kafka_assignors.errors import InvalidInputError
from rebalance_advisor.airflow.clusters import read_clusters
from rebalance_advisor.cli.coming_from import (
    Imported,
    add_arguments,
    cluster_table,
    import_cruise_control,
    read_cruise_control,
)
from rebalance_advisor.cli.main import COMMANDS, main
from rebalance_advisor.kafka.connection.java_properties import parse_properties
from rebalance_advisor.request.run_request import RunRequest

_PLACE = "com.linkedin.kafka.cruisecontrol.analyzer.goals."
_GOALS = """RackAware ReplicaCapacity DiskCapacity NetworkInboundCapacity NetworkOutboundCapacity CpuCapacity
ReplicaDistribution PotentialNwOut DiskUsageDistribution NetworkInboundUsageDistribution
NetworkOutboundUsageDistribution CpuUsageDistribution TopicReplicaDistribution LeaderReplicaDistribution
LeaderBytesInDistribution"""
# Settings of the analyzer and the executor as config/cruisecontrol.properties of linkedin/cruise-control has them
# (0016b50ea18a447af989708517ef50e8a1d0620d), and some of its others.
AS_SHIPPED = f"""bootstrap.servers=localhost:9092
num.metric.fetchers=1
capacity.config.file=config/capacity.json
default.goals={",".join(f"{_PLACE}{name}Goal" for name in _GOALS.split())}
cpu.balance.threshold=1.1
disk.balance.threshold=1.1
network.inbound.balance.threshold=1.1
network.outbound.balance.threshold=1.1
replica.count.balance.threshold=1.1
cpu.capacity.threshold=0.8
disk.capacity.threshold=0.8
network.inbound.capacity.threshold=0.8
network.outbound.capacity.threshold=0.8
max.replicas.per.broker=10000
#topics.excluded.from.partition.movement
num.concurrent.partition.movements.per.broker=10
num.concurrent.leader.movements=1000
self.healing.enabled=false
"""
CAPACITY = {"brokerCapacities": [{"brokerId": "-1", "capacity": {"DISK": "100000", "CPU": "100", "NW_IN": "10000"}}]}


def imported(text: str) -> Imported:
    return import_cruise_control(parse_properties(text, "cc"), "cc")


def test_what_is_shipped_becomes_targets_headroom_and_limits() -> None:
    assert imported(AS_SHIPPED).options == {
        "target": [f"{of}=0.9..1.1" for of in ("cpu", "disk", "in", "out", "replicas")],
        "headroom": [f"{of}=0.2" for of in ("cpu", "disk", "in", "out")],
        "cap": ["replicas=10000"],
        "moves_per_broker": 10,
    }


def test_every_setting_is_taken_over_or_listed_with_its_line() -> None:
    left_out = imported(AS_SHIPPED).left_out
    taken = sum("threshold" in line for line in AS_SHIPPED.splitlines()) + 2  # and replicas, and moves of a broker
    settings = [line for line in AS_SHIPPED.splitlines() if not line.startswith("#")]
    lines = [line for line in left_out if "default.goals: " not in line]
    assert len(lines) + taken + 1 == len(settings)  # default.goals has a line a goal
    assert "cc:2  'num.metric.fetchers'" in lines
    assert [line.rpartition(" ")[2].strip("'") for line in left_out if line not in lines] == [
        "LeaderBytesInDistributionGoal",
        "PotentialNwOutGoal",
        "TopicReplicaDistributionGoal",
    ]


@pytest.mark.parametrize(("least", "asked"), [("", 1), ("min.topic.leaders.per.broker=3", 3)])
def test_least_leaders_of_topics_are_taken_over(least: str, asked: int) -> None:
    result = imported(f"topics.with.min.leaders.per.broker=pay-.*\n{least}\n")
    assert (result.options, result.left_out) == ({"min_topic_leaders": [f"pay-.*={asked}"]}, ())


def test_as_many_leaders_as_there_are_is_more_than_there_are() -> None:
    result = imported("topics.with.min.leaders.per.broker=pay-.*\nmin.topic.leaders.per.broker=0\n")
    (rule,) = RunRequest.from_mapping(result.options).options.min_topic_leaders
    assert rule.leaders > 10**9


def test_no_throttle_as_strimzi_writes_it_is_listed() -> None:
    result = imported("default.replication.throttle=-1\nmax.replicas.per.broker=9\n")
    assert (result.options, result.left_out) == ({"cap": ["replicas=9"]}, ("cc:1  'default.replication.throttle'",))


def test_a_number_of_leaders_for_no_topic_is_listed() -> None:
    result = imported("min.topic.leaders.per.broker=3\nmax.replicas.per.broker=9\n")
    assert (result.options, result.left_out) == ({"cap": ["replicas=9"]}, ("cc:1  'min.topic.leaders.per.broker'",))


def test_a_threshold_without_its_goal_is_left_out_and_it_is_said() -> None:
    result = imported("default.goals=a.DiskCapacityGoal\ndisk.capacity.threshold=0.7\ncpu.balance.threshold=1.2\n")
    assert result.options == {"headroom": ["disk=0.3"]}
    assert result.left_out == (
        "cc:3  'cpu.balance.threshold' (only a request that names CpuUsageDistributionGoal heeds it)",
    )


def test_without_default_goals_every_threshold_counts() -> None:
    assert imported("leader.replica.count.balance.threshold=3.5").options == {"target": ["leaders=0..3.5"]}


def test_a_whole_capacity_leaves_nothing_to_keep_free() -> None:
    result = imported("disk.capacity.threshold=1.0\nmax.replicas.per.broker=7")
    assert result.options == {"cap": ["replicas=7"]}


def test_throttle_leaders_and_excluded_topics() -> None:
    text = "default.replication.throttle=5000000\nnum.concurrent.leader.movements.per.broker=250\n"
    result = imported(text + r"topics.excluded.from.partition.movement=__.*|pay\\..*")
    assert result.options == {
        "max_leader_changes_per_wave": 250,
        "throttle": 5_000_000,
        "exclude_topic": [r"__.*|pay\..*"],
    }
    assert RunRequest.from_mapping(result.options).options.exclude_topics == (r"__.*|pay\..*",)


def test_a_password_is_listed_by_its_name_alone() -> None:
    result = imported("max.replicas.per.broker=7\nssl.keystore.password=hunter2")
    assert result.left_out == ("cc:2  'ssl.keystore.password'",)
    assert "hunter2" not in "\n".join(cluster_table("c", result, None))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("disk.balance.threshold=0.9", "is no threshold, give a number from 1"),
        ("disk.balance.threshold=much", "is no threshold"),
        ("disk.balance.threshold=nan", "is no threshold"),
        ("disk.capacity.threshold=80", "is no threshold, give a share above 0, up to 1"),
        ("disk.capacity.threshold=0", "is no threshold"),
        ("cpu.capacity.threshold=${env:CPU}", "is no threshold"),
        ("max.replicas.per.broker=-1", "is no number"),
        ("num.concurrent.partition.movements.per.broker=1e3", "is no number"),
        ("default.replication.throttle=٣", "is no number"),
    ],
)
def test_a_value_that_cannot_be_is_refused_with_its_line(line: str, message: str) -> None:
    name = line.partition("=")[0]
    with pytest.raises(InvalidInputError) as caught:
        imported(f"# first\n{line}\n")
    assert f"cc:2: {name}" in str(caught.value)
    assert message.partition(",")[0] in str(caught.value)
    assert message.partition(", ")[2] in str(caught.value)


@pytest.mark.parametrize("text", ["", "bootstrap.servers=a:1\n", '{"brokerCapacities": []}'])
def test_a_file_without_a_setting_of_ours_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError, match="holds no setting"):
        imported(text)


def test_a_pattern_that_only_java_knows_is_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"exclude_topic|--exclude-topic|pattern"):
        imported("topics.excluded.from.partition.movement=[a")


def test_the_command_prints_a_table_that_clusters_toml_takes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings, capacity = tmp_path / "cc.properties", tmp_path / "capacity.json"
    settings.write_text(AS_SHIPPED)
    capacity.write_text(json.dumps(CAPACITY))
    arguments = ["import", "cruise-control", str(settings), "--capacity", str(capacity), "--cluster", "orders"]
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    table = tomllib.loads(printed)["clusters"]["orders"]
    ours = {"connection": "kafka_orders", "capacity": str(capacity)}
    assert table == ours | read_cruise_control(settings).options
    file = tmp_path / "clusters.toml"
    file.write_text(printed)
    assert not read_clusters(file).refused
    assert "--headroom disk=0.2" in printed


def test_names_that_would_leave_their_comment_stay_in_it() -> None:
    text = "max.replicas.per.broker=7\nevil\\nkey=1\n" + r"topics.excluded.from.partition.movement=a\nb\u007f\"" + "\n"
    lines = cluster_table("c", imported(text), None)
    table = tomllib.loads("\n".join(lines))["clusters"]["c"]
    assert table["exclude_topic"] == ['a\nb\x7f"']
    assert set(table) == {"connection", "cap", "exclude_topic"}


def test_a_capacity_file_that_is_none_is_refused_and_nothing_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "cc.properties").write_text(AS_SHIPPED)
    (tmp_path / "capacity.json").write_text('{"brokerCapacities": [{"brokerId": "x", "capacity": {}}]}')
    arguments = [
        "import",
        "cruise-control",
        str(tmp_path / "cc.properties"),
        "--capacity",
        str(tmp_path / "capacity.json"),
    ]
    assert main(arguments) == 1
    out, error = capsys.readouterr()
    assert out == ""
    assert "brokerCapacities[0].brokerId" in error


def test_the_shell_finds_the_command() -> None:
    assert COMMANDS["import"][0] == add_arguments.__module__
