"""The replayed timelines, followed on live groups: the same partitions pause, none longer than the protocol allows.

A wrong set of partitions fails on any machine. A wrong length fails where it is wrong by more than ``SLACK_S`` and what
a busy machine took (``StolenTime``): a member that leaves costs seconds, one whose session must end 45 of them.
"""

import contextlib
import time
from collections.abc import Callable, Iterator

import pytest

from kafka_assignors.coordinator.pauses import replay_rebalance
from kafka_assignors.coordinator.timeline import Change, Pause, Protocol, Times, Trigger
from stack.kafka.live_cluster import LiveCluster
from stack.kafka.tools import NEWEST
from tests.live.followed_group import HEARTBEAT_MS, SESSION_MS, FollowedGroup
from tests.live.stolen_time import StolenTime, now_ms

pytestmark = pytest.mark.live
TOPIC, PARTITIONS = "clicks", 6
SLACK_S = 8.0  # polls, fetches and callbacks come late


@contextlib.contextmanager
def settled_group(live_cluster: LiveCluster, protocol: Protocol) -> Iterator[FollowedGroup]:
    """A and B read six partitions and have settled."""
    followed = FollowedGroup(live_cluster.cluster.bootstrap, f"followed-{protocol.value}", TOPIC, protocol)
    try:
        followed.join("A")
        followed.settle(PARTITIONS)
        followed.join("B")
        followed.settle(PARTITIONS)
        yield followed
    finally:
        followed.stop()


def protocols_of(live_cluster: LiveCluster) -> tuple[Protocol, ...]:
    """librdkafka speaks the final KIP-848, which Kafka 3.9's preview is not."""
    classic = (Protocol.EAGER, Protocol.COOPERATIVE)
    return (*classic, Protocol.CONSUMER) if live_cluster.cluster.spec.version == NEWEST else classic


def _longest_replay(change: Change, protocol: Protocol) -> dict[tuple[str, int], Pause]:
    """The replay in which every member beats as late as it can."""
    times = Times(session_ms=SESSION_MS, heartbeat_ms=HEARTBEAT_MS, round_trip_ms=50)
    return {pause.partition: pause for pause in replay_rebalance(protocol, change, times).pauses}


def test_a_join_and_a_leave_pause_what_the_replay_says(live_cluster: LiveCluster) -> None:
    for protocol in protocols_of(live_cluster):
        with settled_group(live_cluster, protocol) as group:
            before = group.snapshot()
            joined = _followed(group, lambda: group.join("C"))
            after = group.snapshot()
            _agrees(group, Change(Trigger.MEMBER_JOINS, "C", before, after, "A"), *joined)
            left = _followed(group, lambda: group.leave("C"))
            _agrees(group, Change(Trigger.MEMBER_LEAVES, "C", after, group.snapshot(), "A"), *left)


def _followed(group: FollowedGroup, act: Callable[[], None]) -> tuple[float, float]:
    """Let something happen and the group settle; when it began, and how many seconds pauses may take too long."""
    began_s, began_ms = time.monotonic(), now_ms()
    with StolenTime() as stolen:
        act()
        group.settle(PARTITIONS)
    return began_s, SLACK_S + stolen.allowance_ms(began_ms, now_ms()) / 1000


def _agrees(group: FollowedGroup, change: Change, since_s: float, slack_s: float) -> None:
    observed = group.pauses_since(since_s)
    replayed = _longest_replay(change, group.protocol)
    assert observed.keys() == replayed.keys()
    for partition, (stopped_s, started_s) in observed.items():
        longest_s = (replayed[partition].to_ms - replayed[partition].from_ms) / 1000
        assert started_s - stopped_s <= longest_s + slack_s
        assert started_s <= replayed[partition].to_ms / 1000 + slack_s
