"""Checks of a plan's folder: every file exists and agrees with the plan.

Judged: ``plan.json``, ``waves/``, ``rollback/``, ``elections/``, ``moves.csv``; duplicate keys of any other JSON file;
the snapshot of ``advisory.json``. ``report.html`` and ``digest.md`` must name the plan.

A text cell of ``moves.csv`` that begins with ``= + - @``, a tab, a line end or ``'`` needs one ``'`` before it.

Promises on the shell blocks of ``commands.md``, in order
1. They hold the commands that execute, stop and roll back the plan, in order, and no other.
2. Each names its wave's file and throttle. Where reassignments ran in the snapshot, it has ``--additional``, because
   Kafka's tool refuses otherwise. Where a list names a broker out of service, throttles are set on the others first,
   because the tool would wait for that broker.
3. The three settings hold only an address or client options.
"""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Mapping
from string import ascii_letters, digits
from typing import Any

from kafka_rebalance.verify.document import UNREADABLE, read_json
from kafka_rebalance.verify.faults import FaultList


def expected_files(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of each JSON file: ``waves/01.json`` …, ``rollback/…``, ``elections/…``.

    rollback/01 undoes the last wave; elections NN run after wave NN, and again after its rollback.
    """
    moves, waves = document["moves"], document["waves"]
    back = document["rollback"]["waves"] if document["rollback"] else []
    digits = max(2, len(str(max(len(waves), len(back)))))
    files: dict[str, Any] = {}
    for number, wave in enumerate(waves, start=1):
        members = [moves[m] for m in wave["moves"]]
        files[f"waves/{number:0{digits}d}.json"] = _reassignment(members, "to")
        changed = [member for member in members if member["leader_from"] != member["leader_to"]]
        if changed:
            pairs = [{"topic": move["topic"], "partition": move["partition"]} for move in changed]
            files[f"elections/{number:0{digits}d}.json"] = {"partitions": pairs}
    for number, wave in enumerate(back, start=1):
        files[f"rollback/{number:0{digits}d}.json"] = _reassignment([moves[m] for m in wave["moves"]], "from")
    return files


def check_files(document: Mapping[str, Any], values: Mapping[str, Any], faults: FaultList) -> None:
    if not names_its_own_moves(document):
        faults.add("file", "plan.waves", "a wave names a move that is not there: its files cannot be judged")
        return
    expected = expected_files(document)
    for name in sorted(expected.keys() - values.keys()):
        faults.add("file", name, "is missing")
    for name in sorted(values.keys() - expected.keys()):
        faults.add("file", name, "does not belong to the plan")
    for name in sorted(expected.keys() & values.keys()):
        if not _is_same(expected[name], values[name]):
            faults.add("file", name, "does not say what the plan says")


def names_its_own_moves(document: Mapping[str, Any]) -> bool:
    count, waves = len(document["moves"]), document["waves"]
    back = document["rollback"]["waves"] if document["rollback"] else []
    members = [wave["moves"] for wave in (*waves, *back)]
    return all(member and min(member) >= 0 and max(member) < count for member in members) and all(
        1 <= move["wave"] <= len(waves) for move in document["moves"]
    )


def _is_same(expected: Any, actual: Any) -> bool:
    """Whether both are equal and of one kind (``true`` is not 1), as deep as ``expected``."""
    if type(expected) is not type(actual):
        return False
    if isinstance(expected, dict):
        return expected.keys() == actual.keys() and all(_is_same(value, actual[key]) for key, value in expected.items())
    if isinstance(expected, list):
        return len(expected) == len(actual) and all(map(_is_same, expected, actual))
    return bool(expected == actual)


def _reassignment(members: list[dict[str, Any]], list_of: str) -> dict[str, Any]:
    rows = [{"topic": m["topic"], "partition": m["partition"], "replicas": m[list_of]} for m in members]
    return {"version": 1, "partitions": rows}


HEAD = (
    "wave", "topic", "partition", "kind", "from", "to", "leader_from", "leader_to", "bytes", "reason_code",
    "reason", "worse_without",
)  # fmt: skip
_WORDS = ("reason", "worse_without")
_TEXTS = ("topic", "kind", "from", "to", "reason_code")
_FORMULA = tuple("=+-@\t\r'")
TABLE = "moves.csv"


def check_table(document: dict[str, Any], content: bytes, faults: FaultList) -> None:
    """Check a row for each move, in order; two columns are free words."""
    try:
        rows = list(csv.reader(io.StringIO(content.decode("utf-8"), newline=""), strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        faults.add("table", TABLE, f"cannot be read ({error})")
        return
    if not rows or tuple(rows[0]) != HEAD:
        faults.add("table", TABLE, f"its columns are not {', '.join(HEAD)}")
        return
    moves = document["moves"]
    if len(rows) - 1 != len(moves):
        faults.add("table", TABLE, f"holds {len(rows) - 1} moves, the plan {len(moves)}")
    for number, (row, move) in enumerate(zip(rows[1:], moves, strict=False)):
        _check_row(row, move, f"{TABLE}:{number + 2}", faults)


def cell_of(text: str) -> str:
    return "'" + text if text.startswith(_FORMULA) else text


def _check_row(row: list[str], move: dict[str, Any], location: str, faults: FaultList) -> None:
    expected = _row_of(move)
    if len(row) != len(expected):
        faults.add("table", location, f"has {len(row)} cells, {len(expected)} are the columns")
        return
    for name, claimed, cell in zip(HEAD, row, expected, strict=True):
        if claimed != cell and name not in _WORDS:
            faults.add("table", location, f"{name} says {claimed[:60]!r}, the plan {cell[:60]!r}")


def _row_of(move: dict[str, Any]) -> list[str]:
    values: dict[str, Any] = {name: move.get(name) for name in HEAD} | {"reason_code": move["reason"]["code"]}
    for name in ("from", "to"):
        values[name] = " ".join(map(str, move[name]))
    cells = ["" if values[name] is None else str(values[name]) for name in HEAD]
    return [cell_of(cell) if name in _TEXTS else cell for name, cell in zip(HEAD, cells, strict=True)]


COMMANDS = "commands.md"
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
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        faults.add("commands", COMMANDS, f"byte {error.start} is no UTF-8")
        return
    lines = _commands_in(text)
    settings = [command for command in lines if _is_setting(command)]
    names = [command.partition("=")[0] for command in settings]
    if names != (list(_SETTINGS) if document["moves"] else []):
        faults.add("commands", COMMANDS, f"sets {', '.join(names) or 'nothing'}")
    expected = _expected(document) if document["moves"] else []
    commands = [command for command in lines if command not in settings]
    for claimed, expected_command in zip(commands, expected, strict=False):
        if _tokens(claimed) != _tokens(expected_command):
            faults.add("commands", COMMANDS, f"says {claimed[:160]!r}, expected {expected_command!r}")
            return
    if len(commands) != len(expected):
        faults.add("commands", COMMANDS, f"{len(commands)} commands, {len(expected)} expected")


def _commands_in(text: str) -> list[str]:
    lines: list[str] = []
    is_fenced = False
    for line in text.splitlines():
        if line.lstrip().startswith(("```", "~~~")):
            is_fenced = not is_fenced
            lines.append("")  # a command ends with its block
        elif is_fenced or line.startswith(("    ", "\t")):
            lines.append(line)
    whole = "\n".join(lines).replace("\\\n", " ").split("\n")
    return [line.strip() for line in whole if line.strip() and not line.lstrip().startswith("#")]


def _is_setting(command: str) -> bool:
    """Whether it is ``NAME=value``, plain or in double quotes, with an optional comment."""
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
        if _elects_alone(document, wave):
            commands.append(f"{_ELECT} --path-to-json-file {election}")
            continue
        commands += _of_wave(document, wave, f"waves/{name}.json", election)
    for number, wave in enumerate(back, start=1):
        if _elects_alone(document, wave):  # Kafka elects the first; no list changed
            continue
        undone = moves[wave["moves"][0]]["wave"]
        election = f"elections/{undone:0{width}d}.json" if elects[undone - 1] else None
        commands += _of_wave(document, wave, f"rollback/{number:0{width}d}.json", election)
    return [*commands, *_THROTTLES]


_ELECT = "kafka-leader-election.sh --bootstrap-server $BOOTSTRAP $ELECTION_CONFIG --election-type preferred"


def _elects_alone(document: dict[str, Any], wave: dict[str, Any]) -> bool:
    return all(document["moves"][m]["from"] == document["moves"][m]["to"] for m in wave["moves"])


def _of_wave(document: dict[str, Any], wave: dict[str, Any], file: str, election: str | None) -> list[str]:
    reassign = f"{_REASSIGN} --reassignment-json-file {file}"
    execute = f"{reassign} --execute{' --additional' if document['seen']['reassigning'] else ''}"
    dead = set(document["seen"]["dead_brokers"])
    moves = [document["moves"][m] for m in wave["moves"]]
    named = {broker for move in moves for broker in move["from"] + move["to"]}
    if named.isdisjoint(dead):
        commands = [f"{execute} --throttle {wave['throttle_bytes_per_s']}"]
    else:
        commands = [*_throttles(moves, sorted(named - dead), wave["throttle_bytes_per_s"]), execute]
    commands.append(f"{reassign} --verify")
    if election is not None:
        commands.append(f"{_ELECT} --path-to-json-file {election}")
    return [*commands, f"{reassign} --cancel"]


def _throttles(moves: list[dict[str, Any]], brokers: list[int], rate: int) -> list[str]:
    topics = sorted({move["topic"] for move in moves if set(move["to"]) - set(move["from"])})
    if not topics:
        return []
    rates = ",".join(f"{key}={rate}" for key in _RATES.split(","))
    replicas = ",".join(f"{key}=*" for key in _REPLICAS.split(","))
    alter, ids = f"do {_CONFIGS} --alter --entity-type", " ".join(map(str, brokers))
    return [
        f"for BROKER in {ids}; {alter} brokers --entity-name $BROKER --add-config {rates}; done",
        f"for TOPIC in {' '.join(topics)}; {alter} topics --entity-name $TOPIC --add-config '{replicas}'; done",
    ]


PLAN = "plan.json"
FOLDERS = ("waves", "rollback", "elections")
PAGES = (COMMANDS, "report.html", "digest.md")


def check_folder(document: dict[str, Any], contents: Mapping[str, bytes], faults: FaultList) -> None:
    values: dict[str, Any] = {}
    for name, content in contents.items():
        if name == PLAN or not name.endswith(".json"):
            continue
        value = read_json(content, name, faults)
        if name.partition("/")[0] in FOLDERS:
            values[name] = value
        elif value is not UNREADABLE:
            _check_same_reading(name, value, document, faults)
    check_files(document, values, faults)
    for name, check in ((COMMANDS, check_shell_blocks), (TABLE, check_table)):
        if name not in contents:
            faults.add("file", name, "is missing")
        elif names_its_own_moves(document):
            check(document, contents[name], faults)
    for name in PAGES:
        if name in contents and document["plan_id"][:12].encode() not in contents[name]:
            faults.add("file", name, "names another plan")


def _check_same_reading(name: str, value: Any, document: dict[str, Any], faults: FaultList) -> None:
    if name != "advisory.json":
        return
    for key in ("cluster", "cluster_id", "captured_at"):
        if not isinstance(value, dict) or value.get(key) != document[key]:
            faults.add("file", f"{name} {key}", "is not the plan's")
