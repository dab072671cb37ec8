"""States of a request to apply a plan. DAG files import this module, so it imports nothing heavy."""

from __future__ import annotations

from enum import StrEnum


class ApplyState(StrEnum):
    """All but the first two are final."""

    ASKED = "asked"  # shown, no answer yet
    APPROVED = "approved"  # accepted and checked again, commands shown; result unknown
    REJECTED = "rejected"
    TIMED_OUT = "timed_out"
    REFUSED = "refused"  # accepted, but the check on a fresh snapshot failed: no commands shown
    VERIFIED = "verified"  # all moves done, ISR full, no throttle left
    PARTLY_APPLIED = "partly_applied"  # or an election, an ISR or a throttle remains
    NOT_APPLIED = "not_applied"
    MOVED_BY_OTHERS = "moved_by_others"

    @property
    def is_end(self) -> bool:
        return self not in (ApplyState.ASKED, ApplyState.APPROVED)

    @property
    def is_as_decided(self) -> bool:
        return self in (ApplyState.VERIFIED, ApplyState.REJECTED)
