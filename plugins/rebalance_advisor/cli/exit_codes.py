from __future__ import annotations

from enum import IntEnum

from kafka_rebalance.plans.plan import Verdict

EXIT_DONE, EXIT_INFEASIBLE, EXIT_CANNOT_TELL = 0, 3, 4
_OTHERS = {Verdict.INFEASIBLE: EXIT_INFEASIBLE, Verdict.CANNOT_TELL: EXIT_CANNOT_TELL}


class CronCode(IntEnum):
    """Urgent outranks every verdict."""

    NOTHING_TO_DO = 0
    INFEASIBLE = EXIT_INFEASIBLE
    CANNOT_TELL = EXIT_CANNOT_TELL
    PLAN = 20
    URGENT = 21
    NOT_FIXABLE_BY_MOVING = 22


_OF_VERDICT = {
    Verdict.NOTHING_TO_DO: CronCode.NOTHING_TO_DO,
    Verdict.INFEASIBLE: CronCode.INFEASIBLE,
    Verdict.CANNOT_TELL: CronCode.CANNOT_TELL,
    Verdict.REBALANCE: CronCode.PLAN,
    Verdict.NOT_FIXABLE_BY_MOVING: CronCode.NOT_FIXABLE_BY_MOVING,
}


def exit_code_of(verdict: Verdict) -> int:
    return _OTHERS.get(verdict, EXIT_DONE)


def cron_code_of(verdict: Verdict, *, is_urgent: bool) -> CronCode:
    return CronCode.URGENT if is_urgent else _OF_VERDICT[verdict]
