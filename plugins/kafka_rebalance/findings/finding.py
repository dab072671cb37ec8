"""``Finding``, a fault or possible gain with evidence, and ``CODES``, the registry of codes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from kafka_assignors.errors import UnknownNameError
from kafka_rebalance.facts import Fact


class Severity(StrEnum):
    """Severity, worst first."""

    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"
    INFO = "info"
    OK = "ok"

    @property
    def rank(self) -> int:
        return list(Severity).index(self)


class Consequence(StrEnum):
    DATA_LOSS = "data_loss"  # one more failure may lose messages
    OUTAGE = "outage"  # no writes or reads, or a broker stops
    LAG = "lag"  # messages are read late, twice or not at all
    COST = "cost"  # money, disk or a member is wasted
    EVENNESS = "evenness"  # uneven work
    BLIND = "blind"  # missing data

    @property
    def rank(self) -> int:
        return list(Consequence).index(self)


class Actor(StrEnum):
    """Who settles a finding."""

    OPERATOR = "operator"  # of the cluster
    PLAN = "plan"  # of the same advisory
    OWNER = "owner"  # of the group, or of the clients that write and read
    NONE = "none"  # nothing has to be done


# Codes that say: begin no plan before this is settled, unless the plan settles it.
START_BLOCKERS = frozenset((
    "offline_partition", "below_min_isr", "under_replicated", "broker_not_heard", "reassignment_running",
    "reassignment_stuck", "throttle_left_over", "other_balancer",
))  # fmt: skip
NEW, PERSISTING, REOPENED = "new", "persisting", "reopened"  # since the advisory before


class SubjectType(StrEnum):
    """Subject of a finding."""

    CLUSTER = "cluster"
    BROKER = "broker"
    RACK = "rack"
    TOPIC = "topic"
    PARTITION = "partition"
    GROUP = "group"
    MEMBER = "member"
    COORDINATOR = "coordinator"
    PARTITIONER = "partitioner"
    PLAN = "plan"


class Confidence(StrEnum):
    """Basis of a finding."""

    MEASURED = "measured"
    GIVEN = "given"
    ESTIMATED = "estimated"
    STRUCTURAL = "structural"  # needs no load: racks, dead brokers, idle members


_OF_CLIENTS = frozenset(("hot_partition",))  # beside all codes of groups and members
_OF_RIGHTS = frozenset(("group_assignments_unknown",))


@dataclass(frozen=True, slots=True)
class FindingCode:
    """Kind of finding; thresholds are relative to the cluster, never in GB."""

    code: str
    subject_type: SubjectType
    consequence: Consequence
    rule: str
    thresholds: Mapping[str, float] = field(default_factory=dict)

    @property
    def actor(self) -> Actor:
        """Who settles it where no plan does."""
        is_of_group = self.subject_type in (SubjectType.GROUP, SubjectType.MEMBER) and self.code not in _OF_RIGHTS
        return Actor.OWNER if is_of_group or self.code in _OF_CLIENTS else Actor.OPERATOR


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding. ``gain`` ranks findings: the share of the harm that the remedy removes (0..1). Ties: fewer copied
    bytes, then fewer changes of leaders, readers and processes.

    ``evidence`` holds numbers with units in the key (``disk_bytes``), ids, codes, tuples of these. ``symptoms`` are
    findings that this one explains.
    """

    code: str
    severity: Severity
    subject_type: SubjectType
    subject: str
    evidence: Mapping[str, Any]
    recommendation: Fact
    actor: Actor = Actor.OPERATOR
    cost: Fact | None = None
    gain: float = 0.0
    confidence: Confidence = Confidence.MEASURED
    team: str | None = None
    channel: str | None = None
    tier: int | None = None
    muted_until: datetime | None = None
    mute_reason: str | None = None
    cost_bytes: float = 0.0
    cost_changes: int = 0
    symptoms: tuple[Finding, ...] = ()

    def __post_init__(self) -> None:
        if self.code not in CODES:
            raise UnknownNameError.among("finding code", self.code, CODES)

    @property
    def finding_key(self) -> str:
        return f"{self.code}:{self.subject_type}:{self.subject}"


def rank(findings: tuple[Finding, ...] | list[Finding]) -> tuple[Finding, ...]:
    """Sort by severity, consequence, gain, cost, key; muted ones last.

    Gains count in hundredths.
    """

    def sort_key(finding: Finding) -> tuple[bool, int, int, float, float, int, str]:
        return (
            finding.muted_until is not None,
            finding.severity.rank,
            CODES[finding.code].consequence.rank,
            -round(finding.gain, 2),
            finding.cost_bytes,
            finding.cost_changes,
            finding.finding_key,
        )

    return tuple(sorted(findings, key=sort_key))


def _code(
    code: str, subject_type: SubjectType, consequence: Consequence, rule: str, **thresholds: float
) -> tuple[str, FindingCode]:
    return code, FindingCode(code, subject_type, consequence, rule, thresholds)


CODES: dict[str, FindingCode] = dict(
    (
        _code(
            "broker_disk_over_share",
            SubjectType.BROKER,
            Consequence.EVENNESS,
            "disk level above the fair share by more than the threshold",
            over_share_ratio=1.10,
        ),
        _code(
            "broker_disk_full",
            SubjectType.BROKER,
            Consequence.OUTAGE,
            "the volumes under a broker's log dirs are nearly full; no room is left to move into it above high",
            used_ratio=0.85,
            critical_used_ratio=0.90,
        ),
        _code(
            "log_dir_full",
            SubjectType.BROKER,
            Consequence.OUTAGE,
            "one of a broker's disks is nearly full while another one has room",
            used_ratio=0.85,
            critical_used_ratio=0.90,
        ),
        _code(
            "broker_rate_over_share",
            SubjectType.BROKER,
            Consequence.EVENNESS,
            "in, out or cpu level above the fair share by more than the threshold",
            over_share_ratio=1.10,
        ),
        _code(
            "leaders_piled_up",
            SubjectType.BROKER,
            Consequence.EVENNESS,
            "leads more partitions than its fair share while it is not the preferred leader of all of them",
            over_share_ratio=1.25,
        ),
        _code(
            "leaders_over_share",
            SubjectType.BROKER,
            Consequence.EVENNESS,
            "leads more partitions, as their preferred leader, than its fair share, by a whole one at least",
            over_share_ratio=1.25,
        ),
        _code(
            "preferred_leaders_off",
            SubjectType.CLUSTER,
            Consequence.EVENNESS,
            "share of partitions whose leader is not the preferred one",
            off_ratio=0.05,
        ),
        _code(
            "preferred_order_uneven",
            SubjectType.CLUSTER,
            Consequence.EVENNESS,
            "an election of the preferred leaders would make leaders less even and give a broker more than its share",
            over_share_ratio=1.25,
        ),
        _code(
            "topic_on_few_brokers",
            SubjectType.TOPIC,
            Consequence.EVENNESS,
            "leaders, or all replicas, of a busy topic on few of the brokers that its partitions would suffice for",
            least_traffic_ratio=0.10,
            least_partitions=6,
            leader_share_ratio=0.9,
            leader_brokers_ratio=0.34,
            replica_brokers_ratio=0.5,
            high_traffic_ratio=0.25,
        ),
        _code(
            "broker_loss_overloads",
            SubjectType.BROKER,
            Consequence.OUTAGE,
            "the leaders of a broker, were it lost, would lift another above its capacity; the worst of all brokers",
            over_capacity_ratio=1.0,
            high_ratio=1.25,
        ),
        _code(
            "rack_loss_overloads",
            SubjectType.RACK,
            Consequence.OUTAGE,
            "the leaders of a rack, were it lost, would lift a broker above its capacity; the worst of all racks",
            over_capacity_ratio=1.0,
            high_ratio=1.25,
        ),
        _code(
            "rack_violated",
            SubjectType.TOPIC,
            Consequence.DATA_LOSS,
            "a partition's replicas share a rack though racks would suffice",
        ),
        _code(
            "hot_partition",
            SubjectType.PARTITION,
            Consequence.EVENNESS,
            "one partition carries a good part of what a mean broker does, and far more than its topic's others",
            share_of_broker_mean_ratio=0.25,
            times_topic_median_ratio=3.0,
        ),
        _code(
            "rack_traffic_price",
            SubjectType.CLUSTER,
            Consequence.COST,
            "cost of 30 days of traffic between racks; needs `--rack-byte-price`",
        ),
        _code(
            "dead_broker",
            SubjectType.BROKER,
            Consequence.DATA_LOSS,
            "replicas are placed on a broker that is dead or fenced",
        ),
        _code(
            "broker_not_heard",
            SubjectType.BROKER,
            Consequence.OUTAGE,
            "a registered broker did not answer to the end of the snapshot",
        ),
        _code(
            "stray_logs", SubjectType.BROKER, Consequence.COST, "a broker's log dirs hold logs that no replica list has"
        ),
        _code(
            "racks_unknown",
            SubjectType.CLUSTER,
            Consequence.BLIND,
            "some brokers have no rack although others have one",
        ),
        _code(
            "log_dir_offline",
            SubjectType.BROKER,
            Consequence.DATA_LOSS,
            "a log dir, or replicas of a broker that serves, are offline",
        ),
        _code(
            "single_replica",
            SubjectType.TOPIC,
            Consequence.DATA_LOSS,
            "partitions that have one replica though brokers would suffice for two",
        ),
        _code(
            "single_broker_rack",
            SubjectType.RACK,
            Consequence.DATA_LOSS,
            "a rack of one broker, where partitions have a replica in each rack: far more than a mean broker's there",
            over_mean_ratio=1.25,
        ),
        _code(
            "mixed_replication_factor",
            SubjectType.TOPIC,
            Consequence.DATA_LOSS,
            "partitions of a topic that have more or fewer replicas than most of it",
        ),
        _code(
            "below_min_isr",
            SubjectType.TOPIC,
            Consequence.OUTAGE,
            "partitions with fewer replicas in sync than min.insync.replicas: writes with acks=all fail",
        ),
        _code(
            "min_isr_at_replication_factor",
            SubjectType.TOPIC,
            Consequence.OUTAGE,
            "partitions of several replicas that must all be in sync (min.insync.replicas): one failure stops writes",
        ),
        _code(
            "under_replicated",
            SubjectType.TOPIC,
            Consequence.DATA_LOSS,
            "partitions whose ISR is smaller than their replicas",
        ),
        _code(
            "offline_partition",
            SubjectType.TOPIC,
            Consequence.OUTAGE,
            "partitions without a leader: no client can read or write them",
        ),
        _code(
            "group_in_motion",
            SubjectType.GROUP,
            Consequence.BLIND,
            "the group rebalances, is on its way to its target, is dead, or its state is unknown: it is not judged",
        ),
        _code(
            "group_assignments_unknown",
            SubjectType.GROUP,
            Consequence.BLIND,
            "the input does not show which partitions the members of a group have: it is not judged",
        ),
        _code(
            "idle_members",
            SubjectType.GROUP,
            Consequence.COST,
            "members that read nothing, and why: fewer partitions, the assignor, or their subscriptions",
            medium_idle_ratio=0.25,
        ),
        _code(
            "assignor_uneven",
            SubjectType.GROUP,
            Consequence.EVENNESS,
            "another assignor spreads this group's partitions better",
            skew_gain_ratio=1.25,
        ),
        _code(
            "uneven_by_rate",
            SubjectType.GROUP,
            Consequence.EVENNESS,
            "one member reads far more than the others by rate, and no assignor of Kafka would even that",
            skew_gain_ratio=1.5,
            medium_gain_ratio=2.0,
        ),
        _code(
            "uneven_per_topic",
            SubjectType.GROUP,
            Consequence.EVENNESS,
            "members have alike numbers of partitions, but one has far more of a topic than its even part",
            times_even_ratio=2.0,
            most_count_ratio=1.25,
        ),
        _code(
            "group_hot_partition",
            SubjectType.GROUP,
            Consequence.EVENNESS,
            "one partition alone is more than a mean member's part of what the group reads: no assignor can split it",
            times_mean_ratio=2.0,
            medium_share_ratio=0.5,
        ),
        _code(
            "server_assignor_uneven",
            SubjectType.GROUP,
            Consequence.EVENNESS,
            "another of the coordinator's assignors spreads this KIP-848 group's partitions better",
            skew_gain_ratio=1.25,
        ),
        _code(
            "rollover_half_done",
            SubjectType.GROUP,
            Consequence.LAG,
            "some members of a group speak KIP-848, others still the classic protocol",
        ),
        _code(
            "mixed_clients",
            SubjectType.GROUP,
            Consequence.LAG,
            "members of several client libraries share a group whose leader divides its partitions",
        ),
        _code(
            "server_uniform_may_throw",
            SubjectType.GROUP,
            Consequence.OUTAGE,
            "uniform of Kafka 3.8 and 3.9 fails in part of the groups whose members subscribe to different topics",
        ),
        _code(
            "share_group_behind",
            SubjectType.GROUP,
            Consequence.LAG,
            "a share group is behind by more than its topics' writers make in so many seconds",
            behind_seconds=600.0,
        ),
        _code(
            "streams_threads_idle",
            SubjectType.GROUP,
            Consequence.COST,
            "threads of a Kafka Streams application without a task: there are fewer tasks, or the assignor leaves them",
            medium_idle_ratio=0.25,
        ),
        _code(
            "streams_no_standby",
            SubjectType.GROUP,
            Consequence.LAG,
            "no task has a standby, changelogs hold this part of the cluster's bytes, and a death restores tasks",
            least_state_ratio=0.001,
            medium_state_ratio=0.01,
        ),
        _code(
            "streams_standbys_missing",
            SubjectType.GROUP,
            Consequence.LAG,
            "a Kafka Streams group asks for standbys that no instance has",
        ),
        _code(
            "streams_tasks_uneven",
            SubjectType.GROUP,
            Consequence.EVENNESS,
            "one thread of a Kafka Streams application has far more active tasks than another",
            least_difference=2.0,
            most_mean_ratio=1.25,
            medium_mean_ratio=2.0,
        ),
        _code(
            "streams_standbys_move",
            SubjectType.GROUP,
            Consequence.COST,
            "the next target of a Kafka Streams group moves standbys though nothing changed",
        ),
        _code(
            "connect_idle_workers",
            SubjectType.GROUP,
            Consequence.COST,
            "workers of a Connect cluster run nothing, and no rebalance would give them work",
        ),
        _code(
            "connect_uneven_workers",
            SubjectType.GROUP,
            Consequence.EVENNESS,
            "workers of a Connect cluster run unlike numbers of tasks, and a rebalance would even them out",
        ),
        _code(
            "static_members_partly",
            SubjectType.GROUP,
            Consequence.LAG,
            "some members have a group.instance.id, others none: each restart of these makes the whole group rebalance",
        ),
        _code(
            "static_membership",
            SubjectType.GROUP,
            Consequence.LAG,
            "a rolling restart leaves a partition unread for long in all, most of which static members would spare it",
            unread_seconds=60.0,
            saved_ratio=0.5,
        ),
        _code(
            "cross_rack_reads",
            SubjectType.GROUP,
            Consequence.COST,
            "another strategy, as even, would let members fetch more of what they read in their own rack",
            same_rack_more_ratio=0.2,
            medium_more_ratio=0.5,
        ),
        _code(
            "dead_static_member",
            SubjectType.GROUP,
            Consequence.LAG,
            "a static member keeps partitions that no member reads: written but not read in the window, or, where no "
            "rates were measured, all of them this many times further behind than any other member's",
            times_others_lag_ratio=10.0,
        ),
        _code(
            "coordinator_piled_up",
            SubjectType.COORDINATOR,
            Consequence.EVENNESS,
            "one broker coordinates far more groups than its share, and chance would hardly do that to any (Poisson)",
            over_share_ratio=2.0,
            chance_ratio=0.01,
        ),
        _code(
            "lag_growing",
            SubjectType.GROUP,
            Consequence.LAG,
            "the group reads slower than its topics are written (by bytes only where it is their one reader)",
            read_ratio=0.9,
        ),
        _code(
            "lag_concentrated",
            SubjectType.GROUP,
            Consequence.LAG,
            "few members, or few partitions of a topic (half at most), are this many times further behind than all "
            "others, and have most of the group's lag",
            times_others_lag_ratio=10.0,
            least_lag_messages=1000.0,
            share_of_lag_ratio=0.5,
            behind_seconds=60.0,
            medium_behind_seconds=600.0,
        ),
        _code(
            "partition_not_read",
            SubjectType.GROUP,
            Consequence.LAG,
            "partitions with a reader whose commits did not move between two snapshots while messages were written, "
            "and that are behind by so much writing, or where messages waited from the first on while their members "
            "read what was written later elsewhere",
            behind_seconds=300.0,
            least_waiting_messages=20.0,
        ),
        _code(
            "unread_partitions",
            SubjectType.GROUP,
            Consequence.LAG,
            "partitions of topics that the group reads or subscribes to, which no member has",
        ),
        _code(
            "topic_without_reader",
            SubjectType.GROUP,
            Consequence.LAG,
            "messages wait behind the group's commits of topics that no member reads or subscribes to",
        ),
        _code(
            "read_without_joining",
            SubjectType.GROUP,
            Consequence.LAG,
            "the commits of a group without members moved between two snapshots",
            behind_seconds=300.0,
        ),
        _code(
            "commit_out_of_range",
            SubjectType.GROUP,
            Consequence.LAG,
            "committed offsets lie beyond the end or below the start of their partitions",
        ),
        _code(
            "sticky_endless",
            SubjectType.GROUP,
            Consequence.OUTAGE,
            "Kafka's sticky assignor never returns from what the group's members hold now",
        ),
        _code(
            "mixed_static_members",
            SubjectType.GROUP,
            Consequence.LAG,
            "kafka-python 3 leaves members out of a group of which some have a group.instance.id and some have none",
        ),
        _code(
            "leader_may_crash",
            SubjectType.GROUP,
            Consequence.OUTAGE,
            "librdkafka's cooperative-sticky reads freed memory in some rebalances",
        ),
        _code(
            "unknown_topic_stops_group",
            SubjectType.GROUP,
            Consequence.LAG,
            "kafka-go gives no partition to any member of a group that subscribes to a topic that does not exist",
        ),
        _code(
            "shared_offsets",
            SubjectType.GROUP,
            Consequence.LAG,
            "several members of a group that is no share group read the same partition",
        ),
        _code(
            "throttle_left_over",
            SubjectType.CLUSTER,
            Consequence.OUTAGE,
            "replication throttles stand although nothing is reassigned",
        ),
        _code(
            "reassignment_running",
            SubjectType.CLUSTER,
            Consequence.EVENNESS,
            "replicas are being moved between brokers or log dirs",
        ),
        _code(
            "reassignment_stuck",
            SubjectType.CLUSTER,
            Consequence.OUTAGE,
            "replicas are to be built on a broker that is dead or fenced: the reassignment cannot end",
        ),
        _code(
            "other_balancer",
            SubjectType.CLUSTER,
            Consequence.EVENNESS,
            "another balancer left its traces: it may work against a plan",
        ),
        _code(
            "broker_cordoned",
            SubjectType.BROKER,
            Consequence.EVENNESS,
            "log dirs of a broker are cordoned: nothing new is placed there",
        ),
        _code(
            "load_unknown",
            SubjectType.CLUSTER,
            Consequence.BLIND,
            "a resource with unknown load is left out of advice",
        ),
        _code("coverage_gap", SubjectType.CLUSTER, Consequence.BLIND, "part of the cluster could not be read"),
        _code(
            "nothing_to_do",
            SubjectType.CLUSTER,
            Consequence.EVENNESS,
            "everything is within its allowed range, or moving does not pay",
        ),
        _code(
            "hours_outside_band",
            SubjectType.CLUSTER,
            Consequence.EVENNESS,
            "hours of the window with some broker outside its allowed range, and how many the plan would have left",
        ),
        _code(
            "cannot_tell",
            SubjectType.CLUSTER,
            Consequence.BLIND,
            "too little was seen, or too long ago, to tell whether anything has to move",
        ),
        _code(
            "not_fixable_by_moving",
            SubjectType.CLUSTER,
            Consequence.EVENNESS,
            "the imbalance stays whatever is moved; the cause is named",
        ),
    )
)
