from dataclasses import replace

import pytest

from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.findings.finding import Finding, Severity
from kafka_rebalance.findings.placement_rules import log_dir_full
from kafka_rebalance.planner.log_dirs import broker_volumes
from kafka_rebalance.snapshot.model import FutureReplica, LogDir, Partition
from tests.unit.findings.sample_clusters import brokers, cluster, findings_of, striped

EVEN = striped("t", 12)  # broker 1 holds 100 bytes each of t-0, t-1, t-5, t-6, t-7 and t-11
OTHER = LogDir("/b", 1000, 900)


def full(used: int = 900, second: LogDir = OTHER, rows: list[Partition] | None = None) -> list[Finding]:
    """Broker 1 has all its six replicas in its first dir, of which ``used`` of 1,000 bytes are used."""
    rows = [replace(row, log_dirs=(0, 0, 0)) for row in EVEN] if rows is None else rows
    return findings_of(
        cluster(rows, of=brokers(log_dirs={1: (LogDir("/a", 1000, 1000 - used), second)})), log_dir_full.__name__
    )


@pytest.mark.parametrize(
    ("used", "severity"),
    [(849, None), (850, Severity.HIGH), (899, Severity.HIGH), (900, Severity.CRITICAL)],
)
def test_a_disk_that_is_nearly_full_beside_one_with_room(used: int, severity: Severity | None) -> None:
    assert [finding.severity for finding in full(used)] == ([] if severity is None else [severity])


def test_the_moves_are_named_with_their_bytes_and_the_bound() -> None:
    """950 of 1,000: 100 too many, one replica of 100. 900: 50 too many, and no replica is smaller than 100."""
    (result,) = full(950)
    assert result.subject == "1"
    assert result.evidence == {
        "paths": ("/a",), "used_ratio": 0.95, "others_used_ratio": 0.1, "replica_moves_between_dirs": 1,
        "dir_bytes": 100, "dir_bytes_lower_bound": 100, "above_bytes": 100, "still_above_bytes": 0,
    }  # fmt: skip
    assert result.recommendation.args["way"] == fact(
        FactCode.MOVE_BETWEEN_DIRS,
        replicas=1,
        moved_bytes=100.0,
        lower_bound_bytes=100.0,
        first_moves=(("t-0", "/b"),),
        still_above_bytes=0.0,
        used_ratio_limit=0.85,
    )
    assert (result.gain, result.cost_bytes) == (1.0, 100.0)
    (result,) = full(900)
    assert (result.evidence["dir_bytes"], result.evidence["dir_bytes_lower_bound"]) == (100, 100)


def test_what_the_other_disk_cannot_take_is_said() -> None:
    """990 and 800 of 1,000: 140 too many, and one replica of 100 leaves 40 and 50. 700: 40, and no more fits there."""
    (result,) = full(990, LogDir("/b", 1000, 200))
    assert (result.evidence["dir_bytes"], result.evidence["still_above_bytes"]) == (100, 90)
    assert result.gain == pytest.approx(50 / 140)
    (result,) = full(990, LogDir("/b", 1000, 300))
    assert (result.evidence["dir_bytes"], result.evidence["still_above_bytes"]) == (100, 40)
    assert result.recommendation.args["way"].args["still_above_bytes"] == 40


def test_nothing_moves_to_a_dir_that_is_cordoned() -> None:
    (result,) = full(950, replace(OTHER, is_cordoned=True))
    assert (result.evidence["replica_moves_between_dirs"], result.gain) == (0, 0.0)
    assert result.recommendation.args["way"].code is FactCode.NO_REPLICA_FITS_OTHER_DIR


@pytest.mark.parametrize(
    "second",
    [LogDir("/b", 1000, 50), LogDir("/b", error="KafkaStorage (56)"), LogDir("/b"), LogDir("/b", 1000, 100)],
    ids=["the same volume", "failed", "of unknown size", "as full"],
)
def test_no_word_where_there_is_no_other_disk_with_room(second: LogDir) -> None:
    assert full(950, second) == []


def test_what_is_unknown_or_on_its_way_is_left_alone() -> None:
    """Unknown dir or size, or a copy in progress to another dir; the rest of broker 1's six may move."""
    rows = [replace(row, log_dirs=(0, 0, 0)) for row in EVEN]
    mine = [number for number, row in enumerate(rows) if 1 in row.replicas]
    rows[mine[0]] = replace(rows[mine[0]], log_dirs=(None, None, None))
    rows[mine[1]] = replace(rows[mine[1]], log_bytes=(None, None, None))
    rows[mine[2]] = replace(rows[mine[2]], future=(FutureReplica(1, 1, 40),))
    dirs = (LogDir("/a", 1000, 50), OTHER, LogDir("/c", error="KafkaStorage (56)"))
    rows[mine[3]] = replace(rows[mine[3]], log_dirs=(2, 2, 2))
    snapshot = cluster(rows, of=brokers(log_dirs={1: dirs}))
    volumes = broker_volumes(snapshot.brokers[1], snapshot.partitions)
    assert volumes is not None
    assert [[item.path for item in group] for group in volumes.dirs] == [["/a"], ["/b"]]
    assert (volumes.volume_of.tolist(), volumes.size_bytes.tolist()) == ([0, 0], [100, 100])
    assert (snapshot.partitions.replicas[volumes.cells] == 1).all()
    (result,) = full(950, rows=EVEN)  # no dir of any replica is known
    assert result.evidence["replica_moves_between_dirs"] == 0
