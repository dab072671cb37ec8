"""Findings on replicas and disks: racks, replication, dead brokers, hot partitions, loads above the fair share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kafka_assignors.arrays import Flags, Floats, Longs
from kafka_assignors.releases import seen_release
from kafka_rebalance.amounts import LISTED
from kafka_rebalance.cluster_arrays.snapshot_arrays import usable_bytes, volume_bytes
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.findings.context import MOST_NAMED, Evidence, FindingContext, Remedy, finding, threshold
from kafka_rebalance.findings.finding import Confidence, Finding, Severity
from kafka_rebalance.findings.plan_outcome import (
    LOAD_NAMES,
    copied_by_plan,
    excess,
    moved_excess_ratio,
    plan_cost,
    plan_evidence,
    plan_outcome,
)
from kafka_rebalance.log_dir_plans.make import PlacedDirs, broker_dirs, broker_places, moved_replicas, place_broker
from kafka_rebalance.resources import ROWS, TABLE
from kafka_rebalance.scoring.scores import BrokerScore, plain_mean
from kafka_rebalance.snapshot.figures import LoadKind
from kafka_rebalance.snapshot.model import ClusterSnapshot, is_bounded_by_replicas, least_in_sync

LISTED_TOPICS = 10
MANY_TOPICS = "many topics"
_USUAL_REPLICAS = 3
# Loads of a leader; ties go to the first.
_KINDS = {name: kind for name in ("in", "disk") if (kind := ROWS[name].load) is not None}


def rack_violated(context: FindingContext) -> Iterator[Finding]:
    """Replicas of a partition share a rack, though there are racks enough."""
    table, brokers = context.snapshot.partitions, context.brokers
    racks = {brokers[broker].rack for broker in context.staying}
    if None in racks or len(racks) < 2:
        return
    index = {rack: number for number, rack in enumerate(sorted(name for name in racks if name is not None))}
    nowhere = len(index)  # an unknown rack counts as its own
    ids = np.array(sorted(brokers), dtype=np.int64)
    rack_of = np.array([index.get(brokers[broker].rack or "", nowhere) for broker in ids.tolist()], dtype=np.int64)
    racks_of_replicas = rack_of[np.searchsorted(ids, table.replicas)]
    row_racks = np.sort(table.row_of_replica * (nowhere + 1) + racks_of_replicas)
    is_first = np.diff(row_racks, prepend=-1) > 0
    distinct = np.bincount(row_racks[is_first] // (nowhere + 1), minlength=len(table))
    violated = (distinct < np.minimum(table.replica_counts, len(index))) & ~context.is_in_flight
    violated[sorted(table.observers)] = False  # Confluent's placement constraints choose racks
    sizes = context.snapshot.load(LoadKind.LOG_BYTES)
    for trouble in _by_topic(context, violated):
        rows = trouble.rows
        size, example = float(sizes[rows].sum()), context.snapshot.name_of(int(rows[0]))
        yield finding(
            "rack_violated",
            Severity.HIGH,
            trouble.subject,
            {
                "violating_partitions": len(rows),
                "partitions": trouble.partitions,
                "topics": trouble.topics,
                "racks": len(index),
                "log_bytes": None if np.isnan(size) else size,
                "example": example,
            },
            Remedy(
                fact(FactCode.RACK_VIOLATED, partitions=len(rows), **trouble.where, example=example, racks=len(index)),
                cost=fact(FactCode.MOVES_REPLICAS, replicas=len(rows), copied_bytes=None if np.isnan(size) else size),
                gain=1.0,
                copied_bytes=float(np.nan_to_num(size)),
                changes=len(rows),
            ),
        )


def single_replica(context: FindingContext) -> Iterator[Finding]:
    """A single replica: its broker's absence stops reads and writes."""
    if len(context.staying) < 2:
        return
    table = context.snapshot.partitions
    sizes = context.snapshot.load(LoadKind.LOG_BYTES)
    for trouble in _by_topic(context, (table.replica_counts == 1) & ~context.is_in_flight):
        rows = trouble.rows
        size, brokers = float(sizes[rows].sum()), sorted(set(table.replicas[table.offsets[rows]].tolist()))
        yield finding(
            "single_replica",
            Severity.MEDIUM,
            trouble.subject,
            {
                "partitions_with_one_replica": len(rows),
                "partitions": trouble.partitions,
                "topics": trouble.topics,
                "brokers": tuple(brokers),
                "log_bytes": None if np.isnan(size) else size,
            },
            Remedy(
                fact(
                    FactCode.SINGLE_REPLICA,
                    partitions=len(rows),
                    **trouble.where,
                    brokers=tuple(brokers[:MOST_NAMED]),
                    broker_count=len(brokers),
                    replication_factor=min(_USUAL_REPLICAS, len(context.staying)),
                ),
                cost=fact(FactCode.EACH_REPLICA_COPIES, copied_bytes=None if np.isnan(size) else size),
                gain=1.0,
                copied_bytes=float(np.nan_to_num(size)),
                changes=len(rows),
            ),
            confidence=Confidence.STRUCTURAL,
        )


def single_broker_rack(context: FindingContext) -> Iterator[Finding]:
    """The only broker of a rack, with partitions that have a replica on every rack."""
    by_rack: dict[str | None, list[int]] = {}
    for broker in context.staying:
        by_rack.setdefault(context.brokers[broker].rack, []).append(broker)
    if None in by_rack or len(by_rack) < 2 or not len(context.snapshot.partitions):
        return
    counts = _factors(context)
    forced, mean = int((counts >= len(by_rack)).sum()), float(counts.sum()) / len(context.staying)
    if forced < threshold("single_broker_rack", "over_mean_ratio") * mean:
        return
    for rack, held in sorted(by_rack.items(), key=lambda pair: str(pair[0])):
        if len(held) > 1:
            continue
        yield finding(
            "single_broker_rack",
            Severity.LOW,
            rack,
            {
                "broker": held[0],
                "racks": len(by_rack),
                "forced_replicas": forced,
                "mean_replicas": mean,
                "over_mean_ratio": forced / mean,
            },
            Remedy(
                fact(
                    FactCode.SINGLE_BROKER_RACK,
                    rack=rack,
                    broker=held[0],
                    racks=len(by_rack),
                    forced_replicas=forced,
                    times_mean=forced / mean,
                ),
                cost=fact(FactCode.ADDS_BROKER),
                gain=0.5,
            ),
        )


def mixed_replication_factor(context: FindingContext) -> Iterator[Finding]:
    """Partitions with other replica counts than most of their topic."""
    table, factors = context.snapshot.partitions, _factors(context)
    usual = np.zeros(len(table), dtype=np.int64)
    for rows in context.topic_rows.values():
        if rows:
            span = factors[rows.start : rows.stop]
            often = np.bincount(span)
            usual[rows.start : rows.stop] = len(often) - 1 - int(often[::-1].argmax())  # the larger of ties
    differs = factors != usual
    differs[sorted(table.observers)] = False
    differs &= table.leader >= 0  # others first need a leader
    sizes = context.snapshot.load(LoadKind.LOG_BYTES)
    for trouble in _by_topic(context, differs):
        rows_of = trouble.rows
        lacking = np.maximum(usual[rows_of] - factors[rows_of], 0)
        copied = float((lacking * sizes[rows_of])[lacking > 0].sum())
        factor = int(usual[rows_of[0]])
        yield finding(
            "mixed_replication_factor",
            Severity.MEDIUM,
            trouble.subject,
            {
                "differing_partitions": len(rows_of),
                "partitions": trouble.partitions,
                "topics": trouble.topics,
                "replication_factor": factor if trouble.topics == 1 else None,
                "fewest_replicas": int(factors[rows_of].min()),
                "most_replicas": int(factors[rows_of].max()),
                "surplus_replicas": int(np.maximum(factors[rows_of] - usual[rows_of], 0).sum()),
                "missing_replicas": int(lacking.sum()),
            },
            Remedy(
                fact(
                    FactCode.MIXED_REPLICATION_FACTOR,
                    partitions=len(rows_of),
                    **trouble.where,
                    replication_factor=factor if trouble.topics == 1 else None,
                    differing=tuple(
                        (context.snapshot.name_of(row), int(factors[row])) for row in rows_of[:MOST_NAMED].tolist()
                    ),
                    serving_brokers=len(context.serving),
                    needed_brokers=factor,
                ),
                cost=fact(FactCode.COPIES_BYTES, copied_bytes=None if np.isnan(copied) else copied),
                gain=1.0,
                copied_bytes=float(np.nan_to_num(copied)),
                changes=len(rows_of),
            ),
        )


def below_min_isr(context: FindingContext) -> Iterator[Finding]:
    """Fewer in-sync replicas than ``min.insync.replicas``: acks=all fails.

    Also with fewer replicas, unless brokers are known to bound it by the replica count.
    """
    table, least = context.snapshot.partitions, _least_in_sync(context)
    counts = table.replica_counts
    below = least > counts
    if table.in_sync is not None:
        in_sync = np.bincount(table.row_of_replica, weights=table.in_sync, minlength=len(table)).astype(np.int64)
        below |= in_sync < least
    below &= table.leader >= 0  # without a leader: offline_partition
    for trouble in _by_topic(context, below):
        rows = trouble.rows
        few = rows[least[rows] > counts[rows]]
        min_isr = int(least[rows].max())
        yield finding(
            "below_min_isr",
            Severity.CRITICAL,
            trouble.subject,
            {
                "below_min_isr_partitions": len(rows),
                "fewer_replicas_partitions": len(few),
                "partitions": trouble.partitions,
                "topics": trouble.topics,
                "min_insync_replicas": min_isr,
                "least_in_sync": None if table.in_sync is None else int(in_sync[rows].min()),
                "example": context.snapshot.name_of(int(rows[0])),
            },
            Remedy(
                fact(
                    FactCode.BELOW_MIN_ISR,
                    partitions=len(rows),
                    fewer_replicas_partitions=len(few),
                    **trouble.where,
                    min_insync_replicas=min_isr,
                    is_release_known=bool(seen_release(context.snapshot.kafka_version)),
                    is_isr_known=table.in_sync is not None,
                    serving_brokers=len(context.serving),
                ),
                gain=1.0,
            ),
        )


def min_isr_at_replication_factor(context: FindingContext) -> Iterator[Finding]:
    """All replicas must be in sync: one failed or restarted broker stops writes."""
    table, least, factors = context.snapshot.partitions, _least_in_sync(context), _factors(context)
    tight = (least == factors) & (factors > 1) & (table.leader >= 0) & ~context.is_in_flight
    if table.in_sync is not None:
        in_sync = np.bincount(table.row_of_replica, weights=table.in_sync, minlength=len(table))
        tight &= in_sync >= least
    for trouble in _by_topic(context, tight):
        rows = trouble.rows
        low, high = int(least[rows].min()), int(least[rows].max())
        yield finding(
            "min_isr_at_replication_factor",
            Severity.HIGH,
            trouble.subject,
            {
                "partitions_at_min_isr": len(rows),
                "partitions": trouble.partitions,
                "topics": trouble.topics,
                "min_insync_replicas": high,
            },
            Remedy(
                fact(
                    FactCode.MIN_ISR_AT_REPLICATION_FACTOR,
                    partitions=len(rows),
                    **trouble.where,
                    fewest_replicas=low,
                    most_replicas=high,
                ),
                gain=1.0,
            ),
        )


def under_replicated(context: FindingContext) -> Iterator[Finding]:
    """The ISR is smaller than the intended replicas."""
    table = context.snapshot.partitions
    if table.in_sync is None:
        return
    in_sync = np.bincount(table.row_of_replica, weights=table.in_sync, minlength=len(table)).astype(np.int64)
    adding = np.zeros(len(table), dtype=np.int64)
    for row, brokers in table.adding.items():
        adding[row] = len(brokers)
    meant = table.replica_counts - adding - table.idle_observers
    least = _least_in_sync(context)
    for trouble in _by_topic(context, in_sync < meant):
        rows = trouble.rows
        yield finding(
            "under_replicated",
            Severity.HIGH,
            trouble.subject,
            {
                "under_replicated_partitions": len(rows),
                "below_min_isr_partitions": int(((in_sync < least) & (table.leader >= 0))[rows].sum()),
                "partitions": trouble.partitions,
                "topics": trouble.topics,
                "missing_replicas": int((meant[rows] - in_sync[rows]).sum()),
            },
            Remedy(
                fact(FactCode.UNDER_REPLICATED, partitions=len(rows), **trouble.where),
                gain=1.0,
            ),
        )


def _least_in_sync(context: FindingContext) -> Longs:
    least = least_in_sync(context.snapshot)
    bounded = np.minimum(least, context.snapshot.partitions.replica_counts)
    return bounded if is_bounded_by_replicas(context.snapshot) else least


def _factors(context: FindingContext) -> Longs:
    table = context.snapshot.partitions
    factors = table.replica_counts.copy()
    for row, brokers in table.removing.items():
        factors[row] -= len(brokers)
    return factors


def offline_partition(context: FindingContext) -> Iterator[Finding]:
    """Without a leader: no reads, no writes."""
    for trouble in _by_topic(context, context.snapshot.partitions.leader < 0):
        row = int(trouble.rows[0])
        example = context.snapshot.partition(row)
        yield finding(
            "offline_partition",
            Severity.CRITICAL,
            trouble.subject,
            {
                "offline_partitions": len(trouble.rows),
                "partitions": trouble.partitions,
                "topics": trouble.topics,
                "example": context.snapshot.name_of(row),
            },
            Remedy(
                fact(
                    FactCode.OFFLINE_PARTITION,
                    partitions=len(trouble.rows),
                    **trouble.where,
                    example=context.snapshot.name_of(row),
                    awaited_brokers=tuple(example.isr or example.replicas),
                ),
                gain=1.0,
            ),
        )


def dead_broker(context: FindingContext) -> Iterator[Finding]:
    """Replicas are on dead brokers."""
    table = context.snapshot.partitions
    row = table.row_of_replica
    for broker in context.snapshot.brokers:
        if not broker.state.is_gone:
            continue
        held = table.replicas == broker.id
        count = int(held.sum())
        if not count:
            continue
        alone = int((table.replica_counts[row[held]] == 1).sum())
        built = sum(broker.id in adding for adding in table.adding.values())
        yield finding(
            "dead_broker",
            Severity.CRITICAL,
            broker.id,
            {
                "replicas": count,
                "replicas_being_built": built,
                "partitions_without_other_replica": alone,
                "state": broker.state.value,
            },
            Remedy(
                fact(
                    FactCode.DEAD_BROKER,
                    broker=broker.id,
                    state=broker.state.value,
                    replicas=count,
                    replicas_being_built=built,
                    only_replicas=alone,
                ),
                cost=fact(FactCode.MOVES_REPLICAS, replicas=count - alone - built, if_lost=True),
                gain=1.0,
                changes=count - alone - built,
            ),
        )


def hot_partition(context: FindingContext) -> Iterator[Finding]:
    """One partition carries far more than its topic's others."""
    hot: dict[int, Evidence] = {}
    for resource, kind in _KINDS.items():
        name = kind.value
        scores = [score for score in context.scores.of_resource(resource) if score.stays]
        mean = plain_mean(np.array([score.load for score in scores])) if scores else 0.0
        if mean <= 0:
            continue
        values = np.nan_to_num(context.snapshot.load(kind))
        for row in np.flatnonzero(values >= threshold("hot_partition", "share_of_broker_mean_ratio") * mean).tolist():
            median = median_of_siblings(context.snapshot, kind, row)
            if median and values[row] < threshold("hot_partition", "times_topic_median_ratio") * median:
                continue
            hot.setdefault(row, {}).update({
                f"{name}": float(values[row]),
                f"broker_mean_{name}": mean,
                f"{resource}_share_of_broker_mean_ratio": float(values[row]) / mean,
                f"topic_median_{name}": median,
            })  # fmt: skip
    for row, evidence in sorted(hot.items()):
        yield _hot(context, row, evidence)


def _hot(context: FindingContext, row: int, evidence: Evidence) -> Finding:
    shares = {name: float(evidence.get(f"{name}_share_of_broker_mean_ratio") or 0.0) for name in _KINDS}
    worst = max(shares, key=lambda name: (shares[name], name))
    kind = _KINDS[worst]
    name = kind.value
    value, median = float(evidence[name] or 0.0), evidence[f"topic_median_{name}"]
    return finding(
        "hot_partition",
        Severity.HIGH if shares[worst] >= 1 else Severity.MEDIUM,
        context.snapshot.name_of(row),
        evidence,
        Remedy(
            fact(
                FactCode.HOT_PARTITION,
                partition=context.snapshot.name_of(row),
                resource=worst,
                load=value,
                share_of_mean=shares[worst],
                topic_median=None if median is None else float(median),
            ),
            cost=fact(FactCode.CHANGES_KEYS),
            gain=1 - float(median or 0.0) / value,
        ),
        confidence=context.confidence(kind),
    )


def median_of_siblings(snapshot: ClusterSnapshot, kind: LoadKind, row: int) -> float | None:
    topic = snapshot.partitions.topic
    begin, end = np.searchsorted(topic, [topic[row], topic[row] + 1])
    others = np.delete(snapshot.load(kind)[begin:end], row - int(begin))
    measured = others[~np.isnan(others)]
    return float(np.median(measured)) if len(measured) else None


@dataclass(frozen=True, slots=True, eq=False)
class _Trouble:
    subject: str
    rows: npt.NDArray[np.int64]
    topics: int
    partitions: int

    @property
    def where(self) -> dict[str, str | int]:
        return {"topic": self.subject} if self.topics == 1 else {"topics": self.topics}


def _by_topic(context: FindingContext, flags: Flags) -> Iterator[_Trouble]:
    topic = context.snapshot.partitions.topic
    rows = np.flatnonzero(flags)
    numbers = np.unique(topic[rows])
    sizes = np.searchsorted(topic, numbers + 1) - np.searchsorted(topic, numbers)
    if len(numbers) > LISTED_TOPICS:
        yield _Trouble(MANY_TOPICS, rows, len(numbers), int(sizes.sum()))
        return
    for number, size in zip(numbers.tolist(), sizes.tolist(), strict=True):
        name = context.snapshot.topics[number].name
        yield _Trouble(name, rows[topic[rows] == number], 1, size)


_RATES = {row.name: row.load for row in TABLE if row.is_balanced and row.load is not None and row.unit != "bytes"}


def broker_disk_over_share(context: FindingContext) -> Iterator[Finding]:
    """Disk level above the fair share."""
    for score in context.scores.of_resource("disk"):
        over = _over_share(score)
        if over is None or over < threshold("broker_disk_over_share", "over_share_ratio"):
            continue
        yield finding(
            "broker_disk_over_share",
            _severity(over),
            score.broker,
            _share_evidence(score) | {"over_share_ratio": over} | plan_evidence(context, [score]),
            Remedy(
                fact(
                    FactCode.BROKER_DISK_OVER_SHARE,
                    broker=score.broker,
                    disk_bytes=score.load,
                    times_share=over,
                    outcome=plan_outcome(context, score, fact(FactCode.MOVE_BYTES_AWAY, excess_bytes=excess(score))),
                ),
                cost=plan_cost(
                    context, score.broker, fact(FactCode.COPIES_BYTES, copied_bytes=excess(score), is_least=True)
                ),
                gain=moved_excess_ratio(context, score),
                copied_bytes=copied_by_plan(context, score.broker, excess(score)),
            ),
            confidence=context.confidence(LoadKind.LOG_BYTES),
        )


def broker_rate_over_share(context: FindingContext) -> Iterator[Finding]:
    """In, out or CPU level above the fair share: one finding a broker."""
    least = threshold("broker_rate_over_share", "over_share_ratio")
    for broker in context.staying:
        scores = {
            score.resource: score
            for score in context.scores.brokers
            if score.broker == broker and score.resource in _RATES and (_over_share(score) or 0) >= least
        }
        if not scores:
            continue
        worst = max(scores.values(), key=lambda score: (_over_share(score) or 0, score.resource))
        over = _over_share(worst) or 0.0
        evidence: Evidence = {"worst_resource": worst.resource, "over_share_ratio": over}
        for score in scores.values():
            evidence |= _share_evidence(score)
            evidence[f"{score.resource}_over_share_ratio"] = _over_share(score)
        evidence |= plan_evidence(context, list(scores.values()))
        yield finding(
            "broker_rate_over_share",
            _severity(over),
            broker,
            evidence,
            Remedy(
                fact(
                    FactCode.BROKER_RATE_OVER_SHARE,
                    broker=broker,
                    resource=worst.resource,
                    load=worst.load,
                    times_share=over,
                    outcome=plan_outcome(context, worst, fact(FactCode.MOVE_BUSIEST_AWAY)),
                ),
                cost=plan_cost(context, broker, fact(FactCode.LEADER_CHANGES_COPY_NOTHING)),
                gain=moved_excess_ratio(context, worst),
                copied_bytes=copied_by_plan(context, broker, 0.0),
            ),
            confidence=context.confidence(_RATES[worst.resource]),
        )


def broker_disk_full(context: FindingContext) -> Iterator[Finding]:
    """Nearly full volumes, and when they are full at the earliest."""
    scores = {score.broker: score for score in context.scores.of_resource("disk") if score.stays}
    used = {broker: _used_and_total(context, score) for broker, score in scores.items()}
    measured = {broker: pair for broker, pair in used.items() if pair is not None}
    in_bytes_per_s = {score.broker: score.load for score in context.scores.of_resource("in")}
    if not measured:
        return
    least = threshold("broker_disk_full", "used_ratio")
    cluster = None  # unless every disk is known
    if len(measured) == len(scores):
        cluster = sum(pair[0] for pair in measured.values()) / sum(pair[1] for pair in measured.values())
    level = least if cluster is None else cluster
    for broker, (used_bytes, total_bytes) in sorted(measured.items()):
        ratio = used_bytes / total_bytes
        if ratio < least:
            continue
        is_critical = ratio >= threshold("broker_disk_full", "critical_used_ratio")
        strays = sum(log_dir.stray_bytes for log_dir in context.brokers[broker].log_dirs)
        copied = max(0.0, used_bytes - level * total_bytes)
        incoming = in_bytes_per_s.get(broker, 0.0)
        least_seconds = max(0.0, total_bytes - used_bytes) / incoming if incoming > 0 else None
        is_cluster_full = cluster is not None and cluster >= least
        is_relieved = context.plan is not None and not is_cluster_full
        gain = 0.0 if is_cluster_full else (ratio - level) / ratio
        yield finding(
            "broker_disk_full",
            Severity.CRITICAL if is_critical else Severity.HIGH,
            broker,
            {
                "used_bytes": round(used_bytes),
                "total_bytes": round(total_bytes),
                "used_ratio": ratio,
                "cluster_used_ratio": cluster,
                "least_seconds_to_full": least_seconds,
            }
            | plan_evidence(context, [scores[broker]]),
            Remedy(
                fact(
                    FactCode.BROKER_DISK_FULL,
                    broker=broker,
                    used_ratio=ratio,
                    cluster_used_ratio=cluster,
                    is_cluster_full=is_cluster_full,
                    filling_stray_bytes=strays if (used_bytes - strays) / total_bytes < least else 0,
                    least_seconds_to_full=least_seconds,
                    outcome=plan_outcome(context, scores[broker], fact(FactCode.MOVE_BYTES_AWAY, excess_bytes=copied)),
                ),
                cost=plan_cost(context, broker, fact(FactCode.COPIES_BYTES, copied_bytes=copied)),
                gain=moved_excess_ratio(context, scores[broker]) if is_relieved else gain,
                copied_bytes=copied_by_plan(context, broker, copied),
            ),
            confidence=context.confidence(LoadKind.LOG_BYTES),
        )


def _used_and_total(context: FindingContext, score: BrokerScore) -> tuple[float, float] | None:
    """Return those of a given disk, as plans take it, else of the volumes."""
    broker = context.brokers[score.broker]
    total, usable = volume_bytes(broker.log_dirs), usable_bytes(broker.log_dirs)
    capacity = broker.capacity.disk_bytes
    if capacity is None and total is not None and usable is not None:
        return total - usable, total
    capacity = score.capacity if capacity is None else capacity
    if capacity is None:
        return None
    return score.load + context.snapshot.unplaced_bytes.get(score.broker, 0), capacity


def _over_share(score: BrokerScore) -> float | None:
    if not score.stays or not score.fair_share:
        return None
    return score.level / score.fair_share


def _share_evidence(score: BrokerScore) -> Evidence:
    name = LOAD_NAMES[score.resource]
    evidence: Evidence = {
        name: score.load,
        f"fair_share_{name}": (score.fair_share or 0.0) * (score.capacity or 1.0),
    }
    return evidence | ({f"capacity_{name}": score.capacity} if score.capacity is not None else {})


def _severity(over_share: float) -> Severity:
    if over_share >= 1.5:
        return Severity.HIGH
    return Severity.MEDIUM if over_share >= 1.25 else Severity.LOW


CODE = "log_dir_full"
_BALANCED_WITHIN = 0.1  # by the command that the finding names


def log_dir_full(context: FindingContext) -> Iterator[Finding]:
    """A disk is nearly full; moves to the broker's other disks help."""
    least = threshold(CODE, "used_ratio")
    for broker in context.snapshot.brokers:
        if not (broker.state.stays and broker.state.is_responsive):
            continue
        places = broker_places(broker, context.snapshot.partitions, frozenset())
        if places is None or not places.knows_sizes:
            continue
        used = places.used_bytes / places.total_bytes
        if used.max() >= least > used.min():
            yield _finding(context, place_broker(places, _BALANCED_WITHIN), used, least)


def _finding(context: FindingContext, placed: PlacedDirs, used: Floats, least: float) -> Finding:
    """Its moves are those of the plan between log dirs."""
    broker, total, worst = broker_dirs(placed), placed.places.total_bytes, int(used.argmax())
    before, after = (
        np.array([getattr(place, name) for place in broker.places]) for name in ("used_before", "used_after")
    )
    is_other = np.arange(len(used)) != worst
    ratio, others = float(used[worst]), float(before[is_other].sum() / total[is_other].sum())
    above, still_above = (
        int(np.maximum(held - np.floor(least * total).astype(np.int64), 0).sum()) for held in (before, after)
    )
    moved = moved_replicas(placed) if after[worst] < before[worst] else []
    copied, bound = (broker.dir_bytes, broker.lower_bound_bytes) if moved else (0, 0)
    paths = broker.places[worst].paths
    return finding(
        CODE,
        Severity.CRITICAL if ratio >= threshold(CODE, "critical_used_ratio") else Severity.HIGH,
        broker.broker,
        {
            "paths": paths,
            "used_ratio": ratio,
            "others_used_ratio": others,
            "replica_moves_between_dirs": len(moved),
            "dir_bytes": copied,
            "dir_bytes_lower_bound": bound,
            "above_bytes": above,
            "still_above_bytes": still_above,
        },
        Remedy(
            fact(
                FactCode.LOG_DIR_FULL,
                broker=broker.broker,
                paths=paths,
                used_ratio=ratio,
                others_used_ratio=others,
                way=fact(FactCode.NO_REPLICA_FITS_OTHER_DIR)
                if not moved
                else fact(
                    FactCode.MOVE_BETWEEN_DIRS,
                    replicas=len(moved),
                    moved_bytes=float(copied),
                    lower_bound_bytes=float(bound),
                    first_moves=tuple(
                        (_name_of_cell(context, replica.cell), replica.target) for replica in moved[:LISTED]
                    ),
                    still_above_bytes=float(still_above),
                    used_ratio_limit=least,
                ),
            ),
            cost=fact(FactCode.COPIES_BETWEEN_DISKS, copied_bytes=float(copied)),
            gain=1.0 - still_above / above if above else 0.0,
            copied_bytes=copied,
        ),
        confidence=context.confidence(LoadKind.LOG_BYTES),
    )


def _name_of_cell(context: FindingContext, cell: int) -> str:
    return context.snapshot.name_of(int(np.searchsorted(context.snapshot.partitions.offsets, cell, side="right")) - 1)
