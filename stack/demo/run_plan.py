"""Execute a plan's files with Kafka's own tools, as in ``commands.md``: wave, verify, election, next wave."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from stack.kafka.tools import KafkaTools
from stack.waiting import wait_for

_POLL_SECONDS = 1.0


def run_waves(
    tools: KafkaTools, folder: Path, *, say: Callable[[str], None] = lambda _: None, seconds: float = 1_200
) -> None:
    """Execute ``waves/NN.json`` in order, each with the plan's throttle, each followed by its election."""
    waves = _waves(folder)
    for number, wave in enumerate(waves, start=1):
        say(f"wave {number} of {len(waves)}: {len(wave['moves'])} partitions")
        run_wave(tools, folder, number, seconds=seconds)


def run_wave(tools: KafkaTools, folder: Path, number: int, *, seconds: float = 1_200) -> None:
    wave, file = _waves(folder)[number - 1], _numbered(folder / "waves")[number - 1]
    _start(tools, folder, wave, file)
    _wait(tools, file, seconds)
    _elect(tools, folder / "elections" / file.name)


def _waves(folder: Path) -> list[dict[str, Any]]:
    return list(json.loads((folder / "plan.json").read_text(encoding="utf-8"))["waves"])


def run_rollback(
    tools: KafkaTools, folder: Path, *, say: Callable[[str], None] = lambda _: None, seconds: float = 1_200
) -> None:
    """Roll back, last wave first; a wave's election runs again after its rollback."""
    plan = json.loads((folder / "plan.json").read_text(encoding="utf-8"))
    elections = {
        frozenset(wave["moves"]): file.name
        for wave, file in zip(plan["waves"], _numbered(folder / "waves"), strict=True)
    }
    back = plan["rollback"]["waves"]
    for number, (file, wave) in enumerate(zip(_numbered(folder / "rollback"), back, strict=True), start=1):
        say(f"rollback {number} of {len(back)}: {len(wave['moves'])} partitions")
        _start(tools, folder, wave, file)
        _wait(tools, file, seconds)
        _elect(tools, folder / "elections" / elections[frozenset(wave["moves"])])


def _numbered(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.json")) if folder.is_dir() else []


def _start(tools: KafkaTools, folder: Path, wave: dict[str, Any], file: Path) -> None:
    """Start the moves of one file; throttles are set separately if a listed broker is out of service."""
    plan = json.loads((folder / "plan.json").read_text(encoding="utf-8"))
    moves, silent = [plan["moves"][m] for m in wave["moves"]], set(plan["seen"]["dead_brokers"])
    brokers, rate = (
        {broker for move in moves for broker in move["from"] + move["to"]},
        int(wave["throttle_bytes_per_s"]),
    )
    if brokers.isdisjoint(silent):
        tools.execute_reassignment(file, rate)
        return
    topics = {move["topic"] for move in moves if set(move["to"]) - set(move["from"])}
    rates = ",".join(f"{side}.replication.throttled.rate={rate}" for side in ("leader", "follower"))
    replicas = ",".join(f"{side}.replication.throttled.replicas=*" for side in ("leader", "follower"))
    for kind, names, config in (("brokers", sorted(brokers - silent), rates), ("topics", sorted(topics), replicas)):
        for name in names if topics else ():
            tools.configs("--alter", "--entity-type", kind, "--entity-name", str(name), "--add-config", config)
    tools.execute_reassignment(file)


def _wait(tools: KafkaTools, file: Path, seconds: float) -> None:
    """Wait until the tool reports all moves of one file completed, which removes the throttles."""
    wait_for(
        f"the moves of {file.name}", lambda: tools.verify_reassignment(file), seconds=seconds, every_s=_POLL_SECONDS,
        until=lambda output: "still in progress" not in output and "failed" not in output,
    )  # fmt: skip


def _elect(tools: KafkaTools, file: Path) -> None:
    if file.exists():
        tools.elect_preferred(file)
