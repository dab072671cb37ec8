"""Why each move is made, what is worse without it, and what each broker gives and gets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from kafka_rebalance.facts import FactCode
from kafka_rebalance.resources import ROWS


def _relieves(*, broker: int, resource: str, times_share: float) -> str:
    return f"relieves broker {broker}: {_level(resource, times_share)}"


def _fills(*, broker: int, resource: str, times_share: float) -> str:
    return f"fills broker {broker}: {_level(resource, times_share)}"


def _makes_up(*, broker: int, resource: str, times_share: float) -> str:
    return f"makes up for other moves of broker {broker}: {_level(resource, times_share)}"


def _one_of_several(*, broker: int, resource: str, times_share: float) -> str:
    return f"is one of several that only together even out broker {broker}: {_level(resource, times_share)}"


def _level(resource: str, times_share: float) -> str:
    return f"its {ROWS[resource].words} {times_share:.2f} × its share"


MOVES: Mapping[FactCode, Callable[..., str]] = MappingProxyType(
    {
        FactCode.RELIEVES_BROKER: _relieves,
        FactCode.FILLS_BROKER: _fills,
        FactCode.MAKES_UP_FOR_MOVES: _makes_up,
        FactCode.ONE_OF_SEVERAL: _one_of_several,
    }
)
