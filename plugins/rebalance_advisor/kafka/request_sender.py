"""How the readers ask: one deadline for the whole reading, one retry round, only brokers that answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from rebalance_advisor.kafka.connection.client import Question

Key = TypeVar("Key")
_RETRY_AFTER_S = 1.0


class Client(Protocol):
    """What of the client the readers use; tests have their own."""

    def ask(self, questions: Mapping[Key, Question], seconds: float) -> dict[Key, Any]:
        """The response or the exception for each question."""

    def version_of(self, request: type[Any]) -> int:
        """The version in which both sides speak this request; -1 where the broker does not know it."""


class DeadlinePassedError(Exception):
    """The reading's time was over before this was asked."""


@dataclass(frozen=True, slots=True)
class Asker:
    """``brokers`` are those that answered when the reading began; the first serves what any broker can tell.

    ``round_s`` bounds one round of questions, ``deadline`` (of ``clock``) the whole reading.
    """

    client: Client
    brokers: tuple[int, ...]
    deadline: float
    round_s: float
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep

    def ask(
        self, questions: Mapping[Key, Question], is_passing: Callable[[Any], bool] = lambda _: False
    ) -> dict[Key, Any]:
        """Response or exception for each question; what failed, or ``is_passing`` says may heal, is asked once more."""
        answers = self._round(questions)
        again = {
            key: questions[key]
            for key, answer in answers.items()
            if (isinstance(answer, Exception) and not isinstance(answer, DeadlinePassedError))
            or (not isinstance(answer, Exception) and is_passing(answer))
        }
        if again and self.deadline - self.clock() > _RETRY_AFTER_S:
            self.sleep(_RETRY_AFTER_S)
            answers |= self._round(again)
        return answers

    def ask_any(self, request: Any) -> Any:
        """What any broker can tell: the first answer that is one, else the last failure."""
        answer: Any = DeadlinePassedError("time was over")
        for broker in self.brokers:
            answer = self._round({0: (broker, request)})[0]
            if not isinstance(answer, Exception):
                break
        return answer

    def spread(self, index: int) -> int:
        """A broker for the ``index``-th of many like questions, so that no one broker answers all."""
        return self.brokers[index % len(self.brokers)]

    def _round(self, questions: Mapping[Key, Question]) -> dict[Key, Any]:
        seconds = min(self.round_s, self.deadline - self.clock())
        if seconds <= 0:
            return {key: DeadlinePassedError("time was over before it was asked") for key in questions}
        return self.client.ask(questions, seconds) if questions else {}
