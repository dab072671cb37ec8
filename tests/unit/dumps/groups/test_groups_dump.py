"""kafka-consumer-groups of 3.x and 4.x: offsets, members, state; alone and together."""

from __future__ import annotations

import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.snapshot.model import GroupType
from rebalance_advisor.dumps.groups_dump import GroupsDump, looks_like_groups
from tests.unit.dumps.dump_texts import EPOCHS, MEMBERS, MEMBERS_3_6, MEMBERS_3_9, OFFSETS, STATE


def read(*texts):
    dump = GroupsDump()
    for number, text in enumerate(texts):
        assert looks_like_groups(text)
        dump.read(text, f"{number}.txt")
    return dump


def group(*texts):
    dump = read(*texts)
    return dump.groups()[0], {gap.what.code for gap in dump.gaps}


def test_three_dumps_of_a_group_leave_no_gap():
    result, gaps = group(OFFSETS, MEMBERS, STATE)
    assert result.id == "billing"
    assert gaps == set()


def test_members_of_3_6_name_their_topics():
    result, _ = group(MEMBERS_3_6)
    assert [member.assigned for member in result.members] == [
        (("orders", (0, 2, 10)),),
        (("audit-log", (0,)), ("orders", (1,))),
    ]


def test_members_of_3_9_lost_their_topics_and_the_offsets_dump_gives_them_back():
    result, gaps = group(OFFSETS, MEMBERS_3_9, STATE)
    assert [member.assigned for member in result.members] == [(("orders", (0,)),), (("orders", (1,)),), ()]
    assert gaps == set()


def test_members_of_3_9_alone_are_a_gap_and_not_an_empty_assignment():
    dump = read(MEMBERS_3_9)
    dump.groups()
    assert fact(FactCode.ASSIGNMENT_NOT_SHOWN, member="c-1", partitions=1) in {gap.reason for gap in dump.gaps}


def test_a_kip_848_member_shows_epoch_and_target():
    result, _ = group(EPOCHS)
    assert result.type is GroupType.CONSUMER
    member = result.members[0]
    assert member.assigned == (("a", (1,)), ("orders", (0, 2)))
    assert member.target == (("orders", (0, 1)),)
    assert member.generation == 5


def test_the_type_is_known_by_what_only_one_protocol_prints():
    assert group(MEMBERS)[0].type is GroupType.CLASSIC
    assert group(STATE)[0].type is GroupType.CLASSIC
    assert group(STATE.replace("range  ", "uniform"))[0].type is GroupType.CONSUMER
    assert group(OFFSETS)[0].type is GroupType.UNKNOWN
    listed = (
        "GROUP                     TYPE                 STATE\nbilling                   Share                Stable\n"
    )
    assert group(listed, OFFSETS)[0].type is GroupType.SHARE


def test_verbose_state_has_epochs():
    text = (
        "GROUP           COORDINATOR (ID)          ASSIGNMENT-STRATEGY  STATE                GROUP-EPOCH     "
        "TARGET-ASSIGNMENT-EPOCH   #MEMBERS\n"
        "g               localhost:9092  (3)       uniform              Reconciling          17              "
        "16                        2\n"
    )
    result, gaps = group(text)
    assert (result.coordinator, result.protocol, result.state, result.generation) == (3, "uniform", "Reconciling", 17)
    assert FactCode.LACKS_MEMBERS in gaps, "two members are announced and none is shown"


def test_blanks_in_names_and_dashes_of_idle_members_are_read_by_column():
    text = (
        "GROUP           TOPIC           PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG             CONSUMER-ID     "
        "HOST            CLIENT-ID\n"
        "my group        orders          0          5               9               4               my app-1        "
        "rev.example/1.2 my app\n"
        "my group        -               -          -               -               -               my app-2        "
        "/127.0.0.1      my app\n"
    )
    result, _ = group(text)
    assert result.id == "my group"
    assert [(m.id, m.host, m.assigned) for m in result.members] == [
        ("my app-1", "rev.example/1.2", (("orders", (0,)),)),
        ("my app-2", "/127.0.0.1", ()),
    ]


def test_a_copy_that_lost_its_padding_is_read_word_by_word():
    squeezed = "\n".join(" ".join(line.split()) for line in (STATE + MEMBERS_3_6).split("\n"))
    result, _ = group(squeezed)
    assert result.coordinator == 1
    assert result.members[1].assigned == (("audit-log", (0,)), ("orders", (1,)))


def test_numbers_wider_than_their_column_do_not_shift_what_follows():
    wide = OFFSETS.replace("90              100             10 ", "9000000000000000 9000000000000001 1  ").replace(
        "my client", "cli"
    )
    result, _ = group(wide)
    assert result.committed[0].offset == 9000000000000000
    assert result.members[0].client_id == "cli"


def test_a_share_group_gives_one_partition_to_several_members():
    text = EPOCHS.replace("a:1;orders:0,2", "t:0,t:1,t:2   ").replace(" m1 ", " m1 ")
    assert group(text)[0].members[0].assigned == (("t", (0, 1, 2)),)


def test_a_rebalance_between_two_dumps_is_a_gap():
    _, gaps = group(OFFSETS, MEMBERS.replace("orders:1 ", "audit:7  "), STATE)
    assert gaps == {FactCode.LACKS_ASSIGNMENT}
    _, gaps = group(OFFSETS.replace(" c-1 ", " c-9 "), MEMBERS, STATE)
    assert gaps == {FactCode.LACKS_ASSIGNMENT}
    _, gaps = group(OFFSETS, MEMBERS, STATE.replace("Stable               3", "Stable               4"))
    assert gaps == {FactCode.LACKS_MEMBERS}


def test_what_the_tool_says_between_the_blocks_is_understood():
    dump = read(
        "\nWarning: Consumer group 'a' is rebalancing.\n\nError: Consumer group 'b' does not exist.\n"
        "\nConsumer group 'c d' has no active members.\n"
    )
    groups = {group.id: group for group in dump.groups()}
    assert groups["c d"].state == "Empty"
    assert {(gap.subject, gap.what.code) for gap in dump.gaps} >= {
        ("a", FactCode.LACKS_ASSIGNMENT), ("b", FactCode.LACKS_GROUP),
    }  # fmt: skip
    assert "b" not in groups


BROKEN = {
    "no group column": (OFFSETS.replace("GROUP  ", "       ", 1), r":2: has no GROUP column"),
    "cut row": (OFFSETS.replace("c-1             /127.0.0.1      my client", ""), r":3: does not fit the columns"),
    "partition": (OFFSETS.replace("orders          0 ", "orders          x "), r":3: expected a partition, found 'x'"),
    "offset": (OFFSETS.replace("  90 ", "  9b "), r":3: expected an offset in CURRENT-OFFSET, found '9b'"),
    "row twice": (
        OFFSETS.replace("orders          1 ", "orders          0 ").replace(" c-2 ", " c-1 "),
        r":4: orders-0 stands twice for one member of group billing",
    ),
    "no topic": (
        OFFSETS.replace(" c-3             /127.0.0.1 ", " -               -          "), r":5: a row without topic"
    ),
    "unknown columns": ("GROUP           TOPIC           LAG\n", r":1: is no known set of columns"),
    "prose first": (OFFSETS.replace("\nGROUP", "hello\nGROUP", 1), r":1: is no line of kafka-consumer-groups: 'hello'"),
    "member twice": (MEMBERS.replace(" c-2 ", " c-1 "), r":4: member c-1 of group billing is listed twice"),
    "count": (MEMBERS.replace("1               -               orders:0", "2               -               orders:0"),
              r":4: #PARTITIONS is 2, the assignment holds 1"),
    "assignment": (MEMBERS.replace("orders:0 ", "orders-0 "), r":4: is no assignment: 'orders-0'"),
    "brackets": (MEMBERS_3_6.replace("orders(0,10,2)", "orders(0,10,2"), r":3: is no assignment: 'orders\(0,10,2'"),
    "assigned twice": (MEMBERS_3_6.replace("orders(0,10,2)", "orders(0,10,0)"), r":3: a partition stands twice"),
    "half named": (MEMBERS_3_6.replace("audit-log(0)", "(0)"), r":4: a topic's name is missing"),
    "coordinator": (STATE.replace("(1)", "one"), r":3: (does not fit|expected host:port \(id\))"),
    "state twice": (STATE + STATE, r":9: the state of group billing is listed twice"),
    "members count": (STATE.replace("Stable               3", "Stable               three"), r":3: expected a number"),
    "tool gave up": (
        OFFSETS + "Error: Executing consumer group command failed due to timeout\n", r":\d+: the tool gave up"
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "message"), BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_dump_is_refused_with_file_and_line(text, message):
    with pytest.raises(InvalidInputError, match=r"^0\.txt" + message):
        read(text)


SHARE_OFFSETS = """
GROUP           TOPIC           PARTITION  START-OFFSET  LAG
jobs            orders          0          90            10
jobs            orders          1          -             -
"""
SHARE_MEMBERS = """
GROUP           CONSUMER-ID     HOST            CLIENT-ID       #PARTITIONS  MEMBER-EPOCH  ASSIGNMENT
jobs            c-1             /10.0.0.1       worker 1        2            7             orders:0,1
jobs            c-2             /10.0.0.2       worker 2        1            7             orders:0
"""
SHARE_STATE = """
GROUP           COORDINATOR (ID)          STATE           #MEMBERS
jobs            broker-2:9092  (2)        Stable          2
"""


def test_a_share_group_is_read_from_its_own_tool():
    """Both members read orders-0, which is no error there; the lag is the broker's word, not end less offset."""
    result, gaps = group(SHARE_OFFSETS, SHARE_MEMBERS, SHARE_STATE)
    assert (result.type, result.protocol, result.state, result.coordinator) == (GroupType.SHARE, None, "Stable", 2)
    assert [(member.client_id, member.assigned, member.generation) for member in result.members] == [
        ("worker 1", (("orders", (0, 1)),), 7),
        ("worker 2", (("orders", (0,)),), 7),
    ]
    assert [(commit.partition, commit.offset, commit.lag) for commit in result.committed] == [(0, 90, 10)]
    assert gaps == set()


def test_sentences_about_share_groups_are_understood():
    result, _ = group(
        "\nShare group 'jobs' has no offset information.\n", "\nShare group 'jobs' has no active members.\n"
    )
    assert (result.type, result.state, result.members) == (GroupType.SHARE, "Empty", ())


def test_a_partition_of_a_share_group_stands_once():
    with pytest.raises(InvalidInputError, match="orders-0 stands twice in share group jobs"):
        read(SHARE_OFFSETS.replace("orders          1", "orders          0"))


def test_who_has_not_migrated_is_told_while_both_protocols_are_spoken():
    """``UPGRADED`` is the tool's last column, without padding."""
    result, _ = group("""
GROUP           CONSUMER-ID     HOST            CLIENT-ID       #PARTITIONS     CURRENT-EPOCH   CURRENT-ASSIGNMENT   \
TARGET-EPOCH    TARGET-ASSIGNMENT    UPGRADED
moving          c-1             /10.0.0.1       a               1               5               orders:0             \
5               orders:0             true
moving          c-2             /10.0.0.2       b               1               5               orders:1             \
5               orders:1             false
""")
    assert result.type is GroupType.CONSUMER
    assert [(member.id, member.is_classic) for member in result.members] == [("c-1", False), ("c-2", True)]
