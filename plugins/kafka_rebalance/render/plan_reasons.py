"""Reasons of a verdict, notes, proofs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from types import MappingProxyType

from kafka_assignors.visible_text import excerpt
from kafka_rebalance.amounts import counted, format_amount, format_bytes, format_seconds, listed, noun_of
from kafka_rebalance.facts import BoundProof, FactCode
from kafka_rebalance.render.coverage import RIGHT_HIDES, describe_load
from kafka_rebalance.render.findings import CANCEL, pause_of
from kafka_rebalance.resources import ROWS, UNITS
from kafka_rebalance.snapshot.coverage import Right
from kafka_rebalance.snapshot.times import format_span

IMBALANCE = "imbalance (share of load outside its allowed range, summed over resources)"
PROVED = "proved by a program in whole numbers"
STATES = MappingProxyType(
    {
        "draining": "is to be removed", "refused": "refused the connection", "silent": "did not answer in time",
        "disconnected": "ended the connection", "unresponsive": "does not respond", "without_log_dir": "has no log dir "
        "that works",
    }
)  # fmt: skip


def describe_state(state: str) -> str:
    """Return ``is dead``, ``did not answer in time``."""
    return STATES.get(state, f"is {state}")


def in_list(names: Sequence[object]) -> str:
    """Return ``a``, ``a and b``, ``a, b and c``."""
    *others, last = map(str, names)
    return f"{', '.join(others)} and {last}" if others else last


def first_of(first: Sequence[object], count: int) -> str:
    return ", ".join(map(str, first)) + (f" and {count - len(first):,} more" if count > len(first) else "")


# Reasons to move.


def _must_leave(*, broker: int, state: str, replicas: int) -> str:
    return f"broker {broker} {describe_state(state)}: {counted(replicas, 'replica')} must leave it"


def _offline_dirs(*, replicas: int) -> str:
    return f"{counted(replicas, 'replica')} {_are(replicas)} on log dirs that are offline"


def _outside_topic_brokers(*, replicas: int) -> str:
    return f"{counted(replicas, 'replica')} {_are(replicas)} on brokers that their topics may not use"


def _factor_differs(*, partitions: int) -> str:
    verb = "has" if partitions == 1 else "have"
    return f"{counted(partitions, 'partition')} {verb} another replication factor than you asked for"


def _racks_unused(*, partitions: int) -> str:
    return f"the replicas of {counted(partitions, 'partition')} are on fewer racks than they could be"


def _demoted_leads(*, broker: int, partitions: int) -> str:
    return f"broker {broker} is demoted and leads {counted(partitions, 'partition')}"


def _demoted_preferred(*, broker: int, partitions: int) -> str:
    return (
        f"broker {broker} is demoted and is the preferred leader of {counted(partitions, 'partition')} that other "
        "brokers lead"
    )


def _waits_for_sync(*, reason: str) -> str:
    return f"{reason}; this waits until replicas that are out of sync have caught up"


def _reassignment_fills(
    *, broker: int, state: str, is_gone: bool, partitions: int, first: Sequence[str], cancel_json: str | None
) -> str:
    way = (
        f"it {describe_state(state)}, so they end only if it comes back: cancel them"
        if is_gone
        else "wait until they are done and plan again, or cancel them"
    )
    file = cancel_json or "all that kafka-reassign-partitions.sh --list names for it"
    return (
        f"broker {broker} will not be empty: the running reassignments of {counted(partitions, 'partition')} "
        f"({first_of(first, partitions)}) end with a replica on it; {way} ({CANCEL}, with cancel.json: {file})"
    )


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


# Verdicts.


def _all_inside() -> str:
    return "every broker is inside its allowed range"


def _within_dead_band(*, dead_band: float, broker: int, resource: str, times_share: float) -> str:
    return (
        f"every broker is within {dead_band:.0%} of its share; the furthest is broker {broker}: its "
        f"{ROWS[resource].phrase} {times_share:.2f} × its share"
    )


def _nearly_full(
    *,
    resource: str,
    brokers: int,
    broker: int,
    capacity_share: float,
    mean_share: float | None,
    relieved_to: float | None,
) -> str:
    others = "" if brokers == 1 else f", the fullest of {brokers} that are nearly full"
    mean = "the capacities of others are unknown" if mean_share is None else f"the mean is {mean_share:.0%}"
    text = f"{resource}: broker {broker} uses {capacity_share:.0%} of capacity{others}, {mean}"
    if relieved_to is None:
        return f"{text}, so moves do not help: add capacity, or keep less"
    known = " of known capacity" if mean_share is None else ""
    return f"{text}; no broker{known} should end above {relieved_to:.0%}"


_WHEN = {
    "today": "", "until_elected": ", until then", "after_plan": ", after this plan",
    "once_elected": ", once preferred replicas are elected",
}  # fmt: skip
_WHY_IT_STAYS = {
    None: "", "none": ", and no move that was found helps",
    "whole_numbers": f", and no plan is inside all allowed ranges ({PROVED})",
}  # fmt: skip


def _outside_band(
    *,
    resource: str,
    side: str,
    brokers: int,
    furthest_broker: int,
    times_mean: float,
    when: str = "today",
    proof: str | None = None,
) -> str:
    outside = f"{'above' if side == 'high' else 'below'} the allowed range"
    return (
        f"{resource}: {counted(brokers, 'broker')} {_are(brokers)} {outside}, the furthest is broker {furthest_broker} "
        f"at {times_mean:.2f} × the mean{_WHEN[when]}{_WHY_IT_STAYS[proof]}"
    )


def _band_widened(*, resource: str, asked_times_mean: float, used_times_mean: float, cause: str) -> str:
    widened = f"widened from {asked_times_mean + 0.0:.3g} to {used_times_mean + 0.0:.3g} × the mean"  # no -0
    return f"the allowed range of {resource} is {widened}: {cause}"


def _band_not_met(*, resource: str, cause: str) -> str:
    return f"{resource}: {cause}"


def _does_not_pay(*, copied_bytes: float, copied_share: float, imbalance_removed: float) -> str:
    return (
        f"a plan would not pay: it copies {format_bytes(copied_bytes)} ({copied_share:.1%} of all bytes) and takes "
        f"{imbalance_removed:.3g} off the {IMBALANCE}"
    )


def describe_limits(
    *, max_move_bytes: int | None, max_moves: int | None, max_leader_changes: int | None, max_hours: float | None
) -> str:
    texts = (
        "" if max_move_bytes is None else f"at most {format_bytes(max_move_bytes)}",
        "" if max_moves is None else f"at most {counted(max_moves, 'replica move')}",
        "" if max_leader_changes is None else f"at most {counted(max_leader_changes, 'leader change')}",
        "" if max_hours is None else f"at most {max_hours:g} h at the throttle",
    )
    return ", ".join(filter(None, texts))


def _budget_allows_nothing(*, imbalance: float, **limits: float | None) -> str:
    return (
        f"the budget ({describe_limits(**limits)}) allows no move and no leader change "  # type: ignore[arg-type]
        f"that lowers the {IMBALANCE} of {imbalance:.3g}"
    )


def _budget_cuts_short(*, imbalance_before: float, imbalance_after: float, **limits: float | None) -> str:
    return (
        f"within the budget ({describe_limits(**limits)}) the {IMBALANCE} "  # type: ignore[arg-type]
        f"goes from {imbalance_before:.3g} to {imbalance_after:.3g}"
    )


def _rest_needs_more() -> str:
    return "the rest needs more than the budget: plan again afterwards, with this plan as --previous"


def _least_imbalance(*, imbalance: float) -> str:
    return f"no plan within the budget can come below an imbalance of {imbalance:.3g} (weak duality)"


def _imbalance_changes(*, imbalance_before: float, imbalance_after: float) -> str:
    return f"the {IMBALANCE} is {imbalance_before:.3g}, afterwards {imbalance_after:.3g}"


def _waits_for_election() -> str:
    return "leaders are more even once preferred replicas that are out of sync have caught up and are elected: wait"


def _preferred_elected() -> str:
    return "the first replica of each list becomes the leader again"


def _election_less_even(*, is_asked: bool, skew_before: float, skew_after: float) -> str:
    than = "today (a plan without --preferred-election reorders lists instead)" if is_asked else "without this plan"
    return (
        f"once preferred replicas are elected, leaders are less even than {than}: highest over mean {skew_before:.2f}, "
        f"afterwards {skew_after:.2f}"
    )


def _widened_bounds(*, is_proved: bool, least_bytes_as_asked: float | None) -> str:
    if is_proved:
        return f"bounds and gaps are for the widened ranges: no plan meets those that you asked for ({PROVED})"
    proof = (
        ""
        if least_bytes_as_asked is None
        else f"; a plan that met them could not copy less than {format_bytes(least_bytes_as_asked)}"
    )
    return f"bounds and gaps are for the widened ranges: no plan was found that meets those that you asked for{proof}"


def _throttle_raised(*, throttle_bytes_per_s: int, highest_bytes_per_s: int, raised_waves: int, waves: int) -> str:
    given, most = (format_amount(rate, "bytes/s") for rate in (throttle_bytes_per_s, highest_bytes_per_s))
    verb = "uses" if raised_waves == 1 else "use"
    return (
        f"the throttle of {given} is below what producers write to partitions that move, so their copies would never "
        f"catch up: {raised_waves:,} of {counted(waves, 'wave')} {verb} up to {most}"
    )


def _longer_than_valid(*, seconds: float, valid_hours: int) -> str:
    return (
        f"the plan takes {format_seconds(seconds)} at the throttle, longer than it is valid ({valid_hours:,} h): "
        "raise --throttle, or plan again from time to time with this plan as --previous"
    )


def _disks_fill_soon(
    *,
    broker: int,
    growth_bytes_per_day: int,
    days: float,
    load: float,
    load_after: float,
    most: float,
    capacity: float | None,
    disks: int,
    horizon_days: float,
    full_brokers: int,
) -> str:
    level = format_bytes(most) if capacity is None else f"{100 * most / capacity:.0f} % of its capacity"
    when = f"in {counted(round(days), 'day')}" if days >= 0.5 else "within a day"
    after = "" if not full_brokers else f"after {counted(full_brokers, 'full broker')}, "
    more = "" if disks == 1 else f", and {disks - 1:,} more that fill within {horizon_days:g} days"
    return (
        f"{after}step relieve takes {format_bytes(load - load_after)} off the disk of broker {broker}{more}: "
        f"it grows by {format_bytes(growth_bytes_per_day)} a day and reaches {level} {when}"
    )


def _nights_needed(
    *,
    nights: int,
    night_hours: float,
    first_waves: int,
    left_replica_moves: int,
    left_bytes: int | None,
    left_leader_changes: int,
) -> str:
    if nights == 1:
        return f"the waves fit into one night of {night_hours:g} h"
    copied = "" if not left_bytes else f" ({format_bytes(left_bytes)})"
    return (
        f"the waves take {nights:,} nights of {night_hours:g} h: the first runs {counted(first_waves, 'wave')} and "
        f"leaves {counted(left_replica_moves, 'replica move')}{copied} and "
        f"{counted(left_leader_changes, 'leader change')}"
    )


def _waves_longer_than_night(*, waves: int, longest_seconds: float, night_hours: float) -> str:
    return (
        f"{counted(waves, 'wave')} with a partition that is too large for a night of {night_hours:g} h: up to "
        f"{format_seconds(longest_seconds)}; raise --throttle, or exclude its topic"
    )


def _moves_without_room(*, moves: int) -> str:
    return f"{counted(moves, 'move')} {_are(moves)} left out: no order of them has room for both copies on every disk"


def _followers_reordered(*, partitions: int) -> str:
    return (
        f"{counted(partitions, 'partition')} get their followers in another order, so that the leaders of a lost "
        "broker spread evenly"
    )


def _losses_survived(*, kind: str, highest_times_capacity: float | None, resource: str | None) -> str:
    highest = "" if highest_times_capacity is None else f": at most {highest_times_capacity:.2f} × it ({resource})"
    return f"no broker is above its capacity after the loss of any {kind}{highest}"


def _changed_to_survive(*, kind: str, replica_moves: int, leader_changes: int, new_orders: int, otherwise: str) -> str:
    return (
        f"no broker is above its capacity after the loss of any {kind}, with "
        f"{counted(replica_moves, 'replica move')}, {counted(leader_changes, 'leader change')} and "
        f"{counted(new_orders, 'new order')} in all; else {otherwise}"
    )


def _topic_leaders_kept(*, topics: int) -> str:
    return f"each broker that may lead has the leaders that you asked for of each of {counted(topics, 'topic')}"


def _topic_leaders_fewer(*, topics: int, first: str, leaders: int, asked: int) -> str:
    return (
        f"{counted(topics, 'topic')} {'has' if topics == 1 else 'have'} too few partitions for that, such as {first}: "
        f"each broker leads {leaders:,} instead of {asked:,}"
    )


def _topic_leaders_of_none() -> str:
    return "the patterns of --min-topic-leaders match no topic that may move"


def _changed_for_topic_leaders(
    *,
    replica_moves: int,
    leader_changes: int,
    replica_moves_for_balance: int | None,
    leader_changes_for_balance: int | None,
) -> str:
    beside = (
        ""
        if replica_moves_for_balance is None or leader_changes_for_balance is None
        else f"; balance alone takes {replica_moves_for_balance:,} and {leader_changes_for_balance:,}"
    )
    return (
        f"the leaders that you asked for on each broker take {counted(replica_moves, 'replica move')} and "
        f"{counted(leader_changes, 'leader change')} in all{beside}"
    )


def _plan_confirmed(*, plan_id: str, done_moves: int, moves: int) -> str:
    return f"plan {plan_id[:12]} still holds and is confirmed: {done_moves:,} of {counted(moves, 'move')} done"


def _plan_continued(*, plan_id: str, left_moves: int) -> str:
    return (
        f"plan {plan_id[:12]} is continued: the cluster has changed, so what is left of it "
        f"({counted(left_moves, 'move')}) was adapted"
    )


def _bound_of_verifier(*, cost: str) -> str:
    return f"the bound on {cost.replace('_', ' ')} is the verifier's: a higher one was not proved"


_UNVERIFIED = {
    "frontier": "the frontier is left out: the verifier could not confirm one of its points",
    "slot_filling": "the time with full slots is that of the waves: the verifier could not confirm a shorter one",
    "robustness": "robustness is left out: the verifier could not confirm it",
    "step_bound": "the bounds of single steps are left out: the verifier could not confirm one of them",
}


def _part_not_verified(*, part: str) -> str:
    return _UNVERIFIED[part]


# Unmet bands.


def _gives_way(*, to: str, resources: Sequence[str], is_default: bool) -> str:
    kind, names = "default range" if is_default else "range", in_list(resources)
    if to == "caps":
        return f"the cap of {names} outranks this {kind}: caps come first"
    if to == "ordered_bands":
        return f"the allowed range of {names} outranks this {kind}: you asked for that one"
    return f"the allowed range of {names} outranks this {kind}: disks of different sizes come first"


def _partition_above_band(*, partition: str, times_band: float | None = None, leaves_others_short: bool = False) -> str:
    if leaves_others_short or times_band is None:
        return f"{partition} alone holds so much that too little is left for the other brokers"
    parts = -int(-times_band // 1)
    return (
        f"{partition} alone is more than the allowed range of any broker holds; what helps: spread its keys over at "
        f"least {parts} times as many partitions"
    )


def _all_above_band() -> str:
    return "every partition is larger than the allowed range of this broker; what helps: more, smaller partitions"


def _immovable_above_band(*, broker: int, topic: str, topic_share: float) -> str:
    return (
        f"partitions that may not move fill the allowed range of broker {broker} alone, {topic_share:.0%} of that are "
        f"of topic {topic}; what helps: let that topic move"
    )


def _mostly_immovable(*, share: float, topic: str) -> str:
    return f"{share:.0%} of all load may not move, most of it is of topic {topic}; what helps: let that topic move"


def _nothing_movable() -> str:
    return "no partition may move"


def _no_other_leader(*, broker: int, partitions: int) -> str:
    return (
        f"{counted(partitions, 'partition')} that broker {broker} leads {'has' if partitions == 1 else 'have'} no "
        "other replica that may lead; what helps: let replicas move"
    )


def _too_few_receivers(*, brokers: int) -> str:
    return f"{'no broker' if brokers == 0 else 'only one broker'} may receive; what helps: exclude fewer brokers"


def _disks_full(*, freest_broker: int, free_bytes: float, broker: int, smallest_replica_bytes: float) -> str:
    return (
        f"the disks are full: broker {freest_broker} has most room, {format_bytes(free_bytes)}, and the smallest "
        f"replica that may leave broker {broker} takes {format_bytes(smallest_replica_bytes)}; "
        "what helps: more disk, another broker or shorter retention"
    )


def _count_band_binds(*, broker: int, counted: str, count: int, resource: str, side: str, times_edge: float) -> str:
    least, ones = ("at least", "smallest") if side == "high" else ("at most", "largest")
    return (
        f"the allowed range of {counted} gives broker {broker} {least} {count:,}, and even the {ones} "
        f"bring it to {times_edge:.2f} × the edge of its allowed range of {resource}; "
        f"what helps: a wider one of {counted}"
    )


def _nothing_nearer() -> str:
    return "the search found nothing nearer"


# Points of the frontier.


def _point_in_budget() -> str:
    return "the most even plan found that the budget allows"


def _point_as_asked(*, asked: str, band: float | None, is_as_far_as_possible: bool) -> str:
    text = {
        "band": f"you asked for an allowed range of ±{band or 0.0:.1%}",
        "default_band": f"it is inside the default range of ±{band or 0.0:.1%}",
    }.get(asked, f"you asked for the {asked}")
    return text + (", as far as that can be met" if is_as_far_as_possible else "")


def _point_leaves_rates(
    *,
    replica_moves: int,
    leader_changes: int,
    copied_bytes: int | None,
    resource: str,
    times_mean: float,
    further_times_mean: float,
    capacity_share: float,
    is_assumed: bool,
) -> str:
    copied = "" if copied_bytes is None or copied_bytes <= 0 else f" ({format_bytes(copied_bytes)})"
    changes = f"{replica_moves:+,} {noun_of(abs(replica_moves), 'replica move')}{copied} and "
    changes += f"{leader_changes:+,} {noun_of(abs(leader_changes), 'leader change')}"
    buys = f"would lower the highest {resource} rate from {times_mean:.2f} × to {further_times_mean:.2f} × the mean"
    return f"{changes} {buys}, on brokers at {capacity_share:.0%} of {_CAPACITY[is_assumed]} or less"


def _rate_is_watched(*, resource: str, broker: int, load: float, capacity_share: float, is_assumed: bool) -> str:
    carried = f"broker {broker} carries the most, {amount_of(resource, load)}"
    return (
        f"{resource} is watched and not evened out: {carried}, {capacity_share:.0%} of {_CAPACITY[is_assumed]}; "
        "--balance-within evens it out"
    )


_CAPACITY = {
    True: "the capacity that is assumed (the busiest broker's rate and the throttle)",
    False: "their capacity",
}


def _stops_at_step(
    *, step: str, is_asked: bool, left_replica_moves: int, left_bytes: int | None, left_leader_changes: int
) -> str:
    copied = "" if not left_bytes else f" ({format_bytes(left_bytes)})"
    left = f"{counted(left_replica_moves, 'replica move')}{copied} and {counted(left_leader_changes, 'leader change')}"
    why = "as asked" if is_asked else "all brokers are near enough to their share"
    return f"the plan ends after the step {step.replace('_', ' ')}, {why}: {left} of later steps are left out"


def _point_cheap(*, unit: str, is_free: bool, is_beside_forced: bool) -> str:
    noun, more = {
        "bytes": ("byte that is copied", "copying a byte"),
        "replica_moves": ("replica that moves", "moving a replica"),
        "leader_changes": ("leader that changes", "changing a leader"),
    }[unit]
    if is_free:
        return f"it evens out without {more}{' more' if is_beside_forced else ''}"
    return f"the most evenness for each {noun}"


def _point_knee() -> str:
    return "beyond it each further step costs more than it evens out"


def _point_even() -> str:
    return "the most even one that was found"


# ``cannot_tell``.


def _too_old(*, age_s: int, limit_s: int) -> str:
    age, limit = (format_span(timedelta(seconds=seconds)) for seconds in (age_s, limit_s))
    if age == limit:
        age, limit = f"{age_s:,} s", f"{limit_s:,} s"
    return f"the snapshot is too old, take a fresh one: it is {age} old, the limit is {limit}"


def _no_broker_seen(*, has_groups_alone: bool = False) -> str:
    if has_groups_alone:
        return "the snapshot has no broker and no replica, only consumer groups: add kafka-topics --describe"
    return "the snapshot has no broker"


def _no_broker_answers(*, brokers_by_state: Sequence[tuple[str, int]]) -> str:
    states = "; ".join(f"{counted(count, 'broker')} {_plural(state, count)}" for state, count in brokers_by_state)
    return f"no broker is alive and answers: {states}"


def _plural(state: str, count: int) -> str:
    text = describe_state(state)
    if count == 1:
        return text
    return text.replace("is ", "are ", 1).replace("has ", "have ", 1).replace("does ", "do ", 1)


def _no_partition_seen() -> str:
    return "the snapshot has no partition: the cluster is empty, or this login may describe none of its topics"


def _no_partition_usable(*, partitions: int) -> str:
    return f"none of {counted(partitions, 'partition')} has a leader and a replica on a log dir that works"


def _right_missing(*, right: str) -> str:
    missing = Right(right)
    return f"the right {missing} is missing ({RIGHT_HIDES[right]}); to grant it: {missing.command}"


def _topics_may_be_hidden() -> str:
    return f"without the right {Right.DESCRIBE_CLUSTER} Kafka may hide topics"


def _topics_not_described(*, topics: int, first: str) -> str:
    return f"{_topics(topics, first)} could not be described: their leaders are not known"


def _topics(topics: int, first: str | None) -> str:
    return f"topic {first}" if topics == 1 else f"{topics:,} topics ({first}, …)"


def _may_be_outside(
    *, resource: str, broker: int, unknown_partitions: int, hidden_topics: int, first_hidden: str | None
) -> str:
    parts = [f"{resource} is not known for {counted(unknown_partitions, 'partition')}"] if unknown_partitions else []
    parts += [f"{_topics(hidden_topics, first_hidden)} could not be described"] if hidden_topics else []
    return f"{', and '.join(parts)}: {resource} of broker {broker} may be outside its allowed range"


def _leaderless(*, broker: int, state: str, partitions: int) -> str:
    return (
        f"broker {broker} {describe_state(state)} and {counted(partitions, 'partition')} on it "
        f"{'has' if partitions == 1 else 'have'} no leader: nothing can be copied until it comes back"
    )


def _resource_left_out(*, resource: str, why: str | None = None, gap: str = "") -> str:
    return f"{resource} is left out: {gap if why is None else why}"


def _of_what_was_seen(*, reason: str) -> str:
    return f"by what the snapshot shows: {reason}"


# Resources left out.


def _not_measured(*, figure: str) -> str:
    return f"{describe_load(figure)} is not measured"


def _known_for_few(*, figure: str, known_share: float, needed_share: float) -> str:
    return f"{describe_load(figure)} is known for {known_share:.0%} of the partitions, {needed_share:.0%} are needed"


def _rests_on_unknown(*, figures: Sequence[str]) -> str:
    names = in_list([describe_load(figure) for figure in figures])
    return f"it is computed from {names}, {'which is' if len(figures) == 1 else 'which are'} not known"


def _replicas_stay() -> str:
    return "only leaders change, so the load of replicas stays where it is"


# Notes.


def _unresponsive(*, broker: int, state: str) -> str:
    return (
        f"broker {broker} {describe_state(state)}: it gets no replicas and no leaders until a later snapshot reaches it"
    )


def _cordoned(*, broker: int) -> str:
    return f"broker {broker} is cordoned: it gets no replica"


def _only_broker(*, broker: int) -> str:
    return f"broker {broker} is the only one: replicas and leaders have nowhere else to go"


def _without_rack(*, brokers: Sequence[int]) -> str:
    if len(brokers) == 1:
        return f"broker {brokers[0]} has no rack: it counts as a rack of its own"
    return f"brokers {listed(brokers)} have no rack: each counts as a rack of its own"


def _more_replicas_than_racks(*, partitions: int, replication_factor: int, racks: int, most_in_rack: int) -> str:
    return (
        f"{counted(partitions, 'partition')} {'has' if partitions == 1 else 'have'} more replicas than there are racks "
        f"({replication_factor} over {racks}): they are spread evenly, at most {most_in_rack} in a rack"
    )


def _rack_empty(*, rack: str) -> str:
    return f"rack {rack} holds no replica yet: its brokers get their share"


def _disks_differ(*, smallest_bytes: float, smallest_broker: int, largest_bytes: float, largest_broker: int) -> str:
    return (
        f"disks differ, from {format_bytes(smallest_bytes)} (broker {smallest_broker}) to "
        f"{format_bytes(largest_bytes)} (broker {largest_broker}): shares of disk follow them"
    )


def _all_empty() -> str:
    return "every partition is empty: moving them costs no bytes, and only counts and rates are balanced"


def _capacity_mean(*, resource: str, broker: int) -> str:
    return f"{resource}: broker {broker} is assumed to have the mean capacity of the others"


def _capacities_equal(*, resources: Sequence[str]) -> str:
    return f"capacities are assumed to be equal for {in_list(resources)}: that of some broker is not known"


_LEFT_ALONE = {
    "reassigning": "being reassigned already",
    "leaderless": "no leader, so nothing can be copied until a replica comes back",
    "unmeasured": "a load that is not measured; only what must move moves",
    "excluded": "excluded topics, which still count",
    "observers": "Kafka's tool would turn observers into replicas; they still count",
    "out_of_sync": "a replica is out of sync, and no reassignment ends before it has caught up",
    "too_few_brokers": "on brokers that are gone, and too few others may hold a replica (add brokers, or lower the "
    "replication factor)",
}


def _left_alone(*, why: str, partitions: int, first: Sequence[str] = ()) -> str:
    named = f" ({first_of(first, partitions)})" if first else ""
    stay = "stays as it is" if partitions == 1 else "stay as they are"
    return f"{counted(partitions, 'partition')}{named} {stay}: {_LEFT_ALONE[why]}"


def _under_replicated(*, partitions: int, first: Sequence[str]) -> str:
    return f"{counted(partitions, 'partition')} {_are(partitions)} under-replicated: {first_of(first, partitions)}"


def _out_of_sync_leaves(*, partitions: int, first: Sequence[str]) -> str:
    return (
        f"{counted(partitions, 'partition')} {'has' if partitions == 1 else 'have'} a replica out of sync on a broker "
        f"that stays; that replica may not lead, nor be in a list that changes: {first_of(first, partitions)}"
    )


def _factor_at_min_isr(*, replication_factor: int, is_below: bool, topics: int, first: Sequence[str]) -> str:
    harm = (
        "producers with acks=all fail there once the plan is done"
        if is_below
        else "one failure stops writes with acks=all there"
    )
    than = "below" if is_below else "not above"
    return (
        f"warning: replication factor {replication_factor} is {than} min.insync.replicas of "
        f"{first_of(first, topics)}: {harm}"
    )


def _pattern_matches(*, option: str, pattern: str, matched: int, topics: int) -> str:
    return f"{option} {excerpt(pattern)} matches {f'{matched:,}' if matched else 'none'} of {counted(topics, 'topic')}"


def _more_patterns(*, patterns: int) -> str:
    return f"{counted(patterns, 'more pattern')} of topics {'was' if patterns == 1 else 'were'} given"


def _other_balancer(*, balancer: str, sign: str) -> str:
    return f"{balancer} may work against this plan (sign: {sign}): {pause_of(balancer)} before you execute it"


def _copies_between_dirs(*, replicas: int) -> str:
    return (
        f"{counted(replicas, 'replica')} {_are(replicas)} being moved between log dirs: until that ends both copies "
        "take disk"
    )


def _throttles_set(*, topics: int, brokers: int) -> str:
    where = [counted(topics, "topic")] if topics else []
    where += [counted(brokers, "broker")] if brokers else []
    return f"replication throttles are set on {' and '.join(where)} already: they slow this plan down, too"


def _hours_outside(
    *,
    hours: int,
    judged: int,
    outside_before: int,
    outside_after: int,
    mean_brokers_before: float,
    mean_brokers_after: float,
) -> str:
    more = "" if judged == hours else f", {hours - judged:,} more were not measured"
    return (
        f"in {outside_before:,} of the last {counted(judged, 'hour')} some broker was outside its allowed range of in, "
        f"out or cpu; with this plan it would have been in {outside_after:,} "
        f"({mean_brokers_before:.1f} → {mean_brokers_after:.1f} brokers an hour){more}"
    )


# Plans between log dirs.


def _dirs_move(*, replicas: int, copied_bytes: int, least_bytes: int) -> str:
    return (
        f"{counted(replicas, 'replica')} move between log dirs of their own broker: {format_bytes(copied_bytes)}, at "
        f"least {format_bytes(least_bytes)} needed, none over the network"
    )


def _dirs_as_asked() -> str:
    return "every dir that you want empty is empty, and every disk is within its allowed range"


def _dir_stays_outside(*, broker: int, paths: Sequence[str], used_share: float) -> str:
    where = f"{in_list(paths)} of broker {broker}"
    return f"{where} stays at {used_share:.1%}, outside its allowed range: whole replicas come no nearer"


_DIRS_LEFT_OUT = {
    "dirs_unknown": "its log dirs are unknown: give kafka-log-dirs of it, too",
    "one_disk": "its dirs that work share one disk",
    "one_dir_works": "no two of its dirs work",
    "places_unknown": "the dirs of its replicas are unknown: give kafka-log-dirs of all topics",
    "sizes_unknown": "the size of one of its disks, or what fills it, is unknown: give kafka-log-dirs of all topics, "
    "and a capacity file with DISK by path",
    "other_broker": "a dir of another broker cannot be emptied",
}


def _dirs_left_out(*, why: str, broker: int | None = None, state: str = "") -> str:
    reason = _DIRS_LEFT_OUT[why] if why in _DIRS_LEFT_OUT else f"it {describe_state(state)}"
    return reason if broker is None else f"broker {broker} is left out: {reason}"


def _disk_sizes_unknown(*, broker: int) -> str:
    return f"the disk sizes of broker {broker} are unknown: replicas are spread by what its dirs hold"


def _dirs_not_known(*, brokers: Sequence[int], is_to_empty: bool) -> str:
    of_all = f"broker{'' if len(brokers) == 1 else 's'} {listed(brokers)}"
    if is_to_empty:
        return f"too little is known of {of_all} to empty the dir"
    return f"too little is known of {of_all} to tell whether the disks are within their allowed range"


def _empties_dir(*, broker: int, path: str) -> str:
    return f"empties {path} of broker {broker}"


def _evens_disks(*, broker: int, path: str) -> str:
    return f"evens out the disks of broker {broker}: {path} has room"


def amount_of(resource: str, value: float) -> str:
    return format_amount(value, UNITS[resource])


PLAN_REASONS: Mapping[FactCode, Callable[..., str]] = MappingProxyType(
    {
        FactCode.REPLICAS_MUST_LEAVE_BROKER: _must_leave,
        FactCode.REPLICAS_ON_OFFLINE_DIRS: _offline_dirs,
        FactCode.REPLICAS_OUTSIDE_TOPIC_BROKERS: _outside_topic_brokers,
        FactCode.REPLICATION_FACTOR_DIFFERS: _factor_differs,
        FactCode.RACKS_UNUSED: _racks_unused,
        FactCode.DEMOTED_BROKER_LEADS: _demoted_leads,
        FactCode.DEMOTED_BROKER_IS_PREFERRED: _demoted_preferred,
        FactCode.WAITS_FOR_SYNC: _waits_for_sync,
        FactCode.REASSIGNMENT_FILLS_BROKER: _reassignment_fills,
        FactCode.ALL_INSIDE_BAND: _all_inside,
        FactCode.ALL_WITHIN_DEAD_BAND: _within_dead_band,
        FactCode.BROKERS_NEARLY_FULL: _nearly_full,
        FactCode.BROKERS_OUTSIDE_BAND: _outside_band,
        FactCode.RATE_IS_WATCHED: _rate_is_watched,
        FactCode.STOPS_AT_STEP: _stops_at_step,
        FactCode.BAND_WIDENED: _band_widened,
        FactCode.BAND_NOT_MET: _band_not_met,
        FactCode.DOES_NOT_PAY: _does_not_pay,
        FactCode.BUDGET_ALLOWS_NOTHING: _budget_allows_nothing,
        FactCode.BUDGET_CUTS_SHORT: _budget_cuts_short,
        FactCode.REST_NEEDS_MORE_BUDGET: _rest_needs_more,
        FactCode.LEAST_IMBALANCE_IN_BUDGET: _least_imbalance,
        FactCode.IMBALANCE_CHANGES: _imbalance_changes,
        FactCode.WAITS_FOR_ELECTION: _waits_for_election,
        FactCode.PREFERRED_REPLICAS_ELECTED: _preferred_elected,
        FactCode.ELECTION_LESS_EVEN: _election_less_even,
        FactCode.BOUNDS_OF_WIDENED_BANDS: _widened_bounds,
        FactCode.THROTTLE_RAISED: _throttle_raised,
        FactCode.LONGER_THAN_VALID: _longer_than_valid,
        FactCode.DISKS_FILL_SOON: _disks_fill_soon,
        FactCode.NIGHTS_NEEDED: _nights_needed,
        FactCode.WAVES_LONGER_THAN_NIGHT: _waves_longer_than_night,
        FactCode.MOVES_WITHOUT_ROOM: _moves_without_room,
        FactCode.FOLLOWERS_REORDERED: _followers_reordered,
        FactCode.LOSSES_SURVIVED: _losses_survived,
        FactCode.CHANGED_TO_SURVIVE: _changed_to_survive,
        FactCode.TOPIC_LEADERS_KEPT: _topic_leaders_kept,
        FactCode.TOPIC_LEADERS_FEWER_THAN_ASKED: _topic_leaders_fewer,
        FactCode.TOPIC_LEADERS_ASKED_OF_NONE: _topic_leaders_of_none,
        FactCode.CHANGED_FOR_TOPIC_LEADERS: _changed_for_topic_leaders,
        FactCode.PLAN_CONFIRMED: _plan_confirmed,
        FactCode.PLAN_CONTINUED: _plan_continued,
        FactCode.BOUND_OF_VERIFIER: _bound_of_verifier,
        FactCode.PART_NOT_VERIFIED: _part_not_verified,
        FactCode.BAND_GIVES_WAY: _gives_way,
        FactCode.PARTITION_ABOVE_BAND: _partition_above_band,
        FactCode.ALL_PARTITIONS_ABOVE_BAND: _all_above_band,
        FactCode.IMMOVABLE_ABOVE_BAND: _immovable_above_band,
        FactCode.MOSTLY_IMMOVABLE: _mostly_immovable,
        FactCode.NOTHING_MOVABLE: _nothing_movable,
        FactCode.NO_OTHER_LEADER: _no_other_leader,
        FactCode.TOO_FEW_RECEIVERS: _too_few_receivers,
        FactCode.DISKS_FULL: _disks_full,
        FactCode.COUNT_BAND_BINDS: _count_band_binds,
        FactCode.NOTHING_NEARER_FOUND: _nothing_nearer,
        FactCode.POINT_IN_BUDGET: _point_in_budget,
        FactCode.POINT_AS_ASKED: _point_as_asked,
        FactCode.POINT_LEAVES_RATES: _point_leaves_rates,
        FactCode.POINT_CHEAP: _point_cheap,
        FactCode.POINT_KNEE: _point_knee,
        FactCode.POINT_EVEN: _point_even,
        FactCode.SNAPSHOT_TOO_OLD: _too_old,
        FactCode.NO_BROKER_SEEN: _no_broker_seen,
        FactCode.NO_BROKER_ANSWERS: _no_broker_answers,
        FactCode.NO_PARTITION_SEEN: _no_partition_seen,
        FactCode.NO_PARTITION_USABLE: _no_partition_usable,
        FactCode.RIGHT_MISSING: _right_missing,
        FactCode.TOPICS_MAY_BE_HIDDEN: _topics_may_be_hidden,
        FactCode.TOPICS_NOT_DESCRIBED: _topics_not_described,
        FactCode.MAY_BE_OUTSIDE_BAND: _may_be_outside,
        FactCode.LEADERLESS_ON_GONE_BROKER: _leaderless,
        FactCode.RESOURCE_LEFT_OUT: _resource_left_out,
        FactCode.OF_WHAT_WAS_SEEN: _of_what_was_seen,
        FactCode.FIGURE_NOT_MEASURED: _not_measured,
        FactCode.FIGURE_KNOWN_FOR_FEW: _known_for_few,
        FactCode.RESTS_ON_UNKNOWN_FIGURE: _rests_on_unknown,
        FactCode.REPLICAS_STAY: _replicas_stay,
        FactCode.BROKER_UNRESPONSIVE: _unresponsive,
        FactCode.CORDONED_GETS_NOTHING: _cordoned,
        FactCode.ONLY_BROKER: _only_broker,
        FactCode.BROKERS_WITHOUT_RACK: _without_rack,
        FactCode.MORE_REPLICAS_THAN_RACKS: _more_replicas_than_racks,
        FactCode.RACK_EMPTY: _rack_empty,
        FactCode.DISKS_DIFFER: _disks_differ,
        FactCode.ALL_PARTITIONS_EMPTY: _all_empty,
        FactCode.CAPACITY_ASSUMED_MEAN: _capacity_mean,
        FactCode.CAPACITIES_ASSUMED_EQUAL: _capacities_equal,
        FactCode.PARTITIONS_LEFT_ALONE: _left_alone,
        FactCode.PARTITIONS_UNDER_REPLICATED: _under_replicated,
        FactCode.OUT_OF_SYNC_REPLICA_LEAVES: _out_of_sync_leaves,
        FactCode.FACTOR_AT_MIN_ISR: _factor_at_min_isr,
        FactCode.PATTERN_MATCHES: _pattern_matches,
        FactCode.MORE_PATTERNS: _more_patterns,
        FactCode.BALANCER_MAY_INTERFERE: _other_balancer,
        FactCode.COPIES_BETWEEN_DIRS: _copies_between_dirs,
        FactCode.THROTTLES_SET: _throttles_set,
        FactCode.HOURS_OUTSIDE_BAND: _hours_outside,
        FactCode.DIRS_MOVE: _dirs_move,
        FactCode.DIRS_AS_ASKED: _dirs_as_asked,
        FactCode.DIR_STAYS_OUTSIDE: _dir_stays_outside,
        FactCode.DIRS_LEFT_OUT: _dirs_left_out,
        FactCode.DISK_SIZES_UNKNOWN: _disk_sizes_unknown,
        FactCode.DIRS_NOT_KNOWN: _dirs_not_known,
        FactCode.EMPTIES_DIR: _empties_dir,
        FactCode.EVENS_DISKS: _evens_disks,
    }
)
PROOFS: Mapping[BoundProof, str] = MappingProxyType(
    {
        BoundProof.NOTHING_MOVES: "nothing moves",
        BoundProof.FORCED_COPIES: "copies that every plan needs: brokers that leave, racks, replication factor",
        BoundProof.PRICES_ABOVE_BANDS: "dual prices of the load above the allowed ranges (weak duality)",
        BoundProof.PRICES_BELOW_BANDS: "dual prices of the disk load missing below the allowed ranges (weak duality)",
        BoundProof.PRICES_BY_RACK: "dual prices of each rack's excess or missing disk load (weak duality)",
        BoundProof.LINEAR_PROGRAM: "the dual of the linear program of all moves (weak duality)",
        BoundProof.LINEAR_PROGRAM_WITH_COVERS: "the dual of the linear program of all moves, with cover inequalities",
        BoundProof.DUAL_ASCENT: "dual prices of all replicas and leaders, by dual ascent (weak duality)",
        BoundProof.COUNTED_LEADERS: "leaders outside the allowed ranges, counted broker by broker",
        BoundProof.COUNTED_REPLICAS: "the fewest replicas that cover what must leave",
        BoundProof.PRICES_OF_MOVES: "dual prices with each copy at 1 (weak duality)",
        BoundProof.BUSIEST_BROKER: "what the busiest broker receives or sends at the throttle (weak duality)",
        BoundProof.FORCED_READS: "copies that every plan needs are read from one leader's broker at the throttle",
        BoundProof.EMPTIEST_DISK: "the emptiest broker's disk must be filled to its allowed range at the throttle",
        BoundProof.BYTES_OVER_RECEIVERS: "the least bytes, over all brokers that receive, at the throttle",
        BoundProof.BY_VERIFIER: "the verifier recomputed it from snapshot, allowed ranges and dual prices",
    }
)
