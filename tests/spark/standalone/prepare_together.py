"""One application whose threads all ask at once to run on executors: prints how many jobs of Spark that took.

python -m tests.spark.standalone.prepare_together MASTER PYTHON
"""

from __future__ import annotations

import sys
import threading
from concurrent.futures import ThreadPoolExecutor

_THREADS = 12


def main() -> None:
    """One number: the probes that were run."""
    from pyspark.sql import SparkSession

    from rebalance_advisor.spark.on_executors import on_executors

    master, python = sys.argv[1:]
    spark = SparkSession.builder.master(master).config("spark.executor.memory", "512m").getOrCreate()
    spark.sparkContext.pythonExec = python
    together = threading.Barrier(_THREADS)

    def ask(_: int) -> None:
        together.wait(60)
        on_executors(spark, iter)

    with ThreadPoolExecutor(_THREADS) as pool:
        list(pool.map(ask, range(_THREADS)))
    sys.stdout.write(f"{len(spark.sparkContext.statusTracker().getJobIdsForGroup(None))}\n")
    spark.stop()


if __name__ == "__main__":
    main()
