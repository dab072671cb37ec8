"""The widest values of options; without numpy, because a DAG file reads them through its form.

They are those of Kafka's own types where it has one (a broker's id is 32 bits wide, a replication factor 16), else so
wide that no sensible value is refused, and so narrow that no sum or product leaves the numbers of a float.
"""

from __future__ import annotations

MOST_WHOLE = 2**63 - 1
MOST_BROKER_ID = 2**31 - 1
MOST_FACTOR = 2**15 - 1
MOST_HOURS = 24 * 366 * 100
# Of a window of history: so long are hourly loads kept.
MOST_WINDOW_HOURS = 35 * 24
LEAST_RATIO, MOST_RATIO = 1e-6, 1e6
# Of one list of values, and of a text or pattern: an alternation of hundreds of topics fits.
MOST_VALUES = 10_000
LONGEST_TEXT = 10_000
# Of a partition's number: Kafka's are 32 bits wide.
MOST_PARTITION = 2**31 - 1
# Of a GB between racks, in any currency.
MOST_PRICE = 1e6
