"""Views that answer one question each: trends, changes from run to run, plans against what became of them."""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, Double, Integer, Text
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

from rebalance_advisor.store.schema.contract.define import MOMENT, of_advisory, view

_STATES = (
    "applied, placed (leader not elected yet), moving, open (nothing has happened), elsewhere (moved by somebody else) "
    "or gone."
)

ADVICE_BASIS_LATEST = view(
    "advice_basis_latest",
    "What in the newest published advisory rests on estimated or missing data; one row each.",
    *of_advisory(),
    Column(
        "kind",
        Text(),
        comment="finding (rests on estimates), resource (left out), load (estimated or partly unknown), gap "
        "(not read) or quarantine.",
    ),
    Column("subject", Text(), comment="Which one."),
    Column("reason", Text(), comment="Why, as a code (resource, gap, quarantine) or in words."),
)

BROKER_DISK_FORECAST = view(
    "broker_disk_forecast",
    "When each broker's fullest volumes together reach 85 %, as things are and after the newest plan.",
    Column("time", MOMENT, comment="When the cluster was read last."),
    Column("cluster", Text(), comment="Name of the cluster, as clusters.toml or the snapshot gives it."),
    Column("broker", Integer(), comment="Broker id."),
    Column("rack", Text(), comment="Rack."),
    Column("used_bytes", Double(), comment="Bytes used on its volumes, by whomever."),
    Column("total_bytes", Double(), comment="Size of its volumes."),
    Column("used_ratio", Double(), comment="Share that is used."),
    Column(
        "growth_bytes_per_day", Double(), comment="Straight line over the last 14 days; NULL with fewer than two days."
    ),
    Column("days_of_history", BigInteger(), comment="Days that the line rests on."),
    Column(
        "reaches_85_percent_at",
        MOMENT,
        comment="Without the plan; the reading's own time where it is there already, NULL: not within a "
        "hundred years, or not known.",
    ),
    Column(
        "used_bytes_with_plan",
        Double(),
        comment="Bytes used after the newest plan; NULL where it does not balance disk.",
    ),
    Column("reaches_85_percent_at_with_plan", MOMENT, comment="The same after the newest plan."),
    Column(
        "basis",
        Text(),
        comment="volumes (their sizes were read), or replicas (what they hold, of a disk as large as somebody wrote).",
    ),
    Column(
        "outlook",
        Text(),
        comment="full (85 % is reached), filling, not_growing, or unknown (fewer than two days of readings).",
    ),
)

BROKER_TOPIC_CHANGE = view(
    "broker_topic_change",
    "Bytes of each topic on each broker now and about a week ago.",
    Column("time", MOMENT, comment="When the cluster was read last."),
    Column("cluster", Text(), comment="Name of the cluster, as clusters.toml or the snapshot gives it."),
    Column("since", MOMENT, comment="The earlier reading; NULL where this is the only one that is kept."),
    Column("broker", Integer(), comment="Broker id."),
    Column("topic", Text(), comment="Topic."),
    Column("bytes_now", BigInteger(), comment="Bytes of its replicas there now; NULL where a size is unknown."),
    Column("bytes_then", BigInteger(), comment="Bytes of its replicas there then."),
    Column("bytes_change", BigInteger(), comment="Growth; negative where it shrank or left."),
    Column(
        "replicas_now", BigInteger(), comment="Its replicas there now: where they changed, it moved or was resized."
    ),
    Column("replicas_then", BigInteger(), comment="Its replicas there then."),
    Column(
        "basis",
        Text(),
        comment="What it is compared with: a_week (a reading at least that old), all_that_is_kept (the oldest, younger "
        "than that) or only_reading (nothing).",
    ),
)

CLUSTER_LATEST = view(
    "cluster_latest",
    "One line a cluster: the newest published advisory in short.",
    Column("time", MOMENT, comment="When the advisory was started."),
    Column("cluster", Text(), comment="Name of the cluster, as clusters.toml or the snapshot gives it."),
    Column("run_id", Text(), comment="The newest published advisory."),
    Column("verdict", Text(), comment="rebalance, nothing_to_do, cannot_tell, infeasible or not_fixable_by_moving."),
    Column("plan_id", Text(), comment="sha256 of plan.json."),
    Column("snapshot_time", MOMENT, comment="When the cluster was read for it."),
    Column("age_seconds", Double(), comment="Age of that reading now."),
    Column("newest_snapshot_time", MOMENT, comment="The newest reading of the cluster, advised on or not."),
    Column("broker_count", Integer(), comment="Brokers."),
    Column("topic_count", Integer(), comment="Topics."),
    Column("partition_count", Integer(), comment="Partitions."),
    Column("group_count", Integer(), comment="Groups."),
    Column("gap_count", Integer(), comment="Things that could not be read."),
    Column("left_out_count", BigInteger(), comment="Resources left out of advice because nobody measured them."),
    Column("worst_broker", Integer(), comment="Broker with the highest level over the mean, over all resources."),
    Column("worst_resource", Text(), comment="Resource of that."),
    Column("worst_skew", Double(), comment="How many times the mean that is."),
    Column("critical_count", BigInteger(), comment="Open findings of severity critical."),
    Column("high_count", BigInteger(), comment="Open findings of severity high."),
    Column("finding_count", BigInteger(), comment="Findings worse than info."),
    Column("replica_moves", Integer(), comment="Replica moves of the plan."),
    Column("bytes", BigInteger(), comment="Bytes of the plan; NULL where sizes are unknown."),
    Column("leader_changes", Integer(), comment="Leader changes of the plan."),
)

FINDING_CHANGE = view(
    "finding_change",
    "Findings of the newest published advisory against the one before, and those that are gone since.",
    Column("time", MOMENT, comment="When the advisory was started."),
    Column("cluster", Text(), comment="Name of the cluster, as clusters.toml or the snapshot gives it."),
    Column("finding_key", Text(), comment="The same for the same trouble in every advisory."),
    Column("code", Text(), comment="Kind of trouble."),
    Column("severity", Text(), comment="Severity when last seen."),
    Column("subject_type", Text(), comment="Kind of subject."),
    Column("subject", Text(), comment="Which one."),
    Column(
        "change", Text(), comment="new, persisting, resolved, or reopened (seen before, not in the advisory before)."
    ),
    Column("first_seen", MOMENT, comment="First published advisory with it."),
    Column("times_seen", BigInteger(), comment="Published advisories with it."),
)

GROUP_DRAIN_LATEST = view(
    "group_drain_latest",
    "Groups of the newest published advisory: assignor of today against the advised one, by drain time and skew.",
    Column("time", MOMENT, comment="When the advisory was started."),
    Column("cluster", Text(), comment="Name of the cluster, as clusters.toml or the snapshot gives it."),
    Column("group_id", Text(), comment="Group."),
    Column("current_assignor", Text(), comment="Strategy of today."),
    Column("advised_assignor", Text(), comment="Advised strategy; NULL: keep it."),
    Column("drain_seconds", Double(), comment="Time until today's lag is gone as it is; NULL: unknown, never."),
    Column("advised_drain_seconds", Double(), comment="The same with the advised strategy."),
    Column("gain_seconds", Double(), comment="What that saves."),
    Column("skew_rate", Double(), comment="Skew of rates today."),
    Column("advised_skew_rate", Double(), comment="Skew of rates with the advised strategy."),
    Column("partitions_moved", BigInteger(), comment="Partitions that change their member once."),
    Column("members_falling_behind", Integer(), comment="Members whose lag is never gone; NULL: unknown."),
    Column("advised_members_falling_behind", Integer(), comment="The same with the advised strategy."),
    Column(
        "outlook",
        Text(),
        comment="Today's lag: no_lag, drains, never (some fall behind), no_members, or unknown (no rates of reading).",
    ),
)

GROUP_REBALANCE_LATEST = view(
    "group_rebalance_latest",
    "Groups of the newest reading: rebalances of the last seven days, and members that read nothing.",
    Column("time", MOMENT, comment="When the cluster was read."),
    Column("cluster", Text(), comment="Name of the cluster, as clusters.toml or the snapshot gives it."),
    Column("group_id", Text(), comment="Group."),
    Column("state", Text(), comment="State."),
    Column("members", Integer(), comment="Members."),
    Column(
        "idle_members",
        BigInteger(),
        comment="Members without a partition; NULL where the source does not show each member.",
    ),
    Column(
        "rebalances_7d", BigInteger(), comment="Growth of the generation over seven days; NULL with a single reading."
    ),
    Column("generation", Integer(), comment="Generation now."),
    Column("type", Text(), comment="classic, consumer, share, streams or unknown."),
)

MOVE_STANDING_LATEST = view(
    "move_standing_latest",
    "Moves of the newest plan: since when they are advised without a break, and whether the newest reading shows "
    "them done.",
    Column("time", MOMENT, comment="When the advisory was started."),
    Column("cluster", Text(), comment="Name of the cluster, as clusters.toml or the snapshot gives it."),
    Column("topic", Text(), comment="Topic."),
    Column("partition", Integer(), comment="Partition."),
    Column("to_replicas", ARRAY(Integer()), comment="Where the plan wants it."),
    Column("replicas_now", ARRAY(Integer()), comment="Where the newest reading shows it."),
    Column("bytes", BigInteger(), comment="Bytes that it copies."),
    Column("advised_since", MOMENT, comment="First of the consecutive advisories that advise it."),
    Column("advisories", BigInteger(), comment="How many consecutive advisories advise it."),
    Column("is_applied", Boolean(), comment="The newest reading shows target and leader."),
    Column("state", Text(), comment=f"What the newest reading shows: {_STATES}"),
)

PLAN_APPLICATION = view(
    "plan_application",
    "Each time that somebody was asked to carry a plan out: the answer, the check before, the outcome after.",
    Column("time", MOMENT, comment="When it was asked."),
    Column("cluster", Text(), comment="Name of the cluster, as clusters.toml or the snapshot gives it."),
    Column("run_id", Text(), comment="The advisory whose plan it is."),
    Column("plan_id", Text(), comment="sha256 of plan.json."),
    Column("application_id", Text(), comment="Which time: the run of apply_NAME in Airflow."),
    Column(
        "state",
        Text(),
        comment="asked, approved, rejected, timed_out, refused (holds no more), verified, partly_applied, "
        "not_applied or moved_by_others.",
    ),
    Column("words", Text(), comment="What that means, and what to do next."),
    Column("answered_at", MOMENT, comment="When somebody answered; NULL: nobody did."),
    Column("answered_by", Text(), comment="Who answered, as Airflow knows them."),
    Column("check_status", Text(), comment="What check said on a fresh reading after the answer; NULL: not asked."),
    Column("check_reasons", JSONB(), comment="Why: [{code, facts: [{code, args}, …]}, …]."),
    Column("commands_at", MOMENT, comment="When its commands were shown; NULL: they were not."),
    Column("verified_at", MOMENT, comment="When a reading afterwards was compared with the plan; NULL: not yet."),
    Column("move_count", Integer(), comment="Moves of the plan."),
    Column("applied_count", Integer(), comment="Moves that were done then, replicas and leader."),
    Column("placed_count", Integer(), comment="Moves whose replicas were there, their leader not elected."),
    Column("moving_count", Integer(), comment="Moves that were under way."),
    Column("open_count", Integer(), comment="Moves of which nothing had happened."),
    Column("elsewhere_count", Integer(), comment="Partitions that somebody else had moved, or was moving."),
    Column("gone_count", Integer(), comment="Partitions that were not there any more."),
    Column("short_isr", ARRAY(Text()), comment="Partitions of the plan that lacked a replica in sync."),
    Column("throttles", ARRAY(Text()), comment="Throttles that were left, subject and setting."),
    Column(
        "predicted_bytes", BigInteger(), comment="What the moves that were done were to copy, where sizes are known."
    ),
    Column("realised_bytes", BigInteger(), comment="What their new replicas held then."),
    Column("unsized_move_count", Integer(), comment="Moves that were done and left out of both: sizes are unknown."),
    Column("predicted_seconds", Double(), comment="The whole plan, wave after wave, at its throttle."),
    Column("realised_seconds", Double(), comment="How long it took; NULL: nobody knows."),
    Column("seconds_basis", Text(), comment="told (by whoever ran it) or at_most (since the commands were shown)."),
)

PLAN_OUTCOME = view(
    "plan_outcome",
    "Each published plan that moves something: how much of it is applied, and the skew it promised against the "
    "skew measured later.",
    *of_advisory(),
    Column("resource", Text(), comment="Balanced resource."),
    Column("skew_before", Double(), comment="Skew when it was advised."),
    Column("skew_predicted", Double(), comment="Skew that the plan promised."),
    Column(
        "skew_measured",
        Double(),
        comment="Skew in the newest advisory on a later reading, else in the newest reading; NULL until there is one.",
    ),
    Column("measured_at", MOMENT, comment="When that was read."),
    Column("move_count", BigInteger(), comment="Moves of the plan."),
    Column("applied_count", BigInteger(), comment="Moves that the newest reading shows done, replicas and leader."),
    Column("placed_count", BigInteger(), comment="Moves whose replicas are there, their leader not elected yet."),
    Column("moving_count", BigInteger(), comment="Moves that are under way."),
    Column("open_count", BigInteger(), comment="Moves of which nothing has happened."),
    Column("elsewhere_count", BigInteger(), comment="Partitions that somebody else moved, or is moving."),
    Column("gone_count", BigInteger(), comment="Partitions that are not there any more."),
    Column(
        "outcome",
        Text(),
        comment="applied (every move), partly_applied (some are, or are under way), moved_by_others, not_applied, or "
        "not_read_since (no reading is later than the plan's).",
    ),
)

PLAN_OVERLAP_LATEST = view(
    "plan_overlap_latest",
    "The newest plan of each cluster against the one published before it.",
    Column("time", MOMENT, comment="When the advisory was started."),
    Column("cluster", Text(), comment="Name of the cluster, as clusters.toml or the snapshot gives it."),
    Column("run_id", Text(), comment="The newest advisory."),
    Column("previous_run_id", Text(), comment="The one before; NULL where this is the first."),
    Column("move_count", BigInteger(), comment="Moves of the newest plan."),
    Column("previous_move_count", BigInteger(), comment="Moves of the plan before."),
    Column("same_move_count", BigInteger(), comment="Moves with the same partition and the same target."),
    Column(
        "same_ratio",
        Double(),
        comment="Share of the newest plan that equals the one before; 1 where neither moves anything.",
    ),
)

RACK_TRAFFIC_GROUP_LATEST = view(
    "rack_traffic_group_latest",
    "What each group reads from leaders in other racks, in the newest reading of each cluster; members without a "
    "rack are counted apart.",
    Column("time", MOMENT, comment="When the cluster was read."),
    Column("cluster", Text(), comment="Name of the cluster, as clusters.toml or the snapshot gives it."),
    Column("group_id", Text(), comment="Group."),
    Column("read_bytes_per_s", Double(), comment="All that its members read (known rates)."),
    Column("cross_rack_bytes_per_s", Double(), comment="From leaders in another rack."),
    Column("rack_unknown_bytes_per_s", Double(), comment="Where member or leader has no rack."),
)

RACK_TRAFFIC_TOPIC_LATEST = view(
    "rack_traffic_topic_latest",
    "Replication of each topic that crosses racks, in the newest reading of each cluster; NULL where rates or "
    "racks are unknown.",
    Column("time", MOMENT, comment="When the cluster was read."),
    Column("cluster", Text(), comment="Name of the cluster, as clusters.toml or the snapshot gives it."),
    Column("topic", Text(), comment="Topic."),
    Column("replication_bytes_per_s", Double(), comment="All replication of it."),
    Column("cross_rack_bytes_per_s", Double(), comment="Replication from a leader to a follower in another rack."),
)
