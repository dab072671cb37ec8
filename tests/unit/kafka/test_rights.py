import pytest
from kafka.protocol.admin import DescribeClusterRequest, DescribeQuorumRequest
from kafka.protocol.metadata import MetadataRequest

from kafka_rebalance.facts import FactCode
from kafka_rebalance.render import render
from kafka_rebalance.render.uncovered import describe_uncovered
from kafka_rebalance.snapshot.coverage import Right, right_gap
from kafka_rebalance.snapshot.model import CommittedOffset, Group, Member
from rebalance_advisor.kafka.cluster_metadata import read_cluster_metadata
from rebalance_advisor.kafka.coverage import Coverage
from rebalance_advisor.kafka.read_cluster import note_hidden_topics
from tests.unit.kafka.canned_cluster import Answer, Cluster, gap_texts, metadata, partition, rights

BLIND = (Right.DESCRIBE_CLUSTER,)
SHOWN = metadata(("t", [partition(0, 1, [1])]))


def described(operations: set[int] | None) -> Answer:
    return Answer(error_code=0, brokers=[], authorized_operations=operations)


@pytest.mark.parametrize(
    ("rights_field", "missing"),
    [
        (described({8, 10}), ()),
        (described({3, 8}), (Right.BROKER_CONFIGS,)),
        (described({10}), BLIND),
        (described(set()), BLIND),  # Kafka's answer without the right to describe the cluster
        (described(None), BLIND),
        (Answer(error_code=58, brokers=[]), BLIND),
        (TimeoutError("slow"), BLIND),
    ],
    ids=["both", "describe", "configs", "empty", "missing", "refused", "silent"],
)
def test_an_empty_set_of_rights_is_no_right(rights_field: object, missing: tuple[Right, ...]) -> None:
    cluster = Cluster(
        {(1, MetadataRequest): SHOWN, (1, DescribeClusterRequest): rights_field}, {DescribeQuorumRequest: -1}
    )
    coverage = Coverage("c")
    read_cluster_metadata(cluster.sender(1), coverage)
    assert rights(coverage) == missing


def test_brokers_older_than_2_8_tell_the_rights_with_the_metadata() -> None:
    old = {DescribeQuorumRequest: -1, DescribeClusterRequest: -1}
    shown, asked = metadata(("t", [partition(0, 1, [1])])), metadata()
    asked.authorized_operations = {8, 10}
    cluster = Cluster({(1, MetadataRequest): [shown, asked]}, old)
    coverage = Coverage("c")
    read_cluster_metadata(cluster.sender(1), coverage)
    assert rights(coverage) == ()


def test_the_command_that_grants_a_right_stands_with_what_its_lack_hides() -> None:
    assert Right.DESCRIBE_GROUPS.command == (
        "kafka-acls.sh --bootstrap-server HOST:PORT --add --allow-principal User:NAME --operation Describe --group '*'"
    )
    assert Right.BROKER_CONFIGS.command.endswith("--operation DescribeConfigs --cluster")
    gap = right_gap(Right.DESCRIBE_GROUPS)
    assert Right.DESCRIBE_GROUPS.command in render(gap.reason)
    assert "Describe on Group" in describe_uncovered([gap])


def test_names_that_members_commits_and_log_dirs_betray_are_asked_for_and_told() -> None:
    """Of seven names ``seen`` is known, ``later`` is new, ``wish`` does not exist, ``bad name`` is invalid."""
    reader = Member("m", subscription=("seen", "wish", "bad name"), assigned=(("secret", (0,)),))
    groups = [Group("g", members=(reader,), committed=(CommittedOffset("read", 0, 5), CommittedOffset("later", 0, 1)))]
    codes = (("secret", 29), ("read", 29), ("wish", 3), ("disk", 29), ("later", 0))
    cluster = Cluster({(1, MetadataRequest): metadata(errors=codes)})
    coverage = Coverage("c")
    note_hidden_topics(cluster.sender(1), {"seen"}, {"seen", "disk"}, groups, coverage)
    assert gap_texts(coverage) == [
        "topic disk: lacks_all_but_size: topic_on_disk(why=None, is_refused=True)",
        "topic later: lacks_description: topic_named_by_group(group='g', why=None, is_refused=False)",
        "topic read: lacks_description: topic_named_by_group(group='g', why=None, is_refused=True)",
        "topic secret: lacks_description: topic_named_by_group(group='g', why=None, is_refused=True)",
    ]
    assert rights(coverage) == (Right.DESCRIBE_TOPICS,)
    assert sorted(topic.name for topic in cluster.asked[0][1].topics) == ["disk", "later", "read", "secret", "wish"]


def test_where_nobody_answers_betrayed_names_are_told_all_the_same() -> None:
    coverage = Coverage("c")
    note_hidden_topics(Cluster({}).sender(1), set(), {"disk"}, [], coverage)
    (gap,) = coverage.gaps
    assert (gap.subject, gap.what.code, gap.reason.code) == ("disk", "lacks_all_but_size", "topic_on_disk")
    assert gap.reason.args["why"].code is FactCode.BROKER_UNHEARD
    assert rights(coverage) == ()
    cluster = Cluster({})
    note_hidden_topics(cluster.sender(1), {"t"}, {"t"}, [], Coverage("c"))
    assert cluster.asked == []  # no names: no requests
