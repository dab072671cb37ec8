"""Pass only whole answers to kafka-python, which allocates what a length prefix claims, and stops reading after most
decoding errors. Limit: 256 MiB, for each answer and for all unfinished ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kafka import errors

from rebalance_advisor.kafka.unresponsive import UnfinishedAnswerError, is_timeout

LARGEST_ANSWER = 256 << 20
_PREFIX = 4


class AnswerBudget:
    """Above the budget the largest unfinished answer is refused."""

    def __init__(self, limit: int = LARGEST_ANSWER) -> None:
        self.limit = limit
        self._held: dict[WholeAnswers, int] = {}

    def hold(self, answers: WholeAnswers, count: int) -> None:
        if count:
            self._held[answers] = count
        else:
            self._held.pop(answers, None)
        while sum(self._held.values()) > self.limit:
            largest = max(self._held, key=lambda held: self._held[held])
            total = sum(self._held.values())
            del self._held[largest]
            largest.refuse(f"unfinished answers of all brokers take {total:,} bytes, this one the most of them")


class WholeAnswers:
    """Between kafka-python's connection and transport. ``where``: host:port."""

    # The transport counts bytes only with sensors.
    _sensors = None

    def __init__(self, connection: Any, abort: Callable[[Exception], None], where: str, budget: AnswerBudget) -> None:
        self.connection, self._abort, self._where, self._budget = connection, abort, where, budget
        self._unfinished = bytearray()

    def data_received(self, data: bytes) -> None:
        self._unfinished += data
        while len(self._unfinished) >= _PREFIX:
            size = self._size()
            if not 0 <= size <= self._budget.limit:
                raise errors.InvalidReceiveError(
                    f"an answer of {size:,} bytes was announced, and 0 to {self._budget.limit:,} are allowed"
                )
            if len(self._unfinished) < _PREFIX + size:
                break
            whole = bytes(self._unfinished[: _PREFIX + size])
            del self._unfinished[: _PREFIX + size]
            self._hand_over(whole)
        self._budget.hold(self, len(self._unfinished))

    def connection_lost(self, failure: Exception | None) -> None:
        if is_timeout(failure) and self._unfinished:
            failure = UnfinishedAnswerError(self._problem())
        self._unfinished.clear()
        self._budget.hold(self, 0)
        self.connection.connection_lost(failure)

    def refuse(self, reason: str) -> None:
        self._unfinished.clear()
        self._abort(errors.InvalidReceiveError(reason))

    def _hand_over(self, whole: bytes) -> None:
        try:
            self.connection.data_received(whole)
        except errors.KafkaProtocolError:
            raise
        except Exception as failure:
            raise errors.KafkaProtocolError(f"an answer cannot be decoded ({failure!r})") from failure

    def _size(self) -> int:
        return int.from_bytes(self._unfinished[:_PREFIX], "big", signed=True)

    def _problem(self) -> str:
        if len(self._unfinished) < _PREFIX:
            return f"{self._where} sent {len(self._unfinished)} bytes of an answer"
        came, size = len(self._unfinished) - _PREFIX, self._size()
        return f"{self._where} sent {came:,} of the {size:,} bytes of an answer"
