"""The plan's parameters: options that can be asked for together, written as a plan writes them.

A plan is judged by its own parameters, so one that means nothing (a negative limit, a throttle of nothing) would let
anything pass. Ranges and contradictions are those of the options' own description (``options/plan_options.py``).
"""

from __future__ import annotations

from typing import Any

from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.verify.faults import FaultList


def check_parameters(parameters: dict[str, Any], faults: FaultList) -> None:
    """``parameters`` has the shape that ``shape`` asks for."""
    try:
        meant = PlanOptions.from_document(parameters).document()
    except InvalidInputError as error:
        faults.add("parameter", "parameters", str(error).removeprefix("plan.parameters: "))
        return
    for name, held in parameters.items():
        if held != meant[name]:
            faults.add("parameter", f"parameters.{name}", "is not what the other parameters say, in order, each once")
            return
