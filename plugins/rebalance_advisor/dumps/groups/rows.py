"""Rows of ``kafka-consumer-groups`` → what is known of each group, before its dumps are put together."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from kafka_rebalance.snapshot.group import Tasks
from kafka_rebalance.snapshot.model import GroupType, TopicPartitions
from kafka_rebalance.visible_text import excerpt
from rebalance_advisor.dumps.files.dump_lines import LARGEST_LONG, Line, whole_number
from rebalance_advisor.dumps.groups.assignment import partition_count, read_assignment, runs_of

Cells = dict[str, str]
NOTHING = "-"
_IS_CLASSIC = {"true": False, "false": True}  # UPGRADED, which the tool prints while a group migrates
_IS_CLASSIC_STREAMS = {"classic": True, "streams": False}
_KINDS = ("active", "standby", "warmup")
_TASK_RUNS = r"(?P<runs>(?:[\w.-]+:\s*\[[\d, ]*\]\s*;?\s*)*)"
_TASKS = re.compile(rf"\s*(?P<kind>(?:TARGET-)?(?:ACTIVE|STANDBY|WARMUP)):\s*{_TASK_RUNS}")
_TASK_RUN = re.compile(r"(?P<subtopology>[\w.-]+):\s*\[(?P<numbers>[\d, ]*)\]")
_UNKNOWN_OFFSETS = frozenset(("", NOTHING, "unknown"))


@dataclass(slots=True)
class MemberRow:
    """One row of ``--members``. ``assigned`` is ``None`` where the tool printed no topics."""

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
    tasks: Tasks | None = None  # of a streams group, whose partitions are not printed
    target_tasks: Tasks | None = None


@dataclass(slots=True)
class GroupNotes:
    """All that the dumps say of one group; each kind of dump fills its own part."""

    id: str
    coordinator: int | None = None
    protocol: str | None = None
    state: str | None = None
    type: GroupType | None = None
    protocol_type: str = "consumer"
    generation: int | None = None
    member_count: int | None = None
    members: dict[str, MemberRow] | None = None
    # From the offsets dump: consumer id → (host, client id) and its partitions.
    readers: dict[str, tuple[str | None, str | None]] = field(default_factory=dict)
    read_by: dict[str, list[tuple[str, int]]] = field(default_factory=dict)
    rows: set[tuple[str, str, int]] = field(default_factory=set)
    committed: dict[tuple[str, int], int] = field(default_factory=dict)
    end_offsets: dict[tuple[str, int], int] = field(default_factory=dict)
    # Of a share group, whose lag the broker tells.
    lags: dict[tuple[str, int], int] = field(default_factory=dict)
    # Rows whose LAG is not what the other two columns say: partition, LAG, and what they say.
    wrong_lags: list[tuple[str, int, int]] = field(default_factory=list)
    has_offsets: bool = False
    has_owners: bool = False
    has_state: bool = False
    is_rebalancing: bool = False  # the tool warns so, whichever of the states of a rebalance it is


def add_offsets_row(group: GroupNotes, cells: Cells, line: Line) -> None:
    """A row of the offsets dump: a partition, how far it was read, and by whom. ``-`` is unknown or nobody."""
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
    """A row of the offsets dump of before Kafka 0.10.1, or of ConsumerOffsetChecker: ``client_/host`` reads it.

    The owner of a group that ZooKeeper keeps is a consumer's thread. ``none`` is nobody, an offset of -1 unknown.
    """
    owner = "" if cells["OWNER"] in ("none", NOTHING) else cells["OWNER"]
    client, is_client, host = owner.rpartition("_/")
    more = {"CONSUMER-ID": owner, "HOST": f"/{host}" if is_client else "", "CLIENT-ID": client}
    if cells["CURRENT-OFFSET"] == "-1":
        more["CURRENT-OFFSET"] = NOTHING
    add_offsets_row(group, {**cells, **more}, line)
    group.has_owners = True


def add_share_offsets_row(group: GroupNotes, cells: Cells, line: Line) -> None:
    """A row of the offsets dump of a share group: where its records in flight begin, and what lies behind that.

    A partition that nobody asked for yet has no start.
    """
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
    """The tool subtracts the two offsets beside it: any other lag was not printed by it, or not for these offsets."""
    if cell in _UNKNOWN_OFFSETS:
        return
    lag = whole_number(cell.removeprefix("-"), line, "a lag", LARGEST_LONG) * (-1 if cell.startswith("-") else 1)
    end, committed = group.end_offsets.get(partition), group.committed.get(partition)
    if end is not None and committed is not None and lag not in (end - committed, max(0, end - committed)):
        group.wrong_lags.append((f"{partition[0]}-{partition[1]}", lag, end - committed))


def add_member_row(group: GroupNotes, cells: Cells, line: Line) -> None:
    """A row of ``--members``, with its assignment where the dump is ``--verbose``."""
    group.members = {} if group.members is None else group.members
    member_id = cells["CONSUMER-ID"]
    if member_id in group.members:
        raise line.refuse(f"member {member_id} of group {group.id} is listed twice")
    count = whole_number(cells["#PARTITIONS"], line, "a number of partitions")
    printed = cells.get("ASSIGNMENT", cells.get("CURRENT-ASSIGNMENT"))
    assigned = None if printed is None else read_assignment(printed, line)
    if ":" in cells.get("ASSIGNMENT", ""):
        group.type = GroupType.SHARE  # kafka-consumer-groups prints colons below CURRENT-ASSIGNMENT only
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
    """A row of ``kafka-streams-groups --members``: tasks by subtopology, with the target where it is ``--verbose``."""
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
    """``ACTIVE: 0:[0,1]; 1:[0]; STANDBY: 0:[2];`` → kind → subtopology → partition numbers."""
    found: dict[str, TopicPartitions] = {}
    at = 0
    while at < len(cell):
        match = _TASKS.match(cell, at)
        if match is None or match["kind"] in found:
            raise line.refuse(f"is no list of tasks: {excerpt(cell[at : at + 60])}", "was the row cut or wrapped?")
        pairs = [
            (run["subtopology"], whole_number(part, line, "a task"))
            for run in _TASK_RUN.finditer(match["runs"])
            for part in run["numbers"].split(",")
            if part.strip()
        ]
        if len(set(pairs)) != len(pairs):
            raise line.refuse(f"a task appears twice in {excerpt(match[0])}")
        found[match["kind"]] = runs_of(pairs)
        at = match.end()
    return found


def add_streams_offsets_row(group: GroupNotes, cells: Cells, line: Line) -> None:
    """A row of ``kafka-streams-groups --offsets``: the lag alone, without a commit, is not kept."""
    add_offsets_row(group, {**cells, "CONSUMER-ID": NOTHING, "LAG": cells["OFFSET-LAG"]}, line)
    group.type = GroupType.STREAMS


def add_state_row(group: GroupNotes, cells: Cells, line: Line) -> None:
    """A row of ``--state``: coordinator, strategy (which a share group has none of), state, number of members."""
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
    """A row of ``--list --type``."""
    name = cells["TYPE"].lower()
    if "PROTOCOL" in cells:  # kafka-groups: a group without members that commits by hand has none
        group.protocol_type = cells["PROTOCOL"].removeprefix(NOTHING)
    if name not in set(GroupType):
        raise line.refuse(f"unknown group type {excerpt(cells['TYPE'])}", f"known: {', '.join(GroupType)}")
    group.type = GroupType(name)
    if group.state is None:
        group.state = known(cells.get("STATE", NOTHING))


def known(cell: str) -> str | None:
    """``None`` for a cell that says nothing."""
    return None if cell in ("", NOTHING) else cell
