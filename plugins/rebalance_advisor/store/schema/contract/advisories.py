"""Views of what was advised: every published advisory, and the newest of each cluster."""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, Double, Integer, Text
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

from kafka_rebalance.resources import RESOURCES, in_a_sentence
from rebalance_advisor.store.schema.contract.define import MOMENT, of_advisory, view

_RESOURCE = f"{in_a_sentence(RESOURCES)}."

RUN = view(
    "run",
    "Published advisories; one row each.",
    Column("time", MOMENT, comment="When the advisory was started."),
    Column("cluster", Text(), comment="Name of the cluster, as clusters.toml or the snapshot gives it."),
    Column("run_id", Text(), comment="Stable id of the advisory."),
    Column("snapshot_id", Text(), comment="The reading it rests on."),
    Column("snapshot_time", MOMENT, comment="When the cluster was read."),
    Column("published_at", MOMENT, comment="When it became visible."),
    Column("parameters", JSONB(), comment="What was asked: tolerance, budgets, brokers, topics."),
    Column("seed", BigInteger(), comment="Seed of every random choice."),
    Column("advisor_version", Text(), comment="Version that made it."),
    Column("verdict", Text(), comment="rebalance, nothing_to_do, cannot_tell, infeasible or not_fixable_by_moving."),
    Column("plan_id", Text(), comment="sha256 of plan.json."),
    latest="The newest published advisory of each cluster.",
)

FINDING = view(
    "finding",
    "Findings of every published advisory; one row a finding.",
    *of_advisory(),
    Column("rank", Integer(), comment="1 is the first to look at."),
    Column("finding_key", Text(), comment="The same for the same trouble in every advisory."),
    Column("code", Text(), comment="Kind of trouble (registry of codes)."),
    Column("severity", Text(), comment="critical, high, medium, low, info or ok."),
    Column(
        "subject_type",
        Text(),
        comment="cluster, broker, rack, topic, partition, group, member, coordinator, partitioner or plan.",
    ),
    Column("subject", Text(), comment="Which one."),
    Column("evidence", JSONB(), comment="Numbers, with units in the keys."),
    Column("recommendation_code", Text(), comment="What to do (code of a fact); NULL: an earlier release wrote it."),
    Column("recommendation_args", JSONB(), comment="Arguments of that fact."),
    Column("cost_code", Text(), comment="What that costs (code of a fact); NULL: nothing to tell."),
    Column("cost_args", JSONB(), comment="Arguments of that fact."),
    Column("gain", Double(), comment="Share of the trouble that goes away (0 to 1)."),
    Column("confidence", Text(), comment="measured, given, estimated or structural."),
    Column("team", Text(), comment="Whose it is by the cluster's owners; NULL: no rule says."),
    Column("channel", Text(), comment="Where that team is told."),
    Column("tier", Integer(), comment="Tier of the subject, 0 to 9, as the team counts."),
    Column("muted_until", MOMENT, comment="End of the mute that it lies under; NULL: not muted."),
    Column("mute_reason", Text(), comment="Why it is muted."),
    latest="Findings of the newest published advisory of each cluster.",
)

BROKER_SCORE = view(
    "broker_score",
    "Load and level of each broker and resource, in every published advisory.",
    *of_advisory(),
    Column("broker", Integer(), comment="Broker id."),
    Column("rack", Text(), comment="Rack."),
    Column("resource", Text(), comment=_RESOURCE),
    Column("unit", Text(), comment="Unit of load and level: bytes, bytes/s, percent or count."),
    Column("load", Double(), comment="What it carries."),
    Column("capacity", Double(), comment="What it can carry; NULL where unknown, 1 is then used."),
    Column("level", Double(), comment="load / capacity."),
    Column("over_mean", Double(), comment="level / plain mean: the skew is the highest one."),
    Column(
        "fair_share", Double(), comment="Level that racks allow it; the plain mean unless racks keep it below or above."
    ),
    Column("source", Text(), comment="Where the load comes from."),
    Column("stays", Boolean(), comment="Part of the cluster after the plan: not dead, fenced or draining."),
    latest="Load and level of each broker and resource, of the newest published advisory of each cluster.",
)

RACK_SCORE = view(
    "rack_score",
    "Load and level of each rack and resource, in every published advisory.",
    *of_advisory(),
    Column("rack", Text(), comment="Rack."),
    Column("resource", Text(), comment=_RESOURCE),
    Column("unit", Text(), comment="Unit of load and level: bytes, bytes/s, percent or count."),
    Column("brokers", Integer(), comment="Brokers that stay in it."),
    Column("load", Double(), comment="What it carries."),
    Column("capacity", Double(), comment="What it can carry; NULL where unknown, 1 is then used."),
    Column("level", Double(), comment="load / capacity."),
    Column("over_mean", Double(), comment="level / plain mean: the skew is the highest one."),
    latest="Load and level of each rack and resource, of the newest published advisory of each cluster.",
)

RESOURCE_SCORE = view(
    "resource_score",
    "Skew of each resource over the whole cluster, in every published advisory.",
    *of_advisory(),
    Column("resource", Text(), comment=_RESOURCE),
    Column("unit", Text(), comment="Unit of load and level: bytes, bytes/s, percent or count."),
    Column("source", Text(), comment="Where the load comes from."),
    Column("known_share", Double(), comment="Share of partitions whose figure is known."),
    Column("total", Double(), comment="Load of all brokers that stay."),
    Column("plain_mean", Double(), comment="total / sum of capacities."),
    Column("skew", Double(), comment="Highest level / plain mean."),
    Column("worst_broker", Integer(), comment="Broker with that level."),
    latest="Skew of each resource over the whole cluster, of the newest published advisory of each cluster.",
)

TOPIC_SCORE = view(
    "topic_score",
    "Kafka's own placers re-run on each topic beside the placement of today, in every published advisory.",
    *of_advisory(),
    Column("topic", Text(), comment="Topic."),
    Column("placer", Text(), comment="current, or the placer that was re-run."),
    Column("seed", BigInteger(), comment="Seed of that re-run."),
    Column("replica_skew", Double(), comment="Skew of replica counts over brokers."),
    Column("leader_skew", Double(), comment="Skew of leader counts over brokers."),
    Column("disk_skew", Double(), comment="Skew of bytes over brokers; NULL where sizes are unknown."),
    Column("replica_moves", Integer(), comment="Replicas that differ from today."),
    Column("leader_changes", Integer(), comment="Preferred leaders that differ from today."),
    Column("bytes_to_move", BigInteger(), comment="Bytes that this would copy; NULL where sizes are unknown."),
    Column("rack_violations", Integer(), comment="Partitions with replicas in one rack though racks would suffice."),
    latest="Kafka's own placers re-run on each topic beside the placement of today, of the newest published "
    "advisory of each cluster.",
)

GROUP_SCORE = view(
    "group_score",
    "Each group under its own and under other assignors, in every published advisory.",
    *of_advisory(),
    Column("group_id", Text(), comment="Group."),
    Column("assignor", Text(), comment="Strategy."),
    Column("version", JSONB(), comment="Whose answer it is (a fact: code and args)."),
    Column("scenario", Text(), comment="today, or what was changed on purpose."),
    Column("is_current", Boolean(), comment="What the group does today."),
    Column("is_advised", Boolean(), comment="What it should do."),
    Column("members", Integer(), comment="Members."),
    Column("idle_members", Integer(), comment="Members that read nothing."),
    Column("partitions", Integer(), comment="Partitions."),
    Column("skew_count", Double(), comment="Skew of partition counts over members."),
    Column("skew_rate", Double(), comment="Skew of rates over members; NULL where unknown."),
    Column("skew_lag", Double(), comment="Skew of lag over members; NULL where unknown."),
    Column("partitions_moved", BigInteger(), comment="Partitions that change their member (or in the scenario)."),
    Column("moved_rate_ratio", Double(), comment="Share of the rate that changes its member."),
    Column("same_rack_ratio", Double(), comment="Share of what members with a rack read that has a replica there."),
    Column("drain_seconds", Double(), comment="Time until today's lag is gone; NULL where unknown, and where never."),
    Column("basis", Text(), comment="Where its subscriptions come from: given; all_alike or as_read: assumed."),
    Column(
        "is_reproduced",
        Boolean(),
        comment="The group's own strategy gives exactly today's assignment on that basis; NULL where it is "
        "not replayed.",
    ),
    Column("error", JSONB(), comment="Why there is no answer (a fact: code and args); scores are then NULL."),
    Column("type", Text(), comment="Type of the group; share and streams groups have no strategy to choose."),
    Column(
        "members_falling_behind",
        Integer(),
        comment="Members whose lag is never gone; NULL: unknown. 0 without drain_seconds: nobody reads what is left.",
    ),
    Column(
        "leader_in_rack_ratio", Double(), comment="As same_rack_ratio, of leaders alone: without a selector by rack."
    ),
    Column("subject", JSONB(), comment="What happens in the scenario (a fact): the variant that moves most."),
    Column("variants", Integer(), comment="How many variants of the scenario were tried, such as members that leave."),
    Column("mean_partitions_moved", Double(), comment="Partitions that change their member, over all variants."),
    Column("partitions_revoked", BigInteger(), comment="Partitions that members give up who live on."),
    Column("partitions_unread", BigInteger(), comment="Partitions that nobody reads for a while."),
    Column("longest_pause_ms", BigInteger(), comment="Longest of these pauses in ms; NULL where one has no end."),
    Column("unread_partition_ms", BigInteger(), comment="All these pauses together in ms."),
    Column("partitions_without_reader", Integer(), comment="Partitions that nobody reads at the end."),
    Column("cv_count", Double(), comment="Standard deviation over mean of partition counts."),
    Column("cv_rate", Double(), comment="Standard deviation over mean of rates; NULL where unknown."),
    Column("least_skew_count", Double(), comment="No assignment to these members has a smaller skew_count."),
    Column("least_skew_rate", Double(), comment="No assignment to these members has a smaller skew_rate."),
    latest="Each group under its own and under other assignors, of the newest published advisory of each cluster.",
)

MEMBER_SCORE = view(
    "member_score",
    "What each member reads today and under the advised assignment, in every published advisory.",
    *of_advisory(),
    Column("group_id", Text(), comment="Group."),
    Column("assignor", Text(), comment="Strategy."),
    Column("is_current", Boolean(), comment="The assignment of today."),
    Column("is_advised", Boolean(), comment="The advised assignment."),
    Column("member_id", Text(), comment="Member."),
    Column("instance_id", Text(), comment="group.instance.id."),
    Column("rack", Text(), comment="client.rack."),
    Column("partitions", Integer(), comment="Partitions it reads."),
    Column("in_bytes_per_s", Double(), comment="Bytes written to them."),
    Column("in_messages_per_s", Double(), comment="Messages written to them."),
    Column("lag_messages", BigInteger(), comment="Messages it is behind."),
    Column("drain_seconds", Double(), comment="Time until they are read; NULL where unknown, and where never."),
    Column("is_falling_behind", Boolean(), comment="They are never read, at what it was seen to read; NULL: unknown."),
    latest="What each member reads today and under the advised assignment, of the newest published advisory of "
    "each cluster.",
)

PLAN = view(
    "plan",
    "Plans of published advisories; one row each.",
    *of_advisory(),
    Column("plan_id", Text(), comment="sha256 of plan.json without plan_id."),
    Column("verdict", Text(), comment="rebalance, nothing_to_do, cannot_tell, infeasible or not_fixable_by_moving."),
    Column("reasons", JSONB(), comment="Why: a list of facts, each with code and args."),
    Column("expires_at", MOMENT, comment="Not to be executed later than this."),
    Column("replica_moves", Integer(), comment="Replicas that are copied."),
    Column("bytes", BigInteger(), comment="Bytes that are copied; NULL where sizes are unknown."),
    Column("leader_changes", Integer(), comment="Leaders that change."),
    Column("seconds", Double(), comment="Time at the throttle, wave after wave."),
    Column("seconds_slot_filling", Double(), comment="Time for a driver that keeps slots full."),
    Column("continues", Text(), comment="plan_id of the earlier plan that this one confirms or continues."),
    Column("document", Text(), comment="plan.json, byte for byte."),
    latest="The plan of the newest published advisory of each cluster.",
)

PLAN_RESOURCE = view(
    "plan_resource",
    "Resources of every published plan: balanced, or left out and why.",
    *of_advisory(),
    Column("resource", Text(), comment=_RESOURCE),
    Column("unit", Text(), comment="Unit of its loads."),
    Column("source", Text(), comment="Where its loads come from."),
    Column("mean_level", Double(), comment="Plain mean."),
    Column("basis", Text(), comment="fair_share or plain_mean: what the band is a multiple of."),
    Column("band_asked_low", Double(), comment="Lower limit asked for."),
    Column("band_asked_high", Double(), comment="Upper limit asked for."),
    Column("widened_low", Double(), comment="Lower limit after widening; NULL where the band is met."),
    Column("widened_high", Double(), comment="Upper limit after widening; NULL where the band is met."),
    Column("skew_before", Double(), comment="Skew today."),
    Column("skew_after", Double(), comment="Skew after the plan."),
    Column("left_out_code", Text(), comment="Why it is not balanced: code of the fact; NULL where it is."),
    Column("left_out_args", JSONB(), comment="Arguments of the fact; NULL where it is balanced."),
    latest="Resources of the plan, balanced or left out and why, of the newest published advisory of each cluster.",
)

PLAN_BROKER = view(
    "plan_broker",
    "Load of each broker before and after every published plan.",
    *of_advisory(),
    Column("broker", Integer(), comment="Broker id."),
    Column("resource", Text(), comment="Balanced resource."),
    Column("before", Double(), comment="Load today."),
    Column("after", Double(), comment="Load after the plan."),
    Column("capacity", Double(), comment="What it can carry; NULL where equal capacities are assumed."),
    latest="Load of each broker before and after the plan, of the newest published advisory of each cluster.",
)

PLAN_BOUND = view(
    "plan_bound",
    "Proven lower bounds of every published plan.",
    *of_advisory(),
    Column("cost", Text(), comment="bytes, replica_moves, leader_changes or seconds."),
    Column("value", Double(), comment="Nobody can do it for less."),
    Column("gap", Double(), comment="(cost - value) / value; NULL where value is 0 and cost is not."),
    Column("proof", Text(), comment="How it was proved: a code."),
    latest="Proven lower bounds of the plan of the newest published advisory of each cluster.",
)

MOVE = view(
    "move",
    "Moves of every published plan; one row a partition that changes.",
    *of_advisory(),
    Column("position", Integer(), comment="Index in plan.json."),
    Column("topic", Text(), comment="Topic."),
    Column("partition", Integer(), comment="Partition."),
    Column("from_replicas", ARRAY(Integer()), comment="Replicas today."),
    Column("to_replicas", ARRAY(Integer()), comment="Replicas after, preferred leader first."),
    Column("leader_from", Integer(), comment="Leader today."),
    Column("leader_to", Integer(), comment="Leader after."),
    Column("kind", Text(), comment="replica, leader alone, or order of followers alone."),
    Column("bytes", BigInteger(), comment="New replicas × the leader's replica size; NULL where unknown."),
    Column("wave", Integer(), comment="Wave it belongs to, from 1 as the files."),
    Column("reason_code", Text(), comment="Why: the code of a fact."),
    Column("reason_args", JSONB(), comment="Arguments of the reason by name, with units in the names."),
    Column("worse_without_code", Text(), comment="What is worse without it: the code of a fact."),
    Column("worse_without_args", JSONB(), comment="Arguments of what is worse without it."),
    latest="Moves of the plan of the newest published advisory of each cluster.",
)

WAVE = view(
    "wave",
    "Waves of every published plan and of its rollback.",
    *of_advisory(),
    Column("direction", Text(), comment="forward or rollback."),
    Column("wave", Integer(), comment="From 1, as the files; rollback 1 undoes the last wave."),
    Column("move_count", Integer(), comment="Partitions that change in it."),
    Column("bytes", BigInteger(), comment="Bytes that are copied; NULL where sizes are unknown."),
    Column("seconds", Double(), comment="Busiest broker's bytes over the throttle."),
    Column("throttle_bytes_per_s", BigInteger(), comment="Throttle."),
    Column("free_disk_needed", JSONB(), comment="Bytes by broker while both copies exist."),
    latest="Waves of the plan and of its rollback, of the newest published advisory of each cluster.",
)

FRONTIER_POINT = view(
    "frontier_point",
    "Balance against bytes of every published plan.",
    *of_advisory(),
    Column("position", Integer(), comment="From 1, in the order of the plan."),
    Column("tolerance", Double(), comment="Band."),
    Column("bytes", BigInteger(), comment="Bytes it costs."),
    Column("replica_moves", Integer(), comment="Replica moves it costs."),
    Column("leader_changes", Integer(), comment="Leader changes it costs."),
    Column("lower_bound_bytes", Double(), comment="Nobody does it below this."),
    Column("skew", JSONB(), comment="Skew by resource."),
    Column("name", Text(), comment="cheap, knee or even."),
    Column("is_recommended", Boolean(), comment="The one that the plan is."),
    Column(
        "reasons", JSONB(), comment="Why it has a name or is recommended: a list of facts, each with code and args."
    ),
    latest="Balance against bytes of the plan of the newest published advisory of each cluster.",
)

CHECK_RESULT = view(
    "check_result",
    "What the gates found: on every reading, and on every advisory that is published or was refused.",
    Column("time", MOMENT, comment="When it was checked."),
    Column("cluster", Text(), comment="Name of the cluster, as clusters.toml or the snapshot gives it."),
    Column("gate", Text(), comment="input or results."),
    Column("snapshot_id", Text(), comment="Reading that was checked; NULL for results."),
    Column("run_id", Text(), comment="Advisory that was checked; NULL for input."),
    Column("rule", Text(), comment="Code of the rule."),
    Column("level", Text(), comment="block, quarantine or warn."),
    Column("failed_rows", Integer(), comment="Rows that broke it; 0 is passed."),
    Column("sample", JSONB(), comment="The first rows that broke it."),
)
