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
    RAISES_REPLICATION_FACTOR = "raises_replication_factor"
    LOWERS_REPLICATION_FACTOR = "lowers_replication_factor"
    SEPARATES_RACKS = "separates_racks"
    LEAVES_FORBIDDEN_BROKER = "leaves_forbidden_broker"
    LEAVES_OFFLINE_LOG_DIR = "leaves_offline_log_dir"
    LEAVES_BROKER = "leaves_broker"
    DROPS_OUT_OF_SYNC = "drops_out_of_sync"
    ELECTS_PREFERRED = "elects_preferred"
    KEEPS_LEADER = "keeps_leader"
    NAMES_NEXT_LEADER = "names_next_leader"
    LEAVES_DEMOTED_LEADER = "leaves_demoted_leader"
    KEEPS_WITHIN_CAPACITY = "keeps_within_capacity"
    HAS_TOPIC_LEADERS = "has_topic_leaders"
    BROKER_FURTHER_OFF = "broker_further_off"
    OFF_ONLY_TOGETHER = "off_only_together"
    NO_LOAD_CHANGES = "no_load_changes"
    KEEPS_TOO_FEW_REPLICAS = "keeps_too_few_replicas"
    KEEPS_TOO_MANY_REPLICAS = "keeps_too_many_replicas"
    SHARES_RACK = "shares_rack"
    STAYS_ON_FORBIDDEN_BROKER = "stays_on_forbidden_broker"
    STAYS_OFFLINE = "stays_offline"
    STAYS_ON_BROKER = "stays_on_broker"
    GOES_ON_LEADING = "goes_on_leading"
    LOSES_LEADER_AT_ELECTION = "loses_leader_at_election"
    TAKES_OVER_TOO_MUCH = "takes_over_too_much"
    ABOVE_CAPACITY = "above_capacity"
    LEADS_TOO_FEW = "leads_too_few"

    # What each broker gives and gets, and what must still be true when a plan is executed.
    BROKER_CHANGES = "broker_changes"
    REPLICAS_AS_PLANNED = "replicas_as_planned"
    BROKERS_ALIVE = "brokers_alive"
    KEPT_REPLICAS_IN_SYNC = "kept_replicas_in_sync"
    ADDED_BROKERS_JOINED = "added_brokers_joined"
    FREE_DISK_LEFT = "free_disk_left"
    BALANCER_STOPPED = "balancer_stopped"
    VERDICT_HOLDS = "verdict_holds"

    # Why something moves, or nothing does.
    REPLICAS_MUST_LEAVE_BROKER = "replicas_must_leave_broker"
    REPLICAS_ON_OFFLINE_DIRS = "replicas_on_offline_dirs"
    REPLICAS_OUTSIDE_TOPIC_BROKERS = "replicas_outside_topic_brokers"
    REPLICATION_FACTOR_DIFFERS = "replication_factor_differs"
    RACKS_UNUSED = "racks_unused"
    DEMOTED_BROKER_LEADS = "demoted_broker_leads"
    DEMOTED_BROKER_IS_PREFERRED = "demoted_broker_is_preferred"
    WAITS_FOR_SYNC = "waits_for_sync"
    REASSIGNMENT_FILLS_BROKER = "reassignment_fills_broker"
    ALL_INSIDE_BAND = "all_inside_band"
    ALL_WITHIN_DEAD_BAND = "all_within_dead_band"
    BROKERS_OUTSIDE_BAND = "brokers_outside_band"
    BAND_WIDENED = "band_widened"
    BAND_NOT_MET = "band_not_met"
    DOES_NOT_PAY = "does_not_pay"
    BUDGET_ALLOWS_NOTHING = "budget_allows_nothing"
    BUDGET_CUTS_SHORT = "budget_cuts_short"
    REST_NEEDS_MORE_BUDGET = "rest_needs_more_budget"
    LEAST_IMBALANCE_IN_BUDGET = "least_imbalance_in_budget"
    IMBALANCE_CHANGES = "imbalance_changes"
    WAITS_FOR_ELECTION = "waits_for_election"
    PREFERRED_REPLICAS_ELECTED = "preferred_replicas_elected"
    ELECTION_LESS_EVEN = "election_less_even"
    BOUNDS_OF_WIDENED_BANDS = "bounds_of_widened_bands"
    THROTTLE_RAISED = "throttle_raised"
    LONGER_THAN_VALID = "longer_than_valid"
    MOVES_WITHOUT_ROOM = "moves_without_room"
    FOLLOWERS_REORDERED = "followers_reordered"
    LOSSES_SURVIVED = "losses_survived"
    CHANGED_TO_SURVIVE = "changed_to_survive"
    TOPIC_LEADERS_KEPT = "topic_leaders_kept"
    TOPIC_LEADERS_FEWER_THAN_ASKED = "topic_leaders_fewer_than_asked"
    TOPIC_LEADERS_ASKED_OF_NONE = "topic_leaders_asked_of_none"
    CHANGED_FOR_TOPIC_LEADERS = "changed_for_topic_leaders"
    PLAN_CONFIRMED = "plan_confirmed"
    PLAN_CONTINUED = "plan_continued"
    BOUND_OF_VERIFIER = "bound_of_verifier"
    PART_NOT_VERIFIED = "part_not_verified"

    # Why a band is not met.
    BAND_GIVES_WAY = "band_gives_way"
    PARTITION_ABOVE_BAND = "partition_above_band"
    ALL_PARTITIONS_ABOVE_BAND = "all_partitions_above_band"
    IMMOVABLE_ABOVE_BAND = "immovable_above_band"
    MOSTLY_IMMOVABLE = "mostly_immovable"
    NOTHING_MOVABLE = "nothing_movable"
    NO_OTHER_LEADER = "no_other_leader"
    TOO_FEW_RECEIVERS = "too_few_receivers"
    DISKS_FULL = "disks_full"
    COUNT_BAND_BINDS = "count_band_binds"
    NOTHING_NEARER_FOUND = "nothing_nearer_found"

    # Points of the frontier.
    POINT_IN_BUDGET = "point_in_budget"
    POINT_AS_ASKED = "point_as_asked"
    POINT_CHEAP = "point_cheap"
    POINT_KNEE = "point_knee"
    POINT_EVEN = "point_even"

    # Why the plan cannot tell whether something has to move.
    SNAPSHOT_TOO_OLD = "snapshot_too_old"
    NO_BROKER_SEEN = "no_broker_seen"
    NO_BROKER_ANSWERS = "no_broker_answers"
    NO_PARTITION_SEEN = "no_partition_seen"
    NO_PARTITION_USABLE = "no_partition_usable"
    RIGHT_MISSING = "right_missing"
    TOPICS_MAY_BE_HIDDEN = "topics_may_be_hidden"
    TOPICS_NOT_DESCRIBED = "topics_not_described"
    MAY_BE_OUTSIDE_BAND = "may_be_outside_band"
    LEADERLESS_ON_GONE_BROKER = "leaderless_on_gone_broker"
    RESOURCE_LEFT_OUT = "resource_left_out"
    OF_WHAT_WAS_SEEN = "of_what_was_seen"

    # Why a resource is left out.
    FIGURE_NOT_MEASURED = "figure_not_measured"
    FIGURE_KNOWN_FOR_FEW = "figure_known_for_few"
    RESTS_ON_UNKNOWN_FIGURE = "rests_on_unknown_figure"
    REPLICAS_STAY = "replicas_stay"

    # What is unusual about a cluster, and how the plan treats it.
    BROKER_UNRESPONSIVE = "broker_unresponsive"
    CORDONED_GETS_NOTHING = "cordoned_gets_nothing"
    ONLY_BROKER = "only_broker"
    BROKERS_WITHOUT_RACK = "brokers_without_rack"
    MORE_REPLICAS_THAN_RACKS = "more_replicas_than_racks"
    RACK_EMPTY = "rack_empty"
    DISKS_DIFFER = "disks_differ"
    ALL_PARTITIONS_EMPTY = "all_partitions_empty"
    CAPACITY_ASSUMED_MEAN = "capacity_assumed_mean"
    CAPACITIES_ASSUMED_EQUAL = "capacities_assumed_equal"
    PARTITIONS_LEFT_ALONE = "partitions_left_alone"
    PARTITIONS_UNDER_REPLICATED = "partitions_under_replicated"
    OUT_OF_SYNC_REPLICA_LEAVES = "out_of_sync_replica_leaves"
    FACTOR_AT_MIN_ISR = "factor_at_min_isr"
    PATTERN_MATCHES = "pattern_matches"
    MORE_PATTERNS = "more_patterns"
    BALANCER_MAY_INTERFERE = "balancer_may_interfere"
    COPIES_BETWEEN_DIRS = "copies_between_dirs"
    THROTTLES_SET = "throttles_set"
    HOURS_OUTSIDE_BAND = "hours_outside_band"

    # Why no plan keeps every hard rule.
    FACTOR_ABOVE_BROKERS = "factor_above_brokers"
    TOO_FEW_BROKERS = "too_few_brokers"
    IMMOVABLE_ON_LEAVING_BROKER = "immovable_on_leaving_broker"
    SIZES_UNKNOWN = "sizes_unknown"
    DISKS_TOO_SMALL = "disks_too_small"
    DISKS_LACK_ROOM = "disks_lack_room"
    COPY_TOO_LARGE = "copy_too_large"
    LIMITS_TOO_LOW = "limits_too_low"
    NO_ROOM_FOR_REPLICA = "no_room_for_replica"
    PARTITION_ABOVE_LIMIT = "partition_above_limit"
    BROKER_ABOVE_CAP = "broker_above_cap"
    BROKER_ABOVE_CAPACITY = "broker_above_capacity"
    BUDGET_TOO_SMALL = "budget_too_small"
    HOURS_TOO_FEW = "hours_too_few"
    LOSS_NOT_SURVIVED = "loss_not_survived"
    TOPIC_LEADERS_LACKING = "topic_leaders_lacking"
    TOPIC_LEADERS_BREAK_LIMITS = "topic_leaders_break_limits"
    DIR_NOT_EMPTIED = "dir_not_emptied"
    DIR_HOLDS_IMMOVABLE = "dir_holds_immovable"
    DIR_MOVES_WITHOUT_ROOM = "dir_moves_without_room"

    # What would help.
    LOWER_FACTOR = "lower_factor"
    ADD_BROKERS = "add_brokers"
    ADD_DISK = "add_disk"
    ADD_BROKER_OR_DISK = "add_broker_or_disk"
    LET_MOVE = "let_move"
    LIMIT_MOVES_OR_GIVE_SIZES = "limit_moves_or_give_sizes"
    RAISE_LIMIT = "raise_limit"
    LOWER_HEADROOM = "lower_headroom"
    RAISE_BUDGET = "raise_budget"
    RAISE_HOURS = "raise_hours"
    ADD_CAPACITY = "add_capacity"
    ASK_FEWER_LEADERS = "ask_fewer_leaders"
    RAISE_CAP_OR_HOURS = "raise_cap_or_hours"
    FREE_DIR = "free_dir"
    WAIT_FOR_DIR_MOVES = "wait_for_dir_moves"

    # Plans between log dirs.
    DIRS_MOVE = "dirs_move"
    DIRS_AS_ASKED = "dirs_as_asked"
    DIR_STAYS_OUTSIDE = "dir_stays_outside"
    DIRS_LEFT_OUT = "dirs_left_out"
    DISK_SIZES_UNKNOWN = "disk_sizes_unknown"
    DIRS_NOT_KNOWN = "dirs_not_known"
    EMPTIES_DIR = "empties_dir"
    EVENS_DISKS = "evens_disks"

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

    # What a snapshot lacks of a subject (``snapshot.coverage``).
    LACKS_RIGHT = "lacks_right"
    LACKS_PLACEMENT = "lacks_placement"
    LACKS_EVERYTHING = "lacks_everything"
    LACKS_REST = "lacks_rest"
    LACKS_PARTS = "lacks_parts"
    LACKS_ANSWER_FOR_CLUSTER = "lacks_answer_for_cluster"
    LACKS_LATER_CHANGES = "lacks_later_changes"
    LACKS_TIME = "lacks_time"
    LACKS_FILE = "lacks_file"
    LACKS_LAST_LINE = "lacks_last_line"
    LACKS_FENCED_BROKERS = "lacks_fenced_brokers"
    LACKS_CONTROLLER = "lacks_controller"
    LACKS_FEATURES = "lacks_features"
    LACKS_QUOTAS = "lacks_quotas"
    LACKS_CONFIGS = "lacks_configs"
    LACKS_RACKS = "lacks_racks"
    LACKS_LIVENESS = "lacks_liveness"
    LACKS_LOG_DIRS = "lacks_log_dirs"
    LACKS_LOG_DIR = "lacks_log_dir"
    LACKS_SIZES = "lacks_sizes"
    LACKS_SIZES_AND_OFFSETS = "lacks_sizes_and_offsets"
    LACKS_REPLICA_SIZE = "lacks_replica_size"
    LACKS_OFFLINE_REPLICA = "lacks_offline_replica"
    LACKS_REASSIGNMENTS = "lacks_reassignments"
    LACKS_LEADERS = "lacks_leaders"
    LACKS_ELIGIBLE_LEADERS = "lacks_eligible_leaders"
    LACKS_DESCRIPTION = "lacks_description"
    LACKS_ALL_BUT_SIZE = "lacks_all_but_size"
    LACKS_PARTITIONS = "lacks_partitions"
    LACKS_OFFSETS = "lacks_offsets"
    LACKS_OFFSETS_OF_PARTITIONS = "lacks_offsets_of_partitions"
    LACKS_START_OFFSETS = "lacks_start_offsets"
    LACKS_END_OFFSETS = "lacks_end_offsets"
    LACKS_LOCAL_START_OFFSETS = "lacks_local_start_offsets"
    LACKS_KIND_OF_OFFSETS = "lacks_kind_of_offsets"
    LACKS_RATES = "lacks_rates"
    LACKS_LOAD = "lacks_load"
    LACKS_METRICS = "lacks_metrics"
    LACKS_HOURS = "lacks_hours"
    LACKS_GROUPS = "lacks_groups"
    LACKS_GROUPS_OF_BROKER = "lacks_groups_of_broker"
    LACKS_GROUP = "lacks_group"
    LACKS_GROUP_NAME = "lacks_group_name"
    LACKS_GROUP_STATE = "lacks_group_state"
    LACKS_MEMBERS = "lacks_members"
    LACKS_MEMBERS_OF_GROUPS = "lacks_members_of_groups"
    LACKS_IDLE_MEMBERS = "lacks_idle_members"
    LACKS_ASSIGNMENT = "lacks_assignment"
    LACKS_SUBSCRIPTION = "lacks_subscription"
    LACKS_COMMITS = "lacks_commits"
    LACKS_COMMIT = "lacks_commit"
    LACKS_COMMITS_OF_GROUPS = "lacks_commits_of_groups"
    LACKS_LAG = "lacks_lag"
    LACKS_ADVICE = "lacks_advice"

    # Why it lacks that: what a broker, a tool or a server said.
    AS_REPORTED = "as_reported"
    KAFKA_ERROR = "kafka_error"
    REQUEST_FAILED = "request_failed"
    BROKER_UNHEARD = "broker_unheard"
    BROKER_IS_FENCED = "broker_is_fenced"
    BROKER_NOT_REGISTERED = "broker_not_registered"
    BROKER_JOINED_LATE = "broker_joined_late"
    BROKER_LEFT_EARLY = "broker_left_early"
    NO_ANSWER_IN_TIME = "no_answer_in_time"
    NO_CONNECTION_IN_TIME = "no_connection_in_time"
    NO_ADDRESS = "no_address"
    HOST_NOT_RESOLVED = "host_not_resolved"
    DEADLINE_PASSED = "deadline_passed"
    NO_BROKER_LEFT_TO_ASK = "no_broker_left_to_ask"
    BROKERS_DO_NOT_TELL = "brokers_do_not_tell"
    RIGHT_NOT_HELD = "right_not_held"
    RIGHT_NOT_TOLD = "right_not_told"

    # Why it lacks that: what changed, or is in an odd state.
    OF_PARTITIONS = "of_partitions"
    CHANGED_WHILE_READ = "changed_while_read"
    CHANGED_AGAIN = "changed_again"
    NOT_TOLD_AGAIN = "not_told_again"
    DELETED_WHILE_READ = "deleted_while_read"
    BEING_DELETED = "being_deleted"
    REPLICA_IS_OFFLINE = "replica_is_offline"
    LOG_DIR_IS_OFFLINE = "log_dir_is_offline"
    NO_LEADER = "no_leader"
    OFFSETS_TOPIC_LEADERLESS = "offsets_topic_leaderless"
    GROUPS_NOT_LISTED = "groups_not_listed"
    GROUP_VANISHED = "group_vanished"
    GROUP_REBALANCING = "group_rebalancing"
    GROUP_TYPE_NOT_READ = "group_type_not_read"
    TOPIC_ON_DISK = "topic_on_disk"
    TOPIC_NAMED_BY_GROUP = "topic_named_by_group"
    COMMITS_OUTSIDE_LOG = "commits_outside_log"
    MORE_THAN_A_PAGE = "more_than_a_page"

    # Why it lacks that: what dumps do not hold.
    NOT_IN_REASSIGNMENT = "not_in_reassignment"
    NO_DUMP = "no_dump"
    NO_DUMP_OF_TOPICS = "no_dump_of_topics"
    PARTITIONS_NOT_SHOWN = "partitions_not_shown"
    PARTITIONS_NOT_IN_DUMP = "partitions_not_in_dump"
    REPLICAS_NOT_IN_DIRS = "replicas_not_in_dirs"
    BROKER_NOT_IN_DUMP = "broker_not_in_dump"
    TOPIC_NOT_IN_DUMP = "topic_not_in_dump"
    ZNODE_MISSING = "znode_missing"
    ZNODES_WITHOUT_STATES = "znodes_without_states"
    BROKER_NOT_LISTED = "broker_not_listed"
    BROKERS_HAVE_NO_RACK = "brokers_have_no_rack"
    FILE_LEFT_OUT = "file_left_out"
    FILE_EMPTY = "file_empty"
    FILE_CUT = "file_cut"
    OFFSETS_OF_OTHER_TIME = "offsets_of_other_time"
    OFFSETS_KIND_UNKNOWN = "offsets_kind_unknown"
    OFFSETS_KIND_GUESSED = "offsets_kind_guessed"
    OFFSETS_MISNAMED = "offsets_misnamed"
    OFFSETS_UNDECIDED = "offsets_undecided"
    END_OFFSETS_DISAGREE = "end_offsets_disagree"
    END_OFFSETS_OLDER = "end_offsets_older"
    GROUP_NAMED_BY_FILE = "group_named_by_file"
    MEMBER_COUNTS_DIFFER = "member_counts_differ"
    OWNERS_NOT_MEMBERS = "owners_not_members"
    LAGS_DIFFER = "lags_differ"
    READER_NOT_MEMBER = "reader_not_member"
    ASSIGNMENTS_DIFFER = "assignments_differ"
    ASSIGNMENT_NOT_SHOWN = "assignment_not_shown"

    # Why it lacks that: what was not measured.
    RETENTION_NOT_SEEN = "retention_not_seen"
    GROUPS_MAY_BE_HIDDEN = "groups_may_be_hidden"
    GROUP_READS_UNSEEN = "group_reads_unseen"
    HOURS_NOT_MEASURED = "hours_not_measured"
    NO_SERIES = "no_series"
    SPLIT_NOT_SURE = "split_not_sure"
    SOURCES_WITHOUT_BROKER = "sources_without_broker"
    LEFT_OUT_BY_CHECKS = "left_out_by_checks"

    # Gates, runs.


class BoundProof(StrEnum):
    """How the lower bound of a cost is proved."""

    NOTHING_MOVES = "nothing_moves"
    FORCED_COPIES = "forced_copies"
    PRICES_ABOVE_BANDS = "prices_above_bands"
    PRICES_BELOW_BANDS = "prices_below_bands"
    LINEAR_PROGRAM = "linear_program"
    LINEAR_PROGRAM_WITH_COVERS = "linear_program_with_covers"
    DUAL_ASCENT = "dual_ascent"
    COUNTED_LEADERS = "counted_leaders"
    COUNTED_REPLICAS = "counted_replicas"
    PRICES_OF_MOVES = "prices_of_moves"
    BUSIEST_BROKER = "busiest_broker"
    FORCED_READS = "forced_reads"
    EMPTIEST_DISK = "emptiest_disk"
    BYTES_OVER_RECEIVERS = "bytes_over_receivers"
    BY_VERIFIER = "by_verifier"


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact. ``args`` holds plain JSON values, tuples of them, and facts."""

    code: FactCode
    args: Mapping[str, Any] = field(default_factory=dict)

    def __hash__(self) -> int:
        return hash(repr(self.document()))

    def __str__(self) -> str:
        """Return code and arguments, for logs and for errors that nothing renders."""
        return self.code.value + (f"({', '.join(_named(*item) for item in self.args.items())})" if self.args else "")

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


def _named(name: str, value: Any) -> str:
    return f"{name}={_shown(value)}"


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_shown, value))}]"
    return str(value) if isinstance(value, Fact) else repr(value)


def _plain(value: Any) -> Any:
    if isinstance(value, Fact):
        return value.document()
    return [_plain(part) for part in value] if isinstance(value, (tuple, list)) else value


def _typed(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_typed(part) for part in value)
    is_fact = isinstance(value, Mapping) and value.keys() == {"code", "args"}
    return Fact.from_document(value) if is_fact else value
