"""One advisory as a document, from which every file, page and row is rendered.

Changes (``with_changes``) go by finding key, also of symptoms. Example: the earlier advisory had a and b, and c was
resolved before; this one has a, c and d: a persists, b is resolved, c is reopened, d is new.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.findings.finding import NEW, PERSISTING, REOPENED, Finding
from kafka_rebalance.findings.group_rules import findings_by_group, group_advice
from kafka_rebalance.groups.connect_workers import replay_connect_group
from kafka_rebalance.groups.group_replay import GroupReplay
from kafka_rebalance.groups.kinds import kind_of
from kafka_rebalance.groups.member_clients import group_client
from kafka_rebalance.groups.motion import motion_of
from kafka_rebalance.groups.rollover import rollover
from kafka_rebalance.groups.strategies import MIGRATED
from kafka_rebalance.groups.streams_tasks import MemberTaskCounts, StreamsReplay, StreamsScenario
from kafka_rebalance.placement.topic_replay import TopicReplay
from kafka_rebalance.plans.hours_outside import HoursOutside
from kafka_rebalance.plans.plan import Plan
from kafka_rebalance.scoring.scores import ClusterScores, GroupScore, MemberScore
from kafka_rebalance.scoring.snapshot_scores import score_failures
from kafka_rebalance.snapshot import codec
from kafka_rebalance.snapshot.figures import LoadKind
from kafka_rebalance.snapshot.group import Group, GroupType
from kafka_rebalance.snapshot.model import ClusterSnapshot


def consumer_protocol(replay: GroupReplay) -> Fact | None:
    """Return the outlook under the server assignor with the smaller fullest member, then fewer moves; None: not
    replayed.
    """
    scored = [score for score in replay.scores[1:] if score.assignor in MIGRATED and score.error is None]
    if not scored:
        return None
    best = min(scored, key=lambda score: (_level(score), score.partitions_moved or 0))
    dies, dies_today = _crash(replay, best.assignor), _crash(replay, replay.today.assignor)
    is_compared = dies is not None and dies_today is not None
    return fact(
        FactCode.CONSUMER_PROTOCOL,
        assignor=best.assignor.removeprefix("consumer/"),
        skew=_level(best),
        skew_today=_level(replay.today),
        partitions_moved=best.partitions_moved or 0,
        member_dies=dies if is_compared else None,
        member_dies_today=dies_today if is_compared else None,
    )


def _level(score: GroupScore) -> float:
    return float((score.skew_count if score.skew_rate is None else score.skew_rate) or 0.0)


def _crash(replay: GroupReplay, assignor: str) -> Fact | None:
    rows = (row for row in replay.scenarios if (row.scenario, row.assignor) == ("member_crashes", assignor))
    row = next((row for row in rows if row.error is None), None)
    if row is None:
        return None
    pause = row.longest_pause_ms
    return fact(FactCode.PARTITIONS_WAIT, partitions=row.partitions_unread or 0, longest_pause_ms=pause)


def rollover_steps(
    replay: GroupReplay, group: Group, kafka_version: str | None, strategy: str | None = None
) -> tuple[Fact, ...]:
    """Return the numbered steps, then what may be read twice.

    ``strategy``: such as ``consumer/uniform`` (KIP-848). Default: the recommended one.
    """
    kind = kind_of(group)
    if not kind.has_choice:
        return (fact(FactCode.CANNOT_CHANGE_KIND, kind=kind.value),) if strategy else ()
    if (motion := motion_of(group)) is not None:
        return (motion.fact(FactCode.CANNOT_CHANGE_NOW),) if strategy else ()
    is_server = group.type is GroupType.CONSUMER
    target = strategy or replay.advised
    if target is None:
        return ()
    is_server = target in MIGRATED if strategy and not is_server else is_server
    migration = rollover(
        group, group_client(group), target.removeprefix("consumer/"), is_server=is_server, kafka_version=kafka_version
    )
    return migration.facts()


FORMAT_VERSION = 1


def advisory_document(
    snapshot: ClusterSnapshot,
    plan: Plan,
    findings: Sequence[Finding],
    groups: Sequence[GroupReplay],
    topics: Sequence[TopicReplay] = (),
    scores: ClusterScores | None = None,
    hours: HoursOutside | None = None,
) -> dict[str, Any]:
    """Return the JSON of one advisory; ``groups.json`` and ``topics.json`` are parts of it."""
    group_of, findings_of = {group.id: group for group in snapshot.groups}, findings_by_group(findings)
    document = {} if hours is None else {"hours_outside": hours.document()}
    return document | {
        "format_version": FORMAT_VERSION,
        "cluster": snapshot.cluster,
        "cluster_id": snapshot.cluster_id,
        "captured_at": plan.captured_at,
        "size": size_of(snapshot),
        "loads": {kind: source.document() for kind, source in load_sources(snapshot).items()},
        "also_measured": [] if scores is None else also_measured(scores, plan),
        "coverage": [codec.gap_document(gap) for gap in snapshot.coverage],
        "after_failure": [asdict(score) for score in score_failures(snapshot)],
        "plan": plan.document,
        "findings": [finding_document(finding) for finding in findings],
        "groups": [
            group_document(
                replay, group_of[replay.group_id], findings_of.get(replay.group_id, ()), snapshot.kafka_version
            )
            for replay in groups
        ],
        "topics": [topic_document(topic) for topic in topics],
    }


def finding_document(finding: Finding) -> dict[str, Any]:
    return {
        "finding_key": finding.finding_key,
        "severity": finding.severity.value,
        "subject_type": finding.subject_type.value,
        "subject": finding.subject,
        "code": finding.code,
        "actor": finding.actor.value,
        "evidence": dict(finding.evidence),
        "recommendation": finding.recommendation.document(),
        "cost": _document(finding.cost),
        "gain": finding.gain,
        "confidence": finding.confidence.value,
        **_same(finding, "team", "channel", "tier"),
        "muted_until": None if finding.muted_until is None else finding.muted_until.isoformat(),
        **_same(finding, "mute_reason", "cost_bytes", "cost_changes"),
        "symptoms": [finding_document(symptom) for symptom in finding.symptoms],
    }


def group_document(
    replay: GroupReplay, group: Group, findings: Sequence[Finding] = (), kafka_version: str | None = None
) -> dict[str, Any]:
    """Return one entry of ``groups.json``; ``findings`` are those about the group."""
    today, kind, motion = replay.today, kind_of(group), motion_of(group)
    assignors = {today.assignor, replay.advised}
    migrated = consumer_protocol(replay) if motion is None and kind.has_choice else None
    workers = replay_connect_group(group)
    document = {} if workers is None else {"connect": workers.document()}
    return (
        document
        | {
            "group": replay.group_id,
            "type": group.type.value,
            "kind": kind.value,
            "state": group.state,
            "coordinator": group.coordinator,
            "members": max(today.members, group.member_count or 0),
            "partitions": today.partitions if motion is None else today.partitions or None,
            "assignor": group.protocol,
            "version": _document(today.version),
            "subscriptions_from": replay.basis.value,
            "is_reproduced": replay.is_reproduced,
            **_same(today, "idle_members", "skew_count", "skew_rate", "skew_lag", *_READS),
            "advised": replay.advised,
            "advice": group_advice(replay, group, findings).document(),
            "consumer_protocol": None if migrated is None else migrated.document(),
            "rollover": [step.document() for step in rollover_steps(replay, group, kafka_version)],
            "strategies": [_strategy_document(score) for score in replay.scores[1:]],
            "scenarios": [_scenario_document(score) for score in replay.scenarios if score.assignor in assignors],
            "readers": [_member_document(member) for member in replay.members],
        }
        | ({} if replay.streams is None else {"streams": streams_document(replay.streams)})
    )


def streams_document(replay: StreamsReplay) -> dict[str, Any]:
    """Tasks of a Streams group by member and instance, and scenario rows. A rack of an instance is one that a member
    names.
    """
    by_process: dict[str, list[MemberTaskCounts]] = {}
    for member in replay.members:
        if member.process_id is not None:
            by_process.setdefault(member.process_id, []).append(member)
    return {
        "standby_replicas": replay.standby_replicas,
        "missing": list(replay.missing),
        "is_reproduced": replay.is_reproduced,
        "summary": [streams_fact.document() for streams_fact in streams_facts(replay)],
        "members": [asdict(member) for member in replay.members],
        "instances": [
            {
                "process_id": process_id,
                "racks": sorted({member.rack for member in members if member.rack is not None}),
                "members": len(members),
                **{kind: sum(getattr(member, kind) for member in members) for kind in ("active", "standby", "warmup")},
            }
            for process_id, members in sorted(by_process.items())
        ],
        "scenarios": [asdict(row) | {"instances": list(row.instances)} for row in replay.rows],
    }


def streams_facts(replay: StreamsReplay) -> tuple[Fact, ...]:
    """Return today's tasks, then changes by the next target, a death and a join, or their gap."""
    facts = []
    if (today := replay.today) is not None:
        facts.append(
            fact(
                FactCode.STREAMS_TASKS,
                members=today.members,
                instances=today.processes,
                active=today.active_tasks,
                standby=today.standby_tasks,
                warmup=today.warmup_tasks,
                most=today.most_active,
                least=today.least_active,
                idle=today.idle_members,
                standbys_missing=today.standbys_missing,
            )
        )
    if replay.missing:
        facts.append(fact(FactCode.STREAMS_NOT_REPLAYED, inputs=tuple(part.value for part in replay.missing)))
    if replay.at_rest is not None:
        facts.append(
            fact(
                FactCode.STREAMS_AT_REST,
                standby_replicas=replay.at_rest.standby_replicas,
                tags=sorted({tag for tags in replay.at_rest.tags for tag in tags}),
                unknown=tuple(scenario.value for scenario in replay.at_rest.unknown),
            )
        )
    if (after := replay.worst_of(StreamsScenario.NEXT_TARGET)) is not None:
        facts.append(
            fact(
                FactCode.STREAMS_NEXT_TARGET,
                moved=after.active_moved,
                restored=after.active_restored,
                standbys_restored=after.standbys_restored,
            )
        )
    if (dies := replay.worst_of(StreamsScenario.INSTANCE_DIES)) is not None:
        facts.append(
            fact(
                FactCode.STREAMS_INSTANCE_DIES,
                instance=dies.instances[0],
                variants=len(replay.rows_of(StreamsScenario.INSTANCE_DIES)),
                active=dies.active_of_instances,
                moved=dies.active_moved,
                restored=dies.active_restored,
                standbys_restored=dies.standbys_restored,
            )
        )
    if (joins := replay.worst_of(StreamsScenario.INSTANCE_JOINS)) is not None:
        facts.append(
            fact(
                FactCode.STREAMS_INSTANCE_JOINS,
                variants=len(replay.rows_of(StreamsScenario.INSTANCE_JOINS)),
                active=joins.active_of_instances,
                standby=joins.standbys_of_instances,
                moved=joins.active_moved,
                restored=joins.active_restored,
            )
        )
    return tuple(facts)


def topic_document(replay: TopicReplay) -> dict[str, Any]:
    today, placed = replay.current, replay.placed
    return {
        "topic": replay.topic,
        "today": {"replica_skew": today.replica_skew, "leader_skew": today.leader_skew, "disk_skew": today.disk_skew},
        "placer": "striped",
        "seeds": len(placed),
        "median_replica_skew": replay.median_replica_skew,
        "fewest_replica_moves": min((placement.replica_moves for placement in placed), default=None),
        "fewest_bytes_to_move": min(
            (placement.bytes_to_move for placement in placed if placement.bytes_to_move is not None), default=None
        ),
        "error": _document(replay.error),
    }


def _strategy_document(score: GroupScore) -> dict[str, Any]:
    return {
        "assignor": score.assignor,
        "version": _document(score.version),
        **_same(score, "is_advised", "idle_members", "skew_count", "skew_rate", "skew_lag", "partitions_moved"),
        **_same(score, *_READS),
        "error": _document(score.error),
    }


def _scenario_document(score: GroupScore) -> dict[str, Any]:
    names = (
        "scenario", "assignor", "subject", "variants", "members", "partitions", "idle_members", "skew_count",
        "skew_rate", "partitions_moved", "mean_partitions_moved", "partitions_revoked", "partitions_unread",
        "longest_pause_ms", "unread_partition_ms", "partitions_without_reader", "drain_seconds", "error",
    )  # fmt: skip
    facts = {"subject": _document(score.subject), "error": _document(score.error)}
    return _same(score, *names) | facts


def _document(optional_fact: Fact | None) -> dict[str, Any] | None:
    return None if optional_fact is None else optional_fact.document()


_READS = ("drain_seconds", "members_falling_behind", "same_rack_ratio", "leader_in_rack_ratio")


def _same(record: Any, *names: str) -> dict[str, Any]:
    """Return the attributes that keep their names in the document."""
    return {name: getattr(record, name) for name in names}


def _member_document(score: MemberScore) -> dict[str, Any]:
    names = ("instance_id", "partitions", "in_bytes_per_s", "lag_messages", "drain_seconds", "is_falling_behind")
    return {**_same(score, "assignor", "is_current"), "member": score.member_id, **_same(score, *names)}


def also_measured(scores: ClusterScores, plan: Plan) -> list[dict[str, Any]]:
    covered = {outcome.resource for outcome in plan.resources} | plan.left_out.keys()
    return [
        {
            **_same(score, "resource", "unit", "source", "plain_mean", "skew", "worst_broker"),
            "brokers": {
                str(broker_score.broker): broker_score.load for broker_score in scores.of_resource(score.resource)
            },
        }
        for score in scores.resources
        if score.resource not in covered
    ]


def size_of(snapshot: ClusterSnapshot) -> dict[str, int]:
    return {
        "brokers": len(snapshot.brokers),
        "racks": len({broker.rack for broker in snapshot.brokers if broker.rack is not None}),
        "topics": len(snapshot.topics),
        "partitions": len(snapshot.partitions),
        "replicas": len(snapshot.partitions.replicas),
        "groups": len(snapshot.groups),
    }


def load_sources(snapshot: ClusterSnapshot) -> dict[str, Fact]:
    has_sizes = bool((snapshot.partitions.replica_log_bytes >= 0).any())
    sources: dict[str, Fact] = {}
    for kind in LoadKind:
        column = snapshot.loads.column(kind)
        if column is not None:
            sources[kind.value] = fact(
                FactCode.LOAD_SOURCE,
                source=column.source.value,
                window_s=column.window_s,
                is_of_history=column.source.is_of_history,
                known_ratio=float(column.known_share),
            )
        else:
            is_of_log_dirs = kind is LoadKind.LOG_BYTES and has_sizes
            sources[kind.value] = fact(FactCode.LOAD_OF_LOG_DIRS if is_of_log_dirs else FactCode.LOAD_MISSING)
    return sources


Document = Mapping[str, Any]
_OF_RESOLVED = ("finding_key", "code", "severity", "subject_type", "subject", "recommendation")


def with_changes(advisory: Document, earlier: Sequence[Document], closed_earlier: Sequence[str] = ()) -> dict[str, Any]:
    """Return the advisory with ``change`` in each finding, ``resolved`` findings and ``closed`` keys.

    ``earlier``: findings of the earlier advisory; ``closed_earlier``: keys resolved by then.
    """
    before, now = set(_keys(earlier)), set(_keys(advisory["findings"]))
    resolved = [
        {name: finding[name] for name in _OF_RESOLVED} for finding in earlier if finding["finding_key"] not in now
    ]
    closed = {*closed_earlier, *before} - now
    findings = [
        {**finding, "change": _change(finding["finding_key"], before, closed_earlier)}
        for finding in advisory["findings"]
    ]
    return {**advisory, "findings": findings, "resolved": resolved, "closed_findings": sorted(closed)}


def _change(key: str, before: set[str], closed_earlier: Sequence[str]) -> str:
    if key in before:
        return PERSISTING
    return REOPENED if key in closed_earlier else NEW


def _keys(findings: Sequence[Document]) -> Iterator[str]:
    for finding in findings:
        yield finding["finding_key"]
        yield from _keys(finding.get("symptoms", ()))
