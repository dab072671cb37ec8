"""``docs/finding-codes.md`` from ``CODES``: ``python -m kafka_rebalance.render.codes_page > docs/finding-codes.md``."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from kafka_rebalance.findings.finding import CODES, Consequence, FindingCode

WHAT_TO_DO: Mapping[str, str] = MappingProxyType(
    {
        "broker_disk_over_share": "Run the plan's step *even out*, or set `--balance-within`.",
        "broker_disk_full": "Run the plan's step *relieve* now, or delete data. Nothing is moved to this broker.",
        "log_dir_full": "Move replicas between its disks: `plan --balance-log-dirs 10%`.",
        "broker_rate_over_share": "Run the plan. If one partition is the cause, see `hot_partition`.",
        "leaders_piled_up": "Elect preferred leaders. Nothing is copied.",
        "leaders_over_share": "Run the plan: it reorders replicas and elects.",
        "preferred_leaders_off": "Elect preferred leaders. Check why `auto.leader.rebalance.enable` did not.",
        "preferred_order_uneven": "Run the plan before the next election: it reorders replicas.",
        "topic_on_few_brokers": "Run the plan, or add partitions.",
        "broker_loss_overloads": "Plan with `--survive broker`, or add capacity.",
        "rack_loss_overloads": "Plan with `--survive rack`, or add capacity.",
        "rack_violated": "Run the plan's step *repair*.",
        "hot_partition": "Find its hot key with `rebalance-advisor keys`, and spread it over several keys.",
        "rack_traffic_price": "Let members fetch from their own rack (`replica.selector.class`), or change the strategy.",
        "dead_broker": "Bring the broker back, or run the plan's step *repair*.",
        "broker_not_heard": "Check the broker and the network between it and the advisor, then take a new snapshot.",
        "stray_logs": "Check that no replica list has them, then delete them on the broker's disk.",
        "racks_unknown": "Set `broker.rack` on these brokers and restart them.",
        "log_dir_offline": "Replace the disk and restart the broker, or run the plan's step *repair*.",
        "single_replica": "Raise the replication factor: `plan --replication-factor 3 --include-topic NAME`.",
        "single_broker_rack": "Add a broker to the rack.",
        "mixed_replication_factor": "Plan with `--replication-factor` for this topic.",
        "below_min_isr": "Find out why followers are not in sync: broker down, disk or network full, a throttle.",
        "min_isr_at_replication_factor": "Lower `min.insync.replicas` by one, or raise the replication factor.",
        "under_replicated": "Wait if a reassignment runs. Else check the broker that is missing from the ISR.",
        "offline_partition": "Bring one of its brokers back. An unclean election loses messages.",
        "group_in_motion": "Take another snapshot when the group is at rest. If it never is, check its members' logs.",
        "group_assignments_unknown": "Grant Describe on Group, or add the dump of `--members --verbose`.",
        "idle_members": "Remove members, add partitions, or change the strategy, as the finding says.",
        "assignor_uneven": "Follow the roll-out of `rebalance-advisor group`.",
        "uneven_by_rate": "Use `weighted`, or more partitions.",
        "uneven_per_topic": "Use a strategy that is even per topic, or separate groups.",
        "group_hot_partition": "Find the hot key; no strategy can split a partition.",
        "server_assignor_uneven": "Set `group.remote.assignor` of the members to the other one.",
        "rollover_half_done": "Restart the remaining members with `group.protocol=consumer`, or turn the others back.",
        "mixed_clients": "Use one client library per group.",
        "server_uniform_may_throw": "Upgrade the brokers, or give all members the same subscription.",
        "share_group_behind": "Add members.",
        "static_members_partly": "Give every member a `group.instance.id`, or none.",
        "static_membership": "Give every member a `group.instance.id`.",
        "cross_rack_reads": "Change the strategy, or set `client.rack` and `replica.selector.class`.",
        "dead_static_member": "Restart the member under the same `group.instance.id`, or remove it from the group.",
        "coordinator_piled_up": "Move leaders of `__consumer_offsets`, or rename groups that share a partition.",
        "lag_growing": "Add members or make them faster; the finding says how many would keep up.",
        "lag_concentrated": "Check these members or the keys of these partitions.",
        "partition_not_read": "Restart the member that has the partitions. Check for a message that it cannot process.",
        "unread_partitions": "Check the subscription and whether the group has finished its rebalance.",
        "topic_without_reader": "Delete the old commits, or start a member that reads the topic.",
        "read_without_joining": "None, if Flink or Spark reads. Their lag is that of the commits.",
        "commit_out_of_range": "Check `auto.offset.reset`, and reset the group's offsets.",
        "sticky_endless": "Restart all members at once, or use `cooperative-sticky`.",
        "mixed_static_members": "Give every member of this kafka-python group a `group.instance.id`, or none.",
        "leader_may_crash": "Upgrade librdkafka, or use `range` or `roundrobin`.",
        "unknown_topic_stops_group": "Create the topic, or remove it from the subscriptions.",
        "shared_offsets": "Use one group per reader, or a share group.",
        "throttle_left_over": "Clear the throttles: `kafka-reassign-partitions --verify` of the last reassignment.",
        "reassignment_running": "Wait until it ends. A plan leaves its partitions alone.",
        "reassignment_stuck": "Bring the broker back, or cancel with the command in the finding.",
        "other_balancer": "Let only one balancer move replicas.",
        "broker_cordoned": "None, if intended. Else uncordon the log dirs.",
        "load_unknown": "Take a second snapshot, or name a Prometheus server.",
        "coverage_gap": "Grant the right that it names.",
        "nothing_to_do": "None.",
        "hours_outside_band": "Plan with `--load p95` or `--load peak` if these hours matter.",
        "cannot_tell": "Do what the first reason says: grant a right, or take a new snapshot.",
        "not_fixable_by_moving": "Do what the reason names, such as adding a broker or splitting a key.",
    }
)

_HEAD = """# Finding codes

Generated by `python -m kafka_rebalance.render.codes_page`. The code is the same in `findings.json`, SQL (`advisor.finding`),
mutes and owners. *Thresholds* are ratios unless the name has another unit. Codes are in order of consequence.
"""
_TITLES = {
    Consequence.DATA_LOSS: "Data loss: one more failure may lose messages",
    Consequence.OUTAGE: "Outage: partitions cannot be used, or a broker stops",
    Consequence.LAG: "Lag: messages are read late, twice or not at all",
    Consequence.COST: "Cost: money, disk or a member is wasted",
    Consequence.EVENNESS: "Evenness: some brokers or members work more than others",
    Consequence.BLIND: "Blind: something is not known",
}


def codes_page() -> str:
    """Return the page: a table of codes for each consequence."""
    return "\n".join([_HEAD, *map(_table, Consequence)])


def _table(consequence: Consequence) -> str:
    rows = [_row(code) for code in CODES.values() if code.consequence is consequence]
    head = [f"## {_TITLES[consequence]}", "", "| code | about | when | thresholds | what to do |", "|---|---|---|---|---|"]
    return "\n".join([*head, *rows, ""])


def _row(code: FindingCode) -> str:
    thresholds = ", ".join(f"{name} {value:g}" for name, value in code.thresholds.items())
    return f"| `{code.code}` | {code.subject_type} | {code.rule} | {thresholds} | {WHAT_TO_DO[code.code]} |"


if __name__ == "__main__":
    print(codes_page(), end="")
