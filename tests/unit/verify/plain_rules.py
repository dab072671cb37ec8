"""Rules of the verifier a second time, as loops over one partition and one broker at a time: slow, nothing to hide."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import combinations

import numpy as np

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.verify.cluster import ClaimedMoves, ClusterArrays, Floats
from kafka_rebalance.verify.loads import Band, target_factors, weights_of


def held_by(cluster: ClusterArrays, p: int) -> list[int]:
    """Brokers of partition ``p`` today."""
    return [int(broker) for broker in cluster.now[p] if broker >= 0]


def open_racks(cluster: ClusterArrays) -> int:
    """Racks with a broker that takes replicas."""
    return len({int(rack) for rack, takes in zip(cluster.rack, cluster.takes_replicas, strict=True) if takes})


def may_be_touched(cluster: ClusterArrays, p: int, rf: int) -> bool:
    """Nothing forbids it, and where something of it is unknown it has to be moved or led by another."""
    if cluster.excluded[p] or cluster.in_flight[p] or cluster.leader[p] < 0:
        return False
    held = held_by(cluster, p)
    if not cluster.unknown[p]:
        return True
    leaves = any(not cluster.stays[broker] for broker in held) or bool(cluster.must_leave[p].any())
    shares = len({int(cluster.rack[broker]) for broker in held}) < min(rf, open_racks(cluster))
    return leaves or len(held) != rf or shares or not cluster.keeps_leaders[cluster.leader[p]]


def prices_of(
    cluster: ClusterArrays, parameters: PlanOptions, prices: Mapping[str, Floats]
) -> tuple[Floats, Floats, Floats]:
    """float64[P, B]: what it costs to keep, to copy and to lead partition p on broker b, at these prices."""
    rf = target_factors(cluster, parameters)
    keep, copy, lead = (np.zeros((len(rf), len(cluster.ids))) for _ in range(3))
    size = np.nan_to_num(cluster.size)
    for p in range(len(rf)):
        copy[p] += size[p]
        for name, price in prices.items():
            replica, leader = (float(weights[p]) for weights in weights_of(name, rf, cluster))
            copy[p] += price * replica
            lead[p] += price * leader
            for j, broker in enumerate(cluster.now[p].tolist()):
                own = cluster.own_bytes[p, j]
                is_known = name == "disk" and broker >= 0 and not np.isnan(own)
                if broker >= 0:
                    keep[p, broker] += price[broker] * (own if is_known else replica)
    return keep, copy, lead


def plain_price_bound(
    cluster: ClusterArrays, parameters: PlanOptions, bands: Mapping[str, Band], prices: Mapping[str, Floats]
) -> float:
    """Σ of the cheapest led sets of replicas, minus the bands' allowance at these prices.

    A leaving broker has no price: data lost on it stay there.
    """
    prices = {name: np.where(cluster.stays, price, 0.0) for name, price in prices.items()}
    keep, copy, lead = prices_of(cluster, parameters, prices)
    rf, racks_open = target_factors(cluster, parameters), open_racks(cluster)
    may_lead = cluster.keeps_leaders | cluster.takes_leaders
    total = 0.0
    for name, price in prices.items():
        for b, unit_price in enumerate(price.tolist()):
            total -= unit_price * (
                bands[name].high[b] if unit_price > 0 else bands[name].low[b] if unit_price < 0 else 0.0
            )
    for p, factor in enumerate(rf.tolist()):
        held = held_by(cluster, p)
        if not may_be_touched(cluster, p, factor):
            total += float(keep[p, held].sum()) + (float(lead[p, cluster.leader[p]]) if cluster.leader[p] >= 0 else 0.0)
            continue
        cheapest: dict[int, float] = {}
        leading: dict[int, float] = {}
        for b in range(len(cluster.ids)):
            rack = int(cluster.rack[b]) if factor <= racks_open else b
            stays = b in held and cluster.stays[b] and not cluster.must_leave[p, cluster.now[p].tolist().index(b)]
            ways = [float(keep[p, b])] * bool(stays) + [float(copy[p, b])] * bool(cluster.takes_replicas[b])
            cheapest[rack] = min([cheapest.get(rack, np.inf), *ways])
            goes_on = [float(keep[p, b] + lead[p, b])] * bool(stays and b == cluster.leader[p])
            led = [way + float(lead[p, b]) for way in ways if may_lead[b]] + goes_on
            leading[rack] = min([leading.get(rack, np.inf), *led])
        led_sets = [
            leading[first] + sum(cheapest[other] for other in others)
            for first in leading
            for others in combinations(sorted(set(cheapest) - {first}), factor - 1)
        ]
        best = min(led_sets, default=np.inf)
        unled = sum(value for value in sorted(cheapest.values())[:factor] if np.isfinite(value))
        total += best if np.isfinite(best) else unled
    return total


def is_even(cluster: ClusterArrays, p: int, placed: list[int]) -> bool:
    """No replica of partition ``p`` on ``placed`` could go to an open broker of a rack that holds two fewer."""
    counts = Counter(int(cluster.rack[broker]) for broker in placed)
    barred = {int(cluster.now[p, j]) for j in np.flatnonzero(cluster.must_leave[p])}
    for broker in range(len(cluster.ids)):
        is_open = cluster.takes_replicas[broker] and may_hold(cluster, p, broker) and broker not in {*placed, *barred}
        if is_open and counts[int(cluster.rack[broker])] + 1 < max(counts.values()):
            return False
    return True


def plain_targets(cluster: ClusterArrays, claimed: ClaimedMoves, parameters: PlanOptions) -> Counter[str]:
    """Count, move by move, the faults of each rule on scope, targets, leaders, factor and racks."""
    counts = Counter[str](
        topic_excluded=0, unmovable=0, in_flight=0, out_of_sync=0, scope=0, broker_gone=0, broker_closed=0,
        leader_not_first=0, leader_forbidden=0, replication_factor=0, rack=0, move_idle=0,
    )  # fmt: skip
    for number, p in enumerate(claimed.row.tolist()):
        was, to = held_by(cluster, p), [b for b in claimed.end[number].tolist() if b >= 0]
        before, leader = int(claimed.leader_from[number]), int(claimed.leader_to[number])
        behind = [b for b, late in zip(cluster.now[p].tolist(), cluster.behind[p].tolist(), strict=True) if late]
        moves_set, new = set(to) != set(was), [b for b in to if b not in was]
        counts["topic_excluded"] += bool(cluster.excluded[p])
        counts["unmovable"] += bool(cluster.leaderless[p])
        counts["in_flight"] += bool(cluster.in_flight[p])
        counts["out_of_sync"] += bool(cluster.waiting[p])
        counts["out_of_sync"] += moves_set and any(b in behind for b in to)
        counts["out_of_sync"] += leader in behind
        counts["scope"] += moves_set and not parameters.moves_replicas
        judged = to if parameters.moves_replicas else new
        counts["broker_gone"] += any(not cluster.stays[b] for b in judged)
        counts["broker_closed"] += any(cluster.stays[b] and not cluster.takes_replicas[b] for b in new)
        counts["broker_closed"] += any(not may_hold(cluster, p, b) for b in new)
        counts["leader_not_first"] += to[0] != leader
        may = (cluster.keeps_leaders if leader == before else cluster.takes_leaders)[leader]
        could = any(cluster.takes_leaders[b] for b in to) or could_lead(cluster, p)
        counts["leader_forbidden"] += bool(not may and could)
        counts["leader_forbidden"] += leader not in to
        factor = len(was) if not parameters.moves_replicas else parameters.replication_factor or len(was)
        counts["replication_factor"] += len(to) != factor
        fewer = len({int(cluster.rack[b]) for b in to}) < len({int(cluster.rack[b]) for b in was})
        counts["rack"] += moves_set and not is_even(cluster, p, to) and (fewer or is_even(cluster, p, was))
        counts["move_idle"] += to == was and leader == before
        kind = "replica" if moves_set else "order" if to[1:] != [b for b in was if b != to[0]] else "leader"
        counts["move_idle"] += kind != "replica"
    return counts


def plain_result(cluster: ClusterArrays, claimed: ClaimedMoves, parameters: PlanOptions) -> Counter[str]:
    """Count what is wrong with the placement that the moves lead to, partition by partition, where moves promise it."""
    counts: Counter[str] = Counter()
    if not parameters.moves_replicas:
        return counts
    is_moved = dict(zip(claimed.row.tolist(), claimed.leader_to.tolist(), strict=True))
    for p, line in enumerate(claimed.after.tolist()):
        if cluster.left_alone[p]:
            continue
        held, leader = [b for b in line if b >= 0], int(claimed.leader_after[p])
        elected = is_moved.get(p, int(cluster.preferred[p]))
        leads = {leader} if parameters.has_budget else {leader, elected}
        if any(cluster.takes_leaders[b] for b in held) or can_be_led(cluster, p):
            counts["leader_forbidden"] += sum(b >= 0 and not cluster.keeps_leaders[b] for b in leads)
        if parameters.has_budget:
            continue
        counts["broker_left"] += any(not cluster.stays[b] for b in held)
        counts["broker_left"] += any(not may_hold(cluster, p, b) for b in held)
        counts["rack"] += not cluster.unknown[p] and not is_even(cluster, p, held)
        counts["replication_factor"] += len(held) != (parameters.replication_factor or len(held))
    return +counts


def may_hold(cluster: ClusterArrays, p: int, broker: int) -> bool:
    """The partition's topic may be on ``broker``."""
    return bool(cluster.may_be_on[cluster.place_rule[p], broker])


def could_lead(cluster: ClusterArrays, p: int) -> bool:
    """A replica of today's that is online may lead or go on leading; never where no broker takes both."""
    if not any(cluster.takes_replicas & cluster.takes_leaders):
        return False
    online = [b for j, b in enumerate(cluster.now[p].tolist()) if b >= 0 and not cluster.must_leave[p, j]]
    return any(cluster.takes_leaders[b] or (b == cluster.leader[p] and cluster.keeps_leaders[b]) for b in online)


def can_be_led(cluster: ClusterArrays, p: int) -> bool:
    """By a replica of today's, or by one on a broker that may take it: not by one in an offline dir there."""
    offline = [b for j, b in enumerate(cluster.now[p].tolist()) if b >= 0 and cluster.must_leave[p, j]]
    receives = cluster.takes_replicas & cluster.takes_leaders
    others = [b for b in range(len(cluster.ids)) if receives[b] and may_hold(cluster, p, b) and b not in offline]
    return could_lead(cluster, p) or bool(others)
