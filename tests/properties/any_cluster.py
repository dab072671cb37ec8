"""Any small cluster with any job: what a team may have, also what is broken, half seen or not seen at all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import numpy as np

from kafka_rebalance.facts import FactCode
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.options.values import Target
from kafka_rebalance.snapshot.figures import LoadKind, LoadSource
from kafka_rebalance.snapshot.model import (
    Broker,
    BrokerState,
    Capacity,
    ClusterSnapshot,
    CoverageGap,
    LogDir,
    Topic,
)
from kafka_rebalance.snapshot.partition_table import LoadColumn, Partition, PartitionLoads, partition_table
from tests.coverage_gaps import gap_of

GIB = 2**30
FEWEST_BROKERS, MOST_BROKERS = 3, 9
# One cluster in ten is larger than the few: searching takes much longer there.
FEWEST_PARTITIONS, FEW_PARTITIONS, MOST_PARTITIONS = 5, 30, 120
Draw = np.random.Generator

# How often a cluster has what: the first of a row is the usual one.
RACKS = {"none": 4, "even": 4, "unequal": 2, "partial": 2}
SIZES = {"known": 10, "unknown": 5, "own": 4, "some unknown": 3, "one broker silent": 3, "empty": 1}
RATES = {"none": 4, "known": 5, "some unknown": 2, "in alone": 1}
TROUBLE = {
    "none": 12, "dead broker": 4, "two dead": 1, "all dead": 2, "fenced": 1, "all fenced": 1, "offline dir": 2,
    "all dirs offline": 1, "no leaders": 1, "few leaders": 1, "reassigning": 3, "hidden topic": 2, "no partitions": 1,
    "nothing": 1,
}  # fmt: skip
DISKS = {"unknown": 5, "equal": 3, "unequal": 2, "tight": 2, "of some": 1, "volumes": 2}


@dataclass(frozen=True, slots=True)
class Case:
    """One cluster and what is wanted of it. ``traits``: what was drawn, for the words of a failure."""

    seed: int
    job: str
    snapshot: ClusterSnapshot
    options: PlanOptions
    traits: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        text = ", ".join(f"{name} {value}" for name, value in self.traits.items())
        return f"seed {self.seed} ({self.job}; {text})"


def any_case(seed: int) -> Case:
    """The cluster and the job of one seed, always the same."""
    draw = np.random.default_rng(seed)
    traits = {
        "racks": _one_of(draw, RACKS),
        "sizes": _one_of(draw, SIZES),
        "rates": _one_of(draw, RATES),
        "trouble": _one_of(draw, TROUBLE),
        "disks": _one_of(draw, DISKS),
    }
    brokers = _brokers(draw, traits["racks"])
    rows = [] if traits["trouble"] in ("no partitions", "nothing") else _rows(draw, len(brokers), traits["sizes"])
    brokers, rows, gaps = _in_trouble(draw, brokers, rows, traits["trouble"])
    if traits["sizes"] == "one broker silent" and brokers:
        brokers, rows, gap = _silenced(draw, brokers, rows)
        gaps = (*gaps, gap)
    brokers = _with_disks(draw, brokers, rows, traits["disks"])
    snapshot = _snapshot(draw, rows, brokers, gaps, traits["rates"])
    job = str(draw.choice(list(JOBS)))
    return Case(seed, job, snapshot, _options(draw, job, snapshot), traits)


def _one_of(draw: Draw, weights: dict[str, int]) -> str:
    share = np.array(list(weights.values()), dtype=np.float64)
    return str(draw.choice(list(weights), p=share / share.sum()))


def _brokers(draw: Draw, racks: str) -> list[Broker]:
    count = int(draw.integers(FEWEST_BROKERS, MOST_BROKERS + 1))
    ids = np.cumsum(draw.integers(1, 4, count)).tolist() if draw.random() < 0.3 else list(range(count))
    kinds = {
        "none": lambda _: None,
        "even": lambda at: f"rack-{at % 3}",
        "unequal": lambda at: f"rack-{min(at, 2)}",
        "partial": lambda at: f"rack-{at % 2}" if draw.random() < 0.6 else None,
    }
    return [Broker(id=broker, rack=kinds[racks](at)) for at, broker in enumerate(ids)]


def _rows(draw: Draw, count: int, sizes: str) -> list[Partition]:
    """Topics of several factors; brokers more and less popular; leaders where the list says, or anywhere."""
    most = MOST_PARTITIONS if draw.random() < 0.1 else FEW_PARTITIONS
    wanted = int(np.exp(draw.uniform(np.log(FEWEST_PARTITIONS), np.log(most))))
    popular = draw.dirichlet(np.full(count, float(draw.choice([0.7, 5.0, 200.0])))) + 1e-3
    elsewhere, spread = float(draw.choice([0.0, 0.2])), float(draw.choice([0.0, 0.3, 1.0]))
    rows: list[Partition] = []
    topic = 0
    while len(rows) < wanted:
        factor = min(count, int(draw.choice([1, 2, 3, 3])))
        scale = float(draw.lognormal(0, 1.0))
        for number in range(int(draw.integers(1, 13))):
            chosen = draw.choice(count, factor, replace=False, p=popular / popular.sum()).tolist()
            leader = chosen[int(draw.integers(0, factor))] if draw.random() < elsewhere else chosen[0]
            size = int(GIB * scale * draw.lognormal(0, spread))
            rows.append(
                Partition(
                    f"t{topic:02d}", number, tuple(chosen), leader, isr=tuple(chosen),
                    log_bytes=_log_bytes(draw, chosen, leader, size, sizes),
                )
            )  # fmt: skip
        topic += 1
    return rows


def _log_bytes(draw: Draw, chosen: list[int], leader: int, size: int, sizes: str) -> tuple[int | None, ...]:
    if sizes == "unknown" or (sizes == "some unknown" and draw.random() < 0.06):
        return (None,) * len(chosen)
    if sizes == "empty":
        return (0,) * len(chosen)
    if sizes == "own":
        return tuple(size if b == leader else int(size * draw.uniform(0.6, 1.3)) for b in chosen)
    return (size,) * len(chosen)


def _in_trouble(
    draw: Draw, brokers: list[Broker], rows: list[Partition], trouble: str
) -> tuple[list[Broker], list[Partition], tuple[CoverageGap, ...]]:
    """Rows name brokers by their place in the list up to here, by Kafka's id afterwards."""
    ids = [broker.id for broker in brokers]
    rows = [_renamed(row, ids) for row in rows]
    gaps: tuple[CoverageGap, ...] = ()
    if trouble in ("dead broker", "two dead", "all dead", "fenced", "all fenced"):
        count = {"dead broker": 1, "fenced": 1, "two dead": 2}.get(trouble, len(ids))
        state = BrokerState.FENCED if "fenced" in trouble else BrokerState.DEAD
        gone = set(draw.choice(ids, count, replace=False).tolist())
        brokers = [replace(broker, state=state) if broker.id in gone else broker for broker in brokers]
        rows = [_without(row, gone) for row in rows]
    elif trouble in ("offline dir", "all dirs offline"):
        struck = set(ids) if trouble == "all dirs offline" else {int(draw.choice(ids))}
        rows = [_offline(row, struck) if draw.random() < 0.5 or len(struck) > 1 else row for row in rows]
    elif trouble in ("no leaders", "few leaders"):
        share = 1.0 if trouble == "no leaders" else 0.15
        rows = [replace(row, leader=None, isr=()) if draw.random() < share else row for row in rows]
    elif trouble == "reassigning":
        rows = [_reassigned(draw, row, ids) if draw.random() < 0.1 else row for row in rows]
    elif trouble == "hidden topic":
        gaps = (gap_of("topic", "secret", FactCode.LACKS_ALL_BUT_SIZE, "no right to describe it"),)
    elif trouble == "nothing":
        brokers = []
    return brokers, rows, gaps


def _renamed(row: Partition, ids: list[int]) -> Partition:
    replicas = tuple(ids[at] for at in row.replicas)
    return replace(row, replicas=replicas, isr=replicas, leader=ids[row.leader or 0])


def _without(row: Partition, gone: set[int]) -> Partition:
    """The leader of a partition goes to another replica, or to nobody."""
    alive = tuple(broker for broker in row.replicas if broker not in gone)
    return replace(row, isr=alive, leader=row.leader if row.leader in alive else next(iter(alive), None))


def _offline(row: Partition, struck: set[int]) -> Partition:
    offline = tuple(broker for broker in row.replicas if broker in struck)
    return replace(_without(row, set(offline)), offline=offline)


def _reassigned(draw: Draw, row: Partition, ids: list[int]) -> Partition:
    others = [broker for broker in ids if broker not in row.replicas]
    if not others:
        return row
    new, old = int(draw.choice(others)), int(draw.choice(row.replicas))
    sizes = (*row.log_bytes, None if draw.random() < 0.5 else 0)
    return replace(
        row, replicas=(*row.replicas, new), log_bytes=sizes, adding=(new,),
        removing=(old,) if draw.random() < 0.7 else (),
    )  # fmt: skip


def _silenced(
    draw: Draw, brokers: list[Broker], rows: list[Partition]
) -> tuple[list[Broker], list[Partition], CoverageGap]:
    """One broker is not heard, in one of three ways, or does not tell its log dirs alone."""
    silent = int(draw.choice([broker.id for broker in brokers]))
    state = [state for state in BrokerState if state.is_unresponsive or state is BrokerState.ALIVE][
        int(draw.integers(4))
    ]
    states = {silent: state if state.is_unresponsive else None}
    brokers = [replace(broker, state=states.get(broker.id) or broker.state) for broker in brokers]
    reported = [
        replace(
            row,
            log_bytes=tuple(None if b == silent else size for b, size in zip(row.replicas, row.log_bytes, strict=True)),
        )
        for row in rows
    ]
    return (
        brokers,
        reported,
        gap_of("broker", str(silent), FactCode.LACKS_LOG_DIRS, "does not answer"),
    )


def _with_disks(draw: Draw, brokers: list[Broker], rows: list[Partition], disks: str) -> list[Broker]:
    total = float(sum(size or 0 for row in rows for size in row.log_bytes)) or float(GIB)
    share = total / max(len(brokers), 1)
    result = []
    for at, broker in enumerate(brokers):
        size = share * {"tight": 1.25, "unequal": float(draw.choice([2.0, 3.0, 6.0]))}.get(disks, 3.0)
        if disks in ("equal", "unequal", "tight") or (disks == "of some" and at % 2):
            result.append(replace(broker, capacity=Capacity(disk_bytes=size)))
        elif disks == "volumes":
            held = sum(
                s or 0 for row in rows for b, s in zip(row.replicas, row.log_bytes, strict=True) if b == broker.id
            )
            usable = int(max(size - held, 0) * draw.uniform(0.5, 1.0))
            result.append(replace(broker, log_dirs=(LogDir("/d1", int(max(size, held)), usable),)))
        else:
            result.append(broker)
    return result


def _snapshot(
    draw: Draw, rows: list[Partition], brokers: list[Broker], gaps: tuple[CoverageGap, ...], rates: str
) -> ClusterSnapshot:
    names = sorted({row.topic for row in rows})
    kinds = {
        "none": (),
        "in alone": (LoadKind.IN_BYTES_PER_S,),
    }.get(rates, (LoadKind.IN_BYTES_PER_S, LoadKind.OUT_BYTES_PER_S, LoadKind.CPU_PERCENT))
    columns = {}
    for kind in kinds:
        values = draw.lognormal(10 if kind is not LoadKind.CPU_PERCENT else -1, 1, len(rows))
        if rates == "some unknown":
            values[draw.random(len(rows)) < float(draw.choice([0.03, 0.3]))] = np.nan
        columns[kind] = LoadColumn(values, LoadSource.GIVEN)
    return ClusterSnapshot(
        cluster="any",
        cluster_id="any-id",
        captured_at=datetime(2026, 11, 20, 12, tzinfo=UTC),
        brokers=tuple(brokers),
        topics=tuple(Topic(name) for name in names),
        partitions=partition_table(rows, {name: at for at, name in enumerate(names)}),
        loads=PartitionLoads(columns),
        source="test",
        coverage=gaps,
    )


def _options(draw: Draw, job: str, snapshot: ClusterSnapshot) -> PlanOptions:
    within = float(draw.choice([0.05, 0.1, 0.3])) if draw.random() < 0.5 else None
    return replace(JOBS[job](draw, snapshot), **({} if within is None or job in _BANDLESS else {"within": within}))


def _some(draw: Draw, snapshot: ClusterSnapshot, most: int = 1) -> frozenset[int]:
    ids = [broker.id for broker in snapshot.brokers]
    count = min(int(draw.integers(1, most + 1)), len(ids))
    return frozenset(draw.choice(ids, count, replace=False).tolist()) if count else frozenset()


def _added(draw: Draw, snapshot: ClusterSnapshot) -> dict[int, str | None]:
    racks = sorted({broker.rack for broker in snapshot.brokers if broker.rack is not None})
    rack = None if not racks else str(draw.choice([*racks, "rack-new"]))
    return {100 + number: rack for number in range(int(draw.integers(1, 3)))}


def _bytes(draw: Draw, snapshot: ClusterSnapshot) -> int:
    return int(float(np.nansum(snapshot.load(LoadKind.LOG_BYTES))) * float(draw.choice([0.0, 0.02, 0.2])))


def _targets(draw: Draw, snapshot: ClusterSnapshot) -> dict[str, Target]:
    """Of what was measured: another target is wrong usage."""
    few = {
        "disk": Target(None, 1.2),
        "replicas": Target(0.8, 1.2),
        "leaders": Target(None, 1.1),
        "in": Target(0.5, 1.3),
    }
    for name, kind in (("disk", LoadKind.LOG_BYTES), ("in", LoadKind.IN_BYTES_PER_S)):
        values = snapshot.load(kind)
        if not len(values) or float(np.isnan(values).mean()) > 0.1:
            del few[name]
    chosen = draw.choice(list(few), int(draw.integers(1, 3)), replace=False).tolist()
    return {name: few[name] for name in chosen}


_BANDLESS = ("preferred election",)
JOBS: dict[str, Callable[[Draw, ClusterSnapshot], PlanOptions]] = {
    "balance": lambda _, __: PlanOptions(),
    "targets": lambda draw, at: PlanOptions(targets=_targets(draw, at)),
    "drain": lambda draw, at: PlanOptions(remove_brokers=_some(draw, at, 2)),
    "add": lambda draw, at: PlanOptions(add_brokers=_added(draw, at)),
    "demote": lambda draw, at: PlanOptions(demote_brokers=_some(draw, at)),
    "exclude": lambda draw, at: PlanOptions(exclude_brokers=_some(draw, at)),
    "factor up": lambda draw, _: PlanOptions(replication_factor=int(draw.integers(3, 5))),
    "factor down": lambda draw, _: PlanOptions(replication_factor=int(draw.integers(1, 3))),
    "factor and drain": lambda draw, at: PlanOptions(
        replication_factor=int(draw.integers(1, 4)), remove_brokers=_some(draw, at)
    ),
    "leaders only": lambda _, __: PlanOptions(leaders_only=True),
    "preferred election": lambda _, __: PlanOptions(preferred_election=True),
    "budget of bytes": lambda draw, at: PlanOptions(max_move_bytes=_bytes(draw, at)),
    "budget of moves": lambda draw, _: PlanOptions(max_moves=int(draw.integers(0, 20))),
    "budget of leader changes": lambda draw, _: PlanOptions(max_leader_changes=int(draw.integers(0, 10))),
    "drain within budget": lambda draw, at: PlanOptions(
        remove_brokers=_some(draw, at), max_move_bytes=_bytes(draw, at) * 3
    ),
    "topics left alone": lambda _, __: PlanOptions(exclude_topics=("t0[0-3]",)),
    "few topics": lambda _, __: PlanOptions(include_topics=("t0[02468]",)),
    "every topic left alone": lambda _, __: PlanOptions(exclude_topics=(".*",)),
}  # fmt: skip
