"""Debian's Prometheus scrapes an exporter of ours: what it tells becomes the loads of a snapshot."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from kafka_rebalance.snapshot.figures import LoadKind, LoadSource
from kafka_rebalance.snapshot.model import Broker, ClusterSnapshot
from rebalance_advisor.airflow.clusters import read_clusters
from rebalance_advisor.airflow.collecting import with_measured_loads
from rebalance_advisor.prometheus import loads_from_prometheus, read_metric_names
from stack.prometheus import running_prometheus
from stack.waiting import wait_for
from tests.unit.planner.sample_clusters import cluster, row

pytestmark = pytest.mark.live

BROKERS = [Broker(1, host="kafka-1"), Broker(2, host="kafka-2")]
CLUSTER = cluster([row("a.b", 0, [1, 2]), row("a.b", 1, [1, 2]), row("c", 0, [2, 1])], BROKERS)
# A second, of each broker: what JMX exporter's own rules make of Kafka's beans.
RATES = {
    1: {
        'kafka_server_brokertopicmetrics_bytesin_total{topic="a.b"}': 9000.0,
        'kafka_server_brokertopicmetrics_bytesin_total{topic=""}': 9000.0,
        'kafka_server_brokertopicmetrics_bytesout_total{topic="a.b"}': 18000.0,
        'kafka_server_brokertopicmetrics_messagesin_total{topic="a.b"}': 90.0,
        'kafka_log_log_logendoffset{topic="a.b",partition="0"}': 60.0,
        'kafka_log_log_logendoffset{topic="a.b",partition="1"}': 30.0,
        "process_cpu_seconds_total": 0.6,
    },
    2: {
        'kafka_server_brokertopicmetrics_bytesin_total{topic="c"}': 1000.0,
        'kafka_server_brokertopicmetrics_messagesin_total{topic="c"}': 10.0,
        'kafka_log_log_logendoffset{topic="c",partition="0"}': 10.0,
        'kafka_log_log_logendoffset{topic="a.b",partition="0"}': 60.0,
        "process_cpu_seconds_total": 0.2,
    },
}


@pytest.fixture
def exporters():
    """HOST:PORT → labels, one for each broker; counters grow with the clock."""
    servers = []
    for broker, rates in RATES.items():

        class Exporter(BaseHTTPRequestHandler):
            rates_a_second = rates

            def do_GET(self):
                lines = [f"{name} {rate * time.time():.3f}" for name, rate in self.rates_a_second.items()]
                content = ("\n".join(lines) + "\n").encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/plain; version=0.0.4")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_):
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Exporter)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append((server, broker))
    yield {f"127.0.0.1:{server.server_address[1]}": {"broker_id": str(broker)} for server, broker in servers}
    for server, _ in servers:
        server.shutdown()
        server.server_close()


EXPECTED = {
    LoadKind.IN_BYTES_PER_S: [6000, 3000, 1000],
    LoadKind.OUT_BYTES_PER_S: [12000, 6000, 0],
    LoadKind.IN_MESSAGES_PER_S: [60, 30, 10],
}


def rates_of(seen: tuple[ClusterSnapshot, ...]) -> list[list[list[float]]]:
    return [[snapshot.load(kind).tolist() for kind in (*EXPECTED, LoadKind.CPU_PERCENT)] for snapshot in seen]


def are_right(seen: tuple[ClusterSnapshot, ...]) -> bool:
    def near(wanted: object) -> object:
        return pytest.approx(wanted, rel=0.05)

    return all(
        rates == [near(wanted) for wanted in EXPECTED.values()] and cpu[0] == near(2 * cpu[1])
        for *rates, cpu in rates_of(seen)
    )


def test_what_prometheus_tells_becomes_the_loads_of_a_snapshot(exporters, tmp_path):
    """A window of 10 s, after 15 s of scraping: rates within a twentieth, shares of topics by offsets."""
    (tmp_path / "names.toml").write_text("window_s = 10\nselector = 'job=\"kafka\"'\n")
    names, said = read_metric_names(tmp_path / "names.toml"), []
    with running_prometheus(tmp_path, exporters) as address:
        (tmp_path / "clusters.toml").write_text(
            f'[clusters.prod]\nfolder = "dumps"\nprometheus = "{address}"\nmetric_names = "names.toml"\n'
        )
        entry = read_clusters(tmp_path / "clusters.toml").entry("prod")

        def look() -> tuple[ClusterSnapshot, ClusterSnapshot]:
            said.clear()
            now = replace(CLUSTER, captured_at=datetime.now(UTC))
            return loads_from_prometheus(now, address, names, say=said.append), with_measured_loads(now, entry)

        time.sleep(15)
        # A scrape that a busy machine answers late has the wrong second: rates are right a window later.
        result, collected = wait_for("rates within a twentieth", look, until=are_right, gist=rates_of, every_s=1)
    assert {column.source for column in result.loads.columns.values()} == {LoadSource.PROMETHEUS}
    assert {column.window_s for column in result.loads.columns.values()} == {10.0}
    cpu = result.load(LoadKind.CPU_PERCENT)
    assert cpu[0] == pytest.approx(2 * cpu[1], rel=0.05)
    assert said[0].startswith("in_bytes_per_s: 10% exact, 90% split by messages")
    assert result.coverage == ()
    # As the DAGs collect it, the table in clusters.toml names the server: counters have grown since, rates have not.
    for kind, column in result.loads.columns.items():
        assert collected.load(kind).tolist() == pytest.approx(result.load(kind).tolist(), rel=0.1)
        assert collected.loads.columns[kind].source == column.source
