import pytest

from kafka_assignors.errors import InvalidInputError
from rebalance_advisor.prometheus.metric_names import Metric, MetricNames, read_metric_names

FILE = """
window_s = 600
selector = 'cluster="prod"'
broker_label = "node"
topic_label = "t"
partition_label = "p"
bearer_token_file = "token"
in_bytes = ["mine_total", 'gauge:mine_rate{unit="bytes"}']
cpu = ["cpu_seconds", "gauge:cpu_percent", "share:cpu_load"]
[brokers]
"10.0.0.5:7071" = 3
"""


def test_what_a_file_says_takes_the_place_of_what_is_built_in(tmp_path):
    (tmp_path / "names.toml").write_text(FILE)
    names = read_metric_names(tmp_path / "names.toml")
    assert names.in_bytes == (Metric("mine_total"), Metric("mine_rate", 'unit="bytes"', is_counter=False))
    assert [(metric.is_counter, metric.factor) for metric in names.cpu] == [(True, 100), (False, 1), (False, 100)]
    assert (names.broker_labels, names.topic_labels, names.partition_labels) == (("node",), ("t",), ("p",))
    assert (names.window_s, names.selector, names.brokers) == (600, 'cluster="prod"', {"10.0.0.5:7071": 3})
    assert names.bearer_token_file == tmp_path / "token"
    assert names.out_bytes == MetricNames().out_bytes


WRONG = {
    "in_byte = 'x'": "in_byte: is not known; known: in_bytes",
    "in_bytes = 5": "no metric and no list",
    "in_bytes = []": "no metric and no list",
    "in_bytes = ['two words']": "'two words' is no name",
    "broker_label = 'a-b'": "no name of that kind",
    "selector = '{a=\"b\"}'": "no name of that kind",
    "window_s = 0": "no number from 1",
    "window_s = true": "no number from 1",
    "brokers = 5": "no table of label values",
    "brokers = {a = 'b'}": "brokers.a: 'b' is no broker id",
    "= 5": "is no TOML",
}


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_is_refused_with_its_key(text, tmp_path):
    (tmp_path / "names.toml").write_text(text)
    with pytest.raises(InvalidInputError, match=r"names\.toml") as refusal:
        read_metric_names(tmp_path / "names.toml")
    assert WRONG[text] in str(refusal.value)
