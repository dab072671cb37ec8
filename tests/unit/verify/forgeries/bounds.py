"""Forged bounds, gaps, prices and frontiers."""

from __future__ import annotations

from tests.unit.verify.forgeries.forging import Document, bound, first, forges, regap, require


def point(document: Document, *, is_recommended: bool = False) -> Document:
    """A point of the frontier."""
    return first(document["frontier"][1:], lambda reported: reported["is_recommended"] is is_recommended)


@forges("bound_not_proved")
def optimality_claimed(document: Document) -> None:
    it = bound(document, "replica_moves")
    require(it["gap"] is None or it["gap"] > 0.01)
    it["value"] = float(document["cost"]["replica_moves"])
    regap(document, "replica_moves")


@forges("bound_not_proved")
def bytes_bound_inflated(document: Document) -> None:
    it = bound(document, "bytes")
    require(it["gap"] is None or it["gap"] > 0.05)
    it["value"] = it["value"] * 0.5 + document["cost"]["bytes"] * 0.5
    regap(document, "bytes")


@forges("bound_not_proved", "bound_above_cost")
def leader_bound_inflated(document: Document) -> None:
    it = bound(document, "leader_changes")
    require(it["value"] < document["cost"]["leader_changes"])
    it["value"] = float(document["cost"]["leader_changes"])
    regap(document, "leader_changes")


@forges("bound_above_cost")
def bound_below_nothing(document: Document) -> None:
    bound(document, "leader_changes")["value"] = -1.0


@forges("bound_missing")
def bound_left_out(document: Document) -> None:
    document["lower_bound"].remove(bound(document, "replica_moves"))


@forges("bound_missing")
def bound_told_twice(document: Document) -> None:
    document["lower_bound"].append(bound(document, "replica_moves"))


@forges("bound_missing")
def bound_of_no_cost(document: Document) -> None:
    bound(document, "replica_moves")["cost"] = "money"


@forges("gap")
def gap_smaller_than_it_is(document: Document) -> None:
    it = first(document["lower_bound"], lambda reported: reported["gap"])
    it["gap"] *= 0.99


@forges("gap")
def gap_that_is_not_known_told_as_none(document: Document) -> None:
    first(document["lower_bound"], lambda reported: reported["gap"] is None)["gap"] = 0.0


@forges("certificate", "bound_not_proved")
def price_of_a_broker_that_is_not_there(document: Document) -> None:
    first(document["certificate"].values())["99"] = 1.0


@forges("certificate")
def price_of_no_resource(document: Document) -> None:
    document["certificate"]["memory"] = {"0": 1.0}


@forges("certificate", "bound_not_proved")
def prices_of_a_plan_that_moves_nothing(document: Document) -> None:
    require(not document["moves"])
    document["certificate"]["replicas"] = {"0": 1.0}


@forges("bound_not_proved", harmless="missed only where counting alone proves the bound: then prices are not needed")
def prices_dropped(document: Document) -> None:
    require(document["certificate"])
    document["certificate"] = {}


@forges("bound_not_proved")
def least_time_claimed(document: Document) -> None:
    it = bound(document, "seconds")
    require(it["gap"] and it["gap"] > 1e-5)
    it["value"] = float(document["cost"]["seconds"])
    regap(document, "seconds")


@forges("bound_not_proved")
def time_bound_without_its_proof(document: Document) -> None:
    require(bound(document, "seconds")["proof"] == "busiest_broker")
    del document["proofs"]["seconds"]


@forges("certificate")
def proof_of_no_cost(document: Document) -> None:
    document["proofs"]["money"] = first(document["proofs"].values())


def shares(document: Document) -> Document:
    """Shares of one direction in the proof of time."""
    proof = first(document["proofs"].values(), lambda reported: reported["sending"] or reported["receiving"])
    return proof["sending"] or proof["receiving"]


@forges("certificate")
def share_below_nothing(document: Document) -> None:
    reported = shares(document)
    reported[first(reported)] *= -1.0


@forges("certificate", "bound_not_proved")
def share_of_a_broker_that_is_not_there(document: Document) -> None:
    shares(document)["99"] = 0.5


@forges("certificate", "bound_not_proved")
def proof_of_time_without_shares(document: Document) -> None:
    reported = shares(document)
    reported.clear()


@forges("certificate", "bound_not_proved")
def proof_price_of_a_broker_that_is_not_there(document: Document) -> None:
    first(first(document["proofs"].values())["prices"].values())["99"] = 1.0


@forges("shape")
def proof_without_prices(document: Document) -> None:
    del first(document["proofs"].values())["prices"]


@forges(harmless="a bound that is weaker than it could be is still true; verify prints the one that can be proved")
def bytes_bound_understated(document: Document) -> None:
    it = bound(document, "bytes")
    require(it["value"] > 0)
    it["value"] *= 0.5
    regap(document, "bytes")


@forges("frontier")
def frontier_point_without_a_name(document: Document) -> None:
    first(document["frontier"], lambda reported: reported["name"])["name"] = None


@forges("frontier")
def frontier_name_twice(document: Document) -> None:
    first(document["frontier"], lambda reported: reported["name"] == "knee")["name"] = "even"


@forges("frontier")
def frontier_of_too_few_points(document: Document) -> None:
    require(document["frontier"])
    named = [reported for reported in document["frontier"] if reported["name"]]
    document["frontier"] = named


@forges("frontier")
def frontier_point_that_costs_more_and_gains_nothing(document: Document) -> None:
    points = document["frontier"]
    even = first(
        points[1:],
        lambda reported: not reported["is_recommended"] and reported["replica_moves"] > points[0]["replica_moves"],
    )
    even["skew"] = dict(points[0]["skew"])


@forges("frontier")
def frontier_without_a_recommendation(document: Document) -> None:
    first(document["frontier"], lambda reported: reported["is_recommended"])["is_recommended"] = False


@forges("frontier")
def frontier_that_recommends_two(document: Document) -> None:
    point(document)["is_recommended"] = True


@forges("frontier")
def frontier_that_recommends_another(document: Document) -> None:
    single = first(document["frontier"], lambda reported: reported["is_recommended"])
    other = first(document["frontier"], lambda reported: reported["bytes"] != single["bytes"])
    single["is_recommended"], other["is_recommended"] = False, True
    other["reasons"] = other["reasons"] or single["reasons"]


@forges("frontier")
def recommended_point_cheaper_than_the_plan(document: Document) -> None:
    reported = first(document["frontier"], lambda line: line["is_recommended"] and line["bytes"])
    reported["bytes"] -= 1


@forges("frontier")
def recommended_point_more_even_than_the_plan(document: Document) -> None:
    reported = first(document["frontier"], lambda line: line["is_recommended"])
    reported["skew"][first(reported["skew"])] *= 0.99


@forges("frontier")
def recommended_point_of_another_band(document: Document) -> None:
    reported = first(document["frontier"], lambda line: line["is_recommended"])
    reported["tolerance"] = 0.01


@forges("frontier")
def frontier_in_another_order(document: Document) -> None:
    require(document["frontier"])
    document["frontier"].reverse()


@forges("frontier")
def frontier_point_below_its_bound(document: Document) -> None:
    reported = first(document["frontier"], lambda line: line["bytes"])
    reported["lower_bound_bytes"] = reported["bytes"] * 1.01


@forges("frontier")
def frontier_point_without_a_resource(document: Document) -> None:
    reported = point(document)
    del reported["skew"][first(reported["skew"])]


@forges("frontier")
def frontier_point_more_even_than_can_be(document: Document) -> None:
    reported = point(document)
    reported["skew"][first(reported["skew"])] = 0.9


@forges("frontier")
def frontier_point_of_bytes_without_moves(document: Document) -> None:
    first(document["frontier"], lambda reported: reported["bytes"])["replica_moves"] = 0


@forges("frontier")
def frontier_point_below_nothing(document: Document) -> None:
    point(document)["leader_changes"] = -1


@forges("frontier")
def frontier_point_named_without_a_reason(document: Document) -> None:
    first(document["frontier"], lambda reported: reported["name"])["reasons"] = []


@forges("frontier")
def first_point_that_moves_nothing_and_evens_out(document: Document) -> None:
    reported = first(document["frontier"], lambda line: not line["replica_moves"] and not line["leader_changes"])
    reported["skew"] = dict.fromkeys(reported["skew"], 1.0)


@forges(
    harmless="the plan behind another point is not in the document: nobody runs it, and asking for its band makes it"
)
def skew_of_another_point_flattered(document: Document) -> None:
    reported = first(
        document["frontier"],
        lambda line: not line["is_recommended"] and line["replica_moves"] and min(line["skew"].values()) > 1.02,
    )
    reported["skew"] = {name: skew * 0.99 for name, skew in reported["skew"].items()}


@forges("gap")
def cost_said_to_be_within_its_slack(document: Document) -> None:
    reported = first(document["lower_bound"], lambda line: line["is_within_slack"] is False)
    reported["is_within_slack"] = True


@forges("gap")
def cost_said_to_be_beyond_its_slack(document: Document) -> None:
    reported = first(document["lower_bound"], lambda line: line["is_within_slack"])
    reported["is_within_slack"] = False


@forges("gap")
def cost_of_which_no_slack_is_told(document: Document) -> None:
    first(document["lower_bound"], lambda reported: reported["is_within_slack"] is not None)["is_within_slack"] = None


@forges("gap")
def slack_told_where_none_was_asked(document: Document) -> None:
    require(document["parameters"]["prefer"] == "bytes" and document["parameters"]["slack"] is None)
    for reported in document["lower_bound"]:
        reported["is_within_slack"] = True


@forges("gap")
def cost_first_other_than_asked(document: Document) -> None:
    require(document["lower_bound"] and document["parameters"]["prefer"] == "bytes")
    require(document["parameters"]["slack"] is None)
    document["parameters"]["prefer"] = "moves"


@forges("shape")
def slack_of_a_bound_left_out(document: Document) -> None:
    del first(document["lower_bound"])["is_within_slack"]
