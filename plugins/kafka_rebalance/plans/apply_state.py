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

    @property
    def words(self) -> str:
        """What happened, and what to do next."""
        return _WORDS[self]


_WORDS = {
    ApplyState.ASKED: "waiting for somebody to approve or reject it",
    ApplyState.APPROVED: "approved; run its commands, then answer the second question",
    ApplyState.REJECTED: "rejected: nothing was run",
    ApplyState.TIMED_OUT: "nobody answered in time: nothing was run; start it again when somebody is there to answer",
    ApplyState.REFUSED: "approved, but it does not hold any more on a fresh reading: no command was shown; "
    "make a new plan (run advise)",
    ApplyState.VERIFIED: "done: every move is there, replicas are in sync, no throttle is left",
    ApplyState.PARTLY_APPLIED: "partly applied: finish what is left by the commands of its waves, or roll back",
    ApplyState.NOT_APPLIED: "nothing of it was applied",
    ApplyState.MOVED_BY_OTHERS: "somebody else moved or deleted partitions of it: make a new plan (run advise)",
}
