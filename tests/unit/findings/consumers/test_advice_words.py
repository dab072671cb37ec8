"""One line a group: keep, change, or why nothing is advised."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kafka_rebalance.findings.consumers.advice_words import advice_words, findings_by_group
from kafka_rebalance.findings.finding import Finding, Severity, SubjectType
from kafka_rebalance.groups.group_replay import GroupReplay
from kafka_rebalance.groups.subscriptions import SubscriptionBasis
from kafka_rebalance.scoring.assignment_scores import GroupScore
from kafka_rebalance.snapshot.model import Group, GroupType, Member

GROUP = Group("g", protocol="range", state="Stable", members=(Member("a"), Member("b")))
TODAY = GroupScore("g", "range", None, True, 2, 4, 0, skew_count=1.5)
UNIFORM = GroupScore("g", "uniform", None, False, 2, 4, 0, skew_count=1.0, partitions_moved=1)


def replay(today=TODAY, *others, advised=None, basis=SubscriptionBasis.AS_READ, is_reproduced=True):
    return GroupReplay("g", basis, is_reproduced, (today, *others), (), advised)


@pytest.mark.parametrize(
    ("today", "words"),
    [
        (TODAY, "keep range: no other would be better by a quarter (1.50 times the mean by count)"),
        (replace(TODAY, skew_rate=1.24), "keep range: even, the fullest member has 1.24 times the mean by rate"),
        (
            replace(TODAY, skew_rate=1.25),
            "keep range: no other would be better by a quarter (1.25 times the mean by rate)",
        ),
        (replace(TODAY, skew_count=None), "keep range: how even it is was not measured"),
        (replace(TODAY, members=1), "keep range: one member reads all"),
    ],
)
def test_keep_is_said_with_its_reason(today, words):
    assert advice_words(replay(today), GROUP) == words


def test_what_is_not_understood_is_not_told_to_be_kept():
    assert advice_words(replay(is_reproduced=False), GROUP).startswith("cannot tell: range would not give")
    given = replay(is_reproduced=False, basis=SubscriptionBasis.GIVEN)
    assert advice_words(given, GROUP).startswith("keep range")


def test_another_strategy_of_the_members_or_of_the_coordinator():
    other = replace(UNIFORM, assignor="roundrobin")
    assert advice_words(replay(TODAY, other, advised="roundrobin"), GROUP) == (
        "roundrobin: 0 idle, skew 1.00, 1 partition change reader"
    )
    server = replace(GROUP, type=GroupType.CONSUMER)
    assert advice_words(replay(TODAY, UNIFORM), server).endswith("1 partition change reader (group.remote.assignor)")
    assert advice_words(replay(TODAY, UNIFORM), GROUP).startswith("keep")  # nobody can ask a coordinator for it


def test_findings_are_named_symptoms_among_them_and_groups_of_others_are_told_what_they_are():
    symptom = Finding("group_hot_partition", Severity.LOW, SubjectType.GROUP, "g", {}, "")
    cause = Finding("hot_partition", Severity.LOW, SubjectType.PARTITION, "t-0", {}, "", symptoms=(symptom,))
    told = findings_by_group([cause])
    assert told == {"g": [symptom]}
    assert advice_words(replay(), GROUP, told["g"]).endswith("; see group hot partition")
    assert advice_words(replay(), replace(GROUP, protocol_type="connect")).startswith("Kafka Connect's workers")
