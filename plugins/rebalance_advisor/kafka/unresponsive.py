from __future__ import annotations

from dataclasses import dataclass

from kafka import errors

from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.render import render
from kafka_rebalance.snapshot.model import BrokerState

_TIMEOUTS = (TimeoutError, errors.KafkaTimeoutError, errors.RequestTimedOutError)
_ENDED = (errors.KafkaConnectionError, errors.NodeNotReadyError, errors.Cancelled, OSError)


@dataclass(frozen=True, slots=True)
class UnresponsiveBroker:
    state: BrokerState
    reason: Fact
    address: str | None = None

    @property
    def fact(self) -> Fact:
        return fact(FactCode.BROKER_UNHEARD, state=self.state.value, why=self.reason, address=self.address)

    def __str__(self) -> str:
        return render(self.fact)


class NotAskedError(Exception):
    def __init__(self, reason: Fact) -> None:
        super().__init__(render(reason))
        self.reason = reason


class DeadlinePassedError(NotAskedError):
    def __init__(self) -> None:
        super().__init__(fact(FactCode.DEADLINE_PASSED))


class UnresponsiveBrokerError(NotAskedError):
    def __init__(self, unresponsive: UnresponsiveBroker) -> None:
        super().__init__(unresponsive.fact)
        self.unresponsive = unresponsive


class UnreachableError(errors.KafkaConnectionError):
    def __init__(self, reason: Fact) -> None:
        super().__init__(render(reason))
        self.reason = reason


class UnfinishedAnswerError(TimeoutError):
    """The message gives sender and received bytes."""


def is_timeout(failure: object) -> bool:
    return isinstance(failure, _TIMEOUTS)


def silence(failure: object, seconds: float) -> Fact:
    text = str(failure) if isinstance(failure, UnfinishedAnswerError) else None
    return fact(FactCode.NO_ANSWER_IN_TIME, seconds=seconds, text=text)


def unresponsive_by(failure: object, reason: Fact) -> UnresponsiveBroker | None:
    """None: the failure (a version, a deadline) says nothing about the broker."""
    if is_timeout(failure):  # its base class is OSError
        return UnresponsiveBroker(BrokerState.SILENT, reason)
    return UnresponsiveBroker(BrokerState.DISCONNECTED, reason) if isinstance(failure, _ENDED) else None
