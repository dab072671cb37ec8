"""Rates by topic and broker, split over the partitions that each broker leads."""

from rebalance_advisor.prometheus.loads import loads_from_prometheus
from rebalance_advisor.prometheus.metric_names import MetricNames, read_metric_names

__all__ = ["MetricNames", "loads_from_prometheus", "read_metric_names"]
