"""Fourteen sets of rights on a cluster with TLS and SCRAM: nothing that is missing goes unsaid, and no verdict is
better than what was seen. The table is printed.

The login of the page on connecting reads all of it, and the brokers' authorizers allow it reading and deny it nothing.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import Plan, to_document
from kafka_rebalance.render import render_all
from kafka_rebalance.snapshot.coverage import Right, missing_rights
from kafka_rebalance.snapshot.model import BrokerState, ClusterSnapshot
from kafka_rebalance.verify import verify_plan
from rebalance_advisor.kafka.read_cluster import read_cluster
from stack.kafka.cluster import ClusterSpec, KafkaCluster, start_cluster
from stack.kafka.security import ADMIN, ADMIN_PASSWORD, ADVISOR, ADVISOR_PASSWORD
from stack.kafka.tools import NEWEST, OLDER
from stack.kafka.traffic import fetch_topics
from stack.waiting import PATIENCE_S, wait_for
from tests.live.rights_cases import (
    CASES,
    HIDDEN_GROUP,
    HIDDEN_TOPIC,
    WHOLE,
    RightsCase,
    administrator,
    grant,
    java_login,
    login,
)

pytestmark = pytest.mark.live
PAGE = Path(__file__).parents[2] / "docs" / "connect.md"
NOTHING = RightsCase("nothing", tuple(Right))
AUDITED = re.compile(
    rf"Principal = User:{ADVISOR} is (\w+) operation = (\w+) .*?on resource = (\w+):\w+:(\S+) for request = (\w+)"
)
# As even as can be: each broker holds each partition, and leads a third.
EVEN = [[1, 2, 3], [2, 3, 1], [3, 1, 2]]
TOPICS = dict.fromkeys(("clicks", "orders", HIDDEN_TOPIC), EVEN)
# The new protocol's group reads both: Kafka 4.3 refuses all of it where one of its topics is hidden.
NEW_GROUP, SMALL_GROUP = "warehouse", "archive"


class Reader:
    """One member of the classic group, polling in a thread until it is stopped."""

    def __init__(self, cluster: KafkaCluster) -> None:
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._read, args=(cluster,), daemon=True)
        self._thread.start()

    def _read(self, cluster: KafkaCluster) -> None:
        from kafka import KafkaConsumer

        topics = (HIDDEN_TOPIC, "orders")
        consumer = KafkaConsumer(*topics, group_id=HIDDEN_GROUP, **login(cluster))
        fetch_topics(consumer, topics)
        while not self._stop.is_set():
            consumer.poll(timeout_ms=300)
        consumer.close()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join(PATIENCE_S)


@pytest.fixture(scope="module", params=[NEWEST, OLDER])
def secured(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaCluster]:
    """Three brokers, three even topics, and groups of both protocols that read them."""
    spec = ClusterSpec(version=request.param, is_secured=True, authorizer_log_level="debug")
    with start_cluster(spec, tmp_path_factory.mktemp("rights") / "cluster") as cluster:
        with administrator(cluster) as admin:
            topics = {name: {"assignments": dict(enumerate(rows))} for name, rows in TOPICS.items()}
            topics["clicks"]["configs"] = {"retention.ms": "86400000"}
            admin.create_topics(topics, wait_for_metadata=True)
        reader = Reader(cluster)
        assert cluster.admin_properties is not None
        settings = [*java_login(cluster.admin_properties), "group.protocol=consumer"]
        readers: list[subprocess.Popen[bytes]] = [
            cluster.tools.start_console_consumer(HIDDEN_TOPIC, NEW_GROUP, *settings),
            cluster.tools.start_console_consumer("orders", SMALL_GROUP, *settings),
        ]
        try:
            yield cluster
        finally:
            reader.stop()
            for process in readers:
                process.kill()
                process.wait()


def read(cluster: KafkaCluster, user: str = ADVISOR, password: str = ADVISOR_PASSWORD) -> ClusterSnapshot:
    assert cluster.certificates is not None
    given: dict[str, Any] = {
        "bootstrap.servers": cluster.bootstrap, "security.protocol": "SASL_SSL", "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": user, "sasl.password": password, "ssl.ca.location": str(cluster.certificates.authority),
    }  # fmt: skip
    return read_cluster(given, cluster_name="rights", now=datetime.now(UTC))


def settled(cluster: KafkaCluster) -> ClusterSnapshot:
    """What the super user sees once every group has its members and every broker its leaders."""

    def sizes(seen: ClusterSnapshot) -> dict[str, int]:
        return {group.id: len(group.members) for group in seen.groups if group.state == "Stable"}

    wanted = {HIDDEN_GROUP: 1, NEW_GROUP: 1, SMALL_GROUP: 1}.items()
    return wait_for(
        "three groups of one member", lambda: read(cluster, ADMIN, ADMIN_PASSWORD),
        until=lambda seen: wanted <= sizes(seen).items() and not seen.coverage,
        gist=lambda seen: (sizes(seen), seen.coverage), every_s=0.5,
    )  # fmt: skip


def with_rights(cluster: KafkaCluster, admin: Any, case: RightsCase) -> ClusterSnapshot:
    """A reading with these rights in which no broker was too late with an answer."""
    grant(cluster, admin, case)
    return wait_for(
        f"a reading with {case.name!r}", lambda: read(cluster),
        until=lambda seen: all(broker.state is not BrokerState.SILENT for broker in seen.brokers),
        gist=lambda seen: seen.coverage,
    )  # fmt: skip


def planned(snapshot: ClusterSnapshot) -> Plan:
    plan = make_plan(snapshot, PlanOptions(with_frontier=False))
    assert [str(fault) for fault in verify_plan(to_document(plan), snapshot).wrong] == []
    return plan


def unsaid(whole: ClusterSnapshot, seen: ClusterSnapshot) -> list[str]:
    """What the super user sees, the advisor does not, and no gap tells. Empty: all is said."""
    reported = {(gap.subject_type, gap.subject) for gap in seen.coverage}
    rights = missing_rights(seen.coverage)
    topics = {topic.name: topic for topic in seen.topics}
    groups = {group.id: group for group in seen.groups}
    brokers = {broker.id: broker for broker in seen.brokers}
    missing = []
    for topic in whole.topics:
        if topic.name not in topics:
            # A name that nobody betrays can be told by the right alone.
            is_said = ("topic", topic.name) in reported or Right.DESCRIBE_CLUSTER in rights
        else:
            is_said = topics[topic.name].configs == topic.configs or ("topic", topic.name) in reported
        missing += [] if is_said else [f"topic {topic.name}"]
    for group in whole.groups:
        result = groups.get(group.id)
        if result is None:
            is_said = Right.DESCRIBE_CLUSTER in rights
        else:
            same = len(result.members) == len(group.members)
            hidden = {commit.topic for commit in group.committed} - {commit.topic for commit in result.committed}
            is_said = ("group", group.id) in reported or (same and all(("topic", name) in reported for name in hidden))
        missing += [] if is_said else [f"group {group.id}"]
    for broker in whole.brokers:
        is_same = brokers[broker.id].configs == broker.configs and bool(brokers[broker.id].log_dirs)
        missing += [] if is_same or ("broker", str(broker.id)) in reported else [f"broker {broker.id}"]
    row_of = seen.row_of
    for row in whole.each_partition():
        if (row.topic, row.partition) in row_of:
            found_row = seen.partition(row_of[row.topic, row.partition])
            is_known = None not in (*found_row.log_bytes, found_row.start_offset, found_row.end_offset)
            is_said = (
                is_known
                or ("topic", row.topic) in reported
                or all(("broker", str(b)) in reported for b in row.replicas)
            )
            missing += [] if is_said else [f"partition {row.topic}-{row.partition}"]
    return missing


def shown(name: str, snapshot: ClusterSnapshot, plan: Plan) -> str:
    members = sum(len(group.members) for group in snapshot.groups)
    counts = f"{len(snapshot.topics):>6} {len(snapshot.groups):>6} {members:>7} {len(snapshot.coverage):>4}"
    rights = ", ".join(right.value for right in missing_rights(snapshot.coverage))
    return f"{name:<42}{counts}  {plan.verdict.value:<14} {rights or '-'}"


def test_nothing_that_is_missing_goes_unsaid_and_no_verdict_is_better_than_what_was_seen(
    secured: KafkaCluster, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = settled(secured)
    table = [f"Kafka {secured.spec.version}: rights{'topics':>27} groups members gaps  verdict        missing rights"]
    wrong: dict[str, object] = {}
    with administrator(secured) as admin:
        for case in (WHOLE, *CASES):
            seen = with_rights(secured, admin, case)
            plan = planned(seen)
            table.append(shown(case.name, seen, plan))
            rights = missing_rights(seen.coverage)
            lacks = set(case.lacks)
            lacks |= {Right.DESCRIBE_TOPICS} if case.denies_topic else set()
            lacks |= {Right.DESCRIBE_GROUPS} if case.denies_group else set()
            # Kafka 3 knows no configs of groups, so nothing is hidden without the right to see them.
            lacks -= {Right.GROUP_CONFIGS} if secured.spec.version.startswith("3.") else set()
            # Where a login sees no topic or group at all it cannot be refused one: Describe on Cluster says that.
            surely = lacks if seen.topics and seen.groups else lacks & {Right.DESCRIBE_CLUSTER, Right.BROKER_CONFIGS}
            is_right = surely <= set(rights) <= lacks and plan.verdict.value == case.verdict
            commands = [right.command for right in rights] if plan.verdict.value == "cannot_tell" else []
            text = " ".join(render_all(plan.reasons))
            if not is_right or unsaid(whole, seen) or not all(command in text for command in commands):
                wrong[case.name] = (rights, plan.verdict, unsaid(whole, seen), plan.reasons)
    with capsys.disabled():
        print("", *table, sep="\n")
    assert wrong == {}


def grant_as_documented(cluster: KafkaCluster, admin: Any) -> None:
    """Run the commands of the page, and nothing else, by Kafka's own tool."""
    grant(cluster, admin, NOTHING)
    commands = re.findall(r"(?m)^kafka-acls.sh --bootstrap-server HOST:PORT (--add .*)$", PAGE.read_text("utf-8"))
    assert len(commands) == 3
    for command in commands:
        text = shlex.split(command.replace("User:NAME", f"User:{ADVISOR}"))
        if "--group" in text and cluster.spec.version.startswith("3."):  # the page: brokers before 4.0 know none
            text = shlex.split(shlex.join(text).replace(" --operation DescribeConfigs", ""))
        cluster.tools.acls(*text)


def audited(cluster: KafkaCluster, since: dict[Path, str]) -> set[tuple[str, ...]]:
    """(result, operation, kind, name, request) of what every node's authorizer has said of the advisor since then."""
    return {row for path, text in cluster.logged().items() for row in AUDITED.findall(text[len(since[path]) :])}


def test_the_documented_login_reads_all_and_the_authorizers_log_holds_no_write_and_no_denial(
    secured: KafkaCluster, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = settled(secured)
    with administrator(secured) as admin:
        before = secured.logged()
        grant(secured, admin, NOTHING)
        read(secured)
        # The log tells: without rights the same reading is denied.
        assert {row[0] for row in audited(secured, before)} == {"Denied"}
        grant_as_documented(secured, admin)
    # Rules reach each broker in its own time.
    wait_for(
        "the rules to reach each broker", lambda: read(secured).coverage, until=lambda gaps: not gaps,
    )  # fmt: skip
    before = secured.logged()
    seen = read(secured)
    said = audited(secured, before)
    with capsys.disabled():
        print(f"\nKafka {secured.spec.version}, the authorizers' log of one reading:")
        print(*sorted({f"  {row[0]} {row[1]} on {row[2]} for {row[4]}" for row in said}), sep="\n")
    assert (seen.coverage, unsaid(whole, seen)) == ((), [])
    assert [len(seen.topics), len(seen.groups), len(seen.partitions)] == [
        len(whole.topics),
        len(whole.groups),
        len(whole.partitions),
    ]
    assert {group.id: len(group.members) for group in seen.groups} == {
        group.id: len(group.members) for group in whole.groups
    }
    assert {row[0] for row in said} == {"Allowed"}
    assert {row[1].replace("_", "").lower() for row in said} == {"describe", "describeconfigs"}
    assert {row[2] for row in said} == {"Cluster", "Topic", "Group"}
