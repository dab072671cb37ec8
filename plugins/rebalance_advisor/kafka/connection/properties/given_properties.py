"""Properties as they were given: text, and where each stands, for messages that name the place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kafka_rebalance.errors import InvalidInputError

# librdkafka takes it as it is; Java trims every value, passwords too (ConfigDef.parseType).
_UNTRIMMED = ("sasl.password",)


@dataclass(frozen=True, slots=True)
class GivenProperties:
    """``values`` hold secrets; ``places``: property → ``file:line``; ``source``: the place of what has none."""

    values: Mapping[str, str] = field(repr=False)
    places: Mapping[str, str]
    source: str

    @classmethod
    def of(cls, properties: Mapping[str, object], places: Mapping[str, str], source: str) -> GivenProperties:
        """As text, without the blanks around that nobody sees."""
        texts = {key: _text(value) for key, value in properties.items() if value is not None}
        return cls({key: text if key in _UNTRIMMED else text.strip() for key, text in texts.items()}, places, source)

    def place(self, key: str) -> str:
        """Where it stands."""
        return self.places.get(key, self.source)

    def refuse(self, key: str, problem: str, hint: str = "") -> InvalidInputError:
        """The error that names the place of ``key``."""
        return InvalidInputError.at(self.place(key), problem, hint)

    def set(self, fields: dict[str, object], name: str, value: object, key: str) -> None:
        """Put a value into ``fields``. Raises InvalidInputError where another property said otherwise."""
        if name in fields and fields[name] != value:
            raise self.refuse(key, f"{key} contradicts another property for the same thing", "give it once")
        fields[name] = value

    def one_of(self, known: tuple[str, ...], value: str, key: str) -> str:
        """The value. Raises InvalidInputError where it is none of ``known``."""
        if value not in known:
            raise self.refuse(key, f"{key}={value!r} is not supported", "known: " + ", ".join(filter(None, known)))
        return value


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
