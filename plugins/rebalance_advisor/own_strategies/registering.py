from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Self

from kafka_assignors import registry as assignors
from kafka_assignors.arrays import Ints
from kafka_assignors.contract import Assignment, AssignmentRequest
from kafka_assignors.custom import assignment_of, member_views, topic_views
from kafka_assignors.custom_views import MemberView, TopicView, members_document, plain_answer
from kafka_assignors.errors import AssignorError
from kafka_assignors.partitioners import registry as partitioners
from kafka_assignors.partitioners.contract import RecordSample, TopicTarget, different_keys, partitions_of
from kafka_assignors.visible_text import visible
from rebalance_advisor.own_strategies import kernel_guards
from rebalance_advisor.own_strategies.limits import DEFAULTS, Limits
from rebalance_advisor.own_strategies.supervisor import MEMORY_EXIT
from rebalance_advisor.own_strategies.targets import Kind, Target

_CHILD = "rebalance_advisor.own_strategies.child"
_POLL_S = 0.1  # an orphan may hold the socket
_CHUNK_BYTES = 1 << 16
_HELLO_BYTES = 1 << 16
_BYTES_PER_S = 4e6  # JSON both ways, on a busy machine
_END_WAIT_S = 5.0
_KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "LD_LIBRARY_PATH", "VIRTUAL_ENV")
Message = dict[str, Any]


class ChildProcess:
    def __init__(self, target: Target, limits: Limits) -> None:
        self._target = target
        self._limits = limits
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: socket.socket | None = None
        self._buffer = bytearray()
        self._number = 0
        self._unmade: AssignorError | None = None
        self._ends: list[AssignorError] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def hello(self) -> Message:
        self.close()
        return self._start()

    def ask(self, request: Message, most_bytes: int) -> Any:
        """Return at most ``most_bytes`` of JSON.

        Raises AssignorError. After a fault that ended the process, the next call starts a new one, up to the limit. A
        failed construction is final.
        """
        if self._unmade is not None:
            raise self._unmade
        if len(self._ends) >= self._limits.most_ends:
            raise AssignorError("NotAsked", f"its process has ended {len(self._ends)} times, at last: {self._ends[-1]}")
        try:
            return self._answer(request, most_bytes)
        except AssignorError as error:
            if self._process is None:
                self._ends.append(error)
            raise

    def close(self) -> None:
        """The supervisor then ends all processes."""
        process, channel = self._process, self._channel
        self._process = self._channel = None
        self._buffer = bytearray()
        if channel is not None:
            channel.close()
        if process is not None:
            with suppress(subprocess.TimeoutExpired):
                process.wait(_END_WAIT_S)
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            with suppress(subprocess.TimeoutExpired):
                process.wait(_END_WAIT_S)
            kernel_guards.show_environment()

    def _answer(self, request: Message, most_bytes: int) -> Any:
        if self._process is None:
            self._start()
        self._number += 1
        body = json.dumps(request)
        # Writing and reading do not count as the class's time.
        around_s = (len(body) + most_bytes) / _BYTES_PER_S
        line = f'{{"number": {self._number}, {body[1:]}\n'.encode()
        reply = self._exchanged(line, self._limits.answer_s, most_bytes, around_s)
        if reply.get("number") != self._number or "answer" not in reply:
            raise self._ended("Nonsense", "writes to the advisor's own channel")
        return reply["answer"]

    def _start(self) -> Message:
        ours, its = socket.socketpair()
        kernel_guards.hide_environment()
        with its:
            try:
                self._process = subprocess.Popen(
                    [sys.executable, "-P", "-m", _CHILD, str(its.fileno()), str(self._limits.memory_bytes)],
                    pass_fds=(its.fileno(),),
                    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                    env=_environment(), start_new_session=True,
                )  # fmt: skip
            except OSError as error:
                ours.close()
                kernel_guards.show_environment()
                raise AssignorError("NotStarted", f"no process can be started: {error}") from error
        self._channel = ours
        setup = {"kind": self._target.kind.value, "place": self._target.reference}
        try:
            hello = self._exchanged(json.dumps(setup).encode() + b"\n", self._limits.start_s, _HELLO_BYTES)
        except AssignorError as error:
            self._unmade = error
            self.close()
            raise
        if not isinstance(hello.get("name"), str):
            raise self._ended("Nonsense", "writes to the advisor's own channel")
        return hello

    def _exchanged(self, line: bytes, seconds: float, most_bytes: int, around_s: float = 0.0) -> Message:
        """Raises AssignorError; any fault but a plain error ends the process."""
        deadline = time.monotonic() + seconds + around_s
        try:
            reply = json.loads(self._line_after(line, deadline, seconds, most_bytes))
        except (ValueError, RecursionError) as error:
            raise self._ended("Nonsense", "writes to the advisor's own channel") from error
        if not isinstance(reply, dict):
            raise self._ended("Nonsense", "writes to the advisor's own channel")
        fault = reply.get("fault")
        if fault is None:
            return reply
        if not isinstance(fault, list) or len(fault) != 2 or not all(isinstance(part, str) for part in fault):
            raise self._ended("Nonsense", "writes to the advisor's own channel")
        kind, message = (visible(part) for part in fault)  # lone surrogates crash writers
        if kind == "MemoryLimit":
            raise self._ended(kind, message)
        raise AssignorError(kind, message)

    def _line_after(self, line: bytes, deadline: float, seconds: float, most_bytes: int) -> bytes:
        if self._channel is None or self._process is None:
            raise AssignorError("NotStarted", "its process has ended")
        sent, end = 0, self._buffer.find(b"\n")
        while end < 0:
            if time.monotonic() >= deadline:
                raise self._ended("TimeLimit", f"has not answered after {seconds:g} s")
            if len(self._buffer) > most_bytes:
                raise self._ended(
                    "TooLong", f"answers more than {most_bytes} bytes: several times what there is to give"
                )
            self._channel.settimeout(min(_POLL_S, max(deadline - time.monotonic(), 0.001)))
            try:
                if sent < len(line):
                    sent += self._channel.send(line[sent : sent + _CHUNK_BYTES])
                    continue
                part = self._channel.recv(_CHUNK_BYTES)
            except TimeoutError:
                if self._process.poll() is not None:
                    raise self._has_ended() from None
                continue
            except OSError:
                part = b""
            if not part:
                raise self._has_ended()
            end = -1 if (index := part.find(b"\n")) < 0 else len(self._buffer) + index
            self._buffer += part
        whole = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return whole

    def _has_ended(self) -> AssignorError:
        process = self._process
        try:
            code = None if process is None else process.wait(_END_WAIT_S)
        except subprocess.TimeoutExpired:
            code = None
        if code is None:
            return self._ended("Ended", "hangs up without an answer")
        if code == MEMORY_EXIT:
            return self._ended("MemoryLimit", "takes more than its memory with the processes that it started")
        if code < 0:
            return self._ended("Ended", f"its process is ended by signal {-code} ({_signal_name(-code)})")
        return self._ended("Ended", f"ends its process with exit code {code}")

    def _ended(self, kind: str, message: str) -> AssignorError:
        self.close()
        return AssignorError(kind, message)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"


def _environment() -> dict[str, str]:
    """Without store addresses and passwords, with fixed hash seed and one numeric thread."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    path = os.pathsep.join(os.path.abspath(folder) for folder in sys.path if folder)  # noqa: PTH100 (zips too)
    return kept | one_thread | {"PYTHONPATH": path, "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}


_PAIR_BYTES = 24  # brackets, commas, digits
_SLACK = 4  # duplicates get a better error
_LEAST_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class Described:
    """``problem``: why the class is never called."""

    target: Target
    name: str
    versions: str = ""
    problem: str | None = None

    def require_fit(self) -> None:
        if self.problem is not None:
            raise AssignorError("NameTaken", self.problem)


@dataclass(frozen=True, slots=True, eq=False)
class _Isolated:
    described: Described
    process: ChildProcess
    name: str = field(init=False)
    versions: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.described.name)
        object.__setattr__(self, "versions", self.described.versions)


@dataclass(frozen=True, slots=True, eq=False)
class IsolatedAssignor(_Isolated):
    def assign(self, request: AssignmentRequest) -> Assignment:
        self.described.require_fit()
        members, topics = member_views(request), topic_views(request)
        document = members_document(members) | {"topics": [view.document() for view in topics]}
        return assignment_of(plain_answer(self.process.ask(document, _most_bytes(members, topics))), request)


@dataclass(frozen=True, slots=True, eq=False)
class IsolatedPartitioner(_Isolated):
    def partition(self, sample: RecordSample, target: TopicTarget, seed: int = 0) -> Ints:  # noqa: ARG002
        self.described.require_fit()
        keys = different_keys(sample)
        document = {"keys": [None if key is None else key.hex() for key in keys], "partitions": target.partitions}
        answers = self.process.ask(document, _LEAST_BYTES + _PAIR_BYTES * len(keys))
        if not isinstance(answers, list) or len(answers) != len(keys):
            raise AssignorError("NoAnswer", f"answers not once for each of {len(keys)} keys")
        return partitions_of(sample, target, dict(zip(keys, answers, strict=True)))


def _most_bytes(members: Sequence[MemberView], topics: Sequence[TopicView]) -> int:
    pairs = sum(topic.partitions * (len(json.dumps(topic.name)) + _PAIR_BYTES) for topic in topics)
    return _LEAST_BYTES + _SLACK * (pairs + sum(len(json.dumps(member.id)) + _PAIR_BYTES for member in members))


_BUILT_IN = {
    Kind.ASSIGNOR: frozenset(
        name
        for registration in assignors.BUILT_IN
        for name in (registration.name, registration.strategy, registration.protocol, "uniform")
    ),
    Kind.PARTITIONER: frozenset(registration.name for registration in partitioners.BUILT_IN),
}


def described(targets: Iterable[Target], limits: Limits = DEFAULTS) -> tuple[Described, ...]:
    """Describe each class once by its own name.

    A class that cannot be made here keeps label and error: it may work on another machine. One with a taken name is
    never called.
    """
    strategies: list[Described] = []
    names: set[str] = set()
    for target in {target.reference: target for target in targets}.values():
        strategy = _described(target, limits)
        if strategy.name in names or strategy.name in _BUILT_IN[target.kind]:
            problem = f"{target.reference} calls itself {strategy.name}, as another one does"
            label = target.reference if strategy.name == visible(target.label) else target.label
            strategy = Described(target, visible(label), strategy.versions, problem)
        names.add(strategy.name)
        strategies.append(strategy)
    return tuple(strategies)


@contextmanager
def own_strategies(strategies: Sequence[Described], limits: Limits = DEFAULTS) -> Iterator[None]:
    with ExitStack() as stack:
        for strategy in strategies:
            process = stack.enter_context(ChildProcess(strategy.target, limits))
            if strategy.target.kind is Kind.ASSIGNOR:
                stack.enter_context(assignors.registered(IsolatedAssignor(strategy, process)))
            else:
                stack.enter_context(partitioners.registered(IsolatedPartitioner(strategy, process)))
        yield


def _described(target: Target, limits: Limits) -> Described:
    with ChildProcess(target, limits) as process:
        try:
            hello = process.hello()
        except AssignorError:
            return Described(target, visible(target.label))
    # Names go to tables, files and terminals.
    return Described(target, visible(hello["name"]), visible(str(hello.get("versions") or "")))
