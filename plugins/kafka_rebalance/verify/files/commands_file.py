"""``commands.md`` against the plan: what a person copies into a shell, in order, and the figures beside it.

Promises, in order
1. The shell blocks hold the commands that carry the plan out, stop it and take it back, in order, and no other command.
   (Folders written before there was a section about throttles tell neither how to stop a wave nor of throttles.)
2. Each names the file of its wave, and the wave's throttle. Where reassignments ran when the snapshot was taken, it
   starts beside them (``--additional``): Kafka's tool refuses otherwise. Where a list names a broker that was not in
   service, throttles are set on the others first: the tool would wait for that broker, and move nothing.
3. Headings name the plan, each wave and each rollback; the figures beside them are the plan's.
Prose around them may be worded freely.
"""

from __future__ import annotations

import html
import re
import shlex
from dataclasses import dataclass, field
from typing import Any

from kafka_rebalance.verify.document.spoken_amounts import tells_bytes, tells_count, tells_seconds
from kafka_rebalance.verify.faults import FaultList

NAME = "commands.md"
_SETTING = re.compile(
    r"BOOTSTRAP=[\w.:,\[\]-]*\s*(?:#.*)?"
    r"""|(?:CONFIG|ELECTION_CONFIG)=(?:"[\w ./-]*")?\s*(?:#.*)?""",
    re.ASCII,
)
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_WAVE = re.compile(
    r"([\d,]+) partitions, (.+?), ([^;]+?)(?:; free disk needed on a broker at most ([^;]+?))?"
    r"(?:; ([\d,]+) leaders change, and with them their clients(?: \((.+)\))?)?\."
)
_WHOLE = re.compile(
    r"([\d,]+) replicas are copied \((.+?)\), ([\d,]+) leaders change, "
    r"in (\d+) waves? of together (.+) at the throttle\."
)
_BACK = re.compile(r"Takes back what was done, last wave first: ([\d,]+) replicas \((.+?)\), (.+?)\. .*")


@dataclass(slots=True)
class _Section:
    """A heading with what follows it: prose, and the commands of its shell blocks."""

    heading: str
    prose: list[str] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)


_REASSIGN = "kafka-reassign-partitions.sh --bootstrap-server $BOOTSTRAP $CONFIG"
_CONFIGS = "kafka-configs.sh --bootstrap-server $BOOTSTRAP $CONFIG"
_RATES, _REPLICAS = (
    f"leader.replication.throttled.{what},follower.replication.throttled.{what}" for what in ("rate", "replicas")
)
_THROTTLES = _Section(
    "# Throttles",
    commands=[
        f"{_CONFIGS} --describe --entity-type brokers | grep throttled",
        f"{_CONFIGS} --describe --entity-type topics | grep throttled",
        f"{_REASSIGN} --list",
        f"{_CONFIGS} --alter --entity-type brokers --entity-name $BROKER --delete-config {_RATES}",
        f"{_CONFIGS} --alter --entity-type topics --entity-name $TOPIC --delete-config {_REPLICAS}",
    ],
)


def check_commands(document: dict[str, Any], content: bytes, faults: FaultList) -> None:
    """The whole file."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        faults.add("commands", NAME, f"byte {error.start} is no UTF-8")
        return
    sections = _sections(text, faults)
    if not document["moves"]:
        _check_idle(document, sections, faults)
        return
    headings = [section.heading for section in sections]
    expected = _expected(document, is_stoppable=_THROTTLES.heading in headings)
    if headings != [command.heading for command in expected]:
        missing = [command.heading for command in expected if command.heading not in headings]
        faults.add("commands", NAME, f"its headings are not the plan's (missing: {missing[:1]})")
        return
    for found, wanted in zip(sections, expected, strict=True):
        _check_section(found, wanted, faults)
    _check_figures(document, sections, faults)


def _check_idle(document: dict[str, Any], sections: list[_Section], faults: FaultList) -> None:
    if any(section.commands for section in sections):
        faults.add("commands", NAME, "holds commands, and nothing is to be done")
    if [section.heading for section in sections] != [f"# Plan {document['plan_id']}"]:
        faults.add("commands", NAME, "does not name this plan")
    elif not any(document["verdict"] in line for line in sections[0].prose):
        faults.add("commands", NAME, "does not say the plan's verdict")


def _check_section(found: _Section, wanted: _Section, faults: FaultList) -> None:
    commands = [command for command in found.commands if not _SETTING.fullmatch(command)]
    for claimed, expected in zip(commands, wanted.commands, strict=False):
        if _tokens(claimed) != _tokens(expected):
            faults.add("commands", f"{NAME} {found.heading}", f"says {claimed[:160]!r}, expected {expected!r}")
            return
    if len(commands) != len(wanted.commands):
        faults.add("commands", f"{NAME} {found.heading}", f"{len(commands)} commands, {len(wanted.commands)} expected")
    settings = [command.partition("=")[0] for command in found.commands if _SETTING.fullmatch(command)]
    first = wanted.heading.startswith("# Commands")
    if settings != (["BOOTSTRAP", "CONFIG", "ELECTION_CONFIG"] if first else []):
        faults.add("commands", f"{NAME} {found.heading}", f"sets {', '.join(settings) or 'nothing'}")


def _tokens(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return [command]


def _sections(text: str, faults: FaultList) -> list[_Section]:
    """Split at headings. Everything in a fence, or indented, is a command."""
    sections: list[_Section] = []
    block: list[str] | None = None
    for line in text.splitlines():
        is_edge = line.lstrip().startswith(("```", "~~~"))
        if not sections and not line.startswith("#"):
            faults.add("commands", NAME, "does not begin with a heading")
            return []
        if is_edge and block is not None:
            sections[-1].commands.extend(_commands_in(block))
        if is_edge:
            block = [] if block is None else None
        elif block is not None:
            block.append(line)
        elif line.startswith("#"):
            sections.append(_Section(line.strip()))
        else:
            sections[-1].prose.append(line)
            sections[-1].commands.extend([line.strip()] if line.startswith(("    ", "\t")) else [])
    if block is not None:
        faults.add("commands", NAME, "ends within a block of commands")
    return sections


def _commands_in(block: list[str]) -> list[str]:
    """A line that ends in a backslash goes on; comments are none."""
    whole = "\n".join(block).replace("\\\n", " ").split("\n")
    return [line.strip() for line in whole if line.strip() and not line.lstrip().startswith("#")]


def _expected(document: dict[str, Any], *, is_stoppable: bool) -> list[_Section]:
    moves, waves, rollback = document["moves"], document["waves"], document["rollback"]
    back = rollback["waves"] if rollback else []
    digits = max(2, len(str(max(len(waves), len(back)))))
    elects = [any(moves[m]["leader_from"] != moves[m]["leader_to"] for m in wave["moves"]) for wave in waves]
    is_beside_others = bool(document["seen"]["reassigning"])
    sections = [_Section(f"# Commands of plan {document['plan_id'][:12]}")]
    for number, wave in enumerate(waves, start=1):
        name = f"{number:0{digits}d}"
        election = f"elections/{name}.json" if elects[number - 1] else None
        commands = _commands(document, wave, f"waves/{name}.json", election, is_beside_others=is_beside_others)
        commands += [_cancel(f"waves/{name}.json")] * is_stoppable
        sections.append(_Section(f"## Wave {name}", commands=commands))
    sections.append(_Section("# Rollback" if back else "## Rollback"))
    for number, wave in enumerate(back, start=1):
        name, undone = f"{number:0{digits}d}", moves[wave["moves"][0]]["wave"]
        election = f"elections/{undone:0{digits}d}.json" if elects[undone - 1] else None
        commands = _commands(document, wave, f"rollback/{name}.json", election, is_beside_others=is_beside_others)
        commands += [_cancel(f"rollback/{name}.json")] * is_stoppable
        sections.append(_Section(f"## Rollback {name} (undoes wave {undone:0{digits}d})", commands=commands))
    return [*sections, _THROTTLES] if is_stoppable else sections


def _cancel(file: str) -> str:
    return f"{_REASSIGN} --reassignment-json-file {file} --cancel"


def _commands(
    document: dict[str, Any], wave: dict[str, Any], file: str, election: str | None, *, is_beside_others: bool
) -> list[str]:
    reassign = f"{_REASSIGN} --reassignment-json-file {file}"
    execute = "--execute --additional" if is_beside_others else "--execute"
    silent = set(document["seen"]["dead_brokers"])
    moves = [document["moves"][m] for m in wave["moves"]]
    named = {broker for move in moves for broker in move["from"] + move["to"]}
    if named.isdisjoint(silent):
        commands = [f"{reassign} {execute} --throttle {wave['throttle_bytes_per_s']}"]
    else:
        commands = [*_throttles(moves, sorted(named - silent), wave["throttle_bytes_per_s"]), f"{reassign} {execute}"]
    commands.append(f"{reassign} --verify")
    if election is not None:
        elect = "kafka-leader-election.sh --bootstrap-server $BOOTSTRAP $ELECTION_CONFIG --election-type preferred"
        commands.append(f"{elect} --path-to-json-file {election}")
    return commands


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


def _check_figures(document: dict[str, Any], sections: list[_Section], faults: FaultList) -> None:
    cost, rollback = document["cost"], document["rollback"]
    waves, head = document["waves"], sections[0]
    claimed = [_as_it_reads(line[2:]) for line in head.prose if line.startswith("- ")]
    if claimed != document["preconditions"]:
        faults.add("commands", f"{NAME} {head.heading}", "its preconditions are not the plan's")
    match = _first(_WHOLE, head)
    if match is None or not (
        tells_count(match[1], cost["replica_moves"])
        and tells_bytes(match[2], cost["bytes"])
        and tells_count(match[3], cost["leader_changes"])
        and tells_count(match[4], len(waves))
        and tells_seconds(match[5], cost["seconds"])
    ):
        faults.add("commands", f"{NAME} {head.heading}", "does not tell what the plan costs")
    for wave, section in zip(waves, sections[1:], strict=False):
        _check_wave(wave, section, faults)
    back = rollback["waves"] if rollback else []
    if not back:
        return
    whole = sections[1 + len(waves)]
    match = _first(_BACK, whole)
    if match is None or not (
        tells_count(match[1], rollback["replica_moves"])
        and tells_bytes(match[2], rollback["bytes"])
        and tells_seconds(match[3], rollback["seconds"])
    ):
        faults.add("commands", f"{NAME} {whole.heading}", "does not tell what going back costs")
    reported = [line.partition(" ")[0] for line in whole.prose if "are not undone" in line]
    lost = len(rollback["not_undone"])
    if reported != ([f"{lost:,}"] if lost else []):
        faults.add("commands", f"{NAME} {whole.heading}", f"does not tell that {lost} moves are not undone")
    for wave, section in zip(back, sections[2 + len(waves) :], strict=False):
        _check_wave(wave, section, faults)


def _check_wave(wave: dict[str, Any], section: _Section, faults: FaultList) -> None:
    match = _first(_WAVE, section)
    needed = max(wave["free_disk_needed"].values(), default=0)
    is_right = match is not None and (
        tells_count(match[1], len(wave["moves"]))
        and tells_bytes(match[2], wave["bytes"])
        and tells_seconds(match[3], wave["seconds"])
        and _tells(match[4], needed or None)
        and _tells_leaders(match, wave)
    )
    if not is_right:
        faults.add("commands", f"{NAME} {section.heading}", "does not tell the figures of this wave")


def _tells_leaders(match: re.Match[str], wave: dict[str, Any]) -> bool:
    """How many leaders change, with what they carry as far as that is known; nothing where none does."""
    if not wave["leader_changes"]:
        return match[5] is None
    rates = (wave["leader_in_bytes_per_s"], wave["leader_out_bytes_per_s"])
    claimed = match[6].split(", ") if match[6] else []
    known = [(rate, f"/s {what}") for rate, what in zip(rates, ("written", "read"), strict=True) if rate is not None]
    is_counted = match[5] is not None and tells_count(match[5], wave["leader_changes"])
    return (
        is_counted
        and len(claimed) == len(known)
        and all(
            words.endswith(end) and tells_bytes(words.removesuffix(end), rate)
            for words, (rate, end) in zip(claimed, known, strict=True)
        )
    )


def _tells(words: str | None, amount: float | None) -> bool:
    return words is None if amount is None else words is not None and tells_bytes(words, amount)


def _as_it_reads(line: str) -> str:
    """Markdown's escapes undone: a backslash before punctuation, and entities."""
    return html.unescape(_ESCAPED.sub(r"\1", line))


def _first(pattern: re.Pattern[str], section: _Section) -> re.Match[str] | None:
    return next((match for line in section.prose if (match := pattern.fullmatch(line.strip()))), None)
