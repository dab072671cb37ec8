from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from kafka_assignors.errors import EndlessReassignmentError
from kafka_rebalance.advisory.advisory import (
    advisory_document,
    also_measured,
    finding_document,
    group_document,
    load_sources,
    size_of,
    streams_document,
    topic_document,
)
from kafka_rebalance.facts import Fact, FactCode, fact, refusal_of
from kafka_rebalance.findings.finding import Confidence, Finding, Severity, SubjectType
from kafka_rebalance.groups.group_replay import GroupReplay
from kafka_rebalance.groups.streams_tasks import (
    MemberTaskCounts,
    MissingPart,
    StreamsReplay,
    StreamsScenario,
    StreamsScore,
)
from kafka_rebalance.groups.subscriptions import SubscriptionBasis
from kafka_rebalance.placement.topic_replay import TopicReplay
from kafka_rebalance.plans.plan import Cost, Plan, Verdict, to_document
from kafka_rebalance.render import render
from kafka_rebalance.scoring.scores import (
    BrokerScore,
    ClusterScores,
    GroupScore,
    MemberScore,
    ResourceScore,
    TopicPlacementScore,
)
from kafka_rebalance.snapshot.figures import LoadKind, LoadSource
from kafka_rebalance.snapshot.model import (
    Broker,
    ClusterSnapshot,
    Group,
    Member,
    Partition,
    Topic,
    partition_table,
)
from kafka_rebalance.snapshot.partition_table import LoadColumn, PartitionLoads
from tests.coverage_gaps import gap_of

PLAN = Plan(
    cluster="c", verdict=Verdict.NOTHING_TO_DO, reasons=(fact(FactCode.ALL_INSIDE_BAND),), snapshot_id="s",
    cost=Cost(0, 0, 0, 0.0, None), captured_at="2026-11-20T06:00:00Z",
)  # fmt: skip


@pytest.fixture
def snapshot() -> ClusterSnapshot:
    """Three brokers in two racks (one has none), three partitions with five replicas, one rate of three known."""
    rows = [Partition("t", 0, (1, 2), 1), Partition("t", 1, (2, 3), 2), Partition("u", 0, (3,), 3)]
    rates = LoadColumn(np.array([5.0, np.nan, np.nan]), LoadSource.LOG_DIR_GROWTH, 60.0)
    return ClusterSnapshot(
        cluster="c", cluster_id="id", brokers=(Broker(1, "a"), Broker(2, "b"), Broker(3)),
        topics=(Topic("t"), Topic("u")), partitions=partition_table(rows, {"t": 0, "u": 1}),
        groups=(Group("readers", protocol="range", state="Stable", coordinator=2, members=(Member("m1"),)),),
        loads=PartitionLoads({LoadKind.IN_BYTES_PER_S: rates}), captured_at=datetime(2026, 11, 20, 6, tzinfo=UTC),
        coverage=(gap_of("group", "secret", FactCode.LACKS_MEMBERS, "no right"),),
    )  # fmt: skip


def test_size_counts_racks_that_are_known_and_replicas_of_all_partitions(snapshot: ClusterSnapshot) -> None:
    assert size_of(snapshot) == {
        "brokers": 3, "racks": 2, "topics": 2, "partitions": 3, "replicas": 5, "groups": 1,
    }  # fmt: skip


def test_a_load_is_told_with_its_source_its_time_and_how_much_of_it_is_known(snapshot: ClusterSnapshot) -> None:
    sources = load_sources(snapshot)
    assert sources["in_bytes_per_s"] == fact(
        FactCode.LOAD_SOURCE, source="log_dir_growth", window_s=60.0, is_of_history=False,
        known_ratio=pytest.approx(1 / 3),
    )  # fmt: skip
    assert sources["log_bytes"] == sources["cpu_percent"] == fact(FactCode.LOAD_MISSING)
    assert list(sources) == [kind.value for kind in LoadKind]


def test_sizes_of_replicas_are_a_load_also_without_a_column_of_their_own(snapshot: ClusterSnapshot) -> None:
    sized = partition_table([Partition("t", 0, (1, 2), 1, log_bytes=(7, None))], {"t": 0})
    of_dirs = load_sources(replace(snapshot, partitions=sized, loads=PartitionLoads()))
    assert of_dirs["log_bytes"] == fact(FactCode.LOAD_OF_LOG_DIRS)
    given = PartitionLoads({LoadKind.LOG_BYTES: LoadColumn(np.ones(3), LoadSource.GIVEN)})
    assert load_sources(replace(snapshot, loads=given))["log_bytes"].args["source"] == "given"


FINDING = Finding(
    "idle_members",
    Severity.LOW,
    SubjectType.GROUP,
    "readers",
    {"idle": 2},
    fact(FactCode.LEARN_STRATEGY, group="readers"),
    confidence=Confidence.STRUCTURAL,
)


def test_a_finding_keeps_its_facts_and_enums_become_text() -> None:
    document = finding_document(FINDING)
    assert document["finding_key"] == "idle_members:group:readers"
    assert (document["severity"], document["subject_type"], document["confidence"]) == ("low", "group", "structural")
    assert (document["evidence"], document["cost"]) == ({"idle": 2}, None)
    assert document["recommendation"] == {"code": "learn_strategy", "args": {"group": "readers"}}
    cause = replace(FINDING, code="sticky_endless", cost_changes=3, symptoms=(FINDING,))
    reported = finding_document(cause)
    assert (reported["cost_bytes"], reported["cost_changes"], reported["symptoms"]) == (0.0, 3, [document])
    assert document["symptoms"] == []


def score(assignor: str, **fields: object) -> GroupScore:
    parts: dict[str, object] = {"version": None, "is_current": False, "members": 3, "partitions": 6}
    return GroupScore("readers", assignor, **(parts | fields))


TODAY = score("range", is_current=True, idle_members=1, skew_count=1.5, skew_rate=None, members_falling_behind=1)
IN_RACK = {"same_rack_ratio": 0.5, "leader_in_rack_ratio": 0.25}
OTHERS = (
    score("roundrobin", idle_members=0, skew_count=1.0, partitions_moved=4, is_advised=True, drain_seconds=90.0,
          members_falling_behind=0, **IN_RACK),
    score("sticky", error=refusal_of(EndlessReassignmentError())),
)  # fmt: skip
MEMBER = MemberScore("readers", "range", True, False, "m1", "pod-1", "a", 4, None, None, 9, None, True)
REPLAY = GroupReplay("readers", SubscriptionBasis.AS_READ, True, (TODAY, *OTHERS), (MEMBER,), "roundrobin")
GROUP = Group("readers", protocol="range", state="Stable", coordinator=2, members=(Member("m1"),))


def test_a_group_is_told_as_it_is_today_with_the_other_strategies_and_the_advice() -> None:
    document = group_document(REPLAY, GROUP)
    assert (document["group"], document["type"], document["coordinator"]) == ("readers", "classic", 2)
    assert (document["members"], document["partitions"], document["idle_members"]) == (3, 6, 1)
    assert (document["skew_count"], document["skew_rate"]) == (1.5, None)
    assert document["subscriptions_from"] == "as_read"
    advice = document["advice"]
    assert (advice["code"], advice["args"]["advised"], advice["args"]["partitions_moved"]) == (
        "change_strategy", "roundrobin", 4,
    )  # fmt: skip
    assert [row["assignor"] for row in document["strategies"]] == ["roundrobin", "sticky"]
    assert [(row["is_advised"], row["error"]) for row in document["strategies"]] == [
        (True, None), (False, refusal_of(EndlessReassignmentError()).document()),
    ]  # fmt: skip
    names = ("drain_seconds", "members_falling_behind", "same_rack_ratio", "leader_in_rack_ratio")
    assert [document[name] for name in names] == [None, 1, None, None]
    assert [document["strategies"][0][name] for name in names] == [90.0, 0, 0.5, 0.25]
    assert document["readers"] == [
        {
            "assignor": "range", "is_current": True, "member": "m1", "instance_id": "pod-1", "partitions": 4,
            "in_bytes_per_s": None, "lag_messages": 9, "drain_seconds": None, "is_falling_behind": True,
        }
    ]  # fmt: skip


def test_no_change_is_keep_with_a_reason_and_an_unknown_skew_is_left_out_of_the_words() -> None:
    kept = group_document(replace(REPLAY, advised=None), GROUP, [FINDING])
    assert (kept["advice"]["code"], kept["advice"]["args"]["see"]) == ("keep_strategy", ["idle_members"])
    assert kept["kind"] == "consumers"
    blank = replace(OTHERS[0], skew_count=None, idle_members=None)
    reported = group_document(replace(REPLAY, scores=(TODAY, blank)), GROUP)
    assert (reported["advice"]["args"]["idle_members"], reported["advice"]["args"]["skew_count"]) == (0, None)


def placed(seed: int, skew: float, moves: int, bytes_: int | None) -> TopicPlacementScore:
    return TopicPlacementScore("t", "striped" if seed else "current", seed, skew, 1.5, 2.0, moves, 0, bytes_, 0)


def test_a_topic_shows_the_middle_and_the_cheapest_of_what_the_placer_draws() -> None:
    """Skews 1.2, 1.0 and 1.6: the median is 1.2. The fewest moves and the fewest bytes may be of two draws."""
    draws = (placed(1, 1.2, 5, 90), placed(2, 1.0, 3, 100), placed(3, 1.6, 4, None))
    document = topic_document(TopicReplay("t", (placed(0, 1.4, 0, 0), *draws)))
    assert document == {
        "topic": "t", "today": {"replica_skew": 1.4, "leader_skew": 1.5, "disk_skew": 2.0}, "placer": "striped",
        "seeds": 3, "median_replica_skew": 1.2, "fewest_replica_moves": 3, "fewest_bytes_to_move": 90, "error": None,
    }  # fmt: skip


def test_a_topic_that_the_placer_refuses_has_the_reason_and_no_figures() -> None:
    document = topic_document(TopicReplay("t", (placed(0, 1.4, 0, 0),), fact(FactCode.NO_BROKER_TO_PLACE_ON)))
    assert (document["seeds"], document["error"]) == (0, {"code": "no_broker_to_place_on", "args": {}})
    assert {document[name] for name in ("median_replica_skew", "fewest_replica_moves", "fewest_bytes_to_move")} == {
        None
    }


def scored(resource: str) -> ClusterScores:
    brokers = tuple(
        BrokerScore(broker, None, resource, "bytes/s", load, None, load, load / 2, None, "given", True)
        for broker, load in ((1, 3.0), (2, 1.0))
    )
    return ClusterScores(brokers, (), (ResourceScore(resource, "bytes/s", "given", 1.0, 4.0, 2.0, 1.5, 1),))


def test_what_the_plan_is_not_about_is_measured_beside_it_and_what_it_left_out_is_not() -> None:
    (measured,) = also_measured(scored("leader_in"), PLAN)
    assert measured == {
        "resource": "leader_in", "unit": "bytes/s", "source": "given", "plain_mean": 2.0, "skew": 1.5,
        "worst_broker": 1, "brokers": {"1": 3.0, "2": 1.0},
    }  # fmt: skip
    assert (
        also_measured(
            scored("leader_in"),
            replace(PLAN, left_out={"leader_in": fact(FactCode.FIGURE_NOT_MEASURED, figure="in_bytes_per_s")}),
        )
        == []
    )


def test_all_parts_stand_in_one_document(snapshot: ClusterSnapshot) -> None:
    document = advisory_document(snapshot, PLAN, [FINDING], [REPLAY], [], scored("leader_in"))
    assert (document["format_version"], document["cluster"], document["cluster_id"]) == (1, "c", "id")
    assert document["captured_at"] == PLAN.captured_at
    assert document["plan"] == to_document(PLAN)
    assert document["findings"] == [finding_document(FINDING)]
    assert document["groups"] == [group_document(REPLAY, GROUP, [FINDING])]
    assert document["coverage"] == [
        {
            "subject_type": "group",
            "subject": "secret",
            "what": {"code": "lacks_members", "args": {}},
            "reason": {"code": "as_reported", "args": {"text": "no right"}},
        }
    ]
    assert [row["resource"] for row in document["also_measured"]] == ["leader_in"]
    assert advisory_document(snapshot, PLAN, [], [], [])["also_measured"] == []


def test_tasks_of_a_streams_group_stand_beside_it_and_what_is_unknown_is_named() -> None:
    """The brokers' release is unknown, so today's tasks are all that is told; no other group has the entry."""
    counts = {"active": 2, "standby": 0, "warmup": 1}
    members = tuple(MemberTaskCounts(member_id=name, process_id="p", rack=None, **counts) for name in ("a", "b"))
    today = StreamsScore(
        scenario=StreamsScenario.TODAY, instances=(), members=2, processes=1, active_tasks=4, standby_tasks=0,
        warmup_tasks=2, most_active=2, least_active=2, idle_members=0, standbys_missing=None,
    )  # fmt: skip
    replay = StreamsReplay("flow", (MissingPart.RELEASE,), (today,), None, members)
    document = streams_document(replay)
    assert document["missing"] == ["release"]
    instance = {"process_id": "p", "racks": [], "members": 2, "active": 4, "standby": 0, "warmup": 2}
    assert document["instances"] == [instance]
    release = "a release of the brokers that is replayed (Kafka 4.2 to 4.4)"
    assert [render(Fact.from_document(item)) for item in document["summary"]] == [
        "tasks: 4 active, 0 standby, 2 warm-up, on 2 threads on 1 instance; a thread has 2 active ones, 0 are idle",
        f"what an instance's death or join changes is unknown: the input lacks {release}",
    ]
    (row,) = document["scenarios"]
    assert (row["scenario"], row["most_active"], row["standbys_missing"]) == ("today", 2, None)
