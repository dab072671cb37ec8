"""Findings on brokers: losses, health, leaders."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from enum import StrEnum
from math import ceil
from typing import NamedTuple

import numpy as np

from kafka_assignors.arrays import Flags, Floats, Ints
from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.findings.context import MOST_NAMED, Evidence, FindingContext, Remedy, finding, threshold
from kafka_rebalance.findings.finding import CODES, Confidence, Finding, Severity
from kafka_rebalance.findings.plan_outcome import (
    copied_by_plan,
    moved_excess_ratio,
    plan_cost,
    plan_evidence,
    plan_outcome,
)
from kafka_rebalance.resources import ROWS
from kafka_rebalance.scoring.scores import BrokerScore, LoadAfterLoss, Losses, WorstLoss
from kafka_rebalance.snapshot.figures import LoadKind
from kafka_rebalance.snapshot.model import Broker, BrokerState


def broker_loss_overloads(context: FindingContext) -> Iterator[Finding]:
    """The broker whose loss lifts another furthest above capacity."""
    yield from _of_kind(context, "broker")


def rack_loss_overloads(context: FindingContext) -> Iterator[Finding]:
    """The rack whose loss lifts a broker furthest above capacity."""
    yield from _of_kind(context, "rack")


def _of_kind(context: FindingContext, kind: str) -> Iterator[Finding]:
    failure = None if context.plan is None else context.plan.after_failure
    if failure is None:
        return
    was, left = _load(failure.before, kind), _load(failure.after, kind)
    code = f"{kind}_loss_overloads"
    if was is None or was.ratio <= threshold(code, "over_capacity_ratio"):
        return
    row = ROWS[was.resource]
    evidence: Evidence = {
        f"{row.load_name}_afterwards": was.load,
        f"{row.load_name}_capacity": was.capacity,
        "over_capacity_ratio": was.ratio,
        "overloaded_broker": was.broker,
        "resource": was.resource,
        "over_capacity_ratio_after_plan": None if left is None else left.ratio,
    }
    moves = 0 if context.plan is None else len(context.plan.moves)
    yield finding(
        code,
        Severity.HIGH if was.ratio > threshold(code, "high_ratio") else Severity.MEDIUM,
        was.lost,
        evidence,
        Remedy(
            fact(
                FactCode.LOSS_OVERLOADS,
                **{kind: was.lost},
                overloaded_broker=was.broker,
                resource=was.resource,
                load=was.load,
                capacity=was.capacity,
                way=_way(left, kind, has_moves=moves > 0),
            ),
            cost=fact(FactCode.ORDER_COPIES_NOTHING),
            gain=0.0 if left is None else (was.ratio - left.ratio) / (was.ratio - 1),
        ),
        confidence=Confidence.STRUCTURAL if row.load is None else context.confidence(row.load),
    )


def _load(losses: Losses, kind: str) -> LoadAfterLoss | None:
    worst: WorstLoss | None = getattr(losses, kind)
    return None if worst is None else worst.load


def _way(left: LoadAfterLoss | None, kind: str, *, has_moves: bool) -> Fact:
    if not has_moves or left is None:
        return fact(FactCode.SPREAD_STANDBYS)
    if left.ratio <= 1:
        return fact(FactCode.PLAN_PREVENTS_OVERLOAD, kind=kind)
    return fact(FactCode.PLAN_LEAVES_OVERLOAD, kind=kind, lost=left.lost, broker=left.broker, times_capacity=left.ratio)


def broker_not_heard(context: FindingContext) -> Iterator[Finding]:
    """A registered broker did not answer: back in seconds, or dead."""
    table = context.snapshot.partitions
    for broker in context.snapshot.brokers:
        if not broker.state.is_unresponsive:
            continue
        held, led = int((table.replicas == broker.id).sum()), int((table.leader == broker.id).sum())
        yield finding(
            "broker_not_heard",
            Severity.HIGH,
            broker.id,
            {"replicas": held, "leaders": led, "state": broker.state.value},
            Remedy(
                fact(
                    FactCode.BROKER_NOT_HEARD,
                    broker=broker.id,
                    state=broker.state.value,
                    why=_why(broker),
                    replicas=held,
                    leaders=led,
                ),
                gain=1.0,
            ),
        )


def _why(broker: Broker) -> str | None:
    if broker.state is not BrokerState.UNRESPONSIVE:
        return None
    return "does_not_answer" if broker.log_dirs else "leads_nothing"


def stray_logs(context: FindingContext) -> Iterator[Finding]:
    """Logs outside all replica lists fill a disk; no plan moves them."""
    for broker in context.snapshot.brokers:
        dirs = [log_dir for log_dir in broker.log_dirs if log_dir.stray_logs]
        if not dirs:
            continue
        logs, size = sum(stray_dir.stray_logs for stray_dir in dirs), sum(stray_dir.stray_bytes for stray_dir in dirs)
        largest = max(dirs, key=lambda stray_dir: stray_dir.stray_bytes)
        yield finding(
            "stray_logs",
            Severity.MEDIUM,
            broker.id,
            {
                "logs": logs,
                "stray_bytes": size,
                "log_dirs": tuple(stray_dir.path for stray_dir in dirs),
                "example": largest.largest_stray,
            },
            Remedy(
                fact(
                    FactCode.STRAY_LOGS,
                    broker=broker.id,
                    logs=logs,
                    stray_bytes=size,
                    by_dir=tuple((stray_dir.path, stray_dir.stray_bytes) for stray_dir in dirs),
                    example=largest.largest_stray,
                ),
                gain=0.0,
            ),
        )


def log_dir_offline(context: FindingContext) -> Iterator[Finding]:
    """A disk failed: its broker is up, its replicas are offline with unknown sizes."""
    table = context.snapshot.partitions
    offline = Counter(broker for brokers in table.offline.values() for broker in brokers)
    for broker in context.snapshot.brokers:
        failed = [log_dir for log_dir in broker.log_dirs if log_dir.error]
        if not failed and (not offline[broker.id] or not broker.state.is_responsive):
            continue  # a lost broker has its own finding
        # Sizes are missing seconds before the metadata call them offline.
        unsized = int(((table.replicas == broker.id) & (table.replica_log_bytes < 0)).sum()) if failed else 0
        replicas = max(offline[broker.id], unsized)
        paths = tuple(log_dir.path for log_dir in failed)
        yield finding(
            "log_dir_offline",
            Severity.CRITICAL,
            broker.id,
            {
                "log_dirs": len(failed),
                "paths": paths or None,
                "error": failed[0].error if failed else None,
                "replicas": replicas,
            },
            Remedy(
                fact(FactCode.LOG_DIR_OFFLINE, broker=broker.id, paths=paths, replicas=replicas),
                cost=fact(FactCode.MOVES_REPLICAS, replicas=replicas),
                gain=1.0,
            ),
        )


def racks_unknown(context: FindingContext) -> Iterator[Finding]:
    """With some racks unknown Kafka ignores racks."""
    brokers = [context.brokers[broker] for broker in context.staying]
    without = sorted(broker.id for broker in brokers if broker.rack is None)
    if not 0 < len(without) < len(brokers):
        return
    racks = {broker.rack for broker in brokers} - {None}
    yield finding(
        "racks_unknown",
        Severity.MEDIUM,
        context.snapshot.cluster,
        {"brokers_without_rack": len(without), "brokers": tuple(without), "racks": len(racks)},
        Remedy(
            fact(
                FactCode.RACKS_UNKNOWN,
                brokers=tuple(without[:MOST_NAMED]),
                brokers_without_rack=len(without),
                racks=len(racks),
            ),
            gain=1.0,
        ),
        confidence=Confidence.STRUCTURAL,
    )


_TWICE = 2.0
_AUTOMATIC = "auto.leader.rebalance.enable"


class Way(StrEnum):
    ELECT_THESE = "elect_these"
    ELECT_ALL = "elect_all"
    WAIT = "wait"  # for brokers to return or catch up
    REORDER = "reorder"
    NONE = "none"


def leaders_piled_up(context: FindingContext) -> Iterator[Finding]:
    """A broker leads more than its share, because it took over partitions of others."""
    table, whole = context.snapshot.partitions, election(context)
    for leading in _leading(context):
        score, share = leading.score, leading.share
        over = score.load / share
        if over < threshold("leaders_piled_up", "over_share_ratio") or not leading.taken_over:
            continue
        here = table.leader == score.broker
        elected = int((here & whole.elects).sum())
        if not elected:
            way = Way.WAIT
        elif not _is_less_even(context, np.where(here & whole.elects, whole.preferred, table.leader)):
            way = Way.ELECT_THESE
        elif not _is_less_even(context, whole.leader):
            way = Way.ELECT_ALL
        else:
            way, elected = Way.REORDER, 0
        yield finding(
            "leaders_piled_up",
            _severity(over),
            score.broker,
            {
                "leaders": int(score.load),
                "fair_share_leaders": share,
                "over_share_ratio": over,
                "preferred_leaders": leading.preferred,
                "taken_over_leaders": leading.taken_over,
                "leaders_once_elected": int((whole.leader == score.broker).sum()),
            },
            Remedy(
                fact(
                    FactCode.LEADERS_PILED_UP,
                    broker=score.broker,
                    leaders=int(score.load),
                    times_share=over,
                    taken_over=leading.taken_over,
                    way=way.value,
                    waiting_leaders=leading.taken_over - elected,
                    awaited=_awaited_brokers(context, whole, here),
                ),
                cost=fact(FactCode.CHANGES_LEADERS, leaders=elected),
                gain=elected / (score.load - share),
                changes=elected,
            ),
        )


def leaders_over_share(context: FindingContext) -> Iterator[Finding]:
    """A broker leads more than its share by placement: it is the preferred leader."""
    for leading in _leading(context):
        score, share, own = leading.score, leading.share, leading.own
        over = own / share
        if over < threshold("leaders_over_share", "over_share_ratio") or own - ceil(share) < 1:
            continue
        evidence: Evidence = {"preferred_leaders_led": own, "fair_share_leaders": share, "over_share_ratio": over}
        yield finding(
            "leaders_over_share",
            _severity(over),
            score.broker,
            evidence | plan_evidence(context, [score]),
            Remedy(
                fact(
                    FactCode.LEADERS_OVER_SHARE,
                    broker=score.broker,
                    preferred_leaders=own,
                    times_share=over,
                    outcome=plan_outcome(context, score, fact(FactCode.REORDER_AND_ELECT)),
                ),
                cost=plan_cost(context, score.broker, fact(FactCode.LEADER_CHANGES_COPY_NOTHING)),
                gain=moved_excess_ratio(context, score),
                copied_bytes=copied_by_plan(context, score.broker, 0.0),
                changes=ceil(own - share),
            ),
            confidence=Confidence.STRUCTURAL,
        )


class _Leading(NamedTuple):
    """Leaders of a broker; ``preferred``: would lead."""

    score: BrokerScore
    share: float
    own: int
    taken_over: int
    preferred: int


def _leading(context: FindingContext) -> Iterator[_Leading]:
    table = context.snapshot.partitions
    preferred = preferred_leaders(context)
    for score in context.scores.of_resource("leaders"):
        if score.stays and score.fair_share:
            led, first = (table.leader == score.broker) & ~context.is_in_flight, preferred == score.broker
            own, taken_over = int((led & first).sum()), int((led & ~first).sum())
            share = score.fair_share * (score.capacity or 1.0)
            yield _Leading(score, share, own, taken_over, int(first.sum()))


def _severity(over: float) -> Severity:
    return Severity.HIGH if over >= _TWICE else Severity.MEDIUM


def preferred_leaders_off(context: FindingContext) -> Iterator[Finding]:
    """Too many partitions are not led by the first replica."""
    table, whole = context.snapshot.partitions, election(context)
    counts = (table.leader >= 0) & ~context.is_in_flight
    total, off = int(counts.sum()), int((whole.elects | whole.waits).sum())
    if not total or off / total < threshold("preferred_leaders_off", "off_ratio"):
        return
    ratio, elected = off / total, int(whole.elects.sum())
    is_less_even = _is_less_even(context, whole.leader)
    if is_less_even and _is_notable(_highest(context, whole.leader)):
        return
    idle = [
        broker
        for broker in context.staying
        if not (table.leader[counts] == broker).any() and (whole.preferred[counts] == broker).any()
    ]
    by_plan = _elected_by_plan(context, whole.elects | whole.waits)
    severity = Severity.MEDIUM if ratio >= 0.1 else Severity.LOW
    if is_less_even:
        severity, elected, way = Severity.INFO, 0, Way.NONE
    else:
        way = Way.ELECT_ALL if elected else Way.WAIT
    yield finding(
        "preferred_leaders_off",
        severity,
        context.snapshot.cluster,
        {
            "partitions": total,
            "off_partitions": off,
            "off_ratio": ratio,
            "elected_partitions": elected,
            "waiting_partitions": int(whole.waits.sum()),
            "brokers_that_lead_nothing": tuple(idle) or None,
        }
        | ({} if context.plan is None else {"plan_elected_partitions": by_plan}),
        Remedy(
            fact(
                FactCode.PREFERRED_LEADERS_OFF,
                partitions=total,
                off_partitions=off,
                idle_brokers=tuple(idle[:MOST_NAMED]),
                way=way.value,
                waiting_leaders=int(whole.waits.sum()),
                awaited=_awaited_brokers(context, whole),
                elected_by_plan=by_plan,
            ),
            cost=fact(FactCode.CHANGES_LEADERS, leaders=elected),
            gain=elected / off,
            changes=elected,
        ),
    )


def preferred_order_uneven(context: FindingContext) -> Iterator[Finding]:
    """Leaders are more even than first replicas: an election harms."""
    whole = election(context)
    now, then = _highest(context, context.snapshot.partitions.leader), _highest(context, whole.leader)
    if not (_is_notable(then) and _is_less_even(context, whole.leader)):
        return
    settings = {broker.configs.get(_AUTOMATIC) for broker in context.snapshot.brokers}
    is_off = settings == {"false"}
    first = int((whole.preferred == then.broker).sum())
    moves = () if context.plan is None else context.plan.moves
    reordered = sum(move.to_replicas[0] != move.from_replicas[0] for move in moves)
    yield finding(
        "preferred_order_uneven",
        Severity.LOW if is_off else Severity.MEDIUM,
        context.snapshot.cluster,
        {
            "broker": then.broker,
            "first_replicas": first,
            "partitions": len(whole.preferred),
            "leaders_once_elected": then.leaders,
            "over_share_ratio": now.ratio,
            "over_share_ratio_once_elected": then.ratio,
        },
        Remedy(
            fact(
                FactCode.PREFERRED_ORDER_UNEVEN,
                broker=then.broker,
                first_replicas=first,
                partitions=len(whole.preferred),
                leaders_once_elected=then.leaders,
                times_share_once_elected=then.ratio,
                times_share=now.ratio,
                is_automatic=not is_off,
                reordered_by_plan=reordered,
            ),
            cost=fact(FactCode.ORDER_COPIES_NOTHING),
            gain=1 - 1 / then.ratio,
            changes=then.leaders,
        ),
    )


class Election(NamedTuple):
    """A preferred election: ``preferred`` int32[P], ``leader`` int32[P] afterwards.

    Of other partitions it ``elects`` some; others ``wait`` for a preferred leader out of service, out of sync or on an
    offline log dir.
    """

    preferred: Ints
    leader: Ints
    elects: Flags
    waits: Flags


def election(context: FindingContext) -> Election:
    """Return the election that Kafka would hold today; with unknown ISR all replicas count as in sync."""
    table, preferred = context.snapshot.partitions, preferred_leaders(context)
    off = (table.leader >= 0) & ~context.is_in_flight & (table.leader != preferred)
    responsive = [broker.id for broker in context.snapshot.brokers if broker.state.is_responsive]
    may_lead = np.isin(preferred, responsive)
    if table.in_sync is not None:
        row = table.row_of_replica
        in_sync = np.zeros(len(table), dtype=np.bool_)
        in_sync[row[table.in_sync & (table.replicas == preferred[row])]] = True
        may_lead &= in_sync
    for number, brokers in table.offline.items():
        may_lead[number] &= int(preferred[number]) not in brokers
    elects = off & may_lead
    return Election(preferred, np.where(elects, preferred, table.leader).astype(np.int32), elects, off & ~may_lead)


def _awaited_brokers(context: FindingContext, whole: Election, among: Flags | None = None) -> tuple[Fact, ...]:
    """Return brokers that must return or catch up, most partitions first."""
    waiting = Counter(whole.preferred[whole.waits if among is None else whole.waits & among].tolist())
    states = {broker: context.brokers[broker].state for broker in waiting}
    return tuple(
        fact(FactCode.IN_SYNC_AGAIN, broker=broker, partitions=count)
        if states[broker].is_responsive
        else fact(FactCode.BROKER_BACK, broker=broker, state=states[broker].value, partitions=count)
        for broker, count in sorted(waiting.items(), key=lambda pair: (-pair[1], pair[0]))[:MOST_NAMED]
    )


class _Highest(NamedTuple):
    broker: int
    leaders: int
    share: float

    @property
    def ratio(self) -> float:
        return self.leaders / self.share


def _highest(context: FindingContext, leader: Ints) -> _Highest:
    led = _leader_levels(context, leader)
    if not led:
        return _Highest(-1, 0, 1.0)
    return max((_Highest(*candidate) for candidate in led), key=lambda candidate: (candidate.ratio, -candidate.broker))


def _leader_levels(context: FindingContext, leader: Ints) -> list[tuple[int, int, float]]:
    ids, counts = np.unique(leader, return_counts=True)
    count_of = dict(zip(ids.tolist(), counts.tolist(), strict=True))
    return [
        (score.broker, count_of.get(score.broker, 0), score.fair_share * (score.capacity or 1.0))
        for score in context.scores.of_resource("leaders")
        if score.stays and score.fair_share
    ]


def _is_less_even(context: FindingContext, leader: Ints) -> bool:
    """Whether squared differences from shares grow, or a broker is notably above its share and today's highest."""
    today = context.snapshot.partitions.leader
    was, would_be = (
        sum((count - share) ** 2 for _, count, share in _leader_levels(context, leaders)) for leaders in (today, leader)
    )
    highest = _highest(context, leader)
    return would_be > was + 1e-9 or (_is_notable(highest) and highest.ratio > _highest(context, today).ratio + 1e-9)


def _is_notable(highest: _Highest) -> bool:
    least = threshold("preferred_order_uneven", "over_share_ratio")
    return highest.ratio >= least and highest.leaders - ceil(highest.share) >= 1


def _elected_by_plan(context: FindingContext, off: Flags) -> int:
    """Count flagged partitions that the plan moves or elects."""
    if context.plan is None:
        return 0
    row_of = context.snapshot.row_of
    return sum(bool(off[row_of[move.topic, move.partition]]) for move in context.plan.moves)


def topic_on_few_brokers(context: FindingContext) -> Iterator[Finding]:
    """A busy topic has its leaders, or all replicas, on few brokers. Without rates, partition counts
    estimate traffic.
    """
    table = context.snapshot.partitions
    takers = context.serving
    least = {name: threshold("topic_on_few_brokers", name) for name in CODES["topic_on_few_brokers"].thresholds}
    rates = [
        (values, float(np.nansum(values)), kind.value)
        for kind in (LoadKind.IN_BYTES_PER_S, LoadKind.OUT_BYTES_PER_S)
        for values in (context.snapshot.load(kind),)
    ]
    for topic, rows in context.topic_rows.items():
        span = slice(rows.start, rows.stop)
        leader = table.leader[span][table.leader[span] >= 0]
        if len(takers) < 2 or len(leader) < max(least["least_partitions"], len(takers)):
            continue
        led = Counter(leader.tolist())
        most = np.cumsum([count for _, count in led.most_common()])
        few = int(np.searchsorted(most, least["leader_share_ratio"] * len(leader))) + 1
        holders = np.unique(table.replicas[table.offsets[span.start] : table.offsets[span.stop]])
        is_led_by_few = few <= max(1, int(least["leader_brokers_ratio"] * len(takers)))
        is_held_by_few = len(holders) <= least["replica_brokers_ratio"] * len(takers)
        if not (is_led_by_few or is_held_by_few):
            continue
        part = len(rows) / len(table)
        measured = _largest_share(rates, span)
        traffic, load = measured or (part, None)
        if traffic < least["least_traffic_ratio"]:
            continue
        leaders = sorted(broker for broker, _ in led.most_common(few))
        each = len(leader) // len(takers)
        severity = Severity.HIGH if traffic >= least["high_traffic_ratio"] else Severity.MEDIUM
        yield finding(
            "topic_on_few_brokers",
            severity if measured else Severity.LOW,
            topic,
            {
                "partitions": len(rows),
                "traffic_ratio": traffic if measured else None,
                "partitions_ratio": part,
                "leading_brokers": len(led),
                "brokers_with_most_leaders": tuple(leaders),
                "brokers_with_replicas": len(holders),
                "brokers": len(takers),
            },
            Remedy(
                fact(
                    FactCode.TOPIC_ON_FEW_BROKERS,
                    topic=topic,
                    load=load,
                    load_ratio=traffic,
                    leading_brokers=tuple(leaders[:MOST_NAMED]),
                    led_partitions=int(most[few - 1]),
                    partitions=len(leader),
                    brokers=len(takers),
                    brokers_with_replicas=len(holders) if is_held_by_few else None,
                    leaders_each=each,
                ),
                cost=fact(FactCode.LEADER_CHANGES_COPY_NOTHING),
                gain=1 - few / len(takers),
                changes=sum(max(0, count - each - 1) for count in led.values()),
            ),
            confidence=context.confidence(LoadKind.IN_BYTES_PER_S) if measured else Confidence.STRUCTURAL,
        )


def _largest_share(rates: Iterable[tuple[Floats, float, str]], span: slice) -> tuple[float, str] | None:
    """Return the span's largest share of a rate and that rate's name; None where a partition's rate is unknown."""
    shares = [
        (float(values[span].sum()) / total, kind)
        for values, total, kind in rates
        if total > 0 and not np.isnan(values[span]).any()
    ]
    return max(shares, default=None)


def coordinator_piled_up(context: FindingContext) -> Iterator[Finding]:
    """One broker coordinates more groups than its share, and than chance explains."""
    named = (group.coordinator for group in context.snapshot.groups)
    coordinators = [broker for broker in named if broker is not None and broker >= 0]  # -1: Kafka knows none
    if not coordinators or not context.staying:
        return
    from scipy.special import gammainc  # slow import, rarely needed

    mean = len(coordinators) / len(context.staying)
    for broker in sorted(set(coordinators)):
        count = coordinators.count(broker)
        if count / mean < threshold("coordinator_piled_up", "over_share_ratio"):
            continue
        chance = float(gammainc(count, mean)) * len(context.staying)  # for any of the brokers
        if chance >= threshold("coordinator_piled_up", "chance_ratio"):
            continue
        yield finding(
            "coordinator_piled_up",
            Severity.LOW,
            broker,
            {"groups": count, "fair_share_groups": mean, "over_share_ratio": count / mean},
            Remedy(
                fact(
                    FactCode.COORDINATOR_PILED_UP,
                    broker=broker,
                    groups=count,
                    all_groups=len(coordinators),
                    times_share=count / mean,
                ),
                cost=fact(FactCode.MOVES_COORDINATORS),
                gain=1 - mean / count,
            ),
            confidence=Confidence.STRUCTURAL,
        )


def preferred_leaders(context: FindingContext) -> Ints:
    """int32[P]: the first replica that remains after a reassignment and may lead (no observer)."""
    table = context.snapshot.partitions
    first = table.replicas[table.offsets[:-1]].copy() if len(table) else np.zeros(0, dtype=np.int32)
    for row in {*table.removing, *table.observers}:
        partition = context.snapshot.partition(row)
        may_lead = [broker for broker in partition.target_replicas if broker not in partition.observers]
        first[row] = (may_lead or partition.target_replicas)[0]
    return first
