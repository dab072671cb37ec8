"""What ``kafka-consumer-groups --describe --all-groups`` prints → groups.

Three dumps belong together: offsets (no option), ``--members --verbose`` and ``--state``; ``--list --type`` may help.
Each block of each file is told apart by its header, so they may stand in one file or in several. They were taken one
after the other: where they disagree the group was rebalancing, and that is reported as a gap.

Older tools described one group at a time, without a GROUP column (``group_of_table``), and named an OWNER in place of
the member; ConsumerOffsetChecker's table is read as that of offsets.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.groups.motion import REBALANCING
from kafka_rebalance.snapshot.model import (
    CommittedOffset,
    CoverageGap,
    Group,
    GroupType,
    Member,
    TopicPartitions,
)
from kafka_rebalance.visible_text import excerpt
from rebalance_advisor.dumps.files.dump_lines import Line, lines_and_commands
from rebalance_advisor.dumps.files.terminal_lines import Command
from rebalance_advisor.dumps.groups.assignment import partition_count, runs_of
from rebalance_advisor.dumps.groups.columns import Header, read_header
from rebalance_advisor.dumps.groups.group_of_table import GroupOfTable, Kind
from rebalance_advisor.dumps.groups.rows import (
    Cells,
    GroupNotes,
    MemberRow,
    add_list_row,
    add_member_row,
    add_offsets_row,
    add_owner_row,
    add_share_offsets_row,
    add_state_row,
    add_streams_member_row,
    add_streams_offsets_row,
)

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
# The columns that make a block what it is, most telling first.
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
    """What all dumps of groups say, by group."""

    notes: dict[str, GroupNotes] = field(default_factory=dict)
    gaps: list[CoverageGap] = field(default_factory=list)

    def read(self, text: str, place: str) -> None:
        """Add what one file holds. Raises InvalidInputError with file, line and reason."""
        header: Header | None = None
        add: AddRow | None = None
        group: str | None = None
        group_of_table = GroupOfTable(place)
        by_tool: GroupType | None = None  # of the command above
        for line in lines_and_commands(text, place):
            if isinstance(line, Command):
                group_of_table.hear_command(line)
                by_tool = next((kind for tool, kind in _TOOLS.items() if line.runs(tool)), None)
                header = None
            elif not line.text.strip():
                continue
            elif named := self._take_note(line):
                group_of_table.hear_sentence(named)
            elif found := read_header(line.text):
                header = found
                kind, add = _block_of(found, line)
                group = self._group_without_column(group_of_table, kind, line) if "GROUP" not in found.names else None
                group_of_table.forget()
            elif header is None or add is None:
                if not _BROKER_INFO.match(line.text):
                    raise line.refuse(f"is no line of kafka-consumer-groups: {excerpt(line.text.strip())}")
            elif _BROKER_INFO.match(line.text):  # ConsumerOffsetChecker's list of brokers ends its table
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
        """The greatest end offset that any group's rows show, by partition."""
        result: dict[tuple[str, int], int] = {}
        for group in self.notes.values():
            for partition, offset in group.end_offsets.items():
                result[partition] = max(offset, result.get(partition, 0))
        return result

    def note_older_ends(self, end: Mapping[tuple[str, int], int]) -> None:
        """Add a gap to each group whose commits are beyond ``end``, but not beyond the end in their own rows."""
        for group in self.notes.values():
            own, commits = group.end_offsets, group.committed.items()
            beyond = [key for key, offset in commits if end.get(key, offset) < offset <= own.get(key, -1)]
            if beyond:
                reason = fact(FactCode.END_OFFSETS_OLDER, partitions=len(beyond))
                self._miss(group.id, FactCode.LACKS_END_OFFSETS, reason)

    def groups(self) -> tuple[Group, ...]:
        """The groups, by id; what the dumps disagree on or lack is added to ``gaps``."""
        return tuple(self._assemble(self.notes[name]) for name in sorted(self.notes))

    def _group(self, name: str) -> GroupNotes:
        return self.notes.setdefault(name, GroupNotes(name))

    def _take_note(self, line: Line) -> str | None:
        """The group of a sentence that the tool prints between the blocks; ``None`` for any other line."""
        if found := _NO_MEMBERS.match(line.text):
            group = self._group(found["group"])
            group.state = group.state or "Empty"
            group.members = {} if group.members is None else group.members
        elif found := _REBALANCING.match(line.text):
            self._group(found["group"]).is_rebalancing = True
            self._miss(found["group"], FactCode.LACKS_ASSIGNMENT, fact(FactCode.GROUP_REBALANCING, state=None))
        elif found := _GONE.match(line.text):
            self._miss(found["group"], FactCode.LACKS_GROUP, fact(FactCode.GROUP_GONE))
        elif found := _NO_OFFSETS.match(line.text):
            group = self._group(found["group"])
            group.type, group.has_offsets = GroupType.SHARE, True
        return None if found is None else found["group"]

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
        """The members dump counts; the offsets dump stands in where that one printed no topics."""
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
    """A header of a block, or a sentence of the tool, stands among the lines."""
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
    """As listed; else by what only one protocol has: a member epoch, or the server's ``uniform``."""
    if notes.type is not None:
        return notes.type
    rows = list((notes.members or {}).values())
    if any(row.epoch is not None for row in rows) or notes.generation is not None or notes.protocol == "uniform":
        return GroupType.CONSUMER
    if any(row.has_epochs for row in rows) or notes.protocol is not None:
        return GroupType.CLASSIC
    return GroupType.UNKNOWN
