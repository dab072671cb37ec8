"""Parameters that mean nothing, that contradict each other, or that the plan does not keep."""

from __future__ import annotations

from tests.unit.verify.forgeries.forging import Document, any_move, first, forges, require


@forges("shape")
def parameters_without_limits(document: Document) -> None:
    del document["parameters"]["partitions_per_wave"]


@forges("shape")
def parameter_unknown(document: Document) -> None:
    document["parameters"]["force"] = True


@forges("shape")
def parameter_of_no_kind(document: Document) -> None:
    document["parameters"]["throttle_bytes_per_s"] = "fast"


@forges("shape")
def limit_as_a_truth(document: Document) -> None:
    document["parameters"]["moves_per_broker"] = True


@forges("shape")
def flag_as_a_number(document: Document) -> None:
    document["parameters"]["leaders_only"] = int(document["parameters"]["leaders_only"])


@forges("shape")
def brokers_as_text(document: Document) -> None:
    document["parameters"]["remove_brokers"] = "4"


@forges("shape")
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


@forges("shape")
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


@forges("scope")
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
    first(document["resources"], lambda told: told["resource"] == "disk")
    small = {"disk_bytes": 1e9, "in_bytes_per_s": None, "out_bytes_per_s": None, "cpu_percent": None}
    document["parameters"]["capacities"] = {str(b): small for b in range(12)}


@forges(
    harmless="a limit that is wider than what the plan takes was kept: the plan is right for what it says was asked"
)
def budget_wider_than_the_plan(document: Document) -> None:
    document["parameters"]["max_moves"] = document["cost"]["replica_moves"] + 1_000
    require(document["verdict"] == "rebalance")
    require(not any(None not in told["widened_to"] for told in document["resources"]))
