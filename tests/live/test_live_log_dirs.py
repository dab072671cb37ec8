"""A plan between log dirs, carried out by Kafka's own tool: one dir is emptied, watched, and filled again."""

import json
import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest

from kafka_rebalance.log_dir_plans.plan import DirMoveState, progress_of
from kafka_rebalance.snapshot.codec import snapshot_to_document
from kafka_rebalance.snapshot.model import ClusterSnapshot
from rebalance_advisor.cli.main import main
from rebalance_advisor.kafka.read_cluster import read_cluster
from stack.kafka.cluster import ClusterSpec, KafkaCluster, start_cluster
from stack.kafka.setup import create_topics, fill
from stack.waiting import wait_for

pytestmark = pytest.mark.live
THROTTLE = 700_000


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaCluster]:
    spec = ClusterSpec(racks={1: "a", 2: "b"}, log_dirs_per_broker=2)
    with start_cluster(spec, tmp_path_factory.mktemp("dirs") / "cluster") as started:
        create_topics(started.bootstrap, {"orders": [[1, 2], [2, 1], [1, 2], [2, 1]], "clicks": [[1], [1], [1]]}, {})
        fill(started.bootstrap, {"orders": 6_000, "clicks": 4_000})
        yield started


def read(cluster: KafkaCluster) -> ClusterSnapshot:
    return read_cluster({"bootstrap.servers": cluster.bootstrap}, cluster_name="dirs", now=datetime.now(UTC))


def in_dir(cluster: KafkaCluster, broker: int, path: str) -> set[str]:
    """What Kafka's own tool says lies there, or is coming."""
    (broker_row,) = [row for row in cluster.tools.log_dirs()["brokers"] if row["broker"] == broker]
    (dir_row,) = [row for row in broker_row["logDirs"] if row["logDir"] == path]
    return {partition["partition"] for partition in dir_row["partitions"]}


def commands(folder: Path, heading: str) -> str:
    """The command of commands.md that starts one wave."""
    text = (folder / "commands.md").read_text().replace("\\\n", " ")
    return next(line for line in text.partition(heading)[2].splitlines() if "--execute" in line)


def carry_out(cluster: KafkaCluster, folder: Path, kind: str, heading: str) -> list[set[DirMoveState]]:
    """Each file as commands.md says, until the tool calls it done; the states that were seen meanwhile."""
    document, seen = json.loads((folder / "log_dirs.json").read_text()), []
    for file in sorted((folder / kind).glob("*.json")):
        command = commands(folder, f"## {heading} {file.stem}")
        throttle = re.search(r"--replica-alter-log-dirs-throttle (\d+)", command)
        assert throttle is not None
        arguments = (
            "--reassignment-json-file",
            str(file),
            "--execute",
            "--replica-alter-log-dirs-throttle",
            throttle[1],
        )
        states: set[DirMoveState] = set()
        # Read while the tool still runs: on a busy machine the moves may be done when it has ended.
        with ThreadPoolExecutor(max_workers=1) as beside:
            begun = beside.submit(cluster.tools.reassign, *arguments)
            while not begun.done():
                states |= set(progress_of(document, read(cluster)).states)
            begun.result()
        seen.append(states | set(progress_of(document, read(cluster)).states))
        said = wait_for(
            f"the moves of {file.name}", lambda file=file: cluster.tools.verify_reassignment(file),
            until=lambda said: "still in progress" not in said,
        )  # fmt: skip
        assert "failed" not in said
    return seen


def test_one_dir_is_emptied_by_kafkas_own_tool_and_put_back(
    cluster: KafkaCluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    start = read(cluster)
    victim = start.brokers[0].log_dirs[0].path
    before = in_dir(cluster, 1, victim)
    assert before
    source, out = tmp_path / "start.json", tmp_path / "out"
    source.write_bytes(orjson.dumps(snapshot_to_document(start)))
    arguments = ["--remove-log-dir", f"1:{victim}", "--throttle", f"{THROTTLE}B", "--out", str(out)]
    assert main(["plan", str(source), *arguments]) == 0
    assert main(["verify", str(out), str(source)]) == 0
    plan: dict[str, Any] = json.loads((out / "log_dirs.json").read_text())
    assert plan["replica_moves"] == len(before)
    assert plan["dir_bytes"] == plan["lower_bound_bytes"] > 0
    began = time.monotonic()
    seen = carry_out(cluster, out, "waves", "Wave")
    took = time.monotonic() - began
    assert DirMoveState.MOVING in set().union(*seen)
    assert in_dir(cluster, 1, victim) == set()
    after = read(cluster)
    assert progress_of(plan, after).is_done
    assert {(row.topic, row.partition): row.replicas for row in after.each_partition()} == {
        (row.topic, row.partition): row.replicas for row in start.each_partition()
    }
    later = tmp_path / "later.json"
    later.write_bytes(orjson.dumps(snapshot_to_document(after)))
    assert main(["check", str(out), str(later)]) == 11
    assert not any(broker.configs.get("replica.alter.log.dirs.io.max.bytes.per.second") for broker in after.brokers)
    carry_out(cluster, out, "rollback", "Rollback")
    assert in_dir(cluster, 1, victim) == before
    capsys.readouterr()
    print(f"\n{len(before)} replicas, {plan['dir_bytes']:,} bytes out of {victim} in {took:.1f} s "
          f"(plan: {plan['seconds']:.1f} s)")  # fmt: skip
