"""An advisory put together again from what the store holds of a run: what ``advise`` gives in one process.

Scores are computed once, by the job that replays, and findings once, from them; both are read back where they are
needed, so that what the result gate looked at is what readers get.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from kafka_rebalance.advisory.advise import Advice, knowing_keys, owned, priced
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.findings.finding import Finding
from kafka_rebalance.findings.rules import evaluate_rules
from kafka_rebalance.groups.group_replay import GroupReplay
from kafka_rebalance.groups.replay_options import ReplayOptions
from kafka_rebalance.groups.scenarios.catalogue import TODAY
from kafka_rebalance.groups.subscriptions import SubscriptionBasis
from kafka_rebalance.groups.told_clients import with_clients
from kafka_rebalance.options.client_rule import ClientRule
from kafka_rebalance.options.heavy_key import HeavyKeyOf
from kafka_rebalance.options.ownership import MuteRule, OwnerRule
from kafka_rebalance.placement.topic_replay import TopicReplay
from kafka_rebalance.plans.document import plan_from_document
from kafka_rebalance.plans.explain.hours_outside import hours_outside
from kafka_rebalance.plans.verified_plan import require_verified
from kafka_rebalance.scoring.assignment_scores import GroupScore, MemberScore
from kafka_rebalance.scoring.cluster_scores import BrokerScore, ClusterScores, RackScore, ResourceScore
from kafka_rebalance.scoring.placement_scores import TopicPlacementScore
from kafka_rebalance.scoring.snapshot_scores import resources_left_out
from kafka_rebalance.snapshot.model import ClusterSnapshot, CoverageGap
from rebalance_advisor import store

Row = Mapping[str, Any]
_REPLAY_COLUMNS = ("basis", "is_reproduced")


def derived_findings(
    connection: store.Connection,
    run_id: str,
    owners: Sequence[OwnerRule] = (),
    mutes: Sequence[MuteRule] = (),
    clients: Sequence[ClientRule] = (),
    heavy_keys: Sequence[HeavyKeyOf] = (),
    rack_byte_price: float | None = None,
) -> tuple[Finding, ...]:
    """What the stored scores, replays and plan of a run say: to be saved, judged by the result gate, and published.

    ``owners`` and all that follow are those that the run was asked with.

    The plan was verified before it was saved, and is once more before readers see it. Raises StoreError where a part is
    missing.
    """
    advice = _without_findings(connection, run_id, is_to_verify=False)
    told = with_clients(advice.snapshot, clients)
    findings = evaluate_rules(told, advice.scores, advice.groups, advice.plan, advice.hours)
    told_of_keys = knowing_keys(replace(advice, findings=findings), heavy_keys)
    return owned(priced(told_of_keys, rack_byte_price), owners, mutes).findings


def advice_of_run(connection: store.Connection, run_id: str, clients: Sequence[ClientRule] = ()) -> Advice:
    """A run's advisory as it was saved and judged: nothing of it is computed here but the plan's verification.

    ``clients``: the rules that the run was asked with; a group's steps are those of its client.

    Raises StoreError where a part is missing, InvalidPlanError where the plan does not pass its verification.
    """
    advice = _without_findings(connection, run_id, is_to_verify=True)
    options = ReplayOptions(clients=tuple(clients))
    return replace(advice, findings=store.load_findings(connection, run_id), replay_options=options)


def _without_findings(connection: store.Connection, run_id: str, *, is_to_verify: bool) -> Advice:
    run = store.load_run(connection, run_id)
    given = store.load_run_input(connection, run)
    snapshot = given.snapshot
    plan = plan_from_document(store.load_plan(connection, run_id))
    if is_to_verify:
        require_verified(plan, snapshot)
    members = store.load_scores(connection, run_id, "member_score")
    return Advice(
        snapshot=with_quarantine_told(snapshot, store.load_quarantine(connection, run.snapshot_id)),
        scores=cluster_scores(connection, run_id, snapshot),
        groups=group_replays(store.load_scores(connection, run_id, "group_score"), members),
        topics=topic_replays(store.load_scores(connection, run_id, "topic_score")),
        plan=plan,
        findings=(),
        hours=hours_outside(snapshot, plan, given.hourly),
    )


def cluster_scores(connection: store.Connection, run_id: str, snapshot: ClusterSnapshot) -> ClusterScores:
    """The scores that were saved of brokers, racks and resources; why others have none is told by the snapshot."""
    return ClusterScores(
        brokers=tuple(BrokerScore(**row) for row in store.load_scores(connection, run_id, "broker_score")),
        racks=tuple(RackScore(**row) for row in store.load_scores(connection, run_id, "rack_score")),
        resources=tuple(ResourceScore(**row) for row in store.load_scores(connection, run_id, "resource_score")),
        left_out=resources_left_out(snapshot),
    )


def with_quarantine_told(snapshot: ClusterSnapshot, quarantined: Iterable[store.Quarantined]) -> ClusterSnapshot:
    """The snapshot as it is told of: what advice leaves out is a gap like anything that could not be read."""
    gaps = [
        CoverageGap(
            subject.subject_type,
            subject.subject,
            fact(FactCode.LACKS_ADVICE),
            fact(FactCode.LEFT_OUT_BY_CHECKS, rule=subject.rule),
        )
        for subject in quarantined
    ]
    return replace(snapshot, coverage=(*snapshot.coverage, *gaps)) if gaps else snapshot


def group_replays(scores: Iterable[Row], members: Iterable[Row]) -> tuple[GroupReplay, ...]:
    """All groups of a run; rows in the order in which they were saved."""
    members_of = {name: list(rows) for name, rows in groupby(members, key=_group)}
    return tuple(
        _group_replay(name, list(rows), members_of.get(name, [])) for name, rows in groupby(scores, key=_group)
    )


def topic_replays(scores: Iterable[Row]) -> tuple[TopicReplay, ...]:
    """All topics of a run; today's row of each comes first."""
    return tuple(
        TopicReplay(topic, tuple(_topic_score(row) for row in rows))
        for topic, rows in groupby(scores, key=lambda row: row["topic"])
    )


def _group(row: Row) -> str:
    return str(row["group_id"])


def _group_replay(name: str, rows: list[Row], members: list[Row]) -> GroupReplay:
    every = [GroupScore(**{key: row[key] for key in row if key not in _REPLAY_COLUMNS}) for row in rows]
    scores = tuple(score for score in every if score.scenario == TODAY)
    return GroupReplay(
        group_id=name,
        basis=SubscriptionBasis(rows[0]["basis"]),
        is_reproduced=rows[0]["is_reproduced"],
        scores=scores,
        members=tuple(MemberScore(**row) for row in members),
        advised=next((score.assignor for score in scores if score.is_advised), None),
        scenarios=tuple(score for score in every if score.scenario != TODAY),
    )


def _topic_score(row: Row) -> TopicPlacementScore:
    size = row["bytes_to_move"]
    return TopicPlacementScore(**(dict(row) | {"bytes_to_move": None if size is None else int(size)}))
