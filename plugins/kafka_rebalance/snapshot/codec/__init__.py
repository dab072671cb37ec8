"""Snapshots as JSON objects and back. ``format_version`` 1; bytes, bytes/s; ``null`` is unknown, never zero."""

from kafka_rebalance.snapshot.codec.snapshot_document import (
    FORMAT,
    FORMAT_VERSION,
    snapshot_from_document,
    snapshot_id,
    snapshot_to_document,
)

__all__ = ["FORMAT", "FORMAT_VERSION", "snapshot_from_document", "snapshot_id", "snapshot_to_document"]
