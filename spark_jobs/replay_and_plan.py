"""The advisory of one run: ``advise`` on Spark's executors, on one snapshot of the store, saved in one transaction.

    spark-submit replay_and_plan.py --run-id RUN          ADVISOR_POSTGRES_DSN names the store

The request is stored with the run. A snapshot older than the request's limit gives a plan without moves that says so,
without a search. A failed job leaves nothing behind.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from kafka_rebalance.advisory.advise import Advice
    from rebalance_advisor.run_advice import RunQuestion


def main(argv: Sequence[str] | None = None) -> int:
    from pyspark.sql import SparkSession

    from rebalance_advisor import store
    from rebalance_advisor.run_advice import read_question, save_advice

    parser = argparse.ArgumentParser(prog="replay_and_plan.py", description="Replay and plan the snapshot of one run.")
    parser.add_argument("--run-id", required=True)
    run_id, dsn = parser.parse_args(argv).run_id, store.dsn_from_environment()
    with store.connect(dsn) as connection:
        question = read_question(connection, run_id)
    spark = SparkSession.builder.appName(f"advisor replay_and_plan {run_id}").getOrCreate()
    try:
        advice = advise_on(spark, question, datetime.now(UTC))
    finally:
        spark.stop()
    with store.connect(dsn) as connection:
        save_advice(connection, run_id, advice)
    return 0


def advise_on(spark: SparkSession, question: RunQuestion, now: datetime) -> Advice:
    """Advisory; errors of custom assignors go to the log."""
    from rebalance_advisor.own_strategies.error_summary import error_summary
    from rebalance_advisor.own_strategies.limits import limits_of
    from rebalance_advisor.own_strategies.registering import described, own_strategies
    from rebalance_advisor.own_strategies.targets import Kind, targets_of
    from rebalance_advisor.run_advice import advise_run
    from rebalance_advisor.spark.mapper import SparkMapper
    from rebalance_advisor.stage_times import StageTimes
    from rebalance_advisor.terminal import write_lines

    request = question.request
    limits = limits_of(request.own_strategy_s, request.own_strategy_bytes)
    own = described(targets_of(request.own_strategies, Kind.ASSIGNOR), limits)
    mapper = SparkMapper(spark, partial(own_strategies, own, limits))
    advice = advise_run(question, now, mapper=mapper, width=mapper.width, watch=StageTimes())
    write_lines(sys.stderr, *error_summary(advice.groups, [strategy.name for strategy in own]))
    return advice


if __name__ == "__main__":
    from rebalance_advisor.spark.run_job import run_job

    sys.exit(run_job(main))
