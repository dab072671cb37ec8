from __future__ import annotations

import random
from pathlib import Path

import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.advisory.advise import AdviceRequest, advise
from kafka_rebalance.facts import FactCode
from kafka_rebalance.plans.plan import Verdict
from rebalance_advisor.dumps.any_input import read_input

_HEADER = "GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID"


def test_random_tables_alone_are_advised_without_a_broker(tmp_path: Path) -> None:
    draw = random.Random(34)
    for case in range(12):
        rows, numbers = [], {}
        for topic in ("a", "b")[: draw.randint(1, 2)]:
            numbers[topic] = sorted(draw.sample(range(8), draw.randint(1, 8)))
            for number in numbers[topic]:
                end = draw.randint(0, 1000)
                at, member = draw.randint(0, end), draw.randint(1, 3)
                rows.append(f"g {topic} {number} {at} {end} {end - at} m-{member} /10.0.0.{member} m")
        folder = tmp_path / str(case)
        folder.mkdir()
        file = folder / "pasted.txt"
        file.write_text("\n".join((_HEADER, *rows)) + "\n")
        for given in (folder, file):
            snapshot = read_input(given)
            assert snapshot.brokers == ()
            assert len(snapshot.partitions.replicas) == 0
            # Kafka numbers partitions without gaps: those below the highest number exist.
            assert snapshot.row_of.keys() == {
                (topic, n) for topic, partitions in numbers.items() for n in range(max(partitions) + 1)
            }
            gaps = {gap.subject for gap in snapshot.coverage if gap.subject_type == "topic"}
            assert gaps == {topic for topic, partitions in numbers.items() if len(partitions) <= max(partitions)}
            assert any(gap.reason.code is FactCode.NO_DUMP_OF_TOPICS for gap in snapshot.coverage)
        advice = advise(snapshot, AdviceRequest())
        assert advice.plan.verdict is Verdict.CANNOT_TELL
        assert not advice.plan.moves
        assert [replay.group_id for replay in advice.groups] == ["g"]
        # Each row of the table names its reader: none of them is unread, and no member is idle.
        assert {finding.code for finding in advice.findings}.isdisjoint({"unread_partitions", "idle_members"})
        (today,) = (score for score in advice.groups[0].scores if score.is_current)
        assert (today.idle_members, today.partitions) == (0, len(snapshot.partitions))
        assert {finding.subject_type.value for finding in advice.findings}.isdisjoint({"broker", "partition"})


def test_a_partition_number_that_no_topic_has_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "pasted.txt"
    file.write_text(f"{_HEADER}\ng a 2000000000 1 1 0 m-1 /10.0.0.1 m\n")
    with pytest.raises(InvalidInputError, match=r"pasted.txt: partition 2,000,000,000 of topic a is out of range"):
        read_input(file)


def test_a_table_between_fences_is_read_without_the_prose_around_it(tmp_path: Path) -> None:
    table = f"{_HEADER}\ng a 0 1 9 8 m-1 /10.0.0.1 m\n"
    for text in (
        f"Our group lags:\n\n```\n{table}```\nAny idea?\n",
        f"> Our group lags:\n> ```text\n> {_HEADER}\n> g a 0 1 9 8 m-1 /10.0.0.1 m\n> ```\n",
        f"One fence, 3 members: {chr(10)}```\n{table}```\nand another\n~~~\n\n~~~\n",
    ):
        file = tmp_path / "pasted.md"
        file.write_text(text)
        (group,) = read_input(file).groups
        assert [(commit.partition, commit.offset) for commit in group.committed] == [(0, 1)]
