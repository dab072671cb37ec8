"""Losses and growth of one what-if, as the shell's ``what-if`` and the form of ``what_if_NAME`` take them.

Light to import, for DAG files.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeAlias

from pydantic import Field, Strict
from pydantic.dataclasses import dataclass

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.errors import UsageError
from kafka_rebalance.options.option import Option, options_of
from kafka_rebalance.options.values import (
    CHECKED,
    MOST_RATIO,
    Brokers,
    Checked,
    Pattern,
    Racks,
    Several,
    Value,
    long_text,
)
from rebalance_advisor.request.run_request import require_known

if TYPE_CHECKING:
    from kafka_rebalance.scenarios.scenario import Change, Scenario
    from kafka_rebalance.snapshot.model import ClusterSnapshot

_EVERY_TOPIC = ".*"
_GROWTH = re.compile(r"(?:(?P<topics>.+)=)?(?P<percent>[+-]?[0-9]{1,9}(?:\.[0-9]{1,9})?)%")
GrowthOf: TypeAlias = tuple[Pattern, Annotated[float, Field(ge=0, le=MOST_RATIO)]]


def _growth(value: Any) -> Any:
    match = _GROWTH.fullmatch(value) if isinstance(value, str) else None
    return value if match is None else (match["topics"] or _EVERY_TOPIC, 1 + float(match["percent"]) / 100)


def _growth_text(growth: GrowthOf) -> str:
    topics, factor = growth
    return f"{'' if topics == _EVERY_TOPIC else f'{topics}='}{100 * (factor - 1):.9g}%"


_Growth: TypeAlias = Annotated[
    GrowthOf,
    Strict(),
    Value(
        "is no growth",
        "give 20%, or orders.*=20% for some topics",
        read=_growth,
        write=_growth_text,
        schema=long_text(r"^(.+=)?[+-]?[0-9]+(\.[0-9]+)?%$"),
    ),
]


@dataclass(frozen=True, config=CHECKED)
class WhatIfRequest(Checked):
    """What happens to the cluster, all of it together. ``growth``: pattern of topics, factor."""

    section: ClassVar[str] = "the what-if"
    refusal: ClassVar[type[InvalidInputError]] = UsageError

    lose_racks: Annotated[
        Racks, Option("Lose racks", "every broker and member of this rack is dead …", "RACK", name="lose_rack")
    ] = frozenset()
    lose_brokers: Annotated[Brokers, Option("Lose brokers", "this broker is dead …", "N", name="lose_broker")] = (
        frozenset()
    )
    growth: Annotated[
        Annotated[tuple[_Growth, ...], Several()],
        Option(
            "Growth in percent",
            "growth of rates and sizes, of all topics or of those whose name matches RE: 20%, orders.*=80% …",
            "[RE=]20%",
        ),
    ] = ()

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, Any]) -> WhatIfRequest:
        """Null means not given. Raises UsageError."""
        require_known(mapping, (option.name for option in WHAT_IF_OPTIONS))
        given = (option for option in WHAT_IF_OPTIONS if mapping.get(option.name) is not None)
        return cls(**{option.field: option.read(mapping[option.name]) for option in given})

    def document(self) -> dict[str, Any]:
        return {option.name: option.write(getattr(self, option.field)) for option in WHAT_IF_OPTIONS}

    @property
    def scenario(self) -> Scenario | None:
        """Growth first, then the losses; None if nothing happens."""
        from kafka_rebalance.scenarios.scenario import Scenario  # heavy

        changes = self._changes()
        lost = [f"rack {rack}" for rack in sorted(self.lose_racks)]
        lost += [f"broker {broker}" for broker in sorted(self.lose_brokers)]
        name = ", ".join([*map(_describe_growth, self.growth), *([f"without {' and '.join(lost)}"] if lost else [])])
        return Scenario(name, changes) if changes else None

    def require_fit(self, snapshot: ClusterSnapshot) -> None:
        """Raises UsageError for a rack, broker or pattern that the cluster does not have."""
        try:
            for change in self._changes():
                snapshot = change.applied(snapshot, 0)
        except InvalidInputError as error:
            raise UsageError(str(error)) from error

    def _changes(self) -> tuple[Change, ...]:
        from kafka_rebalance.scenarios.changes import BrokersLost, Growth, RackLost  # heavy

        losses: list[Change] = [RackLost(rack) for rack in sorted(self.lose_racks)]
        losses += [BrokersLost(tuple(sorted(self.lose_brokers)))] if self.lose_brokers else []
        return (*(Growth(topics, factor, factor) for topics, factor in self.growth), *losses)


def _describe_growth(growth: GrowthOf) -> str:
    topics, factor = growth
    return f"growth {100 * (factor - 1):.4g}%" + ("" if topics == _EVERY_TOPIC else f" of {topics}")


WHAT_IF_OPTIONS = options_of(WhatIfRequest)
