"""How much memory the JVM of a Spark driver gets: by the size of the reading, unless the connection says it.

Rows for the executors, what they share and what they answer pass through it. It is what the JVM may take at most, not
what it takes; Python's own memory comes on top.
"""

from __future__ import annotations

from rebalance_advisor.airflow.spark.connection import SparkConnection

SETTING = "spark.driver.memory"
_LEAST_MIB = 1_024  # what Spark gives if nobody says anything
_BASE_MIB, _BYTES_A_PARTITION = 512, 4_096  # docs/spark.md has what was measured


def driver_memory(connection: SparkConnection, partition_count: int | None) -> tuple[str, ...]:
    """Arguments of spark-submit; none where the connection's settings name it, or where nobody tells the size (a run
    that the version before started): then Spark's own default is what it gets.
    """
    if partition_count is None or SETTING in connection.settings:
        return ()
    return "--driver-memory", f"{memory_mib(partition_count)}m"


def memory_mib(partition_count: int) -> int:
    """At least as much as Spark gives by itself.

    >>> memory_mib(10_000), memory_mib(333_333)
    (1024, 1814)
    """
    return max(_LEAST_MIB, _BASE_MIB + partition_count * _BYTES_A_PARTITION // 2**20)
