"""Topics from ZooKeeper's shells: plain JSON or a whole session, versions 1 to 3, with and without states."""

from __future__ import annotations

import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.facts import FactCode
from kafka_rebalance.snapshot.model import BrokerState
from rebalance_advisor.dumps import read_input
from rebalance_advisor.dumps.topic_znodes import TopicZnodes, looks_like_znodes

V1 = '{"version":1,"partitions":{"1":[2,3],"0":[1,2]}}\n'
V3 = (
    '{"partitions":{"0":[1,2,3]},"topic_id":"DU8cNtvETz2Dg6FO8nTmgA","adding_replicas":{"0":[3]},'
    '"removing_replicas":{"0":[1]},"version":3}\n'
)
STAT = """cZxid = 0x1a
ctime = Fri Jan 01 00:00:00 UTC 2021
mZxid = 0x1a
mtime = Fri Jan 01 00:00:00 UTC 2021
pZxid = 0x1b
cversion = 1
dataVersion = 0
aclVersion = 0
ephemeralOwner = 0x0
dataLength = 48
numChildren = 1
"""
BEGIN = """Connecting to localhost:2181
Welcome to ZooKeeper!
JLine support is enabled
2021-01-01 00:00:00,123 [myid:] - INFO  [main:Environment@98] - Client environment:java.version=1.8

WATCHER::

WatchedEvent state:SyncConnected type:None path:null
"""
STATES = (
    '{"controller_epoch":7,"leader":2,"version":1,"leader_epoch":3,"isr":[2,1]}\n',
    '{"controller_epoch":7,"leader":-1,"version":1,"leader_epoch":3,"isr":[]}\n',
)


def zk(number, command, answer):
    return f"[zk: localhost:2181(CONNECTED) {number}] {command}\n{answer}{STAT}"


SESSION = (
    "[root@zk1 bin]# ./zkCli.sh -server localhost:2181\n" + BEGIN
    + "[zk: localhost:2181(CONNECTED) 0] ls /brokers/topics\n[orders, __consumer_offsets]\n"
    + zk(1, "get /brokers/topics/orders", V1) + zk(2, "get -s /kafka/brokers/topics/__consumer_offsets", V3)
    + "[zk: localhost:2181(CONNECTED) 3] quit\n"
)  # fmt: skip
WITH_STATES = zk(1, "get /brokers/topics/orders", V1) + "".join(
    zk(2 + number, f"get /brokers/topics/orders/partitions/{number}/state", state)
    for number, state in enumerate(STATES)
)


def read(folder, **files):
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        assert looks_like_znodes(text)
        (folder / f"{name}.txt").write_text(text)
    return read_input(folder, cluster="c")


def rows(snapshot):
    return {f"{row.topic}-{row.partition}": row for row in snapshot.each_partition()}


def test_a_session_of_zkcli_holds_topics(tmp_path):
    snapshot = read(tmp_path, x=SESSION)
    result = rows(snapshot)
    assert [(name, row.replicas, row.leader) for name, row in result.items()] == [
        ("__consumer_offsets-0", (1, 2, 3), 1), ("orders-0", (1, 2), 1), ("orders-1", (2, 3), 2),
    ]  # fmt: skip
    assert (result["__consumer_offsets-0"].adding, result["__consumer_offsets-0"].removing) == ((3,), (1,))
    internal, orders = snapshot.topics
    assert (internal.topic_id, internal.is_internal, orders.is_internal) == ("DU8cNtvETz2Dg6FO8nTmgA", True, False)
    assert {row.isr for row in result.values()} == {None}
    assert {broker.state for broker in snapshot.brokers} == {BrokerState.ALIVE}
    assert FactCode.LACKS_LEADERS in {gap.what.code for gap in snapshot.coverage}


def test_zookeeper_shell_is_asked_in_one_command(tmp_path):
    text = "$ bin/zookeeper-shell.sh localhost:2181 get /brokers/topics/orders\n" + BEGIN + V1
    assert list(rows(read(tmp_path, x=text))) == ["orders-0", "orders-1"]


@pytest.mark.parametrize("version", [1, 2, 3])
def test_without_a_prompt_the_files_name_is_the_topic(tmp_path, version):
    snapshot = read(tmp_path, **{"my.topic-1_a": V1.replace('"version":1', f'"version":{version}')})
    assert [topic.name for topic in snapshot.topics] == ["my.topic-1_a"]


def test_states_tell_leaders_and_isr(tmp_path):
    snapshot = read(tmp_path, x=WITH_STATES)
    assert [(row.leader, row.isr) for row in snapshot.each_partition()] == [(2, (1, 2)), (None, ())]
    assert {broker.id: broker.state.value for broker in snapshot.brokers} == {1: "alive", 2: "alive", 3: "dead"}
    assert FactCode.LACKS_LEADERS not in {gap.what.code for gap in snapshot.coverage}


def test_a_node_that_is_not_there_is_a_gap(tmp_path):
    text = SESSION + "[zk: h(CONNECTED) 4] get /brokers/topics/gone\nNode does not exist: /brokers/topics/gone\n"
    gaps = {(gap.subject, gap.what.code) for gap in read(tmp_path, x=text).coverage}
    assert ("gone", FactCode.LACKS_DESCRIPTION) in gaps


BROKEN = {
    "cut": (V1[:-3], r":1: begins a JSON object that does not end"),
    "version": (V1.replace('"version":1', '"version":4'), r":1: version 4 is unknown"),
    "no version": (V1.replace('"version":1,', ""), r":1: version None is unknown"),
    "field": (V1.replace('"version":1', '"version":1,"colour":2'), r":1: unknown field 'colour'"),
    "hole": (V1.replace('"1":', '"2":'), r":1: partition 1 is missing"),
    "number": (V1.replace('"1":', '"01":'), r":1: expected a partition in partitions, found '01'"),
    "no partitions": ('{"version":1,"partitions":{}}\n', r":1: holds no partitions"),
    "empty list": (V1.replace("[1,2]", "[]"), r":1: partitions of partition 0 is empty"),
    "twice": (V1.replace("[1,2]", "[1,1]"), r":1: a broker stands twice in partitions of partition 0"),
    "no list": (V1.replace("[1,2]", '"1,2"'), r":1: partitions of partition 0 is no list of broker ids"),
    "true": (V1.replace("[1,2]", "[true,2]"), r":1: partitions of partition 0 is no list of broker ids"),
    "huge": (V1.replace("[1,2]", "[1,4294967296]"), r":1: partitions of partition 0 is no list of broker ids"),
    "stranger adds": (V3.replace('{"0":[3]}', '{"0":[9]}'), r":1: broker 9 of adding_replicas is not among"),
    "key twice": (V1.replace('"1":', '"0":'), r":1: a key stands twice"),
    "no JSON": (V1.replace("[1,2]", "[1,2"), r":1: is no JSON"),
    "prose": (V1 + "see above\n", r":2: is no line of a ZooKeeper shell: 'see above'"),
    "same topic": (V1 + V1, r":2: topic orders stands twice; first in .*orders\.txt:1"),
    "state of nobody": (V1 + STATES[0], r":2: is JSON, but no znode of a topic"),
    "foreign state": (
        V1 + zk(1, "get /brokers/topics/other/partitions/0/state", STATES[0]), r":3: is the state of other-0, which no",
    ),
    "state twice": (WITH_STATES + zk(9, "get /brokers/topics/orders/partitions/0/state", STATES[0]), r"the state of"),
    "stranger leads": (WITH_STATES.replace('"leader":2', '"leader":3'), r"broker 3 leads or is in sync, but is not"),
    "leader": (WITH_STATES.replace('"leader":2', '"leader":"2"'), r"expected a broker id or -1 as leader, found '2'"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "message"), BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_node_is_refused_with_file_and_line(tmp_path, text, message):
    with pytest.raises(InvalidInputError, match=rf"orders\.txt{message}|orders\.txt:\d+: {message}"):
        read(tmp_path, orders=text)


def test_a_name_that_is_no_topic_is_refused():
    with pytest.raises(InvalidInputError, match=r"^my topic\.json:1: no get .* is above it, and 'my topic' is no"):
        TopicZnodes().read(V1, "my topic.json")


def test_znodes_beside_a_kafka_topics_dump_are_refused(tmp_path):
    read(tmp_path, orders=V1)
    (tmp_path / "topics.txt").write_text(
        "Topic: t\tPartitionCount: 1\tReplicationFactor: 1\tConfigs: \n"
        "\tTopic: t\tPartition: 0\tLeader: 1\tReplicas: 1\tIsr: 1\n"
    )
    with pytest.raises(InvalidInputError, match=r"orders\.txt:1: is a topic's znode beside a kafka-topics dump"):
        read_input(tmp_path)


def test_a_reassignment_is_no_znode():
    assert not looks_like_znodes('{"version":1,"partitions":[{"topic":"a","partition":0,"replicas":[1]}]}')
