"""How the readers send requests: one deadline for the whole reading, one retry round, only brokers that answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from kafka_rebalance.snapshot.model import BrokerState
from rebalance_advisor.kafka.connection.client import AddressedRequest, reason_of
from rebalance_advisor.kafka.unheard import Unheard, unheard_by

Key = TypeVar("Key")
_RETRY_AFTER_S = 1.0


class Client(Protocol):
    """What of the client the readers use; tests have their own."""

    def send(self, requests: Mapping[Key, AddressedRequest], seconds: float) -> dict[Key, Any]:
        """The response or the exception for each request."""

    def version_of(self, request: type[Any]) -> int:
        """The version in which both sides speak this request; -1 where the broker does not know it."""


class DeadlinePassedError(Exception):
    """The reading's time was over before this was sent."""


@dataclass(frozen=True, slots=True)
class RequestSender:
    """``brokers`` are those that answered when the reading began; the first serves what any broker can answer.

    ``round_s`` bounds one round of requests, ``deadline`` (of ``clock``) the whole reading. ``unheard`` fills up with
    those brokers whose last word was a failure.
    """

    client: Client
    brokers: tuple[int, ...]
    deadline: float
    round_s: float
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    unheard: dict[int, Unheard] = field(default_factory=dict)

    def send(
        self, requests: Mapping[Key, AddressedRequest], is_passing: Callable[[Any], bool] = lambda _: False
    ) -> dict[Key, Any]:
        """Response or exception for each request; what failed, or may pass by ``is_passing``, is sent once more."""
        answers = self._round(requests)
        again = {
            key: requests[key]
            for key, answer in answers.items()
            if (isinstance(answer, Exception) and not isinstance(answer, DeadlinePassedError))
            or (not isinstance(answer, Exception) and is_passing(answer))
        }
        if again and self.deadline - self.clock() > _RETRY_AFTER_S:
            self.sleep(_RETRY_AFTER_S)
            answers |= self._round(again)
        return answers

    def send_to_any(self, request: Any) -> Any:
        """The first response of any broker, else the last failure."""
        answer: Any = DeadlinePassedError("time was over")
        for broker in self.brokers:
            answer = self._round({0: (broker, request)})[0]
            if not isinstance(answer, Exception):
                break
        return answer

    def spread(self, index: int) -> int:
        """A broker for the ``index``-th of many like requests, so that no one broker answers all."""
        return self.brokers[index % len(self.brokers)]

    def _round(self, requests: Mapping[Key, AddressedRequest]) -> dict[Key, Any]:
        seconds = min(self.round_s, self.deadline - self.clock())
        if seconds <= 0:
            return {key: DeadlinePassedError("time was over before it was asked") for key in requests}
        answers = self.client.send(requests, seconds) if requests else {}
        self._note_unheard(requests, answers)
        return answers

    def _note_unheard(self, requests: Mapping[Key, AddressedRequest], answers: Mapping[Key, Any]) -> None:
        """A broken connection outweighs what was answered before it; of what timed out any answer is a sign of life."""
        ended: dict[int, Unheard] = {}
        silent: dict[int, Unheard] = {}
        heard: set[int] = set()
        for key, answer in answers.items():
            broker = requests[key][0]
            found = unheard_by(answer, reason_of(answer)) if isinstance(answer, Exception) else None
            if found is not None:
                (ended if found.state is BrokerState.DISCONNECTED else silent)[broker] = found
            elif not isinstance(answer, Exception):
                heard.add(broker)
        for broker in heard:
            self.unheard.pop(broker, None)
        self.unheard.update({broker: why for broker, why in silent.items() if broker not in heard})
        self.unheard.update(ended)
