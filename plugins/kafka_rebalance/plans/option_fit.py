"""Options against the cluster that they are given for: what it contradicts is refused, never passed over."""

from __future__ import annotations

import numpy as np

from kafka_rebalance.cluster_arrays.broker_arrays import require_brokers_known
from kafka_rebalance.errors import InfeasibleError, UsageError
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.draft import Draft
from kafka_rebalance.plans.params import DEFAULTS, OptionParams
from kafka_rebalance.plans.request import PlanRequest
from kafka_rebalance.snapshot.model import ClusterSnapshot


def require_brokers_fit(
    snapshot: ClusterSnapshot, options: PlanOptions, params: OptionParams = DEFAULTS.options
) -> None:
    """Raises UsageError for a broker that is not in the cluster, and for an added one that is there on another rack, or
    is there and gone.

    Raises InfeasibleError for a replication factor beyond every broker.
    """
    require_brokers_known(snapshot, options)
    known = {broker.id: broker for broker in snapshot.brokers}
    for broker_id in sorted(options.add_brokers.keys() & known.keys()):
        broker, rack = known[broker_id], options.add_brokers[broker_id]
        place = f"--add-broker {broker_id}" + (f":{rack}" if rack is not None else "")
        if rack is not None and rack != broker.rack:
            stands = "without a rack" if broker.rack is None else f"on rack {broker.rack}"
            raise UsageError.at(place, f"broker {broker_id} is in the cluster already, {stands}", "leave it out")
        if not broker.state.stays or broker.state.is_unheard:
            hint = "one that comes back gets its replicas from Kafka; --remove-broker gives them to others"
            raise UsageError.at(place, f"broker {broker_id} is in the cluster, and {broker.state.value}", hint)
    factor, brokers = options.replication_factor, len(known.keys() | options.add_brokers.keys())
    if factor is not None and factor > max(brokers, params.most_replication_factor):
        raise InfeasibleError(
            f"replication factor {factor:,} on {brokers:,} brokers", "a broker holds one replica of a partition"
        )


def require_measured(plan_request: PlanRequest) -> None:
    """Raises UsageError for a target or a cap of a resource whose figures are not known."""
    for option, resources in (("target", plan_request.options.targets), ("cap", plan_request.options.caps)):
        for resource in sorted(resources):
            if resource not in plan_request.resources:
                why = plan_request.left_out.get(resource, "it is not known")
                raise UsageError.at(
                    f"--{option} {resource}", f"INPUT does not tell it: {why}", f"leave the {option} out"
                )


def require_countable_bytes(plan_request: PlanRequest, draft: Draft) -> None:
    """Raises InfeasibleError where moves are to keep within a number of bytes that nobody can count.

    Sizes that are known for too few partitions are none that the search counts: a plan of known sizes may be too large.
    """
    limit = plan_request.options.max_move_bytes
    if limit is None:
        return
    unknown = int(((draft.copies > 0) & np.isnan(draft.size)).sum())
    if not unknown and sum(copied or 0 for copied in draft.bytes_forward()) > limit:
        unknown = int(np.isnan(plan_request.partitions.size).sum())
    if unknown:
        raise InfeasibleError(
            f"--max-move-bytes cannot be kept: the size of {unknown:,} partitions is not known",
            "give --max-moves, or an input with the sizes of replicas",
        )
