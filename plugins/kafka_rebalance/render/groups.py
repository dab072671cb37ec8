"""Findings and advice about groups; load sources and disk forecasts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from kafka_rebalance.amounts import changing, counted, format_bytes, format_seconds
from kafka_rebalance.facts import FactCode
from kafka_rebalance.render.coverage import streams_parts_unknown
from kafka_rebalance.render.findings import heavy_key, some, verb

_AGAIN = "Take a snapshot again when the group is Stable."
_POLLS = f"compare the time between its polls with max.poll.interval.ms. {_AGAIN}"
_JOINS = "Keep range only if the members join topics partition by partition."
# Without a choice of strategy (``GroupKind``).
_KINDS = {
    "empty": "it has no members: there is nothing to divide",
    "share": "a share group: its members read partitions together, so no strategy divides them",
    "streams": (
        "Kafka Streams divides tasks by its own assignor: no strategy can be chosen. Each subtopology has as many "
        "tasks as its largest input topic has partitions. Threads beyond the tasks are idle: lower num.stream.threads "
        "(ksqlDB: ksql.streams.num.stream.threads) or add partitions to the input topics"
    ),
    "connect_workers": "Kafka Connect's workers share connectors and tasks, not partitions",
    "schema_registry": "Schema Registry elects its leader here and reads no partitions through the group",
    "console": "a console consumer: the group ends with its terminal",
    "confluent": "a group of Confluent's own services",
    "other_protocol": "not consumers: its members join with another protocol",
}


# --- groups that move


def describe_motion(
    *,
    motion: str,
    state: str | None,
    members: int,
    holding: Sequence[str],
    holding_members: int,
    waiting: Sequence[str],
    waiting_members: int,
    coordinator: int | None,
    partition_counts: Sequence[int],
) -> tuple[str, str]:
    state_text, count = f" ({state})" if state else "", counted(members, "member")
    match motion:
        case "rebalancing":
            detail = state_text or f": no partition has a reader, and {count} are listed (the state is unknown)"
            look_at = f"If this lasts, find in the members' logs the one that joins late or leaves: {_POLLS}"
            return f"the group is rebalancing{detail}", look_at
        case "between_rounds":
            text = "the group is between the two rounds of a cooperative rebalance: some partitions wait for the next"
            return text, f"If this lasts, find the member that does not rejoin: {_POLLS}"
        case "assigning":
            broker = "" if coordinator is None else f" (broker {coordinator})"
            look_at = f"If this lasts, look in the coordinator's log{broker} for errors of its assignor. {_AGAIN}"
            return f"the coordinator computes a new assignment{state_text}", look_at
        case "reconciling":
            holds = f" {some(holding, holding_members)} must still give partitions up." if holding else ""
            waits = f" {some(waiting, waiting_members)} must still get theirs." if waiting else ""
            compare = "Compare current with target assignments (kafka-consumer-groups --describe --members --verbose)."
            look_at = f"{compare}{holds}{waits} A member that does not poll does not revoke: {_POLLS}"
            return f"the members are on the way to their target assignment{state_text}", look_at
        case "dead":
            return f"the coordinator removes the group{state_text}", "Check the group id. Take a snapshot again."
        case "not_shown":
            look_at = "Add the output of kafka-consumer-groups --describe --members --verbose."
            return _not_shown(count, members, partition_counts), look_at
    text = f"the state of the group is unknown{state_text}"
    return text, "Read it with kafka-consumer-groups --describe --state. Take a snapshot again."


def _not_shown(count: str, members: int, partition_counts: Sequence[int]) -> str:
    if not members:
        return "the input does not show whether the group has members"
    if not partition_counts:
        return f"the input does not show which partitions the group's {count} have"
    is_alike = len({*partition_counts}) == 1
    many = f"{partition_counts[0]} each" if is_alike else f"{some(partition_counts, members)} of them"
    return f"the group's {count} have {many}, and the input does not show which partitions"


def _not_judged(**motion: object) -> str:
    reason, look_at = describe_motion(**motion)  # type: ignore[arg-type]
    return f"Not judged: {reason}. {look_at}"


# --- idle members and strategies


def _idle_members(*, idle_members: int, members: int, why: str) -> str:
    return f"{idle_members} of {counted(members, 'member')} {verb(idle_members, 'reads', 'read')} nothing: {why}."


def _idle_cause(
    *,
    cause: str,
    partitions: int,
    members: int,
    strategy: str,
    better: str | None,
    better_idle_members: int | None,
    setting: str | None,
    is_sink: bool,
) -> str:
    there, readers = counted(partitions, "partition"), counted(members, "member")
    if better is not None:
        left = f"all but {better_idle_members}" if better_idle_members else "all of them"
        caveat = f". {_JOINS[:-1]}" if strategy == "range" else ""
        return f"{better} would give work to {left}, {strategy} does not: {setting}{caveat}"
    compare = "the topic names or the pattern that each member subscribes to, and their rights to read these topics"
    match cause:
        case "fewer_partitions":
            fewer = "Lower tasks.max" if is_sink else "Run fewer members"
            return (
                f"the topics that they can read have {there} for {readers}. {fewer}, or add partitions to these topics"
            )
        case "subscription_differs":
            return f"their subscription differs from that of the members that read. Compare {compare}"
        case "subscription_unknown":
            many = f"the group has {there} for {readers}, and " if partitions else ""
            return f"{many}the subscription of the idle ones is unknown. It may differ: compare {compare}"
        case "co_partitioned":
            return (
                "range gives the partitions of one number to one member, and each topic has too few for all. Give each "
                "topic as many partitions as there are members, or name another assignor if the members do not join "
                "these topics"
            )
        case "client_ignores_topics":
            return (
                "KafkaJS divides the topics of the group's leader only, among all members. Let all members subscribe "
                "to the same topics"
            )
    return (
        f"{strategy} gives them nothing although there are {there} for {readers}. Look at the assignor and at the log "
        "of the group's leader"
    )


def _assignor_uneven(
    *,
    strategy: str | None,
    advised: str,
    by_rate: bool,
    skew: float,
    advised_skew: float,
    idle_members: int,
    members: int,
    setting: str,
    may_join_topics: bool,
) -> str:
    own = strategy or "its strategy, which is unknown,"
    idle = f" and leaves {idle_members} of {members} members idle" if idle_members else ""
    today = (
        f"{own} is even by count, yet its busiest member reads {skew:.1f} × the mean by rate{idle}"
        if by_rate
        else f"{own} gives the fullest member {skew:.1f} × the mean{idle}"
    )
    return f"{today}; {advised} would give {advised_skew:.1f} ×: {setting}.{f' {_JOINS}' if may_join_topics else ''}"


def _server_assignor_uneven(
    *,
    strategy: str,
    advised: str,
    by_rate: bool,
    skew: float,
    advised_skew: float,
    idle_members: int,
    members: int,
) -> str:
    idle = f" and leaves {idle_members} of {members} members idle" if idle_members else ""
    return (
        f"The coordinator's {strategy} gives the fullest member {skew:.1f} × the "
        f"mean{' by rate' if by_rate else ''}{idle}; its {advised} would give {advised_skew:.1f} ×: set "
        f"group.remote.assignor={advised} in all members."
    )


def _set_strategy(*, settings: Sequence[tuple[str, str, str | None, bool]]) -> str:
    return "set " + ", ".join(
        _setting(name, value, client, is_spring=spring) for name, value, client, spring in settings
    )


def _setting(name: str, value: str, client: str | None, *, is_spring: bool) -> str:
    if client is None:
        return f"{name} = {value}"
    whose = "if it is a Java client: it was not recognised" if client == "unknown" else client
    spring = f"; Spring Boot: spring.kafka.consumer.properties.{name}" if is_spring else ""
    return f"{name} = {value} ({whose}{spring})"


def _learn_strategy(*, group: str) -> str:
    return f"add the output of kafka-consumer-groups --describe --state --group {group}"


def _stop_all_members(*, today: str, advised: str) -> str:
    return f"all members stop first: they cannot name {today} and {advised} together"


# --- lag


def _dead_static_member(
    *, members: Sequence[str], dead_members: int, partitions: int, lag_seconds: float | None
) -> str:
    behind = "" if lag_seconds is None else f", {format_seconds(lag_seconds)} behind"
    pronoun = verb(dead_members, "it", "them")
    return (
        f"Static {verb(dead_members, 'member', 'members')} {some(members, dead_members, most=20)} "
        f"{verb(dead_members, 'keeps', 'keep')} {counted(partitions, 'partition')} and "
        f"{verb(dead_members, 'reads', 'read')} none{behind}. Restart {pronoun} under the same group.instance.id, or "
        f"remove {pronoun} (Admin.removeMembersFromConsumerGroup), so that other members get the partitions."
    )


def _lag_growing(*, read_ratio: float, lag_seconds: float, way: str) -> str:
    return f"The group reads {read_ratio:.0%} of what is written and is {format_seconds(lag_seconds)} behind: {way}"


def _hot_partition_limits_group(*, partition: str) -> str:
    return (
        f"{partition} alone is written faster than the group's fastest member reads, so more members do not help. "
        "Find its busiest key and spread it over several, or make the members process records faster."
    )


def _share_partitions_evenly(*, members_needed: int, members: int) -> str:
    return (
        f"{counted(members_needed, 'member')} as fast as its fastest would keep up, and it has {members}. Share its "
        "partitions evenly, and look at the slow members, before you add any."
    )


def _members_too_slow() -> str:
    return (
        "partitions are written faster than its fastest member reads any, so more members do not help. Make its "
        "members faster, or add partitions: from then on keys go to other ones."
    )


def _more_members_would_idle(*, members: int, partitions: int, members_needed: int | None) -> str:
    return (
        f"it has {counted(members, 'member')} for {counted(partitions, 'partition')}, so another one would be idle. "
        f"Make its members faster, or add partitions first{_members_to_keep_up(members_needed, partitions)}."
    )


def _add_members(*, kind: str, members: int, partitions: int, members_needed: int | None) -> str:
    more = {
        "connect_sink": "raise tasks.max",
        "streams": "raise num.stream.threads or start more instances",
    }.get(kind, "give it more members")
    needed = _members_to_keep_up(members_needed, partitions)
    return f"{more} (it has {members} for {counted(partitions, 'partition')}{needed}) or faster ones."


def _members_to_keep_up(members: int | None, partitions: int) -> str:
    if members is None:
        return ""
    text = f"; {members} as fast as its fastest would keep up"
    if members <= partitions:
        return text
    return (
        f"{text}, for which it needs as many partitions: from then on keys go to other ones, so a key's records "
        "before and after are not in order"
    )


def _lag_concentrated(
    *,
    share_of_lag: float,
    is_all_known: bool,
    lag_messages: int,
    lag_seconds: float | None,
    is_at_members: bool,
    members_behind: int,
    members: Sequence[tuple[str, str | None]],
    working_members: int,
    partitions_behind: int,
    partitions: Sequence[str],
    read_partitions: int,
    has_rates: bool,
) -> str:
    who, names = _hosts(members, members_behind), some(partitions, partitions_behind, most=3)
    where = (
        f"{members_behind} of {counted(working_members, 'member')} with partitions ({who}; of {names})"
        if is_at_members
        else f"{partitions_behind} of {counted(read_partitions, 'partition')} ({names}; read by {who})"
    )
    writing = "" if lag_seconds is None else f" or {format_seconds(lag_seconds)} of writing"
    more = "" if has_rates else " A second snapshot shows whether the lag grows."
    return (
        f"{share_of_lag:.0%} of the group's {'' if is_all_known else 'known '}lag, {counted(lag_messages, 'message')}"
        f"{writing}, is at {where}. Look there first: at the log, the host and the processing of a record.{more}"
    )


def _hosts(members: Sequence[tuple[str, str | None]], count: int) -> str:
    return some([name if host is None else f"{name} on {host}" for name, host in members], count, most=3)


def _partition_not_read(
    *,
    partitions: Sequence[str],
    partition_count: int,
    window_seconds: float | None,
    in_messages_per_s: float,
    members: Sequence[tuple[str, str | None]],
    member_count: int,
    reads_others: bool,
    lag_messages: int,
    lag_seconds: float,
) -> str:
    since = "" if window_seconds is None else f" in the {format_seconds(window_seconds)} between two snapshots"
    a_minute = max(1, round(in_messages_per_s * 60))
    others = f", although {verb(member_count, 'it reads', 'they read')} others" if reads_others else ""
    return (
        f"The commits of {some(partitions, partition_count)} did not move{since}, while "
        f"{counted(a_minute, 'message')} a minute {verb(a_minute, 'was', 'were')} written. "
        f"{_hosts(members, member_count)} {verb(member_count, 'has', 'have')} {verb(partition_count, 'it', 'them')} "
        f"and {verb(member_count, 'reads', 'read')} nothing there{others}. {counted(lag_messages, 'message')} "
        f"{verb(lag_messages, 'waits', 'wait')}; at this rate reading stopped about {format_seconds(lag_seconds)} "
        "ago. Look for a partition that stayed paused, a record that fails again and again, or a transaction that "
        "hangs (kafka-transactions.sh find-hanging). A restarted member reads on from the commit."
    )


def _unread_partitions(
    *,
    partitions: Sequence[str],
    partition_count: int,
    lag_messages: int,
    lag_seconds: float | None,
    are_new: bool,
) -> str:
    cause = (
        "They seem to be new: members see them within metadata.max.age.ms (5 minutes by default) and rebalance then. "
        "If that time is over, restart one member: the group divides its partitions anew."
        if are_new
        else "Look at what each member subscribes to and at the log of what divides the partitions (the group's "
        "leader; in a KIP-848 group the coordinator). Where both are right, restart one member: the group divides "
        "them anew."
    )
    return (
        f"No member reads {some(partitions, partition_count)}: {counted(partition_count, 'partition')} of topics that "
        f"the group reads{_waiting(lag_messages, lag_seconds)}. {cause}"
    )


def _waiting(lag_messages: int, lag_seconds: float | None) -> str:
    if not lag_messages:
        return ""
    writing = "" if lag_seconds is None else f", {format_seconds(lag_seconds)} of writing,"
    return f"; {counted(lag_messages, 'message')}{writing} {verb(lag_messages, 'waits', 'wait')} there"


def _topic_without_reader(
    *, topics: Sequence[str], topic_count: int, lag_messages: int, lag_seconds: float | None
) -> str:
    return (
        f"The group has commits of {some(topics, topic_count)}, but no member reads {verb(topic_count, 'it', 'them')} "
        f"now{_waiting(lag_messages, lag_seconds)}. If a member should, look at its subscription (topic name, "
        "pattern, right to describe the topic). If none should, delete the commits (kafka-consumer-groups "
        "--delete-offsets): they raise alarms on lag."
    )


def _read_without_joining(
    *,
    topics: Sequence[str],
    topic_count: int,
    read_ratio: float | None,
    lag_messages: int | None,
    lag_seconds: float | None,
) -> str:
    behind = (
        ""
        if read_ratio is None
        else f" It reads {read_ratio:.0%} of what is written and is {counted(lag_messages or 0, 'message')}, "
        f"{format_seconds(lag_seconds)}, behind."
    )
    return (
        f"The group has no members, yet its commits of {some(topics, topic_count)} moved between two snapshots: a "
        "program reads and commits without joining the group (Flink and Spark do), or a person reset its "
        f"offsets.{behind} No assignor divides its partitions: set in that program what it reads in parallel."
    )


def _commit_out_of_range(*, group: str, beyond_end: int, below_start: int, messages_deleted: int, example: str) -> str:
    parts = []
    if beyond_end:
        parts.append(f"{counted(beyond_end, 'offset')} beyond the end: the topic was created anew or lost records")
    if below_start:
        deleted = f"{counted(messages_deleted, 'message')} {verb(messages_deleted, 'was', 'were')} deleted unread"
        parts.append(f"{counted(below_start, 'offset')} below the start: {deleted}")
    return (
        f"Group {group} has committed {' and '.join(parts)}, such as {example}. Its members go where "
        "auto.offset.reset sends them; kafka-consumer-groups --reset-offsets sends them elsewhere."
    )


# --- strategies that fail, clients


def _sticky_endless(*, strategy: str, members: int) -> str:
    return (
        f"At its next rebalance the group's leader would swap partitions back and forth for ever. Kafka's {strategy} "
        f"does not return from what its {counted(members, 'member')} hold now, and no member reads until the "
        "coordinator removes the leader. Let all members subscribe to the same topics, or move to another strategy "
        "(server-side: group.protocol=consumer)."
    )


def _shared_offsets(*, partitions: int, topics: Sequence[str], topic_count: int) -> str:
    return (
        f"{counted(partitions, 'partition')} of {some(topics, topic_count)} {verb(partitions, 'has', 'have')} several "
        "readers in this group, who all commit to the same offset: after a restart or rebalance messages are read "
        "twice or never. For a broadcast give every member a group of its own, or let the members keep their offsets "
        "themselves."
    )


def _mixed_static_members(*, static_members: int, members: int, strategy: str | None, idle_members: int) -> str:
    return (
        f"{static_members} of {counted(members, 'member')} {verb(static_members, 'has', 'have')} a group.instance.id, "
        f"the others have none: kafka-python 3 forgets members in such a group, so {strategy or 'its strategy'} gives "
        f"them nothing (today {idle_members} {verb(idle_members, 'reads', 'read')} nothing). Give all of them an id, "
        "or none."
    )


def _leader_may_crash() -> str:
    return (
        "librdkafka's cooperative-sticky (2.15.0 was tried) turns a move back through memory that it has freed: in 3 "
        "of 1,503 random rebalances the leader read freed memory, which may end its process. Where members fall out "
        "at rebalances without a reason, run range or roundrobin, or group.protocol=consumer."
    )


def _unknown_topic_stops_group(*, topics: Sequence[str], topic_count: int, is_stopped: bool) -> str:
    when = "so no member reads anything" if is_stopped else "so at the next rebalance all members lose what they read"
    is_one = topic_count == 1
    return (
        f"The group subscribes to {some(topics, topic_count)}, which {verb(topic_count, 'does', 'do')} not exist. "
        f"kafka-go then assigns no partition to any member, {when}. "
        f"{'Create the topic, or take it' if is_one else 'Create the topics, or take them'} out of the subscription."
    )


def _rollover_half_done(*, upgraded_members: int, classic_members: int, members: Sequence[str]) -> str:
    all_members = upgraded_members + classic_members
    return (
        f"{upgraded_members} of {counted(all_members, 'member')} {verb(upgraded_members, 'speaks', 'speak')} the new "
        f"protocol (KIP-848), {classic_members} still the classic one ({some(members, classic_members, most=3)}), "
        f"which {verb(classic_members, 'rejoins and commits', 'rejoin and commit')} as before at each change. Restart "
        f"{verb(classic_members, 'it', 'them')} with group.protocol=consumer, or turn the others back; do not run "
        "both for good."
    )


def _mixed_clients(*, libraries: Sequence[tuple[str, int]], strategy: str | None, is_sticky: bool) -> str:
    names = ", ".join(f"{name} {count}" for name, count in libraries)
    own = f" for {strategy}" if strategy else ""
    sticky = "Each writes differently what sticky members hold: partitions move for no reason. " if is_sticky else ""
    return (
        f"The members run {len(libraries)} client libraries ({names}). The one that leads divides for all, by its own "
        f"code{own}, and the leader may change at every rebalance. {sticky}Run one library in a group, or give each a "
        "group of its own."
    )


def _server_uniform_may_throw(*, subscriptions: int, kafka_version: str) -> str:
    return (
        f"The members have {subscriptions} different subscriptions, and uniform of Kafka {kafka_version} throws in "
        "about one of ten such assignments: the group then keeps what it has and gives newcomers nothing. Let all "
        "subscribe to the same topics, set group.remote.assignor=range, or upgrade the brokers to 4.0."
    )


def _share_group_behind(*, lag_messages: int, lag_seconds: float, members: int, partitions: int) -> str:
    return (
        f"Up to {counted(lag_messages, 'message')}, {format_seconds(lag_seconds)} of writing, wait behind the "
        f"records that its {counted(members, 'member')} {verb(members, 'has', 'have')} in flight: run more of them. A "
        f"share group may have more members than its {counted(partitions, 'partition')}."
    )


# --- Kafka Streams


def _streams_threads_idle(
    *,
    idle_members: int,
    members: int,
    tasks: int,
    cause: str,
    topics: Sequence[str],
    partitions: int | None,
    is_stateful: bool,
    idle_after: int | None,
) -> str:
    has = f"{idle_members} of {counted(members, 'thread')} {verb(idle_members, 'has', 'have')} no task"
    there = counted(tasks, "task")
    match cause:
        case "fewer_tasks":
            many = "" if partitions is None else f" ({counted(partitions, 'partition')} each)"
            wider = f"{some(topics)}{many}" if topics else "its largest source topic"
            reset = (
                ". Changelogs keep their partitions, so a stateful application must be reset for that "
                "(kafka-streams-application-reset)"
                if is_stateful
                else ""
            )
            return (
                f"{has}: the group has {there} in all. Lower num.stream.threads or run fewer instances, or add "
                f"partitions to {wider}{reset}."
            )
        case "next_target":
            left = f"all but {idle_after}" if idle_after else "all of them"
            return f"{has}, though there are {there}. The next rebalance gives tasks to {left}: restart one instance."
        case "kept":
            return f"{has}, though there are {there}. {_AFRESH}"
    return f"{has}, though there are {there}. Compare again after the next rebalance."


_AFRESH = (
    "The sticky assignor leaves tasks with their owners, so the next rebalance does not mend that. Stop all instances, "
    "wait until the group is Empty, and start them: tasks are then dealt anew, and their state is restored where an "
    "instance does not have it."
)


def _streams_no_standby(
    *, instance: str, tasks_restored: int, tasks_restored_with: int | None, state_bytes: int | None, is_classic: bool
) -> str:
    size = "" if state_bytes is None else f" ({format_bytes(state_bytes)} in all)"
    would = "" if tasks_restored_with is None else f": {tasks_restored_with} would be restored then"
    setting = (
        "num.standby.replicas=1 in the application and restart its instances one at a time"
        if is_classic
        else "streams.num.standby.replicas=1 for the group (kafka-configs --entity-type groups)"
    )
    return (
        f"No task has a standby. If instance {instance} dies, {counted(tasks_restored, 'task')} "
        f"{verb(tasks_restored, 'is', 'are')} read again from the changelogs{size} before work goes on. Set "
        f"{setting}{would}."
    )


def _streams_state_twice(*, state_bytes: int | None) -> str:
    size = "" if state_bytes is None else f" ({format_bytes(state_bytes)} of changelogs)"
    return f"each state{size} is read once more and kept on a second instance"


def _streams_standbys_missing(
    *,
    standbys_missing: int,
    standbys_wanted: int,
    standby_replicas: int,
    instances: int | None,
    cause: str,
    missing_after: int | None,
) -> str:
    are = verb(standbys_missing, "is", "are")
    has = f"{standbys_missing} of {counted(standbys_wanted, 'standby task')} {are} missing"
    match cause:
        case "few_instances":
            more, there = max(1, standby_replicas + 1 - (instances or 0)), instances or 0
            need = verb(standby_replicas, "standby needs", f"{standby_replicas} standbys need")
            return (
                f"{has}: a task and its {need} {standby_replicas + 1} instances, and there {verb(there, 'is', 'are')} "
                f"{there}. Start {counted(more, 'more instance')}, or lower streams.num.standby.replicas."
            )
        case "next_target":
            left = f"all but {missing_after}" if missing_after else "all of them"
            return f"{has}. The next rebalance places {left}: restart one instance."
        case "kept":
            return f"{has}, and the next rebalance does not place them. Look at the coordinator's log."
    return f"{has}. Compare again after the next rebalance."


def _streams_tasks_uneven(
    *,
    most: int,
    least: int,
    cause: str,
    most_after: int | None,
    least_after: int | None,
    tasks_moved: int | None,
    tasks_restored: int | None,
    fewest: int,
) -> str:
    has = f"One thread has {counted(most, 'active task')}, another {least}"
    match cause:
        case "next_target":
            return (
                f"{has}. The next rebalance makes that {most_after or 0} and {least_after or 0}: it moves "
                f"{counted(tasks_moved or 0, 'task')} and restores {tasks_restored or 0}. Restart one instance in a "
                "quiet hour."
            )
        case "kept":
            return f"{has}. {_AFRESH} A thread has at most {fewest} then."
    return f"{has}; {fewest} would do. Compare again after the next rebalance."


def _streams_standbys_move(*, standbys_restored: int, standby_tasks: int, tasks_moved: int) -> str:
    also = f", and {counted(tasks_moved, 'active task')}" if tasks_moved else ""
    return (
        f"The next rebalance gives {standbys_restored} of {counted(standby_tasks, 'standby task')} to other "
        f"instances{also}, though nothing changes: their state is read again from the changelogs. Any join or leave "
        "starts it. Restart one instance at a time, and wait until its standbys have caught up before the next."
    )


def _streams_tasks(
    *,
    members: int,
    instances: int | None,
    active: int,
    standby: int,
    warmup: int,
    most: int,
    least: int,
    idle: int,
    standbys_missing: int | None,
) -> str:
    where = "" if instances is None else f" on {counted(instances, 'instance')}"
    spread = most if most == least else f"{least} to {most}"
    lacks = f", {standbys_missing} of the standbys missing" if standbys_missing else ""
    return (
        f"tasks: {active} active, {standby} standby, {warmup} warm-up, on {counted(members, 'thread')}{where}; a "
        f"thread has {spread} active ones, {idle} {verb(idle, 'is', 'are')} idle{lacks}"
    )


def _streams_next_target(*, moved: int, restored: int, standbys_restored: int) -> str:
    if not moved and not standbys_restored:
        return "a rebalance without a change moves nothing"
    return f"a rebalance without a change moves {_moves(moved, restored, standbys_restored)}"


def _streams_instance_dies(
    *, instance: str, variants: int, active: int, moved: int, restored: int, standbys_restored: int
) -> str:
    worst = f"the worst of {variants}" if variants > 1 else "the only one that may"
    return (
        f"if instance {instance} dies ({worst}): it had {counted(active, 'active task')}; "
        f"{_moves(moved, restored, standbys_restored)} {verb(moved, 'moves', 'move')}"
    )


def _moves(moved: int, restored: int, standbys_restored: int) -> str:
    return (
        f"{counted(moved, 'active task')} ({restored} restored from changelogs, and "
        f"{counted(standbys_restored, 'standby task')})"
    )


def _streams_instance_joins(*, variants: int, active: int, standby: int, moved: int, restored: int) -> str:
    note = "" if variants == 1 else f" (the most of {variants} that were drawn)"
    return (
        f"if an instance joins{note}: it gets {counted(active, 'active task')} and {counted(standby, 'standby task')}; "
        f"{counted(moved, 'active task')} {verb(moved, 'moves', 'move')}, {restored} restored from changelogs"
    )


def _streams_not_replayed(*, inputs: Sequence[str]) -> str:
    return f"what an instance's death or join changes is unknown: {streams_parts_unknown(inputs=inputs)}"


_CHANGES = {
    "instance_dies": "a death", "instance_joins": "a join", "instances_halved": "the death of half the instances",
}  # fmt: skip


def _streams_at_rest(*, standby_replicas: Sequence[int], tags: Sequence[str], unknown: Sequence[str]) -> str:
    counts = " or ".join(map(str, standby_replicas))
    by = f" and rack.aware.assignment.tags of {', '.join(tags)}" if tags else ""
    left = (
        f". Settings that give these tasks disagree on {' and '.join(_CHANGES.get(case, case) for case in unknown)}"
        if unknown
        else ""
    )
    return (
        f"HighAvailabilityTaskAssignor gives exactly these tasks with num.standby.replicas {counts}{by}. Figures of "
        f"a change are those at rest, after all warm-ups (max.warmup.replicas at a time){left}"
    )


def _static_members_partly(*, static_members: int, dynamic_members: int, members: Sequence[str]) -> str:
    every = static_members + dynamic_members
    return (
        f"{static_members} of {counted(every, 'member')} {verb(static_members, 'has', 'have')} a group.instance.id, "
        f"{dynamic_members} {verb(dynamic_members, 'has', 'have')} none ({some(members, dynamic_members, most=3)}): "
        "each restart of these makes all rebalance, so the ids of the others gain little. Give every member one."
    )


def _static_membership(*, members: int, mean_unread_seconds: float, static_mean_unread_seconds: float) -> str:
    return (
        f"A rolling restart of its {counted(members, 'member')} leaves a partition unread for "
        f"{format_seconds(mean_unread_seconds)} in all; with a group.instance.id in each member it would be "
        f"{format_seconds(static_mean_unread_seconds)}: a restart within session.timeout.ms moves nothing and stops "
        "no other member."
    )


# --- rates and racks


def _group_hot_partition(
    *,
    partition: str,
    in_bytes_per_s: float,
    share_of_group: float,
    times_mean: float,
    members_that_suffice: int,
    members: int,
    heaviest_key: str | None = None,
    heaviest_key_share: float | None = None,
) -> str:
    return (
        f"{partition} alone carries {format_bytes(in_bytes_per_s)}/s, {share_of_group:.0%} of what the group reads "
        f"and {times_mean:.1f} × the mean of its members. No assignor can split it. More members do not help, nor do "
        "more partitions where one key carries it. Find its busiest key and spread it over several; until then "
        f"{counted(members_that_suffice, 'member')} {verb(members_that_suffice, 'reads', 'read')} as fast as "
        f"{members}.{heavy_key(heaviest_key, heaviest_key_share)}"
    )


def _uneven_by_rate(*, strategy: str, skew_rate: float, best_skew_rate: float) -> str:
    return (
        f"{strategy} gives the busiest member {skew_rate:.1f} × the mean by rate. No assignor of Kafka looks at "
        f"rates, and none of them is better by a quarter. {best_skew_rate:.1f} × is possible: with a custom assignor "
        "that weighs partitions, or with other partition counts."
    )


def _uneven_per_topic(
    *,
    strategy: str,
    member: str,
    topic: str,
    partitions: int,
    partitions_at_member: int,
    even_partitions: int,
    way: str,
) -> str:
    return (
        f"{strategy} gives members alike numbers of partitions, but {member} has {partitions_at_member} of the "
        f"{counted(partitions, 'partition')} of {topic}, where an even part is {even_partitions}: a busy topic is not "
        f"shared. {way}."
    )


def _use_range(*, setting: str) -> str:
    return f"range divides each topic by itself and is as even here: if topics differ in load, {setting}"


def _give_topic_own_group(*, java_release: str | None) -> str:
    own_group = "read the busy topic in a group of its own"
    if java_release is None:
        return own_group.capitalize()
    return (
        f"Kafka's Java client spreads topics better from {java_release} on (KAFKA-16277); with another client "
        f"{own_group}"
    )


def _cross_rack_reads(
    *, advised: str, same_rack_ratio: float, advised_same_rack_ratio: float, leader_in_rack_ratio: float
) -> str:
    return (
        f"Members can fetch {same_rack_ratio:.0%} of what they read in their own rack; {advised} would make it "
        f"{advised_same_rack_ratio:.0%}. Brokers serve it there with replica.selector.class=RackAwareReplicaSelector; "
        f"without it only partitions that are led in the rack ({leader_in_rack_ratio:.0%} today)."
    )


# --- advice


def _see(codes: Sequence[str]) -> str:
    return f"; see {', '.join(code.replace('_', ' ') for code in codes)}" if codes else ""


def _no_choice(*, kind: str, see: Sequence[str]) -> str:
    return _KINDS[kind] + _see(see)


_UNKNOWN_OF_CONNECT = {
    "settled_state": "the group is not at rest",
    "workers": "what some workers run is unknown",
    "leader": "the workers name no common leader",
}


def _connect_size(workers: int, connectors: int, tasks: int) -> str:
    work = f"{counted(connectors, 'connector')} and {counted(tasks, 'task')}"
    return f"{counted(workers, 'worker')} {verb(workers, 'runs', 'run')} {work}"


def _connect_pieces(count: int) -> str:
    return "1 connector or task" if count == 1 else f"{count} connectors and tasks"


def _connect_workers_unknown(
    *, workers: int, connectors: int, tasks: int, missing: Sequence[str], see: Sequence[str]
) -> str:
    reasons = ", ".join(_UNKNOWN_OF_CONNECT[part] for part in missing)
    return f"{_connect_size(workers, connectors, tasks)}; what-if scenarios are missing: {reasons}{_see(see)}"


def _connect_workers(
    *, workers: int, connectors: int, tasks: int, is_eager: bool, most_tasks: int, least_tasks: int, idle_workers: int,
    is_reproduced: bool, deaths: Sequence[str], gained: int, moved: int, see: Sequence[str],
) -> str:  # fmt: skip
    level = f"{f'{least_tasks} to ' if least_tasks != most_tasks else ''}{counted(most_tasks, 'task')} each"
    idle = f", {idle_workers} idle" if idle_workers else ""
    way = "the eager assignor" if is_eager else "the cooperative assignor"
    kept = f"{way} would change nothing" if is_reproduced else f"{way} would move some of it at the next rebalance"
    joins = f"One more worker would get {gained}, and {moved} would move."
    sentences = " ".join(f"{death}." for death in deaths)
    return f"{_connect_size(workers, connectors, tasks)}, {level}{idle}; {kept}. {sentences} {joins}{_see(see)}"


def _connect_worker_dies(*, worker: str, is_leader: bool, stopped: int, stopped_ms: int, moved: int) -> str:
    who = f"If the leader {worker} dies" if is_leader else f"If {worker} dies"
    if not stopped:
        return f"{who}, nothing stops"
    if not stopped_ms:
        return f"{who}, {_connect_pieces(moved)} {verb(moved, 'moves', 'move')} at once"
    stop = f"{_connect_pieces(stopped)} {verb(stopped, 'stops', 'stop')} for {format_seconds(stopped_ms / 1000)}"
    return (
        f"{who}, {stop} (scheduled.rebalance.max.delay.ms, default assumed), then move. A worker that returns earlier "
        "gets them back when the delay ends"
    )


def _connect_idle_workers(*, idle_workers: int, workers: int, connectors: int, tasks: int) -> str:
    return (
        f"{idle_workers} of {counted(workers, 'worker')} {verb(idle_workers, 'runs', 'run')} nothing: there are only "
        f"{counted(connectors, 'connector')} and {counted(tasks, 'task')}. Raise tasks.max of a connector that can run "
        "more tasks, or run fewer workers."
    )


def _connect_uneven_workers(
    *, most_tasks: int, least_tasks: int, most_tasks_after: int, most_connectors: int, most_connectors_after: int,
    idle_workers: int, idle_workers_after: int,
) -> str:  # fmt: skip
    connectors = f", the most connectors from {most_connectors} to {most_connectors_after}"
    idle = f", idle workers from {idle_workers} to {idle_workers_after}"
    return (
        f"Workers run {least_tasks} to {counted(most_tasks, 'task')}. A rebalance brings the most tasks of one worker "
        f"from {most_tasks} to {most_tasks_after}{connectors if most_connectors != most_connectors_after else ''}"
        f"{idle if idle_workers != idle_workers_after else ''}: restart one worker that runs nothing or little, or "
        "update the configuration of a connector."
    )


def _restarts_tasks(*, moved: int) -> str:
    return f"{_connect_pieces(moved)} {verb(moved, 'restarts', 'restart')} on another worker"


def _change_strategy(
    *, advised: str, idle_members: int, skew_count: float | None, partitions_moved: int, is_server: bool
) -> str:
    skew = "" if skew_count is None else f", skew {skew_count:.2f}"
    setting = " (group.remote.assignor)" if is_server else ""
    return f"{advised}: {idle_members} idle{skew}, {changing(partitions_moved)} reader{setting}"


def _keep_strategy(*, strategy: str, why: str, skew: float | None, by_rate: bool, see: Sequence[str]) -> str:
    level = f"{skew or 0.0:.2f} × the mean by {'rate' if by_rate else 'count'}"
    reason = {
        "one_member": "one member reads all",
        "not_measured": "how even it is was not measured",
        "even": f"even, the fullest member has {level}",
        "none_better": f"no other would be better by a quarter ({level})",
    }[why]
    return f"keep {strategy}: {reason}{_see(see)}"


def _strategy_unknown(*, members: int, streams_threads: int, learn: str, see: Sequence[str]) -> str:
    streams = (
        f"; {streams_threads} of {counted(members, 'member')} {verb(streams_threads, 'is a thread', 'are threads')} "
        "of Kafka Streams"
        if streams_threads
        else ""
    )
    return f"cannot tell: the group's strategy is unknown{streams}: {learn}{_see(see)}"


def _subscriptions_unknown(*, strategy: str, see: Sequence[str]) -> str:
    why = f"{strategy} would not give what the members read, so their subscriptions are unknown"
    return f"cannot tell: {why}{_see(see)}"


def _strategies_not_replayed(*, client: str | None, skew: float, by_rate: bool, see: Sequence[str]) -> str:
    whose, by = client or "part of its members", "rate" if by_rate else "count"
    return f"cannot tell: the strategies of {whose} are not replayed here ({skew:.2f} × the mean by {by}){_see(see)}"


def _consumer_protocol(
    *,
    assignor: str,
    skew: float,
    skew_today: float,
    partitions_moved: int,
    member_dies: str | None,
    member_dies_today: str | None,
) -> str:
    text = (
        f"KIP-848 with {assignor}: the fullest member has {skew:.2f} × the mean (today {skew_today:.2f} ×), "
        f"{changing(partitions_moved)} reader once"
    )
    if member_dies is None or member_dies_today is None:
        return text
    return f"{text}; when a member dies {member_dies} (today {member_dies_today})"


def _partitions_wait(*, partitions: int, longest_pause_ms: int | None) -> str:
    waiting = f"{counted(partitions, 'partition')} {verb(partitions, 'waits', 'wait')}"
    if longest_pause_ms is None:
        return f"{waiting}, some for ever"
    return f"{waiting} up to {format_seconds(longest_pause_ms / 1000)}"


# --- rollover

_ACTIONS = {
    "require": "Make sure",
    "set": "Set",
    "remove": "Remove",
    "bounce": "Restart one member after the other",
    "stop": "Stop all members",
    "start": "Start all members",
    "restart_connector": "Restart the connector and its tasks",
    "stop_connector": "Stop the connector",
    "resume_connector": "Resume the connector",
}
_SETTINGS = {
    "client": "the client of all members",
    "client_release": "the client's release",
    "broker_release": "the brokers' release",
    "group_state": "the group's state",
}
_RELEASES = ("client_release", "broker_release")
_WHYS = {
    "client_unknown": "no single client was recognised ({clients}); these are the steps of Java's",
    "overrides_refused": (
        "else the worker refuses the connector's overrides; it is All by default from 3.0 on. The same settings behind "
        "consumer. in every worker's own file hold for all its connectors"
    ),
    "all_must_name": "a group uses a strategy that all members name",
    "stays_until_all_name": "{today} stays in use until all name {target}",
    "revokes_until_then": "until then every member gives up all at each rebalance, {target} alone is left",
    "both_are_eager": "both are eager, {target} alone is left",
    "out_of_use_after": "after it {today} is out of use",
    "cannot_name_both": "{client} cannot name {today} and {target} together; nothing is read meanwhile",
    "static_members_stay": "members with an instance id stay in the group until their session is over",
    "keeps_positions": "positions stay committed",
    "reads_on": "they go on where they were",
    "brokers_too_old": "KIP-848 is for production from there on",
    "new_member_refused": "else the coordinator refuses the first new member",
    "old_member_refused": "else the coordinator refuses old members",
    "coordinator_assigns": "the coordinator computes the assignment; clients refuse it",
    "broker_sets_session": "clients refuse it; the group's configuration consumer.session.timeout.ms replaces it",
    "broker_sets_heartbeat": "clients refuse it; the group's configuration consumer.heartbeat.interval.ms replaces it",
    "keeps_ids_and_patterns": "instance ids stay; a pattern that the client matches itself stays",
    "else_first_of_brokers": "members that name none get the brokers' first",
    "first_turns_group": (
        "the first new member turns the group over; old ones go on by the old requests until it is their turn"
    ),
    "refused_beside_classic": "Java's clients refuse it beside the classic protocol",
    "client_sets_session": "the client sets session and heartbeat again",
    "used_by_group": "the group then uses it",
    "last_turns_group": "the group is a classic one again when its last KIP-848 member has left",
    "each_member_names": "each member names it",
    "most_members_decide": "the coordinator uses the one that most members name",
}
_OBSTACLES = {
    "no_server_assignor": "{target} is no assignor that brokers come with",
    "brokers_too_old": "KIP-848 groups are for production from brokers 4.0 on",
    "protocol_unknown": "the advisor does not know whether {client} speaks KIP-848",
    "protocol_not_released": "no release of {client} with KIP-848 for production is known",
    "strategy_unknown": "the group's strategy of today is unknown: {learn}",
    "strategies_unknown": "the advisor does not know the strategies of {client}",
    "client_lacks_strategy": "{client} has no strategy {target}",
    "members_lack_strategy": (
        "not all members have a strategy {target}: they run several client libraries or an older release"
    ),
}


def _rollover_step(
    *,
    number: int,
    action: str,
    setting: str | None,
    value: str | None,
    rebalances: int | None,
    why: str,
    today: str | None,
    target: str,
    client: str | None,
    clients: Sequence[str],
) -> str:
    what = "" if setting is None else f" {_SETTINGS.get(setting, setting)}"
    if setting == "client":
        value = "Java's own"
    elif setting in _RELEASES:
        value = f"{value} or later"
    elif setting == "group.consumer.migration.policy":
        value = f"{value} or bidirectional (the default)"
    assigned = "" if value is None else f" = {value}"
    most = "" if rebalances is None else f" (at most {counted(rebalances, 'rebalance')})"
    if why == "release_too_old":
        reason = f"older ones do not know {'KIP-848' if target in ('uniform', 'range') else target}"
    elif why == "has_user_data":
        hold = f"by {today} hold" if today else "by its strategy of today, which is unknown, may hold"
        reason = (
            f"assignments {hold} data of its own, and brokers do not turn such a group over while it runs; nothing is "
            "read meanwhile"
        )
    else:
        reason = _WHYS[why].format(today=today, target=target, client=client or "a client", clients=", ".join(clients))
    return f"{number}. {_ACTIONS[action]}{what}{assigned}{most}: {reason}."


def _read_twice(
    *,
    case: str,
    client: str | None = None,  # noqa: ARG001
    is_eager: bool = True,
    reads_while_joining: bool = False,
) -> str:
    if case == "between_group_types":
        return (
            "records read twice: of each partition that changes its member at most those read since its last commit: a "
            "client that commits automatically may read on after that (66 of 293 were read twice in one run under "
            "load); none if the program commits in its listener before it gives a partition up"
        )
    given_up = "every partition at every rebalance" if is_eager else "only partitions that move, and a closed member's"
    few = (
        "few if the client commits automatically (under cooperative-sticky those of partitions that move, read while a "
        "rebalance waits for all members (a heartbeat interval and their longest poll): Java's client commits before "
        "that), none if the program commits"
    )
    none = "none if the client commits automatically, or the program"
    return (
        f"records read twice: {few if reads_while_joining else none} before it gives a partition up; else those read "
        f"since the last commit: {given_up}"
    )


def _cannot_change(*, why: str, client: str | None, target: str, learn: str) -> str:
    obstacle = _OBSTACLES[why].format(client=client or "the client", target=target, learn=learn)
    return f"cannot be changed: {obstacle}"


def _cannot_change_kind(*, kind: str) -> str:
    return f"cannot be changed: {_KINDS[kind]}"


def _cannot_change_now(**motion: object) -> str:
    return f"cannot be changed now: {describe_motion(**motion)[0]}"  # type: ignore[arg-type]


# --- rows of a group under a strategy


def _member(verb_of_it: str) -> Callable[..., str]:
    return lambda *, member: f"{member} {verb_of_it}"


def _members_restart(*, restarts: int, members: int) -> str:
    return f"{restarts} of {counted(members, 'member')} {verb(restarts, 'restarts', 'restart')}"


def _rack_dies(*, rack: str, members: int) -> str:
    return f"rack {rack} dies with {counted(members, 'member')}"


def _group_changes(*, members_before: int, members: int, partitions_before: int, partitions: int) -> str:
    changes = [
        f"{before:,} to {after:,} {nouns}"
        for before, after, nouns in (
            (members_before, members, "members"),
            (partitions_before, partitions, "partitions"),
        )
        if before != after
    ]
    return ", ".join(changes) or "as many members and partitions"


def _topic_grows(*, topic: str, partitions_before: int, partitions: int) -> str:
    before = f"{partitions_before:,} to " if partitions_before else ""
    return f"{topic}: {before}{counted(partitions, 'partition')}"


def _strategy_changes(*, strategy: str) -> str:
    return f"from {strategy}"


def _strategy_refuses(*, error: str, message: str) -> str:
    return f"{error}: {message}" if message else error


def _strategy_not_modelled(*, strategy: str, modelled_since: str) -> str:
    return f"not modelled: the coordinator's {strategy} before Kafka {modelled_since}"


def _spans(releases: Sequence[tuple[str, str, str]]) -> str:
    return ", ".join(f"{product} {_span(first, last)}" for product, first, last in releases)


def _span(first: str, last: str) -> str:
    if first == last:
        return first
    return f"{first} – {last}" if first and last else f"{first} and later" if first else f"up to {last}"


def _answer_of_releases(
    *, releases: Sequence[tuple[str, str, str]], basis: str | None, differing: Sequence[tuple[str, str, str]]
) -> str:
    others = f"; {_spans(differing)} would differ" if differing else ""
    return f"{_spans(releases)} ({basis or 'assumed'}{others})"


def _answer_of_assignor(*, versions: str, gives_today: bool) -> str:
    return (versions or "custom assignor") + (" (gives today's assignment)" if gives_today else "")


def _gives_today(
    *, releases: Sequence[tuple[str, str, str]], differing: Sequence[tuple[str, str, str]], alike: Sequence[str],
    keeps_even: bool, basis: str | None, is_rackless: bool = False,
) -> str:  # fmt: skip
    text = "gives today's assignment"
    if alike:
        text = f"today's assignment fits, {' and '.join(alike)} would give it, too"
    elif keeps_even:
        text = "today's assignment fits, as any even one"
    text += ", if racks were others then" if is_rackless else ""
    text += f"; {_spans(differing)} would not" if differing else ""
    return f"{_spans(releases)} ({text}{f'; {basis}' if basis else ''})"


def _release_of_brokers(*, release: str) -> str:
    return f"brokers are {release}"


def _client_not_modelled(*, client: str) -> str:
    return f"as Java's; {client}'s own is not modelled"


def _assumed(*, basis: str) -> str:
    return f"assumed: {basis}, newer than any release that was tried"


_SIGNS = {
    "rule": "a rule",
    "client_id": "its client id",
    "join_bytes": "what it says when it joins",
    "client_id_and_join_bytes": "its client id and what it says when it joins",
    "strategy_name": "its strategy's name",
}


def _releases_of_client(*, client: str, first: str, last: str, sign: str, sureness: str, is_asked: bool) -> str:
    span = _span(first, last)
    detected = f"{client}{f' {span}' if span else ''} by {_SIGNS[sign]} ({sureness})"
    return detected if is_asked else f"another release than {detected}"


# --- costs


def _one_rebalance(*, partitions: int | None = None, way: str | None = None) -> str:
    moved = "" if partitions is None else f" in which {changing(partitions)} hands"
    return f"one rebalance{moved}{'' if way is None else f'; {way}'}"


def _rolling_restart(*, effect: str | None = None) -> str:
    more = {
        "revokes_all": " of the members; members then give up all partitions at each rebalance",
        "keeps_dead_members": (
            " that sets the ids; a member that is gone for good keeps its partitions until its session ends"
        ),
    }
    return f"one rolling restart{more.get(str(effect), ' of the members')}"


def _restarts_members(*, members: int) -> str:
    return f"{counted(members, 'restart')}, one member after the other"


def _moves_one_by_one(*, partitions: int) -> str:
    return (
        f"no rebalance stops the group: {changing(partitions)} hands one by one once most members name it; one "
        "rolling restart"
    )


def _changes_library(*, members: int) -> str:
    return f"{counted(members, 'member')} to change, or a second group that starts from copied offsets"


def _always(text: str) -> Callable[[], str]:
    return lambda: text


GROUPS: Mapping[FactCode, Callable[..., str]] = MappingProxyType(
    {
        FactCode.NOT_JUDGED: _not_judged,
        FactCode.IDLE_MEMBERS: _idle_members,
        FactCode.IDLE_CAUSE: _idle_cause,
        FactCode.ASSIGNOR_UNEVEN: _assignor_uneven,
        FactCode.SERVER_ASSIGNOR_UNEVEN: _server_assignor_uneven,
        FactCode.DEAD_STATIC_MEMBER: _dead_static_member,
        FactCode.LAG_GROWING: _lag_growing,
        FactCode.LAG_CONCENTRATED: _lag_concentrated,
        FactCode.PARTITION_NOT_READ: _partition_not_read,
        FactCode.UNREAD_PARTITIONS: _unread_partitions,
        FactCode.TOPIC_WITHOUT_READER: _topic_without_reader,
        FactCode.READ_WITHOUT_JOINING: _read_without_joining,
        FactCode.COMMIT_OUT_OF_RANGE: _commit_out_of_range,
        FactCode.STICKY_ENDLESS: _sticky_endless,
        FactCode.SHARED_OFFSETS: _shared_offsets,
        FactCode.MIXED_STATIC_MEMBERS: _mixed_static_members,
        FactCode.LEADER_MAY_CRASH: _leader_may_crash,
        FactCode.UNKNOWN_TOPIC_STOPS_GROUP: _unknown_topic_stops_group,
        FactCode.ROLLOVER_HALF_DONE: _rollover_half_done,
        FactCode.MIXED_CLIENTS: _mixed_clients,
        FactCode.SERVER_UNIFORM_MAY_THROW: _server_uniform_may_throw,
        FactCode.SHARE_GROUP_BEHIND: _share_group_behind,
        FactCode.STATIC_MEMBERS_PARTLY: _static_members_partly,
        FactCode.STATIC_MEMBERSHIP: _static_membership,
        FactCode.STREAMS_THREADS_IDLE: _streams_threads_idle,
        FactCode.STREAMS_NO_STANDBY: _streams_no_standby,
        FactCode.STREAMS_STATE_TWICE: _streams_state_twice,
        FactCode.STREAMS_STANDBYS_MISSING: _streams_standbys_missing,
        FactCode.STREAMS_TASKS_UNEVEN: _streams_tasks_uneven,
        FactCode.STREAMS_STANDBYS_MOVE: _streams_standbys_move,
        FactCode.STREAMS_TASKS: _streams_tasks,
        FactCode.STREAMS_NEXT_TARGET: _streams_next_target,
        FactCode.STREAMS_INSTANCE_DIES: _streams_instance_dies,
        FactCode.STREAMS_INSTANCE_JOINS: _streams_instance_joins,
        FactCode.STREAMS_NOT_REPLAYED: _streams_not_replayed,
        FactCode.STREAMS_AT_REST: _streams_at_rest,
        FactCode.GROUP_HOT_PARTITION: _group_hot_partition,
        FactCode.UNEVEN_BY_RATE: _uneven_by_rate,
        FactCode.UNEVEN_PER_TOPIC: _uneven_per_topic,
        FactCode.CROSS_RACK_READS: _cross_rack_reads,
        FactCode.SET_STRATEGY: _set_strategy,
        FactCode.LEARN_STRATEGY: _learn_strategy,
        FactCode.RESTART_ONE_BY_ONE: _always("members restart one after the other"),
        FactCode.RESTART_CONNECTOR: _always(
            "restart the connector and its tasks (connector.client.config.override.policy must allow the override)"
        ),
        FactCode.NAME_BOTH_STRATEGIES: _always("all members must name the new strategy before any drops the old one"),
        FactCode.STOP_ALL_MEMBERS: _stop_all_members,
        FactCode.USE_RANGE: _use_range,
        FactCode.GIVE_TOPIC_OWN_GROUP: _give_topic_own_group,
        FactCode.HOT_PARTITION_LIMITS_GROUP: _hot_partition_limits_group,
        FactCode.SHARE_PARTITIONS_EVENLY: _share_partitions_evenly,
        FactCode.MEMBERS_TOO_SLOW: _members_too_slow,
        FactCode.MORE_MEMBERS_WOULD_IDLE: _more_members_would_idle,
        FactCode.ADD_MEMBERS: _add_members,
        FactCode.NO_CHOICE: _no_choice,
        FactCode.CONNECT_WORKERS: _connect_workers,
        FactCode.CONNECT_WORKERS_UNKNOWN: _connect_workers_unknown,
        FactCode.CONNECT_WORKER_DIES: _connect_worker_dies,
        FactCode.CONNECT_IDLE_WORKERS: _connect_idle_workers,
        FactCode.CONNECT_UNEVEN_WORKERS: _connect_uneven_workers,
        FactCode.RESTARTS_TASKS: _restarts_tasks,
        FactCode.CHANGE_STRATEGY: _change_strategy,
        FactCode.KEEP_STRATEGY: _keep_strategy,
        FactCode.STRATEGY_UNKNOWN: _strategy_unknown,
        FactCode.SUBSCRIPTIONS_UNKNOWN: _subscriptions_unknown,
        FactCode.STRATEGIES_NOT_REPLAYED: _strategies_not_replayed,
        FactCode.CONSUMER_PROTOCOL: _consumer_protocol,
        FactCode.PARTITIONS_WAIT: _partitions_wait,
        FactCode.ROLLOVER_STEP: _rollover_step,
        FactCode.READ_TWICE: _read_twice,
        FactCode.CANNOT_CHANGE: _cannot_change,
        FactCode.CANNOT_CHANGE_KIND: _cannot_change_kind,
        FactCode.CANNOT_CHANGE_NOW: _cannot_change_now,
        FactCode.MEMBER_JOINS: _member("joins"),
        FactCode.MEMBER_LEAVES: _member("leaves"),
        FactCode.MEMBER_DIES: _member("dies"),
        FactCode.MEMBER_RESTARTS: _member("restarts"),
        FactCode.MEMBERS_RESTART: _members_restart,
        FactCode.RACK_DIES: _rack_dies,
        FactCode.GROUP_CHANGES: _group_changes,
        FactCode.TOPIC_GROWS: _topic_grows,
        FactCode.STRATEGY_CHANGES: _strategy_changes,
        FactCode.STRATEGY_REFUSES: _strategy_refuses,
        FactCode.STRATEGY_NOT_MODELLED: _strategy_not_modelled,
        FactCode.NO_MEMBER_LEFT: _always("no member is left"),
        FactCode.NO_BROKER_TO_PLACE_ON: _always("no broker is alive to place it on"),
        FactCode.ANSWER_OF_RELEASES: _answer_of_releases,
        FactCode.ANSWER_OF_ASSIGNOR: _answer_of_assignor,
        FactCode.GIVES_TODAY: _gives_today,
        FactCode.RELEASE_OF_BROKERS: _release_of_brokers,
        FactCode.RELEASES_OF_CLIENT: _releases_of_client,
        FactCode.CLIENT_NOT_MODELLED: _client_not_modelled,
        FactCode.ASSUMED: _assumed,
        FactCode.ONE_REBALANCE: _one_rebalance,
        FactCode.ROLLING_RESTART: _rolling_restart,
        FactCode.RESTARTS_MEMBERS: _restarts_members,
        FactCode.MOVES_ONE_BY_ONE: _moves_one_by_one,
        FactCode.CHANGES_LIBRARY: _changes_library,
        FactCode.MOVES_KEYS: _always("twice the partitions send half of all keys elsewhere: their order breaks once"),
        FactCode.STARTS_AT_RESET: _always(
            "the new groups start where auto.offset.reset says, unless offsets are set first"
        ),
        FactCode.NEEDS_CUSTOM_ASSIGNOR: _always("you write a custom assignor and ship it with every member"),
        FactCode.ADDS_MEMBERS: _always("more members; nothing stops while they join"),
    }
)


def _load_source(*, source: str, window_s: float | None, is_of_history: bool, known_ratio: float) -> str:
    text = source.replace("_", " ")
    if window_s is not None:
        text += f" over {format_seconds(window_s) if is_of_history else f'{window_s:.0f} s'}"
    return text if known_ratio == 1 else f"{text}, known for {100 * known_ratio:.1f} % of partitions"


def _load_of_log_dirs() -> str:
    return "log dirs, as brokers report them"


def _load_missing() -> str:
    return "unknown metric"


def _disk_fills(*, broker: int, used_ratio: float, days: float, days_with_plan: float | None) -> str:
    if days <= 0:
        return f"broker {broker}'s disk is {100 * used_ratio:.0f} % full already"
    text = f"broker {broker} reaches 85 % of its disk in {_days(days)}"
    if days_with_plan is None or days_with_plan == days:
        return text
    return f"{text}, with the plan {f'in {_days(days_with_plan)}' if days_with_plan > 0 else 'at once'}"


def _days(days: float) -> str:
    whole = max(1, round(days))
    return "a day" if whole == 1 else f"{whole:,} days"


def _more_disks_fill(*, brokers: int, horizon_days: int) -> str:
    return f"{brokers} more {verb(brokers, 'broker reaches', 'brokers reach')} it within {horizon_days} days"


def _no_disk_fills(*, horizon_days: int) -> str:
    return f"no disk reaches 85 % within {horizon_days} days at the growth of the last two weeks"


ADVISORY: Mapping[FactCode, Callable[..., str]] = MappingProxyType(
    {
        FactCode.LOAD_SOURCE: _load_source,
        FactCode.LOAD_OF_LOG_DIRS: _load_of_log_dirs,
        FactCode.LOAD_MISSING: _load_missing,
        FactCode.DISK_FILLS: _disk_fills,
        FactCode.MORE_DISKS_FILL: _more_disks_fill,
        FactCode.NO_DISK_FILLS: _no_disk_fills,
    }
)
