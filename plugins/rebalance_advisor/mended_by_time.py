"""The one list of errors that time can mend: Airflow tries a task again after these, and after no other.

By name: asking imports no driver. An error whose cause is in the list can be mended, too.
"""

from __future__ import annotations

import re

# Exit code of a job whose error time can mend (EX_TEMPFAIL of sysexits.h); Spark hands it through.
EXIT_LATER = 75

NAMES = frozenset(
    {
        # The network and the system below it.
        "builtins.ConnectionError", "builtins.TimeoutError", "socket.gaierror", "urllib.error.URLError",
        "ssl.SSLEOFError",
        # Postgres: connections, deadlocks, serialization, locks, restarts.
        "psycopg.OperationalError", "psycopg.InterfaceError", "psycopg_pool.PoolTimeout",
        "rebalance_advisor.gates.run.GateInterruptedError",
        "sqlalchemy.exc.OperationalError", "sqlalchemy.exc.InterfaceError", "sqlalchemy.exc.TimeoutError",
        # Brokers, object stores, mail servers, Slack.
        "rebalance_advisor.kafka.connection.probe.ConnectionFailedError",
        "rebalance_advisor.kafka.cluster_metadata.ClusterUnreadableError",
        "rebalance_advisor.kafka.topic_sample.TopicUnreadableError",
        "rebalance_advisor.publish.object_store.ObjectStoreError",
        "rebalance_advisor.airflow.notify_task.UntoldError",
        # A Spark job that was ended from outside, or whose own error stands in this list.
        "rebalance_advisor.airflow.spark.JobInterruptedError",
        # Airflow's api-server did not answer a task, or the task took too long.
        "airflow.sdk.exceptions.AirflowRuntimeError", "airflow.sdk.exceptions.AirflowTaskTimeout",
    }
)  # fmt: skip
# Spark has one error for everything: these words say that it lost a process or a connection.
_SPARK_LOST = re.compile(
    r"ExecutorLostFailure|Lost executor|executor heartbeat timed out|Master removed our application"
    r"|All masters are unresponsive|SparkContext (?:was|has been) shut ?down|Connection (?:refused|reset)"
    r"|Python worker exited unexpectedly|Answer from Java side is empty|FetchFailedException"
)
_SPARK = ("pyspark.", "py4j.")


def is_mended_by_time(error: BaseException | None) -> bool:
    """Whether the error, or one that caused it, is in the list."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        kinds = {f"{kind.__module__}.{kind.__qualname__}" for kind in type(error).__mro__}
        if kinds & NAMES:
            return True
        if any(kind.startswith(_SPARK) for kind in kinds) and _SPARK_LOST.search(
            f"{getattr(error, '_origin', None) or ''}\n{error}"  # PySpark shortens what Spark said
        ):
            return True
        error = error.__cause__
    return False
