"""The plan of a request: searched on Spark's executors, put together and verified by the driver.

Each request is a row, and so is each point of its frontier: executors search them side by side on a snapshot that is
sent to each of their Python workers once. A reading that is older than the request's limit gives no plan, and nothing
is searched.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

    from kafka_rebalance.plans.plan import Plan
    from kafka_rebalance.snapshot.model import ClusterSnapshot
    from rebalance_advisor import store
    from rebalance_advisor.request.run_request import RunRequest

PLAN = "plan string"


def request_of(run: store.Run, quarantined: Sequence[store.Quarantined]) -> RunRequest:
    """What the run was asked for; topics that the input gate found odd are left alone, too."""
    from rebalance_advisor.request.run_request import RunRequest

    held = [entry.subject for entry in quarantined if entry.subject_type == "topic"]
    return RunRequest.from_mapping(run.parameters).leaving_topics(held)


def plan_of_old_reading(snapshot: ClusterSnapshot, request: RunRequest, *, now: datetime) -> Plan | None:
    """The plan without moves that says how old the reading is; None for one that is young enough. Pure."""
    from kafka_rebalance.plans.pipeline import plan_of_unfit_reading
    from kafka_rebalance.plans.verified_plan import require_verified
    from kafka_rebalance.snapshot.age import too_old
    from rebalance_advisor.version import advisor_version

    limit = None if request.age_limit_s is None else timedelta(seconds=request.age_limit_s)
    reason = too_old(snapshot.captured_at, now, limit)
    if reason is None:
        return None
    plan = plan_of_unfit_reading(
        snapshot, request.options, (reason,), seed=request.seed, advisor_version=advisor_version()
    )
    require_verified(plan, snapshot)
    return plan


def search_plans(
    spark: SparkSession,
    snapshot: ClusterSnapshot,
    requests: Sequence[RunRequest],
    previous: Mapping[str, Any] | None = None,
) -> list[dict[str, Any]]:
    """The document of the plan for each request, in their order; ``previous``: the plan that was published before."""
    import pyarrow as pa

    from rebalance_advisor.spark.on_executors import on_executors
    from rebalance_advisor.spark.progress import progress

    tasks = [json.dumps(task) for request in requests for task in tasks_of(snapshot, request)]
    rows = pa.table({"task": tasks})
    # Groups and all: a plan names its reading by a hash of the whole.
    given = spark.sparkContext.broadcast((snapshot, previous))

    def search(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        from rebalance_advisor.compiling.first_compile import tell_of_first_compile

        tell_of_first_compile(what="step")  # in the worker's log
        read, published = given.value
        for batch in batches:
            found = [answer_to(read, json.loads(task), published) for task in batch.column("task").to_pylist()]
            counter.add(len(found))
            yield pa.RecordBatch.from_pydict({"plan": pa.array([json.dumps(answer) for answer in found], pa.string())})

    with progress(spark, "searches", len(tasks)) as counter:
        frame = spark.createDataFrame(rows).repartition(len(tasks)).mapInArrow(on_executors(spark, search), PLAN)
        answers = [json.loads(answer) for answer in frame.toArrow().column("plan").to_pylist()]
    given.destroy()
    return [put_together(snapshot, request, answers) for request in requests]


def tasks_of(snapshot: ClusterSnapshot, request: RunRequest) -> list[dict[str, Any]]:
    """The plan itself (``within`` null), and each band of its frontier, if one is wanted."""
    from kafka_rebalance.plans.frontier import bands_between
    from kafka_rebalance.plans.request import build_request

    options = request.options
    bands = bands_between(build_request(snapshot, options)) if options.with_frontier else ()
    return [{"request": request.document(), "within": band} for band in (None, *bands)]


def answer_to(
    snapshot: ClusterSnapshot, task: Mapping[str, Any], previous: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The task with its answer: a plan without its frontier, or one point of it. Pure."""
    from kafka_rebalance.plans.frontier import searched
    from kafka_rebalance.plans.request import build_request
    from rebalance_advisor.request.run_request import RunRequest

    request, within = RunRequest.from_mapping(task["request"]), task["within"]
    if within is None:
        return {**task, "plan": plan_without_frontier(snapshot, request, previous)}
    (point,) = searched(build_request(snapshot, request.options), [within], request.seed)
    return {**task, "point": None if point is None else asdict(point)}


def put_together(
    snapshot: ClusterSnapshot, request: RunRequest, answers: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """One request's plan with its frontier, as a document: what one process alone would have found, verified.

    Raises InvalidPlanError where the plan does not pass its verification.
    """
    from kafka_rebalance.plans.document import plan_from_document
    from kafka_rebalance.plans.frontier import RatedPoint, with_frontier
    from kafka_rebalance.plans.plan import FrontierPoint, to_document
    from kafka_rebalance.plans.request import build_request
    from kafka_rebalance.plans.verified_plan import verified

    document = request.document()
    own = [answer for answer in answers if answer["request"] == document]
    found = sorted((answer for answer in own if answer["within"] is not None), key=lambda answer: -answer["within"])
    points = [
        None
        if answer["point"] is None
        else RatedPoint(FrontierPoint(**(answer["point"]["point"] | {"reasons": ()})), answer["point"]["unevenness"])
        for answer in found
    ]
    plan = plan_from_document(next(answer["plan"] for answer in own if answer["within"] is None))
    if request.options.with_frontier:
        plan = with_frontier(plan, build_request(snapshot, request.options), seed=request.seed, points=points).sealed()
    return to_document(verified(plan, snapshot).plan)


def plan_without_frontier(
    snapshot: ClusterSnapshot, request: RunRequest, previous: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """One request's plan as a document. Pure."""
    from kafka_rebalance.plans.pipeline import make_plan
    from kafka_rebalance.plans.plan import to_document
    from rebalance_advisor.stage_times import StageTimes
    from rebalance_advisor.version import advisor_version

    options = replace(request.options, with_frontier=False)
    version = advisor_version()
    plan = make_plan(
        snapshot, options, seed=request.seed, previous=previous, advisor_version=version, watch=StageTimes()
    )
    return to_document(plan)
