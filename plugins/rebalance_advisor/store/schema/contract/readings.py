"""Views of what was read: every reading that passed the input gate, and the newest of each cluster."""

from __future__ import annotations

from sqlalchemy import REAL, BigInteger, Boolean, Column, Double, Integer, Text
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

from rebalance_advisor.store.schema.contract.define import MOMENT, columns_of, of_reading, view

SNAPSHOT = view(
    "snapshot",
    "Readings that passed the input gate; one row each.",
    *of_reading(),
    Column(
        "captured_at",
        Text(),
        comment="The time of the reading in ISO 8601, in the zone that the input tells; NULL for input "
        "without one, whose time is when it was stored.",
    ),
    Column("stored_at", MOMENT, comment="When it was saved."),
    Column("source", Text(), comment="live, dumps, snapshot, cluster-model or reassignment."),
    Column("cluster_id", Text(), comment="Kafka's own id of the cluster."),
    Column("kafka_version", Text(), comment="Version as far as it was told."),
    Column("broker_count", Integer(), comment="Brokers, dead ones included."),
    Column("topic_count", Integer(), comment="Topics."),
    Column("partition_count", Integer(), comment="Partitions."),
    Column("replica_count", Integer(), comment="Replicas."),
    Column("group_count", Integer(), comment="Groups of every type."),
    Column("member_count", Integer(), comment="Members of all groups, without those that the source only counts."),
    Column("gap_count", Integer(), comment="Things that could not be read: see coverage."),
    Column("is_pruned", Boolean(), comment="Its rows were removed by retention; only this line is left."),
    Column("features", JSONB(), comment="Finalized feature levels by name; NULL where nobody told."),
    Column("quotas", JSONB(), comment="Client quotas: [{entity: [[type, name or null]], values: {…}}, …]."),
)

SNAPSHOT_LATEST = view(
    "snapshot_latest",
    "The newest reading of each cluster that passed the input gate.",
    *columns_of(SNAPSHOT, without=("is_pruned",)),
)

BROKER = view(
    "broker",
    "Brokers of every reading; one row a broker.",
    *of_reading(),
    Column("broker", Integer(), comment="Broker id."),
    Column("rack", Text(), comment="Rack; NULL where the broker has none."),
    Column("host", Text(), comment="Advertised host."),
    Column("port", Integer(), comment="Advertised port."),
    Column(
        "state",
        Text(),
        comment="alive, new, draining, demoted; refused, silent, disconnected, unresponsive (not heard); "
        "fenced or dead.",
    ),
    Column("is_controller", Boolean(), comment="It was the active controller."),
    Column("capacity_disk_bytes", Double(), comment="Disk it can carry, as given; NULL where nobody said."),
    Column("capacity_in_bytes_per_s", Double(), comment="Inbound rate it can carry, as given."),
    Column("capacity_out_bytes_per_s", Double(), comment="Outbound rate it can carry, as given."),
    Column("capacity_cpu_percent", Double(), comment="CPU it can spend, as given."),
    Column("configs", JSONB(), comment="Broker configs that matter to advice."),
    latest="Brokers of the newest reading of each cluster.",
)

LOG_DIR = view(
    "log_dir",
    "Log directories of every reading.",
    *of_reading(),
    Column("broker", Integer(), comment="Broker id."),
    Column("path", Text(), comment="Directory."),
    Column("total_bytes", BigInteger(), comment="Size of its volume; NULL where the broker does not tell."),
    Column("usable_bytes", BigInteger(), comment="Free bytes of its volume."),
    Column("error", Text(), comment="What the broker says is wrong with it."),
    Column("is_cordoned", Boolean(), comment="Nothing new may be placed on it (KIP-1066)."),
    Column("stray_logs", BigInteger(), comment="Logs in it that no replica list has."),
    Column("stray_bytes", BigInteger(), comment="Bytes of these."),
    Column("largest_stray", Text(), comment="Topic and partition of the largest of these."),
    latest="Log directories of the newest reading of each cluster.",
)

TOPIC = view(
    "topic",
    "Topics of every reading.",
    *of_reading(),
    Column("topic", Text(), comment="Topic."),
    Column("topic_id", Text(), comment="Kafka's id of the topic."),
    Column("is_internal", Boolean(), comment="Kafka's own topic."),
    Column("partition_count", Integer(), comment="Partitions."),
    Column("configs", JSONB(), comment="Topic configs that matter to advice."),
    latest="Topics of the newest reading of each cluster.",
)

PARTITION = view(
    "partition",
    "Placement of every reading; one row a partition. Always ask for one snapshot_id or a narrow time.",
    *of_reading(),
    Column("topic", Text(), comment="Topic."),
    Column("partition", Integer(), comment="Partition."),
    Column(
        "replicas",
        ARRAY(Integer()),
        comment="Broker ids in Kafka's order, the preferred leader first; while a reassignment runs, the union.",
    ),
    Column("leader", Integer(), comment="Leader; NULL: none."),
    Column("isr", ARRAY(Integer()), comment="In-sync replicas; NULL where unknown."),
    Column("log_bytes", ARRAY(BigInteger()), comment="Size of each replica, along replicas; NULL where unknown."),
    Column("start_offset", BigInteger(), comment="First offset kept."),
    Column("end_offset", BigInteger(), comment="Next offset to be written."),
    Column("adding", ARRAY(Integer()), comment="Replicas that a running reassignment adds."),
    Column("removing", ARRAY(Integer()), comment="Replicas that a running reassignment removes."),
    Column("offline", ARRAY(Integer()), comment="Replicas that are offline."),
    Column(
        "observers",
        ARRAY(Integer()),
        comment="Replicas that are Confluent's observers: never needed in the ISR, never leading.",
    ),
    Column("eligible", ARRAY(Integer()), comment="Replicas that may lead without being in the ISR (KIP-966)."),
    Column(
        "log_dirs",
        ARRAY(Integer()),
        comment="Index of each replica's log dir among its broker's, by path; NULL where all brokers have one.",
    ),
    Column("future", JSONB(), comment="Copies in the making on another log dir: [[broker, log dir, bytes], …]."),
    Column("local_start_offset", BigInteger(), comment="First offset on the brokers' own disks; of tiered topics."),
    latest="Placement of the newest reading of each cluster; one row a partition.",
)

LOAD = view(
    "load",
    "Loads of every reading; one row a partition; NULL is unknown, never zero.",
    *of_reading(),
    Column("topic", Text(), comment="Topic."),
    Column("partition", Integer(), comment="Partition."),
    Column("log_bytes", Double(), comment="Size of the leader's replica."),
    Column("in_bytes_per_s", Double(), comment="Written to the leader."),
    Column("out_bytes_per_s", Double(), comment="Fetched by consumers from the leader, without replication."),
    Column("cpu_percent", Double(), comment="CPU of the leader."),
    Column("in_messages_per_s", Double(), comment="Messages written to the leader."),
    latest="Loads of the newest reading of each cluster; NULL is unknown, never zero.",
)

LOAD_SOURCE = view(
    "load_source",
    "Where each load of each reading comes from.",
    *of_reading(),
    Column("kind", Text(), comment="log_bytes, in_bytes_per_s, out_bytes_per_s, cpu_percent or in_messages_per_s."),
    Column(
        "source",
        Text(),
        comment="log_dirs, log_dir_growth, offsets_times_message_size, prometheus, given, hourly_mean, hourly_p95, "
        "busiest_hours, estimated or unknown.",
    ),
    Column("window_s", Double(), comment="Seconds over which a rate was measured; NULL for sizes and given figures."),
    Column("known_share", Double(), comment="Share of partitions whose figure is known."),
    latest="Where each load of the newest reading comes from; a kind without a row was measured by nobody.",
)

LOAD_HISTORY = view(
    "load_history",
    "Rates of each topic in the readings of the last 35 days; one row a topic, arrays by partition number.",
    *of_reading(),
    Column("topic", Text(), comment="Topic."),
    Column("topic_id", Text(), comment="Kafka's id of the topic; another one after it was created again."),
    Column("in_bytes_per_s", ARRAY(REAL()), comment="Written to each partition's leader; NULL is unknown."),
    Column("out_bytes_per_s", ARRAY(REAL()), comment="Fetched by consumers from each leader, without replication."),
    Column("cpu_percent", ARRAY(REAL()), comment="CPU of each leader."),
    Column("in_messages_per_s", ARRAY(REAL()), comment="Messages written to each leader."),
    Column("window_s", Double(), comment="Seconds before the reading over which in_bytes_per_s was measured."),
)

CONSUMER_GROUP = view(
    "consumer_group",
    "Groups of every reading.",
    *of_reading(),
    Column("group_id", Text(), comment="Group."),
    Column("type", Text(), comment="classic, consumer, share, streams or unknown."),
    Column("protocol_type", Text(), comment="consumer, connect, …"),
    Column("protocol", Text(), comment="The assignor's name."),
    Column("state", Text(), comment="State as the coordinator tells it."),
    Column("generation", Integer(), comment="Generation or epoch: it grows with each rebalance."),
    Column("coordinator", Integer(), comment="Broker that coordinates it."),
    Column("member_count", Integer(), comment="Members; the source may count more than it shows."),
    Column(
        "assignment_epoch", Integer(), comment="Epoch of the assignment that members follow; not of classic groups."
    ),
    Column("subtopologies", JSONB(), comment="What the parts of a streams application read and keep."),
    Column("configs", JSONB(), comment="Configs that somebody set for this group."),
    latest="Groups of the newest reading of each cluster.",
)

MEMBER_LATEST = view(
    "member_latest",
    "Members of the newest reading of each cluster.",
    *of_reading(),
    Column("group_id", Text(), comment="Group."),
    Column("member_id", Text(), comment="Member."),
    Column("instance_id", Text(), comment="group.instance.id of a static member."),
    Column("client_id", Text(), comment="client.id."),
    Column("host", Text(), comment="Host it connects from."),
    Column("rack", Text(), comment="client.rack."),
    Column("subscription", ARRAY(Text()), comment="Topics it subscribes to."),
    Column("subscribed_regex", Text(), comment="Pattern it subscribes to (KIP-848)."),
    Column(
        "assigned",
        JSONB(),
        comment="What the group gave it: [[topic, [partitions]], …]; NULL where only their number is known.",
    ),
    Column("assigned_count", Integer(), comment="Partitions that the group gave it."),
    Column("owned", JSONB(), comment="What it says it owns."),
    Column("target", JSONB(), comment="Where the group is going (KIP-848)."),
    Column("generation", Integer(), comment="Generation of its data."),
    Column("decode_error", Text(), comment="Why its metadata could not be read."),
    Column("type", Text(), comment="Type of its group: classic, consumer, share, streams or unknown."),
    Column("is_classic", Boolean(), comment="It still speaks the classic protocol in a group of a newer type."),
    Column("process_id", Text(), comment="Instance of a streams application that it belongs to."),
    Column("tasks", JSONB(), comment="Tasks of a streams member: {active: [[subtopology, [partitions]], …], …}."),
    Column("target_tasks", JSONB(), comment="The tasks that it is to get."),
)

GROUP_LAG_LATEST = view(
    "group_lag_latest",
    "How far each group is behind in each topic, in the newest reading of each cluster.",
    Column("time", MOMENT, comment="When the cluster was read."),
    Column("cluster", Text(), comment="Name of the cluster, as clusters.toml or the snapshot gives it."),
    Column("group_id", Text(), comment="Group."),
    Column("topic", Text(), comment="Topic."),
    Column("partitions", BigInteger(), comment="Partitions with a committed offset."),
    Column("lag_messages", BigInteger(), comment="Messages not yet read; NULL where no end offset is known."),
    Column("max_lag_messages", BigInteger(), comment="Of the partition furthest behind."),
    Column("type", Text(), comment="Type of the group; the lag of a share group is what its broker tells."),
    Column("read_messages_per_s", Double(), comment="What it reads; NULL where that of one partition is unknown."),
)

COVERAGE = view(
    "coverage",
    "What could not be read, in every reading.",
    *of_reading(),
    Column("subject_type", Text(), comment="cluster, broker, topic, partition, group, member or right."),
    Column("subject", Text(), comment="Which one."),
    Column("what_code", Text(), comment="What of it could not be read, as a code."),
    Column("what_args", JSONB(), comment="Arguments of what_code: names, counts."),
    Column("reason_code", Text(), comment="Why, as a code."),
    Column("reason_args", JSONB(), comment="Arguments of reason_code: broker, seconds, error code."),
    latest="What could not be read in the newest reading of each cluster.",
)

QUARANTINE = view(
    "quarantine",
    "Subjects that advice on a reading leaves out.",
    *of_reading(),
    Column("subject_type", Text(), comment="group, member, topic or broker."),
    Column("subject", Text(), comment="Which one."),
    Column("rule", Text(), comment="Code of the gate rule that it broke."),
    latest="Subjects that advice on the newest reading leaves out.",
)
