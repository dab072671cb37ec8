"""The shell blocks of ``commands.md`` against the plan: what a person copies into a shell, in order, and nothing else.

Promises, in order
1. The blocks hold the commands that carry the plan out, stop it and take it back, in order, and no other command.
2. Each names the file of its wave, and the wave's throttle. Where reassignments ran when the snapshot was taken, it
   starts beside them (``--additional``): Kafka's tool refuses otherwise. Where a list names a broker that was not in
   service, throttles are set on the others first: the tool would wait for that broker, and move nothing.
3. The three settings hold no more than an address or the options of a client.
Words around the blocks are free: nothing reads them.
"""

from __future__ import annotations

import shlex
from string import ascii_letters, digits
from typing import Any

from kafka_rebalance.verify.faults import FaultList

NAME = "commands.md"
_ADDRESS = frozenset(ascii_letters + digits + "_.:,[]-")
_OPTIONS = _ADDRESS | frozenset(" /")
_SETTINGS = {"BOOTSTRAP": _ADDRESS, "CONFIG": _OPTIONS, "ELECTION_CONFIG": _OPTIONS}
_REASSIGN = "kafka-reassign-partitions.sh --bootstrap-server $BOOTSTRAP $CONFIG"
_CONFIGS = "kafka-configs.sh --bootstrap-server $BOOTSTRAP $CONFIG"
_RATES, _REPLICAS = (
    f"leader.replication.throttled.{what},follower.replication.throttled.{what}" for what in ("rate", "replicas")
)
_THROTTLES = (
    f"{_CONFIGS} --describe --entity-type brokers | grep throttled",
    f"{_CONFIGS} --describe --entity-type topics | grep throttled",
    f"{_REASSIGN} --list",
    f"{_CONFIGS} --alter --entity-type brokers --entity-name $BROKER --delete-config {_RATES}",
    f"{_CONFIGS} --alter --entity-type topics --entity-name $TOPIC --delete-config {_REPLICAS}",
)


def check_shell_blocks(document: dict[str, Any], content: bytes, faults: FaultList) -> None:
    """Judge the whole file."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        faults.add("commands", NAME, f"byte {error.start} is no UTF-8")
        return
    found = _commands_in(text)
    settings = [command for command in found if _is_setting(command)]
    names = [command.partition("=")[0] for command in settings]
    if names != (list(_SETTINGS) if document["moves"] else []):
        faults.add("commands", NAME, f"sets {', '.join(names) or 'nothing'}")
    expected = _expected(document) if document["moves"] else []
    commands = [command for command in found if command not in settings]
    for claimed, wanted in zip(commands, expected, strict=False):
        if _tokens(claimed) != _tokens(wanted):
            faults.add("commands", NAME, f"says {claimed[:160]!r}, expected {wanted!r}")
            return
    if len(commands) != len(expected):
        faults.add("commands", NAME, f"{len(commands)} commands, {len(expected)} expected")


def _commands_in(text: str) -> list[str]:
    """Everything in a fence, or indented; a line that ends in a backslash goes on; comments are none."""
    lines: list[str] = []
    is_fenced = False
    for line in text.splitlines():
        if line.lstrip().startswith(("```", "~~~")):
            is_fenced = not is_fenced
            lines.append("")  # a command does not go on behind its block
        elif is_fenced or line.startswith(("    ", "\t")):
            lines.append(line)
    whole = "\n".join(lines).replace("\\\n", " ").split("\n")
    return [line.strip() for line in whole if line.strip() and not line.lstrip().startswith("#")]


def _is_setting(command: str) -> bool:
    """``NAME=value`` of one of the three, the value plain or in double quotes, a comment after it."""
    name, is_set, value = command.partition("=")
    if not is_set or name not in _SETTINGS:
        return False
    plain = value.partition("#")[0].rstrip() if " #" in value or value.startswith("#") else value.rstrip()
    is_quoted = len(plain) > 1 and plain[0] == plain[-1] == '"'
    inner = plain[1:-1] if is_quoted else plain
    return set(inner) <= (_SETTINGS[name] if is_quoted else _ADDRESS)


def _tokens(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return [command]


def _expected(document: dict[str, Any]) -> list[str]:
    moves, waves, rollback = document["moves"], document["waves"], document["rollback"]
    back = rollback["waves"] if rollback else []
    width = max(2, len(str(max(len(waves), len(back)))))
    elects = [any(moves[m]["leader_from"] != moves[m]["leader_to"] for m in wave["moves"]) for wave in waves]
    commands: list[str] = []
    for number, wave in enumerate(waves, start=1):
        name = f"{number:0{width}d}"
        election = f"elections/{name}.json" if elects[number - 1] else None
        commands += _of_wave(document, wave, f"waves/{name}.json", election)
    for number, wave in enumerate(back, start=1):
        undone = moves[wave["moves"][0]]["wave"]
        election = f"elections/{undone:0{width}d}.json" if elects[undone - 1] else None
        commands += _of_wave(document, wave, f"rollback/{number:0{width}d}.json", election)
    return [*commands, *_THROTTLES]


def _of_wave(document: dict[str, Any], wave: dict[str, Any], file: str, election: str | None) -> list[str]:
    reassign = f"{_REASSIGN} --reassignment-json-file {file}"
    execute = f"{reassign} --execute{' --additional' if document['seen']['reassigning'] else ''}"
    silent = set(document["seen"]["dead_brokers"])
    moves = [document["moves"][m] for m in wave["moves"]]
    named = {broker for move in moves for broker in move["from"] + move["to"]}
    if named.isdisjoint(silent):
        commands = [f"{execute} --throttle {wave['throttle_bytes_per_s']}"]
    else:
        commands = [*_throttles(moves, sorted(named - silent), wave["throttle_bytes_per_s"]), execute]
    commands.append(f"{reassign} --verify")
    if election is not None:
        elect = "kafka-leader-election.sh --bootstrap-server $BOOTSTRAP $ELECTION_CONFIG --election-type preferred"
        commands.append(f"{elect} --path-to-json-file {election}")
    return [*commands, f"{reassign} --cancel"]


def _throttles(moves: list[dict[str, Any]], brokers: list[int], rate: int) -> list[str]:
    """One loop over brokers, one over topics that are copied; none where nothing is."""
    topics = sorted({move["topic"] for move in moves if set(move["to"]) - set(move["from"])})
    if not topics:
        return []
    rates = ",".join(f"{key}={rate}" for key in _RATES.split(","))
    replicas = ",".join(f"{key}=*" for key in _REPLICAS.split(","))
    alter, each = f"do {_CONFIGS} --alter --entity-type", " ".join(map(str, brokers))
    return [
        f"for BROKER in {each}; {alter} brokers --entity-name $BROKER --add-config {rates}; done",
        f"for TOPIC in {' '.join(topics)}; {alter} topics --entity-name $TOPIC --add-config '{replicas}'; done",
    ]
