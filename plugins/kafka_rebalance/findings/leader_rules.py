"""Leaders that are not where they are preferred, or preferred on too few brokers; coordinators that pile up on one."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kafka_rebalance.findings.context import Evidence, FindingContext, Remedy, finding, threshold
from kafka_rebalance.findings.finding import Confidence, Finding, Severity
from kafka_rebalance.findings.plan_words import (
    copied_by_plan,
    moved_away,
    plan_cost,
    plan_evidence,
    plan_words,
)
from kafka_rebalance.findings.words import counted, listed
from kafka_rebalance.scoring.cluster_scores import BrokerScore

_TWICE = 2.0
_ELECTION = "kafka-leader-election --election-type preferred"
_REORDER = "put another of the replicas first (an order of replicas alone copies nothing), and elect it"


def leaders_piled_up(context: FindingContext) -> Iterator[Finding]:
    """A broker leads more than its share, and took over partitions that others are preferred to lead."""
    for leading in _leading(context):
        score, share = leading.score, leading.share
        over = score.load / share
        if over < threshold("leaders_piled_up", "over_share_ratio") or not leading.taken_over:
            continue
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
            },
            Remedy(
                f"Broker {score.broker} leads {counted(int(score.load), 'partition')}, {over:.2f} times its fair "
                f"share; {leading.taken_over:,} of them it took over from their preferred leaders: "
                f"elect these again ({_ELECTION}).",
                cost=f"{counted(leading.taken_over, 'leader change')}, no bytes",
                gain=leading.taken_over / (score.load - share),
                changes=leading.taken_over,
            ),
        )


def leaders_over_share(context: FindingContext) -> Iterator[Finding]:
    """A broker leads more than its share by placement: of what it leads it is the first replica."""
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
                f"Broker {score.broker} leads {counted(own, 'partition')} as the first of their replicas, {over:.2f} "
                f"times its fair share of leaders: {plan_words(context, score, _REORDER)}.",
                cost=plan_cost(context, score.broker, "leader changes cost no bytes where a follower takes over"),
                gain=moved_away(context, score),
                copied_bytes=copied_by_plan(context, score.broker, 0.0),
                changes=ceil(own - share),
            ),
            confidence=Confidence.STRUCTURAL,
        )


class _Leading(NamedTuple):
    """What a broker leads: ``own`` as the preferred leader, ``taken_over`` from others; ``preferred``: would lead."""

    score: BrokerScore
    share: float
    own: int
    taken_over: int
    preferred: int


def _leading(context: FindingContext) -> Iterator[_Leading]:
    """Of each broker that stays and has a share of the leaders; what is being reassigned is nobody's own."""
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
    """Too many partitions are led by another than the first of their replicas."""
    table = context.snapshot.partitions
    counts = (table.leader >= 0) & ~context.is_in_flight
    total = int(counts.sum())
    if not total:
        return
    preferred = preferred_leaders(context)
    off = counts & (table.leader != preferred)
    ratio = int(off.sum()) / total
    if ratio < threshold("preferred_leaders_off", "off_ratio"):
        return
    idle = [
        broker
        for broker in context.staying
        if not (table.leader[counts] == broker).any() and (preferred[counts] == broker).any()
    ]
    elected = _elected_by_plan(context, off)
    by_plan = f"; after the plan {elected:,} of them are" if elected else ""
    led_by_none = f"; brokers {listed(idle)} lead nothing at all" if idle else ""
    yield finding(
        "preferred_leaders_off",
        Severity.MEDIUM if ratio >= 0.1 else Severity.LOW,
        context.snapshot.cluster,
        {
            "partitions": total,
            "off_partitions": int(off.sum()),
            "off_ratio": ratio,
            "brokers_that_lead_nothing": listed(idle, most=len(idle)) or None,
        }
        | ({} if context.plan is None else {"plan_elected_partitions": elected}),
        Remedy(
            f"{int(off.sum()):,} of {total:,} partitions ({ratio:.1%}) are not led by their preferred "
            f"leader{led_by_none}: run {_ELECTION} --all-topic-partitions{by_plan}.",
            cost=f"{counted(int(off.sum()), 'leader change')}, no bytes",
            gain=1.0,
            changes=int(off.sum()),
        ),
    )


def _elected_by_plan(context: FindingContext, off: npt.NDArray[np.bool_]) -> int:
    """Flagged partitions that the plan moves or elects: each ends with the first of its replicas as leader."""
    if context.plan is None:
        return 0
    row_of = context.snapshot.row_of
    return sum(bool(off[row_of[move.topic, move.partition]]) for move in context.plan.moves)


def coordinator_piled_up(context: FindingContext) -> Iterator[Finding]:
    """More groups have one coordinator than its share, and than chance would give to any broker."""
    coordinators = [group.coordinator for group in context.snapshot.groups if group.coordinator is not None]
    if not coordinators or not context.staying:
        return
    from scipy.special import gammainc  # takes a while to import, and few clusters come this far

    mean = len(coordinators) / len(context.staying)
    for broker in sorted(set(coordinators)):
        count = coordinators.count(broker)
        if count / mean < threshold("coordinator_piled_up", "over_share_ratio"):
            continue
        chance = float(gammainc(count, mean)) * len(context.staying)  # so many or more, at any of the brokers
        if chance >= threshold("coordinator_piled_up", "chance_ratio"):
            continue
        yield finding(
            "coordinator_piled_up",
            Severity.LOW,
            broker,
            {"groups": count, "fair_share_groups": mean, "over_share_ratio": count / mean},
            Remedy(
                f"Broker {broker} coordinates {count} of {len(coordinators)} groups, {count / mean:.1f} times its "
                "share: spread the leaders of __consumer_offsets (its partition decides who coordinates a group).",
                cost="a leader change of __consumer_offsets makes its groups find their coordinator again",
                gain=1 - mean / count,
            ),
            confidence=Confidence.STRUCTURAL,
        )


def preferred_leaders(context: FindingContext) -> npt.NDArray[np.int32]:
    """int32[P]: the first replica that stays once a running reassignment ends and may lead (no observer)."""
    table = context.snapshot.partitions
    first = table.replicas[table.offsets[:-1]].copy() if len(table) else np.zeros(0, dtype=np.int32)
    for row in {*table.removing, *table.observers}:
        partition = context.snapshot.partition(row)
        may_lead = [broker for broker in partition.target_replicas if broker not in partition.observers]
        first[row] = (may_lead or partition.target_replicas)[0]
    return first
