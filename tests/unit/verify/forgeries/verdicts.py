"""Verdicts that do not follow from what the brokers carry, and reasons that are none."""

from __future__ import annotations

from tests.unit.verify.forgeries.forging import Document, any_move, bound, first, forges, require

NO_COST = {"replica_moves": 0, "leader_changes": 0, "seconds": 0.0, "seconds_slot_filling": 0.0}


def emptied(document: Document, verdict: str) -> None:
    """No moves, everything that follows from that told rightly, and another verdict."""
    document["verdict"] = verdict
    document["moves"], document["waves"], document["rollback"] = [], [], None
    document["preconditions"], document["explanations"], document["frontier"] = [], [], []
    document["certificate"], document["topic_ids"] = {}, {}
    document["seen"]["topic_partitions"] = {}
    document["cost"] |= NO_COST | {"bytes": 0}
    document["topic_excess_replicas"] = [document["topic_excess_replicas"][0]] * 2
    document["after"] = {name: dict(loads) for name, loads in document["before"].items()}
    document["lower_bound"] = [
        {"cost": name, "value": 0.0, "gap": 0.0, "proof": "nothing_moves", "is_within_slack": None}
        for name in ("bytes", "replica_moves", "leader_changes", "seconds")
    ]
    removed = set(map(str, document["parameters"]["remove_brokers"]))
    for told in document["resources"]:
        told["skew_after"] = told["skew_before"]
        loads = document["before"][told["resource"]]
        stays = [load for broker, load in loads.items() if broker not in removed]
        if told["capacity"] is None and stays and not removed:
            mean = sum(stays) / len(stays)
            told["mean_level"] = mean
            asked_low, asked_high = told["band_asked"]
            levels = [load / mean for load in stays] if mean else []
            low, high = min(levels, default=1.0), max(levels, default=1.0)
            is_out = asked_high is not None and mean
            told["widened_to"] = [
                low if is_out and low < asked_low else None,
                high if is_out and high > asked_high else None,
            ]


def does_not_pay(document: Document, *, share: float, removed: float) -> Document:
    """The fact that a plan would not pay, with a share of all bytes that is told rightly."""
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
def words_of_more_trials_than_stand(document: Document) -> None:
    require(document["robustness"])
    robustness = document["robustness"]
    robustness["words"] = robustness["words"].replace(f"in {robustness['verdict_stands']} of", "in 99 of")


@forges("robustness")
def count_other_than_the_words(document: Document) -> None:
    require(document["robustness"])
    stands = document["robustness"]["verdict_stands"]
    document["robustness"]["verdict_stands"] = stands - 1 if stands else 1


@forges("robustness")
def robustness_dropped(document: Document) -> None:
    require(document["robustness"])
    document["robustness"] = None


@forges("robustness")
def robustness_made_up(document: Document) -> None:
    require(document["robustness"] is None)
    words = "with every load off by up to 30% at random, nothing has to be done in 20 of 20 trials"
    document["robustness"] = {"trials": 20, "noise": 0.3, "verdict_stands": 20, "words": words}


@forges(
    harmless="the trials are the planner's own estimate: range, words and presence are judged, and no move rests on it"
)
def verdict_that_always_stands(document: Document) -> None:
    """Count and words changed together."""
    robustness = first([document["robustness"]])
    require(robustness and robustness["verdict_stands"] > 0)
    old, new = robustness["verdict_stands"], robustness["verdict_stands"] - 1
    robustness["verdict_stands"] = new
    robustness["words"] = robustness["words"].replace(f"in {old} of", f"in {new} of")


@forges("precondition")
def no_preconditions(document: Document) -> None:
    require(document["preconditions"])
    document["preconditions"] = []


@forges("precondition")
def precondition_emptied(document: Document) -> None:
    require(document["preconditions"])
    document["preconditions"][-1] = ""


@forges("precondition")
def precondition_of_disk_dropped(document: Document) -> None:
    lines = document["preconditions"]
    del lines[first(range(len(lines)), lambda number: "free disk" in lines[number])]


@forges("precondition")
def broker_dropped_from_the_preconditions(document: Document) -> None:
    lines = document["preconditions"]
    number = first(range(len(lines)), lambda number: " are alive" in lines[number])
    names = lines[number].removeprefix("brokers ").removesuffix(" are alive").split(", ")
    lines[number] = f"brokers {', '.join(names[:-1])} are alive"


@forges("precondition")
def preconditions_though_nothing_moves(document: Document) -> None:
    require(not document["moves"])
    document["preconditions"] = ["all brokers are alive"]


@forges("explanation")
def move_without_a_reason(document: Document) -> None:
    any_move(document)["reason"] = ""


@forges("explanation")
def move_that_nobody_would_miss(document: Document) -> None:
    any_move(document)["worse_without"] = ""


@forges("explanation")
def move_for_a_broker_that_it_does_not_touch(document: Document) -> None:
    move = any_move(document)
    move["reason"] = "relieves broker 99: its disk holds 3.00 × its share"


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
    lines = document["explanations"]
    number = first(range(len(lines)), lambda number: " replicas" in lines[number])
    lines[number] = lines[number].replace(" replicas", "0 replicas", 1)


@forges("explanation")
def explanations_emptied(document: Document) -> None:
    require(document["explanations"])
    document["explanations"] = []


@forges("bound_missing")
def bound_without_proof(document: Document) -> None:
    bound(document, "replica_moves")["proof"] = ""
