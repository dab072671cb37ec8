"""What every replica and every leader weighs, resource by resource: the verifier's own formulas (DESIGN §9).

Names and units come from the table that everybody has; what a resource is made of, who carries it and what it weighs is
written here a second time, from DESIGN's words alone.

Example: a partition of RF 3 that is written at 5 MB/s and read at 2 MB/s: its leader sends 2 + 5 × 2 = 12 MB/s.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.resources import RESOURCES
from kafka_rebalance.verify.cluster.arrays import ClusterArrays, Floats

Longs = npt.NDArray[np.int64]

COUNTS = ("replicas", "leaders")
# Of which measured figures each resource is made, its own source first; counts are made of none.
MADE_OF = {
    "disk": ("disk",),
    "in": ("in",),
    "out": ("out", "in"),
    "cpu": ("cpu", "out", "in"),
    "replicas": (),
    "leaders": (),
    "leader_in": ("in",),
    "potential_out": ("out", "in"),
}
# Who carries it: all that hold a replica, or only those that lead; cpu is of both.
OF_REPLICAS = ("disk", "in", "replicas", "potential_out")
OF_LEADERS_ALONE = ("out", "leaders", "leader_in")
OF_LEADERS = (*OF_LEADERS_ALONE, "cpu")
# In a plan only where a target, a cap, a headroom or a further band names them.
ON_REQUEST = ("leader_in", "potential_out")


def known_resources(cluster: ClusterArrays) -> tuple[str, ...]:
    """Those whose figures somebody measured, and the counts."""
    return tuple(name for name in RESOURCES if all(figure in cluster.figures for figure in MADE_OF[name]))


def resources_in_play(cluster: ClusterArrays, parameters: PlanOptions) -> tuple[str, ...]:
    """Those that are known and that a plan of these parameters is about."""
    return tuple(name for name in known_resources(cluster) if is_in_play(name, parameters))


def is_in_play(name: str, parameters: PlanOptions) -> bool:
    """A plan of these parameters tells of it: that it is balanced, or why not."""
    asked = parameters.targets.keys() | parameters.caps.keys() | parameters.headroom.keys() | parameters.also_balance
    return name not in ON_REQUEST or name in asked


def weights_of(name: str, rf: Longs, cluster: ClusterArrays) -> tuple[Floats, Floats]:
    """float64[P] each: what every replica carries of a resource, and what the leader carries on top."""
    nothing, one = np.zeros(len(rf)), (rf > 0).astype(np.float64)
    if name == "replicas":
        return one, nothing
    if name == "leaders":
        return nothing, one
    if name in ("disk", "in"):
        return _figure(name, one, cluster), nothing
    written = _figure("in", one, cluster)
    if name == "leader_in":
        return nothing, written
    sent = _figure("out", one, cluster) + written * (rf - 1)
    if name == "potential_out":
        return sent, nothing
    if name == "out":
        return nothing, sent
    used = _figure("cpu", one, cluster)
    follower = _follower_cpu(used, written, sent)
    return follower, used - follower


def _figure(name: str, there: Floats, cluster: ClusterArrays) -> Floats:
    """float64[P]: nothing where it is unknown, and where no replica is ``there``."""
    return np.asarray(np.nan_to_num(cluster.figures[name]) * there)


def _follower_cpu(cpu: Floats, written: Floats, sent: Floats) -> Floats:
    """Cruise Control's estimate: a follower's share is what replicating costs of writing and sending."""
    whole = 0.7 * written + 0.15 * sent
    share = np.zeros(len(cpu))
    np.divide(0.15 * written, whole, out=share, where=whole > 0)
    return np.asarray(cpu * np.minimum(share, 1.0))
