"""DESIGN §9's table, worked out with loops and dictionaries over a cluster-model JSON: slow, and nothing to hide."""

from __future__ import annotations

RESOURCES = ("disk", "in", "out", "cpu", "replicas", "leaders", "leader_in", "potential_out")
CAPACITY = {"disk": ("disk", 1048576), "in": ("nw_in", 1024), "out": ("nw_out", 1024), "cpu": ("cpu", 1)}


def broker_loads(model):
    """resource → broker → load, in bytes, bytes/s, percent, counts."""
    loads = {resource: {broker["id"]: 0.0 for broker in model["brokers"]} for resource in RESOURCES}
    for row in model["partitions"]:
        load, replicas = row["load"], row["replicas"]
        disk, written = load["disk"] * 1048576, load["nw_in"] * 1024
        sent = load["nw_out"] * 1024 + written * (len(replicas) - 1)
        cost = 0.7 * written + 0.15 * sent
        follower_cpu = load["cpu"] * 0.15 * written / cost if cost else 0.0
        for index, broker in enumerate(replicas):
            loads["disk"][broker] += disk
            loads["in"][broker] += written
            loads["potential_out"][broker] += sent
            loads["replicas"][broker] += 1
            loads["cpu"][broker] += follower_cpu if index else load["cpu"]
        loads["out"][replicas[0]] += sent
        loads["leaders"][replicas[0]] += 1
        loads["leader_in"][replicas[0]] += written
    return loads


def summary(model):
    """resource → (plain mean, skew, broker → level) over the brokers that stay."""
    staying = [broker for broker in model["brokers"] if broker.get("state", "alive") not in ("drain", "dead")]
    answer = {}
    for resource, loads in broker_loads(model).items():
        key, unit = CAPACITY.get(resource, (None, 1))
        broker_capacity = {broker["id"]: broker["capacity"][key] * unit if key else 1 for broker in staying}
        mean = sum(loads[broker] for broker in broker_capacity) / sum(broker_capacity.values())
        levels = {broker: loads[broker] / broker_capacity[broker] for broker in broker_capacity}
        answer[resource] = (mean, max(levels.values()) / mean if mean else 0.0, levels)
    return answer
