"""All checks in order: an unreadable part stops the rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.verify.bounds import check_bounds, check_within_budget
from kafka_rebalance.verify.cluster import (
    ClusterArrays,
    Floats,
    check_observability,
    check_preconditions,
    cluster_arrays,
    read_moves,
)
from kafka_rebalance.verify.document import (
    UNREADABLE,
    check_expiry,
    check_identity,
    check_seal,
    check_shape,
    is_of_another_snapshot,
    read_json,
    read_parameters,
)
from kafka_rebalance.verify.faults import NOTES, Fault, FaultList
from kafka_rebalance.verify.files import PLAN, check_files, check_folder
from kafka_rebalance.verify.frontier import check_frontier, check_ordered_bands
from kafka_rebalance.verify.loads import Levels, check_outcomes, hard_limits, recompute
from kafka_rebalance.verify.moves import check_moves, check_result, check_rollback
from kafka_rebalance.verify.stated_facts import check_stated_facts
from kafka_rebalance.verify.steps import check_steps
from kafka_rebalance.verify.survival import (
    Placements,
    check_after_failure,
    check_survival,
    check_topic_leaders,
    is_due,
    too_few_leaders,
)
from kafka_rebalance.verify.verdict_rules import check_verdict
from kafka_rebalance.verify.waves import check_costs, check_nights, check_trace, check_waves


@dataclass(frozen=True, slots=True)
class Verification:
    """``faults`` in the order found; ``counts`` by code (``faults`` has only the first of each).

    ``bounds``: recomputed ones by cost.
    """

    faults: tuple[Fault, ...]
    counts: Mapping[str, int]
    bounds: Mapping[str, float] = field(default_factory=dict)

    @property
    def is_right(self) -> bool:
        """Whether all faults are notes: a weak bound is still true."""
        return not self.counts.keys() - NOTES

    @property
    def is_of_another_snapshot(self) -> bool:
        """Whether the plan has another snapshot: then nothing else was judged."""
        return is_of_another_snapshot(self.faults)

    @property
    def wrong(self) -> tuple[Fault, ...]:
        return tuple(fault for fault in self.faults if fault.code not in NOTES)


def verify_plan(document: Any, snapshot: ClusterSnapshot, files: Mapping[str, Any] | None = None) -> Verification:
    """Judge a parsed ``plan.json`` by its snapshot, and the ``files`` of its folder. Never raises for a wrong plan."""
    faults = FaultList()
    bounds = _judge_document(document, snapshot, faults)
    if files is not None and not faults.has_any("shape"):
        check_files(document, files, faults)
    return Verification(tuple(faults.faults), dict(faults.counts), bounds)


def verify_folder(contents: Mapping[str, bytes], snapshot: ClusterSnapshot, *, is_alone: bool = False) -> Verification:
    """Judge a plan's folder, ``contents`` by path. ``is_alone``: no other file is required. Never raises for wrong
    contents.
    """
    faults = FaultList()
    document = read_json(contents[PLAN], PLAN, faults)
    if document is UNREADABLE:
        return Verification(tuple(faults.faults), dict(faults.counts))
    bounds = _judge_document(document, snapshot, faults)
    if not is_alone and not faults.has_any("shape"):
        check_folder(document, contents, faults)
    return Verification(tuple(faults.faults), dict(faults.counts), bounds)


def _judge_document(document: Any, snapshot: ClusterSnapshot, faults: FaultList) -> dict[str, float]:
    if not check_shape(document, faults):
        return {}
    check_seal(document, faults)
    check_identity(document, snapshot, faults)
    if is_of_another_snapshot(faults.faults):
        return {}
    check_observability(document, snapshot, faults)
    parameters = read_parameters(document["parameters"], faults)
    bounds: dict[str, float] = {}
    if parameters is not None:
        check_expiry(document, faults)
        check_preconditions(document, snapshot, parameters, faults)
        cluster = cluster_arrays(snapshot, parameters)
        claimed = read_moves(document["moves"], snapshot, cluster, faults)
        if claimed is not None:
            levels = recompute(claimed, cluster, parameters)
            named = frozenset(outcome["resource"] for outcome in document["resources"])
            placements = Placements(snapshot, cluster, claimed, levels, named)
            bounds = _judge(document, placements, parameters, faults)
            check_after_failure(document, snapshot, claimed, cluster, levels, faults)
            if document["after_failure"] is None and is_due(document, snapshot):
                faults.add("after_failure", "plan.after_failure", "is missing")
            if document["preferred_leaders"] is None and snapshot.brokers:
                faults.add("preferred_leaders", "plan.preferred_leaders", "is missing")
    return bounds


def _judge(
    document: dict[str, Any], placements: Placements, parameters: PlanOptions, faults: FaultList
) -> dict[str, float]:
    claimed, cluster, levels = placements.claimed, placements.cluster, placements.levels
    survives_today = parameters.survive is None or placements.above_today(parameters.survive) is None
    keeps_today = survives_today and too_few_leaders(cluster, parameters, cluster.leader) is None
    is_lasting = keeps_today and too_few_leaders(cluster, parameters, cluster.preferred) is None
    check_moves(document["moves"], claimed, cluster, parameters, faults)
    check_result(claimed, cluster, parameters, document["verdict"], faults)
    check_costs(document, claimed, cluster, parameters, faults)
    check_trace(document, faults)
    check_outcomes(document, levels, claimed, cluster, parameters, faults)
    check_verdict(document, levels, cluster, parameters, faults, keeps_today=keeps_today, is_lasting=is_lasting)
    check_survival(document, placements, parameters, faults)
    check_topic_leaders(document, claimed, cluster, parameters, faults)
    check_waves(document, claimed, cluster, parameters, _disk(levels, cluster), faults)
    check_nights(document, claimed, parameters, faults)
    check_steps(document, placements.snapshot, claimed, cluster, levels, parameters, faults)
    check_rollback(document, claimed, cluster, parameters, faults)
    check_stated_facts(document, placements.snapshot, claimed, cluster, levels, parameters, faults)
    check_frontier(document, faults)
    if faults.has_any("resource", "before", "from_differs"):
        return {}
    check_ordered_bands(document, levels, claimed, cluster, parameters, faults)
    check_within_budget(document, levels, cluster, parameters, faults)
    return check_bounds(document, levels, cluster, parameters, faults)


def _disk(levels: Levels, cluster: ClusterArrays) -> tuple[Floats, Floats] | None:
    if "disk" not in levels.before:
        return None
    limits = hard_limits(cluster, levels.limit, levels.before)
    return levels.before["disk"], np.asarray(limits["disk"])
