import json
import logging
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.facts import FactCode
from kafka_rebalance.snapshot.figures import LoadKind
from kafka_rebalance.snapshot.history import LONGEST_WINDOW_S, has_rates
from rebalance_advisor.airflow.clusters import ClusterEntry
from rebalance_advisor.airflow.collecting import read_entry, with_measured_loads, with_rates_since
from rebalance_advisor.dumps import read_input
from tests.unit.prometheus.fake_server import fake_prometheus

MAP = {"version": 1, "partitions": [{"topic": "t", "partition": 0, "replicas": [1, 2]}]}
NOW = datetime(2026, 11, 20, 6, tzinfo=UTC)


@pytest.fixture
def entry(tmp_path):
    """A file with the placement of two brokers, and what one of them can hold."""
    (tmp_path / "map.json").write_text(json.dumps(MAP))
    (tmp_path / "capacity.csv").write_text("broker,disk_bytes\n2,1000\n")
    return ClusterEntry("prod", path=tmp_path / "map.json", capacity=tmp_path / "capacity.csv")


def test_an_entry_is_read_under_its_name_with_the_capacities_that_somebody_wrote_down(entry):
    result = read_entry(entry)
    assert result.cluster == "prod"
    assert [broker.capacity.disk_bytes for broker in result.brokers] == [None, 1000]
    assert [broker.capacity.disk_bytes for broker in read_entry(replace(entry, capacity=None)).brokers] == [None, None]


@pytest.fixture
def newest(entry):
    """The placement with the size and the end of its one log: 1,000 bytes more an hour, for 100 messages."""
    snapshot = read_input(str(entry.path), "prod")

    def at(moment, hours=0):
        ends = replace(
            snapshot.partitions,
            replica_log_bytes=snapshot.partitions.replica_log_bytes * 0 + 5000 + 1000 * hours,
            start_offset=snapshot.partitions.start_offset * 0,
            end_offset=snapshot.partitions.end_offset * 0 + 500 + 100 * hours,
        )
        return replace(snapshot, partitions=ends, captured_at=moment)

    return at


def test_an_hour_between_two_readings_gives_rates(newest):
    before, now = newest(NOW - timedelta(hours=1)), newest(NOW, hours=1)
    assert not has_rates(now)
    snapshot = with_rates_since(before, now)
    assert has_rates(snapshot)
    assert snapshot.load(LoadKind.IN_BYTES_PER_S).tolist() == pytest.approx([1000 / 3600])
    assert snapshot.load(LoadKind.IN_MESSAGES_PER_S).tolist() == pytest.approx([100 / 3600])


@pytest.mark.parametrize(
    ("age_s", "message"),
    [
        (29, "the snapshot before is 29 s older"),
        (LONGEST_WINDOW_S + 1, "the snapshot before is 93601 s older"),
        (-60, "no rates: "),
    ],
)
def test_a_time_that_says_too_little_gives_none_and_the_log_says_why(newest, caplog, age_s, message):
    now = newest(NOW, hours=1)
    with caplog.at_level(logging.INFO):
        assert with_rates_since(newest(NOW - timedelta(seconds=age_s)), now) is now
    assert message in caplog.text


@pytest.mark.parametrize("age_s", [30, LONGEST_WINDOW_S])
def test_half_a_minute_and_a_day_with_a_late_start_are_enough(newest, age_s):
    assert has_rates(with_rates_since(newest(NOW - timedelta(seconds=age_s)), newest(NOW, hours=1)))


def test_a_prometheus_tells_the_loads_of_its_cluster_and_one_that_is_away_is_a_gap(newest, entry):
    """Broker 1 leads t-0, the only partition: all that it counts is t-0's."""
    labels = {"topic": "t", "instance": "1"}
    series = {"kafka_server_brokertopicmetrics_bytesin_total": [(labels, 90.0)]}
    reading = newest(NOW)
    assert with_measured_loads(reading, entry) is reading
    with fake_prometheus(series) as server:
        snapshot = with_measured_loads(newest(NOW), replace(entry, prometheus=server.url))
    assert snapshot.load(LoadKind.IN_BYTES_PER_S).tolist() == [90.0]
    away = with_measured_loads(newest(NOW), replace(entry, prometheus=server.url))
    assert sum(gap.lacks(FactCode.LACKS_METRICS) for gap in away.coverage) == 1
    with pytest.raises(InvalidInputError, match="is no address"):
        with_measured_loads(newest(NOW), replace(entry, prometheus="p:9090"))
