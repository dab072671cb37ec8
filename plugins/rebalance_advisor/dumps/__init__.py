"""Files → snapshots: what Kafka's own tools print, cluster models, reassignments, and the advisor's own snapshots."""

from rebalance_advisor.dumps.any_input import read_input

__all__ = ["read_input"]
