"""Kinds of corrupted plans: each takes a whole document, spoils one thing, and names the rule that it breaks.

The spoiled document is sealed again by whoever uses it, unless the hash itself is what was spoiled: a forger who
changes a number also changes the hash.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

Document = dict[str, Any]
Corruption = Callable[[Document], None]

# name -> (rule that has to be named, world, how it is spoiled, whether it is sealed again)
CORRUPTIONS: dict[str, tuple[str, str, Corruption, bool]] = {}


def spoils(rule: str, world: str = "busy", *, is_sealed: bool = True) -> Callable[[Corruption], Corruption]:
    """Register a corruption under its function's name."""

    def register(function: Corruption) -> Corruption:
        CORRUPTIONS[function.__name__] = (rule, world, function, is_sealed)
        return function

    return register


def copying(document: Document) -> Document:
    """The first move that copies a replica."""
    return next(each for each in document["moves"] if each["bytes"])


def leading(document: Document) -> Document:
    """The first move that changes the leader alone."""
    return next(each for each in document["moves"] if each["kind"] == "leader")


def bound(document: Document, cost: str) -> Document:
    """The bound of one cost."""
    return next(each for each in document["lower_bound"] if each["cost"] == cost)


def regap(document: Document, cost: str) -> None:
    """The gap that belongs to the bound as it stands now."""
    it, amount = bound(document, cost), document["cost"][cost]
    it["gap"] = None if it["value"] <= 0 else (amount - it["value"]) / it["value"]


# --- the document ---------------------------------------------------------------------------------------------------


@spoils("hash", is_sealed=False)
def hash_of_another_plan(document: Document) -> None:
    document["plan_id"] = "0" * 64


@spoils("hash", is_sealed=False)
def seed_changed_after_sealing(document: Document) -> None:
    document["seed"] += 1


@spoils("hash", is_sealed=False)
def reason_reworded_after_sealing(document: Document) -> None:
    document["moves"][0]["reason"] += "!"


@spoils("shape")
def field_missing(document: Document) -> None:
    del document["waves"]


@spoils("shape")
def field_unknown(document: Document) -> None:
    document["comment"] = "trust me"


@spoils("shape")
def number_as_text(document: Document) -> None:
    document["cost"]["replica_moves"] = str(document["cost"]["replica_moves"])


@spoils("shape")
def truth_as_number(document: Document) -> None:
    document["moves"][0]["partition"] = True


@spoils("shape")
def version_from_the_future(document: Document) -> None:
    document["format_version"] = 2


@spoils("shape")
def parameters_without_limits(document: Document) -> None:
    del document["parameters"]["partitions_per_wave"]


@spoils("identity")
def other_cluster(document: Document) -> None:
    document["cluster"] = "another"


@spoils("identity")
def other_snapshot(document: Document) -> None:
    document["snapshot_id"] = "f" * 64


@spoils("identity")
def captured_later(document: Document) -> None:
    document["captured_at"] = "2026-11-21T12:00:00Z"
    document["expires_at"] = "2026-11-22T12:00:00Z"


@spoils("identity")
def expired_before_it_began(document: Document) -> None:
    document["expires_at"] = "2026-11-19T12:00:00Z"


@spoils("verdict")
def quiet_verdict_with_moves(document: Document) -> None:
    document["verdict"] = "nothing_to_do"


@spoils("verdict")
def no_reason(document: Document) -> None:
    document["reasons"] = []


@spoils("verdict")
def no_preconditions(document: Document) -> None:
    document["preconditions"] = []


# --- rules ----------------------------------------------------------------------------------------------------------


@spoils("partition_unknown")
def partition_that_is_not_there(document: Document) -> None:
    document["moves"][0]["partition"] = 999


@spoils("partition_twice")
def partition_moved_twice(document: Document) -> None:
    document["moves"].append(copy.deepcopy(document["moves"][0]))
    document["waves"][0]["moves"].append(len(document["moves"]) - 1)


@spoils("from_differs")
def from_another_order(document: Document) -> None:
    move = copying(document)
    move["from"] = move["from"][::-1]


@spoils("from_differs")
def from_another_leader(document: Document) -> None:
    move = copying(document)
    move["leader_from"] = next(b for b in move["from"] if b != move["leader_from"])


@spoils("broker_unknown")
def broker_out_of_nowhere(document: Document) -> None:
    copying(document)["to"][-1] = 77


@spoils("broker_twice")
def two_replicas_on_one_broker(document: Document) -> None:
    move = copying(document)
    move["to"][-1] = move["to"][0]


@spoils("broker_gone")
def replica_onto_a_dead_broker(document: Document) -> None:
    copying(document)["to"][-1] = 9


@spoils("broker_gone")
def replica_onto_a_removed_broker(document: Document) -> None:
    move = next(each for each in document["moves"] if each["bytes"] and 3 not in each["to"])
    move["to"][-1] = 3


@spoils("broker_closed")
def replica_onto_an_excluded_broker(document: Document) -> None:
    move = next(each for each in document["moves"] if each["bytes"] and 7 not in (*each["from"], *each["to"]))
    move["to"][-1] = 7


@spoils("broker_left")
def removed_broker_keeps_a_replica(document: Document) -> None:
    number = next(i for i, each in enumerate(document["moves"]) if 3 in each["from"])
    _drop_move(document, number)


@spoils("leader_not_first")
def leader_second_in_the_list(document: Document) -> None:
    move = copying(document)
    move["to"][0], move["to"][1] = move["to"][1], move["to"][0]


@spoils("leader_forbidden")
def leadership_onto_a_demoted_broker(document: Document) -> None:
    move = next(each for each in document["moves"] if 5 in each["to"])
    move["to"].remove(5)
    move["to"].insert(0, 5)
    move["leader_to"] = 5


@spoils("leader_forbidden")
def leader_that_holds_no_replica(document: Document) -> None:
    move = copying(document)
    move["leader_to"] = next(b for b in (0, 1, 2, 4, 6, 8) if b not in move["to"])


@spoils("leader_forbidden")
def demoted_broker_still_leads(document: Document) -> None:
    number = next(i for i, each in enumerate(document["moves"]) if each["leader_from"] == 5)
    _drop_move(document, number)


@spoils("replication_factor")
def one_replica_fewer(document: Document) -> None:
    copying(document)["to"].pop()


@spoils("replication_factor")
def no_replica_at_all(document: Document) -> None:
    copying(document)["to"] = []


@spoils("rack")
def two_replicas_in_one_rack(document: Document) -> None:
    move = copying(document)
    for other in (0, 1, 2, 4, 6, 8):
        if other not in move["to"] and other % 3 == move["to"][0] % 3:
            move["to"][-1] = other
            return
    raise AssertionError


@spoils("topic_excluded")
def excluded_topic_moved(document: Document) -> None:
    document["parameters"]["exclude_topics"].append(document["moves"][0]["topic"])


@spoils("topic_excluded")
def topic_that_was_not_included(document: Document) -> None:
    document["parameters"]["include_topics"] = ["some-other-topic"]


@spoils("in_flight")
def running_reassignment_touched(document: Document) -> None:
    move = copying(document)
    move["topic"], move["partition"] = "topic-02", 0


@spoils("scope")
def replicas_moved_though_leaders_were_asked(document: Document) -> None:
    document["parameters"]["leaders_only"] = True


@spoils("scope")
def lists_reordered_though_an_election_was_asked(document: Document) -> None:
    document["parameters"]["preferred_election"] = True


@spoils("budget")
def more_bytes_than_allowed(document: Document) -> None:
    document["parameters"]["max_move_bytes"] = document["cost"]["bytes"] - 1


@spoils("budget")
def more_moves_than_allowed(document: Document) -> None:
    document["parameters"]["max_moves"] = document["cost"]["replica_moves"] - 1


@spoils("budget")
def more_leader_changes_than_allowed(document: Document) -> None:
    document["parameters"]["max_leader_changes"] = document["cost"]["leader_changes"] - 1


@spoils("move_idle")
def move_that_changes_nothing(document: Document) -> None:
    move = leading(document)
    move["to"], move["leader_to"] = list(move["from"]), move["leader_from"]


@spoils("move_idle")
def kind_that_hides_a_copy(document: Document) -> None:
    copying(document)["kind"] = "leader"


@spoils("capacity")
def disk_smaller_than_said(document: Document) -> None:
    small = {"disk_bytes": 1e9, "in_bytes_per_s": None, "out_bytes_per_s": None, "cpu_percent": None}
    document["parameters"]["capacities"] = {str(b): small for b in range(12)}


# --- numbers --------------------------------------------------------------------------------------------------------


@spoils("move_bytes")
def bytes_of_a_move_halved(document: Document) -> None:
    copying(document)["bytes"] //= 2


@spoils("move_bytes")
def bytes_said_to_be_unknown(document: Document) -> None:
    copying(document)["bytes"] = None


@spoils("cost")
def total_bytes_too_low(document: Document) -> None:
    document["cost"]["bytes"] -= 1_000_000


@spoils("cost")
def replica_moves_miscounted(document: Document) -> None:
    document["cost"]["replica_moves"] -= 1


@spoils("cost")
def leader_changes_miscounted(document: Document) -> None:
    document["cost"]["leader_changes"] += 1


@spoils("cost")
def time_cut_short(document: Document) -> None:
    document["cost"]["seconds"] *= 0.9


@spoils("resource")
def resource_dropped_in_silence(document: Document) -> None:
    document["resources"] = [each for each in document["resources"] if each["resource"] != "out"]


@spoils("before")
def before_prettier_than_it_was(document: Document) -> None:
    document["before"]["disk"]["0"] *= 1.001


@spoils("before")
def before_without_a_broker(document: Document) -> None:
    del document["before"]["in"]["0"]


@spoils("after")
def after_prettier_than_it_will_be(document: Document) -> None:
    document["after"]["disk"]["0"] *= 0.999


@spoils("after")
def leaders_after_miscounted(document: Document) -> None:
    document["after"]["leaders"]["1"] += 1


@spoils("mean")
def mean_shifted(document: Document) -> None:
    document["resources"][0]["mean_level"] *= 1.01


@spoils("mean")
def capacity_forged(document: Document) -> None:
    document["resources"][0]["capacity"]["0"] *= 2


@spoils("skew")
def skew_after_flattered(document: Document) -> None:
    document["resources"][0]["skew_after"] = 1.0


@spoils("skew")
def skew_before_exaggerated(document: Document) -> None:
    document["resources"][0]["skew_before"] += 1


@spoils("band", "plain")
def band_claimed_narrower(document: Document) -> None:
    document["parameters"]["balance_within"] = 0.02
    for each in document["resources"]:
        each["band_asked"] = [0.98, 1.02]


@spoils("band", "plain")
def band_of_another_width_than_asked(document: Document) -> None:
    document["resources"][0]["band_asked"] = [0.5, 1.5]


@spoils("band", "plain")
def target_passed_over(document: Document) -> None:
    document["parameters"]["targets"] = {"disk": [None, 1.01]}


@spoils("topic_excess")
def topics_said_to_be_even(document: Document) -> None:
    document["topic_excess_replicas"] = [0, 0]


@spoils("explanation")
def move_without_a_reason(document: Document) -> None:
    document["moves"][0]["reason"] = ""


@spoils("explanation")
def move_that_nobody_would_miss(document: Document) -> None:
    document["moves"][0]["worse_without"] = ""


# --- what nobody can beat -------------------------------------------------------------------------------------------


@spoils("bound_above_cost", "plain")
def bound_above_the_cost(document: Document) -> None:
    bound(document, "bytes")["value"] = document["cost"]["bytes"] * 1.01
    regap(document, "bytes")


@spoils("bound_not_proved", "plain")
def optimality_claimed(document: Document) -> None:
    bound(document, "replica_moves")["value"] = document["cost"]["replica_moves"]
    regap(document, "replica_moves")


@spoils("bound_not_proved", "plain")
def bytes_bound_inflated(document: Document) -> None:
    it = bound(document, "bytes")
    it["value"] = it["value"] * 0.5 + document["cost"]["bytes"] * 0.5
    regap(document, "bytes")


@spoils("bound_weak", "plain")
def bytes_bound_understated(document: Document) -> None:
    bound(document, "bytes")["value"] *= 0.5
    regap(document, "bytes")


@spoils("bound_missing", "plain")
def bound_left_out(document: Document) -> None:
    document["lower_bound"] = [each for each in document["lower_bound"] if each["cost"] != "bytes"]


@spoils("bound_missing", "plain")
def bound_without_proof(document: Document) -> None:
    bound(document, "bytes")["proof"] = ""


@spoils("gap", "plain")
def gap_smaller_than_it_is(document: Document) -> None:
    it = bound(document, "bytes")
    it["gap"] = (it["gap"] or 1.0) / 2


# --- waves ----------------------------------------------------------------------------------------------------------


@spoils("wave_members")
def move_in_no_wave(document: Document) -> None:
    document["waves"][-1]["moves"].pop()


@spoils("wave_members")
def move_in_two_waves(document: Document) -> None:
    document["waves"][-1]["moves"].append(document["waves"][0]["moves"][0])


@spoils("wave_members")
def move_that_names_another_wave(document: Document) -> None:
    document["moves"][0]["wave"] += 1


@spoils("wave_members")
def wave_of_a_move_that_is_not_there(document: Document) -> None:
    document["waves"][0]["moves"].append(len(document["moves"]))


@spoils("wave_members")
def empty_wave(document: Document) -> None:
    document["waves"].append(copy.deepcopy(document["waves"][-1]) | {"moves": []})


@spoils("wave_bytes")
def wave_bytes_too_low(document: Document) -> None:
    _copying_wave(document)["bytes"] -= 1


@spoils("wave_seconds")
def wave_time_halved(document: Document) -> None:
    _copying_wave(document)["seconds"] /= 2


@spoils("wave_throttle")
def throttle_below_the_write_rate(document: Document) -> None:
    wave = _copying_wave(document)
    wave["seconds"] *= wave["throttle_bytes_per_s"] / 10
    wave["throttle_bytes_per_s"] = 10


@spoils("wave_throttle")
def no_throttle(document: Document) -> None:
    _copying_wave(document)["throttle_bytes_per_s"] = 0


@spoils("wave_limit")
def more_at_a_time_than_allowed(document: Document) -> None:
    document["parameters"]["moves_per_broker"] = 1


@spoils("wave_limit")
def file_longer_than_allowed(document: Document) -> None:
    document["parameters"]["partitions_per_wave"] = 2


@spoils("wave_disk")
def free_disk_understated(document: Document) -> None:
    needed = _copying_wave(document)["free_disk_needed"]
    needed[next(iter(needed))] //= 2


@spoils("wave_disk")
def free_disk_of_a_receiver_left_out(document: Document) -> None:
    needed = _copying_wave(document)["free_disk_needed"]
    del needed[next(iter(needed))]


@spoils("wave_order")
def lacking_replicas_put_last(document: Document) -> None:
    """The waves in reverse order, everything else told rightly."""
    count = len(document["waves"])
    document["waves"].reverse()
    for move in document["moves"]:
        move["wave"] = count - 1 - move["wave"]
    document["rollback"]["waves"].reverse()


@spoils("slot_filling")
def driver_slower_than_waves(document: Document) -> None:
    document["cost"]["seconds_slot_filling"] = document["cost"]["seconds"] * 2


@spoils("slot_filling")
def driver_faster_than_any(document: Document) -> None:
    document["cost"]["seconds_slot_filling"] /= 1000


# --- going back -----------------------------------------------------------------------------------------------------


@spoils("rollback_order")
def rollback_in_the_order_of_the_plan(document: Document) -> None:
    document["rollback"]["waves"].reverse()


@spoils("rollback_order")
def rollback_forgets_a_move(document: Document) -> None:
    document["rollback"]["waves"][0]["moves"].pop()


@spoils("rollback_order")
def no_rollback(document: Document) -> None:
    document["rollback"] = None


@spoils("rollback_cost")
def rollback_cheaper_than_it_is(document: Document) -> None:
    document["rollback"]["bytes"] -= 1


@spoils("rollback_cost")
def rollback_moves_miscounted(document: Document) -> None:
    document["rollback"]["replica_moves"] += 1


@spoils("rollback_cost")
def rollback_leaders_miscounted(document: Document) -> None:
    document["rollback"]["leader_changes"] -= 1


@spoils("rollback_undone")
def rollback_onto_a_dead_broker_promised(document: Document) -> None:
    document["rollback"]["not_undone"] = []


@spoils("wave_seconds")
def rollback_time_halved(document: Document) -> None:
    next(each for each in document["rollback"]["waves"] if each["seconds"])["seconds"] /= 2


# --- helpers of the above -------------------------------------------------------------------------------------------


def _copying_wave(document: Document) -> Document:
    return next(each for each in document["waves"] if each["bytes"])


def _drop_move(document: Document, number: int) -> None:
    """Take a move out of the plan, and renumber the waves."""
    del document["moves"][number]
    for wave in (*document["waves"], *document["rollback"]["waves"]):
        wave["moves"] = [m - (m > number) for m in wave["moves"] if m != number]
    document["rollback"]["not_undone"] = [m - (m > number) for m in document["rollback"]["not_undone"] if m != number]
