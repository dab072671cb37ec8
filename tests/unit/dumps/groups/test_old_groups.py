"""Tools before Kafka 2.4: tables without GROUP column, owners in place of members, ConsumerOffsetChecker."""

from __future__ import annotations

import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.facts import FactCode
from rebalance_advisor.dumps.groups_dump import GroupsDump, looks_like_groups

OFFSETS = """
TOPIC           PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG             CONSUMER-ID     HOST            CLIENT-ID
orders          0          90              100             10              c-1             /127.0.0.1      cli
"""
MEMBERS = """
CONSUMER-ID     HOST            CLIENT-ID       #PARTITIONS     ASSIGNMENT
c-1             /127.0.0.1      cli             1               orders(0)
"""
STATE = """
COORDINATOR (ID)          ASSIGNMENT-STRATEGY  STATE                #MEMBERS
h1.example:9092  (1)      range                Stable               1
"""
OWNERS = """
GROUP                          TOPIC                          PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG             OWNER
billing                        orders                         0          90              100             10              my client-1_/172.19.0.4
billing                        orders                         1          40              40              0               my client-1_/172.19.0.4
billing                        orders                         2          unknown         40              unknown         none
"""  # noqa: E501
CHECKER = """Group           Topic                          Pid Offset          logSize         Lag             Owner
billing         orders                         0   90              100             10              billing_host-1394154511599-60744496-0
billing         orders                         1   -1              40              unknown         none
BROKER INFO
1 -> 127.0.0.1:9092
"""  # noqa: E501
SAID = "Consumer group 'billing' has no active members.\n"
RUN = "[root@h kafka]# bin/kafka-consumer-groups.sh --bootstrap-server h:9092 --describe"


def read(*files):
    dump = GroupsDump()
    for name, text in files:
        assert looks_like_groups(text)
        dump.read(text, f"folder/{name}")
    return {group.id: group for group in dump.groups()}, {(gap.subject, gap.what.code) for gap in dump.gaps}


def test_the_command_above_a_table_tells_its_group():
    offsets = f"{RUN} --group billing\n{OFFSETS}"
    members = f"{RUN} --members --verbose --group=billing\n{MEMBERS}"
    state = f"{RUN} --state \\\n --group 'my group'\n{STATE}"
    text = offsets + members + state
    groups, gaps = read(("x.txt", text))
    assert sorted(groups) == ["billing", "my group"]
    assert groups["billing"].members[0].assigned == (("orders", (0,)),)
    assert groups["my group"].coordinator == 1
    assert ("billing", FactCode.LACKS_GROUP_NAME) not in gaps


def test_the_sentence_above_a_table_tells_its_group():
    groups, gaps = read(("groups.txt", SAID + OFFSETS))
    assert groups["billing"].committed[0].offset == 90
    assert ("billing", FactCode.LACKS_GROUP_NAME) not in gaps


@pytest.mark.parametrize(
    "names",
    [
        ("billing.txt",) * 3,
        ("billing-offsets.txt", "billing_members.out.gz", "billing.state"),
        ("consumer-groups-billing.txt", "members-billing.txt", "kafka-consumer-group_billing-state.log"),
    ],
)
def test_the_name_of_the_file_is_taken_and_said(names):
    groups, gaps = read(*zip(names, (OFFSETS, MEMBERS, STATE), strict=True))
    assert list(groups) == ["billing"]
    assert groups["billing"].protocol == "range"
    assert gaps == {("billing", FactCode.LACKS_GROUP_NAME)}


NAMELESS = {
    "generic name": ("consumer-groups.txt", OFFSETS, 2, "neither a command nor the file's name"),
    "kind alone": ("members.txt", MEMBERS, 2, "neither a command nor the file's name"),
    "two groups": ("x", f"{RUN} --group a --group b\n{OFFSETS}", 3, "the command names 2 groups"),
    "variable": ("offsets.txt", f"{RUN} --group $g\n{OFFSETS}", 3, "neither a command nor the file's name"),
    "second table": ("billing.txt", OFFSETS + OFFSETS, 5, "second table of offsets in this file"),
    "sentence is over": ("dump.txt", SAID + OFFSETS + OFFSETS, 6, "neither a command nor the file's name"),
}


@pytest.mark.parametrize(("name", "text", "line", "message"), NAMELESS.values(), ids=NAMELESS.keys())
def test_a_table_whose_group_nothing_tells_is_refused(name, text, line, message):
    with pytest.raises(InvalidInputError, match=rf"^folder/{name}:{line}: has no GROUP column.*{message}") as refusal:
        GroupsDump().read(text, f"folder/{name}")
    assert "name the file after the group" in str(refusal.value) or "second" in str(refusal.value)


def test_owners_are_clients_on_hosts():
    groups, gaps = read(("x", OWNERS))
    (member,) = groups["billing"].members
    assert (member.client_id, member.host, member.assigned) == ("my client-1", "/172.19.0.4", (("orders", (0, 1)),))
    assert [(commit.partition, commit.offset) for commit in groups["billing"].committed] == [(0, 90), (1, 40)]
    assert ("billing", FactCode.LACKS_MEMBERS) in gaps


def test_what_consumer_offset_checker_prints_is_read():
    groups, _ = read(("x", "$ kafka-consumer-offset-checker.sh --zookeeper zk:2181 --group billing\n" + CHECKER))
    (member,) = groups["billing"].members
    assert (member.id, member.client_id, member.assigned) == (
        "billing_host-1394154511599-60744496-0", None, (("orders", (0,)),),
    )  # fmt: skip
    assert [(commit.partition, commit.offset) for commit in groups["billing"].committed] == [(0, 90)]


def test_a_row_after_the_brokers_of_consumer_offset_checker_is_refused():
    with pytest.raises(InvalidInputError, match=r"^x:6: is no line of kafka-consumer-groups"):
        GroupsDump().read(CHECKER + "billing         orders   2   9   9   0   none\n", "x")


@pytest.mark.parametrize(("lag", "is_wrong"), [("10", False), ("11", True), ("0", True), ("-10", True), ("-", False)])
def test_a_lag_column_is_compared_with_what_is_computed(lag, is_wrong):
    dump = GroupsDump()
    dump.read(f"{RUN} --group billing\n" + OFFSETS.replace("10              c", f"{lag:<15} c"), "x")
    dump.groups()
    gaps = [gap.reason for gap in dump.gaps if gap.lacks(FactCode.LACKS_LAG)]
    assert len(gaps) == is_wrong
    assert not is_wrong or (gaps[0].args["first"], gaps[0].args["computed"]) == ("orders-0", 10)


@pytest.mark.parametrize("lag", ["-5", "0"])
def test_a_commit_beyond_the_end_may_be_printed_as_zero_or_below(lag):
    text = OFFSETS.replace("100             10 ", f"85              {lag:<3}")
    _, gaps = read(("billing.txt", text))
    assert ("billing", FactCode.LACKS_LAG) not in gaps


def test_a_lag_that_is_no_number_is_refused():
    with pytest.raises(InvalidInputError, match=r"^billing:3: expected a lag, found 'ten'"):
        GroupsDump().read(OFFSETS.replace("10              c", "ten             c"), "billing")
