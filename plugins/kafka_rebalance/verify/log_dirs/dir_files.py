"""The files beside log_dirs.json: Kafka's own JSON of each wave and of the way back, and the commands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka_rebalance.verify.document.strict_json import UNREADABLE, read_json
from kafka_rebalance.verify.faults import FaultList

COMMANDS = "commands.md"
_REASSIGN = "kafka-reassign-partitions.sh --bootstrap-server $BOOTSTRAP $CONFIG --reassignment-json-file"


def check_dir_files(document: Mapping[str, Any], contents: Mapping[str, bytes], faults: FaultList) -> None:
    """``contents`` by path in the folder, without log_dirs.json."""
    expected = _expected(document)
    for name in sorted((expected.keys() | {COMMANDS}) - contents.keys()):
        faults.add("file", name, "is missing")
    for name in sorted(contents.keys() - expected.keys() - {COMMANDS}):
        faults.add("file", name, "does not belong to the plan")
    for name in sorted(expected.keys() & contents.keys()):
        found = read_json(contents[name], name, faults)
        if found is not UNREADABLE and found != expected[name]:
            faults.add("file", name, "does not say what the plan says")
    if COMMANDS in contents:
        _check_commands(document, contents[COMMANDS].decode("utf-8", "replace"), faults)


def _expected(document: Mapping[str, Any]) -> dict[str, Any]:
    waves, moves, files = document["waves"], document["moves"], dict[str, Any]()
    digits = max(2, len(str(len(waves))))
    for number, wave in enumerate(waves, start=1):
        members = [moves[m] for m in wave["moves"]]
        files[f"waves/{number:0{digits}d}.json"] = _reassignment(members, "dirs_to")
        files[f"rollback/{len(waves) + 1 - number:0{digits}d}.json"] = _reassignment(members, "dirs_from")
    return files


def _reassignment(members: list[dict[str, Any]], dirs: str) -> dict[str, Any]:
    rows = [
        {
            "topic": move["topic"],
            "partition": move["partition"],
            "replicas": move["replicas"],
            "log_dirs": ["any" if path is None else path for path in move[dirs]],
        }
        for move in members
    ]
    return {"version": 1, "partitions": rows}


def _check_commands(document: Mapping[str, Any], text: str, faults: FaultList) -> None:
    """Every line that calls Kafka's tool, in order; a line that ends in a backslash goes on."""
    lines = [" ".join(line.split()) for line in text.replace("\\\n", " ").splitlines()]
    found = [line for line in lines if line.startswith("kafka-")]
    throttle = document["parameters"]["throttle_bytes_per_s"]
    names = sorted(_expected(document), key=lambda name: (name.startswith("rollback/"), name))
    wanted = [
        f"{_REASSIGN} {name} --{verb}"
        for name in names
        for verb in (f"execute --replica-alter-log-dirs-throttle {throttle}", "verify", "cancel")
    ]
    if found != wanted:
        faults.add(
            "commands", COMMANDS, f"holds {len(found)} commands of Kafka's tool that are not the plan's {len(wanted)}"
        )
    if document["plan_id"][:12] not in text:
        faults.add("commands", COMMANDS, "does not name this plan")
