"""What the loss of one broker, or of one whole rack, would come to: the worst of each kind, as a plan tells it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Takeover:
    """``broker`` takes over ``leaders`` once ``lost`` (a broker's id or a rack) is gone; ``even_leaders`` each would be
    even over all brokers that hold, in sync, something that the lost ones lead.
    """

    lost: str
    broker: int
    leaders: int
    even_leaders: int


@dataclass(frozen=True, slots=True)
class LoadAfterLoss:
    """What ``broker`` would carry of ``resource`` once ``lost`` is gone, beside its ``capacity``, in one unit."""

    lost: str
    broker: int
    resource: str
    load: float
    capacity: float

    @property
    def ratio(self) -> float:
        """Load over capacity."""
        return self.load / self.capacity


@dataclass(frozen=True, slots=True)
class WorstLoss:
    """``takeover``: the one furthest above even, None where no leader is taken over; ``load``: the highest over
    capacity, None where no capacity is known that a leader needs.
    """

    takeover: Takeover | None
    load: LoadAfterLoss | None


@dataclass(frozen=True, slots=True)
class Losses:
    """Of single brokers, and of racks (None: there is only one, or none is known)."""

    broker: WorstLoss | None
    rack: WorstLoss | None


@dataclass(frozen=True, slots=True)
class AfterFailure:
    """As replicas stand, and once the plan is done."""

    before: Losses
    after: Losses

    def document(self) -> dict[str, Any]:
        """Its JSON object."""
        return asdict(self)

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> AfterFailure:
        """The way back. Raises KeyError or TypeError where it is not one."""
        return cls(**{time: Losses(**_losses(document[time])) for time in ("before", "after")})


def _losses(document: Mapping[str, Any]) -> dict[str, WorstLoss | None]:
    return {kind: None if document[kind] is None else _worst(document[kind]) for kind in ("broker", "rack")}


def _worst(document: Mapping[str, Any]) -> WorstLoss:
    takeover, load = document["takeover"], document["load"]
    return WorstLoss(
        None if takeover is None else Takeover(**takeover), None if load is None else LoadAfterLoss(**load)
    )
