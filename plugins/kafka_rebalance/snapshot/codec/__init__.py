"""Snapshots as JSON objects and back. ``format_version`` 1; bytes, bytes/s; ``null`` is unknown, never zero."""

from kafka_rebalance.snapshot.codec.cluster_rows import gap_document, quota_document, read_gap, read_quota
from kafka_rebalance.snapshot.codec.group_rows import (
    read_subtopology,
    read_tasks,
    subtopology_documents,
    tasks_document,
)
from kafka_rebalance.snapshot.codec.snapshot_document import (
    FORMAT,
    FORMAT_VERSION,
    snapshot_from_document,
    snapshot_id,
    snapshot_to_document,
)

__all__ = [
    "FORMAT", "FORMAT_VERSION", "gap_document", "quota_document", "read_gap", "read_quota", "read_subtopology",
    "read_tasks", "snapshot_from_document", "snapshot_id", "snapshot_to_document", "subtopology_documents",
    "tasks_document",
]  # fmt: skip
