"""Facts: what plans, findings, gates and stored rows say, as a code with named arguments.

``render`` alone makes words of them. A fact is data: it is hashed, stored and verified, and its wording may change at
any time. Arguments are JSON values with their unit in the name (``copied_bytes``, ``times_share``), ids, names, lists
of these, and further facts. Example: ``fact(FactCode.BROKER_OUTSIDE_BAND, broker=3, resource="disk", times_mean=1.4)``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class FactCode(StrEnum):
    """Every code, by the part that says it. A code is its value in JSON and SQL, and never changes its meaning."""

    # Moves of a plan: why each is made, and what is worse without it.
    RELIEVES_BROKER = "relieves_broker"
    FILLS_BROKER = "fills_broker"
    MAKES_UP_FOR_MOVES = "makes_up_for_moves"
    ONE_OF_SEVERAL = "one_of_several"

    # Verdict, notes and causes of a plan.

    # Causes that no plan keeps every hard rule.

    # Findings about brokers, topics and the cluster.
    BROKER_DISK_OVER_SHARE = "broker_disk_over_share"
    BROKER_DISK_FULL = "broker_disk_full"
    BROKER_RATE_OVER_SHARE = "broker_rate_over_share"
    LOG_DIR_FULL = "log_dir_full"
    LOSS_OVERLOADS = "loss_overloads"
    LEADERS_PILED_UP = "leaders_piled_up"
    LEADERS_OVER_SHARE = "leaders_over_share"
    PREFERRED_LEADERS_OFF = "preferred_leaders_off"
    PREFERRED_ORDER_UNEVEN = "preferred_order_uneven"
    TOPIC_ON_FEW_BROKERS = "topic_on_few_brokers"
    COORDINATOR_PILED_UP = "coordinator_piled_up"
    RACK_VIOLATED = "rack_violated"
    SINGLE_REPLICA = "single_replica"
    SINGLE_BROKER_RACK = "single_broker_rack"
    MIXED_REPLICATION_FACTOR = "mixed_replication_factor"
    BELOW_MIN_ISR = "below_min_isr"
    MIN_ISR_AT_REPLICATION_FACTOR = "min_isr_at_replication_factor"
    UNDER_REPLICATED = "under_replicated"
    OFFLINE_PARTITION = "offline_partition"
    DEAD_BROKER = "dead_broker"
    BROKER_NOT_HEARD = "broker_not_heard"
    STRAY_LOGS = "stray_logs"
    LOG_DIR_OFFLINE = "log_dir_offline"
    RACKS_UNKNOWN = "racks_unknown"
    HOT_PARTITION = "hot_partition"
    RACK_TRAFFIC_PRICE = "rack_traffic_price"
    THROTTLE_LEFT_OVER = "throttle_left_over"
    REASSIGNMENT_RUNNING = "reassignment_running"
    REASSIGNMENT_STUCK = "reassignment_stuck"
    OTHER_BALANCER = "other_balancer"
    BROKER_CORDONED = "broker_cordoned"
    LOAD_UNKNOWN = "load_unknown"
    COVERAGE_GAP = "coverage_gap"
    HOURS_OUTSIDE_BAND = "hours_outside_band"
    NOTHING_TO_MOVE = "nothing_to_move"
    CANNOT_TELL_MOVES = "cannot_tell_moves"
    MOVING_CANNOT_FIX = "moving_cannot_fix"

    # What to do about these, and what the plan does.
    PLAN_MOVES_NOTHING = "plan_moves_nothing"
    PLAN_LEAVES_BROKER = "plan_leaves_broker"
    PLAN_LEAVES_RESOURCE = "plan_leaves_resource"
    PLAN_CHANGES_LOAD = "plan_changes_load"
    MOVE_BYTES_AWAY = "move_bytes_away"
    MOVE_BUSIEST_AWAY = "move_busiest_away"
    REORDER_AND_ELECT = "reorder_and_elect"
    NO_REPLICA_FITS_OTHER_DIR = "no_replica_fits_other_dir"
    MOVE_BETWEEN_DIRS = "move_between_dirs"
    PLAN_PREVENTS_OVERLOAD = "plan_prevents_overload"
    PLAN_LEAVES_OVERLOAD = "plan_leaves_overload"
    SPREAD_STANDBYS = "spread_standbys"
    IN_SYNC_AGAIN = "in_sync_again"
    BROKER_BACK = "broker_back"

    # What following a finding costs.
    COPIES_BYTES = "copies_bytes"
    COPIES_BETWEEN_DISKS = "copies_between_disks"
    EACH_REPLICA_COPIES = "each_replica_copies"
    MOVES_REPLICAS = "moves_replicas"
    PLAN_TOUCHES_BROKER = "plan_touches_broker"
    CHANGES_LEADERS = "changes_leaders"
    LEADER_CHANGES_COPY_NOTHING = "leader_changes_copy_nothing"
    ORDER_COPIES_NOTHING = "order_copies_nothing"
    MOVES_COORDINATORS = "moves_coordinators"
    ADDS_BROKER = "adds_broker"
    CHANGES_KEYS = "changes_keys"
    MOVES_KEYS = "moves_keys"
    REMOVES_COPIES = "removes_copies"
    COSTS_NOTHING = "costs_nothing"
    ONE_REBALANCE = "one_rebalance"
    ROLLING_RESTART = "rolling_restart"
    RESTARTS_MEMBERS = "restarts_members"
    MOVES_ONE_BY_ONE = "moves_one_by_one"
    CHANGES_LIBRARY = "changes_library"
    STARTS_AT_RESET = "starts_at_reset"
    NEEDS_CUSTOM_ASSIGNOR = "needs_custom_assignor"
    ADDS_MEMBERS = "adds_members"

    # Findings about groups.
    NOT_JUDGED = "not_judged"
    IDLE_MEMBERS = "idle_members"
    IDLE_CAUSE = "idle_cause"
    ASSIGNOR_UNEVEN = "assignor_uneven"
    SERVER_ASSIGNOR_UNEVEN = "server_assignor_uneven"
    DEAD_STATIC_MEMBER = "dead_static_member"
    LAG_GROWING = "lag_growing"
    LAG_CONCENTRATED = "lag_concentrated"
    PARTITION_NOT_READ = "partition_not_read"
    UNREAD_PARTITIONS = "unread_partitions"
    TOPIC_WITHOUT_READER = "topic_without_reader"
    READ_WITHOUT_JOINING = "read_without_joining"
    COMMIT_OUT_OF_RANGE = "commit_out_of_range"
    STICKY_ENDLESS = "sticky_endless"
    SHARED_OFFSETS = "shared_offsets"
    MIXED_STATIC_MEMBERS = "mixed_static_members"
    LEADER_MAY_CRASH = "leader_may_crash"
    ROLLOVER_HALF_DONE = "rollover_half_done"
    MIXED_CLIENTS = "mixed_clients"
    SERVER_UNIFORM_MAY_THROW = "server_uniform_may_throw"
    SHARE_GROUP_BEHIND = "share_group_behind"
    STATIC_MEMBERS_PARTLY = "static_members_partly"
    STATIC_MEMBERSHIP = "static_membership"
    GROUP_HOT_PARTITION = "group_hot_partition"
    UNEVEN_BY_RATE = "uneven_by_rate"
    UNEVEN_PER_TOPIC = "uneven_per_topic"
    CROSS_RACK_READS = "cross_rack_reads"

    # What to do about these.
    SET_STRATEGY = "set_strategy"
    LEARN_STRATEGY = "learn_strategy"
    RESTART_ONE_BY_ONE = "restart_one_by_one"
    RESTART_CONNECTOR = "restart_connector"
    NAME_BOTH_STRATEGIES = "name_both_strategies"
    STOP_ALL_MEMBERS = "stop_all_members"
    USE_RANGE = "use_range"
    GIVE_TOPIC_OWN_GROUP = "give_topic_own_group"
    HOT_PARTITION_LIMITS_GROUP = "hot_partition_limits_group"
    SHARE_PARTITIONS_EVENLY = "share_partitions_evenly"
    MEMBERS_TOO_SLOW = "members_too_slow"
    MORE_MEMBERS_WOULD_IDLE = "more_members_would_idle"
    ADD_MEMBERS = "add_members"

    # Advice of each group.
    NO_CHOICE = "no_choice"
    CHANGE_STRATEGY = "change_strategy"
    KEEP_STRATEGY = "keep_strategy"
    STRATEGY_UNKNOWN = "strategy_unknown"
    SUBSCRIPTIONS_UNKNOWN = "subscriptions_unknown"
    STRATEGIES_NOT_REPLAYED = "strategies_not_replayed"
    CONSUMER_PROTOCOL = "consumer_protocol"
    PARTITIONS_WAIT = "partitions_wait"

    # The way of a group to another strategy.
    ROLLOVER_STEP = "rollover_step"
    READ_TWICE = "read_twice"
    CANNOT_CHANGE = "cannot_change"
    CANNOT_CHANGE_KIND = "cannot_change_kind"
    CANNOT_CHANGE_NOW = "cannot_change_now"

    # What an advisory rests on, and when disks fill up.
    LOAD_SOURCE = "load_source"
    LOAD_OF_LOG_DIRS = "load_of_log_dirs"
    LOAD_MISSING = "load_missing"
    DISK_FILLS = "disk_fills"
    MORE_DISKS_FILL = "more_disks_fill"
    NO_DISK_FILLS = "no_disk_fills"

    # Gaps of a snapshot, gates, runs.


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact. ``args`` holds plain JSON values, tuples of them, and facts."""

    code: FactCode
    args: Mapping[str, Any] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """Return the JSON object ``{"code": ..., "args": {...}}``; arguments by name, since jsonb keeps no order."""
        return {"code": self.code.value, "args": {name: _plain(self.args[name]) for name in sorted(self.args)}}

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Fact:
        """Return the fact of a JSON object. Raises ValueError for an unknown code."""
        return cls(FactCode(document["code"]), {name: _typed(value) for name, value in document["args"].items()})


def fact(code: FactCode, **args: Any) -> Fact:
    """Return the fact with its arguments by name."""
    return Fact(code, args)


def _plain(value: Any) -> Any:
    if isinstance(value, Fact):
        return value.document()
    return [_plain(part) for part in value] if isinstance(value, (tuple, list)) else value


def _typed(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_typed(part) for part in value)
    is_fact = isinstance(value, Mapping) and value.keys() == {"code", "args"}
    return Fact.from_document(value) if is_fact else value
