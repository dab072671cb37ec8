"""One application that asks the same executors with one Python after another: prints what is wrong with each.

python -m tests.spark.standalone.ask_executors MASTER NAME=PYTHON…
"""

from __future__ import annotations

import json
import os
import sys


def main() -> None:
    """A line of JSON for each: its name, and what was said; null where a step ran."""
    from pyspark.sql import SparkSession

    from rebalance_advisor.spark.executor_error import ExecutorError
    from rebalance_advisor.spark.on_executors import on_executors

    master, *pythons = sys.argv[1:]
    spark = SparkSession.builder.master(master).config("spark.executor.memory", "512m").getOrCreate()
    for name, _, python in (reported.partition("=") for reported in pythons):
        spark.sparkContext.pythonExec = python
        os.environ["ADVISOR_SPARK_CODE"] = "installed" if name.startswith("installed") else "shipped"
        try:
            on_executors(spark, iter)
            said = None
        except ExecutorError as error:
            said = str(error)
        sys.stdout.write(f"{json.dumps({name: said})}\n")
    spark.stop()


if __name__ == "__main__":
    main()
