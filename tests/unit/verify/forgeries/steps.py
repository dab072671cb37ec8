"""Steps: their order, what each is for, what it costs, what it proves."""

from __future__ import annotations

from tests.unit.verify.forgeries.forging import Document, first, forges, require


@forges("step")
def steps_in_another_order(document: Document) -> None:
    require(len(document["steps"]) > 1)
    document["steps"].reverse()


@forges("step")
def step_dropped(document: Document) -> None:
    first(document["steps"])
    document["steps"].pop()


@forges("step")
def wave_in_the_step_before(document: Document) -> None:
    require(len(document["steps"]) > 1)
    document["steps"][0]["waves"].append(document["steps"][1]["waves"].pop(0))


@forges("step")
def copies_called_elections(document: Document) -> None:
    require(document["steps"] and document["steps"][0]["kind"] != "elect")
    first(document["steps"], lambda step: step["cost"]["replica_moves"] > 0)
    document["steps"][0]["kind"] = "elect"


@forges("step")
def evening_out_called_a_repair(document: Document) -> None:
    require(len(document["steps"]) == 1)
    first(document["steps"], lambda step: step["kind"] == "even_out")["kind"] = "repair"


@forges("step")
def evening_out_called_a_relief(document: Document) -> None:
    first(document["steps"], lambda step: step["kind"] == "even_out")
    require(all(step["kind"] in ("elect", "even_out") for step in document["steps"]))
    require(all(outcome["capacity"] is None for outcome in document["resources"]))
    require(not document["parameters"]["caps"] and not document["parameters"]["headroom"])
    document["steps"][-1]["kind"] = "relieve"


@forges("step")
def step_with_a_leader_change_less(document: Document) -> None:
    first(document["steps"], lambda step: step["cost"]["leader_changes"] > 0)["cost"]["leader_changes"] -= 1


@forges("step")
def step_that_copies_less(document: Document) -> None:
    first(document["steps"], lambda step: (step["cost"]["bytes"] or 0) > 0)["cost"]["bytes"] //= 2


@forges("step")
def step_that_is_quicker(document: Document) -> None:
    first(document["steps"], lambda step: (step["cost"]["seconds"] or 0) > 0)["cost"]["seconds"] /= 2


@forges("step")
def step_that_evens_out_more(document: Document) -> None:
    step = first(document["steps"], lambda step: bool(step["resources"]))
    step["resources"][0]["skew_after"] *= 0.9


@forges("step_bound")
def bound_of_a_step_above_its_proof(document: Document) -> None:
    copied = 0
    for step in document["steps"]:
        copied += step["cost"]["bytes"] or 0
        if step["lower_bound_bytes"] is not None and step["lower_bound_bytes"] < 0.9 * copied:
            step["lower_bound_bytes"], step["gap"] = float(copied), 0.0
            return
    require(False)
