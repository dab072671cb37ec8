"""The public views that the page reads, with the columns it uses (a test asks the database for each of them)."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ARRAY, Integer, TableClause, Text, column, table
from sqlalchemy.types import TypeEngine

_ARRAYS: dict[str, TypeEngine[Any]] = {
    "from_replicas": ARRAY(Integer),
    "to_replicas": ARRAY(Integer),
    "replicas": ARRAY(Integer),
    "isr": ARRAY(Integer),
}
_TEXTS = frozenset({"topic", "group_id", "subject", "cluster", "run_id", "member_id", "kind", "document"})


def view(name: str, columns: str) -> TableClause:
    """A view and the columns that are read, separated by blanks."""
    return table(name, *(column(part, _type_of(part)) for part in columns.split()), schema="advisor")


def _type_of(name: str) -> TypeEngine[Any] | None:
    return _ARRAYS.get(name) or (Text() if name in _TEXTS else None)


CLUSTER = view(
    "cluster_latest",
    "cluster started_at run_id verdict plan_id snapshot_captured_at age_seconds newest_snapshot_captured_at"
    " broker_count topic_count partition_count group_count gap_count excluded_resource_count worst_broker"
    " worst_resource worst_skew critical_count high_count finding_count replica_moves bytes leader_changes",
)
APPLICATION = view("plan_application", "cluster run_id application_id state message answered_by answered_at")
FINDING = view(
    "finding",
    "cluster run_id rank code severity subject_type subject evidence recommendation_code recommendation_args team"
    " channel tier muted_until mute_reason",
)
COVERAGE = view("coverage_latest", "cluster subject_type subject missing_code missing_args reason_code reason_args")
PLAN = view(
    "plan",
    "cluster started_at run_id plan_id verdict reasons expires_at replica_moves bytes leader_changes seconds document",
)
PLAN_BROKER = view("plan_broker", "cluster run_id broker resource load_before load_after capacity")
PLAN_RESOURCE = view(
    "plan_resource",
    "cluster run_id resource unit source mean_level band_asked_low band_asked_high widened_low widened_high"
    " skew_before skew_after exclusion_reason_code exclusion_reason_args",
)
BOUND = view("plan_bound", "cluster run_id cost value gap proof")
WAVE = view("wave", "cluster run_id direction wave move_count bytes seconds")
MOVE = view(
    "move",
    "cluster run_id position topic partition from_replicas to_replicas leader_from leader_to kind bytes wave"
    " reason_code reason_args",
)
BROKER = view("broker_latest", "cluster broker rack host port state is_controller")
BROKER_SCORE = view(
    "broker_score_latest", "cluster broker rack resource unit load capacity level level_to_mean_ratio fair_share source"
)
DISK = view(
    "broker_disk_forecast",
    "cluster broker used_bytes total_bytes used_ratio growth_bytes_per_day reaches_85_percent_at"
    " reaches_85_percent_at_with_plan days_of_history outlook",
)
TOPIC_CHANGE = view(
    "broker_topic_change", "cluster broker topic earlier_captured_at bytes_earlier bytes_now bytes_change"
)
TOPIC = view("topic_latest", "cluster topic is_internal partition_count")
TOPIC_SCORE = view(
    "topic_score_latest",
    "cluster topic placer seed replica_skew leader_skew replica_moves bytes_to_move rack_violations",
)
PARTITION = view("partition_latest", "cluster topic partition replicas leader isr log_bytes")
LOAD = view("load_latest", "cluster topic partition log_bytes in_bytes_per_s out_bytes_per_s")
GROUP = view("consumer_group_latest", "cluster group_id type protocol state member_count coordinator")
GROUP_SCORE = view(
    "group_score_latest",
    "cluster group_id assignor version scenario is_current is_recommended members idle_members partitions skew_count"
    " skew_rate partitions_moved drain_seconds members_falling_behind is_reproduced error subject longest_pause_ms"
    " partitions_unread least_skew_rate",
)
GROUP_DRAIN = view(
    "group_drain_latest",
    "cluster group_id current_assignor recommended_assignor drain_seconds recommended_drain_seconds gain_seconds"
    " skew_rate recommended_skew_rate partitions_moved members_falling_behind recommended_members_falling_behind",
)
GROUP_LAG = view("group_lag_latest", "cluster group_id topic partitions lag_messages max_lag_messages")
MEMBER_SCORE = view(
    "member_score_latest",
    "cluster group_id assignor is_current is_recommended member_id instance_id rack partitions in_bytes_per_s"
    " lag_messages drain_seconds is_falling_behind",
)
ATTEMPT = view("run_attempt", "cluster run_id state attempted_at published_at duration_seconds failed_task failure")
OUTCOME = view(
    "plan_outcome",
    "cluster run_id started_at resource skew_before skew_predicted skew_measured move_count applied_count",
)
SKEW_DAY = view("skew_by_day", "cluster period_start resource skew highest_skew worst_broker")
ALL = (
    CLUSTER, APPLICATION, FINDING, COVERAGE, PLAN, PLAN_BROKER, PLAN_RESOURCE, BOUND, WAVE, MOVE, BROKER, BROKER_SCORE,
    DISK, TOPIC_CHANGE, TOPIC, TOPIC_SCORE, PARTITION, LOAD, GROUP, GROUP_SCORE, GROUP_DRAIN, GROUP_LAG, MEMBER_SCORE,
    ATTEMPT, OUTCOME, SKEW_DAY,
)  # fmt: skip
