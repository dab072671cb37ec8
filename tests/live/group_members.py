"""Members of groups of every type, by the clients that people use: each reads and commits until it is stopped."""

from __future__ import annotations

import asyncio
import json
import subprocess
import threading
import uuid
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from kafka.protocol.consumer import OffsetCommitRequest
from kafka.protocol.metadata import FindCoordinatorRequest

from kafka_assignors.coordinator.timeline import Partition
from rebalance_advisor.kafka.connection.client import ClusterClient
from rebalance_advisor.kafka.connection.probe import find_server
from rebalance_advisor.kafka.connection.properties import connection_settings
from stack.kafka.tools import ending_with_us
from stack.kafka.traffic import fetch_topics
from stack.waiting import PATIENCE_S, wait_for
from tests.live.messages import StreamsGroupHeartbeatRequest

_CLOSE_S = 300.0
_COORDINATOR_MOVES = (14, 15, 16)  # loading, not available, not this one


class Polling:
    """A member in a thread of its own; ``failures`` hold what went wrong in it, ``held`` what it believes it reads."""

    def __init__(self) -> None:
        self._end = threading.Event()
        self.held: frozenset[Partition] = frozenset()
        self.failures: list[BaseException] = []
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Leave the group."""
        self._end.set()
        self._thread.join(_CLOSE_S)

    def _run(self) -> None:
        try:
            self._live()
        except Exception as failure:  # noqa: BLE001  # told by the test
            self.failures.append(failure)

    def _live(self) -> None:
        raise NotImplementedError


class LibrdkafkaMember(Polling):
    """confluent-kafka, classic or KIP-848 by its settings."""

    def __init__(self, bootstrap: str, group: str, topics: Iterable[str], **settings: str) -> None:
        self._topics = list(topics)
        self._settings = {"bootstrap.servers": bootstrap, "group.id": group, "auto.offset.reset": "earliest",
                          "auto.commit.interval.ms": "500"}  # fmt: skip
        self._settings |= {name.replace("_", "."): value for name, value in settings.items()}
        super().__init__()

    def _live(self) -> None:
        from confluent_kafka import Consumer

        consumer = Consumer(self._settings)
        consumer.subscribe(self._topics)
        while not self._end.is_set():
            consumer.poll(0.1)
            self.held = frozenset((part.topic, part.partition) for part in consumer.assignment())
        consumer.close()


class AiokafkaMember(Polling):
    """aiokafka: a loop of its own, in a thread."""

    def __init__(self, bootstrap: str, group: str, topics: Iterable[str], **settings: Any) -> None:
        self._topics = list(topics)
        self._settings: dict[str, Any] = {"bootstrap_servers": bootstrap, "group_id": group, **settings}
        super().__init__()

    def _live(self) -> None:
        asyncio.run(self._poll())

    async def _poll(self) -> None:
        from aiokafka import AIOKafkaConsumer

        consumer = AIOKafkaConsumer(
            *self._topics, auto_offset_reset="earliest", auto_commit_interval_ms=500, **self._settings
        )
        await consumer.start()
        while not self._end.is_set():
            await consumer.getmany(timeout_ms=200)
            self.held = frozenset((part.topic, part.partition) for part in consumer.assignment())
        await consumer.stop()


class KafkaPythonMember(Polling):
    """kafka-python, with what it calls itself."""

    def __init__(self, bootstrap: str, group: str, topics: Iterable[str], **settings: Any) -> None:
        self._topics = list(topics)
        self._settings: dict[str, Any] = {"bootstrap_servers": bootstrap.split(","), "group_id": group, **settings}
        super().__init__()

    def _live(self) -> None:
        from kafka import KafkaConsumer

        consumer = KafkaConsumer(
            *self._topics, auto_offset_reset="earliest", auto_commit_interval_ms=500, **self._settings
        )
        fetch_topics(consumer, self._topics)
        while not self._end.is_set():
            consumer.poll(timeout_ms=200)
            self.held = frozenset((part.topic, part.partition) for part in consumer.assignment())
        consumer.close()


class KafkaGoMember(Polling):
    """kafka-go: a process of its own (``tests/live/go/member``)."""

    def __init__(self, program: Path, bootstrap: str, group: str, topics: Iterable[str], *settings: str) -> None:
        command = [str(program), bootstrap, group, *settings, *topics]  # settings: strategy and rack
        self._process = subprocess.Popen(
            ending_with_us(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
        )
        super().__init__()

    def stop(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        super().stop()

    def _live(self) -> None:
        with self._process as process:
            assert process.stdout is not None
            for line in process.stdout:
                self.held = frozenset((topic, number) for topic, number in json.loads(line))
        if process.returncode:
            raise RuntimeError(f"kafka-go ended with {process.returncode}")


class StreamsMember(Polling):
    """A member of a streams group by raw heartbeats: it runs what it is given, and commits ``offset`` of each.

    Its application reads ``topic`` and keeps no state, so there are no topics of its own.
    """

    def __init__(self, bootstrap: str, group: str, topic: str, *, process: str, rack: str, offset: int) -> None:
        self._bootstrap, self._group, self._topic, self._offset = bootstrap, group, topic, offset
        self._process, self._rack = process, rack
        self.member_id = str(uuid.uuid5(uuid.NAMESPACE_OID, f"{group} {process}"))
        super().__init__()

    def _live(self) -> None:
        settings = connection_settings({"bootstrap.servers": self._bootstrap, "client.id": self._process})
        with ClusterClient(settings, find_server(settings)) as client:
            assert not any(client.connect().values())
            broker = self._coordinator(client)
            epoch, tasks = 0, None
            while not self._end.is_set():
                answer = self._ask(client, broker, self._heartbeat(epoch, tasks))
                if answer.error_code in _COORDINATOR_MOVES:
                    self._end.wait(0.3)
                    broker = self._coordinator(client)
                    continue
                if answer.error_code:
                    raise RuntimeError(f"heartbeat: {answer.error_code} {answer.error_message}")
                epoch = answer.member_epoch
                if answer.active_tasks is not None:
                    tasks = answer.active_tasks
                    self._commit(client, broker, epoch, tasks)
                self._end.wait(min(0.5, answer.heartbeat_interval_ms / 1000))
            self._ask(client, broker, self._heartbeat(-1, None))

    def _ask(self, client: ClusterClient, broker: int, request: Any) -> Any:
        answer = client.send({0: (broker, request)}, PATIENCE_S)[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def _coordinator(self, client: ClusterClient) -> int:
        request = FindCoordinatorRequest(key_type=0, coordinator_keys=[self._group], min_version=4)
        result = wait_for(
            f"the coordinator of {self._group}",
            lambda: self._ask(client, min(client.addresses), request).coordinators[0],
            until=lambda row: not row.error_code,
        )  # fmt: skip
        return int(result.node_id)

    def _heartbeat(self, epoch: int, tasks: Any) -> Any:
        kind = StreamsGroupHeartbeatRequest
        topology = None
        if epoch == 0:
            part = kind.Topology.Subtopology(
                subtopology_id="0", source_topics=[self._topic], source_topic_regex=[], state_changelog_topics=[],
                repartition_sink_topics=[], repartition_source_topics=[], copartition_groups=[],
            )  # fmt: skip
            topology = kind.Topology(epoch=0, subtopologies=[part])
        owned = [kind.TaskIds(subtopology_id=row.subtopology_id, partitions=row.partitions) for row in tasks or ()]
        return kind(
            group_id=self._group, member_id=self.member_id, member_epoch=epoch, endpoint_information_epoch=-1,
            instance_id=None, rack_id=self._rack, rebalance_timeout_ms=120_000, topology=topology, active_tasks=owned,
            standby_tasks=[], warmup_tasks=[], process_id=self._process, user_endpoint=None, client_tags=[],
            task_offsets=None, task_end_offsets=None, shutdown_application=False,
        )  # fmt: skip

    def _commit(self, client: ClusterClient, broker: int, epoch: int, tasks: Any) -> None:
        kind = OffsetCommitRequest.OffsetCommitRequestTopic
        rows = [
            kind.OffsetCommitRequestPartition(
                partition_index=partition, committed_offset=self._offset, committed_leader_epoch=-1,
                committed_metadata=None,
            )
            for task in tasks
            for partition in task.partitions
        ]  # fmt: skip
        if rows:
            request = OffsetCommitRequest(
                group_id=self._group, generation_id_or_member_epoch=epoch, member_id=self.member_id,
                group_instance_id=None, topics=[kind(name=self._topic, partitions=rows)], max_version=9,
            )  # fmt: skip
            answer = self._ask(client, broker, request)
            assert not any(row.error_code for topic in answer.topics for row in topic.partitions), answer
