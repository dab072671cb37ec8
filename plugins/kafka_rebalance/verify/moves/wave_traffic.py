"""What a set of moves that run together does to each broker: bytes, copies, write rates; forward or back."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kafka_rebalance.verify.cluster.arrays import ClusterArrays, Flags, Floats, Ints
from kafka_rebalance.verify.cluster.claimed_moves import ClaimedMoves

# Copies catch up where the throttle leaves them something.
_HEADROOM = 1.25
_ROUNDING = 1e-12

Longs = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Traffic:
    """Per broker: bytes that arrive, are read from it as leader, and are deleted after (nan where a size is unknown);
    copies that arrive, partitions that it sends; the greatest write rate that copying has to keep up with.
    """

    arriving: Floats
    sent: Floats
    leaving: Floats
    copies_in: Longs
    moves_out: Longs
    busiest_rate: float

    @classmethod
    def forward(cls, claimed: ClaimedMoves, cluster: ClusterArrays, members: Longs) -> Traffic:
        """As the plan runs: read from today's leader, to the new replicas."""
        end, start = claimed.end[members], claimed.start[members]
        new, dropped = claimed.is_new[members], _wide(claimed.is_dropped[members], start)
        return _traffic(cluster, claimed.row[members], claimed.leader_from[members], (end, new), (start, dropped))

    @classmethod
    def backward(cls, claimed: ClaimedMoves, cluster: ClusterArrays, members: Longs) -> Traffic:
        """As the rollback runs: read from the new leader, to where replicas were."""
        end, start = claimed.end[members], claimed.start[members]
        new, dropped = claimed.is_new[members], _wide(claimed.is_dropped[members], start)
        return _traffic(cluster, claimed.row[members], claimed.leader_to[members], (start, dropped), (end, new))

    def throttle(self, asked: int) -> tuple[int, int]:
        """The lowest and highest that is right: the one asked for, else a quarter above the rate that forbids it.

        Two where the order of a sum decides on which side of a whole number it falls.
        """
        if self.busiest_rate < asked * (1 - _ROUNDING):
            return asked, asked
        raised = [math.ceil(self.busiest_rate * _HEADROOM * (1 + sign * _ROUNDING)) + 1 for sign in (-1, 1)]
        return (min(asked, raised[0]) if self.busiest_rate < asked * (1 + _ROUNDING) else raised[0]), raised[1]

    def seconds(self, throttle: float) -> float | None:
        """The busiest broker's bytes in or out over the throttle; None where a size is unknown."""
        busiest = max(float(self.arriving.max(initial=0.0)), float(self.sent.max(initial=0.0)))
        return None if np.isnan(busiest) else busiest / throttle


def _wide(flags: Flags, like: Ints) -> Flags:
    return np.pad(flags, ((0, 0), (0, like.shape[1] - flags.shape[1])))


def _traffic(
    cluster: ClusterArrays, row: Longs, leader: Ints, coming: tuple[Ints, Flags], going: tuple[Ints, Flags]
) -> Traffic:
    count = len(cluster.ids)
    size = cluster.size[row]
    rate = np.nan_to_num(cluster.rate)[row]
    copies = coming[1].sum(axis=1)
    amount = np.where(copies == 0, 0.0, copies * size)
    sends = (leader >= 0) & (copies > 0)
    rate_in = _sum_over(coming, rate, count)
    rate_out = np.bincount(leader[sends], weights=(copies * rate)[sends], minlength=count)
    return Traffic(
        arriving=_sum_over(coming, size, count),
        sent=np.bincount(leader[sends], weights=amount[sends], minlength=count).astype(np.float64),
        leaving=_sum_over(going, _own(cluster, row, going[0], size), count),
        copies_in=np.bincount(coming[0][coming[1]], minlength=count),
        moves_out=np.bincount(leader[sends], minlength=count),
        busiest_rate=max(float(rate_in.max(initial=0.0)), float(rate_out.max(initial=0.0))),
    )


def _sum_over(cells: tuple[Ints, Flags], weight: Floats, count: int) -> Floats:
    brokers, chosen = cells
    weights = weight if weight.ndim == 2 else np.repeat(weight[:, None], brokers.shape[1], axis=1)
    return np.bincount(brokers[chosen], weights=weights[chosen], minlength=count).astype(np.float64)


def _own(cluster: ClusterArrays, row: Longs, brokers: Ints, size: Floats) -> Floats:
    """The replicas' own sizes where they are told today, else the leader's."""
    own = np.full(brokers.shape, np.nan)
    width = min(brokers.shape[1], cluster.now.shape[1])
    same = brokers[:, :width] == cluster.now[row][:, :width]
    own[:, :width] = np.where(same, cluster.own_bytes[row][:, :width], np.nan)
    return np.where(np.isnan(own), size[:, None], own)
