from __future__ import annotations

import sys
import traceback
from collections.abc import Callable

from kafka_assignors.errors import AdvisorError
from kafka_rebalance.render import describe_error
from rebalance_advisor.mended_by_time import EXIT_LATER, is_mended_by_time
from rebalance_advisor.spark.executor_error import executor_error, spark_message
from rebalance_advisor.terminal import write_lines


def run_job(main: Callable[[], int]) -> int:
    """75 for errors that time can mend, 1 for other errors of ours (one line on stderr). Others raise."""
    try:
        return main()
    except AdvisorError as error:
        named: AdvisorError = error
    except Exception as error:
        executor_fault = executor_error(spark_message(error))
        if executor_fault is None and is_mended_by_time(error):
            traceback.print_exception(error)
            return EXIT_LATER
        if executor_fault is None:
            raise
        named = executor_fault
    write_lines(sys.stderr, describe_error(named))
    return EXIT_LATER if is_mended_by_time(named) else 1
