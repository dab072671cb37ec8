"""Before and after, mean, skew and bands of each resource, and the topic spread: recomputed from loads alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.resources import RESOURCES, UNITS
from kafka_rebalance.verify.cluster.arrays import ClusterArrays, Floats
from kafka_rebalance.verify.cluster.broker_loads import (
    capacities_of,
    hard_limits,
    loads_of,
    plain_mean,
    skew_of,
    topic_excess,
)
from kafka_rebalance.verify.cluster.caps import cap_of
from kafka_rebalance.verify.cluster.claimed_moves import ClaimedMoves
from kafka_rebalance.verify.cluster.resource_bands import asked_band, band_of
from kafka_rebalance.verify.cluster.resource_weights import (
    COUNTS,
    MADE_OF,
    OF_LEADERS,
    ON_REQUEST,
    is_in_play,
    resources_in_play,
)
from kafka_rebalance.verify.faults import FaultList

SLACK = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Levels:
    """Loads before and after float64[B] by resource, the same once preferred replicas are elected, and capacities
    (None: equal ones assumed).
    """

    before: dict[str, Floats]
    after: dict[str, Floats]
    elected_before: dict[str, Floats]
    elected_after: dict[str, Floats]
    capacity: dict[str, Floats | None]


def recompute(claimed: ClaimedMoves, cluster: ClusterArrays, parameters: PlanOptions) -> Levels:
    """Everything that `before`, `after`, skews and bands are compared with."""
    before = elected_before = loads_of(cluster, cluster.now, cluster.leader, cluster.own_bytes)
    after = elected_after = loads_of(cluster, claimed.after, claimed.leader_after, claimed.own_after)
    if (cluster.preferred != cluster.leader).any():
        elected_before = loads_of(cluster, cluster.now, cluster.preferred, cluster.own_bytes)
        elected = cluster.preferred.copy()
        elected[claimed.row] = claimed.leader_to
        elected_after = loads_of(cluster, claimed.after, elected, claimed.own_after)
    return Levels(
        before,
        after,
        elected_before,
        elected_after,
        capacities_of(cluster, parameters.capacities, frozenset(parameters.headroom)),
    )


def check_outcomes(
    document: dict[str, Any],
    levels: Levels,
    claimed: ClaimedMoves,
    cluster: ClusterArrays,
    parameters: PlanOptions,
    faults: FaultList,
) -> None:
    """``resources``, ``left_out``, ``before``, ``after`` and what is told of them."""
    resources = [resource["resource"] for resource in document["resources"]]
    _check_which(document, resources, cluster, parameters, faults)
    _check_asked(document["resources"], parameters, faults)
    for outcome in document["resources"]:
        name = outcome["resource"]
        if name in levels.before and name in document["before"] and name in document["after"]:
            _check_one(document, outcome, levels, cluster, faults)
    _check_preferred(document["preferred_leaders"], levels, cluster, faults)
    _check_capacity(levels, cluster, faults)
    if document["verdict"] in ("rebalance", "nothing_to_do"):
        _check_caps(levels, cluster, parameters, faults)
    excess = [topic_excess(cluster, cluster.now), topic_excess(cluster, claimed.after)]
    faults.require_equal("topic_excess", "plan.topic_excess_replicas", document["topic_excess_replicas"], excess)
    for outcome in document["resources"]:
        if outcome["resource"] in levels.after:
            if document["verdict"] in ("infeasible", "cannot_tell"):
                place = f"resources.{outcome['resource']}.widened_to"
                faults.require_equal("band", place, outcome["widened_to"], [None, None])
                continue
            if document["verdict"] in ("rebalance", "nothing_to_do"):
                _check_band(outcome, levels, cluster, parameters, faults)
            _check_widened(outcome, levels, cluster, parameters, faults)


def _check_which(
    document: dict[str, Any],
    resources: list[str],
    cluster: ClusterArrays,
    parameters: PlanOptions,
    faults: FaultList,
) -> None:
    known = [
        resource
        for resource in resources_in_play(cluster, parameters)
        if parameters.moves_replicas or resource in OF_LEADERS
    ]
    if not len(cluster.ids):
        known = []  # nobody is there to carry it
    if [resource for resource in RESOURCES if resource in resources] != resources:
        faults.add("order", "plan.resources", "are not in order")
    if (document["left_out"].keys() | set(resources)) - set(RESOURCES):
        faults.add("resource", "plan.resources", "one is no resource")
    _check_left_out(document["left_out"], resources, known, parameters, faults)
    if len(set(resources)) != len(resources):
        faults.add("resource", "plan.resources", "one stands twice")
    for field in ("before", "after"):
        if set(document[field]) != set(resources):
            faults.add(field, f"plan.{field}", f"holds {sorted(document[field])}, resources are {sorted(resources)}")


def _check_left_out(
    left_out: dict[str, Any], resources: list[str], known: list[str], parameters: PlanOptions, faults: FaultList
) -> None:
    """Each resource stands once: balanced where it is known and the job changes it, else left out with the reason."""
    for name in RESOURCES:
        stands = (name in resources) + (name in left_out)
        if not is_in_play(name, parameters):
            if stands:
                faults.add("resource", name, "is told of although nothing was asked of it")
        elif stands != 1:
            faults.add("resource", name, "stands neither once among resources nor among those left out")
        elif name in resources and name not in known:
            faults.add("resource", name, "is balanced although it is not known")
        elif name in left_out and name in known:
            faults.add("resource", name, "is left out although it is known")


def _check_asked(resources: list[dict[str, Any]], parameters: PlanOptions, faults: FaultList) -> None:
    """A band is the target of its resource, else the common one around the fair share."""
    for outcome in resources:
        name = outcome["resource"]
        within = parameters.band
        if name in parameters.targets:
            target = parameters.targets[name]
            basis, asked = "plain_mean", [target.low, target.high]
        else:
            is_bare = within is None or (name in ON_REQUEST and name not in parameters.also_balance)
            basis, asked = "fair_share", [None, None] if is_bare else [1 - (within or 0.0), 1 + (within or 0.0)]
        faults.require_equal("band", f"resources.{name}.basis", outcome["basis"], basis)
        faults.require_equal(
            "band", f"resources.{name}.is_ordered", outcome["is_ordered"], is_ordered(name, parameters)
        )
        for side, claimed, wanted in zip(("low", "high"), outcome["band_asked"], asked, strict=True):
            faults.require_close("band", f"resources.{name}.band_asked {side}", claimed, wanted)


def is_ordered(name: str, parameters: PlanOptions) -> bool:
    """Whether the resource's band was ordered: by a target, or by a width that was given."""
    is_bare = name in ON_REQUEST and name not in parameters.also_balance
    return name in parameters.targets or (parameters.is_within_ordered and not is_bare)


def _check_one(
    document: dict[str, Any], outcome: dict[str, Any], levels: Levels, cluster: ClusterArrays, faults: FaultList
) -> None:
    name = outcome["resource"]
    capacity = levels.capacity[name]
    for field, loads in (("before", levels.before[name]), ("after", levels.after[name])):
        claimed = document[field][name]
        scale = float(loads.sum()) / max(len(loads), 1)
        is_exact = name in COUNTS or (name == "disk" and cluster.has_whole_sizes)
        if set(claimed) != {str(broker_id) for broker_id in cluster.ids.tolist()}:
            faults.add(field, f"{field}.{name}", "its brokers are not those of the cluster")
            continue
        for broker, load in zip(cluster.ids.tolist(), loads.tolist(), strict=True):
            reported = claimed[str(broker)]
            if not is_exact:
                faults.require_close(field, f"{field}.{name}.{broker}", reported, load, scale)
            elif reported != load:
                faults.add(field, f"{field}.{name}.{broker}", f"says {reported!r}, recomputed {load!r}")
    ids = map(str, cluster.ids.tolist())
    found = None if capacity is None else dict(zip(ids, capacity.tolist(), strict=True))
    if outcome["capacity"] != found:
        faults.add("mean", f"resources.{name}.capacity", "capacities are not those of snapshot and parameters")
    if outcome["unit"] != UNITS[name]:
        faults.add("resource", f"resources.{name}.unit", f"{outcome['unit'][:40]!r} should be {UNITS[name]!r}")
    source = cluster.sources[MADE_OF[name][0]] if MADE_OF[name] else "counted"
    if outcome["source"] != source:
        faults.add("resource", f"resources.{name}.source", f"{outcome['source'][:40]!r} is not {source}")
    mean = plain_mean(levels.after[name], capacity, cluster.stays)
    faults.require_close("mean", f"resources.{name}.mean_level", outcome["mean_level"], mean)
    for field, loads in (("skew_before", levels.before[name]), ("skew_after", levels.after[name])):
        faults.require_close(
            "skew", f"resources.{name}.{field}", outcome[field], skew_of(loads, capacity, cluster.stays)
        )


def _check_preferred(
    claimed: dict[str, dict[str, int]] | None, levels: Levels, cluster: ClusterArrays, faults: FaultList
) -> None:
    if claimed is None:  # a plan of no broker
        return
    for time, loads in (("before", levels.elected_before["leaders"]), ("after", levels.elected_after["leaders"])):
        counted = {
            str(broker): round(count) for broker, count in zip(cluster.ids.tolist(), loads.tolist(), strict=True)
        }
        faults.require_equal("preferred_leaders", f"plan.preferred_leaders.{time}", claimed[time], counted)


def _check_capacity(levels: Levels, cluster: ClusterArrays, faults: FaultList) -> None:
    limits = hard_limits(cluster, levels.capacity, levels.before)
    for name, after in levels.after.items():
        allowed = np.maximum(limits[name], levels.before[name])
        over = cluster.stays & (after > allowed * (1 + SLACK))
        for b in np.flatnonzero(over).tolist():
            faults.add(
                "capacity", f"broker {cluster.ids[b]}", f"{name} rises to {after[b]:g}, it carries {allowed[b]:g}"
            )


def _check_caps(levels: Levels, cluster: ClusterArrays, parameters: PlanOptions, faults: FaultList) -> None:
    """Nobody who stays carries more than its cap, whatever it carried before."""
    for name in sorted(parameters.caps.keys() | parameters.headroom.keys()):
        is_share_of_nothing = name in parameters.headroom and levels.capacity.get(name) is None
        cap = cap_of(name, levels.capacity.get(name), len(cluster.ids), parameters)
        if name not in levels.after or cap is None or is_share_of_nothing:
            kind = "headroom" if is_share_of_nothing else "caps"
            faults.add("capacity", f"parameters.{kind}.{name[:20]}", "nobody can tell whether it is kept")
            continue
        over = cluster.stays & (levels.after[name] > cap * (1 + SLACK))
        for b in np.flatnonzero(over).tolist():
            words = f"{name} comes to {levels.after[name][b]:g}, its cap is {cap[b]:g}"
            faults.add("capacity", f"broker {cluster.ids[b]}", words)


def _check_band(
    outcome: dict[str, Any], levels: Levels, cluster: ClusterArrays, parameters: PlanOptions, faults: FaultList
) -> None:
    """Outside the band asked for, and outside what it was widened to, nobody may stand."""
    name = outcome["resource"]
    after = levels.after[name]
    band = band_of(outcome, levels.before[name], levels.capacity[name], cluster, parameters)
    slack = SLACK * max(float(np.nanmax(np.where(np.isfinite(band.high), band.high, 0.0))), 1.0)
    over = cluster.stays & (after > band.high + slack)
    under = cluster.stays & (after < band.low - slack)
    for words, wrong in (("above its band", over), ("below its band", under)):
        for b in np.flatnonzero(wrong).tolist():
            faults.add("band", f"broker {cluster.ids[b]}", f"{name} {after[b]:g} is {words}")


def _check_widened(
    outcome: dict[str, Any], levels: Levels, cluster: ClusterArrays, parameters: PlanOptions, faults: FaultList
) -> None:
    """A band is widened to the broker that stands furthest out, and only where one does."""
    name = outcome["resource"]
    after = levels.after[name]
    asked, plain = asked_band(outcome, levels.before[name], levels.capacity[name], cluster, parameters)
    usable = cluster.stays & (plain > 0)
    if not usable.any():
        return
    slack = 2 * SLACK * (float(plain.max()) + 1)
    level = after / np.where(plain > 0, plain, 1.0)
    sides = (
        ("low", usable & (after < asked.low + slack), usable & (after < asked.low - slack), np.min),
        ("high", usable & (after > asked.high - slack), usable & (after > asked.high + slack), np.max),
    )
    for (side, nearly, surely, outermost), claimed in zip(sides, outcome["widened_to"], strict=True):
        place = f"resources.{name}.widened_to {side}"
        if claimed is None and surely.any():
            faults.add("band", place, "some broker stands outside the band asked for, and it is not widened")
        elif claimed is not None:
            _check_widening(place, claimed, level[nearly], level[surely], outermost, faults)


def _check_widening(
    place: str, claimed: float, nearly: Floats, surely: Floats, outermost: Callable[[Floats], float], faults: FaultList
) -> None:
    """``claimed`` is where some broker stands that is outside or at the very edge, and nobody stands further out."""
    rounding = 1e-7 * max(abs(claimed), 1.0)
    if not (np.abs(nearly - claimed) <= rounding).any():
        faults.add("band", place, f"says {claimed:g}, and no broker outside the band asked for stands there")
    elif len(surely) and abs(float(outermost(np.append(surely, claimed))) - claimed) > rounding:
        faults.add("band", place, f"says {claimed:g}, the furthest broker stands at {outermost(surely):g}")
