from __future__ import annotations

from dataclasses import replace

import pytest

from kafka_rebalance.findings.context import FindingContext
from kafka_rebalance.findings.finding import Severity
from kafka_rebalance.findings.group_rules import cross_rack_reads
from kafka_rebalance.findings.rules import RULES
from kafka_rebalance.scoring.snapshot_scores import score_cluster
from kafka_rebalance.snapshot.model import Group, Member
from tests.unit.findings.sample_clusters import cluster, replays, striped

MEMBERS = (Member("m0", rack="a", assigned=(("t", (0,)),)), Member("m1", rack="b", assigned=(("t", (1,)),)))
SNAPSHOT = cluster(striped("t", 2), groups=[Group("g", protocol="range", state="Stable", members=MEMBERS)])


def rack_findings(today, *others):
    """``others``: (strategy, share in the rack, skew by count)."""
    (replay,) = replays(SNAPSHOT)
    first = replace(replay.today, same_rack_ratio=today, leader_in_rack_ratio=0.1)
    rows = [replace(first, assignor=name, same_rack_ratio=share, skew_count=skew) for name, share, skew in others]
    known = FindingContext(SNAPSHOT, score_cluster(SNAPSHOT), [replace(replay, scores=(first, *rows))])
    return list(cross_rack_reads(known))


def test_a_strategy_that_is_as_even_and_keeps_more_in_racks():
    assert cross_rack_reads in RULES
    (finding,) = rack_findings(0.25, ("roundrobin", 0.5, 1.0), ("sticky", 0.625, 1.0), ("cooperative-sticky", 1.0, 1.5))
    assert (finding.evidence["advised_assignor"], finding.evidence["advised_same_rack_ratio"]) == ("sticky", 0.625)
    assert (finding.severity, finding.gain) == (Severity.LOW, pytest.approx(0.375 / 0.75))
    assert finding.recommendation.args["same_rack_ratio"] == 0.25
    (finding,) = rack_findings(0.25, ("sticky", 0.75, 1.0))
    assert finding.severity is Severity.MEDIUM


@pytest.mark.parametrize(
    ("today", "other"),
    [
        (0.5, ("sticky", 0.6875, 1.0)),  # less than a fifth more
        (None, ("sticky", 1.0, 1.0)),
        (0.0, ("sticky", None, 1.0)),
        (0.0, ("weighted", 1.0, 1.0)),  # no group can set it
        (0.0, ("consumer/uniform", 1.0, 1.0)),  # another protocol
    ],
)
def test_little_more_or_what_nobody_can_choose_is_not_told(today, other):
    assert rack_findings(today, other) == []
