"""Groups with what rules say of their clients (``options.client_rule``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kafka_rebalance.options.client_rule import ClientRule
from kafka_rebalance.snapshot.model import ClusterSnapshot, Group


def with_clients(snapshot: ClusterSnapshot, rules: Sequence[ClientRule]) -> ClusterSnapshot:
    """The same with what the first rule that covers a group says of it; others stay as they are."""
    if not rules:
        return snapshot
    return replace(snapshot, groups=tuple(_told(group, rules) for group in snapshot.groups))


def _told(group: Group, rules: Sequence[ClientRule]) -> Group:
    ids = {member.client_id for member in group.members}
    for rule in rules:
        if rule.covers(group.id, ids):
            return replace(group, client=rule.client, client_version=rule.version)
    return group
