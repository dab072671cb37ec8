"""Recorded cases of MetaQ's strategies and hash functions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka_assignors.java.strings import compare_key
from kafka_assignors.metaq import HASHES, consistent_shares, default_share

Input = Mapping[str, Any]
Output = dict[str, Any]


def answer_default(case: Input) -> Output:
    """``metaq_default``: what each consumer, and each stranger in ``query``, takes."""
    consumers, partitions = case["consumers"], case["partitions"]
    asking = (*consumers, *case.get("query", ()))
    return {"assignment": {consumer: default_share(consumer, consumers, partitions) for consumer in asking}}


def answer_consistent(case: Input) -> Output:
    """``metaq_consistent``: strangers get nothing. Lists were recorded sorted, not in the order of MetaQ's set."""
    shares = consistent_shares(case["consumers"], case["partitions"])
    asking = (*case["consumers"], *case.get("query", ()))
    return {"assignment": {consumer: sorted(shares.get(consumer, ()), key=compare_key) for consumer in asking}}


def answer_hash(case: Input) -> Output:
    """``metaq_hash``: every hash function of one key."""
    return {"hash": {name: function(case["key"]) for name, function in HASHES.items()}}
