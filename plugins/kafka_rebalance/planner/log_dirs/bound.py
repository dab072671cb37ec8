"""The fewest bytes that any placement within the limits moves between the dirs of one broker.

**Proof.** What a dir holds above its ceiling leaves it in whole replicas: a set of its own replicas that weighs as
much, and the sets of two dirs have no replica in common. What a dir lacks to its floor comes in whole replicas of
others, and no replica arrives twice. So the moved bytes are at least the sum of the lightest such sets, counted at the
dirs that lose and, apart, at the dirs that gain; the larger sum is the bound.

The lightest set that weighs at least ``need`` is a covering knapsack. Sizes are counted in units of need / 1,000,
rounded up, so that every real set still covers: the program's answer is never above the true one. Example: replicas
of 60, 50 and 30, 70 must leave: 60 + 30 (90) and 50 + 30 (80) cover, so 80. O(R × 1,000) a dir.
"""

from __future__ import annotations

import numpy as np

from kafka_rebalance.arrays import Longs
from kafka_rebalance.planner.log_dirs.problem import LogDirProblem
from kafka_rebalance.planner.params import LOG_DIRS


def fewest_moved_bytes(problem: LogDirProblem, floor_bytes: Longs, ceiling_bytes: Longs) -> int:
    """At most what any placement moves whose dirs all end from ``floor_bytes`` to ``ceiling_bytes``, int64[D] each.

    Where no placement does, any number is right.
    """
    load = problem.load_bytes(problem.dir_of)
    leaves = arrives = 0
    for place, bytes_now in enumerate(load.tolist()):
        is_here = problem.dir_of == place
        leaves += lightest_cover_bytes(problem.size_bytes[is_here], bytes_now - int(ceiling_bytes[place]))
        arrives += lightest_cover_bytes(problem.size_bytes[~is_here], int(floor_bytes[place]) - bytes_now)
    return max(leaves, arrives)


def lightest_cover_bytes(size_bytes: Longs, need_bytes: int) -> int:
    """At most the weight of the lightest set of ``size_bytes`` that weighs ``need_bytes`` or more, at least the need.

    Where all of them together weigh less, the need itself.
    """
    if need_bytes <= 0 or int(size_bytes.sum()) < need_bytes:
        return max(need_bytes, 0)
    unit = max(1, need_bytes // LOG_DIRS.bound_units)
    need = -(-need_bytes // unit)
    lightest = np.full(need + 1, np.iinfo(np.int64).max // 2, dtype=np.int64)  # [u]: of sets of u units or more
    lightest[0] = 0
    for size in np.sort(size_bytes).tolist():
        units = min(-(-size // unit), need)
        with_it = np.concatenate((np.full(units, size, dtype=np.int64), lightest[: need + 1 - units] + size))
        lightest = np.minimum(lightest, with_it)
    return max(need_bytes, int(lightest[need]))
