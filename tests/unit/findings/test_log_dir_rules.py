from dataclasses import replace

import pytest

from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.findings.finding import Finding, Severity
from kafka_rebalance.findings.placement_rules import log_dir_full
from kafka_rebalance.log_dir_plans.make import broker_places
from kafka_rebalance.snapshot.model import BrokerState, FutureReplica, LogDir, Partition
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
    """950 and 100 of 1,000: both end at 425 to 625, so 4 replicas of 100 move. 900 and 100: 3 do."""
    (result,) = full(950)
    assert result.subject == "1"
    assert result.evidence == {
        "paths": ("/a",), "used_ratio": 0.95, "others_used_ratio": 0.1, "replica_moves_between_dirs": 4,
        "dir_bytes": 400, "dir_bytes_lower_bound": 400, "above_bytes": 100, "still_above_bytes": 0,
    }  # fmt: skip
    way = result.recommendation.args["way"]
    assert way == fact(
        FactCode.MOVE_BETWEEN_DIRS,
        replicas=4,
        moved_bytes=400.0,
        lower_bound_bytes=400.0,
        first_moves=way.args["first_moves"],
        still_above_bytes=0.0,
        used_ratio_limit=0.85,
    )
    assert {path for _, path in way.args["first_moves"]} == {"/b"}
    assert len(set(way.args["first_moves"])) == 4
    assert (result.gain, result.cost_bytes) == (1.0, 400.0)
    (result,) = full(900)
    assert (result.evidence["dir_bytes"], result.evidence["dir_bytes_lower_bound"]) == (300, 300)


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
    places = broker_places(snapshot.brokers[1], snapshot.partitions, frozenset())
    assert places is not None
    assert [[item.path for item in group] for group in places.dirs] == [["/a"], ["/b"]]
    assert (places.place_of.tolist(), places.size_bytes.tolist()) == ([0, 0], [100, 100])
    assert (snapshot.partitions.replicas[places.cells] == 1).all()
    (result,) = full(950, rows=EVEN)  # no dir of any replica is known
    assert result.evidence["replica_moves_between_dirs"] == 0


@pytest.mark.parametrize("state", [BrokerState.SILENT, BrokerState.DRAINING])
def test_a_broker_that_no_plan_between_dirs_takes_is_not_sent_to_it(state: BrokerState) -> None:
    snapshot = cluster(EVEN, of=brokers(log_dirs={1: (LogDir("/a", 1000, 50), OTHER)}))
    of_state = tuple(replace(one, state=state) if one.id == 1 else one for one in snapshot.brokers)
    assert findings_of(replace(snapshot, brokers=of_state), log_dir_full.__name__) == []


@pytest.mark.parametrize("change", [{"offline": (2,)}, {"observers": (2,), "isr": (0, 1)}, {"adding": (2,)}])
def test_replicas_of_a_partition_that_stays_as_it_is_are_not_named(change: dict) -> None:
    rows = [replace(row, log_dirs=(0, 0, 0), **change) if 2 in row.replicas else row for row in EVEN]
    rows = [replace(row, log_dirs=(0, 0, 0)) for row in rows]
    (result,) = full(950, rows=rows)
    named = [name for name, _ in result.recommendation.args["way"].args.get("first_moves", ())]
    assert not {f"{row.topic}-{row.partition}" for row in rows if 2 in row.replicas} & set(named)
