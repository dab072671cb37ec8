"""Live groups under every client and server strategy: what was predicted before each event is what happened.

    pytest -s -m live tests/live/test_live_scenarios.py

prints the list. Real consumers of Kafka's Java client; members join, leave, crash (kill -9 of their JVM), restart
within their session and stay away beyond it, a topic grows, strategies change by rolling bounces.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from stack.kafka.cluster import ClusterSpec, start_cluster
from stack.kafka.setup import admin, create_topics
from tests.live.followed_lanes import COUNTS, RACKS, STATIC, FollowedLanes, Lane, Outcome
from tests.live.java_members import SESSION_MS, JavaMembers, broker_times

pytestmark = [pytest.mark.live, pytest.mark.matrix]

LANES = (
    Lane("range"), Lane("range", has_racks=True), Lane("roundrobin"), Lane("sticky"), Lane("sticky", has_racks=True),
    Lane("cooperative-sticky"), Lane("cooperative-sticky", has_racks=True), Lane("uniform", is_server=True),
    Lane("range", is_server=True),
)  # fmt: skip
GROWN = {"clicks": 9}
# Lane → what its members list, bounce by bounce: between client strategies both stand for a while, as Kafka's guide
# says.
CHANGES: dict[Lane, tuple[tuple[str, ...], ...]] = {
    LANES[0]: (("cooperative-sticky", "range"), ("cooperative-sticky",)),
    LANES[2]: (("sticky", "roundrobin"), ("sticky",)),
    LANES[3]: (("cooperative-sticky", "sticky"), ("cooperative-sticky",)),
    LANES[7]: (("range",),),
    LANES[8]: (("uniform",),),
}


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FollowedLanes]:
    """A cluster with the topics of every lane, nobody reading yet."""
    spec = ClusterSpec(racks=RACKS, broker_properties=broker_times(SESSION_MS))
    with start_cluster(spec, tmp_path_factory.mktemp("scenarios") / "cluster") as cluster:
        lanes = FollowedLanes(cluster, LANES)
        placement = {topic: replicas for lane in LANES for topic, replicas in lane.placement.items()}
        create_topics(cluster.bootstrap, placement, {})
        lanes.counts.update({topic: len(replicas) for topic, replicas in placement.items()})
        yield lanes


def grow(lanes: FollowedLanes) -> None:
    grown = {lane.topic(kind): count for lane in LANES for kind, count in GROWN.items()}
    lanes.counts.update(grown)
    with admin(lanes.cluster.bootstrap) as client:
        client.create_partitions(grown)


def change_strategies(lanes: FollowedLanes, jvm: JavaMembers) -> None:
    """Member by member closed and started anew with another list; each closing and each start is predicted."""
    for turn in range(max(map(len, CHANGES.values()))):
        changing = {lane: lists[turn] for lane, lists in CHANGES.items() if turn < len(lists)}
        for letter in "ABC":
            lanes.follow("strategy changed", lambda: lanes.leave(jvm, changing, letter), changing)  # noqa: B023

            def start() -> None:
                for lane, strategies in changing.items():  # noqa: B023
                    lanes.join(jvm, [lane], letter, strategies=strategies)  # noqa: B023

            lanes.follow("strategy changed", start, changing)


def all_scenarios(lanes: FollowedLanes) -> None:
    with JavaMembers() as jvm:
        lanes.start(lambda: lanes.join(jvm, LANES, "A"))
        lanes.follow("join", lambda: lanes.join(jvm, LANES, "B"))
        lanes.follow("join of a static member", lambda: lanes.join(jvm, LANES, STATIC))
        lanes.follow("join with fewer topics", lambda: lanes.join(jvm, LANES, "D", kinds=["orders", "clicks"]))

        def restart() -> None:
            lanes.leave(jvm, LANES, STATIC)
            lanes.join(jvm, LANES, STATIC)

        lanes.follow("static restart in the session", restart, gone=STATIC, is_rebalanced=False)
        lanes.follow("topic grown", lambda: grow(lanes))
        lanes.follow("leave", lambda: lanes.leave(jvm, LANES, "D"))
        with JavaMembers() as doomed:
            lanes.follow("join", lambda: lanes.join(doomed, LANES, "K"))

            def crash() -> None:
                doomed.kill()
                lanes.forget(LANES, "K")

            lanes.follow("crash", crash)
        lanes.follow("static member away beyond the session", lambda: lanes.leave(jvm, LANES, STATIC))
        lanes.follow("join", lambda: lanes.join(jvm, LANES, "C"))
        change_strategies(lanes, jvm)


def as_rows(outcomes: list[Outcome]) -> list[str]:
    """A row for each kind of event that befell a group; ``moved`` and ``differences`` of all events of the kind."""
    rows = [
        "| group | scenario | events | members | partitions | moved | differences |",
        "|---|---|---|---|---|---|---|",
    ]
    kinds: dict[tuple[str, str], list[Outcome]] = {}
    for outcome in outcomes:
        kinds.setdefault((outcome.lane, outcome.scenario), []).append(outcome)
    for (lane, scenario), events in sorted(kinds.items()):
        members = "–".join(dict.fromkeys(str(count) for count in sorted(event.members for event in events)))
        moved, wrong = sum(event.moved for event in events), sum(len(event.wrong) for event in events)
        rows.append(
            f"| {lane} | {scenario} | {len(events)} | {members} | {events[-1].partitions} | {moved} | {wrong} |"
        )
    return rows


def test_what_was_predicted_is_what_happened(followed: FollowedLanes, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        all_scenarios(followed)
    finally:
        with capsys.disabled():
            print(
                "",
                *as_rows(followed.outcomes),
                *(repr(outcome) for outcome in followed.outcomes if outcome.wrong),
                sep="\n",
            )
    assert [outcome for outcome in followed.outcomes if outcome.wrong] == []
    assert len({(outcome.lane, outcome.scenario) for outcome in followed.outcomes}) == len(LANES) * 8 + len(CHANGES)
    # The events did something: partitions moved under every strategy, new ones are read, the last strategy is in use.
    for lane in LANES:
        outcomes = [outcome for outcome in followed.outcomes if outcome.lane == lane.name]
        assert any(outcome.moved for outcome in outcomes)
        assert outcomes[-1].partitions == sum((COUNTS | GROWN).values())
    assert {lane: (followed.strategy(lane),) for lane in CHANGES} == {
        lane: lists[-1] for lane, lists in CHANGES.items()
    }
