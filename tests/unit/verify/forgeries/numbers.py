"""Costs, loads, means, skews and bands that are not those of the moves."""

from __future__ import annotations

from tests.unit.verify.forgeries.forging import (
    Document,
    bound,
    copying,
    first,
    forges,
    outcome,
    require,
    sized,
)


@forges("move_bytes")
def bytes_of_a_move_halved(document: Document) -> None:
    sized(document)["bytes"] //= 2


@forges("move_bytes", "cost")
def bytes_of_a_move_one_more(document: Document) -> None:
    sized(document)["bytes"] += 1


@forges("move_bytes")
def bytes_of_a_move_below_nothing(document: Document) -> None:
    move = sized(document)
    move["bytes"] = -move["bytes"]


@forges("move_bytes")
def bytes_of_two_moves_swapped(document: Document) -> None:
    single = sized(document)
    other = first(document["moves"], lambda move: move["bytes"] and move["bytes"] != single["bytes"])
    single["bytes"], other["bytes"] = other["bytes"], single["bytes"]


@forges("move_bytes")
def bytes_said_to_be_unknown(document: Document) -> None:
    sized(document)["bytes"] = None


@forges("move_bytes")
def bytes_said_to_be_known(document: Document) -> None:
    first([copying(document)], lambda move: move["bytes"] is None)["bytes"] = 0


@forges("cost")
def total_bytes_one_fewer(document: Document) -> None:
    require(document["cost"]["bytes"])
    document["cost"]["bytes"] -= 1


@forges("cost")
def total_bytes_one_percent_fewer(document: Document) -> None:
    require(document["cost"]["bytes"])
    document["cost"]["bytes"] = document["cost"]["bytes"] * 99 // 100


@forges("cost")
def total_bytes_said_to_be_unknown(document: Document) -> None:
    require(document["cost"]["bytes"])
    document["cost"]["bytes"] = None


@forges("trace")
def trace_that_ends_at_another_cost(document: Document) -> None:
    document["trace"][-1]["replica_moves"] += 1


@forges("trace")
def trace_without_its_last_steps(document: Document) -> None:
    document["trace"] = first([document["trace"][:1]], lambda _: document["cost"]["replica_moves"])


@forges("cost")
def replica_moves_miscounted(document: Document) -> None:
    document["cost"]["replica_moves"] -= 1


@forges("cost")
def leader_changes_miscounted(document: Document) -> None:
    document["cost"]["leader_changes"] += 1


@forges("cost")
def counts_swapped(document: Document) -> None:
    cost = document["cost"]
    require(cost["replica_moves"] != cost["leader_changes"])
    cost["replica_moves"], cost["leader_changes"] = cost["leader_changes"], cost["replica_moves"]


@forges("cost")
def time_cut_short(document: Document) -> None:
    require(document["cost"]["seconds"])
    document["cost"]["seconds"] *= 0.99


@forges("slot_filling")
def driver_slower_than_waves(document: Document) -> None:
    require(document["cost"]["seconds"])
    document["cost"]["seconds_slot_filling"] = document["cost"]["seconds"] * 1.01


@forges("slot_filling")
def driver_faster_than_any(document: Document) -> None:
    require(document["cost"]["seconds_slot_filling"])
    document["cost"]["seconds_slot_filling"] /= 1000


@forges("slot_filling")
def driver_of_unknown_time(document: Document) -> None:
    require(document["cost"]["seconds_slot_filling"])
    document["cost"]["seconds_slot_filling"] = None


@forges("resource")
def resource_dropped_in_silence(document: Document) -> None:
    require(len(document["resources"]) > 1)
    document["resources"].pop()


@forges("resource")
def resource_left_out_with_a_pretext(document: Document) -> None:
    name = first(document["resources"])["resource"]
    del document["resources"][0], document["before"][name], document["after"][name]
    for point in document["frontier"]:
        del point["skew"][name]
    document["left_out"][name] = {"code": "figure_not_measured", "args": {"figure": "log_bytes"}}


@forges("resource")
def resource_that_is_none(document: Document) -> None:
    name = first(document["resources"])["resource"]
    document["resources"][0]["resource"] = "memory"
    for field in ("before", "after"):
        document[field]["memory"] = document[field].pop(name)


@forges("shape")
def reason_of_what_is_left_out_emptied(document: Document) -> None:
    document["left_out"][first(document["left_out"])] = {"code": "", "args": {}}


@forges("resource")
def unit_of_another_kind(document: Document) -> None:
    first(document["resources"])["unit"] = "messages"


@forges("resource")
def source_more_trusted_than_it_is(document: Document) -> None:
    resource = first(document["resources"])
    resource["source"] = "given" if resource["source"] != "given" else "log_dirs"


@forges("order")
def resources_in_another_order(document: Document) -> None:
    require(len(document["resources"]) > 1)
    document["resources"].reverse()


@forges("before")
def before_prettier_than_it_was(document: Document) -> None:
    name = first(document["before"])
    broker = first(document["before"][name], lambda b: document["before"][name][b])
    document["before"][name][broker] *= 1.01


@forges("before")
def one_byte_before_forgotten(document: Document) -> None:
    outcome(document, "disk")
    document["before"]["disk"][first(document["before"]["disk"], lambda b: document["before"]["disk"][b])] -= 1


@forges("before")
def before_of_two_brokers_swapped(document: Document) -> None:
    name = first(document["before"])
    loads = document["before"][name]
    single = first(loads)
    other = first(loads, lambda broker: loads[broker] != loads[single])
    loads[single], loads[other] = loads[other], loads[single]


@forges("before")
def before_without_a_broker(document: Document) -> None:
    loads = first(document["before"].values())
    del loads[first(loads)]


@forges("before")
def before_with_a_broker_more(document: Document) -> None:
    first(document["before"].values())["99"] = 0.0


@forges("before", "after")
def before_and_after_swapped(document: Document) -> None:
    require(document["before"] != document["after"])
    document["before"], document["after"] = document["after"], document["before"]


@forges("after")
def after_prettier_than_it_will_be(document: Document) -> None:
    name = first(document["after"])
    broker = first(document["after"][name], lambda b: document["after"][name][b])
    document["after"][name][broker] *= 0.99


@forges("after")
def leaders_after_miscounted(document: Document) -> None:
    outcome(document, "leaders")
    document["after"]["leaders"]["1"] += 1


@forges("mean")
def mean_shifted(document: Document) -> None:
    first(document["resources"], lambda resource: resource["mean_level"])["mean_level"] *= 1.01


@forges("mean")
def capacity_forged(document: Document) -> None:
    resource = first(document["resources"], lambda reported: reported["capacity"])
    resource["capacity"]["0"] *= 2


@forges("mean")
def capacity_made_up(document: Document) -> None:
    resource = first(document["resources"], lambda reported: reported["capacity"] is None)
    resource["capacity"] = dict.fromkeys(document["before"][resource["resource"]], 1.0)


@forges("skew")
def skew_after_flattered(document: Document) -> None:
    first(document["resources"], lambda resource: resource["skew_after"] > 1.001)["skew_after"] = 1.0


@forges("skew")
def skew_before_exaggerated(document: Document) -> None:
    first(document["resources"])["skew_before"] += 0.01


@forges("band")
def band_claimed_narrower(document: Document) -> None:
    require(
        not document["parameters"]["preferred_election"] and document["verdict"] not in ("infeasible", "cannot_tell")
    )
    first(document["resources"], lambda reported: reported["skew_after"] > 1.01)
    document["parameters"] |= {"balance_within": 0.001, "is_explicit": True}
    for resource in document["resources"]:
        resource["band_asked"] = [0.999, 1.001]
        resource["widened_to"] = [None, None]


@forges("band")
def band_of_another_width_than_asked(document: Document) -> None:
    first(document["resources"])["band_asked"] = [0.5, 1.5]


@forges("band")
def band_around_another_mean(document: Document) -> None:
    first(document["resources"])["basis"] = "plain_mean"


@forges("band")
def target_passed_over(document: Document) -> None:
    document["parameters"] |= {"targets": {first(document["resources"])["resource"]: [None, 1.01]}, "is_explicit": True}


@forges("band")
def band_widened_without_need(document: Document) -> None:
    resource = first(
        document["resources"], lambda reported: reported["widened_to"][1] is None and reported["mean_level"]
    )
    resource["widened_to"] = [resource["widened_to"][0], 3.0]


@forges("band")
def band_widened_further_than_needed(document: Document) -> None:
    resource = first(document["resources"], lambda reported: reported["widened_to"][1] is not None)
    resource["widened_to"][1] *= 1.01


@forges("band")
def band_that_was_widened_told_as_met(document: Document) -> None:
    resource = first(document["resources"], lambda reported: reported["widened_to"] != [None, None])
    resource["widened_to"] = [None, None]


@forges("topic_excess")
def topics_said_to_be_even(document: Document) -> None:
    require(document["topic_excess_replicas"] != [0, 0])
    document["topic_excess_replicas"] = [0, 0]


@forges("topic_excess")
def topics_one_less_uneven(document: Document) -> None:
    document["topic_excess_replicas"][1] -= 1


@forges("bound_above_cost", "bound_not_proved")
def bound_above_the_cost(document: Document) -> None:
    require(document["cost"]["replica_moves"])
    bound(document, "replica_moves")["value"] = document["cost"]["replica_moves"] * 1.01


@forges("after_failure")
def takeover_without_its_broker(document: Document) -> None:
    require(document["after_failure"])
    worst = document["after_failure"]["after"]["broker"]
    require(worst and worst["takeover"])
    worst["takeover"]["leaders"] -= 1


@forges("preferred_leaders")
def one_more_preferred_leader(document: Document) -> None:
    require(document["preferred_leaders"])
    broker = next(iter(document["preferred_leaders"]["after"]))
    document["preferred_leaders"]["after"][broker] += 1


@forges("preferred_leaders")
def preferred_leaders_left_out(document: Document) -> None:
    require(document["preferred_leaders"])
    document["preferred_leaders"] = None


@forges("after_failure")
def loss_left_out(document: Document) -> None:
    require(document["after_failure"] and document["verdict"] != "cannot_tell")
    document["after_failure"] = None
