from __future__ import annotations

import pytest

from kafka_assignors.errors import InvalidInputError
from rebalance_advisor.dumps.topics_dump import TopicsDump, looks_like_topics

HEADER = "Topic: t\tTopicId: QmLwMsncTBWiSn2HoB0Kqg\tPartitionCount: 1\tReplicationFactor: 2\tConfigs: \n"
ROW = "\tTopic: t\tPartition: 0\tLeader: 1\tReplicas: 1,2\tIsr: 1,2\tElr: \tLastKnownElr: \n"


def read(text):
    dump = TopicsDump()
    assert looks_like_topics(text)
    dump.read(text, "topics.txt")
    dump.require_whole()
    return dump


def row(text):
    return read(text).rows["t", 0]


@pytest.mark.parametrize(
    "text",
    [
        HEADER + ROW,
        "Topic:t\tPartitionCount:1\tReplicationFactor:2\tConfigs:\n" + ROW,
        HEADER.replace("\t", "     ") + ROW.replace("\t", "   "),
        "$ bin/kafka-topics.sh --describe --bootstrap-server localhost:9092\n" + HEADER + "\n" + ROW + "\n",
        (HEADER + ROW).replace("\n", "\r\n"),
    ],
    ids=["4.x", "old header", "blanks", "with prompt", "carriage returns"],
)  # fmt: skip
def test_every_way_to_print_a_row_gives_the_same_partition(text):
    assert row(text).replicas == (1, 2)
    assert row(text).isr == (1, 2)
    assert row(text).leader == 1


@pytest.mark.parametrize("leader", ["none", "-1"])
def test_a_partition_without_leader_keeps_its_isr(leader):
    partition = row(HEADER + ROW.replace("Leader: 1", f"Leader: {leader}"))
    assert (partition.leader, partition.isr) == (None, (1, 2))


def test_an_empty_isr_is_empty_and_not_the_next_column():
    assert row(HEADER + ROW.replace("Isr: 1,2", "Isr: ")).isr == ()
    assert row(HEADER + ROW.replace("Isr: 1,2\tElr: \tLastKnownElr: ", "Isr:")).isr == ()


def test_a_running_reassignment_shows_what_comes_and_what_goes():
    text = ROW.replace("Replicas: 1,2", "Replicas: 3,1,2").replace(
        "\tElr: \t", "\tAdding Replicas: 3,8\tRemoving Replicas: 2\tElr: N/A\t"
    )
    partition = row(HEADER + text)
    assert (partition.replicas, partition.adding, partition.removing) == ((3, 1, 2), (3,), (2,))
    assert partition.target_replicas == (3, 1)


def test_columns_of_other_builds_are_known():
    partition = row(HEADER + ROW.replace("\tElr: \tLastKnownElr: ", "\tOffline: 2\tObservers: 5\tLiveObservers: "))
    assert partition.offline == (2,)


def test_configs_may_hold_commas_and_json():
    configs = (
        'confluent.placement.constraints={"version":1,"replicas":[{"count":2}]},'
        "leader.replication.throttled.replicas=0:1,0:2,cleanup.policy=compact,delete,retention.ms=1"
    )
    topic = read(HEADER.replace("Configs: ", "Configs: " + configs) + ROW).topics["t"]
    assert topic.configs == {
        "confluent.placement.constraints": '{"version":1,"replicas":[{"count":2}]}',
        "leader.replication.throttled.replicas": "0:1,0:2",
        "cleanup.policy": "compact,delete",
        "retention.ms": "1",
    }


def test_kafkas_own_topics_are_internal():
    text = (HEADER + ROW).replace("Topic: t\t", "Topic: __consumer_offsets\t")
    assert read(text).topics["__consumer_offsets"].is_internal


BROKEN = {
    "cut after header": (HEADER.replace("Count: 1", "Count: 2") + ROW, r":1: announces 2 partitions of t, 1 follow"),
    "hole": (
        HEADER.replace("Count: 1", "Count: 2") + ROW + ROW.replace("Partition: 0", "Partition: 2"),
        r":1: partition 1 of t is missing",
    ),
    "cut row": (HEADER + ROW[:40] + "\n", r":2: is no line of kafka-topics"),
    "row twice": (HEADER + ROW + ROW, r":3: t-0 is described twice"),
    "topic twice": (HEADER + ROW + HEADER + ROW, r":3: topic t is described twice"),
    "no header": (ROW, r":1: partition 0 of t has no header"),
    "leader": (HEADER + ROW.replace("Leader: 1", "Leader: 7"), r":2: leader 7 is not among replicas 1,2"),
    "isr": (HEADER + ROW.replace("Isr: 1,2", "Isr: 1,4"), r":2: broker 4 is in the ISR, but not among replicas"),
    "replica twice": (HEADER + ROW.replace("Replicas: 1,2", "Replicas: 1,1"), r":2: a broker stands twice in Replicas"),
    "replicas": (HEADER + ROW.replace("Replicas: 1,2", "Replicas: 1,b"), r":2: is no line of kafka-topics"),
    "hole in list": (HEADER + ROW.replace("Replicas: 1,2", "Replicas: 1,,2"), r":2: expected a broker id in Replicas"),
    "huge id": (HEADER + ROW.replace("Replicas: 1,2", "Replicas: 1,9999999999"), r":2: expected a broker id"),
    "unknown column": (HEADER + ROW.replace("Elr: ", "Colour: 3 "), r":2: unknown column 'Colour"),
    "tool gave up": (
        HEADER + "Error while executing topic command : Timed out\n" + ROW,
        r":2: the tool gave up: 'Error while executing topic command : Timed out'",
    ),
    "prose": (HEADER + ROW + "see above\n", r":3: is no line of kafka-topics --describe: 'see above'"),
    "configs": (HEADER.replace("Configs: ", "Configs: none") + ROW, r":1: Configs are no list of name=value: 'none'"),
    "config twice": (HEADER.replace("Configs: ", "Configs: a.b=1,a.b=2") + ROW, r":1: config a\.b stands twice"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "message"), BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_dump_is_refused_with_file_and_line(text, message):
    with pytest.raises(InvalidInputError, match=r"^topics\.txt" + message):
        read(text)


MARKED = {
    "behind configs": HEADER.replace("Configs: ", "Configs:a=1,max.message.bytes=404800\tMarkedForDeletion:true"),
    "without configs": HEADER.replace("Configs: ", "Configs:        MarkedForDeletion:true"),
    "in the list": HEADER.replace("Configs: ", "Configs: a=1,MarkedForDeletion: true"),
}
MARKED_ROW = ROW.replace("\tElr: \tLastKnownElr: ", "\tMarkedForDeletion: true")


@pytest.mark.parametrize("header", MARKED.values(), ids=MARKED.keys())
def test_a_topic_that_is_being_deleted_is_left_out_by_name(header):
    """Releases before 3.0 say so; its rows without leader and its mark are no partitions and no config."""
    kept = (HEADER + ROW).replace("Topic: t\t", "Topic: kept\t")
    dump = read(header + ROW.replace("Leader: 1", "Leader: -1") + kept)
    assert (dump.deleted, sorted(dump.topics), sorted(dump.rows)) == ({"t"}, ["kept"], [("kept", 0)])


def test_rows_say_that_their_topic_is_being_deleted_where_no_header_does():
    """``--under-replicated-partitions`` prints no headers; a header of an earlier dump counts no more."""
    assert read(MARKED_ROW).deleted == {"t"}
    dump = read(HEADER + ROW + MARKED_ROW)
    assert (dump.deleted, dump.topics, dump.rows) == ({"t"}, {}, {})
    with pytest.raises(InvalidInputError, match=r":3: topic t is described twice"):
        read(MARKED["behind configs"] + ROW + HEADER)
