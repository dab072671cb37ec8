"""Findings on Kafka Streams groups: examples of each, and 300 random groups in which each agrees with the replay."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest

from kafka_assignors.streams import StreamsMember, StreamsRequest, StreamsSubtopology, Task, streams_sticky
from kafka_rebalance.findings.context import FindingContext
from kafka_rebalance.findings.finding import Finding, Severity
from kafka_rebalance.findings.rules import RULES
from kafka_rebalance.findings.streams_rules import StreamsCause
from kafka_rebalance.groups.group_input import group_inputs
from kafka_rebalance.groups.group_replay import ReplayOptions
from kafka_rebalance.groups.scenarios import SCENARIOS
from kafka_rebalance.groups.streams_tasks import MissingPart, StreamsReplay, StreamsScenario
from kafka_rebalance.render import render
from kafka_rebalance.scoring.snapshot_scores import score_cluster
from kafka_rebalance.snapshot.group import Group, GroupType, Member, Subtopology, Tasks
from kafka_rebalance.snapshot.model import ClusterSnapshot, Partition
from tests.unit.findings.sample_clusters import cluster, require_text, striped
from tests.unit.groups.test_classic_streams import at_rest

EVENT = ReplayOptions(scenarios=SCENARIOS)
CODES = (
    "streams_threads_idle", "streams_no_standby", "streams_standbys_missing", "streams_tasks_uneven",
    "streams_standbys_move",
)  # fmt: skip
STATEFUL = Subtopology("0", ("orders",), (), ("app-changelog",))


def member(name: str, process: str, active: tuple[int, ...] = (), standby: tuple[int, ...] = ()) -> Member:
    tasks = Tasks(*((("0", numbers),) if numbers else () for numbers in (active, standby)))
    return Member(name, process_id=process, tasks=tasks, target_tasks=tasks, subscription=("orders",))


def snapshot_of(
    members: list[Member],
    standbys: int | None,
    tasks: int = 4,
    state_bytes: int = 100,
    parts: tuple[Subtopology, ...] = (STATEFUL,),
    version: str | None = "4.3.1",
) -> ClusterSnapshot:
    configs = {} if standbys is None else {"streams.num.standby.replicas": str(standbys)}
    group = Group("app", GroupType.STREAMS, "streams", state="Stable", members=tuple(members), subtopologies=parts,
                  configs=configs)  # fmt: skip
    rows: list[Partition] = [*striped("orders", tasks), *striped("app-changelog", tasks, state_bytes)]
    return replace(cluster(rows, groups=[group]), kafka_version=version)


def judged(snapshot: ClusterSnapshot, options: ReplayOptions = EVENT) -> tuple[dict[str, Finding], StreamsReplay]:
    """The findings of these rules, and the replay that they rest on."""
    replays = [options.replay(given) for given in group_inputs(snapshot)]
    context = FindingContext(snapshot, score_cluster(snapshot), replays, None)
    found = {one.code: one for rule in RULES for one in rule(context) if one.code in CODES}
    for one in found.values():
        require_text(one.recommendation)
        require_text(one.cost)
    assert replays[0].streams is not None
    return found, replays[0].streams


EVEN = [member("a", "p", (0, 1), (2, 3)), member("b", "q", (2, 3), (0, 1))]


def test_an_even_group_with_its_standbys_has_no_finding() -> None:
    assert judged(snapshot_of(EVEN, 1))[0] == {}


def test_more_threads_than_tasks() -> None:
    one_each = [member(name, process, (place,)) for place, (name, process) in enumerate(("ap", "bp", "cq", "dq"))]
    found, _ = judged(snapshot_of([*one_each, member("e", "p"), member("f", "q")], 0, state_bytes=0))
    findings_of = found.pop("streams_threads_idle")
    assert not found
    assert (findings_of.severity, findings_of.evidence["cause"], findings_of.evidence["example"]) == (
        Severity.MEDIUM,
        "fewer_tasks",
        "e",
    )
    assert render(findings_of.recommendation) == (
        "2 of 6 threads have no task: the group has 4 tasks in all. Lower num.stream.threads or run fewer instances, "
        "or add partitions to orders (4 partitions each). Changelogs keep their partitions, so a stateful application "
        "must be reset for that (kafka-streams-application-reset)."
    )


def test_no_standby_where_the_state_is_large() -> None:
    """Changelogs hold half of the cluster's bytes. q dies: p restores 2 and 3; with a standby each it has them."""
    bare = [member("a", "p", (0, 1)), member("b", "q", (2, 3))]
    found, _ = judged(snapshot_of(bare, 0))
    findings_of = found.pop("streams_no_standby")
    assert not found
    assert (findings_of.severity, findings_of.gain) == (Severity.MEDIUM, 1.0)
    evidence = findings_of.evidence
    assert (evidence["tasks_restored"], evidence["tasks_restored_with_standbys"]) == (2, 0)
    assert evidence["changelog_bytes"] == 400
    assert "Set streams.num.standby.replicas=1 for the group" in render(findings_of.recommendation)
    assert judged(snapshot_of(bare, 0, state_bytes=0))[0] == {}
    assert judged(snapshot_of(bare, 1))[0].keys() == {"streams_standbys_missing"}
    stateless = (replace(STATEFUL, changelog_topics=()),)
    assert judged(snapshot_of(bare, 0, parts=stateless))[0] == {}
    unknown = (replace(STATEFUL, changelog_topics=("hidden",)),)
    assert judged(snapshot_of(bare, 0, parts=unknown))[0]["streams_no_standby"].severity is Severity.LOW
    assert judged(snapshot_of(bare, 0), ReplayOptions())[0] == {}, "events were not asked for"


def test_no_standby_in_classic_streams_where_changelogs_by_name_are_large() -> None:
    """Half of the cluster's bytes; another application's changelogs do not count."""
    classic = at_rest()
    other = Group("app-two", GroupType.CLASSIC, "stream", state="Empty")
    rows = [*striped("orders", 6), *striped("app-two-x-changelog", 4), *striped("app-store-changelog", 4)]
    snapshot = cluster(rows, groups=[classic.group, other])
    told = judged(snapshot)[0]["streams_no_standby"]
    evidence = told.evidence
    assert (told.severity, evidence["tasks_restored"], evidence["changelog_bytes"]) == (Severity.MEDIUM, 4, 400)
    assert "Set num.standby.replicas=1 in the application and restart" in render(told.recommendation)
    hidden = judged(cluster(rows[:-4], groups=[classic.group, other]))[0]["streams_no_standby"]
    assert (hidden.severity, hidden.evidence["changelog_bytes"]) == (Severity.LOW, None)
    small = [*rows[:-4], *striped("app-store-changelog", 4, 0)]
    for rest in (
        cluster(small, groups=[classic.group, other]),
        replace(snapshot, groups=(at_rest(standby_replicas=1).group,)),
    ):
        assert "streams_no_standby" not in judged(rest)[0]


@pytest.mark.parametrize(
    ("members", "standbys", "cause", "words"),
    [
        (EVEN, 2, "few_instances", "4 of 8 standby tasks are missing: a task and its 2 standbys need 3 instances"),
        ([member("a", "p", (0, 1)), member("b", "q", (2, 3))], 1, "next_target", "The next rebalance places all"),
    ],
)
def test_standbys_that_are_missing(members: list[Member], standbys: int, cause: str, words: str) -> None:
    findings_of = judged(snapshot_of(members, standbys))[0]["streams_standbys_missing"]
    assert findings_of.evidence["cause"] == cause
    assert words in render(findings_of.recommendation)


def test_uneven_tasks_and_whether_a_rebalance_mends_them() -> None:
    """Quota 2: a keeps 0 and 1, b gets 2."""
    found, _ = judged(snapshot_of([member("a", "p", (0, 1, 2)), member("b", "q", (3,))], 0, state_bytes=0))
    findings_of = found.pop("streams_tasks_uneven")
    assert (not found, findings_of.evidence["cause"], findings_of.evidence["most_active_after"]) == (
        True,
        "next_target",
        2,
    )
    assert findings_of.gain == pytest.approx(1 / 3)
    unknown = snapshot_of([member("a", "p", (0, 1, 2)), member("b", "q", (3,))], 0, state_bytes=0, version=None)
    findings_of = judged(unknown)[0]["streams_tasks_uneven"]
    assert (findings_of.evidence["cause"], findings_of.evidence["most_active_after"]) == ("unknown", None)


def test_a_group_that_moves_is_not_judged() -> None:
    moving = [replace(EVEN[0], target_tasks=Tasks()), EVEN[1]]
    found, replay = judged(snapshot_of(moving, 2))
    assert (found, replay.missing) == ({}, (MissingPart.SETTLED_STATE,))


def random_snapshot(dice: Random) -> ClusterSnapshot:
    """Up to three subtopologies and seven members; half of the groups are a target of the class, half are any."""
    tasks = dice.randint(1, 6)
    parts = tuple(
        Subtopology(str(i), ("orders",), (), ("app-changelog",) if dice.random() < 0.6 else ())
        for i in range(dice.randint(1, 3))
    )
    names = [f"m{dice.randrange(10_000)}-{i}" for i in range(dice.randint(1, 7))]
    process = {name: f"p{dice.randint(0, 3)}" for name in names}
    standbys = dice.randint(0, 2)
    held: dict[str, dict[str, list[Task]]] = {name: {"active": [], "standby": []} for name in names}
    for part in parts:
        for number in range(tasks):
            owner = dice.choice(names)
            held[owner]["active"].append(Task(part.id, number))
            others = sorted({process[name] for name in names} - {process[owner]})
            for place in dice.sample(others, min(len(others), standbys)) if part.changelog_topics else ():
                keeper = dice.choice([name for name in names if process[name] == place])
                if dice.random() < 0.9:
                    held[keeper]["standby"].append(Task(part.id, number))
    if dice.random() < 0.5:
        request = request_of(parts, tasks, standbys, [(name, process[name], held[name]) for name in names])
        for name, given in zip(names, streams_sticky("4.3").assign(request), strict=True):
            held[name] = {"active": list(given.active), "standby": list(given.standby)}
    members = [Member(name, process_id=process[name], tasks=(runs := tasks_of(held[name])), target_tasks=runs,
                      subscription=("orders",)) for name in names]  # fmt: skip
    return snapshot_of(members, standbys, tasks, dice.choice((0, 100)), parts)


def request_of(
    parts: tuple[Subtopology, ...], tasks: int, standbys: int, members: list[tuple[str, str, Any]]
) -> StreamsRequest:
    return StreamsRequest(
        subtopologies=tuple(StreamsSubtopology(part.id, tasks, bool(part.changelog_topics)) for part in parts),
        members=tuple(
            StreamsMember(id=name, process_id=process, active=tuple(held["active"]), standby=tuple(held["standby"]))
            for name, process, held in members
        ),
        standby_replicas=standbys,
    )


def tasks_of(held: dict[str, list[Task]]) -> Tasks:
    def runs(tasks: list[Task]) -> tuple[tuple[str, tuple[int, ...]], ...]:
        return tuple(
            (part, tuple(sorted(task.partition for task in tasks if task.subtopology == part)))
            for part in sorted({task.subtopology for task in tasks})
        )

    return Tasks(runs(held["active"]), runs(held["standby"]))


def test_every_finding_of_300_random_groups_agrees_with_the_replay() -> None:
    """Today's figures are counted here from the members, the next target's are asked of the class itself."""
    seen: set[str] = set()
    dice = Random(40)
    for _ in range(300):
        snapshot = random_snapshot(dice)
        found, replay = judged(snapshot)
        (group,) = snapshot.groups
        tasks = sum(topic == "orders" for topic, _ in snapshot.row_of)
        standbys = int(group.configs["streams.num.standby.replicas"])
        held = [
            (one.id, one.process_id or "", {kind: [Task(part, number) for part, numbers in getattr(one.tasks, kind)
             for number in numbers] for kind in ("active", "standby")}) for one in group.members
        ]  # fmt: skip
        request = request_of(group.subtopologies, tasks, standbys, held)
        after = streams_sticky("4.3").assign(request)
        active = [len(kinds["active"]) for _, _, kinds in held]
        idle = sum(not kinds["active"] and not kinds["standby"] for _, _, kinds in held)
        standby = sum(len(kinds["standby"]) for _, _, kinds in held)
        stateful = tasks * sum(bool(part.changelog_topics) for part in group.subtopologies)
        next_active = [len(given.active) for given in after]
        next_idle = sum(not given.active and not given.standby for given in after)
        on_process = {(process, task) for _, process, kinds in held for listed in kinds.values() for task in listed}
        moved = sum((one[1], task) not in on_process for one, given in zip(held, after, strict=True)
                    for task in given.standby)  # fmt: skip

        assert ("streams_threads_idle" in found) == (idle > 0)
        if idle:
            evidence = found["streams_threads_idle"].evidence
            assert (evidence["idle_members"], evidence["members"]) == (idle, len(held))
            is_pigeonhole = len(held) > sum(active) + max(standby, standbys * stateful)
            expected = "fewer_tasks" if is_pigeonhole else "next_target" if next_idle < idle else "kept"
            assert evidence["cause"] == expected
        missing = max(0, standbys * stateful - standby)
        assert ("streams_standbys_missing" in found) == (missing > 0)
        if missing:
            evidence = found["streams_standbys_missing"].evidence
            few = len({process for _, process, _ in held}) <= standbys
            left = standbys * stateful - sum(len(given.standby) for given in after)
            assert evidence["standbys_missing"] == missing
            assert evidence["cause"] == ("few_instances" if few else "next_target" if left < missing else "kept")
        if "streams_tasks_uneven" in found:
            evidence = found["streams_tasks_uneven"].evidence
            assert (evidence["most_active"], evidence["least_active"]) == (max(active), min(active))
            is_mended = max(next_active) - min(next_active) < max(active) - min(active)
            assert evidence["cause"] == ("next_target" if is_mended else "kept")
        else:
            is_idle_told = idle and found["streams_threads_idle"].evidence["cause"] != "fewer_tasks"
            assert max(active) - min(active) < 2 or max(active) < 1.25 * np.mean(active) or is_idle_told
        assert ("streams_standbys_move" in found) == (not missing and moved > 0)
        if "streams_standbys_move" in found:
            assert found["streams_standbys_move"].evidence["standbys_restored"] == moved
        deaths = [row.active_restored for row in replay.rows_of(StreamsScenario.INSTANCE_DIES)]
        if "streams_no_standby" in found:
            assert standbys == 0
            assert found["streams_no_standby"].evidence["tasks_restored"] == max(deaths) > 0
        seen.update(found, (str(one.evidence.get("cause")) for one in found.values()))
    assert seen >= {*CODES, *StreamsCause} - {StreamsCause.UNKNOWN}, seen
