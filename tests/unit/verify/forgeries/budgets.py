"""Forged remaining imbalances and lower bounds of plans within a budget."""

from __future__ import annotations

from tests.unit.verify.forgeries.forging import Document, first, forges, require


def claim(document: Document) -> Document:
    """A claim with a bound."""
    within_budget = document["within_budget"]
    require(within_budget is not None and within_budget["least_imbalance"])
    result: Document = within_budget
    return result


@forges("within_budget")
def a_budget_leaves_less_than_it_does(document: Document) -> None:
    claim(document)["imbalance_after"] *= 0.99


@forges("within_budget")
def more_stood_outside_before(document: Document) -> None:
    claim(document)["imbalance_before"] += 0.1


@forges("within_budget")
def nobody_could_be_more_even_by_more_than_is_proved(document: Document) -> None:
    reported = claim(document)
    require(reported["imbalance_after"] > reported["least_imbalance"] * 1.001)
    reported["least_imbalance"] = reported["imbalance_after"]


@forges("within_budget")
def the_least_imbalance_is_above_the_plan(document: Document) -> None:
    claim(document)["least_imbalance"] = 5.0


@forges("within_budget")
def the_least_imbalance_is_below_nothing(document: Document) -> None:
    claim(document)["least_imbalance"] = -0.1


@forges("within_budget")
def prices_of_imbalance_a_thousand_times_as_high(document: Document) -> None:
    reported = claim(document)
    reported["prices"] = {
        name: {b: price * 1e3 for b, price in some.items()} for name, some in reported["prices"].items()
    }
    reported["least_imbalance"] = min(reported["least_imbalance"] * 1e3, reported["imbalance_after"])


@forges("within_budget")
def prices_of_imbalance_of_a_broker_that_is_not_there(document: Document) -> None:
    first(claim(document)["prices"].values())["99"] = 1e-12


@forges("within_budget")
def prices_of_imbalance_of_no_resource(document: Document) -> None:
    reported = claim(document)
    reported["prices"]["memory"] = first(reported["prices"].values())


@forges("within_budget")
def prices_of_imbalance_left_out(document: Document) -> None:
    claim(document)["prices"] = {}


@forges("within_budget")
def a_charge_for_what_has_no_limit(document: Document) -> None:
    require(document["parameters"]["max_leader_changes"] is None)
    claim(document)["charges"]["leader_changes"] = 0.01


@forges("within_budget")
def charges_left_out(document: Document) -> None:
    reported = claim(document)
    require(reported["charges"])
    reported["charges"] = {}


@forges("within_budget")
def prices_of_imbalance_that_are_said_to_prove_nothing(document: Document) -> None:
    claim(document)["least_imbalance"] = None


@forges("within_budget")
def a_claim_of_a_budget_that_nobody_gave(document: Document) -> None:
    require(document["within_budget"] is None and document["moves"])
    limits = ("max_move_bytes", "max_moves", "max_leader_changes", "max_hours")
    require(all(document["parameters"][name] is None for name in limits))
    document["within_budget"] = {
        "imbalance_before": 0.1,
        "imbalance_after": 0.0,
        "least_imbalance": None,
        "prices": {},
        "charges": {},
    }


@forges("shape")
def a_claim_without_what_is_left(document: Document) -> None:
    del claim(document)["imbalance_after"]
