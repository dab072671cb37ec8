"""Causes of infeasible plans, and remedies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from kafka_rebalance.amounts import counted, format_bytes, format_seconds, listed
from kafka_rebalance.facts import FactCode
from kafka_rebalance.render.plan_reasons import PROVED, amount_of, in_list

_SPLIT = ", or more, smaller partitions"


def _factor_above_brokers(*, replication_factor: int, brokers: int, topic: str | None = None) -> str:
    whose = "" if topic is None else f"topic {topic}: "
    return (
        f"{whose}replication factor {replication_factor:,} on {counted(brokers, 'broker')}: a broker holds one replica "
        "of a partition"
    )


def _too_few_brokers(
    *, replication_factor: int, brokers: int, lacking: int, partitions: int, partition: str, is_confined: bool
) -> str:
    where = " where its topic may be" if is_confined else ""
    first = ", for example" if partitions > 1 else ""
    return (
        f"replication factor {replication_factor} needs as many brokers that may hold a replica, and only {brokers} "
        f"may{where}: {counted(lacking, 'broker')} {_is(lacking)} lacking for {counted(partitions, 'partition')} "
        f"({partition}{first})"
    )


def _immovable(*, broker: int, partitions: int, partition: str) -> str:
    which = partition if partitions == 1 else f"{partitions:,} partitions (for example {partition})"
    return f"{which} may not move, but broker {broker} must be emptied"


def _sizes_unknown(*, option: str, partitions: int) -> str:
    return f"{option} cannot be kept: the size of {counted(partitions, 'partition')} is not known"


def _disks_too_small(*, brokers: int, capacity_bytes: float, needed_bytes: float) -> str:
    return (
        f"the disks of the {counted(brokers, 'broker')} that stay offer {format_bytes(capacity_bytes)}, all replicas "
        f"take {format_bytes(needed_bytes)}"
    )


def _disks_lack_room(
    *,
    rack: str | None,
    brokers: Sequence[int],
    broker_count: int,
    is_all: bool,
    needed_bytes: float,
    free_bytes: float,
    held_bytes: float | None = None,
    limit_bytes: float | None = None,
    leaving_brokers: Sequence[int] = (),
    is_by_program: bool = False,
) -> str:
    percent = ""
    if held_bytes is not None and limit_bytes is not None:
        need = f"{(held_bytes + needed_bytes) / limit_bytes:.1%}" if limit_bytes > 0 else "more than they have"
        percent = f" {'needs' if broker_count == 1 and rack is None else 'need'} {need}"
    rules = " by the rules on racks and brokers" if is_by_program else " beside what they hold"
    leaving = f"; broker {in_list(leaving_brokers[:5])} leaves its replicas to them" if leaving_brokers else ""
    return (
        f"{_disks(rack, brokers, broker_count, is_all=is_all)}{percent}: {format_bytes(needed_bytes)} must be copied "
        f"there{rules}, {format_bytes(free_bytes)} is free, {format_bytes(needed_bytes - free_bytes)} is "
        f"lacking{leaving}"
    )


def _disks(rack: str | None, brokers: Sequence[int], count: int, *, is_all: bool) -> str:
    if rack is not None:
        return f"the disks of rack {rack}"
    if count == 1:
        return f"the disk of broker {brokers[0]}"
    if is_all:
        return f"the disks of the {count} brokers that take replicas"
    named = listed(brokers)
    return f"the disks of brokers {named}" if count <= len(brokers) else f"the disks of {count} brokers ({named})"


def _copy_too_large(*, partition: str, replica_bytes: float, broker: int, free_bytes: float) -> str:
    return (
        f"a replica of {partition} takes {format_bytes(replica_bytes)}, and of the brokers that may get it broker "
        f"{broker} has most left, {format_bytes(free_bytes)}: {format_bytes(replica_bytes - free_bytes)} is lacking"
    )


def _limits_too_low(
    *,
    resource: str,
    needed: float,
    limit: float,
    brokers: int,
    racks: Sequence[str] = (),
    brokers_without_rack: Sequence[int] = (),
    headroom: float | None = None,
) -> str:
    who = f"the {counted(brokers, 'broker')} that stay{'s' * (brokers == 1)}"
    places = [f"rack {rack}" for rack in racks] + [f"broker {broker}" for broker in brokers_without_rack]
    if places:
        who = f"the {counted(brokers, 'broker')} of {listed(places)}"
    free = "" if headroom is None else f"with {headroom:.1%} of {resource} left free "
    spread = ", with replicas spread evenly over racks" if places else ""
    return (
        f"{free}{who} may carry {amount_of(resource, limit)} of {resource} together, {amount_of(resource, needed)} is "
        f"needed{spread}: {amount_of(resource, needed - limit)} is lacking"
    )


def _no_room(
    *,
    partition: str | None = None,
    is_proved: bool | None = None,
    topic: str | None = None,
    replica: int | None = None,
    replica_bytes: float | None = None,
) -> str:
    if topic is not None:
        return f"topic {topic}: no broker has room for replica {replica} of {format_bytes(replica_bytes)}"
    certainty = f"no placement keeps every rule ({PROVED})" if is_proved else "no count proves that there is none"
    return f"a replica of {partition} finds no broker with room for it; {certainty}"


def _partition_above_limit(
    *, partition: str, resource: str, load: float, limit: float, is_capacity: bool = False
) -> str:
    most = "highest capacity of a broker" if is_capacity else "highest cap"
    return (
        f"{partition} alone brings its leader's broker {amount_of(resource, load)} of {resource}, "
        f"{amount_of(resource, load - limit)} above the {most}, {amount_of(resource, limit)}"
    )


def _above_cap(
    *, broker: int, resource: str, load: float, cap: float, proof: str | None = None, is_limited: bool = False
) -> str:
    certainty = {
        None: "",
        "none": ": no plan was found that keeps its cap",
        "whole_numbers": f": no plan keeps every cap ({PROVED})",
    }[proof]
    limited = " within the budget" if is_limited else ""
    return (
        f"broker {broker} would carry {amount_of(resource, load)} of {resource}, its cap is "
        f"{amount_of(resource, cap)}{certainty}{limited}"
    )


def _above_capacity(*, broker: int, resource: str, load: float, capacity: float) -> str:
    return (
        "no plan was found in which every broker can carry what must move: in the nearest one broker "
        f"{broker} would carry {amount_of(resource, load)} of {resource}, its limit is {amount_of(resource, capacity)}"
    )


def _budget_too_small(*, copied_bytes: float, replica_moves: int, leader_changes: int, is_proved: bool) -> str:
    proved = f" ({PROVED})" if is_proved else ""
    return (
        f"what must move costs {format_bytes(copied_bytes)}, {counted(replica_moves, 'replica move')} and "
        f"{counted(leader_changes, 'leader change')}, more than the budget allows{proved}"
    )


def _hours_too_few(*, seconds: float) -> str:
    return f"what must move takes {format_seconds(seconds)} at the throttle, more than --max-hours allows"


def _loss_not_survived(
    *,
    kind: str,
    lost: str,
    broker: int | None,
    resource: str,
    load: float,
    capacity: float,
    proof: str | None = None,
    is_limited: bool = False,
) -> str:
    who = "all other brokers together" if broker is None else f"broker {broker}"
    best = f" in the best placement found{' within the budget' if is_limited else ''}"
    certainty = {
        None: "",
        "counted": "",
        "all_tried": f"{best}, and every other one leaves some broker above its capacity",
        "none": f"{best}, though nothing proves that none does better",
    }[proof]
    return (
        f"without {kind} {lost} {who} would carry {amount_of(resource, load)} of {resource}, the capacity is "
        f"{amount_of(resource, capacity)}: {amount_of(resource, load - capacity)} is lacking{certainty}"
    )


def _topic_leaders_lacking(
    *,
    broker: int,
    topic: str,
    leaders: int,
    asked: int,
    lacking_in_all: int,
    is_limited: bool,
    is_proved: bool,
) -> str:
    limited = " within the budget" if is_limited else ""
    proof = "and no other one lacks fewer" if is_proved else "though nothing proves that none lacks fewer"
    lacking = asked - leaders
    in_all = "" if lacking_in_all == lacking else f", {lacking_in_all:,} over all brokers and topics"
    return (
        f"broker {broker} would lead {counted(leaders, 'partition')} of {topic} and you asked for {asked:,}: "
        f"{lacking:,} {_is(lacking)} lacking{in_all}, in the best placement found{limited}, {proof}"
    )


def _topic_leaders_break_limits() -> str:
    return "no plan was found that has every leader of a topic and keeps caps and hours"


def _dir_not_emptied(*, broker: int, paths: Sequence[str], lacking_bytes: int, most_used_share: float) -> str:
    return (
        f"broker {broker}: {in_list(paths)} cannot be emptied: its other disks lack {format_bytes(lacking_bytes)} to "
        f"stay below {most_used_share:.0%}"
    )


def _dir_holds_immovable(*, broker: int, replicas: int) -> str:
    return (
        f"broker {broker}: {counted(replicas, 'replica')} that {_is(replicas)} or may be in a dir to be emptied cannot "
        "move: of unknown size or dir, offline, with observers, or moving already"
    )


def _dir_moves_without_room(*, moves: int) -> str:
    return f"no order of {counted(moves, 'move')} between log dirs has room for both copies on their disks"


def _is(count: int) -> str:
    return "is" if count == 1 else "are"


# Remedies.


def _lower_factor(*, replication_factor: int) -> str:
    return f"ask for replication factor {replication_factor:,} at most"


def _add_brokers(*, brokers: int, is_confined: bool, or_replication_factor: int | None) -> str:
    where = " where its topic may be" if is_confined else ""
    other = "" if or_replication_factor is None else f", or ask for replication factor {or_replication_factor}"
    return f"add {counted(brokers, 'broker')}{where}{other}"


def _add_disk(*, lacking_bytes: float, like_largest: int | None = None, or_smaller_partitions: bool = False) -> str:
    brokers = f" ({counted(like_largest, 'broker')} like the largest)" if like_largest else ""
    other = (
        "make more, smaller partitions" if or_smaller_partitions else "keep less: a shorter retention or fewer replicas"
    )
    return f"add at least {format_bytes(lacking_bytes)} of disk there{brokers}, or {other}"


def _add_broker_or_disk() -> str:
    return "add a broker or disk, or exclude fewer brokers"


def _let_move(*, broker: int, partitions: int) -> str:
    return f"let {'it' if partitions == 1 else 'them'} move, or keep broker {broker}"


def _limit_moves() -> str:
    return "give --max-moves, or an input with the sizes of replicas"


def _raise_limit(
    *,
    resource: str,
    limit: float | None = None,
    lacking: float | None = None,
    or_smaller_partitions: bool = False,
) -> str:
    if lacking is not None:
        return f"raise limits by {amount_of(resource, lacking)} of {resource}, or add a broker"
    if limit is None:
        return f"raise the cap on {resource}"
    other = _SPLIT if or_smaller_partitions else ", or more brokers there"
    return f"a limit of at least {amount_of(resource, limit)} for each broker{other}"


def _lower_headroom(*, headroom: float) -> str:
    return f"a headroom of at most {headroom:.1%}, or more brokers"


def _raise_budget() -> str:
    return "a larger budget"


def _raise_hours() -> str:
    return "more hours, or a higher throttle"


def _add_capacity(*, or_smaller_partitions: bool = False) -> str:
    return f"a larger broker{_SPLIT}" if or_smaller_partitions else "that much more capacity, or less load"


def _ask_fewer_leaders() -> str:
    return "ask for fewer leaders of each topic, or let more brokers hold its replicas"


def _raise_cap_or_hours() -> str:
    return "a higher cap, or more hours"


def _free_dir() -> str:
    return "move replicas to other brokers first, or add a disk"


def _wait_for_dir_moves() -> str:
    return "wait until nothing moves, read all log dirs, and plan again"


INFEASIBLE: Mapping[FactCode, Callable[..., str]] = MappingProxyType(
    {
        FactCode.FACTOR_ABOVE_BROKERS: _factor_above_brokers,
        FactCode.TOO_FEW_BROKERS: _too_few_brokers,
        FactCode.IMMOVABLE_ON_LEAVING_BROKER: _immovable,
        FactCode.SIZES_UNKNOWN: _sizes_unknown,
        FactCode.DISKS_TOO_SMALL: _disks_too_small,
        FactCode.DISKS_LACK_ROOM: _disks_lack_room,
        FactCode.COPY_TOO_LARGE: _copy_too_large,
        FactCode.LIMITS_TOO_LOW: _limits_too_low,
        FactCode.NO_ROOM_FOR_REPLICA: _no_room,
        FactCode.PARTITION_ABOVE_LIMIT: _partition_above_limit,
        FactCode.BROKER_ABOVE_CAP: _above_cap,
        FactCode.BROKER_ABOVE_CAPACITY: _above_capacity,
        FactCode.BUDGET_TOO_SMALL: _budget_too_small,
        FactCode.HOURS_TOO_FEW: _hours_too_few,
        FactCode.LOSS_NOT_SURVIVED: _loss_not_survived,
        FactCode.TOPIC_LEADERS_LACKING: _topic_leaders_lacking,
        FactCode.TOPIC_LEADERS_BREAK_LIMITS: _topic_leaders_break_limits,
        FactCode.DIR_NOT_EMPTIED: _dir_not_emptied,
        FactCode.DIR_HOLDS_IMMOVABLE: _dir_holds_immovable,
        FactCode.DIR_MOVES_WITHOUT_ROOM: _dir_moves_without_room,
        FactCode.LOWER_FACTOR: _lower_factor,
        FactCode.ADD_BROKERS: _add_brokers,
        FactCode.ADD_DISK: _add_disk,
        FactCode.ADD_BROKER_OR_DISK: _add_broker_or_disk,
        FactCode.LET_MOVE: _let_move,
        FactCode.LIMIT_MOVES_OR_GIVE_SIZES: _limit_moves,
        FactCode.RAISE_LIMIT: _raise_limit,
        FactCode.LOWER_HEADROOM: _lower_headroom,
        FactCode.RAISE_BUDGET: _raise_budget,
        FactCode.RAISE_HOURS: _raise_hours,
        FactCode.ADD_CAPACITY: _add_capacity,
        FactCode.ASK_FEWER_LEADERS: _ask_fewer_leaders,
        FactCode.RAISE_CAP_OR_HOURS: _raise_cap_or_hours,
        FactCode.FREE_DIR: _free_dir,
        FactCode.WAIT_FOR_DIR_MOVES: _wait_for_dir_moves,
    }
)
