"""The only list of errors, or causes of errors, that Airflow retries. By name, so that no driver is imported."""

from __future__ import annotations

import re

# EX_TEMPFAIL of sysexits.h; Spark passes it on.
EXIT_LATER = 75

NAMES = frozenset(
    {
        # Network and operating system.
        "builtins.ConnectionError", "builtins.TimeoutError", "socket.gaierror", "urllib.error.URLError",
        "ssl.SSLEOFError",
        # Connections, deadlocks, serialization, locks, restarts.
        "psycopg.OperationalError", "psycopg.InterfaceError", "psycopg_pool.PoolTimeout",
        "rebalance_advisor.gates.run.GateInterruptedError",
        "sqlalchemy.exc.OperationalError", "sqlalchemy.exc.InterfaceError", "sqlalchemy.exc.TimeoutError",
        # Brokers, object stores, mail servers, Slack.
        "rebalance_advisor.kafka.connection.probe.ConnectionFailedError",
        "rebalance_advisor.kafka.cluster_metadata.ClusterUnreadableError",
        "rebalance_advisor.kafka.topic_sample.TopicUnreadableError",
        "rebalance_advisor.publish.object_store.ObjectStoreError",
        "rebalance_advisor.airflow.notify_task.NotificationError",
        # Ended from outside, or by a listed error.
        "rebalance_advisor.airflow.spark.JobInterruptedError",
        # Airflow's api-server did not answer, or the task timed out.
        "airflow.sdk.exceptions.AirflowRuntimeError", "airflow.sdk.exceptions.AirflowTaskTimeout",
    }
)  # fmt: skip
# Spark has one error class; these texts mean a lost process or connection.
_SPARK_LOST = re.compile(
    r"ExecutorLostFailure|Lost executor|executor heartbeat timed out|Master removed our application"
    r"|All masters are unresponsive|SparkContext (?:was|has been) shut ?down|Connection (?:refused|reset)"
    r"|Python worker exited unexpectedly|Answer from Java side is empty|FetchFailedException"
)
_SPARK = ("pyspark.", "py4j.")


def is_mended_by_time(error: BaseException | None) -> bool:
    visited: set[int] = set()
    while error is not None and id(error) not in visited:
        visited.add(id(error))
        kinds = {f"{kind.__module__}.{kind.__qualname__}" for kind in type(error).__mro__}
        if kinds & NAMES:
            return True
        if any(kind.startswith(_SPARK) for kind in kinds) and _SPARK_LOST.search(
            f"{getattr(error, '_origin', None) or ''}\n{error}"  # PySpark shortens Spark's text
        ):
            return True
        error = error.__cause__
    return False
