"""What damaged inputs are put to, by kind: each function writes its input below a folder, and reads it as users do.

``True`` is "read" (or judged, or answered), a raised AdvisorError a refusal; anything else that is raised is a crash.
"""

from __future__ import annotations

import contextlib
import io
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.check import check_plan
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import plan_id, to_document
from kafka_rebalance.scoring.snapshot_scores import score_cluster
from kafka_rebalance.snapshot.codec import snapshot_from_document, snapshot_id, snapshot_to_document
from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.verify import verify_plan
from rebalance_advisor.airflow.clusters import read_clusters
from rebalance_advisor.cli.arguments import read_plan, read_previous
from rebalance_advisor.cli.replay import answer_lines
from rebalance_advisor.dumps import read_capacity, read_input
from rebalance_advisor.kafka.connection.java_properties import read_properties
from rebalance_advisor.kafka.connection.properties import connection_settings
from tests.fuzz import whole_inputs as whole
from tests.fuzz.damage import Draw, damaged_document, damaged_json, damaged_text, json_text

PLANNED_SHARE = 0.04  # of the snapshots that are read
Reader = Callable[[Draw, Path], None]


class RefusedLineError(Exception):
    """``replay`` answers a line that it cannot take with its refusal: the text of it."""


def _follow(draw: Draw, snapshot: ClusterSnapshot) -> None:
    """What is done with every snapshot, and for some the plan: figures that pass the reader must not break these."""
    document = snapshot_to_document(snapshot)
    again = snapshot_from_document(json.loads(json.dumps(document)))
    assert snapshot_id(again) == snapshot_id(snapshot), "the snapshot is another one after it was written and read"
    if len(snapshot.partitions):
        score_cluster(snapshot)
    if draw.random() < PLANNED_SHARE:
        plan = make_plan(snapshot, PlanOptions(with_frontier=False))
        verify_plan(to_document(plan), snapshot)


def _file(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def read_dump_folder(draw: Draw, folder: Path) -> None:
    """One or two files of a folder of dumps are damaged."""
    files = dict(whole.folder(draw))
    damaged = draw.sample(sorted(files), draw.choice((1, 1, 2)))
    for name, text in files.items():
        _file(folder, name, damaged_text(draw, text) if name in damaged else text.encode())
    _follow(draw, read_input(folder))


def read_snapshot(draw: Draw, folder: Path) -> None:
    """A snapshot as JSON."""
    data = damaged_json(draw, whole.snapshot_document(draw.randrange(whole.SAMPLES)))
    _follow(draw, read_input(_file(folder, "snapshot.json", data)))


def read_model(draw: Draw, folder: Path) -> None:
    """A cluster model."""
    data = damaged_json(draw, whole.model_document(draw.randrange(whole.SAMPLES)))
    _follow(draw, read_input(_file(folder, "model.json", data)))


def read_reassignment(draw: Draw, folder: Path) -> None:
    """Kafka's reassignment JSON, alone or as the tool prints it."""
    number = draw.randrange(whole.SAMPLES)
    if draw.random() < 0.3:
        data = damaged_text(draw, whole.printed_reassignment(number))
    else:
        data = damaged_json(draw, whole.reassignment_document(number))
    _follow(draw, read_input(_file(folder, "reassignment.json", data)))


def read_capacity_csv(draw: Draw, folder: Path) -> None:
    """Our capacity CSV."""
    read_capacity(_file(folder, "capacity.csv", damaged_text(draw, whole.CAPACITY_CSV)))


def read_capacity_json(draw: Draw, folder: Path) -> None:
    """Cruise Control's capacity JSON."""
    read_capacity(_file(folder, "capacity.json", damaged_json(draw, whole.CRUISE_CONTROL)))


def read_client_properties(draw: Draw, folder: Path) -> None:
    """A client properties file, down to the settings of a connection."""
    properties = read_properties(_file(folder, "client.properties", damaged_text(draw, whole.PROPERTIES)))
    connection_settings(properties.values, locations=properties.locations, source=str(folder / "client.properties"))


def read_cluster_list(draw: Draw, folder: Path) -> None:
    """``clusters.toml``."""
    listed = read_clusters(_file(folder, "clusters.toml", damaged_text(draw, whole.CLUSTERS)))
    for refusal in listed.refused.values():
        raise refusal


def _damaged_plan(draw: Draw, document: dict[str, Any]) -> bytes:
    """Half of the plans get a hash that fits what they say now: what is behind the seal must hold, too."""
    if draw.random() < 0.5:
        return damaged_json(draw, document)
    damaged = damaged_document(draw, document)
    with contextlib.suppress(TypeError, ValueError, AttributeError, RecursionError):
        damaged["plan_id"] = plan_id(json.loads(json_text(draw, damaged)))
    return json_text(draw, damaged).encode("utf-8", "surrogatepass")


def verify_damaged(draw: Draw, folder: Path) -> None:
    """A plan put to ``verify``."""
    document, snapshot, _ = whole.plan_document(draw.choice(whole.PLANS))
    plan = read_plan(_file(folder, "plan.json", _damaged_plan(draw, document)))
    verify_plan(plan, snapshot)


def check_damaged(draw: Draw, folder: Path) -> None:
    """A plan put to ``check``, on its own cluster or on another."""
    number = draw.choice(whole.PLANS)
    document, snapshot, _ = whole.plan_document(number)
    plan = read_plan(_file(folder, "plan.json", _damaged_plan(draw, document)))
    check_plan(plan, snapshot if draw.random() < 0.8 else whole.sample(number + 1))


def plan_after_damaged(draw: Draw, folder: Path) -> None:
    """A plan given as ``--previous``."""
    document, snapshot, options = whole.plan_document(draw.choice(whole.PLANS))
    previous = read_previous(_file(folder, "plan.json", _damaged_plan(draw, document)))
    make_plan(snapshot, options, previous=previous)


def answer_damaged(draw: Draw, folder: Path) -> None:
    """A line of ``replay``."""
    data = damaged_json(draw, draw.choice(whole.replay_cases()))
    line = " ".join(data.decode("utf-8", "replace").split("\n"))
    answers = io.StringIO()
    code = answer_lines(io.StringIO(line + "\n"), answers)
    if code:
        raise RefusedLineError(json.loads(answers.getvalue().splitlines()[-1])["error"])


KINDS: dict[str, Reader] = {
    "folder of dumps": read_dump_folder,
    "snapshot": read_snapshot,
    "cluster model": read_model,
    "reassignment": read_reassignment,
    "capacity CSV": read_capacity_csv,
    "capacity JSON": read_capacity_json,
    "properties": read_client_properties,
    "clusters.toml": read_cluster_list,
    "plan, verify": verify_damaged,
    "plan, check": check_damaged,
    "plan, --previous": plan_after_damaged,
    "replay line": answer_damaged,
}


def draw_of(kind: str, seed: int) -> Draw:
    """The same input for the same seed, whatever ran before."""
    return random.Random(f"{kind} {seed}")
