"""Reading a listed cluster into the store: the second reading has rates since the first, where it has none itself."""

import json
from datetime import UTC, datetime

import pytest

from kafka_assignors.errors import UnknownNameError
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.snapshot.figures import LoadKind
from rebalance_advisor import store
from rebalance_advisor.airflow.collecting import collect
from rebalance_advisor.store.checks import Check, record_input_checks
from stack.airflow.cluster_entries import write_entry
from tests.sql.sample_clusters import plain_snapshot
from tests.unit.dumps.dump_texts import DUMPS, LATEST, write_folder

pytestmark = pytest.mark.stack


@pytest.fixture
def dumps(tmp_path, monkeypatch):
    """A list with one cluster of dumps; writes the dumps of a minute at which orders-0 ends at ``end``."""
    write_entry(tmp_path / "clusters.toml", "prod", {"folder": str(tmp_path / "dumps")})
    monkeypatch.setenv("ADVISOR_CLUSTERS_FILE", str(tmp_path / "clusters.toml"))

    def write(minute: int, end: int) -> None:
        latest = LATEST.replace("orders:0:100", f"orders:0:{end}")
        captured_at = f"2026-11-20T06:{minute:02}:00Z\n"
        write_folder(tmp_path / "dumps", DUMPS, latest=latest, offsets=None, captured_at=captured_at)

    return write


def test_rates_are_measured_since_the_reading_before(connection, dumps) -> None:
    """Ten minutes and 60 messages: 0.1 a second."""
    dumps(0, 100)
    first = collect(connection, "prod")
    record_input_checks(connection, first, [Check("a", "block", 0)], [])
    dumps(10, 160)
    second = store.load_snapshot(connection, collect(connection, "prod"))
    assert store.load_snapshot(connection, first).loads.column(LoadKind.IN_MESSAGES_PER_S) is None
    column = second.loads.column(LoadKind.IN_MESSAGES_PER_S)
    assert column is not None
    orders_0 = [second.name_of(row) for row in range(len(second.partitions))].index("orders-0")
    assert (column.values[orders_0], column.window_s) == (0.1, 600)
    assert second.captured_at == datetime(2026, 11, 20, 6, 10, tzinfo=UTC)


def test_the_cluster_is_called_as_the_list_calls_it_and_a_stranger_is_refused(connection, dumps, tmp_path) -> None:
    """The file says "prod"; under its entry's name it is another cluster, without a reading before."""
    from kafka_rebalance.snapshot.codec import snapshot_to_document

    (tmp_path / "file.json").write_text(json.dumps(snapshot_to_document(plain_snapshot())))
    write_entry(tmp_path / "clusters.toml", "other", {"file": str(tmp_path / "file.json")})
    assert store.load_snapshot(connection, collect(connection, "other")).cluster == "other"
    with pytest.raises(UnknownNameError, match="unknown cluster 'prud'"):
        collect(connection, "prud")


def test_a_file_that_cannot_be_read_is_left_out_and_stored_as_a_gap(connection, dumps, tmp_path) -> None:
    dumps(0, 100)
    (tmp_path / "dumps" / "notes.md").write_text("Call Alice before the change.\n")
    stored = store.load_snapshot(connection, collect(connection, "prod"))
    (gap,) = (gap for gap in stored.coverage if gap.what == fact(FactCode.LACKS_FILE, file="notes.md"))
    assert gap.reason.code is FactCode.FILE_LEFT_OUT
