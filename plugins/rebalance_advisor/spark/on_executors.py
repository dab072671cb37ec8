"""Steps of ours on executors: the code goes there with the job, and each executor is asked first what it lacks."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rebalance_advisor.spark import worker_start
from rebalance_advisor.spark.executor_error import ExecutorError, executor_error, spark_words
from rebalance_advisor.spark.shipped_code import is_shipped, make_archive, needs, write_archive
from rebalance_advisor.spark.worker_start import Needs, report, running

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Step = Callable[[Iterator[Any]], Iterator[Any]]

# Applications of Spark whose executors have been asked, by id. The lock lets one thread of a driver prepare them.
_prepared: dict[str, Needs] = {}
_preparing = threading.Lock()


def on_executors(spark: SparkSession, step: Step) -> Step:
    """``step`` for ``mapInArrow`` or ``mapPartitions``: as it is where Spark is this machine, else with what it needs.

    Threads of one driver prepare the executors of an application once. Raises ExecutorError, before any work, where
    executors lack something. One that joins later says so in its task.
    """
    from pyspark import cloudpickle

    if is_local(spark.sparkContext.master):
        return step
    application = spark.sparkContext.applicationId
    with _preparing:
        if application not in _prepared:
            _prepared[application] = _prepare(spark)
        needed = _prepared[application]
    return running(needed, cloudpickle.dumps(step))


def is_local(master: str) -> bool:
    """Whether executors are this process's own: they then see what it sees."""
    return master.partition("[")[0] == "local"


def _prepare(spark: SparkSession) -> Needs:
    """Ship and probe: one task for each core that has come so far."""
    from pyspark import SparkFiles, cloudpickle

    cloudpickle.register_pickle_by_value(worker_start)
    context = spark.sparkContext
    archive = make_archive() if is_shipped() else None
    if archive is not None:
        # A folder of the application's own, gone with it.
        context.addFile(str(write_archive(archive, Path(SparkFiles.getRootDirectory()) / "advisor")))
    needed = needs(archive)
    count = max(context.defaultParallelism, 2)
    try:
        findings = context.parallelize(range(count), count).mapPartitions(partial(report, needed)).collect()
    except Exception as error:
        named = executor_error(spark_words(error), _hosts(context))
        if named is None:
            raise
        raise named from error
    if findings:
        raise ExecutorError.of(findings)
    return needed


def _hosts(context: Any) -> list[str]:
    """Host of each live executor. Spark lists the driver among them, by ``spark.driver.host``."""
    hosts = [executor.host for executor in context.statusTracker().getExecutorInfos()]
    driver = context.getConf().get("spark.driver.host")
    if driver in hosts:
        hosts.remove(driver)
    return hosts
