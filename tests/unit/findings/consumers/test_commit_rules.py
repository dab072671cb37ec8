from dataclasses import replace

from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.findings.finding import Confidence, Severity
from kafka_rebalance.findings.lag_rules import commit_out_of_range
from kafka_rebalance.snapshot.model import CommittedOffset, CoverageGap, Group
from tests.unit.findings.sample_clusters import cluster, findings_of, striped

# Twelve partitions, of which each begins at 0 and ends at 1,000; the last one begins at 300.
ROWS = [replace(row, start_offset=300) if row.partition == 11 else row for row in striped("t", 12)]


def group(*offsets: tuple[int, int]) -> Group:
    return Group("g", committed=tuple(CommittedOffset("t", partition, offset) for partition, offset in offsets))


def test_offsets_beyond_the_end_and_below_the_start_are_told_apart() -> None:
    """1,000 is the end itself and 300 the start itself: both are fine. 300 - 120 = 180 messages are lost."""
    fine = cluster(ROWS, groups=[group((0, 1_000), (1, 0), (11, 300))])
    assert findings_of(fine, commit_out_of_range.__name__) == []
    (finding,) = findings_of(
        cluster(ROWS, groups=[group((0, 1_001), (1, 500), (11, 120))]), commit_out_of_range.__name__
    )
    assert (finding.subject, finding.severity) == ("g", Severity.HIGH)
    assert finding.evidence == {
        "commits_beyond_end": 1, "commits_below_start": 1, "messages_deleted_unread": 180, "example": "t-0",
    }  # fmt: skip
    (late,) = findings_of(cluster(ROWS, groups=[group((11, 120))]), commit_out_of_range.__name__)
    assert late.severity is Severity.MEDIUM
    args = {"group": "g", "beyond_end": 0, "below_start": 1, "messages_deleted": 180, "example": "t-11"}
    assert late.recommendation == fact(FactCode.COMMIT_OUT_OF_RANGE, **args)


def test_what_is_unknown_is_no_trouble_and_dumps_give_an_estimate() -> None:
    unknown = [replace(row, start_offset=None, end_offset=None) for row in ROWS]
    gone = Group("h", committed=(CommittedOffset("other", 0, 5),))
    assert findings_of(cluster(unknown, groups=[group((0, 5_000)), gone]), commit_out_of_range.__name__) == []
    dumped = replace(cluster(ROWS, groups=[group((0, 1_001))]), source="dumps")
    (finding,) = findings_of(dumped, commit_out_of_range.__name__)
    assert (finding.severity, finding.confidence) == (Severity.HIGH, Confidence.ESTIMATED)
    reason = fact(FactCode.END_OFFSETS_OLDER, partitions=1)
    older = replace(dumped, coverage=(CoverageGap("group", "g", fact(FactCode.LACKS_END_OFFSETS), reason),))
    assert findings_of(older, commit_out_of_range.__name__) == []
