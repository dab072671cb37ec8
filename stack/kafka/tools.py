"""Kafka's own command-line tools, run by class from Maven artefacts, with their output."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stack.jvm.java import QUICK_JVM
from stack.jvm.maven import class_path, fetch, find_java

LATEST, OLDER = "4.4.0", "3.9.2"
# Of the brokers: `make test-live-full` repeats its tests on the release before.
NEWEST = os.environ.get("LIVE_KAFKA", LATEST)
_AUTHORIZER_LOGGER = "kafka.authorizer.logger"
_LOG4J = Path(__file__).with_name("log4j.properties")
_TOOL_SECONDS = 300
_TOOLS_MOVED = (3, 5)  # from then on, one by one, into org.apache.kafka.tools
_MOVED_LATER = {"AclCommand": (4, 0), "BrokerApiVersionsCommand": (4, 0), "ConfigCommand": (4, 4)}
_WERE_TOOLS = ("ConsoleConsumer", "GetOffsetShell")  # before that in kafka.tools; all others in kafka.admin


class ToolError(RuntimeError):
    """A Kafka tool failed: its command and output."""


def kafka_jars(version: str) -> Path:
    coordinates = [f"org.apache.kafka:kafka_2.13:{version}", f"org.apache.kafka:kafka-tools:{version}"]
    if not version.startswith(("2.", "3.")):
        coordinates.append("org.slf4j:slf4j-simple:1.7.36")  # 4.x brings no SLF4J binding: brokers would not log
    return fetch(coordinates)


def class_archive(version: str) -> Path:
    """File of classes as a JVM has parsed and verified them: with it a broker starts in two thirds of the time."""
    return kafka_jars(version) / "classes.jsa"


def minor_of(version: str) -> tuple[int, int]:
    major, minor = version.split(".")[:2]
    return int(major), int(minor)


def tool_class(version: str, newest: str) -> str:
    """Class in an older release of a tool, given its name in 4.x."""
    name = newest.rpartition(".")[2]
    if minor_of(version) >= _MOVED_LATER.get(name, _TOOLS_MOVED) or not newest.startswith("org.apache.kafka.tools."):
        return newest
    return f"kafka.{'tools' if name in _WERE_TOOLS else 'admin'}.{name}"


def java_command(
    version: str,
    main_class: str,
    *arguments: str,
    heap: str = "128m",
    log_level: str = "warn",
    authorizer_log_level: str = "info",
) -> list[str]:
    archive = class_archive(version)
    return [
        str(find_java()), f"-Xmx{heap}", *QUICK_JVM, "-Djava.awt.headless=true",
        # A JVM of another release ignores the archive, and would say so on stdout.
        *([f"-XX:SharedArchiveFile={archive}", "-Xlog:disable"] if archive.exists() else []),
        f"-Dorg.slf4j.simpleLogger.defaultLogLevel={log_level}", "-Dorg.slf4j.simpleLogger.showDateTime=true",
        f"-Dlog4j.configuration=file:{_LOG4J}", f"-Dadvisor.log.level={log_level}",
        f"-Dorg.slf4j.simpleLogger.log.{_AUTHORIZER_LOGGER}={authorizer_log_level}",
        f"-Dadvisor.authorizer.log.level={authorizer_log_level}",
        "-cp", class_path(kafka_jars(version)), main_class, *arguments,
    ]  # fmt: skip


def ending_with_us(command: list[str]) -> list[str]:
    """Command that the kernel ends with the thread that started it: a killed test leaves no broker.

    Linux with util-linux; elsewhere the command itself.
    """
    setpriv = shutil.which("setpriv")
    return [setpriv, "--pdeathsig", "KILL", *command] if setpriv else command


@dataclass(frozen=True, slots=True)
class KafkaTools:
    """Tools of one Kafka version for one cluster. ``client_config``: a Java properties file."""

    version: str
    bootstrap: str
    client_config: Path | None = None

    def run(self, main_class: str, *arguments: str, typed: str | None = None) -> str:
        main_class = tool_class(self.version, main_class)
        command = java_command(self.version, main_class, "--bootstrap-server", self.bootstrap, *arguments)
        if self.client_config is not None:
            command += ["--command-config", str(self.client_config)]
        done = subprocess.run(command, input=typed, capture_output=True, text=True, timeout=_TOOL_SECONDS, check=False)
        if done.returncode != 0:
            call = " ".join([main_class, *arguments])
            raise ToolError(f"{call} ended with {done.returncode}:\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
        return done.stdout

    def topics(self, *arguments: str) -> str:
        return self.run("org.apache.kafka.tools.TopicCommand", *arguments)

    def create_topic(
        self,
        name: str,
        *,
        assignment: Sequence[Sequence[int]] | None = None,
        partitions: int = 1,
        replication: int = 1,
        configs: Mapping[str, str] | None = None,
    ) -> None:
        """With replicas from ``assignment`` (one list a partition), else from the controller."""
        if assignment is not None:
            placed = ",".join(":".join(str(broker) for broker in replicas) for replicas in assignment)
            where = ["--replica-assignment", placed]
        else:
            where = ["--partitions", str(partitions), "--replication-factor", str(replication)]
        settings = [word for key, value in (configs or {}).items() for word in ("--config", f"{key}={value}")]
        self.topics("--create", "--topic", name, *where, *settings)

    def groups(self, *arguments: str) -> str:
        return self.run("org.apache.kafka.tools.consumer.group.ConsumerGroupCommand", *arguments)

    def offsets(self, *arguments: str) -> dict[tuple[str, int], int]:
        """``kafka-get-offsets``: (topic, partition) → offset."""
        rows = (line.rsplit(":", 2) for line in self.run("org.apache.kafka.tools.GetOffsetShell", *arguments).split())
        return {(topic, int(partition)): int(offset) for topic, partition, offset in rows if offset}

    def log_dirs_text(self) -> str:
        """``kafka-log-dirs --describe`` as printed: two lines of text, then JSON."""
        return self.run("org.apache.kafka.tools.LogDirsCommand", "--describe")

    def log_dirs(self) -> dict[str, Any]:
        text = self.log_dirs_text()
        document: dict[str, Any] = json.loads(text[text.index("{") :])
        return document

    def broker_api_versions(self) -> str:
        return self.run("org.apache.kafka.tools.BrokerApiVersionsCommand")

    def list_endpoints(self) -> str:
        arguments = ["list-endpoints", "--include-fenced-brokers", "--bootstrap-server", self.bootstrap]
        command = java_command(self.version, "org.apache.kafka.tools.ClusterTool", *arguments)
        return subprocess.run(command, capture_output=True, text=True, timeout=_TOOL_SECONDS, check=True).stdout

    def configs(self, *arguments: str) -> str:
        return self.run("org.apache.kafka.tools.ConfigCommand", *arguments)

    def acls(self, *arguments: str) -> str:
        return self.run("org.apache.kafka.tools.AclCommand", *arguments)

    def reassign(self, *arguments: str) -> str:
        return self.run("org.apache.kafka.tools.reassign.ReassignPartitionsCommand", *arguments)

    def execute_reassignment(self, waves_json: Path, throttle_bytes_per_s: int | None = None) -> str:
        """Start one file's moves; prints the present assignment, Kafka's own rollback."""
        throttle = () if throttle_bytes_per_s is None else ("--throttle", str(throttle_bytes_per_s))
        return self.reassign("--reassignment-json-file", str(waves_json), "--execute", *throttle)

    def verify_reassignment(self, waves_json: Path) -> str:
        return self.reassign("--reassignment-json-file", str(waves_json), "--verify")

    def elect_preferred(self, elections_json: Path) -> str:
        return self._elect("--election-type", "preferred", "--path-to-json-file", str(elections_json))

    def _elect(self, *arguments: str) -> str:
        command = java_command(
            self.version,
            "org.apache.kafka.tools.LeaderElectionCommand",
            "--bootstrap-server",
            self.bootstrap,
            *arguments,
        )
        if self.client_config is not None:
            command += ["--admin.config", str(self.client_config)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=_TOOL_SECONDS, check=False)
        if done.returncode != 0:
            raise ToolError(f"leader election ended with {done.returncode}:\n{done.stdout}\n{done.stderr[-2000:]}")
        return done.stdout

    def start_console_consumer(self, topic: str, group: str, *settings: str) -> subprocess.Popen[bytes]:
        """Java consumer in its own group (``group.protocol=consumer``: a KIP-848 group); the caller ends it."""
        properties = [word for setting in (f"group.id={group}", *settings) for word in ("--consumer-property", setting)]
        return self._start("org.apache.kafka.tools.consumer.ConsoleConsumer", "--topic", topic, *properties)

    def start_share_consumer(self, topic: str, group: str) -> subprocess.Popen[bytes]:
        return self._start("org.apache.kafka.tools.consumer.ConsoleShareConsumer", "--topic", topic, "--group", group)

    def _start(self, main_class: str, *arguments: str) -> subprocess.Popen[bytes]:
        main_class = tool_class(self.version, main_class)
        command = java_command(self.version, main_class, "--bootstrap-server", self.bootstrap, *arguments)
        return subprocess.Popen(
            ending_with_us(command), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )

    def produce_fast(self, topic: str, records: int, record_bytes: int, records_per_s: int = -1) -> str:
        properties = [f"bootstrap.servers={self.bootstrap}", "acks=all"]
        command = java_command(
            self.version, "org.apache.kafka.tools.ProducerPerformance", "--topic", topic, "--num-records", str(records),
            "--record-size", str(record_bytes), "--throughput", str(records_per_s), "--producer-props", *properties,
        )  # fmt: skip
        if self.client_config is not None:
            command += ["--producer.config", str(self.client_config)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=_TOOL_SECONDS, check=False)
        if done.returncode != 0:
            raise ToolError(f"producing to {topic} ended with {done.returncode}:\n{done.stderr[-2000:]}")
        return done.stdout
