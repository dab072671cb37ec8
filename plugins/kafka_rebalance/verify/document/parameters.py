"""The plan's ``parameters``: options that fit together, written as a plan writes them.

A plan is judged by its own parameters, so one that means nothing (a negative limit, a throttle of nothing) would let
anything pass. Kinds, ranges and contradictions are those of the options' own description
(``options/plan_options.py``); what an option asks of a plan is for the verifier's own rules.
"""

from __future__ import annotations

import re
from typing import Any

from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.verify.faults import FaultList

_CODE, _PLACE = "parameter", "parameters"


def read_parameters(parameters: dict[str, Any], faults: FaultList) -> PlanOptions | None:
    """Return the options that ``parameters`` tell, None where no plan tells them so (then a fault names the reason)."""
    try:
        options = PlanOptions.from_document(parameters)
    except InvalidInputError as error:
        faults.add(_CODE, _PLACE, str(error).removeprefix("plan.parameters: "))
        return None
    meant = options.document()
    if unknown := sorted(parameters.keys() - meant.keys()):
        faults.add(_CODE, f"{_PLACE}.{unknown[0]}"[:120], "is no option")
        return None
    if options.moves_per_broker is None:
        faults.add(_CODE, f"{_PLACE}.moves_per_broker", "is no number: waves are judged by it")
        return None
    for name, told in parameters.items():
        if told != meant[name] or isinstance(told, bool) is not isinstance(meant[name], bool):
            faults.add(_CODE, f"{_PLACE}.{name}", "is not what the other parameters say, in order, each once")
            return None
    return options


def is_topic_allowed(parameters: PlanOptions, topic: str) -> bool:
    """Included (or nothing is included by name), and not excluded. Patterns match whole names."""
    is_in = not parameters.include_topics or any(re.fullmatch(pattern, topic) for pattern in parameters.include_topics)
    return is_in and not any(re.fullmatch(pattern, topic) for pattern in parameters.exclude_topics)


def may_be_on(parameters: PlanOptions, topic: str, broker: int, rack: str | None) -> bool:
    """No rule that is about the topic keeps it from the broker."""
    mine = (rule for rule in parameters.topic_brokers if re.fullmatch(rule.pattern, topic))
    return all(broker in rule.brokers or (rack is not None and rack in rule.racks) for rule in mine)
