"""Sentences about a plan later: a team's policy, the check on a newer snapshot, the states of a request."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from kafka_rebalance.amounts import counted, format_amount, format_bytes, format_percent, format_seconds, listed
from kafka_rebalance.facts import FactCode
from kafka_rebalance.render.plan_reasons import describe_state
from kafka_rebalance.resources import UNITS

# States of a request to apply a plan (``plans.apply_state``), and what to do next.
APPLY_STATES = {
    "asked": "waiting for somebody to approve or reject it",
    "approved": "approved; run its commands, then answer the second question",
    "rejected": "rejected: nothing was run",
    "timed_out": "nobody answered in time: nothing was run; start it again when somebody is there to answer",
    "refused": "approved, but it does not hold any more on a fresh snapshot: no command was shown; make a new plan "
    "(run advise)",
    "verified": "done: every move is there, replicas are in sync, no throttle is left",
    "partly_applied": "partly applied: finish what is left by the commands of its waves, or roll back",
    "not_applied": "nothing of it was applied",
    "moved_by_others": "somebody else moved or deleted partitions of it: make a new plan (run advise)",
}


def _rate(value: float) -> str:
    return format_amount(value, "bytes/s")


def _hours(value: float) -> str:
    return format_seconds(3600 * value)


_POLICY_AMOUNTS: Mapping[str, Callable[[float], str]] = {
    "max_hours": _hours,
    "max_wave_hours": _hours,
    "max_move_bytes": format_bytes,
    "max_throttle": _rate,
    "max_gap": format_percent,
}


def _above_policy_limit(*, rule: str, seen: float | None, most: float) -> str:
    amount = _POLICY_AMOUNTS.get(rule, "{:,.0f}".format)
    if seen is None:
        return f"at most {amount(most)}, and it is not known what the plan takes"
    return f"{amount(seen)}, at most {amount(most)} allowed"


def _touches_protected(*, partitions: Sequence[str]) -> str:
    return f"the plan touches {listed(partitions)}"


def _fills_protected_broker(*, brokers: Sequence[int]) -> str:
    return f"the plan copies to {listed(f'broker {broker}' for broker in brokers)}"


def _wave_time_unknown(*, wave: int) -> str:
    return f"it is not known how long wave {wave} takes"


def _wave_longer_than_window(*, wave: int, seconds: float, longest_seconds: float) -> str:
    return f"wave {wave} takes {format_seconds(seconds)}, the longest window is {format_seconds(longest_seconds)}"


def _outside_windows(*, weekday: str, time: str) -> str:
    return f"{weekday} {time} UTC is outside every window"


def _and_more(*, count: int) -> str:
    return f"and {count:,} more"


def _all_moves_done(*, moves: int) -> str:
    return "the move is done" if moves == 1 else f"all {moves:,} moves are done"


def _moves_are_left(*, moves: int, gain: float | None, imbalance: float | None) -> str:
    text = f"{counted(moves, 'move')} {'is' if moves == 1 else 'are'} left"
    if gain is None:
        return text
    does = "it lowers" if moves == 1 else "they lower"
    return f"{text}: {does} the imbalance by {gain:.3g}, from {imbalance:.3g} (0 is even)"


def _gain_of_rest(*, gain: float, imbalance: float) -> str:
    return f"the rest lowers the imbalance by {gain:.3g}, from {imbalance:.3g} (0 is even)"


def _every_broker_inside() -> str:
    return "every broker is inside its allowed range already"


def _plan_had_verdict(*, verdict: str) -> str:
    return f"the plan's verdict is {verdict.replace('_', ' ')}: make a new plan"


def _now_something_to_do() -> str:
    return "there is something to do by now"


def _now_nothing_to_do() -> str:
    return "there is still nothing to do"


def _now_other_sizes(*, now_bytes: float, then_bytes: float, is_copied: bool) -> str:
    amounts = f"{format_bytes(now_bytes)} now, {format_bytes(then_bytes)} when the plan was made"
    if is_copied:
        return f"the copies of the plan take {amounts}: the waves last longer or shorter"
    return f"all replicas take {amounts}"


def _now_unknown_capacity(*, resource: str) -> str:
    return f"{resource}: the capacity of a broker is not known any more; the plan assumes equal ones"


def _now_other_capacity(*, resource: str, broker: int, now: float, then: float) -> str:
    unit = UNITS[resource]
    amounts = f"{format_amount(now, unit)} now, {format_amount(then, unit)} when the plan was made"
    return f"{resource}: broker {broker} can carry {amounts}"


def _imbalance_would_grow(*, growth: float) -> str:
    return f"the imbalance would grow by {growth:.3g}: more of the load would be outside its allowed ranges"


def _broker_would_overflow(*, resource: str, broker: int, is_cap: bool) -> str:
    return f"{resource}: broker {broker} would be above its {'cap' if is_cap else 'capacity'}"


def _racks_would_be_shared(*, partitions: int) -> str:
    return f"{counted(partitions, 'partition')} would have replicas that share a rack"


def _partition_is_gone(*, partition: str, is_on_gone_brokers: bool) -> str:
    lost = "is wholly on brokers that are gone" if is_on_gone_brokers else "is not in the cluster any more"
    return f"{partition} {lost}"


def _now_other_replica_count(*, partition: str, now: int, then: int) -> str:
    return f"{partition} has {counted(now, 'replica')} now, {then} when the plan was made"


def _now_other_replicas(*, partition: str, now: Sequence[int], then: Sequence[int]) -> str:
    return f"{partition} is on {list(now)} now, the plan was made for {list(then)}"


def _partition_being_reassigned(*, partition: str) -> str:
    return f"{partition}: is being reassigned already"


def _target_not_in_cluster(*, partition: str, broker: int) -> str:
    return f"{partition}: broker {broker} is not in the cluster"


def _target_in_state(*, partition: str, broker: int, state: str) -> str:
    return f"{partition}: broker {broker} {describe_state(state)}"


def _target_takes_no_replicas(*, partition: str, broker: int) -> str:
    return f"{partition}: broker {broker} takes no replicas"


def _target_not_for_topic(*, partition: str, broker: int) -> str:
    return f"{partition}: its topic may not be on broker {broker}"


def _no_leader_to_copy_from(*, partition: str) -> str:
    return f"{partition}: has no leader to copy from"


def _replica_out_of_sync(*, partition: str, broker: int) -> str:
    return f"{partition}: the replica on broker {broker} is out of sync: let it catch up first"


def _snapshot_before_plan(*, snapshot_at: str, plan_at: str) -> str:
    return f"the snapshot of {snapshot_at} is older than the plan's, {plan_at}"


def _plan_expired(*, expires_at: str) -> str:
    return f"the plan expired at {expires_at}"


def _looks_like_another_cluster(*, cluster: str, what: str, found: int, known: int) -> str:
    subject = (
        f"where the plan knows them are {found:,} of {counted(known, 'partition')} that move"
        if what == "partitions"
        else f"of {counted(known, 'broker')} that the plan knows, {found:,} are there"
    )
    return f"{subject}: this looks like another cluster than {cluster}"


def _broker_has_joined(*, broker: int) -> str:
    return f"broker {broker} has joined since: the plan gives it nothing"


def _broker_has_left(*, broker: int) -> str:
    return f"broker {broker} is not in the cluster any more"


def _broker_now_in_state(*, broker: int, state: str) -> str:
    return f"by this snapshot broker {broker} {describe_state(state)}"


def _broker_has_returned(*, broker: int, state: str) -> str:
    return f"broker {broker}, which was gone, {describe_state(state)}"


def _now_no_racks() -> str:
    return "no broker has a rack any more: the plan spreads replicas over racks"


def _now_other_rack(*, broker: int, now: str | None, then: str | None) -> str:
    return f"broker {broker} is {_on(now)} now, the plan was made with it {_on(then)}"


def _on(rack: str | None) -> str:
    return "without a rack" if rack is None else f"on rack {rack}"


def _topic_not_shown(*, topic: str) -> str:
    return f"topic {topic} is not shown to this login: it may be there or not"


def _topic_has_left(*, topic: str) -> str:
    return f"topic {topic} is not in the cluster any more"


def _topic_made_anew(*, topic: str) -> str:
    return f"topic {topic} was deleted and created again: it has another id"


def _now_more_partitions(*, topic: str, now: int, then: int) -> str:
    return f"topic {topic} has {counted(now, 'partition')}, {then:,} when the plan was made"


def _still_reassigned_by_others(*, partition: str) -> str:
    return (
        f"a reassignment of {partition} that is not the plan's still runs: the plan's commands start beside it "
        "(--additional)"
    )


def _now_reassigned_by_others(*, partition: str) -> str:
    return f"a reassignment of {partition} that is not the plan's runs: wait until it is done"


def _too_few_in_sync(*, partition: str, in_sync: int, least: int) -> str:
    return f"{partition} has {counted(in_sync, 'replica')} in sync, its least is {least}: let them catch up first"


CHECKS: Mapping[FactCode, Callable[..., str]] = MappingProxyType(
    {
        FactCode.ABOVE_POLICY_LIMIT: _above_policy_limit,
        FactCode.TOUCHES_PROTECTED: _touches_protected,
        FactCode.FILLS_PROTECTED_BROKER: _fills_protected_broker,
        FactCode.WAVE_TIME_UNKNOWN: _wave_time_unknown,
        FactCode.WAVE_LONGER_THAN_WINDOW: _wave_longer_than_window,
        FactCode.OUTSIDE_WINDOWS: _outside_windows,
        FactCode.AND_MORE: _and_more,
        FactCode.ALL_MOVES_DONE: _all_moves_done,
        FactCode.MOVES_ARE_LEFT: _moves_are_left,
        FactCode.GAIN_OF_REST: _gain_of_rest,
        FactCode.EVERY_BROKER_INSIDE: _every_broker_inside,
        FactCode.PLAN_HAD_VERDICT: _plan_had_verdict,
        FactCode.NOW_SOMETHING_TO_DO: _now_something_to_do,
        FactCode.NOW_NOTHING_TO_DO: _now_nothing_to_do,
        FactCode.NOW_OTHER_SIZES: _now_other_sizes,
        FactCode.NOW_UNKNOWN_CAPACITY: _now_unknown_capacity,
        FactCode.NOW_OTHER_CAPACITY: _now_other_capacity,
        FactCode.IMBALANCE_WOULD_GROW: _imbalance_would_grow,
        FactCode.BROKER_WOULD_OVERFLOW: _broker_would_overflow,
        FactCode.RACKS_WOULD_BE_SHARED: _racks_would_be_shared,
        FactCode.PARTITION_IS_GONE: _partition_is_gone,
        FactCode.NOW_OTHER_REPLICA_COUNT: _now_other_replica_count,
        FactCode.NOW_OTHER_REPLICAS: _now_other_replicas,
        FactCode.PARTITION_BEING_REASSIGNED: _partition_being_reassigned,
        FactCode.TARGET_NOT_IN_CLUSTER: _target_not_in_cluster,
        FactCode.TARGET_IN_STATE: _target_in_state,
        FactCode.TARGET_TAKES_NO_REPLICAS: _target_takes_no_replicas,
        FactCode.TARGET_NOT_FOR_TOPIC: _target_not_for_topic,
        FactCode.NO_LEADER_TO_COPY_FROM: _no_leader_to_copy_from,
        FactCode.REPLICA_OUT_OF_SYNC: _replica_out_of_sync,
        FactCode.SNAPSHOT_BEFORE_PLAN: _snapshot_before_plan,
        FactCode.PLAN_EXPIRED: _plan_expired,
        FactCode.LOOKS_LIKE_ANOTHER_CLUSTER: _looks_like_another_cluster,
        FactCode.BROKER_HAS_JOINED: _broker_has_joined,
        FactCode.BROKER_HAS_LEFT: _broker_has_left,
        FactCode.BROKER_NOW_IN_STATE: _broker_now_in_state,
        FactCode.BROKER_HAS_RETURNED: _broker_has_returned,
        FactCode.NOW_NO_RACKS: _now_no_racks,
        FactCode.NOW_OTHER_RACK: _now_other_rack,
        FactCode.TOPIC_NOT_SHOWN: _topic_not_shown,
        FactCode.TOPIC_HAS_LEFT: _topic_has_left,
        FactCode.TOPIC_MADE_ANEW: _topic_made_anew,
        FactCode.NOW_MORE_PARTITIONS: _now_more_partitions,
        FactCode.STILL_REASSIGNED_BY_OTHERS: _still_reassigned_by_others,
        FactCode.NOW_REASSIGNED_BY_OTHERS: _now_reassigned_by_others,
        FactCode.TOO_FEW_IN_SYNC: _too_few_in_sync,
    }
)
