"""Advise real brokers and execute the plan with Kafka's own tool: ``python -m stack.demo.live``.

Starts four brokers in three racks, one of them empty, with producers and consumers. The DAGs read and advise the
cluster; Kafka's own tool executes the waves and rolls them back. Compared: the snapshot with the output of Kafka's
tools, the cluster after the waves with the plan, every acknowledged record with the log. Stops all it started. Exit
code 0 when all checks hold.
"""

from __future__ import annotations

import json
import re
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from kafka_rebalance.snapshot.model import ClusterSnapshot
from rebalance_advisor.kafka.connection.client_log import silence_client
from rebalance_advisor.kafka.read_cluster import read_cluster
from stack.airflow.client import AirflowClient
from stack.airflow.cluster_entries import write_entry
from stack.demo.pipeline import BY_HAND, TimedLog, advise, closing_lines
from stack.demo.run_plan import run_rollback, run_waves
from stack.kafka.live_cluster import LiveCluster, in_sync, short_isr, start_live_cluster
from stack.kafka.tools import NEWEST, KafkaTools, kafka_jars
from stack.kafka.traffic import read_values
from stack.machine import Machine

CLUSTER, CONNECTION = "demo-live", "kafka_demo_live"
_COLLECT_DAG = f"collect_{CLUSTER}"
_COLLECT_SECONDS = 1_800
_BETWEEN_READINGS_S = 35  # rates need two snapshots at least half a minute apart
_COMPACTED = frozenset({"audit"})

Placement = dict[tuple[str, int], tuple[tuple[int, ...], int | None]]


@dataclass(slots=True)
class Checks:
    say: TimedLog
    failed: list[str] = field(default_factory=list)

    def __call__(self, claim: str, is_true: bool, actual: object = "") -> None:  # noqa: FBT001
        self.say(f"{'ok  ' if is_true else 'FAIL'}  {claim}" + ("" if is_true else f": {actual}"))
        if not is_true:
            self.failed.append(claim)


def main() -> int:
    """Exit code 0 when the cluster matched the plan, and its start after the rollback."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    silence_client()
    say, machine = TimedLog(time.monotonic()), Machine(settings=BY_HAND)
    was_running = machine.is_running
    checks = Checks(say)
    for_download = time.monotonic()
    kafka_jars(NEWEST)
    say(f"Kafka's jars are there ({time.monotonic() - for_download:.0f} s)")
    write_entry(machine.clusters_file, CLUSTER, {"connection": CONNECTION})
    try:
        # Brokers are children of this thread and end with it; Airflow starts beside them.
        with ThreadPoolExecutor(max_workers=1) as beside:
            airflow = beside.submit(machine.start, say)
            with start_live_cluster(machine.run / "demo-live") as live_cluster:
                say(f"kafka is up: {live_cluster.cluster.bootstrap}, four brokers, three racks, traffic running")
                airflow.result()
                folder = _advise(machine, live_cluster, say)
                _carry_out(live_cluster, folder, checks)
    except (RuntimeError, TimeoutError) as error:
        print(f"failed: {error}", file=sys.stderr)
        return 1
    finally:
        if not was_running:
            say("stopping")
            machine.stop()
    say("done; " + (f"{len(checks.failed)} claims do not hold" if checks.failed else "every claim holds"))
    return 1 if checks.failed else 0


def _advise(machine: Machine, live_cluster: LiveCluster, say: TimedLog) -> Path:
    client = machine.airflow.client
    client.set_connection(CONNECTION, "kafka", {"bootstrap.servers": live_cluster.cluster.bootstrap})
    _collect(client, say)
    time.sleep(_BETWEEN_READINGS_S)
    published = advise(client, CLUSTER, say)
    print("\n".join(closing_lines(published)), flush=True)
    return Path(published["folder"])


def _collect(client: AirflowClient, say: TimedLog) -> None:
    client.wait_for_dag(_COLLECT_DAG)
    run_id = client.trigger(_COLLECT_DAG, {})
    for _ in client.follow(_COLLECT_DAG, run_id, _COLLECT_SECONDS):
        pass
    if client.run_state(_COLLECT_DAG, run_id) != "success":
        raise RuntimeError(f"{_COLLECT_DAG} {run_id} did not succeed")
    say("first reading taken")


def _carry_out(live_cluster: LiveCluster, folder: Path, checks: Checks) -> None:
    tools = live_cluster.cluster.tools
    plan = json.loads((folder / "plan.json").read_text(encoding="utf-8"))
    start = _read(live_cluster)
    checks("the snapshot agrees with kafka-topics --describe", _placement(start) == _described(tools), "see above")
    present = {key: replicas for key, (replicas, _) in _placement(start).items()}
    stale = [move for move in plan["moves"] if present[move["topic"], move["partition"]] != tuple(move["from"])]
    checks("the plan was made for this placement", not stale, stale[:3])
    checks("the plan moves something", bool(plan["moves"]), plan["verdict"])
    run_waves(tools, folder, say=checks.say)
    expected = _placement(start)
    for move in plan["moves"]:
        expected[move["topic"], move["partition"]] = (tuple(move["to"]), move["leader_to"])
    after = in_sync(lambda: _read(live_cluster))
    _compare(after, expected, "after the waves", checks)
    run_rollback(tools, folder, say=checks.say)
    _compare(in_sync(lambda: _read(live_cluster)), _placement(start), "after the rollback", checks)
    _check_records(live_cluster, checks)


def _compare(snapshot: ClusterSnapshot, expected: Placement, when: str, checks: Checks) -> None:
    actual = _placement(snapshot)
    wrong = {key: (actual[key], expected.get(key)) for key in actual if actual[key] != expected.get(key)}
    checks(f"{when} placement and leaders are as expected", not wrong, dict(list(wrong.items())[:3]))
    checks(f"{when} every ISR is full", not short_isr(snapshot))
    configs = [broker.configs for broker in snapshot.brokers] + [topic.configs for topic in snapshot.topics]
    left = [key for config in configs for key in config if "throttled" in key]
    checks(f"{when} no throttle is left", not left, left)


def _check_records(live_cluster: LiveCluster, checks: Checks) -> None:
    acknowledged = {
        key: number for key, number in list(live_cluster.producer.acknowledged.items()) if key[0] not in _COMPACTED
    }
    values = read_values(live_cluster.cluster.bootstrap, sorted({topic for topic, _, _ in acknowledged}))
    lost = [key for key, number in acknowledged.items() if not values.get(key, b"").startswith(b"%d:" % number)]
    checks(f"none of {len(acknowledged):,} acknowledged records was lost", not lost, lost[:3])
    checks("producers and consumers never failed", not live_cluster.failures, live_cluster.failures[:3])


def _read(live_cluster: LiveCluster) -> ClusterSnapshot:
    return read_cluster(
        {"bootstrap.servers": live_cluster.cluster.bootstrap}, cluster_name=CLUSTER, now=datetime.now(UTC)
    )


def _placement(snapshot: ClusterSnapshot) -> Placement:
    return {(row.topic, row.partition): (row.replicas, row.leader) for row in snapshot.each_partition()}


def _described(tools: KafkaTools) -> Placement:
    rows = re.findall(r"Topic: (\S+)\tPartition: (\d+)\tLeader: (\d+)\tReplicas: (\S+)\t", tools.topics("--describe"))
    return {
        (topic, int(partition)): (tuple(int(broker) for broker in replicas.split(",")), int(leader))
        for topic, partition, leader, replicas in rows
    }


if __name__ == "__main__":
    sys.exit(main())
