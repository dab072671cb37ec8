from __future__ import annotations

import pytest

from kafka_assignors.errors import InvalidInputError
from rebalance_advisor.dumps.any_input import read_input
from rebalance_advisor.dumps.text_lines import Command, begins_command, dump_lines, is_noise, lines_and_commands
from tests.sample import for_each
from tests.unit.dumps.dump_texts import DUMPS, write_folder

COMMANDS = [
    "# ./kafka-topics.sh --describe --zookeeper zk1:2181/kafka",
    "[root@h kafka]# bin/kafka-topics.sh --describe --bootstrap-server h:9092",
    "[root@h ~]#",
    "$ kubectl exec -it kafka-0 -c kafka -- bin/kafka-topics.sh --describe --bootstrap-server localhost:9092",
    "> bin/kafka-topics.sh --zookeeper localhost:2181 --topic foo --describe",
    "  > bin/kafka-topics.sh --zookeeper localhost:2181 --topic foo --describe",
    "bin/kafka-topics.sh --describe --bootstrap-server h:9092",
    "kafka-topics --describe --bootstrap-server h:9092",
    "./kafka-topics.sh --describe \\\n  --bootstrap-server h:9092 \\\n  --topic foo",
    "$ kafka-topics \\\n--describe",
    "PS C:\\kafka> .\\bin\\windows\\kafka-topics.bat --describe --bootstrap-server h:9092",
    "C:\\kafka>bin\\windows\\kafka-topics.bat --describe --bootstrap-server h:9092 ^\n --topic foo",
    "kafka@broker-0:/opt/kafka$ bin/kafka-topics.sh --describe --bootstrap-server h:9092 > topics.txt",
    "me@mac ~ % kafka-topics --describe --bootstrap-server h:9092",
    "bash-4.4$ kafka-topics --describe --bootstrap-server h:9092",
    "I have no name!@kafka-0:/$ kafka-topics.sh --describe --bootstrap-server h:9092",
    "/ # kafka-topics.sh --describe --bootstrap-server h:9092",
    "$ sudo KAFKA_OPTS=-Dx=y /opt/kafka/bin/kafka-topics.sh --describe --zookeeper h",
    "docker exec broker kafka-topics --describe --bootstrap-server h:9092",
    "$ cat topics.txt",
    "$",
    "#",
]
NOISE = [
    "==> Describe topic: orders",
    "=====",
    "----------",
    "Note: This will only show information about consumers that use the Java consumer API.",
    "Note: This will not show information about old Zookeeper-based consumers.",
    "[2026-11-20 06:00:00,123] WARN WARNING: ConsumerOffsetChecker is deprecated and will be dropped (kafka.tools.X$)",
    "2026-11-20 06:00:00,123 [main] WARN  o.a.k.X - something",
    "SLF4J: Class path contains multiple SLF4J bindings.",
    "log4j:WARN No appenders could be found",
    "Picked up JAVA_TOOL_OPTIONS: -Xmx1g",
    "OpenJDK 64-Bit Server VM warning: If the number of processors",
    'Defaulted container "kafka" out of: kafka, init (init)',
    "Use 'kubectl describe pod/kafka-0 -n kafka' to see all of the containers in this pod.",
    "WARNING: Due to limitations in metric names, topics with a period could collide.",
]
DATA = [
    "Topic: a\tPartitionCount: 1\tReplicationFactor: 1\tConfigs: ",
    "\tTopic: a\tPartition: 0\tLeader: 1\tReplicas: 1\tIsr: 1",
    "kafka-topics    orders          0          5               9               4               c-1  /1.2.3.4  cli",
    "kafka-connect   connect         0          -               9               -               -    -         -",
    "#1 group        orders          0          5               9               4               c-1  /1.2.3.4  cli",
    "$               orders          0          5               9               4               c-1  /1.2.3.4  cli",
    "root@h          orders          0          5               9               4               c-1  /1.2.3.4  cli",
    "Note            orders          0          5               9               4               c-1  /1.2.3.4  cli",
    "kafka-log:0:5",
    '{"version":1,"brokers":[]}',
    "Consumer group 'kafka-topics --x' has no active members.",
    "GROUP TOPIC PARTITION",
]


@for_each("text", COMMANDS)
def test_a_command_is_one_thing_however_it_is_prompted_and_wrapped(text):
    commands = list(lines_and_commands(text, "x"))
    assert [type(command) for command in commands] == [Command]
    assert commands[0].location == "x:1"


@for_each("line", NOISE)
def test_noise_is_left_out(line):
    assert is_noise(line)
    assert list(dump_lines(line, "x")) == []


@for_each("line", DATA)
def test_data_is_neither_command_nor_noise(line):
    assert not begins_command(line)
    assert not is_noise(line)


def test_options_are_taken_from_the_command_quoted_or_not():
    command = Command("x:1", "$ kubectl exec k -- sh -c \"kafka-x --group 'my group' --group=b --group $g --time -2\"")
    assert command.options("group") == ("my group", "b")
    assert command.options("time") == ("-2",)
    assert command.has("group")
    assert not command.has("tim")
    assert command.runs("kafka-x", "kafka-y")
    assert not command.runs("kafka")


def test_a_command_that_never_ends_is_refused():
    with pytest.raises(InvalidInputError, match=r"^x:2: is a command that goes on after the end"):
        list(lines_and_commands("a\n$ kafka-topics \\\n --describe \\", "x"))


@pytest.mark.parametrize(
    "name", ["topics.txt", "log-dirs.txt", "latest.txt", "offsets.txt", "members.txt", "state.txt"]
)
def test_every_dump_reads_the_same_with_all_of_it_around(tmp_path, name):
    plain = read_input(write_folder(tmp_path / "plain"), cluster="c")
    noisy = [*(text for text in COMMANDS if "kafka-topics" in text), *NOISE]
    text = "\n".join(noisy) + "\n" + DUMPS[name] + "\n".join(noisy) + "\n"
    read = read_input(write_folder(tmp_path / "noisy", {**DUMPS, name: text}), cluster="c")
    assert list(read.each_partition()) == list(plain.each_partition())
    assert (read.groups, read.brokers, read.coverage) == (plain.groups, plain.brokers, plain.coverage)


def test_a_reassignment_shown_with_cat_reads_as_the_file(tmp_path):
    document = '{"version":1,\n "partitions":[{"topic":"foo","partition":0,"replicas":[5,6]}]}\n'
    (tmp_path / "plain.json").write_text(document)
    (tmp_path / "shown").write_text("  > cat plain.json\n" + document)
    plain, shown = (read_input(tmp_path / name, cluster="c") for name in ("plain.json", "shown"))
    assert list(shown.each_partition()) == list(plain.each_partition())
    (tmp_path / "broken").write_text("$ cat plain.json\n" + document.replace("]}]}", "]}}"))
    with pytest.raises(InvalidInputError, match=r"broken:3: is no JSON"):
        read_input(tmp_path / "broken")
