"""What the release lines of Kafka's sticky assignors do differently, from 3.0 to the newest.

A line is all releases with equal answers; patch releases begin some. Every difference is one field of ``Line``, so that
the ways themselves (``constrained``, ``general``) are written once. Lines of 2.x have ways of their own.

Source: ``AbstractStickyAssignor`` of kafka-clients 3.0.2, 3.3.2, 3.4.1, 3.5.0, 3.7.0, 3.7.1 and 4.3.1, run beside one
another.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum


class Claims(Enum):
    """Who keeps a partition that several members say they own."""

    BY_GENERATION = "the highest generation; of equal ones nobody"
    BY_LAST_CLAIM = "as BY_GENERATION, but compared with whoever claimed it last, though that claim was lost"
    OF_NEWEST = "members of the newest generation ever seen, all others own nothing; of two nobody"


@dataclass(frozen=True, slots=True)
class Line:
    """One line's answers to the questions in which lines differ; the defaults are those of the newest.

    ``keeps_lowest``: of too many partitions a member keeps the lowest, else the first in its own list.
    ``withholds_from_other_racks``: what a cooperative member loses because it lies in other racks is given to the next
    one only after that, else at once. ``counts_in_racks``: members that get one partition over the least while racks
    are matched count among those that may. ``slack``: a difference of more than this between members that could
    exchange calls for another walk.
    """

    claims: Claims = Claims.BY_GENERATION
    keeps_lowest: bool = True
    withholds_from_other_racks: bool = True
    counts_in_racks: bool = True
    uses_racks: bool = True
    slack: int = 1
    reads_subscription_generation: bool = True  # of cooperative members; else only what their user data says


NEWEST = Line()
OF_3_5_2 = Line(keeps_lowest=False, withholds_from_other_racks=False, counts_in_racks=False)
OF_3_5_0 = replace(OF_3_5_2, claims=Claims.BY_LAST_CLAIM, slack=0)
OF_3_4_1 = replace(OF_3_5_0, uses_racks=False)
OF_3_4_0 = replace(OF_3_4_1, claims=Claims.OF_NEWEST)
OF_3_0_0 = replace(OF_3_4_0, reads_subscription_generation=False)
