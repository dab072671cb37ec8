"""The exit codes of ``plan`` and ``advise``: one for each verdict, the same from both."""

from __future__ import annotations

from kafka_rebalance.plans.plan import Verdict

EXIT_DONE, EXIT_INFEASIBLE, EXIT_CANNOT_TELL = 0, 3, 4
_OTHERS = {Verdict.INFEASIBLE: EXIT_INFEASIBLE, Verdict.CANNOT_TELL: EXIT_CANNOT_TELL}


def exit_code_of(verdict: Verdict) -> int:
    """0 where something was found out, also that nothing has to be done or that moving cannot help."""
    return _OTHERS.get(verdict, EXIT_DONE)
