"""How the readers send requests: rounds of five seconds under one deadline; a broker that falls silent is asked once.

A reader has three ways, and never asks whether a broker is well:

- ``send({key: (broker, request)})`` for what only that broker can tell; for what each of them has to tell, one request
  to each of ``all_brokers``. Every key has an answer: the response or the exception. A broker that is not heard is not
  asked, its answer comes at once (``BrokerUnheardError``). Hand each exception to ``Coverage.add_unanswered``, which
  makes one line of all that a broker did not tell for one reason.
- ``send_to_any(request)`` for what any broker can tell: the next one is asked where one fails.
- ``share_out(names)`` deals many like questions out over the brokers that answer, for one ``send``.

An answer that no broker sends when it is well (``checked_answers``) is a failure like any other. It is asked for once
more after a second, because an answer that cannot be decoded takes all others of its connection with it.

Within one ``send`` everything is in flight at once. A broker that lets a round pass is asked for a sign of life: with
one, what it left unanswered is sent once more (it is slow); without, it is silent, and nothing is sent to it for the
rest of the reading. A connection that ends is tried once more after a second. So a frozen broker costs one round and
one second, whatever is still to be read, and nothing else waits for it.

All is counted: at most 14 requests to a broker and 10 for the cluster make one reading, however many partitions and
groups there are. Put many names into one request; do not send one request for each.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from kafka.errors import IncompatibleBrokerVersion, KafkaProtocolError
from kafka.protocol.metadata import ApiVersionsRequest

from kafka_rebalance.snapshot.model import BrokerState
from rebalance_advisor.kafka.checked_answers import checked
from rebalance_advisor.kafka.connection.client import AddressedRequest, said_by
from rebalance_advisor.kafka.request_counts import RequestCounts
from rebalance_advisor.kafka.unheard import (
    BrokerUnheardError,
    DeadlinePassedError,
    Unheard,
    is_timeout,
    silence,
    unheard_by,
)

Key = TypeVar("Key")
Name = TypeVar("Name")
SIGN_OF_LIFE_S = 1.0
_RETRY_AFTER_S = 1.0


class Client(Protocol):
    """What of the client the readers use; tests have their own."""

    def send(self, requests: Mapping[Key, AddressedRequest], seconds: float) -> dict[Key, Any]:
        """The response or the exception for each request."""

    def version_of(self, request: type[Any]) -> int:
        """The version in which both sides speak this request; -1 where the broker does not know it."""


@dataclass(frozen=True, slots=True)
class RequestSender:
    """``all_brokers`` are those that the cluster names, ``brokers`` those of them that are still asked.

    ``round_s`` bounds one round of requests, ``deadline`` (of ``clock``) the whole reading. ``unheard`` fills up with
    the brokers that are asked no more, ``mangled`` with those whose answer another broker had to give.
    """

    client: Client
    all_brokers: tuple[int, ...]
    deadline: float
    round_s: float
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    unheard: dict[int, Unheard] = field(default_factory=dict)
    mangled: dict[int, KafkaProtocolError] = field(default_factory=dict)
    counts: RequestCounts = field(default_factory=RequestCounts)

    @property
    def brokers(self) -> tuple[int, ...]:
        """Those that are still asked."""
        return tuple(broker for broker in self.all_brokers if broker not in self.unheard)

    def send(
        self, requests: Mapping[Key, AddressedRequest], is_passing: Callable[[Any], bool] = lambda _: False
    ) -> dict[Key, Any]:
        """Response or exception for each request; what may pass by ``is_passing`` is sent once more after a second."""
        return self._send(requests, is_passing, is_for_cluster=False)

    def send_to_any(self, request: Any, first: int | None = None) -> Any:
        """The first response of any broker, else the last failure; ``first`` is asked before all others."""
        answer: Any = DeadlinePassedError()
        for broker in sorted(self.brokers, key=lambda broker: broker != first):
            answer = self._send({0: (broker, request)}, lambda _: False, is_for_cluster=True)[0]
            if not isinstance(answer, Exception):
                break
            if isinstance(answer, KafkaProtocolError):
                self.mangled[broker] = answer
        return answer

    def share_out(self, names: Iterable[Name], without: Container[int] = ()) -> dict[int, list[Name]]:
        """Broker → its part of ``names``, all parts of about the same length; empty where no broker is left."""
        brokers = [broker for broker in self.brokers if broker not in without]
        shares: dict[int, list[Name]] = defaultdict(list)
        for i, name in enumerate(names if brokers else ()):
            shares[brokers[i % len(brokers)]].append(name)
        return dict(shares)

    def _send(
        self, requests: Mapping[Key, AddressedRequest], is_passing: Callable[[Any], bool], *, is_for_cluster: bool
    ) -> dict[Key, Any]:
        answers = self._round(requests, is_for_cluster=is_for_cluster)
        self._look_for_life({requests[key][0]: answer for key, answer in answers.items() if is_timeout(answer)})
        slow, ended = set(), set()
        for key, answer in answers.items():
            if is_timeout(answer):
                slow.add(key)
            elif isinstance(answer, Exception):
                if isinstance(answer, KafkaProtocolError) or _unheard_by(answer, self.round_s) is not None:
                    ended.add(key)
            elif is_passing(answer):
                ended.add(key)
        if ended and self.deadline - self.clock() > _RETRY_AFTER_S:
            self.sleep(_RETRY_AFTER_S)
            slow |= ended
        again = {key: requests[key] for key in requests if key in slow and requests[key][0] not in self.unheard}
        answers |= self._round(again, is_for_cluster=is_for_cluster)
        for key, answer in answers.items():
            broker = requests[key][0]
            if (unheard := _unheard_by(answer, self.round_s)) is not None:
                answers[key] = BrokerUnheardError(self.unheard.setdefault(broker, unheard))
        return answers

    def _round(self, requests: Mapping[Key, AddressedRequest], *, is_for_cluster: bool) -> dict[Key, Any]:
        answers: dict[Key, Any] = {}
        asked: dict[Key, AddressedRequest] = {}
        for key, (broker, request) in requests.items():
            if broker in self.unheard:
                answers[key] = BrokerUnheardError(self.unheard[broker])
            else:
                asked[key] = (broker, request)
        if not asked:
            return answers
        seconds = min(self.round_s, self.deadline - self.clock())
        if seconds <= 0:
            return answers | dict.fromkeys(asked, DeadlinePassedError())
        told = self.client.send(asked, seconds)
        for key, (broker, request) in asked.items():
            if not isinstance(told[key], IncompatibleBrokerVersion):  # such a request is never sent
                self.counts.add(request, None if is_for_cluster else broker)
            answers[key] = checked(request, told[key])
        return answers

    def _look_for_life(self, brokers: Mapping[int, object]) -> None:
        """Ask no more those of ``brokers`` that give no sign of life; by broker, how its time ran out."""
        seconds = min(SIGN_OF_LIFE_S, self.deadline - self.clock())
        requests = {broker: (broker, ApiVersionsRequest(max_version=0)) for broker in sorted(brokers)}
        signs = self.client.send(requests, seconds) if requests and seconds > 0 else {}
        for broker, request in requests.items():
            if broker in signs:
                self.counts.add(request[1], broker)
            if isinstance(signs.get(broker, TimeoutError()), Exception):
                self.unheard[broker] = Unheard(BrokerState.SILENT, silence(brokers[broker], self.round_s))


def _unheard_by(answer: object, seconds: float) -> Unheard | None:
    if isinstance(answer, Exception):
        return unheard_by(answer, silence(answer, seconds) if is_timeout(answer) else said_by(answer))
    return None
