from __future__ import annotations

import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.snapshot.model import GroupType
from rebalance_advisor.dumps.groups_dump import (
    Cells,
    GroupNotes,
    add_list_row,
    add_member_row,
    add_offsets_row,
    add_owner_row,
    add_state_row,
    known,
)
from rebalance_advisor.dumps.text_lines import Line

LINE = Line("groups.txt:7", "the line")


def offsets(topic: str, partition: str, committed: str, end: str, lag: str, consumer: str = "-") -> Cells:
    return {
        "TOPIC": topic, "PARTITION": partition, "CURRENT-OFFSET": committed, "LOG-END-OFFSET": end, "LAG": lag,
        "CONSUMER-ID": consumer, "HOST": "/h", "CLIENT-ID": "c",
    }  # fmt: skip


def test_offsets_tell_commits_ends_and_who_reads() -> None:
    group = GroupNotes("g")
    add_offsets_row(group, offsets("t", "0", "90", "100", "10", "m1"), LINE)
    add_offsets_row(group, offsets("t", "1", "-", "40", "-", "m1"), LINE)
    add_offsets_row(group, offsets("u", "0", "7", "-", "-"), LINE)
    add_offsets_row(group, offsets("-", "-", "-", "-", "-", "m2"), LINE)  # an idle member
    assert group.committed == {("t", 0): 90, ("u", 0): 7}
    assert group.end_offsets == {("t", 0): 100, ("t", 1): 40}
    assert group.read_by == {"m1": [("t", 0), ("t", 1)], "m2": []}
    assert group.readers["m1"] == ("/h", "c")
    assert (group.has_offsets, group.wrong_lags) == (True, [])


@pytest.mark.parametrize(
    ("committed", "end", "lag", "is_wrong"),
    [("90", "100", "10", False), ("90", "100", "11", True), ("9", "4", "-5", False), ("9", "4", "0", False),
     ("9", "4", "5", True), ("9", "-", "3", False)],
)  # fmt: skip
def test_a_lag_is_the_end_less_the_commit_or_nothing(committed: str, end: str, lag: str, is_wrong: bool) -> None:
    group = GroupNotes("g")
    add_offsets_row(group, offsets("t", "0", committed, end, lag), LINE)
    assert group.wrong_lags == ([("t-0", int(lag), int(end) - int(committed))] if is_wrong else [])


def test_owners_of_before_0_10_1_are_a_client_and_its_host() -> None:
    group = GroupNotes("g")
    add_owner_row(group, offsets("t", "0", "-1", "5", "-") | {"OWNER": "app_/10.0.0.1"}, LINE)
    add_owner_row(group, offsets("t", "1", "3", "5", "2") | {"OWNER": "none"}, LINE)
    add_owner_row(group, offsets("t", "2", "3", "5", "2") | {"OWNER": "g_host-0-thread"}, LINE)
    assert group.readers == {"app_/10.0.0.1": ("/10.0.0.1", "app"), "g_host-0-thread": (None, None)}
    assert group.committed == {("t", 1): 3, ("t", 2): 3}  # an offset of -1 is none
    assert group.has_owners


def member(**changes: str) -> Cells:
    return {
        "CONSUMER-ID": "m1", "HOST": "/h", "CLIENT-ID": "-", "#PARTITIONS": "3", "ASSIGNMENT": "t(0,2), u(1)",
    } | {name.replace("_", "-"): value for name, value in changes.items()}  # fmt: skip


def test_a_member_with_its_assignment_and_one_of_whom_only_the_count_is_printed() -> None:
    group = GroupNotes("g")
    add_member_row(group, member(), LINE)
    bare = member(**{"CONSUMER-ID": "m2"})
    del bare["ASSIGNMENT"]
    add_member_row(group, bare, LINE)
    assert group.members is not None
    first, second = group.members["m1"], group.members["m2"]
    assert first.assigned == (("t", (0, 2)), ("u", (1,)))
    assert (first.client_id, first.epoch, first.target, first.has_epochs) == (None, None, None, False)
    assert (second.assigned, second.partition_count) == (None, 3)


def test_epochs_and_the_target_of_the_new_protocol() -> None:
    group = GroupNotes("g")
    row = member(CURRENT_EPOCH="5", TARGET_EPOCH="7", TARGET_ASSIGNMENT="t:0,1", CURRENT_ASSIGNMENT="t:0,2;u:1")
    del row["ASSIGNMENT"]
    add_member_row(group, row, LINE)
    assert group.members is not None
    member_row = group.members["m1"]
    assert (member_row.epoch, member_row.target, member_row.has_epochs) == (5, (("t", (0, 1)),), True)
    waiting = row | {"CONSUMER-ID": "m2", "TARGET-EPOCH": "-", "TARGET-ASSIGNMENT": ""}
    add_member_row(group, waiting, LINE)
    assert group.members["m2"].target is None


def test_state_and_type() -> None:
    group = GroupNotes("g")
    state = {
        "COORDINATOR (ID)": "h:9092 (3)", "ASSIGNMENT-STRATEGY": "-", "STATE": "Empty", "#MEMBERS": "0",
        "GROUP-EPOCH": "12",
    }  # fmt: skip
    add_list_row(group, {"TYPE": "Consumer", "STATE": "Stable"}, LINE)
    assert (group.type, group.state) == (GroupType.CONSUMER, "Stable")
    add_state_row(group, state, LINE)
    assert (group.coordinator, group.protocol, group.state) == (3, None, "Empty")
    assert (group.member_count, group.generation) == (0, 12)
    add_list_row(group, {"TYPE": "Consumer", "STATE": "Stable"}, LINE)
    assert group.state == "Empty"  # --state is more precise than --list


STATE = {"ASSIGNMENT-STRATEGY": "range", "STATE": "Stable", "#MEMBERS": "1"}
REFUSED = {
    "row without topic": (add_offsets_row, [offsets("-", "0", "-", "-", "-", "m")], "is no idle member"),
    "partition twice": (add_offsets_row, [offsets("t", "0", "1", "2", "1")] * 2, "t-0 stands twice for one member"),
    "member twice": (add_member_row, [member()] * 2, "member m1 of group g is listed twice"),
    "cut row": (add_member_row, [member(ASSIGNMENT="t(0,2)")], "#PARTITIONS is 3, the assignment holds 2"),
    "coordinator": (add_state_row, [STATE | {"COORDINATOR (ID)": "h:9092"}], r"expected host:port \(id\)"),
    "state twice": (add_state_row, [STATE | {"COORDINATOR (ID)": "h:1 (1)"}] * 2, "state of group g is listed twice"),
    "type": (add_list_row, [{"TYPE": "Odd"}], "unknown group type 'Odd'"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_row_that_no_tool_prints_is_refused_with_its_place(name: str) -> None:
    add, rows, message = REFUSED[name]
    group = GroupNotes("g")
    for row in rows[:-1]:
        add(group, row, LINE)
    with pytest.raises(InvalidInputError, match=rf"groups\.txt:7.*{message}"):
        add(group, rows[-1], LINE)


def test_a_dash_and_nothing_are_unknown() -> None:
    assert [known(cell) for cell in ("", "-", "0", " ")] == [None, None, "0", " "]
