"""A job's end: what is wrong is one line on stderr where we know it, and the log of the task has it last."""

from __future__ import annotations

import sys
from collections.abc import Callable

from kafka_rebalance.errors import AdvisorError
from rebalance_advisor.spark.executor_error import executor_error, spark_words
from rebalance_advisor.terminal import write_lines


def run_job(main: Callable[[], int]) -> int:
    """The exit code of ``main``; 1 for an error that has words of ours. Any other one goes on, with its traceback."""
    try:
        return main()
    except AdvisorError as error:
        named = error
    except Exception as error:
        found = executor_error(spark_words(error))
        if found is None:
            raise
        named = found
    write_lines(sys.stderr, str(named))
    return 1
