"""How much of what a group reads its members can fetch in their own rack, under any assignment.

    same_rack_ratio      = share whose reader has a replica in its rack: it fetches there where the brokers' replica
                           selector is by rack (KIP-392)
    leader_in_rack_ratio = share whose leader is in the reader's rack: what is fetched there without a selector

Share of the bytes written a second; of the partitions where one of those rates is unknown, or nothing is written. What
members without a rack read is not counted, nor a partition whose replicas nobody knows yet (it is to be made); where
nobody says a rack there is no ratio.

Example: a member in rack a reads p0 (30 bytes/s, replicas in a and b, led in b), one in rack c reads p1 (10 bytes/s,
replicas in a and b): 30 of 40 can be fetched in the rack, nothing of it without a selector.

Complexity: O(P · RF) a call of the kernel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kafka_rebalance.arrays import NOBODY, Floats, Ints, Longs
from kafka_rebalance.kernels.decorators import kernel

NO_RACK = -1


@dataclass(frozen=True, slots=True, eq=False)
class RackCodes:
    """Racks as numbers, NO_RACK where there is none. Replicas of partition p: ``offsets[p]`` to ``offsets[p + 1]``.

    ``offsets`` int64[P+1], ``of_replica`` int32[R], ``of_member`` int32[M]; ``of_leader`` int32[P], ``None`` where
    nobody told it.
    """

    offsets: Longs
    of_replica: Ints
    of_leader: Ints | None
    of_member: Ints


@dataclass(frozen=True, slots=True)
class RackRatios:
    """``None``: no member that says its rack reads anything, or (of leaders) nobody told where they are."""

    same_rack_ratio: float | None
    leader_in_rack_ratio: float | None


def rack_codes(
    offsets: Longs,
    racks: Sequence[str | None],
    leader_racks: Sequence[str | None],
    member_racks: Sequence[str | None],
) -> RackCodes:
    """``racks`` along the replicas, ``leader_racks`` along the partitions (empty: not told)."""
    code_of: dict[str | None, int] = {None: NO_RACK, "": NO_RACK}
    for rack in member_racks:
        code_of.setdefault(rack, len(code_of))

    def codes(names: Sequence[str | None]) -> Ints:
        return np.array([code_of.get(name, NO_RACK) for name in names], dtype=np.int32)

    return RackCodes(offsets, codes(racks), codes(leader_racks) if leader_racks else None, codes(member_racks))


def rack_ratios(reader: Ints, codes: RackCodes, in_bytes_per_s: Floats) -> RackRatios:
    """Of ``reader`` int32[P] (member of each partition, NOBODY: none)."""
    leaders = codes.of_replica[:0] if codes.of_leader is None else codes.of_leader
    same, led = read_in_rack(reader, codes.offsets, codes.of_replica, leaders, codes.of_member, in_bytes_per_s)
    if np.isnan(same):
        return RackRatios(None, None)
    return RackRatios(same, None if codes.of_leader is None else led)


@kernel
def read_in_rack(
    reader: Ints, offsets: Longs, of_replica: Ints, of_leader: Ints, of_member: Ints, in_bytes_per_s: Floats
) -> tuple[float, float]:
    """Both ratios, ``nan`` where no member with a rack reads; that of leaders is 0 without ``of_leader``.

    For loops that score many assignments.
    """
    counted, same, led = 0, 0, 0
    rate, same_rate, led_rate = 0.0, 0.0, 0.0
    for row in range(len(reader)):
        rack = NO_RACK if reader[row] == NOBODY else of_member[reader[row]]
        if rack == NO_RACK or offsets[row] == offsets[row + 1]:
            continue
        counted += 1
        rate += in_bytes_per_s[row]
        for place in range(offsets[row], offsets[row + 1]):
            if of_replica[place] == rack:
                same += 1
                same_rate += in_bytes_per_s[row]
                break
        if len(of_leader) and of_leader[row] == rack:
            led += 1
            led_rate += in_bytes_per_s[row]
    if counted == 0:
        return np.nan, np.nan
    if rate > 0:  # nan is not
        return same_rate / rate, led_rate / rate
    return same / counted, led / counted
