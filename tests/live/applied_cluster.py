"""A real cluster, a real Airflow and one published plan, for plans that are approved, carried out and verified."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
from psycopg.rows import dict_row

from kafka_rebalance.advisory.advisory import advisory_document
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import Plan
from kafka_rebalance.snapshot.model import ClusterSnapshot
from rebalance_advisor import store
from rebalance_advisor.kafka.read_cluster import read_cluster
from rebalance_advisor.publish.folders import replace_folder
from rebalance_advisor.publish.plan_files import plan_folder_files
from stack.airflow.client import AirflowClient
from stack.airflow.cluster_entries import write_entry
from stack.demo.pipeline import BY_HAND
from stack.kafka.cluster import ClusterSpec, KafkaCluster, start_cluster
from stack.kafka.live_cluster import PLACEMENT, RACKS, in_sync
from stack.kafka.setup import create_topics, fill
from stack.machine import Machine
from stack.waiting import wait_for

CLUSTER, CONNECTION, DAG, RUN = "live", "kafka_live_apply", "apply_live", "advice-1"
RECORDS = {"orders": 4_000, "clicks": 6_000, "sessions": 3_000, "payments": 3_000, "audit": 500, "tiny": 100}
THROTTLE = 20_000_000
_SECONDS = 1_200
# What a person takes at least. A script's answer at once can come before the scheduler knows that the asking is over.
_READING_SECONDS = 5

Placement = dict[tuple[str, int], tuple[tuple[int, ...], int | None]]


@dataclass
class AppliedCluster:
    """``plan`` was made for ``start`` and is published; ``seconds`` of each case, for the table."""

    machine: Machine
    cluster: KafkaCluster
    start: ClusterSnapshot
    plan: Plan
    folder: Path
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def client(self) -> AirflowClient:
        """Airflow's REST API."""
        return self.machine.airflow.client

    def ask(self, **form: Any) -> str:
        """Start a run; returns its id."""
        self.client.wait_for_dag(DAG)
        return self.client.trigger(DAG, form)

    def wait(self, run_id: str, task_id: str) -> None:
        """Until a question is asked."""
        self.client.wait_for_state(DAG, run_id, task_id, "awaiting_input", _SECONDS)

    def answer(self, run_id: str, task_id: str, option: str, **params: Any) -> None:
        """Answer once it is read, and see that it arrives: where the scheduler of a busy machine takes the task for
        lost before it has read the answer, Airflow asks again.
        """
        asked_at = time.monotonic()

        def state() -> str | None:
            nonlocal asked_at
            (task_instance,) = [t["state"] for t in self.client.task_instances(DAG, run_id) if t["task_id"] == task_id]
            if task_instance != "awaiting_input":
                asked_at = time.monotonic()
            elif time.monotonic() - asked_at > _READING_SECONDS and not self._is_answered(run_id, task_id):
                self.client.answer(DAG, run_id, task_id, option, params)
            return task_instance

        wait_for(
            f"{task_id} of {run_id} to end", state, until={"success", "failed"}.__contains__, seconds=_SECONDS,
            every_s=0.5,
        )  # fmt: skip

    def _is_answered(self, run_id: str, task_id: str) -> bool:
        return bool(self.client.required_action(DAG, run_id, task_id)["response_received"])

    def approve(self, run_id: str) -> str:
        """Say yes, and wait for the commands; returns them."""
        self.answer(run_id, "approve", "Approve")
        self.wait(run_id, "carried_out")
        return str(self.client.required_action(DAG, run_id, "carried_out")["body"])

    def ended(self, run_id: str) -> tuple[str, dict[str, Any]]:
        """The run's state once it has ended, and its row of ``advisor.plan_application``, as a reader sees it."""
        for _ in self.client.follow(DAG, run_id, _SECONDS):
            pass
        with psycopg.connect(self.machine.dsn("advisor"), row_factory=dict_row) as connection:
            connection.execute("SET ROLE advisor_reader")
            query = "SELECT * FROM advisor.plan_application WHERE application_id = %s"
            (row,) = connection.execute(query, [f"{DAG}.{run_id}"]).fetchall()
        return self.client.run_state(DAG, run_id), row

    def log_of(self, run_id: str, task_id: str) -> str:
        """What a task wrote."""
        (task,) = [task for task in self.client.task_instances(DAG, run_id) if task["task_id"] == task_id]
        return self.client.log(DAG, run_id, task)

    def read(self) -> ClusterSnapshot:
        """The cluster now."""
        properties = {"bootstrap.servers": self.cluster.bootstrap}
        return read_cluster(properties, cluster_name=CLUSTER, now=datetime.now(UTC))

    def settled(self) -> ClusterSnapshot:
        """Once every ISR is full again."""
        return in_sync(self.read)


@contextmanager
def applied_cluster(folder: Path, run: Path) -> Iterator[AppliedCluster]:
    """Brokers and Airflow come up side by side; nothing writes to the cluster but Kafka's own tools."""
    machine = Machine(run, settings=BY_HAND)
    _remove(machine)
    machine.run.mkdir(parents=True)
    try:
        with start_cluster(ClusterSpec(racks=RACKS), folder) as cluster, ThreadPoolExecutor(max_workers=1) as beside:
            write_entry(machine.clusters_file, CLUSTER, {"connection": CONNECTION})
            airflow = beside.submit(machine.start)
            create_topics(cluster.bootstrap, PLACEMENT, {})
            fill(cluster.bootstrap, RECORDS)
            airflow.result()
            machine.airflow.client.set_connection(CONNECTION, "kafka", {"bootstrap.servers": cluster.bootstrap})
            yield _published(machine, cluster)
    finally:
        _remove(machine)


def _published(machine: Machine, cluster: KafkaCluster) -> AppliedCluster:
    """A plan as ``advise`` would publish it, without its Spark jobs."""
    start = read_cluster({"bootstrap.servers": cluster.bootstrap}, cluster_name=CLUSTER, now=datetime.now(UTC))
    plan = make_plan(start, PlanOptions(within=0.1, throttle_bytes_per_s=THROTTLE, partitions_per_wave=5))
    folder = machine.published / CLUSTER / RUN
    with store.connect(machine.dsn("advisor")) as connection:
        snapshot_id = store.save_snapshot(connection, start)
        store.mark_snapshot(connection, snapshot_id, is_blocked=False)
        store.start_run(connection, run_id=RUN, cluster=CLUSTER, snapshot_id=snapshot_id)
        store.save_plan(connection, RUN, plan)
        replace_folder(
            folder, plan_folder_files(advisory_document(start, plan, (), ()), plan), plan.plan_id, run_id=RUN
        )
        store.publish_run(connection, RUN)
    return AppliedCluster(machine, cluster, start, plan, folder)


def placement(snapshot: ClusterSnapshot) -> Placement:
    """Replicas in order and leader of each partition."""
    return {(row.topic, row.partition): (row.replicas, row.leader) for row in snapshot.each_partition()}


def planned_placement(applied: AppliedCluster) -> Placement:
    """The start with every move of the plan made."""
    moved = {(move.topic, move.partition): (move.to_replicas, move.leader_to) for move in applied.plan.moves}
    return placement(applied.start) | moved


def _remove(machine: Machine) -> None:
    import shutil

    machine.stop()
    if machine.server is not None:
        machine.server.remove()
    shutil.rmtree(machine.run, ignore_errors=True)
