"""Flink jobs and MirrorMaker connectors: who reads what, how uneven it is, and files that are refused."""

from typing import Any

import pytest

from kafka_assignors.errors import AdvisorError, InvalidInputError
from kafka_assignors.fixed_readers import flink_readers, mirror_maker_readers
from kafka_rebalance.groups.fixed_readers import FixedReaders, ReaderKind, read_fixed_readers, score_fixed_readers
from rebalance_advisor.cli.group import fixed_reader_table
from tests.unit.findings.sample_clusters import cluster, striped

SNAPSHOT = cluster(striped("a", 4) + striped("b", 4), in_bytes_per_s=[10, 0, 0, 0, 0, 0, 2, 0])


def test_flink_begins_where_the_name_falls() -> None:
    assert flink_readers({"a": 4, "b": 4}, 3) == {"a": (1, 2, 0, 1), "b": (2, 0, 1, 2)}


def test_mirror_maker_deals_all_partitions_in_turn() -> None:
    assert mirror_maker_readers({"b": 4, "a": 4}, 3) == {"a": (0, 1, 2, 0), "b": (1, 2, 0, 1)}
    assert mirror_maker_readers({"a": 2}, 9) == {"a": (0, 1)}
    assert mirror_maker_readers({"a": 0}, 9) == {"a": ()}
    with pytest.raises(InvalidInputError, match="tasks_max: 0"):
        mirror_maker_readers({"a": 2}, 0)


def test_how_uneven_a_flink_job_is() -> None:
    score = score_fixed_readers(FixedReaders("job", ReaderKind.FLINK, 3, ("a", "b")), SNAPSHOT)
    assert (score.partitions, score.idle_readers) == ((2, 3, 3), 0)
    assert score.in_bytes_per_s == (0, 12, 0)
    assert (score.skew_count, score.skew_rate) == (3 / (8 / 3), 3.0)
    assert fixed_reader_table(score)[-1] == "fullest over mean: 1.12 by partitions, 3.00 by bytes per second"


def test_mirror_maker_has_no_more_tasks_than_partitions_and_flink_idles() -> None:
    tasks = score_fixed_readers(FixedReaders("mm", ReaderKind.MIRROR_MAKER, 20, ("b",)), cluster(striped("b", 4)))
    assert (tasks.readers, tasks.idle_readers, tasks.skew_rate, tasks.in_bytes_per_s) == (4, 0, None, None)
    job = score_fixed_readers(FixedReaders("job", ReaderKind.FLINK, 20, ("b",)), cluster(striped("b", 4)))
    assert (job.readers, job.idle_readers, job.skew_count) == (20, 16, 5.0)


def test_a_file_of_readers() -> None:
    document = {
        "readers": [
            {"name": "job", "kind": "flink", "parallelism": 3, "topics": ["a", "a"]},
            {"name": "mm", "kind": "mirror_maker", "tasks_max": 2, "topics": ["b"]},
        ]
    }
    assert read_fixed_readers(document, "f") == (
        FixedReaders("job", ReaderKind.FLINK, 3, ("a",)), FixedReaders("mm", ReaderKind.MIRROR_MAKER, 2, ("b",)),
    )  # fmt: skip
    with pytest.raises(InvalidInputError, match="one name is there twice"):
        read_fixed_readers({"readers": document["readers"] * 2}, "f")
    with pytest.raises(AdvisorError, match="topic"):
        score_fixed_readers(FixedReaders("job", ReaderKind.FLINK, 3, ("gone",)), SNAPSHOT)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"kind": "spark"}, "'spark' is unknown"),
        ({"parallelism": 0}, "0 is not from 1"),
        ({"parallelism": None}, "'parallelism' is missing"),
        ({"topics": []}, "there are none"),
        ({"topics": [1]}, "topics"),
        ({"tasks_max": 3}, "tasks_max"),
        ({"name": None}, "'name' is missing"),
    ],
)
def test_a_reader_that_cannot_be_read_is_refused(wrong: dict[str, Any], message: str) -> None:
    reader = {"name": "job", "kind": "flink", "parallelism": 3, "topics": ["a"]} | wrong
    with pytest.raises(InvalidInputError, match=message):
        read_fixed_readers({"readers": [reader]}, "f")
