"""Parameter classes: frozen dataclasses that check their numbers.

A field declares its default and its range::

    @dataclass(frozen=True, kw_only=True)
    class PushParams(Parameters):
        misses_borne: int = number(20, least=0)

``ascending`` names fields whose values may not fall::

    ascending = (("least_steps", "most_steps"),)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import Field, field, fields
from itertools import pairwise
from math import isinf
from typing import Any, ClassVar, TypeVar, cast

from kafka_assignors.errors import InvalidInputError

T = TypeVar("T")


def number(default: T, *, least: float, most: float = float("inf")) -> T:
    """Return a field: an int, a float, or a tuple of them, each within ``least``..``most``."""
    return field(default=default, metadata={"least": least, "most": most})


class Parameters:
    """Raises InvalidInputError for a value of another type, out of range or out of order."""

    ascending: ClassVar[tuple[tuple[str, ...], ...]] = ()

    def __post_init__(self) -> None:
        for parameter in fields(cast("Any", self)):
            if parameter.metadata:
                value = _check(f"{type(self).__name__}.{parameter.name}", parameter, getattr(self, parameter.name))
                object.__setattr__(self, parameter.name, value)
        for names in self.ascending:
            for lower, upper in pairwise(names):
                least, most = getattr(self, lower), getattr(self, upper)
                if least > most:
                    location = f"{type(self).__name__}.{upper}"
                    raise InvalidInputError.at(location, f"expected at least {lower} ({least!r}), got {most!r}")


def _check(location: str, parameter: Field[Any], value: Any) -> Any:
    default: Any = parameter.default
    if isinstance(default, tuple):
        if not isinstance(value, Sequence) or isinstance(value, str) or not value:
            raise InvalidInputError.at(location, f"{value!r} is not a list of numbers")
        return tuple(_read_number(location, parameter, default[0], part) for part in value)
    return _read_number(location, parameter, default, value)


def _read_number(location: str, parameter: Field[Any], default: float, value: Any) -> float:
    allowed = (int,) if isinstance(default, int) else (int, float)
    if not isinstance(value, allowed) or isinstance(value, bool):
        raise InvalidInputError.at(
            location, f"{value!r} is not {'a whole number' if allowed == (int,) else 'a number'}"
        )
    least, most = parameter.metadata["least"], parameter.metadata["most"]
    if not least <= value <= most or isinf(value):
        expected = (
            f"a finite number >= {least:g}"
            if isinf(value)
            else f">= {least:g}"
            if most == float("inf")
            else f"within {least:g}..{most:g}"
        )
        raise InvalidInputError.at(location, f"expected {expected}, got {value!r}")
    return type(default)(value)
