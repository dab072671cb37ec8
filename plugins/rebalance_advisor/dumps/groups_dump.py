"""Read output of ``kafka-consumer-groups --describe --all-groups`` and ``kafka-share-groups``.

Headers identify blocks: offsets, ``--members --verbose``, ``--state``, ``--list --type``. Dumps that disagree were
taken during a rebalance, which is a gap. Java pads columns, so a cell begins below its name and may have blanks. Rows
without padding need as many words as the header.

Assignments: ``orders(0,1), payments(2)`` up to 3.6; ``(0,1), (2)`` from 3.7 to 3.9, without topic names;
``orders:0,1;payments:2`` from 4.0. ``-`` is empty.

Before Kafka 2.4 there is no GROUP column; the oldest tool has OWNER, like ConsumerOffsetChecker. The command above
(``--group billing``) or the printed sentence names the group for one table. Else the file's name does
(``members-billing.txt``), with a gap.

``kafka-get-offsets`` prints ``topic:partition:offset``: start or end offsets. The command above decides (default:
latest), else the file's name (``earliest.txt``). Of two dumps, the one that is nowhere greater has the start offsets. A
single dump is compared with others, else left out with a gap: start offsets must never serve as end offsets.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import combinations
from pathlib import PurePosixPath

from kafka_assignors.errors import InvalidInputError
from kafka_assignors.visible_text import excerpt
from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.groups.motion import REBALANCING
from kafka_rebalance.snapshot.group import Tasks
from kafka_rebalance.snapshot.model import CommittedOffset, CoverageGap, Group, GroupType, Member, TopicPartitions
from rebalance_advisor.dumps.text_lines import (
    LARGEST_LONG,
    Command,
    Line,
    first_printed_line,
    lines_and_commands,
    whole_number,
)

_WITH_BRACKETS = re.compile(r"(?P<topic>[\w.-]*)\((?P<partitions>\d+(?:,\d+)*)\)(?:,\s*|$)")


def read_assignment(cell: str, line: Line) -> TopicPartitions | None:
    """None when the tool printed no topics."""
    if cell in ("", "-"):
        return ()
    if "(" in cell:
        pairs = _bracketed(cell, line)
        if pairs is None:
            return None
    else:
        pairs = _with_colons(cell, line)
    if len(set(pairs)) != len(pairs):
        raise line.refuse(f"a partition stands twice in the assignment {excerpt(cell)}")
    return runs_of(pairs)


def runs_of(pairs: list[tuple[str, int]]) -> TopicPartitions:
    runs: dict[str, list[int]] = {}
    for topic, partition in sorted(pairs):
        runs.setdefault(topic, []).append(partition)
    return tuple((topic, tuple(partitions)) for topic, partitions in runs.items())


def partition_count(runs: TopicPartitions) -> int:
    return sum(len(partitions) for _, partitions in runs)


def _bracketed(cell: str, line: Line) -> list[tuple[str, int]] | None:
    pairs: list[tuple[str, int]] = []
    at = 0
    while at < len(cell):
        match = _WITH_BRACKETS.match(cell, at)
        if match is None:
            raise line.refuse(f"is no assignment: {excerpt(cell[at : at + 60])}")
        pairs += [(match["topic"], whole_number(part, line, "a partition")) for part in match["partitions"].split(",")]
        at = match.end()
    if all(not topic for topic, _ in pairs):
        return None
    if any(not topic for topic, _ in pairs):
        raise line.refuse(f"a topic's name is missing in {cell[:60]!r}")
    return pairs


def _with_colons(cell: str, line: Line) -> list[tuple[str, int]]:
    """``t:0,1;u:2``, or ``t:0,t:1`` of share groups."""
    pairs: list[tuple[str, int]] = []
    topic = ""
    for word in re.split(r"[;,]\s*", cell):
        name, colon, number = word.rpartition(":")
        topic = name if colon else topic
        if not topic:
            raise line.refuse(f"is no assignment: {excerpt(cell)}")
        pairs.append((topic, whole_number(number, line, "a partition")))
    return pairs


Cells = dict[str, str]
NOTHING = "-"
_IS_CLASSIC = {"true": False, "false": True}  # UPGRADED, during a migration
_IS_CLASSIC_STREAMS = {"classic": True, "streams": False}
_KINDS = ("active", "standby", "warmup")
_TASK_RUNS = r"(?P<runs>(?:[\w.-]+:\s*\[[\d, ]*\]\s*;?\s*)*)"
_TASKS = re.compile(rf"\s*(?P<kind>(?:TARGET-)?(?:ACTIVE|STANDBY|WARMUP)):\s*{_TASK_RUNS}")
_TASK_RUN = re.compile(r"(?P<subtopology>[\w.-]+):\s*\[(?P<numbers>[\d, ]*)\]")
_UNKNOWN_OFFSETS = frozenset(("", NOTHING, "unknown"))


@dataclass(slots=True)
class MemberRow:
    """``assigned`` None: the tool printed no topics."""

    id: str
    instance_id: str | None
    client_id: str | None
    host: str | None
    partition_count: int | None
    assigned: TopicPartitions | None
    target: TopicPartitions | None
    epoch: int | None
    has_epochs: bool
    is_classic: bool | None = None
    process_id: str | None = None
    tasks: Tasks | None = None  # of a streams group
    target_tasks: Tasks | None = None


@dataclass(slots=True)
class GroupNotes:
    id: str
    coordinator: int | None = None
    protocol: str | None = None
    state: str | None = None
    type: GroupType | None = None
    protocol_type: str = "consumer"
    generation: int | None = None
    member_count: int | None = None
    members: dict[str, MemberRow] | None = None
    # Consumer id → (host, client id) and its partitions.
    readers: dict[str, tuple[str | None, str | None]] = field(default_factory=dict)
    read_by: dict[str, list[tuple[str, int]]] = field(default_factory=dict)
    rows: set[tuple[str, str, int]] = field(default_factory=set)
    committed: dict[tuple[str, int], int] = field(default_factory=dict)
    end_offsets: dict[tuple[str, int], int] = field(default_factory=dict)
    # Of a share group.
    lags: dict[tuple[str, int], int] = field(default_factory=dict)
    # Partition, wrong LAG, and difference of the other columns.
    wrong_lags: list[tuple[str, int, int]] = field(default_factory=list)
    has_offsets: bool = False
    has_owners: bool = False
    has_state: bool = False
    is_rebalancing: bool = False  # the tool's warning


def add_offsets_row(group: GroupNotes, cells: Cells, line: Line) -> None:
    """``-`` is unknown or no member."""
    group.has_offsets = True
    consumer = known(cells["CONSUMER-ID"])
    if consumer is not None:
        group.readers[consumer] = (known(cells.get("HOST", "")), known(cells.get("CLIENT-ID", "")))
        group.read_by.setdefault(consumer, [])
    if cells["TOPIC"] == NOTHING:
        if consumer is None or cells["PARTITION"] != NOTHING:
            raise line.refuse("a row without topic that is no idle member")
        return
    partition = (cells["TOPIC"], whole_number(cells["PARTITION"], line, "a partition"))
    if (consumer or NOTHING, *partition) in group.rows:
        raise line.refuse(f"{partition[0]}-{partition[1]} stands twice for one member of group {group.id}")
    group.rows.add((consumer or NOTHING, *partition))
    if consumer is not None:
        group.read_by[consumer].append(partition)
    for name, offsets in (("CURRENT-OFFSET", group.committed), ("LOG-END-OFFSET", group.end_offsets)):
        cell = cells.get(name, NOTHING)
        if cell not in _UNKNOWN_OFFSETS:
            offsets[partition] = whole_number(cell, line, f"an offset in {name}", LARGEST_LONG)
    _compare_lag(group, partition, cells.get("LAG", NOTHING), line)


def add_owner_row(group: GroupNotes, cells: Cells, line: Line) -> None:
    """Before Kafka 0.10.1: owner is ``client_/host`` or a consumer's thread; ``none`` is no owner, -1 unknown."""
    owner = "" if cells["OWNER"] in ("none", NOTHING) else cells["OWNER"]
    client, is_client, host = owner.rpartition("_/")
    more = {"CONSUMER-ID": owner, "HOST": f"/{host}" if is_client else "", "CLIENT-ID": client}
    if cells["CURRENT-OFFSET"] == "-1":
        more["CURRENT-OFFSET"] = NOTHING
    add_offsets_row(group, {**cells, **more}, line)
    group.has_owners = True


def add_share_offsets_row(group: GroupNotes, cells: Cells, line: Line) -> None:
    """A partition that was never read has no start."""
    group.has_offsets = True
    group.type = GroupType.SHARE
    partition = (cells["TOPIC"], whole_number(cells["PARTITION"], line, "a partition"))
    if (NOTHING, *partition) in group.rows:
        raise line.refuse(f"{partition[0]}-{partition[1]} stands twice in share group {group.id}")
    group.rows.add((NOTHING, *partition))
    start, lag = cells["START-OFFSET"], cells.get("LAG", NOTHING)
    if start not in _UNKNOWN_OFFSETS:
        group.committed[partition] = whole_number(start, line, "an offset in START-OFFSET", LARGEST_LONG)
    if lag not in _UNKNOWN_OFFSETS:
        group.lags[partition] = whole_number(lag, line, "a lag", LARGEST_LONG)


def _compare_lag(group: GroupNotes, partition: tuple[str, int], cell: str, line: Line) -> None:
    if cell in _UNKNOWN_OFFSETS:
        return
    lag = whole_number(cell.removeprefix("-"), line, "a lag", LARGEST_LONG) * (-1 if cell.startswith("-") else 1)
    end, committed = group.end_offsets.get(partition), group.committed.get(partition)
    if end is not None and committed is not None and lag not in (end - committed, max(0, end - committed)):
        group.wrong_lags.append((f"{partition[0]}-{partition[1]}", lag, end - committed))


def add_member_row(group: GroupNotes, cells: Cells, line: Line) -> None:
    group.members = {} if group.members is None else group.members
    member_id = cells["CONSUMER-ID"]
    if member_id in group.members:
        raise line.refuse(f"member {member_id} of group {group.id} is listed twice")
    count = whole_number(cells["#PARTITIONS"], line, "a number of partitions")
    printed = cells.get("ASSIGNMENT", cells.get("CURRENT-ASSIGNMENT"))
    assigned = None if printed is None else read_assignment(printed, line)
    if ":" in cells.get("ASSIGNMENT", ""):
        group.type = GroupType.SHARE  # other groups' colons are below CURRENT-ASSIGNMENT
    if assigned is not None and partition_count(assigned) != count:
        raise line.refuse(
            f"#PARTITIONS is {count}, the assignment holds {partition_count(assigned)}", "was the row cut or wrapped?"
        )
    if "MEMBER-EPOCH" in cells:
        group.type = GroupType.SHARE
    epoch = known(cells.get("CURRENT-EPOCH", cells.get("MEMBER-EPOCH", NOTHING)))
    is_target_known = known(cells.get("TARGET-EPOCH", NOTHING)) is not None
    group.members[member_id] = MemberRow(
        id=member_id,
        instance_id=cells.get("GROUP-INSTANCE-ID") or None,
        client_id=known(cells["CLIENT-ID"]),
        host=known(cells["HOST"]),
        partition_count=count,
        assigned=assigned,
        target=read_assignment(cells["TARGET-ASSIGNMENT"], line) if is_target_known else None,
        epoch=None if epoch is None else whole_number(epoch, line, "an epoch"),
        has_epochs="CURRENT-EPOCH" in cells,
        is_classic=_IS_CLASSIC.get(cells.get("UPGRADED", "")),
    )


def add_streams_member_row(group: GroupNotes, cells: Cells, line: Line) -> None:
    group.type = GroupType.STREAMS
    group.members = {} if group.members is None else group.members
    member_id = cells["MEMBER"]
    if member_id in group.members:
        raise line.refuse(f"member {member_id} of group {group.id} is listed twice")
    epoch = known(cells.get("MEMBER-EPOCH", NOTHING))
    tasks = _read_tasks(cells["ASSIGNMENTS"], line)
    group.members[member_id] = MemberRow(
        id=member_id,
        instance_id=None,
        client_id=known(cells["CLIENT-ID"]),
        host=None,
        partition_count=None,
        assigned=(),
        target=None,
        epoch=None if epoch is None else whole_number(epoch, line, "an epoch"),
        has_epochs=epoch is not None,
        is_classic=_IS_CLASSIC_STREAMS.get(cells.get("MEMBER-PROTOCOL", "")),
        process_id=known(cells["PROCESS"]),
        tasks=Tasks(**{kind: tasks.get(kind.upper(), ()) for kind in _KINDS}),
        target_tasks=(
            Tasks(**{kind: tasks.get(f"TARGET-{kind.upper()}", ()) for kind in _KINDS}) if epoch is not None else None
        ),
    )


def _read_tasks(cell: str, line: Line) -> dict[str, TopicPartitions]:
    """``ACTIVE: 0:[0,1]; 1:[0]; STANDBY: 0:[2];``: kind → subtopology → partition numbers."""
    tasks: dict[str, TopicPartitions] = {}
    at = 0
    while at < len(cell):
        match = _TASKS.match(cell, at)
        if match is None or match["kind"] in tasks:
            raise line.refuse(f"is no list of tasks: {excerpt(cell[at : at + 60])}", "was the row cut or wrapped?")
        pairs = [
            (run["subtopology"], whole_number(part, line, "a task"))
            for run in _TASK_RUN.finditer(match["runs"])
            for part in run["numbers"].split(",")
            if part.strip()
        ]
        if len(set(pairs)) != len(pairs):
            raise line.refuse(f"a task appears twice in {excerpt(match[0])}")
        tasks[match["kind"]] = runs_of(pairs)
        at = match.end()
    return tasks


def add_streams_offsets_row(group: GroupNotes, cells: Cells, line: Line) -> None:
    """A lag without a commit is not kept."""
    add_offsets_row(group, {**cells, "CONSUMER-ID": NOTHING, "LAG": cells["OFFSET-LAG"]}, line)
    group.type = GroupType.STREAMS


def add_state_row(group: GroupNotes, cells: Cells, line: Line) -> None:
    """A share group has no strategy."""
    if group.has_state:
        raise line.refuse(f"the state of group {group.id} is listed twice")
    group.has_state = True
    address, _, broker = cells["COORDINATOR (ID)"].rpartition("(")
    if not address.strip() or not broker.endswith(")"):
        raise line.refuse(f"expected host:port (id) as coordinator, found {excerpt(cells['COORDINATOR (ID)'])}")
    group.coordinator = whole_number(broker.removesuffix(")"), line, "a broker id as coordinator")
    group.protocol = known(cells.get("ASSIGNMENT-STRATEGY", cells.get("ASSIGNOR", NOTHING)))
    if "ASSIGNMENT-STRATEGY" not in cells and ("ASSIGNOR" in cells or "TARGET-ASSIGNMENT-EPOCH" in cells):
        group.type = group.type or GroupType.STREAMS
    elif "ASSIGNMENT-STRATEGY" not in cells and "ASSIGNMENT-EPOCH" in cells:
        group.type = group.type or GroupType.SHARE
    group.state = cells["STATE"]
    group.member_count = whole_number(cells["#MEMBERS"], line, "a number of members")
    epoch = known(cells.get("GROUP-EPOCH", NOTHING))
    group.generation = None if epoch is None else whole_number(epoch, line, "an epoch")


def add_list_row(group: GroupNotes, cells: Cells, line: Line) -> None:
    name = cells["TYPE"].lower()
    if "PROTOCOL" in cells:  # kafka-groups: empty without members
        group.protocol_type = cells["PROTOCOL"].removeprefix(NOTHING)
    if name not in set(GroupType):
        raise line.refuse(f"unknown group type {excerpt(cells['TYPE'])}", f"known: {', '.join(GroupType)}")
    group.type = GroupType(name)
    if group.state is None:
        group.state = known(cells.get("STATE", NOTHING))


def known(cell: str) -> str | None:
    return None if cell in ("", NOTHING) else cell


_COORDINATOR = re.compile(r"COORDINATOR\s+\(ID\)")
_COORDINATOR_CELL = re.compile(r"\s+(?=\(\d+\)(?:\s|$))")
_NAMES = frozenset((
    "GROUP", "TOPIC", "PARTITION", "LEADER-EPOCH", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG", "CONSUMER-ID", "HOST",
    "CLIENT-ID", "GROUP-INSTANCE-ID", "#PARTITIONS", "ASSIGNMENT", "CURRENT-EPOCH", "CURRENT-ASSIGNMENT",
    "TARGET-EPOCH", "TARGET-ASSIGNMENT", "UPGRADED", "COORDINATOR (ID)", "ASSIGNMENT-STRATEGY", "STATE",
    "GROUP-EPOCH", "TARGET-ASSIGNMENT-EPOCH", "#MEMBERS", "TYPE", "PROTOCOL", "OWNER",
    "START-OFFSET", "MEMBER-EPOCH", "ASSIGNMENT-EPOCH",  # kafka-share-groups
    "MEMBER", "PROCESS", "ASSIGNMENTS", "TOPOLOGY-EPOCH", "MEMBER-PROTOCOL", "OFFSET-LAG", "ASSIGNOR",  # streams
))  # fmt: skip
_MAY_BE_EMPTY = frozenset((
    "GROUP-INSTANCE-ID", "TARGET-ASSIGNMENT", "UPGRADED", "ASSIGNMENTS",
    "ASSIGNOR",
    "ASSIGNMENT-STRATEGY", "PROTOCOL",  # Kafka 1.1 to 3.9; may be blank
))  # fmt: skip
# Column → form of a word, which shows in rows without padding which cell is blank.
_NUMBER = re.compile(r"-?\d+|-")
_FORMS = dict.fromkeys(
    ("PARTITION", "#PARTITIONS", "#MEMBERS", "GROUP-EPOCH", "CURRENT-EPOCH", "TARGET-EPOCH"), _NUMBER
) | {
    "STATE": re.compile(r"[A-Z][A-Za-z]+"),
    "TYPE": re.compile(r"[A-Z][a-z]+"),
    "UPGRADED": re.compile(r"true|false|-"),
    "HOST": re.compile(r"/\S*|-"),
    "COORDINATOR (ID)": re.compile(r".*\(\d+\)"),
}
_HOLDS_BLANKS = frozenset(
    ("GROUP", "CONSUMER-ID", "CLIENT-ID", "ASSIGNMENT", "ASSIGNMENTS", "COORDINATOR (ID)", "OWNER")
)
# Kafka 0.9: commas, and names with blanks.
_COMMAS = re.compile(r"\s*GROUP, TOPIC, PARTITION, CURRENT OFFSET, LOG END OFFSET, LAG, OWNER\s*$")
# Kafka 0.10.2 to 1.0: no blank between a CONSUMER-ID of 50 or more characters and its HOST.
_GLUED = re.compile(r"(\S*-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[^/\s]+)(/[^/\s]+)")
# ConsumerOffsetChecker, removed in Kafka 1.0.
_CHECKER = re.compile(r"Group\s+Topic\s+Pid\s+Offset\s+logSize\s+Lag\s+Owner\s*$")
_CHECKER_NAMES = ("GROUP", "TOPIC", "PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG", "OWNER")


@dataclass(frozen=True, slots=True)
class Header:
    names: tuple[str, ...]
    starts: tuple[int, ...]
    has_commas: bool = False

    def cells(self, line: Line) -> dict[str, str]:
        cells = self._by_commas(line.text) if self.has_commas else self._by_place(line.text)
        if cells is None and not self.has_commas:
            cells = self._by_words(line.text)
        if cells is None:
            raise line.refuse(f"does not fit the columns {' '.join(self.names)}", "was the row cut or wrapped?")
        return dict(zip(self.names, cells, strict=True))

    def _by_commas(self, text: str) -> list[str] | None:
        cells = [cell.strip() for cell in text.split(", ")]
        return cells if len(cells) == len(self.names) and all(cells) else None

    def _by_place(self, text: str) -> list[str] | None:
        cells = []
        ends = (*self.starts[1:], max(len(text), self.starts[-1]))
        for name, start, end in zip(self.names, self.starts, ends, strict=True):
            cell = text[start:end]
            if cell and cell[0].isspace() and cell.strip():
                return None  # the cell begins elsewhere
            if end < len(text) and not text[end - 1].isspace():
                return None  # a cell reaches into the next column
            cell = cell.strip()
            if not cell and name not in _MAY_BE_EMPTY:
                return None
            if name not in _HOLDS_BLANKS and len(cell.split()) > 1:
                return None
            cells.append(cell)
        return cells

    def _by_words(self, text: str) -> list[str] | None:
        cells = re.split(r"[ \t]+", _COORDINATOR_CELL.sub("\N{NO-BREAK SPACE}", text).strip())
        last = len(self.names) - 1
        if self.names[last] in ("ASSIGNMENT", "ASSIGNMENTS") and len(cells) > last:
            cells[last:] = [" ".join(cells[last:])]
        if len(cells) == last and "CONSUMER-ID" in self.names:
            at = self.names.index("CONSUMER-ID")
            if self.names[at + 1 : at + 2] == ("HOST",) and (glued := _GLUED.fullmatch(cells[at])):
                cells[at : at + 1] = glued.groups()
        if len(cells) < len(self.names):
            filled = self._fill(cells)
            if filled is None:
                return None
            cells = filled
        if len(cells) != len(self.names):
            return None
        return [word.replace("\N{NO-BREAK SPACE}", " ") for word in cells]

    def _fill(self, cells: list[str]) -> list[str] | None:
        """Blank cells are ""; None unless exactly one way fits."""
        optional = [at for at, name in enumerate(self.names) if name in _MAY_BE_EMPTY]
        ways = []
        for blanks in combinations(optional, len(self.names) - len(cells)):
            rest = iter(cells)
            row = [
                "" if at in blanks else next(rest).replace("\N{NO-BREAK SPACE}", " ") for at in range(len(self.names))
            ]
            if all(
                at in blanks or name not in _FORMS or _FORMS[name].fullmatch(row[at])
                for at, name in enumerate(self.names)
            ):
                ways.append(row)
        return ways[0] if len(ways) == 1 else None


def read_header(text: str) -> Header | None:
    if _COMMAS.match(text):
        return Header(_CHECKER_NAMES, (), has_commas=True)
    if _CHECKER.match(text.strip()):
        return Header(_CHECKER_NAMES, tuple(match.start() for match in re.finditer(r"\S+", text)))
    names: list[str] = []
    starts: list[int] = []
    for match in re.finditer(rf"{_COORDINATOR.pattern}|\S+", text):
        name = "COORDINATOR (ID)" if _COORDINATOR.fullmatch(match[0]) else match[0]
        name = "#PARTITIONS" if name == "PARTITIONS" else name
        if name not in _NAMES:
            return None
        names.append(name)
        starts.append(match.start())
    if len(names) < 2 or len(set(names)) != len(names):
        return None
    return Header(tuple(names), tuple(starts))


_HINT = (
    "dump with --all-groups (Kafka 2.4 or later), keep the command above the table, or name the file after the group"
)
_ENDINGS = frozenset((".gz", ".txt", ".log", ".out", ".dump", ".dat", ".lst", ".text"))
# Dumps that name no group.
_NO_GROUP = re.compile(
    r"(?:kafka[-_.]?)?(?:consumer[-_.]?)?(?:groups?|members?|states?|offsets?|lags?|describe|dump|output|out|\d*)"
    r"(?:[-_.]?(?:describe|members?|verbose|states?|offsets?|lags?|dump|output|\d+))*(?:\.sh)?",
    re.IGNORECASE,
)


class Kind(StrEnum):
    """A file's name may end in this word."""

    OFFSETS = "offsets"
    MEMBERS = "members"
    STATE = "state"
    LIST = "list"


@dataclass(slots=True)
class GroupOfTable:
    location: str
    _told: tuple[str, ...] = ()  # by the command or sentence above
    _named_by_file: set[Kind] = field(default_factory=set)

    def read_command(self, command: Command) -> None:
        self._told = command.options("group")

    def read_sentence(self, group: str) -> None:
        self._told = (group,)

    def forget(self) -> None:
        self._told = ()

    def name(self, kind: Kind, line: Line) -> tuple[str, bool]:
        """Whether the name is guessed from the file's name. Raises InvalidInputError."""
        groups = self._told
        if len(groups) == 1:
            return groups[0], False
        if groups:
            raise line.refuse(f"has no GROUP column, and the command names {len(groups)} groups", _HINT)
        guess = _group_in_name(self.location, kind)
        if guess is None:
            raise line.refuse("has no GROUP column, and neither a command nor the file's name tells the group", _HINT)
        if kind in self._named_by_file:
            raise line.refuse(f"has no GROUP column and is the second table of {kind} in this file", _HINT)
        self._named_by_file.add(kind)
        return guess, True


def _group_in_name(location: str, kind: Kind) -> str | None:
    name = PurePosixPath(location).name
    while PurePosixPath(name).suffix.lower() in _ENDINGS:
        name = name[: -len(PurePosixPath(name).suffix)]
    if _NO_GROUP.fullmatch(name):
        return None
    word = kind.value.rstrip("s") + "s?"
    name = re.sub(rf"^(?:kafka[-_.])?consumer[-_.]groups?[-_.](?=.)|^{word}[-_.](?=.)", "", name, flags=re.IGNORECASE)
    name = re.sub(rf"[-_.]{word}(?:[-_.]verbose)?$", "", name, flags=re.IGNORECASE)
    return None if _NO_GROUP.fullmatch(name) else name


AddRow = Callable[[GroupNotes, Cells, Line], None]

_QUOTED = r"[`'](?P<group>.+)['`]"
_NO_MEMBERS = re.compile(rf"\s*(?:Consumer|Share|Streams) group {_QUOTED} has no active members\.\s*$")
_NO_OFFSETS = re.compile(rf"\s*Share group {_QUOTED} has no offset information\.\s*$")
_REBALANCING = re.compile(rf"\s*(?:Warning: )?(?:Consumer|Share|Streams) group {_QUOTED} is rebalancing\.\s*$")
_GONE = re.compile(
    rf"\s*(?:Error: )?(?:The )?(?:[Cc]onsumer|Share|Streams) group {_QUOTED} does not exist(?: or is rebalancing)?\."
)
_BROKER_INFO = re.compile(r"\s*(?:BROKER INFO$|\d+ -> \S+:\d+$)")
_TOOLS = {"kafka-share-groups": GroupType.SHARE, "kafka-streams-groups": GroupType.STREAMS}
_OFFSETS_COLUMNS = ("TOPIC", "PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET")
# The most specific first.
_BLOCKS: tuple[tuple[frozenset[str], Kind, AddRow], ...] = (
    (frozenset(("COORDINATOR (ID)", "STATE", "#MEMBERS")), Kind.STATE, add_state_row),
    (frozenset(("CONSUMER-ID", "HOST", "CLIENT-ID", "#PARTITIONS")), Kind.MEMBERS, add_member_row),
    (frozenset((*_OFFSETS_COLUMNS, "CONSUMER-ID")), Kind.OFFSETS, add_offsets_row),
    (frozenset((*_OFFSETS_COLUMNS, "OWNER")), Kind.OFFSETS, add_owner_row),
    (frozenset(("MEMBER", "PROCESS", "CLIENT-ID", "ASSIGNMENTS")), Kind.MEMBERS, add_streams_member_row),
    (frozenset(("TOPIC", "PARTITION", "OFFSET-LAG")), Kind.OFFSETS, add_streams_offsets_row),
    (frozenset(("TOPIC", "PARTITION", "START-OFFSET")), Kind.OFFSETS, add_share_offsets_row),
    (frozenset(("GROUP", "TYPE")), Kind.LIST, add_list_row),
)


@dataclass(slots=True)
class GroupsDump:
    notes: dict[str, GroupNotes] = field(default_factory=dict)
    gaps: list[CoverageGap] = field(default_factory=list)

    def read(self, text: str, location: str) -> None:
        header: Header | None = None
        add: AddRow | None = None
        group: str | None = None
        group_of_table = GroupOfTable(location)
        by_tool: GroupType | None = None  # of the command above
        for line in lines_and_commands(text, location):
            if isinstance(line, Command):
                group_of_table.read_command(line)
                by_tool = next((kind for tool, kind in _TOOLS.items() if line.runs(tool)), None)
                header = None
            elif not line.text.strip():
                continue
            elif named := self._take_note(line):
                group_of_table.read_sentence(named)
            elif table_header := read_header(line.text):
                header = table_header
                kind, add = _block_of(table_header, line)
                group = (
                    self._group_without_column(group_of_table, kind, line)
                    if "GROUP" not in table_header.names
                    else None
                )
                group_of_table.forget()
            elif header is None or add is None:
                if not _BROKER_INFO.match(line.text):
                    raise line.refuse(f"is no line of kafka-consumer-groups: {excerpt(line.text.strip())}")
            elif _BROKER_INFO.match(line.text):  # end of ConsumerOffsetChecker's table
                header = None
            else:
                cells = header.cells(line)
                notes = self._group(group if group is not None else cells["GROUP"])
                add(notes, cells, line)
                notes.type = notes.type or by_tool

    def _group_without_column(self, group_of_table: GroupOfTable, kind: Kind, line: Line) -> str:
        name, is_guess = group_of_table.name(kind, line)
        if is_guess:
            self._miss(name, FactCode.LACKS_GROUP_NAME, fact(FactCode.GROUP_NAMED_BY_FILE))
        return name

    def end_offsets(self) -> dict[tuple[str, int], int]:
        result: dict[tuple[str, int], int] = {}
        for group in self.notes.values():
            for partition, offset in group.end_offsets.items():
                result[partition] = max(offset, result.get(partition, 0))
        return result

    def note_older_ends(self, end: Mapping[tuple[str, int], int]) -> None:
        """Commits beyond ``end`` but not beyond the end in their own rows."""
        for group in self.notes.values():
            own, commits = group.end_offsets, group.committed.items()
            beyond = [key for key, offset in commits if end.get(key, offset) < offset <= own.get(key, -1)]
            if beyond:
                reason = fact(FactCode.END_OFFSETS_OLDER, partitions=len(beyond))
                self._miss(group.id, FactCode.LACKS_END_OFFSETS, reason)

    def groups(self) -> tuple[Group, ...]:
        """Adds contradictions and missing parts to ``gaps``."""
        return tuple(self._assemble(self.notes[name]) for name in sorted(self.notes))

    def _group(self, name: str) -> GroupNotes:
        return self.notes.setdefault(name, GroupNotes(name))

    def _take_note(self, line: Line) -> str | None:
        if match := _NO_MEMBERS.match(line.text):
            group = self._group(match["group"])
            group.state = group.state or "Empty"
            group.members = {} if group.members is None else group.members
        elif match := _REBALANCING.match(line.text):
            self._group(match["group"]).is_rebalancing = True
            self._miss(match["group"], FactCode.LACKS_ASSIGNMENT, fact(FactCode.GROUP_REBALANCING, state=None))
        elif match := _GONE.match(line.text):
            self._miss(match["group"], FactCode.LACKS_GROUP, fact(FactCode.GROUP_GONE))
        elif match := _NO_OFFSETS.match(line.text):
            group = self._group(match["group"])
            group.type, group.has_offsets = GroupType.SHARE, True
        return None if match is None else match["group"]

    def _miss(self, group: str, what: Fact | FactCode, reason: Fact) -> None:
        gap = CoverageGap("group", group, fact(what) if isinstance(what, FactCode) else what, reason)
        if gap not in self.gaps:
            self.gaps.append(gap)

    def _assemble(self, notes: GroupNotes) -> Group:
        members = self._members(notes)
        if notes.member_count is not None and notes.member_count != len(members):
            reason = fact(FactCode.MEMBER_COUNTS_DIFFER, stated=notes.member_count, shown=len(members))
            self._miss(notes.id, FactCode.LACKS_MEMBERS, reason)
        for is_there, what, dump in (
            (notes.has_state, FactCode.LACKS_GROUP_STATE, "group_state"),
            (notes.members is not None, FactCode.LACKS_IDLE_MEMBERS, "group_members"),
            (notes.has_offsets or not members, FactCode.LACKS_COMMITS, "group_offsets"),
        ):
            if not is_there:
                self._miss(notes.id, what, fact(FactCode.NO_DUMP, of=dump))
        if notes.has_owners and members:
            self._miss(notes.id, FactCode.LACKS_MEMBERS, fact(FactCode.OWNERS_NOT_MEMBERS))
        if notes.wrong_lags:
            count, rows = len(notes.wrong_lags), len(notes.rows)
            first, lag, computed = notes.wrong_lags[0]
            reason = fact(FactCode.LAGS_DIFFER, wrong=count, rows=rows, first=first, lag=lag, computed=computed)
            self._miss(notes.id, fact(FactCode.LACKS_LAG, topic=None), reason)
        return Group(
            id=notes.id,
            type=_type_of(notes),
            protocol_type=notes.protocol_type,
            member_count=(
                notes.member_count if notes.members is None and (notes.member_count or 0) > len(members) else None
            ),
            protocol=notes.protocol,
            state=notes.state or (REBALANCING if notes.is_rebalancing else None),
            generation=notes.generation,
            coordinator=notes.coordinator,
            members=members,
            committed=tuple(
                CommittedOffset(topic, partition, offset, notes.lags.get((topic, partition)))
                for (topic, partition), offset in sorted(notes.committed.items())
            ),
        )

    def _members(self, notes: GroupNotes) -> tuple[Member, ...]:
        read_by = {member: runs_of(pairs) for member, pairs in notes.read_by.items()}
        if notes.members is None:
            return tuple(
                Member(
                    id=reader,
                    host=notes.readers[reader][0],
                    client_id=notes.readers[reader][1],
                    assigned=read_by[reader],
                )
                for reader in sorted(read_by)
            )
        is_told = [(row, self._assigned(row, read_by.get(row.id), notes.id)) for row in notes.members.values()]
        if strangers := sorted(set(read_by) - set(notes.members)):
            self._miss(notes.id, FactCode.LACKS_ASSIGNMENT, fact(FactCode.READER_NOT_MEMBER, member=strangers[0]))
        return tuple(_member(row, assigned) for row, assigned in sorted(is_told, key=lambda pair: pair[0].id))

    def _assigned(self, row: MemberRow, read: TopicPartitions | None, group: str) -> TopicPartitions:
        """Of the members dump, else of the offsets dump."""
        if row.assigned is not None:
            if read is not None and read != row.assigned:
                self._miss(group, FactCode.LACKS_ASSIGNMENT, fact(FactCode.ASSIGNMENTS_DIFFER, member=row.id))
            return row.assigned
        if read is not None and partition_count(read) == row.partition_count:
            return read
        if row.partition_count:
            reason = fact(FactCode.ASSIGNMENT_NOT_SHOWN, member=row.id, partitions=row.partition_count)
            self._miss(group, FactCode.LACKS_ASSIGNMENT, reason)
        return ()


def looks_like_groups(text: str) -> bool:
    return any(
        read_header(line) is not None
        or _NO_MEMBERS.match(line)
        or _REBALANCING.match(line)
        or _GONE.match(line)
        or _NO_OFFSETS.match(line)
        for line in text.split("\n")
    )


def _block_of(header: Header, line: Line) -> tuple[Kind, AddRow]:
    names = frozenset(header.names)
    for needed, kind, add in _BLOCKS:
        if needed <= names:
            return kind, add
    raise line.refuse(f"is no known set of columns: {' '.join(header.names)}")


def _member(row: MemberRow, assigned: TopicPartitions) -> Member:
    return Member(
        id=row.id,
        instance_id=row.instance_id,
        client_id=row.client_id,
        host=row.host,
        assigned=assigned,
        target=row.target,
        generation=row.epoch,
        is_classic=row.is_classic,
        partition_count=row.partition_count if row.partition_count != partition_count(assigned) else None,
        process_id=row.process_id,
        tasks=row.tasks,
        target_tasks=row.target_tasks,
    )


def _type_of(notes: GroupNotes) -> GroupType:
    if notes.type is not None:
        return notes.type
    rows = list((notes.members or {}).values())
    if any(row.epoch is not None for row in rows) or notes.generation is not None or notes.protocol == "uniform":
        return GroupType.CONSUMER
    if any(row.has_epochs for row in rows) or notes.protocol is not None:
        return GroupType.CLASSIC
    return GroupType.UNKNOWN


class Role(StrEnum):
    START = "start"
    END = "end"
    OTHER = "other"  # at a time, or of another tier
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class OffsetsRole:
    role: Role
    by_command: bool = False


_TIMES = {"-1": Role.END, "latest": Role.END, "-2": Role.START, "earliest": Role.START}
_OFFSET_TOOLS = ("kafka-get-offsets", "kafka-get-offsets.sh", "kafka-get-offsets.bat", "GetOffsetShell")
_WORDS = {
    Role.START: frozenset(("earliest", "start", "starts", "beginning", "begin", "oldest")),
    Role.END: frozenset(("latest", "end", "ends", "newest", "high", "hw", "watermark", "watermarks")),
}


def role_of_command(command: Command) -> OffsetsRole | None:
    if not command.runs(*_OFFSET_TOOLS):
        return None
    times = command.options("time")
    if not times:
        return None if command.has("time") else OffsetsRole(Role.END, by_command=True)
    return OffsetsRole(_TIMES.get(times[-1].lower(), Role.OTHER), by_command=True)


def role_of_name(location: str) -> OffsetsRole:
    name_parts = set(re.split(r"[^a-z]+", PurePosixPath(location).name.lower()))
    roles = [role for role, role_names in _WORDS.items() if name_parts & role_names]
    return OffsetsRole(roles[0]) if len(roles) == 1 else OffsetsRole(Role.UNKNOWN)


Offsets = dict[tuple[str, int], int]

_ROW = re.compile(r"(?P<topic>[\w.-]+):(?P<partition>\d+):(?P<offset>\d+)\s*$")
_SKIPPED = re.compile(r"Skip getting offsets for topic-partition (?P<partition>\S+) due to error: (?P<error>.*)$")


@dataclass(frozen=True, slots=True)
class OffsetsReading:
    location: str
    stated_role: OffsetsRole
    offsets: Offsets

    @property
    def name(self) -> str:
        return PurePosixPath(self.location).name


@dataclass(frozen=True, slots=True)
class SeenElsewhere:
    end_offsets: Mapping[tuple[str, int], int] = field(default_factory=dict)
    holding_bytes: frozenset[tuple[str, int]] = frozenset()


@dataclass(slots=True)
class OffsetsDump:
    readings: list[OffsetsReading] = field(default_factory=list)
    gaps: list[CoverageGap] = field(default_factory=list)

    def read(self, text: str, location: str) -> None:
        role: OffsetsRole | None = None
        offsets: Offsets = {}
        for line in lines_and_commands(text, location):
            if isinstance(line, Line):
                self._read_line(line, offsets)
            elif command_role := role_of_command(line):
                if offsets:
                    self.readings.append(OffsetsReading(location, role or role_of_name(location), offsets))
                    offsets = {}
                role = command_role
        if offsets or role is None:
            self.readings.append(OffsetsReading(location, role or role_of_name(location), offsets))

    def _read_line(self, line: Line, offsets: Offsets) -> None:
        if not line.text.strip():
            return
        if skipped := _SKIPPED.match(line.text):
            what, reason = fact(FactCode.LACKS_OFFSETS), fact(FactCode.AS_REPORTED, text=skipped["error"])
            self.gaps.append(CoverageGap("partition", skipped["partition"], what, reason))
            return
        row = _ROW.match(line.text)
        if row is None:
            raise line.refuse(f"expected topic:partition:offset, found {excerpt(line.text)}")
        key = (row["topic"], whole_number(row["partition"], line, "a partition"))
        if key in offsets:
            raise line.refuse(f"{key[0]}-{key[1]} is listed twice")
        offsets[key] = whole_number(row["offset"], line, "an offset", LARGEST_LONG)

    def start_and_end(
        self, cluster: str = "", elsewhere: Callable[[], SeenElsewhere] | None = None
    ) -> tuple[Offsets, Offsets]:
        """An undecided dump is empty with a gap. Raises InvalidInputError for a third dump."""
        readings = [self._without_other(reading, cluster) for reading in self.readings]
        usable = [reading for reading in readings if reading is not None]
        if len(usable) > 2:
            raise InvalidInputError.at(usable[2].location, "is the third dump of offsets", "give earliest and latest")
        if len(usable) == 2:
            return self._pair(usable[0], usable[1], cluster)
        return self._single(usable[0], cluster, elsewhere or SeenElsewhere) if usable else ({}, {})

    def _without_other(self, reading: OffsetsReading, cluster: str) -> OffsetsReading | None:
        if reading.stated_role.role is not Role.OTHER:
            return reading
        self._miss(cluster, FactCode.LACKS_OFFSETS, fact(FactCode.OFFSETS_OF_OTHER_TIME, file=reading.name))
        return None

    def _single(
        self, reading: OffsetsReading, cluster: str, elsewhere: Callable[[], SeenElsewhere]
    ) -> tuple[Offsets, Offsets]:
        role = reading.stated_role.role
        if role is Role.UNKNOWN:
            role = _role_by_contents(reading.offsets, elsewhere())
            if role is not Role.END:
                is_guessed = role is Role.START
                code = FactCode.OFFSETS_KIND_GUESSED if is_guessed else FactCode.OFFSETS_KIND_UNKNOWN
                self._miss(cluster, FactCode.LACKS_KIND_OF_OFFSETS, fact(code, file=reading.name))
        return {Role.START: (reading.offsets, {}), Role.END: ({}, reading.offsets)}.get(role, ({}, {}))

    def _pair(self, first: OffsetsReading, second: OffsetsReading, cluster: str) -> tuple[Offsets, Offsets]:
        """Start ≤ end everywhere: a greater offset decides, else the given role."""
        common = first.offsets.keys() & second.offsets.keys()
        may_be_start = all(first.offsets[key] <= second.offsets[key] for key in common)
        may_be_end = all(first.offsets[key] >= second.offsets[key] for key in common)
        if not (may_be_start or may_be_end):
            raise InvalidInputError.at(
                second.location,
                f"is neither above nor below {first.location} everywhere",
                "give one dump of earliest and one of latest",
            )
        if first.stated_role.role is second.stated_role.role is not Role.UNKNOWN:
            raise InvalidInputError.at(
                second.location,
                f"holds {first.stated_role.role} offsets, as {first.location} does",
                "give earliest and latest",
            )
        if may_be_start and may_be_end:  # equal or disjoint
            if first.stated_role.role is second.stated_role.role:
                same = bool(common) and first.offsets == second.offsets
                return (first.offsets, second.offsets) if same else self._undecided(first, second, cluster)
            is_start = first.stated_role.role is Role.START or second.stated_role.role is Role.END
            return (first.offsets, second.offsets) if is_start else (second.offsets, first.offsets)
        start, end = (first, second) if may_be_start else (second, first)
        for reading, role in ((start, Role.START), (end, Role.END)):
            if reading.stated_role.role not in (role, Role.UNKNOWN):
                self._contradicts(reading, role, cluster)
        return start.offsets, end.offsets

    def _contradicts(self, reading: OffsetsReading, role: Role, cluster: str) -> None:
        """Raises InvalidInputError for a command, which is never wrong; a wrong file name is a gap."""
        if reading.stated_role.by_command:
            raise InvalidInputError.at(
                reading.location,
                f"was asked for {reading.stated_role.role} offsets, but the other dump shows it holds none",
                "dump both again, one after the other",
            )  # fmt: skip
        reason = fact(FactCode.OFFSETS_MISNAMED, file=reading.name, kind=role.value)
        self._miss(cluster, FactCode.LACKS_KIND_OF_OFFSETS, reason)

    def _undecided(self, first: OffsetsReading, second: OffsetsReading, cluster: str) -> tuple[Offsets, Offsets]:
        reason = fact(FactCode.OFFSETS_UNDECIDED, files=(first.name, second.name))
        self._miss(cluster, FactCode.LACKS_KIND_OF_OFFSETS, reason)
        return {}, {}

    def _miss(self, cluster: str, what: FactCode, reason: Fact) -> None:
        self.gaps.append(CoverageGap("cluster", cluster, fact(what), reason))


def _role_by_contents(offsets: Offsets, elsewhere: SeenElsewhere) -> Role:
    """By majority: a partition with bytes has an end offset above 0, and its start is below its end."""
    start = sum(1 for key, offset in offsets.items() if offset == 0 and key in elsewhere.holding_bytes)
    same = (key for key, offset in offsets.items() if offset and offset == elsewhere.end_offsets.get(key))
    end = sum(1 for key in same if key in elsewhere.holding_bytes)
    if start == end:
        return Role.UNKNOWN
    return Role.START if start > end else Role.END


def looks_like_offsets(text: str) -> bool:
    first = first_printed_line(text)
    return bool(_ROW.match(first) or _SKIPPED.match(first))
