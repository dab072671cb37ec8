"""Families ``client_*`` and ``legacy_*_2_0``: what the leader of a classic group computes.

``client`` and ``version`` of an input say whose strategy is asked, of which release; without them the newest Java one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka_rebalance.assignors import registry
from kafka_rebalance.assignors.contract import Assignment, AssignmentRequest
from kafka_rebalance.conformance.families.client_columns import Owned, rendered, request_of

Input = Mapping[str, Any]
Output = dict[str, Any]


def answer_range(case: Input) -> Output:
    """``client_range``."""
    return rendered(*_asked_of_client("range", case))


def answer_roundrobin(case: Input) -> Output:
    """``client_roundrobin``."""
    return rendered(*_asked_of_client("roundrobin", case))


def answer_legacy_range(case: Input) -> Output:
    """``legacy_range_2_0``."""
    return rendered(*_asked("range@2.0", case))


def answer_legacy_roundrobin(case: Input) -> Output:
    """``legacy_roundrobin_2_0``."""
    return rendered(*_asked("roundrobin@2.0", case))


def answer_sticky(case: Input) -> Output:
    """``client_sticky``; ``isSticky``: of the newest class, where the general way ran, which alone keeps account."""
    name = _name_of("sticky", case)
    request, assignment = _asked(name, case, Owned.DATA)
    output = _with_notes(request, assignment)
    if name == "sticky" and assignment.notes is not None and not assignment.notes.is_constrained:
        output["isSticky"] = assignment.notes.is_sticky
    return output


def answer_cooperative_sticky(case: Input) -> Output:
    """``client_cooperative_sticky``: what is given out in this round."""
    return _with_notes(*_asked_of_client("cooperative-sticky", case))


def answer_legacy_sticky(case: Input) -> Output:
    """``legacy_sticky_2_0``."""
    return rendered(*_asked("sticky@2.0", case, Owned.ENCODED))


def _asked_of_client(
    strategy: str, case: Input, owned_of: Owned = Owned.SUBSCRIPTION
) -> tuple[AssignmentRequest, Assignment]:
    return _asked(_name_of(strategy, case), case, owned_of)


def _name_of(strategy: str, case: Input) -> str:
    return registry.name_of(strategy, case.get("client"), case.get("version"))


def _asked(name: str, case: Input, owned_of: Owned = Owned.SUBSCRIPTION) -> tuple[AssignmentRequest, Assignment]:
    request = request_of(case, owned_of)
    return request, registry.by_name(name).assign(request)


def _with_notes(request: AssignmentRequest, assignment: Assignment) -> Output:
    output = rendered(request, assignment)
    if assignment.notes is not None:
        output["constrained"] = assignment.notes.is_constrained
        if assignment.notes.max_generation_after is not None:
            output["maxGenerationAfter"] = assignment.notes.max_generation_after
    return output
