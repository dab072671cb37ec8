import math
from dataclasses import replace

import numpy as np
import pytest

from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.snapshot.figures import LoadKind, LoadSource
from kafka_rebalance.snapshot.model import Broker
from kafka_rebalance.snapshot.partition_table import LoadColumn, PartitionLoads
from rebalance_advisor.prometheus.http_api import PrometheusError, Server
from rebalance_advisor.prometheus.loads import loads_from_prometheus
from rebalance_advisor.prometheus.metric_names import Metric, MetricNames
from tests.unit.planner.sample_clusters import cluster, row
from tests.unit.prometheus.fake_server import fake_prometheus

IN, OUT, CPU, MESSAGES = (
    LoadKind.IN_BYTES_PER_S, LoadKind.OUT_BYTES_PER_S, LoadKind.CPU_PERCENT, LoadKind.IN_MESSAGES_PER_S,
)  # fmt: skip
BROKERS = [Broker(1, host="kafka-1"), Broker(2, host="kafka-2")]
# a-0 and a-1 on broker 1, which leads both; b-0 on broker 2.
CLUSTER = cluster([row("a", 0, [1, 2], 600), row("a", 1, [1, 2], 300), row("b", 0, [2, 1], 50)], BROKERS)
PLAIN = "kafka_server_brokertopicmetrics_"


def by_instance(first, second):
    """Topic a on broker 1 and b on broker 2, and each broker's sum, whose topic is empty."""
    kafka_1, kafka_2 = {"instance": "kafka-1:7071"}, {"instance": "kafka-2:7071"}
    return [
        ({**kafka_1, "topic": "a"}, first), ({**kafka_2, "topic": "b"}, second),
        ({**kafka_1, "topic": ""}, first), (kafka_2, second),
    ]  # fmt: skip


SERIES = {
    f"{PLAIN}bytesin_total": by_instance(90.0, 10.0),
    f"{PLAIN}bytesout_total": by_instance(180.0, 0.0),
    f"{PLAIN}messagesin_total": by_instance(9.0, 1.0),
    "kafka_log_log_logendoffset": [
        ({"topic": "a", "partition": "0", "instance": instance}, 6.0) for instance in ("kafka-1:7071", "kafka-2:7071")
    ] + [({"topic": "a", "partition": "1", "instance": "kafka-1:7071"}, 3.0)],
    "process_cpu_seconds_total": [
        ({"instance": "kafka-1:7071"}, 60.0), ({"instance": "kafka-2:7071"}, 20.0), ({"instance": "web:80"}, 900.0),
    ],
}  # fmt: skip


def read(series, names=None, snapshot=CLUSTER):
    """Snapshot with loads, messages, and the requests."""
    said = []
    with fake_prometheus(series) as server:
        result = loads_from_prometheus(snapshot, server.url, names or MetricNames(), say=said.append)
    return result, said, server


def test_rates_by_topic_and_broker_are_split_over_the_leaders_by_messages():
    """90 bytes/s of a at 6 and 3 messages/s: 60 and 30; b has one partition: exact."""
    reading, said, server = read(SERIES)
    assert reading.load(IN).tolist() == [60.0, 30.0, 10.0]
    assert reading.load(OUT).tolist() == [120.0, 60.0, 0.0]
    assert reading.load(MESSAGES).tolist() == [6.0, 3.0, 1.0]
    assert {column.source for column in reading.loads.columns.values()} == {LoadSource.PROMETHEUS}
    assert {column.window_s for column in reading.loads.columns.values()} == {3600.0}
    assert said[0] == "in_bytes_per_s: 10% exact, 90% split by messages; splits by messages and by size differ by 0%"
    assert reading.coverage == ()
    assert all("[3600s]" in query for query in server.queries)


def test_cpu_is_shared_out_so_that_all_brokers_together_have_what_was_measured():
    """CPU seconds a second, 100 percent each; other scrape targets are no brokers."""
    reading, said, server = read(SERIES)
    assert any(query.endswith("* 100") for query in server.queries)
    cpu, (line,) = reading.load(CPU), [text for text in said if text.startswith("cpu")]
    assert not np.isnan(cpu).any()
    assert cpu[0] == pytest.approx(2 * cpu[1])  # twice the bytes
    assert line.startswith("cpu_percent: 2 brokers, shared out by bytes; a broker's sum is")


def test_without_messages_sizes_split_and_that_is_said():
    series = {name: values for name, values in SERIES.items() if "logendoffset" not in name}
    reading, said, _ = read(series)
    assert reading.load(IN).tolist() == [60.0, 30.0, 10.0]  # 600 and 300 bytes
    assert "90% split by size" in said[0]
    assert [gap.what.code for gap in reading.coverage] == [FactCode.LACKS_METRICS] * 3
    unsure = reading.coverage[0].reason
    assert (unsure.code, unsure.args["kind"]) == (FactCode.SPLIT_NOT_SURE, IN.value)
    assert unsure.args["by_size"] == pytest.approx(0.9)


def test_messages_measured_between_two_snapshots_split_where_the_server_has_no_offsets():
    measured = {MESSAGES: LoadColumn(np.array([1.0, 8.0, 1.0]), LoadSource.OFFSETS_TIMES_MESSAGE_SIZE, 3600.0)}
    series = {f"{PLAIN}bytesin_total": by_instance(90.0, 10.0)}
    reading, _, _ = read(series, snapshot=replace(CLUSTER, loads=PartitionLoads(measured)))
    assert reading.load(IN).tolist() == [10.0, 80.0, 10.0]
    assert reading.load(MESSAGES).tolist() == [1.0, 8.0, 1.0]


def test_names_of_strimzi_pods_kminion_and_msk_are_known():
    pods = [({"topic": "a", "strimzi_io_pod_name": "prod-kafka-1", "instance": "10.0.0.1:9404"}, 90.0),
            ({"topic": "b", "strimzi_io_pod_name": "prod-kafka-2", "instance": "10.0.0.2:9404"}, 10.0)]  # fmt: skip
    water = [({"topic_name": "a", "partition_id": str(number), "instance": "kminion:8080"}, rate)
             for number, rate in ((0, 1.0), (1, 2.0))]  # fmt: skip
    reading, _, _ = read({
        "kafka_server_BrokerTopicMetrics_OneMinuteRate": pods, "kminion_kafka_topic_partition_high_water_mark": water,
    })  # fmt: skip
    assert reading.load(IN).tolist() == [30.0, 60.0, 10.0]


def test_a_source_that_tells_no_broker_is_named_and_given_a_name():
    odd = [({"topic": "a", "instance": "10.1.2.3:7071"}, 90.0), ({"topic": "b", "instance": "kafka-2:7071"}, 10.0)]
    reading, _, _ = read({f"{PLAIN}bytesin_total": odd})
    assert math.isnan(reading.load(IN)[0])
    first = "instance='10.1.2.3:7071'"
    assert reading.coverage[0].reason == fact(FactCode.SOURCES_WITHOUT_BROKER, sources=1, first=first)
    named = MetricNames(brokers={"10.1.2.3:7071": 1})
    reading, _, _ = read({f"{PLAIN}bytesin_total": odd}, named)
    assert reading.load(IN).tolist() == [60.0, 30.0, 10.0]


def test_what_the_server_has_no_series_of_stays_as_it_was_and_is_said():
    given = {IN: LoadColumn(np.array([1.0, 2.0, 3.0]), LoadSource.GIVEN)}
    reading, _, _ = read({}, snapshot=replace(CLUSTER, loads=PartitionLoads(given)))
    assert reading.load(IN).tolist() == [1.0, 2.0, 3.0]
    assert reading.loads.columns[IN].source is LoadSource.GIVEN
    assert [gap.reason.args["kind"] for gap in reading.coverage] == [IN.value, OUT.value, MESSAGES.value]


def test_a_selector_and_a_window_reach_every_query():
    names = MetricNames(selector='cluster="prod"', window_s=600, in_bytes=(Metric.parse('mine{kind="in"}'),))
    _, _, server = read({"mine": by_instance(1.0, 1.0)}, names)
    assert 'rate(mine{kind="in",cluster="prod"}[600s])' in " ".join(server.queries)
    assert all('cluster="prod"' in query and "[600s]" in query for query in server.queries)


SECRETS = ("hunter2", "s3cret-token")


def test_user_password_and_token_go_into_a_header_and_nowhere_else(tmp_path):
    (tmp_path / "token").write_text("s3cret-token\n")
    with fake_prometheus(SERIES) as server:
        url = server.url.replace("//", "//scott:hunter2@")
        loads_from_prometheus(CLUSTER, url, MetricNames())
        assert server.headers[0]["Authorization"] == "Basic c2NvdHQ6aHVudGVyMg=="
        loads_from_prometheus(CLUSTER, server.url, MetricNames(bearer_token_file=tmp_path / "token"))
        assert server.headers[-1]["Authorization"] == "Bearer s3cret-token"
        server.status, server.body = 401, b"no hunter2 for you"
        result = loads_from_prometheus(CLUSTER, url, MetricNames())
        known = repr(Server.at(url, tmp_path / "token"))
    assert str(result.coverage[0].reason.args["text"]).endswith("refuses a query (401)")
    assert not any(secret in text for secret in SECRETS for text in (known, str(result.coverage[0].reason)))


@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        (200, b"<html>", "does not answer as Prometheus does"),
        (200, b'{"data": {"resultType": "matrix", "result": []}}', "does not answer as Prometheus does"),
        (200, b'{"data": {"resultType": "vector", "result": [5]}}', "does not answer as Prometheus does"),
        (400, b'{"errorType": "bad_data", "error": "parse error"}', "refuses a query (400, 'parse error')"),
        (503, b"[]", "refuses a query (503)"),
    ],
)
def test_a_server_that_answers_something_else_is_a_gap_in_words(status, body, message):
    with fake_prometheus({}) as server:
        server.status, server.body = status, body
        (gap,) = loads_from_prometheus(CLUSTER, server.url, MetricNames()).coverage
    assert message in gap.reason.args["text"]


def test_a_server_that_is_not_there_is_a_gap_and_a_wrong_address_is_refused(tmp_path):
    (gap,) = loads_from_prometheus(CLUSTER, "http://127.0.0.1:1", MetricNames()).coverage
    assert "cannot be asked" in gap.reason.args["text"]
    for wrong in ("127.0.0.1:9090", "ftp://host", "http://", "http://[::1", "http://host:port"):
        with pytest.raises(PrometheusError, match="is no address"):
            Server.at(wrong)
    with pytest.raises(PrometheusError, match="cannot be read"):
        Server.at("http://host", tmp_path / "none")
    assert Server.at("https://[::1]:9090/prom/").address == "https://[::1]:9090/prom"
