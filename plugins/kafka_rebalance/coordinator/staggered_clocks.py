"""Heartbeats spread evenly over their interval: what a rebalance is taken to meet where nobody knows members' clocks.

Example: of four members with a heartbeat every 3 s, the first beats 750 ms after the trigger, the last 3,000 ms after.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from kafka_rebalance.arrays import Longs
from kafka_rebalance.coordinator.timeline import Protocol, Times
from kafka_rebalance.kernels.decorators import inlined_kernel


def interval_of(protocol: Protocol, times: Times) -> int:
    """Milliseconds between two heartbeats of a member."""
    return times.consumer_heartbeat_ms if protocol is Protocol.CONSUMER else times.heartbeat_ms


def staggered(protocol: Protocol, times: Times, members: Sequence[str]) -> Times:
    """``times`` for a replay of ``members``: number i of M first beats (i + 1) / M of an interval after the trigger."""
    interval, count = interval_of(protocol, times), len(members)
    first = {member: first_beat(number, count, interval) for number, member in enumerate(members)}
    return replace(times, heartbeat_offset_ms=first)


def first_beat(member: int, members: int, interval_ms: int) -> int:
    """Of that member's number, in whole ms after the trigger."""
    return interval_ms * (member + 1) // members


def session_end(protocol: Protocol, times: Times, member: int, members: int, silent_ms: int) -> int:
    """When the coordinator gives up one that is silent from ``silent_ms`` on: a session after its last heartbeat."""
    interval = interval_of(protocol, times)
    first = first_beat(member, members, interval)
    missed = first + max(0, -(-(silent_ms - first) // interval)) * interval
    return missed - interval + times.session_ms


def first_beats(members: int, interval_ms: int) -> Longs:
    """``first_beat`` of everybody, to be changed as one likes."""
    return _spread(members, interval_ms).copy()


@lru_cache(maxsize=8)  # a group is asked many times in a row
def _spread(members: int, interval_ms: int) -> Longs:
    return np.arange(interval_ms, interval_ms * (members + 1), interval_ms, dtype=np.int64) // members


@inlined_kernel
def beat_from(first_ms: int, at_ms: int, interval_ms: int) -> int:
    """The first beat at or after ``at_ms`` of one whose beats are ``first_ms``, an interval later, and so on."""
    if at_ms <= first_ms:
        return first_ms
    return first_ms + (at_ms - first_ms + interval_ms - 1) // interval_ms * interval_ms
