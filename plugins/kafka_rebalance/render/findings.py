"""Findings about brokers, topics and the cluster: finding, remedy, cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from kafka_assignors.visible_text import excerpt
from kafka_rebalance.amounts import (
    LEAST_PRICE,
    LISTED,
    counted,
    format_amount,
    format_bytes,
    format_seconds,
    listed,
)
from kafka_rebalance.facts import FactCode
from kafka_rebalance.resources import UNITS

# Who settles findings, by ``Actor``: headings, in their order.
ACTORS = MappingProxyType(
    {"operator": "Now", "plan": "The plan fixes these", "owner": "Others must act", "none": "To know"}
)
# Beside one finding.
ACTOR_OF_ONE = MappingProxyType({"plan": "the plan fixes it", "owner": "others must act"})
_ELECTION = "kafka-leader-election --election-type preferred"
_ELECT_ALL = f"{_ELECTION} --all-topic-partitions"
_AUTOMATIC = "auto.leader.rebalance.enable"
_MIN_ISR = "min.insync.replicas"
CANCEL = "kafka-reassign-partitions.sh --bootstrap-server HOST:9092 --reassignment-json-file cancel.json --cancel"


def some(names: Sequence[object], count: int | None = None, most: int = LISTED) -> str:
    every = len(names) if count is None else count
    text = ", ".join(map(str, names[:most]))
    return f"{text} and {every - most:,} more" if every > most else text


def verb(count: int, singular: str, plural: str) -> str:
    return singular if count == 1 else plural


def sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _pattern(topic: str) -> str:
    """Return a shell-quoted regular expression for this topic alone."""
    return "'" + topic.replace(".", r"\.") + "'"


def _where(topic: str | None, topics: int | None) -> str:
    return counted(topics or 0, "topic") if topic is None else topic


# --- disks and rates


def _disk_over_share(*, broker: int, disk_bytes: float, times_share: float, outcome: str) -> str:
    return f"Broker {broker} holds {format_bytes(disk_bytes)}, {times_share:.2f} × its share: {outcome}."


def _rate_over_share(*, broker: int, resource: str, load: float, times_share: float, outcome: str) -> str:
    amount = format_amount(load, UNITS[resource])
    return f"Broker {broker} carries {amount} of {resource}, {times_share:.2f} × its share: {outcome}."


def _disk_full(
    *,
    broker: int,
    used_ratio: float,
    cluster_used_ratio: float | None,
    is_cluster_full: bool,
    filling_stray_bytes: float,
    least_seconds_to_full: float | None,
    outcome: str,
) -> str:
    full = f"The disks of broker {broker} are {used_ratio:.0%} full"
    if least_seconds_to_full:
        full += f", and all full in {format_seconds(least_seconds_to_full)} at the earliest, if nothing is deleted"
    if filling_stray_bytes:
        strays = format_bytes(filling_stray_bytes)
        return f"{full}. {strays} of it are logs that no replica list has. Without these it is not full."
    if cluster_used_ratio is None:
        return f"{full}: {outcome}. The disk sizes of some other brokers are unknown: give their capacities."
    cluster = f"The disks of the cluster are {cluster_used_ratio:.0%} full"
    if is_cluster_full:
        return f"{full}. {cluster}, too. Moving does not help: add brokers or keep less."
    return f"{full}. {cluster}: {outcome}."


def _log_dir_full(*, broker: int, paths: Sequence[str], used_ratio: float, others_used_ratio: float, way: str) -> str:
    return (
        f"Log dir {some(paths)} of broker {broker} is {used_ratio:.0%} full, the broker's other disks "
        f"{others_used_ratio:.0%}: {way}"
    )


def _no_replica_fits() -> str:
    return (
        "no replica that is known to be on it can move to another disk. Add a disk, keep less, or move replicas to "
        "other brokers."
    )


def _move_between_dirs(
    *,
    replicas: int,
    moved_bytes: float,
    lower_bound_bytes: float,
    first_moves: Sequence[tuple[str, str]],
    still_above_bytes: float,
    used_ratio_limit: float,
) -> str:
    moves = some([f"{partition} to {path}" for partition, path in first_moves], replicas)
    text = (
        f"move {counted(replicas, 'replica')} ({format_bytes(moved_bytes)}; at least "
        f"{format_bytes(lower_bound_bytes)} are needed to even out its disks) between its dirs: {moves}. "
        "`plan --balance-log-dirs 10%` writes the files for kafka-reassign-partitions, which slows the copies with "
        "--replica-alter-log-dirs-throttle."
    )
    if not still_above_bytes:
        return text
    still = f"{format_bytes(still_above_bytes)} stay above {used_ratio_limit:.0%}"
    return f"{text} {still}: move replicas to other brokers, too."


def _move_bytes_away(*, excess_bytes: float) -> str:
    return f"move {format_bytes(excess_bytes)} to other brokers"


def _move_busiest_away() -> str:
    return "move leaders or replicas of its busiest partitions"


def _plan_moves_nothing(*, verdict: str) -> str:
    return f"the plan moves nothing ({verdict.replace('_', ' ')})"


def _plan_leaves_broker() -> str:
    return "the plan leaves it as it is"


def _plan_leaves_resource(*, resource: str) -> str:
    return f"the plan does not balance {resource}"


def _plan_changes_load(*, resource: str, before: float, after: float) -> str:
    then = format_amount(after, UNITS[resource])
    if after >= before:
        return f"the plan moves nothing off it (it then has {then})"
    return f"the plan moves {format_amount(before - after, UNITS[resource])} off it, which leaves {then}"


# --- losses


def _loss_overloads(
    *,
    overloaded_broker: int,
    resource: str,
    load: float,
    capacity: float,
    way: str,
    broker: int | None = None,
    rack: str | None = None,
) -> str:
    lost, unit = f"rack {rack}" if broker is None else f"broker {broker}", UNITS[resource]
    return (
        f"If {lost} fails, the leaders that move to broker {overloaded_broker} lift its {resource} to "
        f"{format_amount(load, unit)}, {load / capacity:.2f} × its capacity ({format_amount(capacity, unit)}): "
        f"{way}."
    )


def _plan_prevents_overload(*, kind: str) -> str:
    return f"after the plan the loss of no {kind} does that"


def _plan_leaves_overload(*, kind: str, lost: int | str, broker: int, times_capacity: float) -> str:
    return (
        f"after the plan the worst is {times_capacity:.2f} × the capacity of broker {broker}, without {kind} {lost}. "
        "Add capacity, or spread leaders and follower orders further (--max-reorders)"
    )


def _spread_standbys() -> str:
    return "spread the standbys of its leaders (plan --max-reorders N copies nothing), or add capacity"


# --- leaders


def _leaders_piled_up(
    *,
    broker: int,
    leaders: int,
    times_share: float,
    taken_over: int,
    way: str,
    waiting_leaders: int,
    awaited: Sequence[str],
) -> str:
    wait = some(awaited, most=3)
    advice = {
        "wait": f"do not elect these before {wait}",
        "elect_these": f"elect these again ({_ELECTION})",
        "elect_all": f"elect all preferred leaders again ({_ELECT_ALL})",
        "reorder": "an election would make leaders less even, so let a plan put other replicas first",
    }[way]
    if way in ("elect_these", "elect_all") and awaited:
        advice += f", but {waiting_leaders:,} not before {wait}"
    return (
        f"Broker {broker} leads {counted(leaders, 'partition')}, {times_share:.2f} × its share. It took over "
        f"{taken_over:,} of them from their preferred leaders: {advice}."
    )


def _leaders_over_share(*, broker: int, preferred_leaders: int, times_share: float, outcome: str) -> str:
    return (
        f"Broker {broker} leads {counted(preferred_leaders, 'partition')} as their first replica, {times_share:.2f} × "
        f"its share of leaders: {outcome}."
    )


def _reorder_and_elect() -> str:
    return "put another replica that is in sync first (a new order of replicas copies nothing), and elect it"


def _preferred_leaders_off(
    *,
    partitions: int,
    off_partitions: int,
    idle_brokers: Sequence[int],
    way: str,
    waiting_leaders: int,
    awaited: Sequence[str],
    elected_by_plan: int,
) -> str:
    wait = some(awaited, most=3)
    advice = {
        "none": "no need to elect them: leaders would not be more even",
        "elect_all": f"run {_ELECT_ALL}",
        "wait": f"do not elect them before {wait}",
    }[way]
    if way == "elect_all" and waiting_leaders:
        advice += f", which leaves {waiting_leaders:,} as they are until {wait}"
    count = len(idle_brokers)
    idle = f"; {verb(count, 'broker', 'brokers')} {some(idle_brokers)} {verb(count, 'leads', 'lead')} nothing"
    plan = (
        f"; after the plan {elected_by_plan:,} of them {verb(elected_by_plan, 'is', 'are')}" if elected_by_plan else ""
    )
    off = f"{verb(off_partitions, 'is', 'are')} not led by {verb(off_partitions, 'its', 'their')} preferred leader"
    return (
        f"{off_partitions:,} of {counted(partitions, 'partition')} ({off_partitions / partitions:.1%}) {off}"
        f"{idle if idle_brokers else ''}: {advice}{plan}."
    )


def _in_sync_again(*, broker: int, partitions: int) -> str:
    return f"broker {broker} is in sync again ({counted(partitions, 'partition')})"


def _broker_back(*, broker: int, state: str, partitions: int) -> str:
    return f"broker {broker}, which is {state}, is back ({counted(partitions, 'partition')})"


def _preferred_order_uneven(
    *,
    broker: int,
    first_replicas: int,
    partitions: int,
    leaders_once_elected: int,
    times_share_once_elected: float,
    times_share: float,
    is_automatic: bool,
    reordered_by_plan: int,
) -> str:
    automatic = (
        f"the controller does so by itself ({_AUTOMATIC} is on unless it was set to false)"
        if is_automatic
        else f"{_AUTOMATIC} is false here, so the controller does not do so by itself"
    )
    way = (
        f"The plan puts another replica first in {counted(reordered_by_plan, 'list')}"
        if reordered_by_plan
        else "Let a plan put other replicas first"
    )
    return (
        f"Broker {broker} is first in {first_replicas:,} of {counted(partitions, 'replica list')}. A preferred "
        f"election would make leaders less even: it would lead {counted(leaders_once_elected, 'partition')}, "
        f"{times_share_once_elected:.2f} × its share (the most today is {times_share:.2f} ×). Do not elect; "
        f"{automatic}. {way}."
    )


def _topic_on_few_brokers(
    *,
    topic: str,
    load: str | None,
    load_ratio: float,
    leading_brokers: Sequence[int],
    led_partitions: int,
    partitions: int,
    brokers: int,
    brokers_with_replicas: int | None,
    leaders_each: int,
) -> str:
    part = {
        "in_bytes_per_s": f"gets {load_ratio:.0%} of what producers write",
        "out_bytes_per_s": f"sends {load_ratio:.0%} of what consumers read",
    }.get(str(load), f"has {load_ratio:.0%} of the cluster's partitions (its traffic is unknown)")
    count = len(leading_brokers)
    held = (
        ""
        if brokers_with_replicas is None
        else f", and all its replicas are on {counted(brokers_with_replicas, 'broker')}"
    )
    return (
        f"{topic} {part}. {verb(count, 'Broker', 'Brokers')} {some(leading_brokers)} {verb(count, 'leads', 'lead')} "
        f"{led_partitions:,} of its {counted(partitions, 'partition')}, and {brokers} brokers could{held}. Spread it: "
        f"plan --min-topic-leaders {_pattern(topic)[:-1]}={leaders_each}'."
    )


def _coordinator_piled_up(*, broker: int, groups: int, all_groups: int, times_share: float) -> str:
    return (
        f"Broker {broker} coordinates {groups:,} of {counted(all_groups, 'group')}, {times_share:.1f} × its share. "
        "Spread the leaders of __consumer_offsets: the leader of a group's partition of it coordinates the group."
    )


# --- placement and health


def _rack_violated(
    *, partitions: int, example: str, racks: int, topic: str | None = None, topics: int | None = None
) -> str:
    return (
        f"{counted(partitions, 'partition')} of {_where(topic, topics)}, such as {example}, would lose several "
        f"replicas with one rack: move one of each to a free rack; {racks} racks suffice."
    )


def _single_replica(
    *,
    partitions: int,
    brokers: Sequence[int],
    broker_count: int,
    replication_factor: int,
    topic: str | None = None,
    topics: int | None = None,
) -> str:
    on = verb(broker_count, "broker", "brokers")
    return (
        f"{counted(partitions, 'partition')} of {_where(topic, topics)} {verb(partitions, 'has', 'have')} one "
        f"replica, on {on} {some(brokers, broker_count)}. While its broker is away no client reads or writes a "
        f"partition, and a lost disk loses its data. Plan more replicas: --replication-factor {replication_factor} "
        "with --include-topic."
    )


def _single_broker_rack(*, rack: str, broker: int, racks: int, forced_replicas: int, times_mean: float) -> str:
    return (
        f"Rack {rack} has one broker, {broker}. It holds a replica of each of {counted(forced_replicas, 'partition')} "
        f"that {verb(forced_replicas, 'has', 'have')} one in each of the {racks} racks: {times_mean:.2f} × the mean "
        "of all brokers. No plan that keeps racks apart can change that. Add a broker to the rack."
    )


def _mixed_replication_factor(
    *,
    partitions: int,
    replication_factor: int | None,
    differing: Sequence[tuple[str, int]],
    serving_brokers: int,
    needed_brokers: int,
    topic: str | None = None,
    topics: int | None = None,
) -> str:
    others = "most of the topic" if replication_factor is None else f"its others, {replication_factor}"
    names = some([f"{name} has {replicas}" for name, replicas in differing], partitions)
    first = (
        f"That takes {needed_brokers} brokers in service, and {serving_brokers} are. Once there are, "
        if needed_brokers > serving_brokers
        else ""
    )
    way = (
        "plan --include-topic TOPIC --replication-factor N, topic by topic,"
        if topic is None
        else f"plan --include-topic {_pattern(topic)} --replication-factor {replication_factor}"
    )
    return (
        f"{counted(partitions, 'partition')} of {_where(topic, topics)} {verb(partitions, 'has', 'have')} another "
        f"replication factor than {others}: {names}. An aborted move may have left them so. {first}{way} brings them "
        "back."
    )


def _below_min_isr(
    *,
    partitions: int,
    fewer_replicas_partitions: int,
    min_insync_replicas: int,
    is_release_known: bool,
    is_isr_known: bool,
    serving_brokers: int,
    topic: str | None = None,
    topics: int | None = None,
) -> str:
    few = fewer_replicas_partitions
    count = few or partitions
    what = f"{counted(count, 'partition')} of {_where(topic, topics)} {verb(count, 'has', 'have')} fewer replicas"
    fail = f"than {_MIN_ISR} ({min_insync_replicas}): producers with acks=all fail now"
    if not few:
        parts = [f"{what} in sync {fail}"]
    else:
        bounded = "" if is_release_known else ", unless brokers are 3.7 or newer (they ask for fewer)"
        parts = [f"{what} at all {fail}{bounded}"]
        factor = min(min_insync_replicas + 1, serving_brokers)
        option = f"plan --include-topic {'TOPIC' if topic is None else _pattern(topic)} --replication-factor {factor}"
        higher = "" if serving_brokers < min_insync_replicas else f"raise the replication factor ({option}) or "
        parts.append(f"{higher}lower {_MIN_ISR}")
    if few < partitions:
        more = f"{partitions - few:,} more have too few in sync: " if few else ""
        parts.append(f"{more}find the broker that lags or is down, and bring it back")
    if not is_isr_known:
        parts.append("how many replicas are in sync is unknown")
    return " ".join(map(sentence, parts))


def _min_isr_at_replication_factor(
    *,
    partitions: int,
    fewest_replicas: int,
    most_replicas: int,
    topic: str | None = None,
    topics: int | None = None,
) -> str:
    is_one = fewest_replicas == most_replicas
    numbers = f"{most_replicas}" if is_one else f"{fewest_replicas} to {most_replicas}"
    lower = f"{fewest_replicas - 1}" if is_one else "one less than the replication factor"
    return (
        f"{counted(partitions, 'partition')} of {_where(topic, topics)} {verb(partitions, 'has', 'have')} {numbers} "
        f"replicas, and {_MIN_ISR} asks for all of them: one failure stops writes with acks=all, and so does every "
        f"restart. Lower {_MIN_ISR} to {lower}, or raise the replication factor."
    )


def _under_replicated(*, partitions: int, topic: str | None = None, topics: int | None = None) -> str:
    return (
        f"{counted(partitions, 'partition')} of {_where(topic, topics)} {verb(partitions, 'lacks', 'lack')} a replica "
        "in sync. Find the broker that lags or is down before you move anything."
    )


def _offline_partition(
    *,
    partitions: int,
    example: str,
    awaited_brokers: Sequence[int],
    topic: str | None = None,
    topics: int | None = None,
) -> str:
    is_one = len(awaited_brokers) == 1
    awaited = f"broker {awaited_brokers[0]}" if is_one else f"one of brokers {some(awaited_brokers, most=20)}"
    return (
        f"{counted(partitions, 'partition')} of {_where(topic, topics)} {verb(partitions, 'has', 'have')} no leader; "
        f"{example} waits for {awaited}: bring it back."
    )


def _dead_broker(*, broker: int, state: str, replicas: int, replicas_being_built: int, only_replicas: int) -> str:
    built = (
        f", {replicas_being_built:,} of which a running reassignment is to build (cancel it first)"
        if replicas_being_built
        else ""
    )
    have = f"{counted(only_replicas, 'partition')} {verb(only_replicas, 'has', 'have')}"
    alone = f"; {have} no other replica" if only_replicas else ""
    return (
        f"Broker {broker} is {state} and should hold {counted(replicas, 'replica')}{built}. Bring it back, or move "
        f"them to other brokers (plan with --remove-broker {broker}){alone}."
    )


def _broker_not_heard(*, broker: int, state: str, why: str | None, replicas: int, leaders: int) -> str:
    sign = {
        "does_not_answer": " (it did not answer the tool that lists brokers)",
        "leads_nothing": (
            " (it leads nothing, is in sync for no partition that has a leader, and no dump holds its log dirs)"
        ),
    }.get(str(why), "")
    return (
        f"Broker {broker} is {state}{sign}. By the metadata it holds {counted(replicas, 'replica')} and leads "
        f"{counted(leaders, 'partition')}. It gets no replicas and no leaders until a later snapshot reaches it. "
        f"Restart it, or move what it has to other brokers (plan with --remove-broker {broker})."
    )


def _stray_logs(
    *, broker: int, logs: int, stray_bytes: int, by_dir: Sequence[tuple[str, int]], example: str | None
) -> str:
    dirs = some([f"{path} {format_bytes(size)}" for path, size in by_dir], most=20)
    such_as = "" if example is None else f", such as {example}"
    return (
        f"The disks of broker {broker} hold {counted(logs, 'log')} of {format_bytes(stray_bytes)} that no replica "
        f"list has ({dirs}){such_as}: a move left them, or their topic is deleted or was not described. "
        "They take disk, and no plan moves them. Take a snapshot again once no reassignment runs; if they stay, stop "
        "the broker, remove their directories, and start it."
    )


def _log_dir_offline(*, broker: int, paths: Sequence[str], replicas: int) -> str:
    subject = f"Log dir {some(paths)} of broker {broker}" if paths else f"A disk of broker {broker}"
    return (
        f"{subject} is offline: {counted(replicas, 'replica')} on it "
        f"{verb(replicas, 'serves no client and has', 'serve no client and have')} no known size. Repair or replace "
        "the disk and restart the broker, or let the plan move them to other brokers."
    )


def _racks_unknown(*, brokers: Sequence[int], brokers_without_rack: int, racks: int) -> str:
    count = brokers_without_rack
    return (
        f"{verb(count, 'Broker', 'Brokers')} {some(brokers, count)} {verb(count, 'has', 'have')} no rack, the others "
        f"are in {counted(racks, 'rack')}. Plans treat each broker without a rack as a rack of its own, so two "
        "replicas may share a real one. kafka-topics and kafka-reassign-partitions refuse such a cluster unless "
        "--disable-rack-aware is given. Set broker.rack on every broker (or the rack in brokers.csv), and take a "
        "snapshot again."
    )


def _hot_partition(
    *,
    partition: str,
    resource: str,
    load: float,
    share_of_mean: float,
    topic_median: float | None,
    heaviest_key: str | None = None,
    heaviest_key_share: float | None = None,
) -> str:
    unit = UNITS[resource]
    others = "" if topic_median is None else f"; the median of its topic is {format_amount(topic_median, unit)}"
    return (
        f"{partition} carries {format_amount(load, unit)}, {share_of_mean:.0%} of a mean broker{others}. Moving it "
        "only moves the hot spot. Find its hot key with `rebalance-advisor keys`, and spread it over several "
        f"keys.{heavy_key(heaviest_key, heaviest_key_share)}"
    )


def heavy_key(key: str | None, share: float | None) -> str:
    return "" if key is None else f" {share:.0%} or more of its sampled records have one key: {excerpt(key)}."


# --- the cluster


def _throttle_left_over(*, topics: Sequence[str], topic_count: int, brokers: Sequence[int], broker_count: int) -> str:
    parts = [f"topics {some(topics, topic_count)}"] if topics else []
    parts += [f"brokers {some(brokers, broker_count)}"] if brokers else []
    return (
        f"Replication throttles are set on {' and '.join(parts)}, and no reassignment runs: replicas that fall behind "
        "catch up slowly. Clear them (kafka-reassign-partitions --verify of the last reassignment, or kafka-configs)."
    )


def _reassignment_running(
    *,
    partitions: int,
    replicas_between_dirs: int,
    written_to_dirs: Sequence[tuple[int, str, int]],
    example: str,
    waiting_partitions: int,
    awaited_brokers: Sequence[int],
) -> str:
    parts = [f"{counted(partitions, 'partition')} between brokers"] if partitions else []
    if replicas_between_dirs:
        written = some([f"{format_bytes(size)} in {path} of broker {broker}" for broker, path, size in written_to_dirs])
        parts.append(
            f"{counted(replicas_between_dirs, 'replica')} between log dirs" + (f" ({written})" if written else "")
        )
    waits = (
        f" {counted(waiting_partitions, 'partition')} of them cannot end before these brokers answer: "
        f"{some(awaited_brokers)}."
        if waiting_partitions
        else ""
    )
    return (
        f"A running reassignment moves {' and '.join(parts)}, such as {example}. Plans leave alone what moves between "
        "brokers. Wait until it is done (kafka-reassign-partitions --list) and take a snapshot again, or cancel it."
        f"{waits}"
    )


def _reassignment_stuck(
    *,
    partitions: int,
    names: Sequence[str],
    brokers: Sequence[tuple[int, str]],
    broker_count: int,
    cancel_json: str | None,
) -> str:
    awaited = some([f"broker {broker}, which is {state}" for broker, state in brokers], broker_count)
    return (
        f"The reassignment of {counted(partitions, 'partition')} ({some(names, partitions)}) waits for {awaited}: it "
        f"cannot end unless that broker comes back. Cancel it: {CANCEL}, with cancel.json: "
        f"{cancel_json or 'the value of cancel_json in findings.json'}"
    )


_PAUSES = {
    "Cruise Control": "stop its executor and its self-healing (stop_proposal_execution; self.healing.enabled=false)",
    "Strimzi's Cruise Control": (
        "stop its KafkaRebalance resources (annotation strimzi.io/rebalance=stop) and auto-rebalancing"
    ),
    "Confluent's balancer": "set confluent.balancer.enable=false",
}


def pause_of(balancer: str) -> str:
    return _PAUSES.get(balancer, "pause it")


def _other_balancer(*, balancers: Sequence[str], sign: str) -> str:
    return (
        f"{some(balancers)} may balance this cluster, too (seen: {sign}), and move back what the plan moves. Before "
        f"you execute the plan: {'; '.join(map(pause_of, balancers))}."
    )


def _broker_cordoned(*, broker: int, cordoned_dirs: int, log_dirs: int, is_whole: bool) -> str:
    effect = "no plan gives it a replica" if is_whole else "Kafka puts new replicas on its other dirs"
    return (
        f"{counted(cordoned_dirs, 'log dir')} of the {log_dirs} of broker {broker} {verb(cordoned_dirs, 'is', 'are')} "
        f"cordoned: {effect}. If that is over, remove {verb(cordoned_dirs, 'it', 'them')} from cordoned.log.dirs; to "
        f"empty the broker, plan with --remove-broker {broker}."
    )


def _load_unknown(*, resources: Sequence[str], has_rates: bool) -> str:
    hint = "" if has_rates else " A second snapshot some minutes later gives rates."
    return f"Plans do not balance {listed(resources)}: the metric is missing, or part of it.{hint}"


def _coverage_gap(
    *,
    gaps: int,
    kinds: Sequence[tuple[str, str]],
    kind_count: int,
    what: str,
    subject_type: str,
    subject: str,
    reason: str,
) -> str:
    named = [f"{label} ({kind})" for label, kind in kinds]
    return (
        f"{counted(gaps, 'thing')} could not be read: {some(named, kind_count)}. First: {what} of {subject_type} "
        f"{subject}: {reason}."
    )


def _nothing_to_move(*, reasons: Sequence[str]) -> str:
    return f"Nothing to move: {'; '.join(reasons) or 'everything is within its allowed range'}."


def _cannot_tell_moves(*, reasons: Sequence[str]) -> str:
    why = "; ".join(reasons)
    return f"The snapshot does not show whether anything has to move: {why}. Take it again once it can be complete."


def _moving_cannot_fix(*, reasons: Sequence[str]) -> str:
    return f"Moving cannot fix this: {'; '.join(reasons)}."


def _rack_traffic_price(
    *,
    replication: float,
    planned_replication: float,
    reads: float,
    planned_reads: float,
    reads_in_rack: float,
    planned_reads_in_rack: float,
    reads_as_advised: float,
    is_selector_known: bool,
    dearest_topics: Sequence[tuple[str, float]],
    dearest_groups: Sequence[tuple[str, float]],
    unknown_partitions: int,
    planned_unknown_partitions: int,
    unknown_groups: int,
    unknown_members: int,
) -> str:
    def span(least: float, most: float) -> str:
        return f"{most:,.0f}" if is_selector_known or most - least < LEAST_PRICE else f"{least:,.0f} to {most:,.0f}"

    parts = [f"replication {replication:,.0f}", f"reads {span(reads_in_rack, reads)}"]
    if abs(planned_replication - replication) >= LEAST_PRICE:
        parts[0] += f" ({planned_replication:,.0f} after the plan)"
    if max(abs(planned_reads - reads), abs(planned_reads_in_rack - reads_in_rack)) >= LEAST_PRICE:
        parts[1] += f" ({span(planned_reads_in_rack, planned_reads)} after the plan)"
    least = replication + (reads if is_selector_known else reads_in_rack)
    sentences = [f"Traffic between racks costs at least {least:,.0f} in 30 days: {', '.join(parts)}."]
    own_rack = "in their own rack (replica.selector.class=RackAwareReplicaSelector, client.rack)"
    if reads - reads_in_rack >= LEAST_PRICE and is_selector_known:
        sentences.append(f"Reads would cost {reads_in_rack:,.0f} if brokers served members {own_rack}.")
    elif reads - reads_in_rack >= LEAST_PRICE:
        sentences.append(
            f"Reads cost {reads_in_rack:,.0f} if brokers serve members {own_rack}, {reads:,.0f} if leaders serve "
            "them: the snapshot does not show which."
        )
    if abs(reads_as_advised - reads) >= LEAST_PRICE:
        source = "" if is_selector_known else " from leaders"
        sentences.append(f"With the recommended strategies reads{source} would cost {reads_as_advised:,.0f}.")
    dearest = [f"topic {name} {price:,.0f}" for name, price in dearest_topics]
    dearest += [f"group {name} {price:,.0f}" for name, price in dearest_groups]
    sentences += [f"Most: {', '.join(dearest)}."] if dearest else []
    missing = _not_counted(unknown_partitions, planned_unknown_partitions, unknown_groups, unknown_members)
    return " ".join([*sentences, f"Not counted: {', '.join(missing)}."])


def _not_counted(partitions: int, planned_partitions: int, groups: int, members: int) -> list[str]:
    missing = ["traffic of producers"]
    if partitions or planned_partitions:
        then = f" ({planned_partitions:,} after the plan)" if partitions != planned_partitions else ""
        missing.append(f"{counted(partitions, 'partition')} of unknown rate, leader or rack{then}")
    missing += [f"{counted(groups, 'group')} whose members give no rack"] if groups else []
    return missing + ([f"{counted(members, 'member')} of other groups without one"] if members else [])


# --- costs


def _copies_bytes(*, copied_bytes: float | None, is_least: bool = False) -> str:
    return f"{'at least ' if is_least else ''}{_size(copied_bytes)} copied"


def _size(size_bytes: float | None) -> str:
    return "an unknown size" if size_bytes is None else format_bytes(size_bytes)


def _copies_between_disks(*, copied_bytes: float) -> str:
    return f"{format_bytes(copied_bytes)} copied between the broker's disks, none over the network"


def _each_replica_copies(*, copied_bytes: float | None) -> str:
    return f"each further replica copies {'their size' if copied_bytes is None else format_bytes(copied_bytes)}"


def _moves_replicas(*, replicas: int, copied_bytes: float | None = None, if_lost: bool = False) -> str:
    size = "" if copied_bytes is None else f", {format_bytes(copied_bytes)}"
    return f"{counted(replicas, 'replica move')}{size}{' if the broker never comes back' if if_lost else ''}"


def _plan_touches_broker(
    *,
    replicas_out: int,
    bytes_out: float | None,
    replicas_in: int,
    bytes_in: float | None,
    leader_changes: int,
) -> str:
    parts = [f"{_size(bytes_out)} moved off it"] if replicas_out else []
    parts += [f"{_size(bytes_in)} copied to it"] if replicas_in else []
    parts += [counted(leader_changes, "leader change")] if leader_changes else []
    return ", ".join(parts) or "nothing: the plan does not touch it"


def _changes_leaders(*, leaders: int) -> str:
    return f"{counted(leaders, 'leader change')}, no bytes"


def _always(text: str) -> Callable[[], str]:
    return lambda: text


FINDINGS: Mapping[FactCode, Callable[..., str]] = MappingProxyType(
    {
        FactCode.BROKER_DISK_OVER_SHARE: _disk_over_share,
        FactCode.BROKER_DISK_FULL: _disk_full,
        FactCode.BROKER_RATE_OVER_SHARE: _rate_over_share,
        FactCode.LOG_DIR_FULL: _log_dir_full,
        FactCode.LOSS_OVERLOADS: _loss_overloads,
        FactCode.LEADERS_PILED_UP: _leaders_piled_up,
        FactCode.LEADERS_OVER_SHARE: _leaders_over_share,
        FactCode.PREFERRED_LEADERS_OFF: _preferred_leaders_off,
        FactCode.PREFERRED_ORDER_UNEVEN: _preferred_order_uneven,
        FactCode.TOPIC_ON_FEW_BROKERS: _topic_on_few_brokers,
        FactCode.COORDINATOR_PILED_UP: _coordinator_piled_up,
        FactCode.RACK_VIOLATED: _rack_violated,
        FactCode.SINGLE_REPLICA: _single_replica,
        FactCode.SINGLE_BROKER_RACK: _single_broker_rack,
        FactCode.MIXED_REPLICATION_FACTOR: _mixed_replication_factor,
        FactCode.BELOW_MIN_ISR: _below_min_isr,
        FactCode.MIN_ISR_AT_REPLICATION_FACTOR: _min_isr_at_replication_factor,
        FactCode.UNDER_REPLICATED: _under_replicated,
        FactCode.OFFLINE_PARTITION: _offline_partition,
        FactCode.DEAD_BROKER: _dead_broker,
        FactCode.BROKER_NOT_HEARD: _broker_not_heard,
        FactCode.STRAY_LOGS: _stray_logs,
        FactCode.LOG_DIR_OFFLINE: _log_dir_offline,
        FactCode.RACKS_UNKNOWN: _racks_unknown,
        FactCode.HOT_PARTITION: _hot_partition,
        FactCode.RACK_TRAFFIC_PRICE: _rack_traffic_price,
        FactCode.THROTTLE_LEFT_OVER: _throttle_left_over,
        FactCode.REASSIGNMENT_RUNNING: _reassignment_running,
        FactCode.REASSIGNMENT_STUCK: _reassignment_stuck,
        FactCode.OTHER_BALANCER: _other_balancer,
        FactCode.BROKER_CORDONED: _broker_cordoned,
        FactCode.LOAD_UNKNOWN: _load_unknown,
        FactCode.COVERAGE_GAP: _coverage_gap,
        FactCode.NOTHING_TO_MOVE: _nothing_to_move,
        FactCode.CANNOT_TELL_MOVES: _cannot_tell_moves,
        FactCode.MOVING_CANNOT_FIX: _moving_cannot_fix,
        FactCode.PLAN_MOVES_NOTHING: _plan_moves_nothing,
        FactCode.PLAN_LEAVES_BROKER: _plan_leaves_broker,
        FactCode.PLAN_LEAVES_RESOURCE: _plan_leaves_resource,
        FactCode.PLAN_CHANGES_LOAD: _plan_changes_load,
        FactCode.MOVE_BYTES_AWAY: _move_bytes_away,
        FactCode.MOVE_BUSIEST_AWAY: _move_busiest_away,
        FactCode.REORDER_AND_ELECT: _reorder_and_elect,
        FactCode.NO_REPLICA_FITS_OTHER_DIR: _no_replica_fits,
        FactCode.MOVE_BETWEEN_DIRS: _move_between_dirs,
        FactCode.PLAN_PREVENTS_OVERLOAD: _plan_prevents_overload,
        FactCode.PLAN_LEAVES_OVERLOAD: _plan_leaves_overload,
        FactCode.SPREAD_STANDBYS: _spread_standbys,
        FactCode.IN_SYNC_AGAIN: _in_sync_again,
        FactCode.BROKER_BACK: _broker_back,
        FactCode.COPIES_BYTES: _copies_bytes,
        FactCode.COPIES_BETWEEN_DISKS: _copies_between_disks,
        FactCode.EACH_REPLICA_COPIES: _each_replica_copies,
        FactCode.MOVES_REPLICAS: _moves_replicas,
        FactCode.PLAN_TOUCHES_BROKER: _plan_touches_broker,
        FactCode.CHANGES_LEADERS: _changes_leaders,
        FactCode.LEADER_CHANGES_COPY_NOTHING: _always(
            "leader changes copy nothing where a follower takes over; replica moves do"
        ),
        FactCode.ORDER_COPIES_NOTHING: _always("a new order of replicas copies nothing"),
        FactCode.MOVES_COORDINATORS: _always(
            "after a leader change of __consumer_offsets its groups look for their coordinator again"
        ),
        FactCode.ADDS_BROKER: _always("a broker"),
        FactCode.CHANGES_KEYS: _always(
            "a change of the producers' keys; from then on records are in order for each new key only"
        ),
        FactCode.REMOVES_COPIES: _always("the controller removes what was copied so far"),
        FactCode.COSTS_NOTHING: _always("none"),
    }
)
