from __future__ import annotations

import pytest

from kafka_rebalance.findings.finding import Confidence
from kafka_rebalance.findings.group_rules import share_group_behind
from kafka_rebalance.findings.rules import RULES
from kafka_rebalance.snapshot.model import CommittedOffset, Group, GroupType, Member
from tests.unit.findings.sample_clusters import cluster, findings_of, striped

ONE = (Member("m", assigned=(("t", (0, 1)),)),)


def behind(*lags, members=ONE, rate=2.0, kind=GroupType.SHARE):
    commits = tuple(CommittedOffset("t", number, 0, lag) for number, lag in enumerate(lags))
    group = Group("g", kind, state="Stable", members=members, committed=commits)
    return findings_of(cluster(striped("t", 2), groups=[group], in_messages_per_s=[rate] * 2), "share_group_behind")


def test_ten_minutes_of_writing_are_told():
    """Two partitions are written 2 a second each: 4; 2,400 messages are ten minutes of that."""
    assert share_group_behind in RULES
    (finding,) = behind(2000, 400)
    assert (finding.evidence["lag_messages"], finding.evidence["lag_seconds"]) == (2400, 600.0)
    assert finding.confidence is Confidence.ESTIMATED


@pytest.mark.parametrize(
    "quiet",
    [
        {"lags": (2000, 399)},
        {"lags": (2000, 400), "members": ()},
        {"lags": (2000, 400), "rate": 0.0},
        {"lags": (2000, 400), "rate": float("nan")},
        {"lags": (2000,)},  # of one partition it is unknown
        {"lags": (2000, 400), "kind": GroupType.CONSUMER},
    ],
)
def test_less_nobody_there_or_unknown_is_not(quiet):
    assert behind(*quiet.pop("lags"), **quiet) == []
