"""From a snapshot to an advisory: score, replay, search, verify, find.

Tasks are independent: each topic, each group under each strategy, the plan, each frontier point. ``mapper`` runs them
(``map``, a process pool or Spark) and does not change the answer.

Finished findings get heavy keys, owners, mutes and the price of rack traffic.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any, ClassVar, TypeAlias

from kafka_rebalance.advisory.advisory import advisory_document
from kafka_rebalance.amounts import LEAST_PRICE
from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.findings.context import Evidence, Remedy, finding
from kafka_rebalance.findings.finding import Confidence, Finding, Severity, rank
from kafka_rebalance.findings.rules import evaluate_rules
from kafka_rebalance.groups.group_input import GroupInput, group_inputs
from kafka_rebalance.groups.group_replay import EVERYTHING, GroupReplay, ReplayOptions
from kafka_rebalance.groups.scenarios import STRATEGY_CHANGES, estimated_cost, split
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.options.values import HeavyKeyOf, MuteRule, OwnerRule
from kafka_rebalance.placement.topic_replay import (
    PlacementGround,
    TopicReplay,
    placement_brokers,
    placement_ground,
    replay_topic,
    topic_placements,
)
from kafka_rebalance.plans.hours_outside import HoursOutside, hours_outside
from kafka_rebalance.plans.params import DEFAULTS, PlanParams
from kafka_rebalance.plans.plan import Plan
from kafka_rebalance.plans.searches import Mapper, PlanQuestion, Search, Sent, at_frontier_point
from kafka_rebalance.plans.state import Progress, Watch, ignore
from kafka_rebalance.scoring.placement_scores import TopicPlacement
from kafka_rebalance.scoring.rack_traffic import Placed, PlacementChange, RackTraffic, rack_traffic
from kafka_rebalance.scoring.scores import ClusterScores
from kafka_rebalance.scoring.snapshot_scores import score_cluster
from kafka_rebalance.snapshot.history import HourlyLoads
from kafka_rebalance.snapshot.model import ClusterSnapshot, CoverageGap

_OF_A_PARTITION = "hot_partition"
_OF_A_GROUP = "group_hot_partition"


def with_heavy_keys(findings: Iterable[Finding], keys: Sequence[HeavyKeyOf]) -> tuple[Finding, ...]:
    by_partition: dict[str, HeavyKeyOf] = {}
    for key in sorted(keys, key=lambda key: key.share):
        by_partition[f"{key.topic}-{key.partition}"] = key
    return tuple(_with_heavy_key(finding, by_partition) for finding in findings)


def _with_heavy_key(finding: Finding, by_partition: Mapping[str, HeavyKeyOf]) -> Finding:
    symptoms = tuple(_with_heavy_key(symptom, by_partition) for symptom in finding.symptoms)
    if symptoms != finding.symptoms:
        finding = replace(finding, symptoms=symptoms)
    subject = finding.subject if finding.code == _OF_A_PARTITION else finding.evidence.get("partition")
    key = by_partition.get(str(subject)) if finding.code in (_OF_A_PARTITION, _OF_A_GROUP) else None
    if key is None:
        return finding
    evidence = dict(finding.evidence) | {"heaviest_key": key.key, "heaviest_key_share_ratio": key.share}
    advice = finding.recommendation
    return replace(
        finding,
        evidence={name: evidence[name] for name in sorted(evidence)},
        recommendation=fact(advice.code, **advice.args, heaviest_key=key.key, heaviest_key_share=key.share),
    )


def with_owners(
    findings: Iterable[Finding], owners: Sequence[OwnerRule], mutes: Sequence[MuteRule], at: datetime | None
) -> tuple[Finding, ...]:
    return rank([_mute(_owned_with_symptoms(finding, owners), mutes, at) for finding in findings])


def _owned_with_symptoms(finding: Finding, owners: Sequence[OwnerRule]) -> Finding:
    symptoms = tuple(_assign_owner(symptom, owners) for symptom in finding.symptoms)
    return replace(_assign_owner(finding, owners), symptoms=symptoms)


def _assign_owner(finding: Finding, owners: Sequence[OwnerRule]) -> Finding:
    for owner in owners:
        if owner.covers(finding.subject_type, finding.subject):
            return replace(finding, team=owner.team, channel=owner.channel, tier=owner.tier)
    return finding


def _mute(finding: Finding, mutes: Sequence[MuteRule], at: datetime | None) -> Finding:
    holding = [
        mute
        for mute in mutes
        if at is not None and at < mute.until and mute.covers(finding.code, finding.subject_type, finding.subject)
    ]
    longest = max(holding, key=lambda mute: mute.until, default=None)
    return finding if longest is None else replace(finding, muted_until=longest.until, mute_reason=longest.reason)


MONTH_S = 30 * 24 * 3600
GB = 1e9


def with_rack_price(
    findings: Iterable[Finding],
    snapshot: ClusterSnapshot,
    plan: Plan | None,
    price: float,
    replays: Sequence[GroupReplay] = (),
) -> tuple[Finding, ...]:
    """Add a finding; ``price`` of a GB (10^9 bytes) between two racks."""
    return rank([*findings, rack_traffic_price(snapshot, plan, price, replays)])


def rack_traffic_price(
    snapshot: ClusterSnapshot, plan: Plan | None, price: float, replays: Sequence[GroupReplay] = ()
) -> Finding:
    traffic, month = rack_traffic(snapshot), price * MONTH_S / GB
    after = traffic if plan is None or not plan.moves else rack_traffic(snapshot, change_of(plan, snapshot))
    now, planned = _Sums.of(traffic, month), _Sums.of(after, month)
    advised = sum(reads_as_advised(traffic, replays).values()) * month
    evidence: Evidence = {
        "price_per_gb": price,
        "replication_price_per_month": now.replication,
        "planned_replication_price_per_month": planned.replication,
        "reads_price_per_month": now.reads,
        "planned_reads_price_per_month": planned.reads,
        "reads_price_per_month_as_advised": advised,
        "reads_price_per_month_served_in_rack": now.served_in_rack,
        "partitions_unknown": traffic.unknown_partitions,
        "planned_partitions_unknown": after.unknown_partitions,
        "groups_unknown": traffic.unknown_groups,
        "members_unknown": traffic.unknown_members,
    }
    saved = now.reads - now.served_in_rack if traffic.is_selector_told else 0.0
    return finding(
        "rack_traffic_price",
        Severity.INFO,
        snapshot.cluster,
        evidence,
        Remedy(
            fact(
                FactCode.RACK_TRAFFIC_PRICE,
                replication=now.replication,
                planned_replication=planned.replication,
                reads=now.reads,
                planned_reads=planned.reads,
                reads_in_rack=now.served_in_rack,
                planned_reads_in_rack=planned.served_in_rack,
                reads_as_advised=advised,
                is_selector_known=traffic.is_selector_told,
                dearest_topics=_dearest(traffic.replication, month),
                dearest_groups=_dearest(traffic.reads, month),
                unknown_partitions=traffic.unknown_partitions,
                planned_unknown_partitions=after.unknown_partitions,
                unknown_groups=traffic.unknown_groups,
                unknown_members=traffic.unknown_members,
            ),
            gain=saved / (now.replication + now.reads) if saved >= LEAST_PRICE else 0.0,
        ),
        confidence=Confidence.MEASURED if now.replication + now.reads > 0 else Confidence.ESTIMATED,
    )


def change_of(plan: Plan, snapshot: ClusterSnapshot) -> PlacementChange:
    row_of = snapshot.row_of
    placed = {row_of[move.topic, move.partition]: Placed(move.leader_to, move.to_replicas) for move in plan.moves}
    added = plan.parameters.get("add_brokers", {})
    return PlacementChange(placed, {int(broker): rack for broker, rack in added.items()})


def reads_as_advised(traffic: RackTraffic, replays: Sequence[GroupReplay]) -> dict[str, float]:
    """Return each group's reads across racks under its recommended strategy, else as today."""
    reads = dict(traffic.reads)
    for replay in () if traffic.is_selecting is None else replays:
        best = None if replay.advised is None else replay.score(replay.advised)
        total = traffic.read_by_known.get(replay.group_id)
        if best is None or best.error is not None or total is None:
            continue
        inside = best.same_rack_ratio if traffic.is_selecting else best.leader_in_rack_ratio
        # A strategy that also reads unread partitions reads more than ``total``.
        if inside is not None and best.partitions_without_reader == replay.today.partitions_without_reader:
            reads[replay.group_id] = total * (1 - inside)
    return reads


@dataclass(frozen=True, slots=True)
class _Sums:
    replication: float
    reads: float
    served_in_rack: float

    @classmethod
    def of(cls, traffic: RackTraffic, month: float) -> _Sums:
        return cls(
            sum(traffic.replication.values()) * month,
            sum(traffic.reads.values()) * month,
            sum(traffic.reads_without_replica.values()) * month,
        )


def _dearest(costs: Mapping[str, float], month: float) -> tuple[tuple[str, float], ...]:
    largest = sorted(costs.items(), key=lambda item: (-item[1], item[0]))[:2]
    return tuple((name, value * month) for name, value in largest if value * month >= LEAST_PRICE)


_TOPIC_S, _PARTITION_S = 1e-4, 1e-5  # of a topic, of each partition
_GROUP_S = 5e-6  # of a unit of ``estimated_cost``


@dataclass(frozen=True, slots=True)
class AdviceRequest:
    """Options of an advisory. The plan uses the seed of ``replay``."""

    options: PlanOptions = field(default_factory=PlanOptions)
    replay: ReplayOptions = EVERYTHING
    owners: tuple[OwnerRule, ...] = ()
    mutes: tuple[MuteRule, ...] = ()
    heavy_keys: tuple[HeavyKeyOf, ...] = ()
    rack_byte_price: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Advice:
    snapshot: ClusterSnapshot
    scores: ClusterScores
    groups: tuple[GroupReplay, ...]
    topics: tuple[TopicReplay, ...]
    plan: Plan
    findings: tuple[Finding, ...]
    hours: HoursOutside | None = None

    def document(self) -> dict[str, Any]:
        return advisory_document(
            self.snapshot, self.plan, self.findings, self.groups, self.topics, self.scores, self.hours
        )


@dataclass(frozen=True, slots=True, eq=False)
class TopicTask:
    what: ClassVar[str] = "topics"
    today: TopicPlacement
    cost_s: float


@dataclass(frozen=True, slots=True, eq=False)
class GroupTask:
    """A group, or some scenarios of a giant one. Part 0 has today's rows."""

    what: ClassVar[str] = "groups"
    group_input: GroupInput
    replay_options: ReplayOptions
    part: int
    cost_s: float


Task: TypeAlias = Search | TopicTask | GroupTask


def advise(
    snapshot: ClusterSnapshot,
    request: AdviceRequest,
    *,
    mapper: Mapper = map,
    width: int = 1,
    previous: Mapping[str, Any] | None = None,
    hourly: HourlyLoads | None = None,
    quarantined: Sequence[CoverageGap] = (),
    unfit: tuple[Fact, ...] = (),
    advisor_version: str = "",
    progress: Progress = ignore,
    params: PlanParams = DEFAULTS,
    watch: Watch = ignore,
) -> Advice:
    """Return the advisory with its verified plan.

    width        tasks at once: larger groups are split
    previous     document of the last published plan
    hourly       the hours behind the snapshot's loads
    quarantined  gaps of the input gate: such groups get scores but no advice
    unfit        why no plan can rest on the snapshot: the verdict is ``cannot_tell``

    Raises UsageError for options that contradict the snapshot, InvalidPlanError where the plan fails verification.
    """
    known_clients = request.replay.with_client_overrides(snapshot)  # the client decides a group's steps
    question = PlanQuestion(snapshot, request.options, request.replay.seed, previous, advisor_version, unfit, params)
    ground = placement_ground(placement_brokers(snapshot))
    held = frozenset(gap.subject for gap in quarantined if gap.subject_type == "group")
    question = at_frontier_point(question, mapper=mapper, progress=progress)
    progress("scoring")
    scores = score_cluster(snapshot.with_capacities(request.options.capacities))
    tasks: tuple[Task, ...] = (
        *question.searches(), *topic_tasks(snapshot), *group_tasks(known_clients, request.replay, held, width)
    )  # fmt: skip
    answers = list(mapper(partial(_answer, Sent(question), ground, progress, watch), tasks))
    progress("verifying")
    plan = question.put_together(_of(Search, tasks, answers)).plan
    topics = tuple(_of(TopicTask, tasks, answers))
    groups = tuple(_whole_groups(tasks, answers, request.replay.scenarios))
    hours = hours_outside(snapshot, plan, hourly)
    gaps = (*quarantined, *(group.streams.gap for group in groups if group.streams and group.streams.gap))
    known_clients = replace(known_clients, coverage=(*known_clients.coverage, *gaps)) if gaps else known_clients
    sized = known_clients.with_capacities(request.options.capacities)
    findings = evaluate_rules(sized, scores, groups, plan, hours)
    if request.heavy_keys:
        findings = with_heavy_keys(findings, request.heavy_keys)
    if request.rack_byte_price is not None:
        findings = with_rack_price(findings, known_clients, plan, request.rack_byte_price, groups)
    findings = with_owners(findings, request.owners, request.mutes, snapshot.captured_at)
    return Advice(known_clients, scores, groups, topics, plan, findings, hours)


def topic_tasks(snapshot: ClusterSnapshot) -> Iterator[TopicTask]:
    for today in topic_placements(snapshot):
        yield TopicTask(today, _TOPIC_S + _PARTITION_S * len(today.replicas))


def group_tasks(
    snapshot: ClusterSnapshot, options: ReplayOptions, held: frozenset[str] = frozenset(), width: int = 1
) -> Iterator[GroupTask]:
    """A group that costs more than ``1/width`` of all is split into at most ``width`` tasks."""
    inputs = tuple(group_inputs(snapshot))
    costs = [_cost_s(group_input, options.scenarios) for group_input in inputs]
    fair = sum(costs) / width
    for group_input, cost in zip(inputs, costs, strict=True):
        if group_input.group.id in held:
            yield GroupTask(group_input, replace(options, scenarios=(), strategies=()), 0, _cost_s(group_input, ()))
            continue
        count = min(width, int(cost // fair)) if fair else 1
        shares = [options.scenarios]
        if count > 1 and options.scenarios:
            shares = split(options.scenarios, len(group_input.group.members), int(group_input.first_row[-1]), count)
        for part, share in enumerate(shares):
            yield GroupTask(group_input, replace(options, scenarios=share), part, _cost_s(group_input, share))


def _cost_s(group_input: GroupInput, scenarios: Sequence[str]) -> float:
    return _GROUP_S * estimated_cost(len(group_input.group.members), int(group_input.first_row[-1]), scenarios)


def _answer(question: Sent[PlanQuestion], ground: PlacementGround, progress: Progress, watch: Watch, task: Task) -> Any:
    if isinstance(task, TopicTask):
        progress("replaying placement")
        return replay_topic(task.today, ground)
    if isinstance(task, GroupTask):
        progress("replaying groups")
        return task.replay_options.replay(task.group_input)
    return question.value.answer(task, progress, watch)


def _of(kind: type[Task], tasks: Iterable[Task], answers: Iterable[Any]) -> Iterator[Any]:
    return (answer for task, answer in zip(tasks, answers, strict=True) if isinstance(task, kind))


def _whole_groups(
    tasks: Iterable[Task], answers: Iterable[GroupReplay], scenarios: Sequence[str]
) -> Iterator[GroupReplay]:
    rank_of = {name: number for number, name in enumerate(scenarios)} | {STRATEGY_CHANGES: len(scenarios)}
    parts: list[GroupReplay] = []
    answered = [(task, answer) for task, answer in zip(tasks, answers, strict=True) if isinstance(task, GroupTask)]
    for number, (_, answer) in enumerate(answered, start=1):
        parts.append(answer)
        if number == len(answered) or answered[number][0].part == 0:
            rows = sorted((row for part in parts for row in part.scenarios), key=lambda row: rank_of[row.scenario])
            yield replace(parts[0], scenarios=tuple(rows))
            parts = []
