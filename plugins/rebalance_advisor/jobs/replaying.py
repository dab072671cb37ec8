"""What brokers and racks carry, Kafka's placer on each topic, each strategy on each group: on Spark's executors.

Topics and groups go to the executors packed, one subject a row, and come back as one small row each.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

    from kafka_rebalance.groups.replay_options import ReplayOptions
    from kafka_rebalance.snapshot.model import ClusterSnapshot

Document = dict[str, Any]
Row = Mapping[str, Any]
Around = Callable[[], AbstractContextManager[None]]
ANSWER = "answer string"


def replay_topics(spark: SparkSession, snapshot: ClusterSnapshot) -> list[Document]:
    """Each topic as it lies and as Kafka's placer would place it: documents of ``replayed``, in no set order."""
    from kafka_rebalance.placement.topic_replay import placement_brokers, placement_ground, placement_of, replay_topic
    from rebalance_advisor.spark.rows.arrow import pack_topics
    from rebalance_advisor.spark.rows.replayed import sent_topic

    ground = placement_ground(placement_brokers(snapshot))

    def replay(row: Row) -> Document | None:
        return sent_topic(replay_topic(placement_of(row, row["topic"]), ground)) if row["partition"] else None

    rows = pack_topics(snapshot)
    return _fan_out(spark, "topics", rows, replay, [float(len(partitions)) for partitions in rows.column("partition")])


def replay_groups(
    spark: SparkSession,
    snapshot: ClusterSnapshot,
    odd: frozenset[str] = frozenset(),
    own: Around = nullcontext,
    replay_options: ReplayOptions | None = None,
) -> list[Document]:
    """Each group under each strategy, and in each scenario that is asked: documents of ``replayed``, in no set order.

    ``odd`` groups (the input gate holds them) are scored as they are today and get no advice. Inside ``own()`` the
    strategies of one's own are registered; each worker starts processes for them. A giant is several units.
    """
    from kafka_rebalance.groups.replay_options import TODAY_ALONE
    from rebalance_advisor.spark.rows.arrow import pack_groups
    from rebalance_advisor.spark.rows.group_units import group_units
    from rebalance_advisor.spark.rows.replayed import sent
    from rebalance_advisor.spark.rows.unpack import unpack_group

    asked = replay_options or TODAY_ALONE

    def replay(row: Row) -> Document:
        is_odd = row["group_id"] in odd
        scenarios, strategies = ((), ()) if is_odd else (tuple(row["scenarios"]), asked.strategies)
        found = replace(asked, scenarios=scenarios, strategies=strategies).replay(unpack_group(row))
        return sent(found, with_today=row["part"] == 0)

    units = group_units(pack_groups(snapshot), snapshot.groups, asked.scenarios, _bins(spark))
    return _fan_out(spark, units.what, units.rows, replay, units.costs, own)


def save_replay(
    connection: Any, run_id: str, snapshot: ClusterSnapshot, topics: Sequence[Document], groups: Sequence[Document]
) -> None:
    """Everything that was found out, under the run; the caller's transaction makes it all or nothing."""
    from kafka_rebalance.scoring.snapshot_scores import score_cluster
    from rebalance_advisor import store
    from rebalance_advisor.spark.rows.replayed import MEMBER_COLUMNS, SCORE_COLUMNS, TOPIC_COLUMNS, rows_of

    scores = score_cluster(snapshot)
    store.save_broker_scores(connection, run_id, scores.brokers)
    store.save_rack_scores(connection, run_id, scores.racks)
    store.save_resource_scores(connection, run_id, scores.resources)
    place_of_topic = {topic.name: place for place, topic in enumerate(snapshot.topics)}
    place_of_group = {group.id: place for place, group in enumerate(snapshot.groups)}
    topics = sorted(topics, key=lambda topic: place_of_topic[topic["topic"]])
    rows, members = rows_of(groups, place_of_group)
    placements = [score for topic in topics for score in topic["scores"]]
    store.save_score_values(connection, run_id, "topic_score", TOPIC_COLUMNS, placements)
    store.save_score_values(connection, run_id, "group_score", SCORE_COLUMNS, rows)
    store.save_member_scores(connection, run_id, [dict(zip(MEMBER_COLUMNS, row, strict=True)) for row in members])


def _bins(spark: SparkSession) -> int:
    """Tasks of a stage: several a core, so that the log can tell how far they are and none holds the others up."""
    return 4 * max(1, int(spark.sparkContext.defaultParallelism))


def _fan_out(
    spark: SparkSession,
    what: str,
    rows: pa.Table,
    step: Callable[[Row], Document | None],
    costs: Sequence[float],
    around: Around = nullcontext,
) -> list[Document]:
    """``step`` on every row, on the executors; its answers travel as JSON, one small row a subject.

    The rows are packed into tasks by their ``costs``, the dearest task first. ``around`` is entered once for all rows
    of one worker; the log says how many of ``what`` are done.
    """
    from rebalance_advisor.spark.on_executors import on_executors
    from rebalance_advisor.spark.progress import progress
    from rebalance_advisor.spark.rows.binned import BIN, binned, unbinned

    def answers(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        from rebalance_advisor.compiling.first_compile import tell_of_first_compile

        tell_of_first_compile(what="step")  # in the worker's log
        with around():
            for batch in batches:
                for part in unbinned(batch):
                    found = [json.dumps(answer) for row in part.to_pylist() if (answer := step(row)) is not None]
                    counter.add(part.num_rows)
                    yield pa.RecordBatch.from_pydict({"answer": pa.array(found, pa.string())})

    if rows.num_rows == 0:
        return []
    packed = binned(rows, costs, _bins(spark))
    with progress(spark, what, rows.num_rows) as counter:
        frame = spark.createDataFrame(packed).repartitionByRange(packed.num_rows, BIN)
        answered = frame.mapInArrow(on_executors(spark, answers), ANSWER).toArrow()
        return [json.loads(answer) for answer in answered.column("answer").to_pylist()]
