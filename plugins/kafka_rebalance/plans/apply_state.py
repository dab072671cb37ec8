"""States of a plan that is being carried out. DAG files read this module, so it imports nothing heavy."""

from __future__ import annotations

from enum import StrEnum


class ApplyState(StrEnum):
    """From the question on; all but the first two are ends."""

    ASKED = "asked"  # shown, nobody has answered yet
    APPROVED = "approved"  # answered with yes, checked again, the commands are shown; what came of it is not read yet
    REJECTED = "rejected"
    TIMED_OUT = "timed_out"  # nobody answered in time
    REFUSED = "refused"  # approved, but on a fresh reading it holds no more (check): no command was shown
    VERIFIED = "verified"  # every move is there, its ISR full, no throttle left
    PARTLY_APPLIED = "partly_applied"  # some of it, or all of it with something left: an election, an ISR, a throttle
    NOT_APPLIED = "not_applied"  # nothing of it
    MOVED_BY_OTHERS = "moved_by_others"  # partitions of it are where neither the plan nor the start has them, or gone

    @property
    def is_end(self) -> bool:
        """Nothing more comes."""
        return self not in (ApplyState.ASKED, ApplyState.APPROVED)

    @property
    def is_as_decided(self) -> bool:
        """It ended as somebody decided that it should: carried out whole, or not at all."""
        return self in (ApplyState.VERIFIED, ApplyState.REJECTED)
