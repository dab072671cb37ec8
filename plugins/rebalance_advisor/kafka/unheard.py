"""A broker that was not heard: which of the states it is in, and why, by how it failed."""

from __future__ import annotations

from dataclasses import dataclass

from kafka import errors

from kafka_rebalance.snapshot.model import BrokerState

_TIMEOUTS = (TimeoutError, errors.KafkaTimeoutError, errors.RequestTimedOutError)
_ENDED = (errors.KafkaConnectionError, errors.NodeNotReadyError, errors.Cancelled, OSError)


@dataclass(frozen=True, slots=True)
class Unheard:
    """``state`` is ``refused``, ``silent`` or ``disconnected``; ``reason`` in words."""

    state: BrokerState
    reason: str

    def __str__(self) -> str:
        return f"{self.state} ({self.reason})"


class NotAskedError(Exception):
    """A request that was not sent, or not again; its message says in words why."""


class DeadlinePassedError(NotAskedError):
    """The reading's time was over before this was sent."""


class BrokerUnheardError(NotAskedError):
    """Its broker is asked nothing more: ``unheard`` says why."""

    def __init__(self, unheard: Unheard) -> None:
        super().__init__(str(unheard))
        self.unheard = unheard


class UnfinishedAnswerError(TimeoutError):
    """Time ran out while an answer came; the message says from where, and how much of it."""


def is_timeout(failure: object) -> bool:
    """No answer came in time."""
    return isinstance(failure, _TIMEOUTS)


def silence(failure: object, seconds: float) -> str:
    """The words for an answer that did not come within ``seconds``."""
    words = f"no answer within {seconds:g} s"
    return f"{words}: {failure}" if isinstance(failure, UnfinishedAnswerError) else words


def unheard_by(failure: object, reason: str) -> Unheard | None:
    """What this failure of a request says about its broker; None where it says nothing (a version, a deadline)."""
    if is_timeout(failure):  # before OSError, of which TimeoutError is one
        return Unheard(BrokerState.SILENT, reason)
    return Unheard(BrokerState.DISCONNECTED, reason) if isinstance(failure, _ENDED) else None
