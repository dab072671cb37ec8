"""One small dump of each supported format as people publish them, and refused inputs with their lines.

Each is tried as in ``realdata_table``, so that a supported format stays supported.
"""

# Lines of dumps are long.
# ruff: noqa: E501

from __future__ import annotations

import pytest

from tests.sample import for_each
from tests.unit.dumps.realdata_table import outcome_of, table

ROW = "\tTopic: foo\tPartition: 0\tLeader: 5\tReplicas: 5,6,7\tIsr: 5,6,7"
MOVES = """{"version":1,
  "partitions":[{"topic":"foo","partition":0,"replicas":[5,6]%s},
                {"topic":"foo","partition":1,"replicas":[6,7]%s}]
  }
"""
PLAIN_MOVES, ANY_MOVES = (MOVES.replace("%s", more) for more in ("", ',"log_dirs":["any"]'))
OFFSETS = "TOPIC           PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG             CONSUMER-ID     HOST            CLIENT-ID"
WIDTHS = (15, 10, 15, 15, 15, 15, 15, 1)
DIRS = (
    '{"broker":%d,"logDirs":[{"logDir":"/d","error":null,"partitions":['
    '{"partition":"companion-0","size":1000,"offsetLag":0,"isFuture":false}]}]}'
)


def cells(*texts, widths=WIDTHS):
    return " ".join(word.ljust(width) for word, width in zip(texts, widths, strict=True))


OFFSET_ROW = cells("companion", "0", "2", "4", "2", "c-1", "/127.0.0.1", "c")
READ = {
    "topics 0.9 with prompt": (
        ("> bin/kafka-topics.sh --zookeeper localhost:2181 --topic foo --describe\n"
        f"Topic:foo\tPartitionCount:1\tReplicationFactor:3\tConfigs:\n{ROW}\n"),
        "folder", "3 brokers, 1 partitions",
    ),
    "topics 2.8, blanks for tabs": (
        "$ bin/kafka-topics.sh --describe --topic foo --bootstrap-server localhost:9092\n"
        "Topic:foo  PartitionCount:1    ReplicationFactor:3 Configs:\n" + ROW.replace("\t", "    ") + "\n",
        "folder", "3 brokers, 1 partitions",
    ),
    "topics 3.x, mixed blanks": (
        "Topic: foo        TopicId: NPmZHyhbR9y00wMglMH2sg PartitionCount: 1       ReplicationFactor: 3\tConfigs:\n"
        + ROW.replace("\t", "    ") + "\n",
        "folder", "3 brokers, 1 partitions",
    ),
    "topics 3.9, eligible leaders": (
        ("[2024-08-13 00:12:27,203] WARN [AdminClient clientId=adminclient-1] using Metadata API (o.a.k.KafkaAdminClient)\n"
        "Topic: foo\tTopicId: NPmZHyhbR9y00wMglMH2sg\tPartitionCount: 1\tReplicationFactor: 3\tConfigs: a.b=1,c.d=2\n"
        f"{ROW}\tElr: N/A\tLastKnownElr: N/A\n"),
        "folder", "3 brokers, 1 partitions",
    ),
    "topics, rows without indent, nobody leads": (
        "Topic:foo\tPartitionCount:1\tReplicationFactor:3\tConfigs:\nTopic: foo\tPartition: 0\tLeader: -1\tReplicas: 5\tIsr:\n",
        "folder", "1 brokers, 1 partitions",
    ),
    "topics of Confluent": (
        f"Topic: foo\tPartitionCount: 1\tReplicationFactor: 3\tConfigs: \n{ROW[:-2]}\tOffline: \tObservers: 7\n",
        "folder", "3 brokers, 1 partitions",
    ),
    "generate": (
        ('  > bin/kafka-reassign-partitions.sh --zookeeper localhost:2181 --broker-list "5,6" --generate\n'
        f"  Current partition replica assignment\n\n  {PLAIN_MOVES}\n"
        f"  Proposed partition reassignment configuration\n\n  {PLAIN_MOVES}"),
        "file", "3 brokers, 2 partitions",
    ),
    "execute 3.9": (
        (f"$ bin/kafka-reassign-partitions.sh --execute\nCurrent partition replica assignment\n\n{ANY_MOVES}\n"
        "Save this to use as the --reassignment-json-file option during rollback\n"
        "Successfully started partition reassignments for foo-0,foo-1\n"),
        "file", "3 brokers, 2 partitions",
    ),
    "cat of a reassignment": (f"  > cat custom-reassignment.json\n  {PLAIN_MOVES}", "file", "3 brokers, 2 partitions"),
    "reassignment": (ANY_MOVES, "file", "3 brokers, 2 partitions"),
    "group, offsets 1.1": (
        ("  > bin/kafka-consumer-groups.sh --bootstrap-server localhost:9092 --describe --group my-group\n\n"
        "  Note: This will only show information about consumers that use the Java consumer API.\n\n"
        f"  {OFFSETS}\n  {OFFSET_ROW}\n  \n"),
        "file", "1 groups, 1 members",
    ),
    "group of ZooKeeper": (
        ("  > bin/kafka-consumer-groups.sh --zookeeper localhost:2181 --describe --group my-group\n\n"
        "  Note: This will only show information about consumers that use ZooKeeper (not those using the Java API).\n\n"
        "  TOPIC           PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG        CONSUMER-ID\n"
        "  companion       0          2               4               2          my-group_consumer-1\n"),
        "file", "1 groups, 1 members",
    ),
    "group, members": (
        ("$ bin/kafka-consumer-groups.sh --bootstrap-server localhost:9092 --describe --group g --members --verbose\n"
        "CONSUMER-ID     HOST            CLIENT-ID       #PARTITIONS     ASSIGNMENT\n"
        "c-1             /127.0.0.1      c               2               companion(0), topic2(0)\n"
        "c-2             /127.0.0.1      c               0               -\n"),
        "file", "1 groups, 2 members",
    ),
    "group, state": (
        ("$ bin/kafka-consumer-groups.sh --bootstrap-server localhost:9092 --describe --group my-group --state\n"
        "COORDINATOR (ID)          ASSIGNMENT-STRATEGY       STATE                #MEMBERS\n"
        "localhost:9092 (0)        range                     Stable               4\n"),
        "file", "1 groups, 0 members",
    ),
    "group, owner": (
        ("GROUP           TOPIC           PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG             OWNER\n"
        "transform       companion       0          4499            4500            1               t-consumer_/172.19.0.4\n"),
        "file", "1 groups, 1 members",
    ),
    "ConsumerOffsetChecker": (
        ("Group           Topic                          Pid Offset          logSize         Lag             Owner\n"
        "transform       companion                      0   4499            4500            1               none\n"),
        "file", "1 groups, 0 members",
    ),
    "log dirs": (
        ("Querying brokers for log directories information\nReceived log directory information from brokers 1\n"
        f'{{"version":1,"brokers":[{DIRS % 1}]}}\n'),
        "beside topics", "16 brokers, 1 partitions",
    ),
    "log dirs, two documents": (
        (f'{{"version":1,"brokers":[{DIRS % 1}]}}\n[root@h kafka]# bin/kafka-log-dirs.sh --describe --broker-list 2\n'
        f'Querying brokers for log directories information\n{{"version":1,"brokers":[\n{DIRS % 2}\n]}}\n'),
        "beside topics", "16 brokers, 1 partitions",
    ),
    "end offsets": ("companion:0:5\n", "beside topics", "16 brokers, 1 partitions"),
    "znode": (
        '{"partitions":{"0":[1,0],"1":[0,2]}, "topic_id":"DU8c","adding_replicas":{},"removing_replicas":{}, "version":3}',
        "folder", "3 brokers, 2 partitions",
    ),
}  # fmt: skip
VERIFY = "Status of partition reassignment:\n  Reassignment of partition [foo,0] completed successfully\n"
REFUSED = {
    "verify": f"> bin/kafka-reassign-partitions.sh --zookeeper localhost:2181 --verify\n  {VERIFY}",
    "markdown": "# Exported Metrics\n\nThis document lists all exported metrics\n",
    "rules": "lowercaseOutputName: true\nrules:\n- pattern: kafka.server<type=(.+)>\n",
    "scrape": "# HELP kafka_brokers Number of Brokers\n# TYPE kafka_brokers gauge\nkafka_brokers 3\n",
    "other JSON": '{"brokerSets":[{"brokerSetId":"A","brokerIds":[0,1]}]}\n',
    "other cluster": '{"name":"x","units":{},"brokers":[{"id":0}],"replicas":[]}\n',
    "group that nothing tells": f"{OFFSETS}\n{OFFSET_ROW}\n",
}


@for_each("name", READ)
def test_a_format_that_is_read_stays_read(tmp_path, name):
    text, way, message = READ[name]
    (tmp_path / "dump-of-x.txt").write_text(text)
    outcome = outcome_of(tmp_path / "dump-of-x.txt", name)
    assert outcome.way == way, outcome.text
    assert message in outcome.text


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_input_is_refused_with_its_line(tmp_path, name):
    (tmp_path / "groups.txt").write_text(REFUSED[name])
    outcome = outcome_of(tmp_path / "groups.txt", name)
    assert outcome.way == "refused", outcome.text
    assert ":1: " in outcome.text


def test_the_table_holds_every_file_of_a_folder_and_its_sub_folders(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "moves.json").write_text(PLAIN_MOVES)
    (tmp_path / "notes.md").write_text(REFUSED["markdown"])
    rows = table(tmp_path)
    assert [(row.path, row.way) for row in rows] == [("a/moves.json", "file"), ("notes.md", "refused")]
    assert len(rows[0].digest) == 12
