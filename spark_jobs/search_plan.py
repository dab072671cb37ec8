"""Search the plan of a run: the fewest bytes that meet rules and bands, with its bounds, waves, rollback and reasons.

    spark-submit search_plan.py --run-id RUN     ADVISOR_POSTGRES_DSN names the store

Each wish (today: one, the run's own form) is a row, and so is each point of its frontier: executors search them side
by side on the snapshot that travels with the task, the driver puts them together.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

    from kafka_rebalance.snapshot.model import ClusterSnapshot

PLAN = "plan string"


def main(argv: Sequence[str] | None = None) -> int:
    """Read, search, save."""
    from pyspark.sql import SparkSession

    from kafka_rebalance.plans.document import plan_from_document
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

    tasks = [json.dumps(task) for form in forms for task in tasks_of(snapshot, form)]
    rows = pa.table({"task": tasks})

    def search(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        for batch in batches:
            found = [answer_to(snapshot, json.loads(task), seed, previous) for task in batch.column("task").to_pylist()]
            yield pa.RecordBatch.from_pydict({"plan": pa.array([json.dumps(each) for each in found], pa.string())})

    frame = spark.createDataFrame(rows).repartition(len(tasks)).mapInArrow(search, PLAN)
    answers = [json.loads(each) for each in frame.toArrow().column("plan").to_pylist()]
    return [put_together(snapshot, form, seed, answers) for form in forms]


def tasks_of(snapshot: ClusterSnapshot, form: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The plan itself (``within`` null), and each band of its frontier."""
    from kafka_rebalance.plans.frontier.frontier import bands_between
    from kafka_rebalance.plans.request import build_ask
    from rebalance_advisor.run_parameters import plan_options

    bands: list[float | None] = [None, *bands_between(build_ask(snapshot, plan_options(form)))]
    return [{"form": dict(form), "within": band} for band in bands]


def answer_to(
    snapshot: ClusterSnapshot, task: Mapping[str, Any], seed: int, previous: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The task with its answer: a plan without its frontier, or one point of it. Pure."""
    from kafka_rebalance.plans.frontier.frontier import searched
    from kafka_rebalance.plans.request import build_ask
    from rebalance_advisor.run_parameters import plan_options

    form, within = task["form"], task["within"]
    if within is None:
        return {**task, "plan": plan_for(snapshot, form, seed, previous, with_frontier=False)}
    (point,) = searched(build_ask(snapshot, plan_options(form)), [within], seed)
    return {**task, "point": None if point is None else asdict(point)}


def put_together(
    snapshot: ClusterSnapshot, form: Mapping[str, Any], seed: int, answers: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """One form's plan with its frontier, as a document: what one process alone would have found, verified.

    Raises InvalidPlanError where the plan does not pass its verification.
    """
    from kafka_rebalance.plans.document import plan_from_document
    from kafka_rebalance.plans.frontier.frontier import with_frontier
    from kafka_rebalance.plans.frontier.order import RatedPoint
    from kafka_rebalance.plans.plan import FrontierPoint, to_document
    from kafka_rebalance.plans.request import build_ask
    from kafka_rebalance.plans.verified_plan import verified
    from rebalance_advisor.run_parameters import plan_options

    mine = [each for each in answers if each["form"] == dict(form)]
    found = sorted((each for each in mine if each["within"] is not None), key=lambda each: -each["within"])
    points = [
        None
        if each["point"] is None
        else RatedPoint(FrontierPoint(**each["point"]["point"]), each["point"]["unevenness"])
        for each in found
    ]
    plan = plan_from_document(next(each["plan"] for each in mine if each["within"] is None))
    whole = with_frontier(plan, build_ask(snapshot, plan_options(form)), seed=seed, points=points)
    return to_document(verified(whole.sealed(), snapshot).plan)


def without_topics(form: Mapping[str, Any], topics: Sequence[str]) -> dict[str, Any]:
    """The form with these topics left alone, too: the input gate found them odd."""
    patterns = [*(form.get("exclude_topic") or ()), *(re.escape(topic) for topic in sorted(topics))]
    return {**form, "exclude_topic": patterns}


def plan_for(
    snapshot: ClusterSnapshot,
    form: Mapping[str, Any],
    seed: int,
    previous: Mapping[str, Any] | None = None,
    *,
    with_frontier: bool = True,
) -> dict[str, Any]:
    """One form's plan as a document. Pure."""
    from kafka_rebalance.plans.builder import make_plan
    from kafka_rebalance.plans.plan import to_document
    from rebalance_advisor.run_parameters import plan_options
    from rebalance_advisor.version import advisor_version

    options, version = replace(plan_options(form), with_frontier=with_frontier), advisor_version()
    return to_document(make_plan(snapshot, options, seed=seed, previous=previous, advisor_version=version))


if __name__ == "__main__":
    sys.exit(main())
