"""Reading JSON objects field by field: a wrong one is refused with its path."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.visible_text import excerpt

T = TypeVar("T")
_REQUIRED = object()
_WORDS = {int: "a whole number", float: "a number", str: "a string", bool: "true or false", list: "a list"}


class Fields:
    """One JSON object at ``path``; ``done()`` refuses fields that nobody asked for."""

    __slots__ = ("_data", "_seen", "path")

    def __init__(self, data: Any, path: str) -> None:
        if not isinstance(data, Mapping):
            raise InvalidInputError.at(path, f"expected an object, found {type(data).__name__}")
        self._data = data
        self._seen: set[str] = set()
        self.path = path

    def _value(self, key: str, default: Any) -> Any:
        self._seen.add(key)
        value = self._data.get(key)
        if value is None and default is _REQUIRED:
            raise InvalidInputError.at(self.path, f"{key!r} is missing or null")
        return default if value is None else value

    def require_format(self, name: str, version: int) -> None:
        """``format`` and ``format_version`` say that this object is one of ours that is read here."""
        if self.get("format", str) != name:
            raise InvalidInputError.at(f"{self.path}.format", f"{excerpt(self._data['format'])} is not {name!r}")
        found = self.get("format_version", int)
        if found != version:
            raise InvalidInputError.at(
                f"{self.path}.format_version", f"{found} is unknown", f"this advisor reads {version}"
            )

    def get(self, key: str, kind: type[T], default: Any = _REQUIRED) -> Any:
        """The value of ``key``, of exactly ``kind`` (an int passes for a float, a bool for nothing but bool)."""
        value = self._value(key, default)
        if value is default:
            return value
        accepted = (int, float) if kind is float else kind
        if not isinstance(value, accepted) or (isinstance(value, bool) and kind is not bool):
            raise InvalidInputError.at(f"{self.path}.{key}", f"expected {_WORDS[kind]}, found {excerpt(value)}")
        return float(value) if isinstance(value, (int, float)) and kind is float else value

    def whole(self, key: str, low: int, high: int, default: Any = _REQUIRED) -> Any:
        """A whole number from ``low`` to ``high``."""
        value = self.get(key, int, default)
        if value is not default and not low <= value <= high:
            raise InvalidInputError.at(f"{self.path}.{key}", f"{excerpt(value)} is not from {low} to {high}")
        return value

    def real(self, key: str, low: float, high: float, default: Any = _REQUIRED) -> Any:
        """A number from ``low`` to ``high``; a whole one passes."""
        value = self._value(key, default)
        if value is default:
            return value
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise InvalidInputError.at(f"{self.path}.{key}", f"expected a number, found {excerpt(value)}")
        if not low <= value <= high:
            raise InvalidInputError.at(f"{self.path}.{key}", f"{excerpt(value)} is not from {low:.6g} to {high:.6g}")
        return float(value)

    def each(self, key: str, build: Callable[[Any, str], T]) -> tuple[T, ...]:
        """A list (absent is empty), each element built by ``build(element, path)``."""
        items = self._value(key, [])
        if not isinstance(items, list):
            raise InvalidInputError.at(f"{self.path}.{key}", f"expected a list, found {type(items).__name__}")
        return tuple(build(item, f"{self.path}.{key}[{index}]") for index, item in enumerate(items))

    def ints(self, key: str, default: Any = ()) -> tuple[int, ...]:
        """A list of whole numbers."""
        return (
            tuple(self.each(key, whole))
            if key in self._data and self._data[key] is not None
            else self._skip(key, default)
        )

    def strings(self, key: str) -> dict[str, str]:
        """An object of strings (absent is empty)."""
        value = self._value(key, {})
        if not isinstance(value, Mapping) or not all(isinstance(element, str) for element in value.values()):
            raise InvalidInputError.at(f"{self.path}.{key}", "expected an object of strings")
        return dict(value)

    def raw(self, key: str, default: Any = _REQUIRED) -> Any:
        """The value as it is."""
        return self._value(key, default)

    def _skip(self, key: str, default: Any) -> Any:
        self._seen.add(key)
        return default

    def done(self) -> None:
        """Refuse unknown fields: a misspelt one would otherwise be lost without a word."""
        unknown = sorted(set(self._data) - self._seen)
        if unknown:
            raise InvalidInputError.at(
                self.path, f"unknown field {excerpt(unknown[0])}", f"known: {', '.join(sorted(self._seen))}"
            )


def whole(value: Any, path: str) -> int:
    """An int that is no bool."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidInputError.at(path, f"expected a whole number, found {excerpt(value)}")
    return value


def whole_up_to(high: int) -> Callable[[Any, str], int]:
    """Reads a whole number from 0 to ``high``."""

    def read(value: Any, path: str) -> int:
        number = whole(value, path)
        if not 0 <= number <= high:
            raise InvalidInputError.at(path, f"{excerpt(number)} is not from 0 to {high}")
        return number

    return read


def real_up_to(high: float) -> Callable[[Any, str], float]:
    """Reads a number from 0 to ``high``; a whole one passes."""

    def read(value: Any, path: str) -> float:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise InvalidInputError.at(path, f"expected a number, found {excerpt(value)}")
        if not 0 <= value <= high:
            raise InvalidInputError.at(path, f"{excerpt(value)} is not from 0 to {high:.6g}")
        return float(value)

    return read


def text(value: Any, path: str) -> str:
    """A string."""
    if not isinstance(value, str):
        raise InvalidInputError.at(path, f"expected a string, found {excerpt(value)}")
    return value
