"""A real Kafka cluster on this machine: one KRaft controller (or, before 4.0, one ZooKeeper) and brokers with racks,
on loopback and free ports.

``with start_cluster(ClusterSpec(...), folder) as cluster:`` is ready in about ten seconds and leaves no process
behind. ``folder`` holds all its files: properties, data, logs, keys.
"""

from __future__ import annotations

import base64
import contextlib
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from stack.kafka import security as kafka_security
from stack.kafka import zookeeper
from stack.kafka.tools import NEWEST, KafkaTools, class_archive, ending_with_us, java_command, minor_of
from stack.waiting import PATIENCE_S, StartError, frozen, start_twice, wait_started

CONTROLLER = 100
_CLUSTER_ID = "YWR2aXNvci10ZXN0LWNsdQ"  # any 16 bytes in base64
_STOP_SECONDS = 120
_TERMINATED = 128 + signal.SIGTERM  # as a JVM ends by itself at SIGTERM
# Of a KRaft node, of a ZooKeeper server, of a broker with ZooKeeper.
_STARTED = re.compile(r"Kafka Server started|binding to port|\[KafkaServer id=\d+\] started")
_KNOWS_PROTOCOLS = (3, 7)  # group.coordinator.rebalance.protocols


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSpec:
    """Cluster to start: ``racks`` maps broker ids to racks; a secured one speaks TLS, SCRAM and PLAIN to clients.

    ``with_zookeeper``: a release before 4.0, not secured. ``authorizer_log_level``: ``debug`` logs allowed requests,
    too.
    """

    version: str = NEWEST
    racks: Mapping[int, str] = field(default_factory=lambda: {1: "a", 2: "b", 3: "c"})
    is_secured: bool = False
    with_zookeeper: bool = False
    authorizer_log_level: str = "info"
    log_dirs_per_broker: int = 1
    broker_properties: Mapping[str, str] = field(default_factory=dict)
    controller_properties: Mapping[str, str] = field(default_factory=dict)


@contextlib.contextmanager
def start_cluster(spec: ClusterSpec, folder: Path) -> Iterator[KafkaCluster]:
    """Start it in ``folder``, which is emptied first; always stop all of it at the end.

    Raises StartError where its second start, on other ports, fails too.
    """
    kind = f"Kafka {spec.version}{' with ZooKeeper' if spec.with_zookeeper else ''}"
    cluster = start_twice(kind, lambda: _started(spec, folder))
    try:
        yield cluster
    finally:
        cluster.stop()


def _started(spec: ClusterSpec, folder: Path) -> KafkaCluster:
    stop_leftovers(folder)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    cluster = KafkaCluster(spec, folder)
    try:
        cluster.start()
    except BaseException:
        cluster.stop()
        raise
    return cluster


def stop_leftovers(folder: Path) -> None:
    """End nodes that a killed run left behind: only processes whose command line names this folder."""
    for file in folder.glob("*.pid"):
        pid = int(file.read_text() or 0)
        with contextlib.suppress(OSError):
            command = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
            if str(folder) in command:
                os.kill(pid, signal.SIGKILL)
        file.unlink(missing_ok=True)


class KafkaCluster:
    """Running cluster. ``bootstrap``: for clients of its outer listener; ``tools``: Kafka's own."""

    def __init__(self, spec: ClusterSpec, folder: Path) -> None:
        self.spec = spec
        self.folder = folder.resolve()
        self._nodes: dict[int, subprocess.Popen[bytes]] = {}
        listeners = 3 if spec.is_secured else 1
        ports = _free_ports(1 + listeners * len(spec.racks))
        self._controller_port = ports[0]
        self._ports = {
            broker: ports[1 + i * listeners : 1 + (i + 1) * listeners] for i, broker in enumerate(sorted(spec.racks))
        }
        self.certificates = kafka_security.make_certificates(self.folder / "keys") if spec.is_secured else None
        self.admin_properties = self._admin_properties()
        # The first broker leaves the archive of classes for those to come.
        self._archiving = min(spec.racks)
        self._archive = class_archive(spec.version).with_name(f"classes-{ports[0]}.part")

    @property
    def bootstrap(self) -> str:
        return ",".join(f"127.0.0.1:{ports[0]}" for _, ports in sorted(self._ports.items()))

    @property
    def mutual_tls_bootstrap(self) -> str:
        return ",".join(f"127.0.0.1:{ports[2]}" for _, ports in sorted(self._ports.items()))

    @property
    def tools(self) -> KafkaTools:
        return KafkaTools(self.spec.version, self.bootstrap, self.admin_properties)

    def start(self) -> None:
        for node in (CONTROLLER, *self.spec.racks):
            (self.folder / f"node-{node}.properties").write_text(_as_properties(self._properties(node)))
        first, *others = sorted(self.spec.racks)
        if not self.spec.with_zookeeper:
            with ThreadPoolExecutor(max_workers=2) as pool:
                list(pool.map(self._format, (CONTROLLER, first)))
        self._launch(CONTROLLER)
        if not self.spec.with_zookeeper:
            for broker in others:
                self._format_like(first, broker)
        for broker in (first, *others):
            self._launch(broker)
        for node in (CONTROLLER, *self.spec.racks):
            self._wait_started(node)

    def start_broker(self, broker: int) -> None:
        """Start a broker again, with one retry; returns when it serves."""
        try:
            self._launch(broker)
            self._wait_started(broker)
        except StartError:  # another program's connection may have had its port for a moment
            self._end([broker], signal.SIGKILL)
            self._launch(broker)
            self._wait_started(broker)

    def stop_broker(self, broker: int) -> None:
        self._end([broker], signal.SIGTERM)

    def kill_broker(self, broker: int) -> None:
        self._end([broker], signal.SIGKILL)

    @contextlib.contextmanager
    def frozen_broker(self, broker: int) -> Iterator[None]:
        """The broker accepts connections and never answers, from the start of the block on."""
        with frozen(self._nodes[broker].pid):
            yield

    def stop(self) -> None:
        """Brokers first, the controller last: brokers wait for a controller that has ended."""
        self._end([node for node in self._nodes if node != CONTROLLER], signal.SIGTERM)
        self._end([CONTROLLER], signal.SIGTERM)

    def _end(self, nodes: list[int], how: signal.Signals) -> None:
        running = {node: self._nodes.pop(node) for node in nodes if node in self._nodes}
        for process in running.values():
            process.send_signal(how)
        deadline = time.monotonic() + _STOP_SECONDS
        for node, process in running.items():
            try:
                process.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            if node == self._archiving and process.returncode == _TERMINATED and self._archive.exists():
                self._archive.replace(class_archive(self.spec.version))
            (self.folder / f"node-{node}.pid").unlink(missing_ok=True)

    def _format(self, node: int) -> None:
        scram = kafka_security.scram_arguments() if self.spec.is_secured else []
        command = java_command(
            self.spec.version, "kafka.tools.StorageTool", "format", "-t", _CLUSTER_ID, "-c",
            str(self.folder / f"node-{node}.properties"), *scram,
        )  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
        if done.returncode != 0:
            raise StartError(self._name(node), "could not be formatted", f"{done.stdout}\n{done.stderr}")

    def _format_like(self, first: int, broker: int) -> None:
        """Write the files of ``kafka-storage format`` from a formatted broker's: a JVM for each costs two seconds."""
        for source, target in zip(self._data(first), self._data(broker), strict=True):
            shutil.copytree(source, target)
            meta = target / "meta.properties"
            own = base64.urlsafe_b64encode(secrets.token_bytes(15)).decode()
            text = re.sub(r"(?m)^node\.id=.*$", f"node.id={broker}", meta.read_text())
            meta.write_text(re.sub(r"(?m)^directory\.id=.*$", f"directory.id=A{own}A", text))

    def _data(self, node: int) -> list[Path]:
        if node == CONTROLLER:
            return [self.folder / f"data-{node}"]
        return [self.folder / f"data-{node}-{i}" for i in range(self.spec.log_dirs_per_broker)]

    def _launch(self, node: int) -> None:
        command = java_command(
            self.spec.version,
            zookeeper.SERVER if self.spec.with_zookeeper and node == CONTROLLER else "kafka.Kafka",
            str(self.folder / f"node-{node}.properties"),
            heap="256m",
            log_level="info",
            authorizer_log_level=self.spec.authorizer_log_level,
        )
        if node == self._archiving and not class_archive(self.spec.version).exists():
            command.insert(1, f"-XX:ArchiveClassesAtExit={self._archive}")
        with self._log(node).open("wb") as log:
            self._nodes[node] = subprocess.Popen(
                ending_with_us(command),
                stdout=log,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
        (self.folder / f"node-{node}.pid").write_text(str(self._nodes[node].pid))

    def zookeeper_says(self, *command: str) -> str:
        arguments = java_command(
            self.spec.version, zookeeper.SHELL, "-server", f"127.0.0.1:{self._controller_port}", *command
        )
        return subprocess.run(arguments, capture_output=True, text=True, timeout=PATIENCE_S, check=True).stdout

    def logged(self) -> dict[Path, str]:
        nodes = (CONTROLLER, *sorted(self.spec.racks))
        return {self._log(node): self._log(node).read_text(errors="replace") for node in nodes}

    def _log(self, node: int) -> Path:
        return self.folder / f"node-{node}.log"

    def _name(self, node: int) -> str:
        if node != CONTROLLER:
            return f"Kafka broker {node}"
        return "ZooKeeper" if self.spec.with_zookeeper else "Kafka's controller"

    def _wait_started(self, node: int) -> None:
        wait_started(
            self._name(node),
            lambda: _STARTED.search(self._log(node).read_text(errors="replace")),
            ended=lambda: self._nodes[node].poll() is not None,
            log=lambda: self._log(node).read_text(errors="replace"),
        )

    def _admin_properties(self) -> Path | None:
        if self.certificates is None:
            return None
        return kafka_security.write_client_properties(
            self.folder / "admin.properties", self.certificates, user=kafka_security.ADMIN,
            password=kafka_security.ADMIN_PASSWORD,
        )  # fmt: skip

    def _properties(self, node: int) -> dict[str, str]:
        if self.spec.with_zookeeper:
            return self._properties_with_zookeeper(node)
        protocols = {"CONTROLLER": "PLAINTEXT", "CLIENT": "PLAINTEXT"}
        if self.certificates is not None:
            protocols = {"CONTROLLER": "SSL", "CLIENT": "SASL_SSL", "INTERNAL": "SSL", "MTLS": "SSL"}
        shared = {
            "node.id": str(node),
            "controller.quorum.voters": f"{CONTROLLER}@127.0.0.1:{self._controller_port}",
            "controller.listener.names": "CONTROLLER",
            "listener.security.protocol.map": ",".join(f"{name}:{how}" for name, how in protocols.items()),
            **({} if self.certificates is None else kafka_security.server_properties(self.certificates)),
        }
        if node == CONTROLLER:
            return (
                shared
                | {
                    "process.roles": "controller",
                    "listeners": f"CONTROLLER://127.0.0.1:{self._controller_port}",
                    "log.dirs": ",".join(str(folder) for folder in self._data(node)),
                }
                | dict(self.spec.controller_properties)
            )
        return shared | {"process.roles": "broker"} | self._broker_properties(node) | dict(self.spec.broker_properties)

    def _properties_with_zookeeper(self, node: int) -> dict[str, str]:
        if node == CONTROLLER:
            return zookeeper.server_properties(self._controller_port, *self._data(node))
        return (
            {"listener.security.protocol.map": "CLIENT:PLAINTEXT"}
            | zookeeper.broker_properties(self._controller_port, node)
            | self._broker_properties(node)
            | dict(self.spec.broker_properties)
        )

    def _broker_properties(self, broker: int) -> dict[str, str]:
        names = ("CLIENT",) if self.certificates is None else ("CLIENT", "INTERNAL", "MTLS")
        copies = str(min(3, len(self.spec.racks)))
        addresses = zip(names, self._ports[broker], strict=True)
        return {
            "broker.rack": self.spec.racks[broker],
            "listeners": ",".join(f"{name}://127.0.0.1:{port}" for name, port in addresses),
            "inter.broker.listener.name": "CLIENT" if self.certificates is None else "INTERNAL",
            "log.dirs": ",".join(str(folder) for folder in self._data(broker)),
            "auto.create.topics.enable": "false",
            "auto.leader.rebalance.enable": "false",  # leaders move only on command
            "offsets.topic.num.partitions": "6",
            "offsets.topic.replication.factor": copies,
            "transaction.state.log.num.partitions": "2",
            "transaction.state.log.replication.factor": copies,
            "transaction.state.log.min.isr": "1",
            "group.initial.rebalance.delay.ms": "0",
            "log.cleaner.dedupe.buffer.size": "8388608",
            **({} if self.spec.with_zookeeper else _version_properties(self.spec.version, copies)),
            **({} if self.certificates is None else kafka_security.client_listener_properties()),
        }


def _version_properties(version: str, copies: str) -> dict[str, str]:
    if minor_of(version) < _KNOWS_PROTOCOLS:
        return {}
    if minor_of(version) < (4, 0):
        return {"group.coordinator.rebalance.protocols": "classic,consumer"}  # KIP-848 is off by default in 3.9
    return {
        "share.coordinator.state.topic.num.partitions": "2",
        "share.coordinator.state.topic.replication.factor": copies,
        "share.coordinator.state.topic.min.isr": "1",
    }


def _as_properties(properties: Mapping[str, str]) -> str:
    return "".join(f"{key}={value.replace(chr(92), chr(92) * 2)}\n" for key, value in sorted(properties.items()))


def _free_ports(count: int) -> list[int]:
    """Unused ports; all are held until the last is known, so they are distinct."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for listener in sockets:
            listener.bind(("127.0.0.1", 0))
        return [listener.getsockname()[1] for listener in sockets]
