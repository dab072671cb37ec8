"""Cluster-model JSON (clusters/README.md) → arrays, for benchmarks that need nothing but the planner."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np

from kafka_rebalance.cluster_arrays.problem import MeasuredLoads
from kafka_rebalance.cluster_arrays.snapshot_arrays import Brokers, Placement

MIB, KIB = 1048576.0, 1024.0
UNITS = (("disk", "disk", MIB), ("in", "nw_in", KIB), ("out", "nw_out", KIB), ("cpu", "cpu", 1.0))


def read_model(path: Path) -> dict:
    """The parsed JSON, plain or .gz."""
    raw = path.read_bytes()
    return json.loads(gzip.decompress(raw) if path.suffix == ".gz" else raw)


def arrays_of_model(model: dict) -> tuple[Brokers, Placement]:
    """Brokers and placement of a model; units become bytes, bytes/s and percent."""
    rows = model["brokers"]
    index = {row["id"]: i for i, row in enumerate(rows)}
    racks = {rack: i for i, rack in enumerate(sorted({row["rack"] for row in rows}))}
    state = [row.get("state", "alive") for row in rows]
    stays = np.array([word not in ("drain", "dead") for word in state])
    leads = np.array([word not in ("drain", "dead", "demoted") for word in state])
    capacity = [row.get("capacity", {}) for row in rows]
    brokers = Brokers(
        ids=np.array([row["id"] for row in rows], dtype=np.int64),
        rack=np.array([racks[row["rack"]] for row in rows], dtype=np.int32),
        stays=stays,
        takes_replicas=stays,
        takes_leaders=leads,
        keeps_leaders=leads,
        is_new=np.array([word == "new" for word in state]),
        capacity={
            name: np.array([limits[key] * unit for limits in capacity])
            for name, key, unit in UNITS
            if all(key in limits for limits in capacity)
        },
    )
    partitions = model["partitions"]
    width = max(len(row["replicas"]) for row in partitions)
    replicas = np.full((len(partitions), width), -1, dtype=np.int32)
    for p, row in enumerate(partitions):
        replicas[p, : len(row["replicas"])] = [index[b] for b in row["replicas"]]
    topics = {name: i for i, name in enumerate(sorted({row["topic"] for row in partitions}))}
    load = {key: np.array([row["load"][key] for row in partitions]) for key in ("disk", "nw_in", "nw_out", "cpu")}
    placement = Placement(
        replicas=replicas,
        leader=replicas[:, 0].copy(),
        topic=np.array([topics[row["topic"]] for row in partitions], dtype=np.int32),
        loads=MeasuredLoads(
            disk_bytes=load["disk"] * MIB,
            in_bytes_per_s=load["nw_in"] * KIB,
            out_bytes_per_s=load["nw_out"] * KIB,
            cpu_percent=load["cpu"],
        ),
        name_of=lambda p: f"{partitions[p]['topic']}-{partitions[p]['partition']}",
    )
    return brokers, placement


def moves_json(model: dict, replicas: np.ndarray) -> dict:
    """What ``score.py`` reads: changed partitions only."""
    ids = [row["id"] for row in model["brokers"]]
    moves = []
    for row, after in zip(model["partitions"], replicas.tolist(), strict=True):
        to = [ids[b] for b in after if b >= 0]
        if to != row["replicas"]:
            moves.append({"topic": row["topic"], "partition": row["partition"], "from": row["replicas"], "to": to})
    return {"moves": moves}
