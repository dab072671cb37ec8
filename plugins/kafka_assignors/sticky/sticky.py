"""Kafka's sticky assignors: ``sticky`` (eager) and ``cooperative-sticky`` (withholds what must be given up first).

Promises, in this order: completeness · balance (counts differ by one at most if all subscribe to the same topics) ·
who has something keeps it. Racks, where they matter, come before stickiness, not before balance.
Equal subscriptions take the constrained way (``constrained``), all others the general one (``general``).

What a member says it owns comes, for ``sticky``, from its user data, with the generation in there; for
``cooperative-sticky`` from its Subscription, with the generation in there or, from old clients, in its user data.
In the cooperative round what another member still holds is withheld: it has no owner until that member has given it up
and joined again; the next round, with what each then owns as its input, assigns it. What has no owner is assigned at
once.

Source: ``StickyAssignor``, ``CooperativeStickyAssignor``, ``AbstractStickyAssignor`` of kafka-clients 3.0 to 4.3; what
their lines do differently stands in ``lines``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from kafka_assignors.contract import Assignment, AssignmentRequest
from kafka_assignors.sticky.constrained import assign_constrained
from kafka_assignors.sticky.general import assign_general
from kafka_assignors.sticky.sticky_input import (
    NEWEST,
    OF_3_0_0,
    OF_3_4_0,
    OF_3_4_1,
    OF_3_5_0,
    OF_3_5_2,
    Line,
    StickyInput,
    sticky_input_of,
)


@dataclass(frozen=True, slots=True)
class StickyAssignor:
    """``sticky``: eager, nothing is withheld."""

    name: str = "sticky"
    versions: str = "Kafka 3.7.1 – 4.3"
    line: Line = NEWEST

    def assign(self, request: AssignmentRequest) -> Assignment:
        """Raises AssignorError where Java fails, EndlessReassignmentError where it never returns."""
        inputs = sticky_input_of(request, request.members.data_generations, self.line)
        return _assign(request, inputs, self.line, is_cooperative=False)


@dataclass(frozen=True, slots=True)
class CooperativeStickyAssignor:
    """``cooperative-sticky``: the answer is what is given out in this round."""

    name: str = "cooperative-sticky"
    versions: str = "Kafka 3.7.1 – 4.3"
    line: Line = NEWEST

    def assign(self, request: AssignmentRequest) -> Assignment:
        """Raises AssignorError where Java fails, EndlessReassignmentError where it never returns."""
        members = request.members
        generations = members.data_generations
        if self.line.reads_subscription_generation:
            generations = np.where(members.generations >= 0, members.generations, generations)
            generations.setflags(write=False)  # as those of a request are: one variant of each kernel serves both
        inputs = sticky_input_of(request, generations, self.line)
        return _assign(request, inputs, self.line, is_cooperative=True)


def _assign(request: AssignmentRequest, inputs: StickyInput, line: Line, *, is_cooperative: bool) -> Assignment:
    way = assign_constrained if inputs.is_equal else assign_general
    return way(request, inputs, line, is_cooperative=is_cooperative)


# The classes of earlier lines, by the first release of each.
sticky_of_3_5_2 = partial(StickyAssignor, line=OF_3_5_2)
sticky_of_3_5_0 = partial(StickyAssignor, line=OF_3_5_0)
sticky_of_3_4_1 = partial(StickyAssignor, line=OF_3_4_1)
sticky_of_3_0_0 = partial(StickyAssignor, line=OF_3_0_0)
cooperative_of_3_5_2 = partial(CooperativeStickyAssignor, line=OF_3_5_2)
cooperative_of_3_5_0 = partial(CooperativeStickyAssignor, line=OF_3_5_0)
cooperative_of_3_4_1 = partial(CooperativeStickyAssignor, line=OF_3_4_1)
cooperative_of_3_4_0 = partial(CooperativeStickyAssignor, line=OF_3_4_0)
cooperative_of_3_0_0 = partial(CooperativeStickyAssignor, line=OF_3_0_0)
