from __future__ import annotations

from dataclasses import replace

import pytest

from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.findings.finding import Finding, Severity, SubjectType
from kafka_rebalance.findings.group_rules import findings_by_group, group_advice
from kafka_rebalance.groups.group_replay import GroupReplay
from kafka_rebalance.groups.subscriptions import SubscriptionBasis
from kafka_rebalance.scoring.scores import GroupScore
from kafka_rebalance.snapshot.model import Group, GroupType, Member

GROUP = Group("g", protocol="range", state="Stable", members=(Member("a"), Member("b")))
TODAY = GroupScore("g", "range", None, True, 2, 4, 0, skew_count=1.5)
UNIFORM = GroupScore("g", "uniform", None, False, 2, 4, 0, skew_count=1.0, partitions_moved=1)


def replay(today=TODAY, *others, advised=None, basis=SubscriptionBasis.AS_READ, is_reproduced=True):
    return GroupReplay("g", basis, is_reproduced, (today, *others), (), advised)


@pytest.mark.parametrize(
    ("today", "why", "by_rate"),
    [
        (TODAY, "none_better", False),
        (replace(TODAY, skew_rate=1.24), "even", True),
        (replace(TODAY, skew_rate=1.25), "none_better", True),
        (replace(TODAY, skew_count=None), "not_measured", False),
        (replace(TODAY, members=1), "one_member", False),
    ],
)
def test_keep_is_said_with_its_reason(today, why, by_rate):
    skew = today.skew_rate if by_rate else today.skew_count
    kept = fact(FactCode.KEEP_STRATEGY, strategy="range", why=why, skew=skew, by_rate=by_rate, see=())
    assert group_advice(replay(today), GROUP) == kept


def test_what_is_not_understood_is_not_told_to_be_kept():
    unknown = fact(FactCode.SUBSCRIPTIONS_UNKNOWN, strategy="range", see=())
    assert group_advice(replay(is_reproduced=False), GROUP) == unknown
    given = replay(is_reproduced=False, basis=SubscriptionBasis.GIVEN)
    assert group_advice(given, GROUP).code is FactCode.KEEP_STRATEGY


def test_another_strategy_of_the_members_or_of_the_coordinator():
    other = replace(UNIFORM, assignor="roundrobin")
    change = {"idle_members": 0, "skew_count": 1.0, "partitions_moved": 1}
    assert group_advice(replay(TODAY, other, advised="roundrobin"), GROUP) == fact(
        FactCode.CHANGE_STRATEGY, advised="roundrobin", is_server=False, **change
    )
    server = replace(GROUP, type=GroupType.CONSUMER)
    assert group_advice(replay(TODAY, UNIFORM, advised="uniform"), server) == fact(
        FactCode.CHANGE_STRATEGY, advised="uniform", is_server=True, **change
    )
    assert group_advice(replay(TODAY, UNIFORM), GROUP).code is FactCode.KEEP_STRATEGY  # no member can ask for it


def test_findings_are_named_symptoms_among_them_and_groups_of_others_are_told_what_they_are():
    what = fact(FactCode.MEMBERS_TOO_SLOW)
    symptom = Finding("group_hot_partition", Severity.LOW, SubjectType.GROUP, "g", {}, what)
    cause = Finding("hot_partition", Severity.LOW, SubjectType.PARTITION, "t-0", {}, what, symptoms=(symptom,))
    reported = findings_by_group([cause])
    assert reported == {"g": [symptom]}
    assert group_advice(replay(), GROUP, reported["g"]).args["see"] == ("group_hot_partition",)
    workers = group_advice(replay(), replace(GROUP, protocol_type="connect"))
    assert workers == fact(FactCode.NO_CHOICE, kind="connect_workers", see=())
