"""One broker's replicas and log dirs, and between which loads each dir has to end."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kafka_rebalance.arrays import Longs
from kafka_rebalance.errors import UsageError


@dataclass(frozen=True, slots=True, eq=False)
class LogDirProblem:
    """R replicas in D dirs of one broker.

    ``size_bytes`` int64[R], at least 1 (an empty replica must leave a dir that is emptied, too); ``dir_of`` int64[R];
    ``floor_bytes`` and ``ceiling_bytes`` int64[D]: the load that the dir should end with; ``may_receive`` bool[D]:
    false for a dir that is cordoned. Raises UsageError where these contradict each other.
    """

    size_bytes: Longs
    dir_of: Longs
    floor_bytes: Longs
    ceiling_bytes: Longs
    may_receive: npt.NDArray[np.bool_]

    def __post_init__(self) -> None:
        dirs = len(self.ceiling_bytes)
        if not len(self.floor_bytes) == len(self.may_receive) == dirs:
            raise UsageError.at("log dirs", f"{dirs} ceilings, {len(self.floor_bytes)} floors", "one of each a dir")
        if len(self.size_bytes) != len(self.dir_of):
            raise UsageError.at("log dirs", f"{len(self.size_bytes)} sizes of {len(self.dir_of)} replicas", "one each")
        if len(self.dir_of) and not 0 <= int(self.dir_of.min()) <= int(self.dir_of.max()) < dirs:
            raise UsageError.at("log dirs", f"a replica in dir {int(self.dir_of.max())} of {dirs}", "0 is the first")
        if (self.size_bytes < 1).any():
            raise UsageError.at("log dirs", f"a replica of {int(self.size_bytes.min())} bytes", "at least 1")
        if (self.floor_bytes > self.ceiling_bytes).any():
            raise UsageError.at("log dirs", "a floor above its ceiling", "a floor is at most its ceiling")

    def load_bytes(self, dir_of: Longs) -> Longs:
        """int64[D]: what each dir holds when the replicas lie in ``dir_of``."""
        result = np.zeros(len(self.ceiling_bytes), dtype=np.int64)
        np.add.at(result, dir_of, self.size_bytes)
        return result

    def moved_bytes(self, dir_of: Longs) -> int:
        """Bytes that are copied from one dir to another."""
        return int(self.size_bytes[dir_of != self.dir_of].sum())

    def cost(self, dir_of: Longs) -> tuple[int, int, int]:
        """What is minimised, in this order: bytes above ceilings, bytes below floors, bytes moved."""
        load = self.load_bytes(dir_of)
        over = np.maximum(load - self.ceiling_bytes, 0).sum()
        under = np.maximum(self.floor_bytes - load, 0).sum()
        return int(over), int(under), self.moved_bytes(dir_of)
