"""Parameters that mean nothing, that contradict each other, or that the plan does not keep."""

from __future__ import annotations

from tests.unit.verify.forgeries.forging import Document, any_move, copying, first, forges, require


@forges("parameter")
def parameters_without_limits(document: Document) -> None:
    del document["parameters"]["partitions_per_wave"]


@forges("parameter")
def parameter_unknown(document: Document) -> None:
    document["parameters"]["force"] = True


@forges("parameter")
def parameter_of_no_kind(document: Document) -> None:
    document["parameters"]["throttle_bytes_per_s"] = "fast"


@forges("parameter")
def limit_as_a_truth(document: Document) -> None:
    document["parameters"]["moves_per_broker"] = True


@forges("parameter")
def flag_as_a_number(document: Document) -> None:
    document["parameters"]["leaders_only"] = int(document["parameters"]["leaders_only"])


@forges("parameter")
def brokers_as_text(document: Document) -> None:
    document["parameters"]["remove_brokers"] = "4"


@forges("parameter")
def capacity_of_an_unknown_kind(document: Document) -> None:
    document["parameters"]["capacities"] = {"0": {"disk_bytes": 1e12}}


@forges("parameter")
def budget_below_nothing(document: Document) -> None:
    document["parameters"]["max_moves"] = -1


@forges("parameter")
def throttle_of_nothing(document: Document) -> None:
    document["parameters"]["throttle_bytes_per_s"] = 0


@forges("parameter")
def band_of_more_than_everything(document: Document) -> None:
    document["parameters"]["balance_within"] = 1.5


@forges("parameter")
def dead_band_below_nothing(document: Document) -> None:
    document["parameters"]["dead_band"] = -0.2


@forges("parameter")
def gain_below_nothing(document: Document) -> None:
    document["parameters"]["least_gain_per_byte"] = -1


@forges("parameter")
def hours_below_one(document: Document) -> None:
    document["parameters"]["expires_after_hours"] = 0


@forges("parameter")
def target_of_no_resource(document: Document) -> None:
    document["parameters"]["targets"] = {"memory": [None, 1.1]}
    document["parameters"]["is_explicit"] = True


@forges("parameter")
def target_turned_round(document: Document) -> None:
    document["parameters"]["targets"] = {"replicas": [1.2, 0.8]}
    document["parameters"]["is_explicit"] = True


@forges("parameter")
def caps_that_are_missing(document: Document) -> None:
    del document["parameters"]["caps"]


@forges("parameter")
def cap_of_no_resource(document: Document) -> None:
    document["parameters"] |= {"caps": {"memory": 1.0}, "is_explicit": True}


@forges("parameter")
def cap_of_nothing(document: Document) -> None:
    document["parameters"] |= {"caps": {"replicas": 0}, "is_explicit": True}


@forges("parameter")
def cap_of_half_a_replica(document: Document) -> None:
    document["parameters"] |= {"caps": {"replicas": 7.5}, "is_explicit": True}


@forges("parameter")
def cap_that_nobody_ordered(document: Document) -> None:
    document["parameters"] |= {"caps": {"replicas": 10**6}, "is_explicit": False}


@forges("capacity")
def cap_that_the_plan_breaks(document: Document) -> None:
    require(document["verdict"] in ("rebalance", "nothing_to_do") and "leaders" in document["after"])
    most = max(document["after"]["leaders"].values())
    require(most > 1)
    document["parameters"] |= {"caps": {"leaders": int(most) - 1}, "is_explicit": True}


@forges("resource")
def target_of_a_resource_that_is_not_told(document: Document) -> None:
    require(document["resources"] and not document["parameters"]["preferred_election"])
    document["parameters"]["targets"]["leader_in"] = [None, 1.1]
    document["parameters"]["is_explicit"] = True


@forges("parameter")
def topic_pattern_that_is_none(document: Document) -> None:
    document["parameters"]["exclude_topics"].append("(")


@forges("parameter")
def broker_removed_twice(document: Document) -> None:
    document["parameters"]["remove_brokers"] += [4, 4]


@forges("parameter")
def capacity_below_nothing(document: Document) -> None:
    empty = dict.fromkeys(("disk_bytes", "in_bytes_per_s", "out_bytes_per_s", "cpu_percent"))
    document["parameters"]["capacities"] = {"0": empty | {"disk_bytes": -1.0}}


@forges("parameter")
def order_that_nobody_gave(document: Document) -> None:
    parameters = document["parameters"]
    require(parameters["is_explicit"] and (parameters["targets"] or parameters["balance_within"] != 0.1))
    parameters["is_explicit"] = False


@forges("topic_excluded")
def excluded_topic_moved(document: Document) -> None:
    document["parameters"]["exclude_topics"].append(any_move(document)["topic"])


@forges("topic_excluded")
def topic_that_was_not_included(document: Document) -> None:
    any_move(document)
    document["parameters"]["include_topics"] = ["some-other-topic"]


@forges("scope", "parameter")
def replicas_moved_though_leaders_were_asked(document: Document) -> None:
    first(document["moves"], lambda move: move["kind"] == "replica")
    document["parameters"]["leaders_only"] = True


@forges("scope", "parameter")
def lists_reordered_though_an_election_was_asked(document: Document) -> None:
    first(document["moves"], lambda move: move["from"] != move["to"])
    document["parameters"]["preferred_election"] = True


@forges("budget")
def more_bytes_than_allowed(document: Document) -> None:
    require(document["cost"]["bytes"])
    document["parameters"]["max_move_bytes"] = document["cost"]["bytes"] - 1


@forges("budget")
def more_moves_than_allowed(document: Document) -> None:
    require(document["cost"]["replica_moves"])
    document["parameters"]["max_moves"] = document["cost"]["replica_moves"] - 1


@forges("budget")
def more_leader_changes_than_allowed(document: Document) -> None:
    require(document["cost"]["leader_changes"])
    document["parameters"]["max_leader_changes"] = document["cost"]["leader_changes"] - 1


@forges("budget")
def more_hours_than_allowed(document: Document) -> None:
    require(document["cost"]["seconds"])
    document["parameters"]["max_hours"] = document["cost"]["seconds"] / 3600 * 0.999


@forges("wave_limit")
def more_at_a_time_than_allowed(document: Document) -> None:
    limit = document["parameters"]["moves_per_broker"]
    first(document["waves"], lambda wave: (wave["bytes"] is None or wave["bytes"] > 0) and len(wave["moves"]) > limit)
    document["parameters"]["moves_per_broker"] = 1


@forges("wave_limit")
def file_longer_than_allowed(document: Document) -> None:
    document["parameters"]["partitions_per_wave"] = max(first([[len(w["moves"]) for w in document["waves"]]], bool)) - 1
    require(document["parameters"]["partitions_per_wave"])


@forges("wave_throttle")
def throttle_other_than_asked(document: Document) -> None:
    first(document["waves"])
    document["parameters"]["throttle_bytes_per_s"] *= 2


@forges("replication_factor")
def replication_factor_asked_and_not_given(document: Document) -> None:
    require(document["verdict"] in ("rebalance", "nothing_to_do", "not_fixable_by_moving"))
    require(not document["parameters"]["leaders_only"] and not document["parameters"]["preferred_election"])
    require(document["moves"] or document["verdict"] != "rebalance")
    document["parameters"]["replication_factor"] = 1


@forges("broker_left", "broker_gone", "before", "band")
def broker_to_be_removed_kept(document: Document) -> None:
    require(document["verdict"] != "infeasible" and not document["parameters"]["preferred_election"])
    keeps = (
        [b for b in map(int, first(document["after"].values())) if document["after"]["replicas"].get(str(b), 0)]
        if ("replicas" in document["after"])
        else []
    )
    parameters = document["parameters"]
    parameters["remove_brokers"] = sorted({*parameters["remove_brokers"], first(keeps)})


@forges("capacity", "mean", "band")
def disk_smaller_than_said(document: Document) -> None:
    first(document["resources"], lambda resource: resource["resource"] == "disk")
    small = {"disk_bytes": 1e9, "in_bytes_per_s": None, "out_bytes_per_s": None, "cpu_percent": None}
    document["parameters"]["capacities"] = {str(b): small for b in range(12)}


@forges(
    harmless="a limit that is wider than what the plan takes was kept: the plan is right for what it says was asked"
)
def budget_wider_than_the_plan(document: Document) -> None:
    document["parameters"]["max_moves"] = document["cost"]["replica_moves"] + 1_000
    require(document["verdict"] == "rebalance")
    require(not any(None not in resource["widened_to"] for resource in document["resources"]))


@forges("parameter")
def headroom_that_is_missing(document: Document) -> None:
    del document["parameters"]["headroom"]


@forges("parameter")
def headroom_as_a_text(document: Document) -> None:
    document["parameters"] |= {"headroom": {"disk": "20%"}, "is_explicit": True}


@forges("parameter")
def headroom_of_all(document: Document) -> None:
    document["parameters"] |= {"headroom": {"disk": 1.0}, "is_explicit": True}


@forges("parameter")
def headroom_of_a_count(document: Document) -> None:
    document["parameters"] |= {"headroom": {"leaders": 0.1}, "is_explicit": True}


@forges("parameter")
def headroom_that_nobody_ordered(document: Document) -> None:
    document["parameters"] |= {"headroom": {"disk": 0.0}, "is_explicit": False}


@forges("capacity")
def headroom_that_the_plan_breaks(document: Document) -> None:
    require(document["verdict"] in ("rebalance", "nothing_to_do") and "disk" in document["after"])
    known = first(resource["capacity"] for resource in document["resources"] if resource["resource"] == "disk")
    require(known)
    removed = set(map(str, document["parameters"]["remove_brokers"])) | set(map(str, document["seen"]["dead_brokers"]))
    used = max(load / known[broker] for broker, load in document["after"]["disk"].items() if broker not in removed)
    require(used > 0)
    document["parameters"] |= {"headroom": {"disk": 1 - 0.99 * used}, "is_explicit": True}


@forges("capacity")
def headroom_of_a_capacity_that_nobody_knows(document: Document) -> None:
    require(document["verdict"] in ("rebalance", "nothing_to_do"))
    require(any(resource["resource"] == "in" and resource["capacity"] is None for resource in document["resources"]))
    document["parameters"] |= {"headroom": {"in": 0.5}, "is_explicit": True}


def rule(pattern: object = ".*", brokers: object = (), racks: object = ()) -> Document:
    as_list = (list(part) if isinstance(part, tuple) else part for part in (brokers, racks))
    return dict(zip(("pattern", "brokers", "racks"), (pattern, *as_list), strict=True))


@forges("parameter")
def topic_brokers_that_are_missing(document: Document) -> None:
    del document["parameters"]["topic_brokers"]


@forges("parameter")
def topic_brokers_as_an_object(document: Document) -> None:
    document["parameters"]["topic_brokers"] = {".*": [0]}


@forges("parameter")
def topic_brokers_of_no_pattern(document: Document) -> None:
    document["parameters"]["topic_brokers"] = [rule(None, (0,))]


@forges("parameter")
def topic_brokers_by_name(document: Document) -> None:
    document["parameters"]["topic_brokers"] = [rule(brokers=("0",))]


@forges("parameter")
def topic_brokers_with_something_more(document: Document) -> None:
    document["parameters"]["topic_brokers"] = [rule(brokers=(0,)) | {"but": []}]


@forges("parameter")
def topic_brokers_of_what_is_no_expression(document: Document) -> None:
    document["parameters"]["topic_brokers"] = [rule("(", (0,))]


@forges("parameter")
def topic_brokers_out_of_order(document: Document) -> None:
    document["parameters"]["topic_brokers"] = [rule(brokers=(1, 0))]


@forges("parameter")
def topic_brokers_below_nothing(document: Document) -> None:
    document["parameters"]["topic_brokers"] = [rule(brokers=(-1, 0))]


@forges("parameter")
def topic_brokers_of_a_rack_twice(document: Document) -> None:
    document["parameters"]["topic_brokers"] = [rule(racks=("a", "a"))]


@forges("parameter")
def topic_brokers_of_a_rack_without_a_name(document: Document) -> None:
    document["parameters"]["topic_brokers"] = [rule(racks=("",))]


@forges("parameter")
def topic_brokers_of_nobody(document: Document) -> None:
    document["parameters"]["topic_brokers"] = [rule()]


@forges("parameter")
def topic_brokers_of_no_topic(document: Document) -> None:
    document["parameters"]["topic_brokers"] = [rule("", (0,))]


@forges("broker_closed")
def topic_brokers_that_a_copy_breaks(document: Document) -> None:
    move = copying(document)
    new = min(set(move["to"]) - set(move["from"]))
    others = sorted({int(broker) for broker in document["seen"]["broker_racks"]} - {new})
    document["parameters"]["topic_brokers"] = [rule(brokers=tuple(others))]


@forges("broker_left")
def topic_brokers_that_the_plan_leaves_behind(document: Document) -> None:
    parameters = document["parameters"]
    require(document["verdict"] == "rebalance" and not parameters["leaders_only"])
    require(not parameters["preferred_election"])
    require(all(parameters[name] is None for name in ("max_move_bytes", "max_moves", "max_leader_changes")))
    document["parameters"]["topic_brokers"] = [rule(brokers=(0,))]


@forges("parameter")
def racks_as_a_text(document: Document) -> None:
    document["parameters"]["remove_racks"] = "rack-0"


@forges("parameter")
def rack_removed_twice(document: Document) -> None:
    document["parameters"]["remove_racks"] = ["rack-0", "rack-0"]


@forges("broker_left", "broker_gone", "leader_forbidden", "verdict")
def rack_that_the_plan_does_not_empty(document: Document) -> None:
    require(document["verdict"] == "rebalance" and document["parameters"]["replication_factor"] is None)
    placed = {broker for move in document["moves"] for broker in move["to"]}
    rack = first(document["seen"]["broker_racks"][str(broker)] for broker in sorted(placed))
    require(rack and rack not in document["parameters"]["add_brokers"].values())
    document["parameters"]["remove_racks"] = [rack]


@forges("parameter")
def cost_first_that_is_none(document: Document) -> None:
    document["parameters"]["prefer"] = "cheapest"


@forges("parameter")
def slack_below_nothing(document: Document) -> None:
    document["parameters"]["slack"] = -0.01


@forges("parameter")
def slack_as_text(document: Document) -> None:
    document["parameters"]["slack"] = "5%"


@forges("gap")
def slack_other_than_the_bounds_were_held_to(document: Document) -> None:
    known = [bound for bound in document["lower_bound"] if bound["is_within_slack"] is not None and bound["gap"]]
    reported = first(known, lambda line: line["gap"] < 0.9)
    document["parameters"]["slack"] = reported["gap"] * (0.99 if reported["is_within_slack"] else 1.01)
