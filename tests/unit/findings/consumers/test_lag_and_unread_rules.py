"""Lag, standstill and unread partitions of random groups against a slow oracle, and the reports that they came from."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.findings.finding import Finding, Severity
from kafka_rebalance.snapshot.figures import LoadKind
from kafka_rebalance.snapshot.group import CommittedOffset, Group, GroupType, Member
from kafka_rebalance.snapshot.model import ClusterSnapshot, Partition, partition_table
from kafka_rebalance.snapshot.partition_table import PartitionLoads
from kafka_rebalance.snapshot.rates import measure_rates
from tests.unit.findings.sample_clusters import cluster, explained, findings_of, striped

T0 = datetime(2026, 1, 1, tzinfo=UTC)
Ends = dict[tuple[str, int], int]


def reading(ends: Ends, groups: list[Group], seconds: float = 0) -> ClusterSnapshot:
    """The cluster ``seconds`` after T0: logs begin at 0 and end at ``ends``."""
    sizes = {topic: 1 + max(number for name, number in ends if name == topic) for topic, _ in ends}
    rows = [
        replace(row, end_offset=ends[row.topic, row.partition], log_bytes=())
        for topic, count in sizes.items()
        for row in striped(topic, count)
    ]
    return replace(cluster(rows, groups=groups), captured_at=T0 + timedelta(seconds=seconds))


def group(readers: dict[str, list[tuple[str, int]]], commits: Ends, **fields: object) -> Group:
    members = tuple(Member(name, assigned=assigned(pairs)) for name, pairs in readers.items())
    committed = tuple(CommittedOffset(*pair, offset) for pair, offset in sorted(commits.items()))
    return Group("g", protocol="range", members=members, committed=committed, **({"state": "Stable"} | fields))  # type: ignore[arg-type]


def assigned(pairs: list[tuple[str, int]]) -> tuple[tuple[str, tuple[int, ...]], ...]:
    topics = sorted({topic for topic, _ in pairs})
    return tuple((topic, tuple(sorted(p for name, p in pairs if name == topic))) for topic in topics)


def far_behind(lags: dict[object, float]) -> set[object]:
    """By definition: the largest set of at most half, each 10 times further behind than any other."""
    for size in range(len(lags) // 2, 0, -1):
        top = sorted(lags, key=lambda key: -lags[key])[:size]
        rest = [lags[key] for key in lags if key not in top]
        if min(lags[key] for key in top) >= max(1000, 10 * max(*rest, 1, 1)):
            return set(top)
    return set()


def names(result: list, key: str = "partition_names") -> set[str]:
    return set(result[0].evidence[key]) if result else set()


def test_random_groups_partition_by_partition() -> None:
    draw = Random(34)
    seen = dict.fromkeys(("standing", "unread", "old", "members", "partitions", "joinless", "quiet", "left"), 0)
    for case in range(80):
        sizes = {"a": draw.randint(1, 6), "b": draw.randint(1, 6), "old": 2}
        ends = {(topic, p): draw.choice([0, 2000, 90_000]) for topic, count in sizes.items() for p in range(count)}
        current = [pair for pair in ends if pair[0] != "old"]
        members = [f"m{n}" for n in range(draw.randint(0, 4))]
        owner = {pair: draw.choice(members) for pair in current if members and draw.random() < 0.85}
        late = draw.choice([0.0, 0.15, 0.5])
        before = {
            pair: max(0, end - (draw.choice([1500, 40_000]) if draw.random() < late else draw.randint(0, 9)))
            for pair, end in ends.items()
            if draw.random() < 0.9
        }
        written = {pair: draw.choice([0, 1, 600, 6000]) for pair in ends}
        seconds = draw.choice([60, 600])
        now_ends = {pair: end + written[pair] for pair, end in ends.items()}
        now = {
            pair: offset if draw.random() < 0.3 else draw.randint(offset, now_ends[pair])
            for pair, offset in before.items()
        }
        if draw.random() < 0.5:  # all that was not late is read up
            now = {pair: offset if ends[pair] - offset > 9 else now_ends[pair] for pair, offset in before.items()}
        readers = {name: [pair for pair in current if owner.get(pair) == name] for name in members}
        state = {"state": "Stable" if members else "Empty"}
        snapshot = measure_rates(
            reading(ends, [group(readers, before, **state)]),
            reading(now_ends, [group(readers, now, **state)], seconds),
        )
        lag = {pair: now_ends[pair] - now[pair] for pair in now}
        standing = {
            f"{topic}-{p}"
            for topic, p in owner
            if (topic, p) in now
            and now[topic, p] == before[topic, p]
            and written[topic, p]
            and lag[topic, p] >= 300 * written[topic, p] / seconds
        }
        left = left_out(ends, before, now, written, owner, seconds)
        seen["left"] += bool(left - standing)
        standing |= left
        not_read = findings_of(snapshot, "partition_not_read")
        assert names(not_read) == standing, case
        if not_read:
            check_not_read(not_read[0], standing, owner, before, now, lag, written, seconds)
        topics = {topic for topic, _ in owner}
        unread = {pair for pair in current if pair[0] in topics and pair not in owner}
        findings = findings_of(snapshot, "unread_partitions")
        assert names(findings) == {f"{topic}-{p}" for topic, p in unread}, case
        if findings:
            is_late = any(lag.get(pair, 0) or written[pair] for pair in unread)
            empty = all(lag.get(pair, now_ends[pair]) == 0 for pair in unread)
            assert findings[0].severity is (Severity.HIGH if is_late else Severity.LOW if empty else Severity.MEDIUM), (
                case
            )
        old = {topic for topic, p in now if members and topic not in topics and lag[topic, p] > 0}
        assert names(findings_of(snapshot, "topic_without_reader"), "topic_names") == old, case
        moved = not members and any(now[pair] > before[pair] for pair in now)
        assert bool(findings_of(snapshot, "read_without_joining")) is moved, case
        check_concentrated(replace(snapshot, loads=type(snapshot.loads)()), owner, lag, now_ends, seen, case)
        for key, value in {"standing": standing, "unread": unread, "old": old, "joinless": moved}.items():
            seen[key] += bool(value)
    assert min(seen.values()) >= 5, seen


def left_out(ends: Ends, before: Ends, now: Ends, written: Ends, owner: dict, seconds: int) -> set[str]:
    """Messages waited there at the first snapshot, and its member read something of the other partitions."""
    waited = {
        pair
        for pair in owner
        if written[pair] and pair in now and now[pair] == before[pair]
        and ends[pair] - before[pair] >= max(20, 5 * written[pair] / seconds)
    }  # fmt: skip
    results = set()
    for pair in waited:
        others = [other for other in owner if owner[other] == owner[pair] and written[other] and other not in waited]
        if others and all(other in now and now[other] > max(before[other], ends[other]) for other in others):
            results.add(f"{pair[0]}-{pair[1]}")
    return results


def check_not_read(
    finding: Finding, standing: set[str], owner: dict, before: Ends, now: Ends, lag: dict, written: dict, seconds: int
) -> None:
    """Waiting messages, since when, and how many other partitions the members have read since."""
    stuck = [pair for pair in owner if f"{pair[0]}-{pair[1]}" in standing]
    readers = {owner[pair] for pair in stuck}
    read = [pair for pair in owner if owner[pair] in readers and pair in now and now[pair] > before[pair]]
    expected = {
        "partitions_not_read": len(stuck),
        "partitions": sum(pair[0] in {topic for topic, _ in owner} for pair in written),
        "member_ids": tuple(sorted(readers)),
        "lag_messages": sum(lag[pair] for pair in stuck),
        "lag_seconds": pytest.approx(max(lag[pair] * seconds / written[pair] for pair in stuck)),
        "in_messages_per_s": pytest.approx(sum(written[pair] for pair in stuck) / seconds),
        "window_seconds": seconds,
        "partitions_that_their_members_read": len(read),
    }
    assert {name: finding.evidence[name] for name in expected} == expected
    assert finding.severity is (Severity.HIGH if seconds >= 300 or read else Severity.MEDIUM)
    assert finding.cost_changes == len(readers)


def check_concentrated(snapshot: ClusterSnapshot, owner: dict, lag: dict, ends: Ends, seen: dict, case: int) -> None:
    """One snapshot: the lag is at few members where each partition of these is further behind than all others."""
    known = {pair: lag.get(pair, 0 if ends[pair] == 0 else None) for pair in owner}
    of_member: dict[object, float] = {}
    for name in set(owner.values()):
        own = [known[pair] for pair in owner if owner[pair] == name]
        if None not in own:
            of_member[name] = sum(own)
    few = far_behind(of_member)
    held = {pair for pair in owner if owner[pair] in few}
    others = [known[pair] for pair in owner if pair not in held and known[pair] is not None]
    kind = "members"
    if not held or min(known[pair] for pair in held) <= max(others, default=0):
        late = set()
        for topic in ("a", "b"):
            late |= far_behind({pair: known[pair] for pair in owner if pair[0] == topic and known[pair] is not None})
        held, kind = (late, "partitions") if late else (held, "members")
    if sum(known[pair] for pair in held) < 0.5 * sum(value or 0 for value in known.values()):
        held = set()
    findings = findings_of(snapshot, "lag_concentrated")
    assert names(findings) == {f"{topic}-{p}" for topic, p in held}, case
    if findings:
        total, in_all = sum(known[pair] for pair in held), sum(value or 0 for value in known.values())
        expected = {
            "concentrated_at": kind,
            "members_behind": len({owner[pair] for pair in held}),
            "partitions_behind": len(held),
            "partitions_of_unknown_lag": sum(value is None for value in known.values()),
            "lag_messages": total,
            "share_of_lag_ratio": pytest.approx(total / in_all),
        }
        assert {name: findings[0].evidence[name] for name in expected} == expected, case
        seen[kind] += 1
    else:
        seen["quiet"] += 1


def even(count: int, partitions: int) -> dict[str, list[tuple[str, int]]]:
    return {f"m{n}": [("t", p) for p in range(n, partitions, count)] for n in range(count)}


def ends_of(*offsets: int) -> Ends:
    return {("t", number): offset for number, offset in enumerate(offsets)}


def test_even_lag_and_a_lone_member_are_no_concentration() -> None:
    for lags in ([9000] * 6, [9000, 8000, 9000, 5000, 9000, 9000], [0] * 6, [900, 0, 0, 0, 0, 0]):
        commits = ends_of(*(10_000 - lag for lag in lags))
        assert findings_of(reading(ends_of(*[10_000] * 6), [group(even(3, 6), commits)]), "lag_concentrated") == []
    alone = group(even(1, 6), ends_of(1000, *[10_000] * 5))
    (finding,) = findings_of(reading(ends_of(*[10_000] * 6), [alone]), "lag_concentrated")
    assert (finding.evidence["concentrated_at"], finding.evidence["partition_names"]) == ("partitions", ("t-0",))


def measured(older: Group, newer: Group, written: int, seconds: int = 600) -> ClusterSnapshot:
    ends = [commit.offset for commit in older.committed]
    return measure_rates(
        reading(ends_of(*[10_000] * len(ends)), [older]),
        reading(ends_of(*[10_000 + written] * len(ends)), [newer], seconds),
    )


def test_message_rates_tell_a_growing_lag_without_bytes_and_beside_other_groups() -> None:
    older, newer = (group(even(2, 6), ends_of(*[offset] * 6)) for offset in (4_000, 7_000))
    snapshot = measured(older, newer, 6_000)
    (finding,) = findings_of(snapshot, "lag_growing")
    assert (finding.evidence["read_ratio"], finding.evidence["in_bytes_per_s"]) == (0.5, None)
    assert (finding.evidence["lag_messages"], finding.evidence["lag_seconds"]) == (54_000, 900)
    beside = replace(snapshot, groups=(*snapshot.groups, replace(snapshot.groups[0], id="other")))
    assert len(findings_of(beside, "lag_growing")) == 2


def test_a_growing_lag_is_folded_under_its_cause() -> None:
    """Of six members one reads all; two partitions of twelve are unread; and more members than partitions."""
    topics = [f"t{n}" for n in range(6)]
    readers: dict[str, list[tuple[str, int]]] = {"m0": [(topic, 0) for topic in topics]}
    readers |= {f"m{n}": [] for n in range(1, 6)}
    older, newer = (group(readers, {(topic, 0): offset for topic in topics}) for offset in (9_000, 12_000))
    snapshot = measure_rates(
        reading({(topic, 0): 10_000 for topic in topics}, [older]),
        reading({(topic, 0): 14_000 for topic in topics}, [newer], 600),
    )
    (uneven,) = [finding for finding in explained(snapshot) if finding.code == "assignor_uneven"]
    assert ([symptom.code for symptom in uneven.symptoms], uneven.severity) == (["lag_growing"], Severity.HIGH)
    assert uneven.symptoms[0].recommendation.args["way"].code is FactCode.SHARE_PARTITIONS_EVENLY

    stuck = [4_000, 4_000, *[10_000] * 10]
    moved = [4_000, 4_000, *[16_000] * 10]
    snapshot = measured(group(even(6, 12), ends_of(*stuck)), group(even(6, 12), ends_of(*moved)), 6_000)
    (standing,) = [finding for finding in explained(snapshot) if finding.code == "partition_not_read"]
    assert {symptom.code for symptom in standing.symptoms} == {"lag_growing", "lag_concentrated"}
    assert standing.evidence["window_seconds"] == 600

    slow = measured(group(even(6, 6), ends_of(*[4_000] * 6)), group(even(6, 6), ends_of(*[7_000] * 6)), 6_000)
    (growing,) = findings_of(slow, "lag_growing")
    way = growing.recommendation.args["way"]
    assert way.code is FactCode.MEMBERS_TOO_SLOW, "each of six has one partition and reads half"
    assert growing.evidence["hot_partition"] is None


def test_a_partition_that_is_too_hot_explains_its_lag() -> None:
    """One of six receives ten times as much as the others; its member reads a tenth of that."""
    ends, later = ends_of(*[100_000] * 6), ends_of(160_000, *[106_000] * 5)
    commits = [ends_of(*[100_000] * 6), ends_of(106_000, *[106_000] * 5)]
    older, newer = (reading(end, [group(even(3, 6), done)], at)
                    for end, done, at in zip((ends, later), commits, (0, 600), strict=True))  # fmt: skip
    snapshot = measure_rates(older, newer)
    (growing,) = findings_of(snapshot, "lag_growing")
    assert growing.evidence["hot_partition"] == "t-0"
    assert growing.recommendation.args["way"] == fact(FactCode.HOT_PARTITION_LIMITS_GROUP, partition="t-0")
    (hot,) = [finding for finding in explained(with_bytes(snapshot)) if finding.code == "hot_partition"]
    assert {symptom.code for symptom in hot.symptoms} >= {"group_hot_partition", "lag_growing", "lag_concentrated"}


def with_bytes(snapshot: ClusterSnapshot) -> ClusterSnapshot:
    """As many bytes as messages."""
    columns = dict(snapshot.loads.columns)
    columns[LoadKind.IN_BYTES_PER_S] = columns[LoadKind.IN_MESSAGES_PER_S]
    return replace(snapshot, loads=PartitionLoads(columns))


def test_dead_static_members_do_not_hide_each_other() -> None:
    """By their lag alone, in one snapshot; each set of dead ones has to be far behind all the others."""
    draw = Random(7)
    for case in range(60):
        count = draw.randint(2, 8)
        dead = sorted(draw.sample(range(count), draw.randint(0, count // 2)))
        lags = [
            draw.choice([90_000, 500, 70_000]) if n % count in dead else draw.randint(0, 9) for n in range(2 * count)
        ]
        ends = ends_of(*[100_000] * (2 * count))
        first = group(even(count, 2 * count), ends_of(*(100_000 - lag for lag in lags)))
        members = tuple(replace(member, instance_id=f"pod-{n}") for n, member in enumerate(first.members))
        findings = findings_of(reading(ends, [replace(first, members=members)]), "dead_static_member")
        assert names(findings, "instance_ids") == {f"pod-{n}" for n in dead}, case
        assert findings_of(reading(ends, [first]), "dead_static_member") == [], case


def test_groups_that_rebalance_or_hide_their_partitions_are_not_judged() -> None:
    waiting = (Member("m0", subscription=("t",)), Member("m1"))
    hidden = tuple(Member(f"m{n}", partition_count=3) for n in range(2))
    commits = tuple(CommittedOffset("t", number, 0) for number in range(6))
    for item in (Group("g", members=hidden, committed=commits, state="Stable"),
                Group("g", members=hidden[:1], member_count=2, committed=commits, state="Stable"),
                Group("g", members=waiting, committed=commits, state="CompletingRebalance"),
                Group("g", members=waiting[1:], committed=commits, state="Stable"),
                Group("g", type=GroupType.SHARE, members=(Member("m"),), committed=commits)):  # fmt: skip
        snapshot = reading(ends_of(*[10_000] * 6), [item])
        for code in ("unread_partitions", "lag_concentrated", "topic_without_reader", "partition_not_read"):
            assert findings_of(snapshot, code) == []


def test_equal_counts_that_leave_a_topic_to_one_member() -> None:
    """KAFKA-16277: each of four members has four partitions, and those of one topic."""
    rows = [row for n in range(4) for row in striped(f"t{n}", 4)]
    members = tuple(Member(f"m{n}", assigned=((f"t{n}", (0, 1, 2, 3)),)) for n in range(4))
    first = Group("g", protocol="cooperative-sticky", state="Stable", members=members)
    (finding,) = findings_of(cluster(rows, groups=[first]), "uneven_per_topic")
    assert (finding.evidence["times_even_ratio"], finding.severity) == (4.0, Severity.LOW)
    alike = {"in_bytes_per_s": [10.0] * 16}
    assert findings_of(cluster(rows, groups=[first], **alike), "uneven_per_topic") == [], "topics carry alike"
    apart = tuple(replace(member, subscription=(f"t{n}",)) for n, member in enumerate(members))
    assert findings_of(cluster(rows, groups=[replace(first, members=apart)]), "uneven_per_topic") == [], (
        "each its own topic"
    )
    spread = tuple(Member(f"m{n}", assigned=tuple((f"t{t}", (n,)) for t in range(4))) for n in range(4))
    assert findings_of(cluster(rows, groups=[replace(first, members=spread)]), "uneven_per_topic") == []


def test_new_partitions_are_named_as_such() -> None:
    rows = [Partition("t", p, (0, 1, 2), 0, (0, 1, 2), (), 0, 100) for p in range(6)]
    first = group(even(2, 4), ends_of(*[100] * 4))
    snapshot = cluster(rows, groups=[first])
    (finding,) = findings_of(replace(snapshot, partitions=partition_table(rows, {"t": 0})), "unread_partitions")
    assert (finding.evidence["new_partitions"], finding.evidence["lag_messages"]) == (2, None)
    assert (finding.severity, finding.recommendation.args["are_new"]) == (Severity.MEDIUM, True)


def test_lag_at_a_member_that_has_too_many_partitions_is_the_strategys() -> None:
    """Range gives m0 the first partition of each of six topics, m1 the second, and m2 and m3 nothing."""
    topics = [f"t{number}" for number in range(6)]
    ends = {(topic, partition): 50_000 for topic in topics for partition in range(2)}
    readers = {f"m{n}": [(topic, n) for topic in topics] if n < 2 else [] for n in range(4)}
    late = group(readers, {pair: end - (40_000 if pair[1] == 0 else 3) for pair, end in ends.items()})
    (uneven,) = (finding for finding in explained(reading(ends, [late])) if finding.code == "assignor_uneven")
    assert [symptom.code for symptom in uneven.symptoms] == ["lag_concentrated"]
    even_readers = {f"m{n}": [("t", n), ("t", n + 2)] for n in range(2)}
    evenly = {("t", p): 50_000 for p in range(4)}
    same = group(even_readers, {pair: 10_000 if pair[1] in (0, 2) else 49_998 for pair in evenly})
    assert "lag_concentrated" in {finding.code for finding in explained(reading(evenly, [same]))}
