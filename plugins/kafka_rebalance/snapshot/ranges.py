"""What a figure of a cluster can be, decided once: Kafka's own integer types, and amounts that no cluster reaches.

Amounts are limited so that sums, products and quotients of them stay finite and sums of bytes fit an int64. A load
that is smaller than SMALLEST_LOAD is zero: decaying averages (JMX's rates) end in 1e-310, which divides to infinity.
"""

from __future__ import annotations

LARGEST_INT16 = 2**15 - 1  # versions of messages
LARGEST_INT32 = 2**31 - 1  # broker ids, partition numbers, generations
LARGEST_INT64 = 2**63 - 1  # offsets, bytes of a volume
LARGEST_PORT = 65_535

# Exact as a float, and eight petabytes: sizes of one replica.
LARGEST_BYTES = 2**53
# All replicas of a cluster together: an int64 holds them.
LARGEST_TOTAL_BYTES = 2**62
LARGEST_RATE = 1e15  # bytes/s or messages/s of one partition or broker
LARGEST_CPU_PERCENT = 1e6  # ten thousand cores at 100 percent each
LARGEST_CAPACITY_BYTES = 2.0**63
SMALLEST_CAPACITY = 1e-3  # bytes, bytes/s or percent
SMALLEST_LOAD = 1e-9
LARGEST_QUOTA = 1.7976931348623157e308  # Kafka keeps any double: what nobody limits is often the largest long
LONGEST_WINDOW_S = 1e10  # three hundred years

# A reading is of Kafka's age; an expiry some years later still has four digits of a year.
FIRST_YEAR, LAST_YEAR = 2000, 2199
