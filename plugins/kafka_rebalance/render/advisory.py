"""Sentences for the sources of an advisory's figures, and for disks that fill up."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from kafka_rebalance.amounts import seconds_in_words
from kafka_rebalance.facts import FactCode
from kafka_rebalance.render.findings import verb


def _load_source(*, source: str, window_s: float | None, is_of_history: bool, known_ratio: float) -> str:
    words = source.replace("_", " ")
    if window_s is not None:
        words += f" over {seconds_in_words(window_s) if is_of_history else f'{window_s:.0f} s'}"
    return words if known_ratio == 1 else f"{words}, known for {100 * known_ratio:.1f} % of partitions"


def _load_of_log_dirs() -> str:
    return "log dirs, as brokers report them"


def _load_missing() -> str:
    return "unknown metric"


def _disk_fills(*, broker: int, used_ratio: float, days: float, days_with_plan: float | None) -> str:
    if days <= 0:
        return f"broker {broker}'s disk is {100 * used_ratio:.0f} % full already"
    words = f"broker {broker} reaches 85 % of its disk in {_days(days)}"
    if days_with_plan is None:
        return words
    return f"{words}, with the plan {f'in {_days(days_with_plan)}' if days_with_plan > 0 else 'at once'}"


def _days(days: float) -> str:
    whole = max(1, round(days))
    return "a day" if whole == 1 else f"{whole:,} days"


def _more_disks_fill(*, brokers: int, horizon_days: int) -> str:
    return f"{brokers} more {verb(brokers, 'broker reaches', 'brokers reach')} it within {horizon_days} days"


def _no_disk_fills(*, horizon_days: int) -> str:
    return f"no disk reaches 85 % within {horizon_days} days at the growth of the last two weeks"


ADVISORY: Mapping[FactCode, Callable[..., str]] = MappingProxyType(
    {
        FactCode.LOAD_SOURCE: _load_source,
        FactCode.LOAD_OF_LOG_DIRS: _load_of_log_dirs,
        FactCode.LOAD_MISSING: _load_missing,
        FactCode.DISK_FILLS: _disk_fills,
        FactCode.MORE_DISKS_FILL: _more_disks_fill,
        FactCode.NO_DISK_FILLS: _no_disk_fills,
    }
)
