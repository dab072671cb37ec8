"""What a topic that gets more partitions, or is new, looks like: its name, its id, and what each partition carries."""

from __future__ import annotations

import base64
from collections.abc import Container

import numpy as np

from kafka_rebalance.arrays import Floats


def spread_over_all(rates: Floats, known: int) -> None:
    """What the first ``known`` partitions of a topic carry, spread in place over all of them, the new ones behind.

    Keys go to other partitions, so no partition's rate stays: each gets the topic's mean; unknown where one is.
    """
    rates[:] = rates[:known].sum() / len(rates)


def drawn_topic_id(lots: np.random.Generator) -> str:
    """A topic id as Kafka writes it: 22 characters."""
    return base64.urlsafe_b64encode(lots.bytes(16)).decode().rstrip("=")


def free_name(topics: Container[str], like: str) -> str:
    """A name that no topic has yet."""
    name = f"{like}.new"
    while name in topics:
        name += ".new"
    return name
