from dataclasses import replace

import pytest

from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.findings.broker_rules import broker_not_heard, log_dir_offline, racks_unknown, stray_logs
from kafka_rebalance.findings.finding import Severity
from kafka_rebalance.findings.placement_rules import broker_disk_full
from kafka_rebalance.snapshot.model import BrokerState, Capacity, FutureReplica, LogDir
from tests.unit.findings.sample_clusters import brokers, cluster, findings_of, striped

EVEN = striped("t", 12)  # twelve partitions of three replicas over six brokers: six replicas and two leaders each


@pytest.mark.parametrize("state", ["refused", "silent", "disconnected", "unresponsive"])
def test_a_broker_that_was_not_heard_is_told_with_what_hangs_on_it(state: str) -> None:
    (finding,) = findings_of(cluster(EVEN, of=brokers(state={2: BrokerState(state)})), broker_not_heard.__name__)
    assert (finding.subject, finding.severity) == ("2", Severity.HIGH)
    assert finding.evidence == {"replicas": 6, "leaders": 2, "state": state}
    assert (finding.recommendation.args["broker"], finding.recommendation.args["state"]) == (2, state)


def test_why_a_broker_is_unresponsive_is_said() -> None:
    """No dump shows it alive; or its log dirs were read, but the tool that lists brokers got no answer."""
    state = {2: BrokerState.UNRESPONSIVE}
    (finding,) = findings_of(cluster(EVEN, of=brokers(state=state)), broker_not_heard.__name__)
    assert finding.recommendation.args["why"] == "leads_nothing"
    answered = brokers(state=state, log_dirs={2: (LogDir("/d"),)})
    (finding,) = findings_of(cluster(EVEN, of=answered), broker_not_heard.__name__)
    assert finding.recommendation.args["why"] == "does_not_answer"


def test_strays_are_told_with_bytes_broker_and_dir_and_fill_a_disk() -> None:
    """600 bytes of replicas and 310 of strays on a disk of 1,000: it is full, and would not be without these."""
    dirs = (
        LogDir("/a", stray_logs=2, stray_bytes=300, largest_stray="t-9"),
        LogDir("/b", stray_logs=1, stray_bytes=10),
    )
    given = {broker: Capacity(disk_bytes=1000) for broker in range(6)}
    snapshot = cluster(EVEN, of=brokers(log_dirs={1: dirs}, capacity=given))
    (finding,) = findings_of(snapshot, stray_logs.__name__)
    assert (finding.subject, finding.severity) == ("1", Severity.MEDIUM)
    assert finding.evidence == {"logs": 3, "stray_bytes": 310, "log_dirs": ("/a", "/b"), "example": "t-9"}
    (full,) = findings_of(snapshot, broker_disk_full.__name__)
    assert (full.subject, full.evidence["used_bytes"], full.evidence["used_ratio"]) == ("1", 910, 0.91)
    assert full.recommendation.args["filling_stray_bytes"] == 310
    assert findings_of(cluster(EVEN, of=brokers(capacity=given)), broker_disk_full.__name__) == []


def test_a_copy_between_dirs_fills_a_disk_too() -> None:
    given = {broker: Capacity(disk_bytes=1000) for broker in range(6)}
    first = next(number for number, row in enumerate(EVEN) if 1 in row.replicas)
    rows = [replace(row, future=(FutureReplica(1, 0, 400),)) if n == first else row for n, row in enumerate(EVEN)]
    (full,) = findings_of(cluster(rows, of=brokers(capacity=given)), broker_disk_full.__name__)
    assert (full.subject, full.evidence["used_bytes"]) == ("1", 1000)


def test_brokers_without_a_rack_beside_others_are_named() -> None:
    """Kafka's own tool refuses such a cluster (blueking-dbm #14096)."""
    some = tuple(replace(broker, rack=None) if broker.id in (3, 4) else broker for broker in brokers())
    (finding,) = findings_of(cluster(EVEN, of=some), racks_unknown.__name__)
    assert finding.evidence == {"brokers_without_rack": 2, "brokers": (3, 4), "racks": 3}
    assert finding.recommendation == fact(FactCode.RACKS_UNKNOWN, brokers=(3, 4), brokers_without_rack=2, racks=3)
    gone = tuple(replace(broker, state=BrokerState.DEAD) if broker.id in (3, 4) else broker for broker in some)
    none = tuple(replace(broker, rack=None) for broker in brokers())
    for of in (gone, none, brokers()):
        assert findings_of(cluster(EVEN, of=of), racks_unknown.__name__) == []


def test_a_dead_log_dir_is_told_by_its_path_with_its_replicas() -> None:
    """Two of broker 1's six replicas are on the dead disk; its other dir works."""
    dirs = (LogDir("/good", 100, 50), LogDir("/bad", error="KafkaStorage (56)"))
    mine = [row for row in EVEN if 1 in row.replicas][:2]
    rows = [replace(row, offline=(1,)) if row in mine else row for row in EVEN]
    (finding,) = findings_of(cluster(rows, of=brokers(log_dirs={1: dirs})), log_dir_offline.__name__)
    assert finding.subject == "1"
    assert finding.evidence == {"log_dirs": 1, "paths": ("/bad",), "error": "KafkaStorage (56)", "replicas": 2}
    assert finding.recommendation == fact(FactCode.LOG_DIR_OFFLINE, broker=1, paths=("/bad",), replicas=2)
    early = [replace(row, log_bytes=(None,) * 3) if row in mine else row for row in EVEN]  # the metadata lags behind
    (finding,) = findings_of(cluster(early, of=brokers(log_dirs={1: dirs})), log_dir_offline.__name__)
    assert finding.evidence["replicas"] == 2


def test_offline_replicas_tell_of_a_disk_only_where_their_broker_serves() -> None:
    rows = [replace(row, offline=(1,)) if 1 in row.replicas else row for row in EVEN]
    (finding,) = findings_of(cluster(rows), log_dir_offline.__name__)
    assert finding.recommendation == fact(FactCode.LOG_DIR_OFFLINE, broker=1, paths=(), replicas=6)
    for state in (BrokerState.DEAD, BrokerState.FENCED, BrokerState.REFUSED):
        assert findings_of(cluster(rows, of=brokers(state={1: state})), log_dir_offline.__name__) == []
