"""Errors of snapshots, options and plans; their base class is ``kafka_assignors.errors.AdvisorError``."""

from __future__ import annotations

from kafka_assignors.errors import AdvisorError, InvalidInputError
from kafka_assignors.visible_text import visible
from kafka_rebalance.facts import Fact


class UsageError(InvalidInputError):
    """Options out of range, or two that contradict each other. Exit code 2."""


class InvalidSnapshotError(InvalidInputError):
    """A snapshot that contradicts itself, such as a duplicate partition."""


class InfeasibleError(AdvisorError):
    """No plan keeps every hard rule. ``cause`` is the smallest cause found, ``relaxation`` a remedy."""

    def __init__(self, cause: Fact, relaxation: Fact | None = None) -> None:
        super().__init__(cause, relaxation)
        self.cause = cause
        self.relaxation = relaxation

    def __str__(self) -> str:
        return visible("; ".join(str(fact) for fact in (self.cause, self.relaxation) if fact is not None))

    @property
    def facts(self) -> tuple[Fact, ...]:
        return (self.cause,) if self.relaxation is None else (self.cause, self.relaxation)
