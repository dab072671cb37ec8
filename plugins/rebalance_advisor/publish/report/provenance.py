"""What an advisory rests on: what was measured, given or unknown, and what could not be read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka_rebalance.amounts import amount_in_words, ratio_in_words
from kafka_rebalance.facts import Fact, FactCode
from kafka_rebalance.render import render, render_document

Document = Mapping[str, Any]


def provenance(advisory: Document) -> dict[str, Any]:
    """Lines for the end of the page."""
    plan = advisory["plan"]
    robustness = plan["robustness"]
    return {
        "rests_on": rests_on(advisory),
        "also_measured": [also_measured_words(score) for score in advisory.get("also_measured", ())],
        "robustness": ""
        if robustness is None
        else render(Fact(FactCode.VERDICT_HOLDS, {"verdict": plan["verdict"]} | robustness)),
    }


def rests_on(advisory: Document) -> list[str]:
    """Each load and where it comes from, each resource that is left out, each part that was not read."""
    plan = advisory["plan"]
    lines = [f"{kind}: {render_document(source)}" for kind, source in advisory["loads"].items()]
    lines += [f"{resource} is left out: {render_document(why)}" for resource, why in plan["left_out"].items()]
    lines += [
        f"not read: {render_document(gap['what'])} of {gap['subject_type']} {gap['subject']} "
        f"({render_document(gap['reason'])})"
        for gap in advisory["coverage"]
    ]
    return lines


def also_measured_words(score: Document) -> str:
    """``leader_in: 12.0 MiB/s a broker, highest on broker 3: 1.58 × the mean``."""
    mean = amount_in_words(score["plain_mean"], score["unit"])
    highest = "" if score["worst_broker"] is None else f", highest on broker {score['worst_broker']}"
    return f"{score['resource']}: {mean} a broker{highest}: {ratio_in_words(score['skew'])} the mean"
