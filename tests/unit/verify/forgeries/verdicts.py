"""Verdicts that do not follow from what the brokers carry, and reasons that are none."""

from __future__ import annotations

from tests.unit.verify.forgeries.forging import Document, any_move, bound, first, forges, require

NO_COST = {"replica_moves": 0, "leader_changes": 0, "seconds": 0.0, "seconds_slot_filling": 0.0}


def emptied(document: Document, verdict: str) -> None:
    """No moves, all consequences correct, and another verdict."""
    document["verdict"] = verdict
    document["moves"], document["waves"], document["rollback"] = [], [], None
    document["preconditions"], document["explanations"], document["frontier"] = [], [], []
    document["certificate"], document["topic_ids"], document["steps"] = {}, {}, []
    document["seen"]["topic_partitions"] = {}
    document["cost"] |= NO_COST | {"bytes": 0}
    document["topic_excess_replicas"] = [document["topic_excess_replicas"][0]] * 2
    document["after"] = {name: dict(loads) for name, loads in document["before"].items()}
    document["lower_bound"] = [
        {"cost": name, "value": 0.0, "gap": 0.0, "proof": "nothing_moves", "is_within_slack": None}
        for name in ("bytes", "replica_moves", "leader_changes", "seconds")
    ]
    removed = set(map(str, document["parameters"]["remove_brokers"]))
    for resource in document["resources"]:
        resource["skew_after"] = resource["skew_before"]
        loads = document["before"][resource["resource"]]
        stays = [load for broker, load in loads.items() if broker not in removed]
        if resource["capacity"] is None and stays and not removed:
            mean = sum(stays) / len(stays)
            resource["mean_level"] = mean
            asked_low, asked_high = resource["band_asked"]
            levels = [load / mean for load in stays] if mean else []
            low, high = min(levels, default=1.0), max(levels, default=1.0)
            is_out = asked_high is not None and mean
            resource["widened_to"] = [
                low if is_out and asked_low is not None and low < asked_low else None,
                high if is_out and high > asked_high else None,
            ]


def does_not_pay(document: Document, *, share: float, removed: float) -> Document:
    """The fact that a plan would not pay, with a share of all bytes that is right."""
    total = sum(document["before"].get("disk", {}).values())
    args = {"copied_bytes": share * total, "copied_share": share, "imbalance_removed": removed}
    return {"code": "does_not_pay", "args": args}


def require_reason_to_move(document: Document) -> None:
    any_move(document)
    require(not document["parameters"]["preferred_election"])


@forges("verdict")
def quiet_verdict_with_moves(document: Document) -> None:
    any_move(document)
    document["verdict"] = "nothing_to_do"


@forges("verdict")
def infeasible_with_moves(document: Document) -> None:
    any_move(document)
    document["verdict"] = "infeasible"


@forges("verdict")
def not_fixable_with_moves(document: Document) -> None:
    any_move(document)
    document["verdict"] = "not_fixable_by_moving"


@forges("verdict")
def rebalance_without_moves(document: Document) -> None:
    require(not document["moves"])
    document["verdict"] = "rebalance"


@forges("verdict", "broker_left", "replication_factor", "rack", "mean", "band")
def nothing_to_do_though_much_is(document: Document) -> None:
    require_reason_to_move(document)
    emptied(document, "nothing_to_do")
    document["reasons"] = [{"code": "all_inside_band", "args": {}}]


@forges("verdict", "broker_left", "replication_factor", "rack", "mean", "band")
def nothing_to_do_though_an_order_was_given(document: Document) -> None:
    require_reason_to_move(document)
    require(document["parameters"]["is_explicit"])
    emptied(document, "nothing_to_do")
    document["reasons"] = [does_not_pay(document, share=0.01, removed=0.0001)]


@forges("verdict", "mean", "band")
def would_not_pay_by_figures_that_pay(document: Document) -> None:
    require_reason_to_move(document)
    require(not document["parameters"]["is_explicit"])
    emptied(document, "nothing_to_do")
    document["reasons"] = [does_not_pay(document, share=0.001, removed=0.2)]


@forges("verdict", "band")
def infeasible_though_it_may_stay(document: Document) -> None:
    parameters = document["parameters"]
    require(document["moves"] and document["verdict"] == "rebalance")
    require(not parameters["remove_brokers"] and parameters["replication_factor"] is None)
    require(parameters["is_explicit"] is False or parameters["leaders_only"] or parameters["preferred_election"])
    emptied(document, "infeasible")
    document["robustness"] = None


@forges("verdict", "robustness")
def infeasible_though_nothing_is_to_be_done(document: Document) -> None:
    require(document["verdict"] == "nothing_to_do")
    document["verdict"] = "infeasible"


@forges("verdict")
def not_fixable_though_all_is_even(document: Document) -> None:
    require(document["verdict"] == "nothing_to_do")
    document["verdict"] = "not_fixable_by_moving"


@forges("verdict", "robustness")
def quiet_though_not_fixable(document: Document) -> None:
    require(document["verdict"] == "not_fixable_by_moving")
    document["verdict"] = "nothing_to_do"


@forges("verdict", "robustness", "broker_left", "band", "mean")
def quiet_though_infeasible(document: Document) -> None:
    require(document["verdict"] == "infeasible")
    document["verdict"] = "nothing_to_do"


@forges("verdict")
def no_reason(document: Document) -> None:
    document["reasons"] = []


@forges("shape")
def reason_without_a_code(document: Document) -> None:
    document["reasons"][0]["code"] = ""


@forges("shape")
def reason_without_arguments(document: Document) -> None:
    del document["reasons"][0]["args"]


@forges("shape")
def reason_with_a_sentence_beside_it(document: Document) -> None:
    document["reasons"][0]["text"] = "every broker is inside its band"


@forges("shape")
def reason_that_is_a_sentence(document: Document) -> None:
    document["reasons"][0] = "every broker is inside its band"


@forges("shape")
def argument_that_is_an_object(document: Document) -> None:
    document["reasons"][0]["args"]["more"] = {"a": 1}


@forges("robustness")
def more_trials_stand_than_were_made(document: Document) -> None:
    require(document["robustness"])
    document["robustness"]["verdict_stands"] = document["robustness"]["trials"] + 1


@forges("robustness")
def trials_below_nothing(document: Document) -> None:
    require(document["robustness"])
    document["robustness"]["verdict_stands"] = -1


@forges("robustness")
def noise_of_nothing(document: Document) -> None:
    require(document["robustness"])
    document["robustness"]["noise"] = 0.0


@forges("robustness")
def no_trials(document: Document) -> None:
    require(document["robustness"])
    document["robustness"] |= {"trials": 0, "verdict_stands": 0}


@forges("robustness")
def robustness_dropped(document: Document) -> None:
    require(document["robustness"])
    document["robustness"] = None


@forges("robustness")
def robustness_made_up(document: Document) -> None:
    require(document["robustness"] is None)
    document["robustness"] = {"trials": 20, "noise": 0.3, "verdict_stands": 20}


@forges(harmless="the trials are the planner's own estimate: range and presence are judged, and no move rests on it")
def verdict_that_always_stands(document: Document) -> None:
    robustness = first([document["robustness"]])
    require(robustness and robustness["verdict_stands"] > 0)
    robustness["verdict_stands"] -= 1


def precondition(document: Document, code: str) -> Document:
    """The precondition with this code."""
    return first(document["preconditions"], lambda fact: fact["code"] == code)


@forges("precondition")
def no_preconditions(document: Document) -> None:
    require(document["preconditions"])
    document["preconditions"] = []


@forges("precondition")
def precondition_of_another_code(document: Document) -> None:
    precondition(document, "kept_replicas_in_sync")["code"] = "replicas_in_sync"


@forges("precondition")
def precondition_twice(document: Document) -> None:
    document["preconditions"].append(precondition(document, "replicas_as_planned"))


@forges("precondition")
def precondition_of_disk_dropped(document: Document) -> None:
    document["preconditions"].remove(precondition(document, "free_disk_left"))


@forges("precondition")
def broker_dropped_from_the_preconditions(document: Document) -> None:
    precondition(document, "brokers_alive")["args"]["brokers"].pop()


@forges("precondition")
def other_broker_in_the_preconditions(document: Document) -> None:
    precondition(document, "brokers_alive")["args"]["brokers"][0] += 100


@forges("precondition")
def broker_to_be_added_that_is_there(document: Document) -> None:
    any_move(document)
    args = precondition(document, "brokers_alive")["args"]
    require(not any(fact["code"] == "added_brokers_joined" for fact in document["preconditions"]))
    document["preconditions"].insert(3, {"code": "added_brokers_joined", "args": {"brokers": args["brokers"][:1]}})


@forges("precondition")
def balancer_that_left_no_trace(document: Document) -> None:
    any_move(document)
    document["preconditions"].append({"code": "balancer_stopped", "args": {"balancer": "Cruise Control"}})


@forges("precondition")
def preconditions_though_nothing_moves(document: Document) -> None:
    require(not document["moves"])
    document["preconditions"] = [{"code": "replicas_as_planned", "args": {}}]


def balanced(document: Document) -> Document:
    """The first move that is made for balance alone."""
    return first(document["moves"], lambda move: move["worse_without"]["code"] == "broker_further_off")


def reason(document: Document, *codes: str) -> Document:
    """The reason of the first move with one of these codes."""
    return first(document["moves"], lambda move: move["reason"]["code"] in codes)["reason"]


@forges("explanation", "shape")
def move_without_a_reason(document: Document) -> None:
    any_move(document)["reason"] = {"code": "", "args": {}}


@forges("explanation", "shape")
def move_without_a_consequence(document: Document) -> None:
    any_move(document)["worse_without"] = {"code": "", "args": {}}


@forges("explanation")
def move_for_a_broker_that_it_does_not_touch(document: Document) -> None:
    move = any_move(document)
    args = {"broker": 99, "resource": "disk", "times_share": 3.0}
    move["reason"] = {"code": "relieves_broker", "args": args}
    move["worse_without"] = {
        "code": "broker_further_off",
        "args": {"broker": 99, "resource": "disk", "times_share_without": 3.0, "times_share_after": 2.0},
    }


@forges("explanation")
def reason_with_the_consequence_of_another(document: Document) -> None:
    balanced(document)["worse_without"] = {"code": "shares_rack", "args": {}}


@forges("explanation")
def level_of_today_made_worse(document: Document) -> None:
    balanced(document)["reason"]["args"]["times_share"] *= 1.5


@forges("explanation")
def level_afterwards_made_better(document: Document) -> None:
    balanced(document)["worse_without"]["args"]["times_share_after"] *= 0.5


@forges("explanation")
def level_without_the_move_that_is_no_worse(document: Document) -> None:
    args = balanced(document)["worse_without"]["args"]
    args["times_share_without"] = args["times_share_after"]


@forges("explanation")
def reason_of_another_resource(document: Document) -> None:
    move = balanced(document)
    other = first(document["resources"], lambda outcome: outcome["resource"] != move["reason"]["args"]["resource"])
    move["worse_without"]["args"]["resource"] = other["resource"]


@forges("explanation")
def reason_of_a_resource_that_there_is_not(document: Document) -> None:
    move = balanced(document)
    for said in (move["reason"], move["worse_without"]):
        said["args"]["resource"] = "tape"


@forges("explanation")
def relief_called_filling(document: Document) -> None:
    said = reason(document, "relieves_broker", "fills_broker")
    require(abs(said["args"]["times_share"] - 1) > 0.01)
    said["code"] = "fills_broker" if said["code"] == "relieves_broker" else "relieves_broker"


@forges("explanation")
def broker_left_that_is_kept(document: Document) -> None:
    move = first(document["moves"], lambda move: move["reason"]["code"] == "leaves_broker" and len(move["to"]) > 1)
    kept = first(broker for broker in move["to"])
    move["reason"]["args"]["broker"] = move["worse_without"]["args"]["broker"] = kept


@forges("explanation")
def broker_left_in_another_state(document: Document) -> None:
    move = first(document["moves"], lambda move: move["reason"]["code"] == "leaves_broker")
    state = "fenced" if move["reason"]["args"]["state"] != "fenced" else "dead"
    move["reason"]["args"]["state"] = move["worse_without"]["args"]["state"] = state


@forges("explanation")
def replication_factor_that_was_another(document: Document) -> None:
    move = first(document["moves"], lambda move: move["reason"]["code"].endswith("s_replication_factor"))
    move["reason"]["args"]["replicas"] += 1


@forges("explanation")
def explanation_dropped(document: Document) -> None:
    first(document["explanations"])
    document["explanations"].pop()


@forges("explanation")
def explanations_in_another_order(document: Document) -> None:
    require(len(document["explanations"]) > 1)
    document["explanations"].reverse()


@forges("explanation")
def explanation_of_other_counts(document: Document) -> None:
    first(document["explanations"])["args"]["replicas_in"] += 1


@forges("explanation")
def explanation_of_other_bytes(document: Document) -> None:
    said = first(document["explanations"], lambda said: said["args"]["bytes_out"])
    said["args"]["bytes_out"] *= 2


@forges("explanation")
def explanation_of_another_level(document: Document) -> None:
    said = first(document["explanations"], lambda said: said["args"]["times_share"])
    said["args"]["times_share_after"] = said["args"]["times_share_after"] * 1.5 + 0.1


@forges("explanation")
def explanation_of_a_broker_in_another_state(document: Document) -> None:
    first(document["explanations"])["args"]["state"] = "new"


@forges("explanation")
def explanations_emptied(document: Document) -> None:
    require(document["explanations"])
    document["explanations"] = []


@forges("bound_missing")
def bound_without_proof(document: Document) -> None:
    bound(document, "replica_moves")["proof"] = ""
