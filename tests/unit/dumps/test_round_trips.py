"""A random cluster survives printing by some tool version, with noise, and reading.

A damaged dump is read, or refused with its place: never another error, never a silently smaller cluster.
"""

from __future__ import annotations

import string
from dataclasses import replace
from random import Random

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.facts import FactCode
from kafka_rebalance.snapshot.model import CommittedOffset
from rebalance_advisor.dumps import read_input
from tests.sample import for_each
from tests.unit.dumps import random_dumps
from tests.unit.dumps.random_dumps import command, draw_cluster, noisy

TOPIC_VERSIONS = ("0.10", "2.8", "4.0", "confluent", "zookeeper")
GROUP_VERSIONS = ("1.1", "2.4", "4.0")


def dumps_of(cluster, version, group_version, random):
    """File name → text."""
    names = iter(random.sample(string.ascii_lowercase, 12))
    if version == "zookeeper":
        files = {next(names): random_dumps.print_znodes(cluster, random)}
    else:
        tool = command("kafka-topics.sh --describe --zookeeper zk:2181", random)
        files = {next(names): tool + noisy(random_dumps.print_topics(cluster, version, random), random)}
    dirs = random_dumps.print_log_dirs(cluster, random)
    files[next(names)] = command("kafka-log-dirs.sh --describe --bootstrap-server h:9092", random) + noisy(dirs, random)
    for start, time in ((True, random.choice(["-2", "earliest"])), (False, random.choice(["-1", "latest"]))):
        rows = noisy(random_dumps.print_offsets(cluster, start=start), random)
        tool = command(f"kafka-get-offsets.sh --bootstrap-server h:9092 --time {time}", random)
        is_told = random.random() < 0.5
        files[next(names) if is_told else ("earliest" if start else "latest")] = (tool if is_told else "") + rows
    for group in cluster.groups:
        files[next(names)] = noisy(random_dumps.print_group(cluster, group, group_version, random), random)
    return files


def write(folder, files):
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def observed(cluster, random):
    """Some last replicas are observers, out of the ISR."""
    rows = tuple(
        replace(row, observers=row.replicas[-1:], isr=tuple(b for b in row.isr if b != row.replicas[-1]))
        if len(row.replicas) > 1 and row.leader != row.replicas[-1] and random.random() < 0.4 else row
        for row in cluster.rows
    )  # fmt: skip
    return replace(cluster, rows=rows)


@for_each("seed", range(150), fast=range(25))
def test_what_any_version_prints_is_read_as_it_is(tmp_path, seed):
    random = Random(seed)
    version, group_version = TOPIC_VERSIONS[seed % 5], GROUP_VERSIONS[seed % 3]
    cluster = draw_cluster(random)
    if version == "confluent":
        cluster = observed(cluster, random)
    snapshot = read_input(write(tmp_path / "c", dumps_of(cluster, version, group_version, random)))
    in_order = [replace(row, isr=tuple(b for b in row.replicas if b in row.isr)) for row in cluster.rows]
    assert list(snapshot.each_partition()) == sorted(in_order, key=lambda row: (row.topic, row.partition))
    ids = {name: topic_id for name, topic_id in cluster.topic_ids.items() if version != "0.10"}
    assert {topic.name: topic.topic_id for topic in snapshot.topics if topic.topic_id} == ids
    groups = {group.id: group for group in snapshot.groups}
    assert groups.keys() == {group.id for group in cluster.groups}
    for drawn in cluster.groups:
        group = groups[drawn.id]
        assert group.members == drawn.members
        assert (group.coordinator, group.protocol, group.state) == (drawn.coordinator, drawn.strategy, "Stable")
        commits = [CommittedOffset(*partition, at) for partition, at in drawn.committed.items() if at is not None]
        assert list(group.committed) == commits
    assert {gap.what.code for gap in snapshot.coverage} <= {
        FactCode.LACKS_RACKS, FactCode.LACKS_TIME, FactCode.LACKS_GROUPS, FactCode.LACKS_LAST_LINE,
        FactCode.LACKS_COMMITS,
    }  # fmt: skip


@for_each("seed", range(30))
def test_owners_are_read_as_clients_on_hosts(tmp_path, seed):
    random = Random(seed)
    cluster = draw_cluster(random)
    files = {"topics": random_dumps.print_topics(cluster, "0.10", random)}
    files |= {group.id: random_dumps.print_group(cluster, group, "0.10", random) for group in cluster.groups}
    snapshot = read_input(write(tmp_path / "c", files))
    for drawn in (group for group in cluster.groups if group.committed):
        group = next(read_group for read_group in snapshot.groups if read_group.id == drawn.id)
        read = {(m.host, m.client_id): m.assigned for m in group.members}
        assert read == {(m.host, m.client_id): m.assigned for m in drawn.members if m.assigned}


def read_or_refusal(folder):
    """The snapshot, or the words of its refusal. Any other error is the test's."""
    try:
        return read_input(folder), ""
    except InvalidInputError as error:
        return None, str(error)


def mutated(text, random):
    """One thing happened to it: a line lost, doubled, cut or moved, a sign changed, the end missing."""
    lines = text.split("\n")
    at = random.randrange(len(lines))
    kind = random.randrange(6)
    if kind == 0:
        del lines[at]
    elif kind == 1:
        lines.insert(at, lines[at])
    elif kind == 2:
        lines[at] = lines[at][: random.randint(0, len(lines[at]))]
    elif kind == 3:
        other = random.randrange(len(lines))
        lines[at], lines[other] = lines[other], lines[at]
    elif kind == 4 and lines[at]:
        index = random.randrange(len(lines[at]))
        lines[at] = lines[at][:index] + random.choice(string.printable[:95] + "é\t") + lines[at][index + 1 :]
    else:
        return text[: random.randint(0, len(text))]
    return "\n".join(lines)


@for_each("seed", range(300), fast=range(40))
def test_a_dump_that_something_happened_to_is_read_or_refused_with_its_place(tmp_path, seed):
    random = Random(1000 + seed)
    cluster = draw_cluster(random)
    files = dumps_of(cluster, TOPIC_VERSIONS[seed % 5], GROUP_VERSIONS[seed % 3], random)
    name = random.choice(sorted(files))
    files[name] = mutated(files[name], random)
    folder = write(tmp_path / "c", files)
    snapshot, refusal = read_or_refusal(folder)
    assert refusal.startswith(str(folder)) or not refusal
    if snapshot is None:
        return
    described = {row.topic for row in cluster.rows}
    missing = described - {topic.name for topic in snapshot.topics}
    assert missing <= {gap.subject for gap in snapshot.coverage if gap.lacks(FactCode.LACKS_DESCRIPTION)}, missing
