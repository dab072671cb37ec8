"""Replay a run's snapshot and search its plan, side by side, in one application on one reading of the store.

    spark-submit replay_and_plan.py --run-id RUN          ADVISOR_POSTGRES_DSN names the store

Replay: what brokers and racks carry, Kafka's placer on each topic, each strategy on each group. Plan: the fewest bytes
that meet rules and bands, with its bounds, waves, rollback and reasons; the run's request is what was stored with it. A
reading that is older than the request's limit gives a plan without moves that says so, and none is searched.

Executors do both in whatever order they come to it: a plan is one long task, the points of its frontier and the
replays are many short ones beside it. The driver saves all of it in one transaction, so that a job that dies leaves
nothing behind.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pyspark.sql import SparkSession

    from kafka_rebalance.plans.plan import Plan
    from kafka_rebalance.snapshot.model import ClusterSnapshot
    from rebalance_advisor.request.run_request import RunRequest


@dataclass(frozen=True, slots=True)
class Given:
    """What the store holds of a run. ``odd``: groups that the input gate holds; ``previous``: the published plan."""

    run_id: str
    snapshot: ClusterSnapshot
    request: RunRequest
    odd: frozenset[str]
    previous: Mapping[str, Any] | None


def main(argv: Sequence[str] | None = None) -> int:
    """Read, replay and search, save."""
    from pyspark.sql import SparkSession

    from rebalance_advisor import store
    from rebalance_advisor.jobs.replaying import save_replay

    parser = argparse.ArgumentParser(prog="replay_and_plan.py", description="Replay and plan the snapshot of one run.")
    parser.add_argument("--run-id", required=True)
    run_id, dsn = parser.parse_args(argv).run_id, store.dsn_from_environment()
    given = read(dsn, run_id)
    spark = SparkSession.builder.appName(f"advisor replay_and_plan {run_id}").getOrCreate()
    try:
        with beside(partial(search, spark, given, datetime.now(UTC)), spark.stop) as searched:
            topics, groups = replay(spark, given)
    finally:
        spark.stop()
    with store.connect(dsn) as connection, connection.transaction():
        save_replay(connection, run_id, given.snapshot, topics, groups)
        store.save_plan(connection, run_id, searched[0])
    return 0


def read(dsn: str, run_id: str) -> Given:
    """The run with its snapshot. Raises StoreError where a part is missing."""
    from rebalance_advisor import store
    from rebalance_advisor.jobs.searching import request_of

    with store.connect(dsn) as connection:
        run = store.load_run(connection, run_id)
        snapshot = store.load_run_input(connection, run).snapshot
        held = store.load_quarantine(connection, run.snapshot_id)
        published = store.newest_published(connection, run.cluster)
        previous = None if published is None else store.load_plan(connection, published)
    odd = frozenset(subject.subject for subject in held if subject.subject_type == "group")
    return Given(run_id, snapshot, request_of(run, held), odd, previous)


def replay(spark: SparkSession, given: Given) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Topics and groups; what strategies of one's own did wrong goes to the log."""
    from rebalance_advisor.jobs.replaying import replay_groups, replay_topics
    from rebalance_advisor.own_strategies.limits import limits_of
    from rebalance_advisor.own_strategies.registering import described, own_strategies
    from rebalance_advisor.own_strategies.targets import Kind, targets_of
    from rebalance_advisor.own_strategies.told import told_of_own
    from rebalance_advisor.spark.rows.replayed import refusals
    from rebalance_advisor.terminal import write_lines

    request = given.request
    limits = limits_of(request.own_strategy_s, request.own_strategy_bytes)
    own = described(targets_of(request.own_strategies, Kind.ASSIGNOR), limits)
    asked = request.replay_options
    topics = replay_topics(spark, given.snapshot)
    told = asked.told(given.snapshot)
    groups = replay_groups(spark, told, given.odd, partial(own_strategies, own, limits), asked)
    write_lines(sys.stderr, *told_of_own(refusals(groups), [one.name for one in own]))
    return topics, groups


def search(spark: SparkSession, given: Given, now: datetime) -> Plan:
    """The plan with its frontier, verified; of a reading that is too old at ``now`` the one that says so."""
    from kafka_rebalance.plans.document import plan_from_document
    from rebalance_advisor.jobs.searching import plan_of_old_reading, search_plans

    unfit = plan_of_old_reading(given.snapshot, given.request, now=now)
    if unfit is not None:
        return unfit
    (found,) = search_plans(spark, given.snapshot, [given.request], given.previous)
    return plan_from_document(found)


@contextmanager
def beside(work: Callable[[], Plan], end: Callable[[], None]) -> Iterator[list[Plan]]:
    """Run ``work`` in a thread of its own; at the end the list holds what it returned.

    Where it raises, ``end`` ends the Spark jobs of the code beside it at once, and its error is the one that is raised.
    Where that code raises first, the thread is left: its Spark jobs end with the application.
    """
    from pyspark.util import InheritableThread

    results: list[Plan] = []
    failures: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:  # noqa: BLE001 raised again where it is waited for
            failures.append(error)
            end()

    thread = InheritableThread(target=run, daemon=True)
    thread.start()
    try:
        yield results
    except Exception:
        # Once the work has failed, ``end`` stopped the jobs of the code beside it: only the work's own error says why.
        if not failures:
            raise
    thread.join()
    if failures:
        raise failures[0]


if __name__ == "__main__":
    from rebalance_advisor.spark.run_job import run_job

    sys.exit(run_job(main))
