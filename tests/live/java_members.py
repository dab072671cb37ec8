"""Members of groups in a JVM of their own: they join, leave, tell what they hold, and end together if it is killed."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, NamedTuple, Self

from kafka_assignors.coordinator.timeline import Partition
from stack.jvm.java import QUICK_JVM
from stack.jvm.maven import find_java
from stack.kafka.tools import ending_with_us
from tests.live.kafka_classes import LIVE_CLIENT, classpath, compile_java

_CLIENT_PACKAGE = "org.apache.kafka.clients.consumer"
CLIENT_CLASSES = {
    "range": f"{_CLIENT_PACKAGE}.RangeAssignor",
    "roundrobin": f"{_CLIENT_PACKAGE}.RoundRobinAssignor",
    "sticky": f"{_CLIENT_PACKAGE}.StickyAssignor",
    "cooperative-sticky": f"{_CLIENT_PACKAGE}.CooperativeStickyAssignor",
}
SESSION_MS, HEARTBEAT_MS = 6_000, 500
# Where no session is to end: a machine that stands still for seconds puts no member out.
LONG_SESSION_MS = 45_000


def broker_times(session_ms: int) -> dict[str, str]:
    """The same times for KIP-848 groups, where brokers set them."""
    return {
        "group.consumer.min.heartbeat.interval.ms": str(HEARTBEAT_MS),
        "group.consumer.heartbeat.interval.ms": str(HEARTBEAT_MS),
        "group.consumer.min.session.timeout.ms": str(session_ms),
        "group.consumer.session.timeout.ms": str(session_ms),
    }


def member_settings(
    bootstrap: str, group: str, name: str, strategies: Sequence[str], *, is_server: bool, rack: str | None = None,
    is_static: bool = False, session_ms: int = SESSION_MS,
) -> dict[str, str]:  # fmt: skip
    """A consumer of the Java client, as quick to notice things as Kafka allows."""
    settings = {
        "bootstrap.servers": bootstrap, "group.id": group, "client.id": name, "enable.auto.commit": "false",
        "auto.offset.reset": "earliest", "metadata.max.age.ms": "1000", "fetch.max.wait.ms": "2000",
    }  # fmt: skip
    if is_server:
        (assignor,) = strategies
        settings |= {"group.protocol": "consumer", "group.remote.assignor": assignor}
    else:
        settings |= {
            "group.protocol": "classic", "session.timeout.ms": str(session_ms),
            "heartbeat.interval.ms": str(HEARTBEAT_MS),
            "partition.assignment.strategy": ",".join(CLIENT_CLASSES[strategy] for strategy in strategies),
        }  # fmt: skip
    if rack is not None:
        settings["client.rack"] = rack
    if is_static:
        settings["group.instance.id"] = f"pod-{name}"
    return settings


class Note(NamedTuple):
    """At ``at_ms`` of the machine's clock ``member`` got these partitions (``is_got``) or gave them up."""

    at_ms: int
    member: str
    is_got: bool
    partitions: frozenset[Partition]


class Span(NamedTuple):
    """At ``at_ms`` ``member`` read offsets ``first`` to ``last`` of a partition; first -1: it gave the partition up."""

    at_ms: int
    member: str
    partition: Partition
    first: int
    last: int


class JavaMembers:
    """One JVM with many members; ``with`` ends it."""

    def __init__(self) -> None:
        path = compile_java(["GroupMembers.java"], classpath(*LIVE_CLIENT))
        command = [str(find_java()), "-Xmx768m", *QUICK_JVM, "-cp", path]
        self._process = subprocess.Popen(
            ending_with_us([*command, "GroupMembers"]), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, encoding="utf-8",
        )  # fmt: skip

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.kill()

    def join(self, name: str, topics: Sequence[str], settings: Mapping[str, str]) -> None:
        """Start a member; it joins in its own time."""
        self._ask({"do": "join", "name": name, "topics": list(topics), "settings": dict(settings)})

    def leave(self, names: Iterable[str]) -> None:
        """Close members: dynamic ones say goodbye, static ones do not."""
        self._ask({"do": "leave", "names": list(names)})

    def stall(self, names: Iterable[str]) -> None:
        """They poll no more; their clients' heartbeats go on."""
        self._ask({"do": "stall", "names": list(names)})

    def resume(self, names: Iterable[str]) -> None:
        """They poll again."""
        self._ask({"do": "resume", "names": list(names)})

    def notes(self) -> list[Note]:
        """When members got and gave up partitions, in order of time; of those alone that are still there."""
        return sorted(
            Note(row["at"], name, row["isGot"], frozenset((topic, number) for topic, number in row["partitions"]))
            for name, reported in self._ask({"do": "tell"}).items()
            for row in reported["notes"]
        )

    def held(self) -> dict[str, frozenset[Partition]]:
        """What each member believes it reads, by name. Raises where one has failed."""
        reported = self._ask({"do": "tell"})
        failures = {name: row["failure"] for name, row in reported.items() if row["failure"]}
        assert not failures, failures
        return {name: frozenset((topic, number) for topic, number in row["held"]) for name, row in reported.items()}

    def generations(self) -> dict[str, int]:
        """Of each member the generation or epoch that it is in."""
        return {name: row["generation"] for name, row in self._ask({"do": "tell"}).items()}

    def read(self) -> list[Span]:
        """What was read and given up since this was last asked, also by members that are closed, in order of time."""
        rows = self._ask({"do": "read"})["spans"]
        spans = (
            Span(row["at"], row["member"], (row["topic"], row["partition"]), row["from"], row["to"]) for row in rows
        )
        return sorted(spans)

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def kill(self) -> None:
        """kill -9: every member is gone without a word."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()

    def _ask(self, command: Mapping[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, f"the JVM of the members has ended with {self._process.wait()}"
        answer: dict[str, Any] = json.loads(line)
        return answer
