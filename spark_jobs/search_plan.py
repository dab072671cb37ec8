"""Search the plan of a run: the fewest bytes that meet rules and bands, with its bounds, waves, rollback and reasons.

    spark-submit search_plan.py --run-id RUN     ADVISOR_POSTGRES_DSN names the store

Each wish (today: one, the run's own form) is a row; an executor searches it on the snapshot that travels with the task.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

    from kafka_rebalance.model import ClusterSnapshot

PLAN = "plan string"


def main(argv: Sequence[str] | None = None) -> int:
    """Read, search, save."""
    from pyspark.sql import SparkSession

    from kafka_rebalance.plan_document import plan_from_document
    from rebalance_advisor import store

    parser = argparse.ArgumentParser(prog="search_plan.py", description="Search the plan of one run.")
    parser.add_argument("--run-id", required=True)
    run_id, dsn = parser.parse_args(argv).run_id, store.dsn_from_environment()
    with store.connect(dsn) as connection:
        run = store.load_run(connection, run_id)
        snapshot = store.load_snapshot(connection, run.snapshot_id)
        published = store.newest_published(connection, run.cluster)
        previous = None if published is None else store.load_plan(connection, published)
        held = [each for each in store.load_quarantine(connection, run.snapshot_id) if each.subject_type == "topic"]
    form = without_topics(run.parameters, [each.subject for each in held])
    spark = SparkSession.builder.appName(f"advisor search_plan {run_id}").getOrCreate()
    try:
        found = search_plans(spark, snapshot, [form], run.seed, previous)
    finally:
        spark.stop()
    with store.connect(dsn) as connection:
        store.save_plan(connection, run_id, plan_from_document(found[0]))
    return 0


def search_plans(
    spark: SparkSession,
    snapshot: ClusterSnapshot,
    forms: Sequence[Mapping[str, Any]],
    seed: int,
    previous: Mapping[str, Any] | None = None,
) -> list[dict[str, Any]]:
    """The document of the plan for each form, in their order; ``previous``: the plan that was published before."""
    import pyarrow as pa

    rows = pa.table({"form": [json.dumps(dict(form)) for form in forms]})

    def search(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        for batch in batches:
            plans = [plan_for(snapshot, json.loads(form), seed, previous) for form in batch.column("form").to_pylist()]
            yield pa.RecordBatch.from_pydict({"plan": pa.array([json.dumps(plan) for plan in plans], pa.string())})

    frame = spark.createDataFrame(rows).mapInArrow(search, PLAN)
    return [json.loads(plan) for plan in frame.toArrow().column("plan").to_pylist()]


def without_topics(form: Mapping[str, Any], topics: Sequence[str]) -> dict[str, Any]:
    """The form with these topics left alone, too: the input gate found them odd."""
    patterns = [*(form.get("exclude_topic") or ()), *(re.escape(topic) for topic in sorted(topics))]
    return {**form, "exclude_topic": patterns}


def plan_for(
    snapshot: ClusterSnapshot, form: Mapping[str, Any], seed: int, previous: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """One form's plan as a document. Pure."""
    from kafka_rebalance.plan import to_document
    from kafka_rebalance.plan_making.plan_builder import make_plan
    from rebalance_advisor.version import advisor_version
    from rebalance_advisor.wishes import plan_options

    options, version = plan_options(form), advisor_version()
    return to_document(make_plan(snapshot, options, seed=seed, previous=previous, advisor_version=version))


if __name__ == "__main__":
    sys.exit(main())
