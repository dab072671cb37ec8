"""kafka-python reads its message schemas by a function that is deprecated in Python 3.11 and 3.12, and not in 3.13."""

import warnings

with warnings.catch_warnings():
    warnings.filterwarnings("ignore", r"(read|open)_text is deprecated", DeprecationWarning)
    import rebalance_advisor.kafka.read_cluster  # noqa: F401
