from __future__ import annotations

import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.facts import FactCode, fact
from rebalance_advisor.dumps.groups_dump import OffsetsDump, SeenElsewhere, looks_like_offsets


def read(*texts):
    dump = OffsetsDump()
    for number, text in enumerate(texts):
        assert looks_like_offsets(text)
        dump.read(text, f"{number}.txt")
    return dump


def test_of_two_dumps_the_lower_one_holds_the_start():
    assert read("a:0:5\na:1:7\n", "a:0:5\na:1:3\n").start_and_end() == (
        {("a", 0): 5, ("a", 1): 3},
        {("a", 0): 5, ("a", 1): 7},
    )


def test_a_partition_that_could_not_be_asked_is_a_gap():
    dump = OffsetsDump()
    dump.read(
        "Skip getting offsets for topic-partition a-1 due to error: not leader\na.b-c_d:0:9223372036854775807\n",
        "latest.txt",
    )
    assert dump.start_and_end() == ({}, {("a.b-c_d", 0): 2**63 - 1})
    assert [(gap.subject_type, gap.subject, gap.reason) for gap in dump.gaps] == [
        ("partition", "a-1", fact(FactCode.AS_REPORTED, text="not leader"))
    ]


BROKEN = {
    "prose": ("a:0:5\nhello\n", r"0\.txt:2: expected topic:partition:offset, found 'hello'"),
    "cut": ("a:0:5\na:1\n", r"0\.txt:2: expected topic"),
    "no offset": ("a:0:5\na:1:\n", r"0\.txt:2: expected topic"),
    "negative": ("a:0:5\na:1:-1\n", r"0\.txt:2: expected topic"),
    "no topic": ("a:0:5\n:1:3\n", r"0\.txt:2: expected topic"),
    "blank in name": ("a:0:5\na b:1:3\n", r"0\.txt:2: expected topic"),
    "twice": ("a:0:5\na:1:5\na:0:6\n", r"0\.txt:3: a-0 is listed twice"),
    "huge offset": ("a:0:9223372036854775808\n", r"0\.txt:1: expected an offset, found '9223372036854775808'"),
    "huge partition": ("a:4294967296:1\n", r"0\.txt:1: expected a partition"),
    "tool gave up": ("a:0:5\nError occurred: Could not match any topic-partitions\n", r"0\.txt:2: the tool gave up"),
}


@pytest.mark.parametrize(("text", "message"), BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_dump_is_refused_with_file_and_line(text, message):
    with pytest.raises(InvalidInputError, match=message):
        read(text)


def test_two_dumps_of_which_neither_is_lower_are_refused():
    with pytest.raises(InvalidInputError, match=r"1\.txt: is neither above nor below 0\.txt everywhere"):
        read("a:0:5\na:1:7\n", "a:0:6\na:1:3\n").start_and_end()


GET = "$ bin/kafka-get-offsets.sh --bootstrap-server h:9092"


def roles(name, text, seen=None):
    """Start and end offsets of one dump, and the kinds of gaps."""
    dump = OffsetsDump()
    assert looks_like_offsets(text)
    dump.read(text, f"folder/{name}")
    return (*dump.start_and_end("c", seen and (lambda: seen)), [gap.what.code for gap in dump.gaps])


@pytest.mark.parametrize("time", ["-2", "earliest", "'earliest'", "EARLIEST"])
def test_a_dump_of_the_earliest_offsets_never_serves_as_end_offsets(time):
    assert roles("latest.txt", f"{GET} --time {time}\na:0:5\n") == ({("a", 0): 5}, {}, [])
    assert roles("x.txt", f"{GET} --time={time} --topic a\na:0:5\n") == ({("a", 0): 5}, {}, [])


@pytest.mark.parametrize("time", ["", " --time -1", " --time latest", " --topic a \\\n  --time latest"])
def test_without_another_time_the_tool_asks_for_the_latest(time):
    assert roles("earliest.txt", f"{GET}{time}\na:0:5\n") == ({}, {("a", 0): 5}, [])
    shell = "kafka-run-class.sh kafka.tools.GetOffsetShell --broker-list h:9092"
    assert roles("x.txt", f"{shell}{time}\na:0:5\n") == ({}, {("a", 0): 5}, [])


@pytest.mark.parametrize("time", ["1700000000000", "max-timestamp", "-3", "earliest-local", "-4", "latest-tiered"])
def test_offsets_of_another_time_are_left_out_and_said(time):
    assert roles("latest.txt", f"{GET} --time {time}\na:0:5\n") == ({}, {}, [FactCode.LACKS_OFFSETS])


@pytest.mark.parametrize(
    ("name", "is_start"),
    [("earliest.txt", True), ("log-start-offsets.out.gz", True), ("Latest", False), ("end_offsets.txt", False)],
)
def test_without_a_command_the_name_of_the_file_tells(name, is_start):
    start, end, gaps = roles(name, "a:0:5\n")
    assert (start, end, gaps) == (({("a", 0): 5}, {}, []) if is_start else ({}, {("a", 0): 5}, []))


@pytest.mark.parametrize("name", ["offsets.txt", "blatest.txt", "earliest-and-latest.txt", "2"])
def test_a_dump_that_nothing_tells_is_left_out_and_said(name):
    assert roles(name, "a:0:5\na:1:0\n") == ({}, {}, [FactCode.LACKS_KIND_OF_OFFSETS])


def test_what_other_dumps_show_may_tell_the_kind():
    offsets = {("a", 0): 5, ("a", 1): 0, ("a", 2): 9}
    text = "".join(f"{topic}:{number}:{offset}\n" for (topic, number), offset in offsets.items())
    holding = frozenset(offsets)
    at_start = SeenElsewhere({("a", 0): 7}, holding)
    assert roles("offsets.txt", text, at_start) == (offsets, {}, [FactCode.LACKS_KIND_OF_OFFSETS])
    at_end = SeenElsewhere({("a", 0): 5, ("a", 2): 9}, holding)
    assert roles("offsets.txt", text, at_end) == ({}, offsets, [])
    assert roles("offsets.txt", text, SeenElsewhere({("a", 0): 5}, frozenset()))[2] == [FactCode.LACKS_KIND_OF_OFFSETS]


def test_both_kinds_may_stand_in_one_file_under_their_commands():
    dump = OffsetsDump()
    dump.read(f"{GET} --time -1\na:0:5\n[root@h kafka]# bin/kafka-get-offsets.sh --time -2\na:0:3\n", "x")
    assert dump.start_and_end() == ({("a", 0): 3}, {("a", 0): 5})


def test_a_name_that_the_offsets_contradict_is_said_and_a_command_is_refused():
    dump = OffsetsDump()
    dump.read("a:0:9\n", "earliest.txt")
    dump.read("a:0:5\n", "latest.txt")
    assert dump.start_and_end("c") == ({("a", 0): 5}, {("a", 0): 9})
    assert [gap.reason for gap in dump.gaps] == [
        fact(FactCode.OFFSETS_MISNAMED, file="latest.txt", kind="start"),
        fact(FactCode.OFFSETS_MISNAMED, file="earliest.txt", kind="end"),
    ]
    dump = OffsetsDump()
    dump.read(f"{GET} --time -2\na:0:9\n", "one")
    dump.read("a:0:5\n", "two")
    with pytest.raises(InvalidInputError, match=r"^one: was asked for start offsets, but the other dump shows"):
        dump.start_and_end()


@pytest.mark.parametrize("name", ["latest", "earliest"])
def test_two_dumps_of_one_kind_are_refused(name):
    dump = OffsetsDump()
    dump.read("a:0:5\n", f"{name}-1.txt")
    dump.read("a:0:7\n", f"{name}-2.txt")
    with pytest.raises(InvalidInputError, match=rf"^{name}-2\.txt: holds \w+ offsets, as {name}-1\.txt does"):
        dump.start_and_end()


def test_equal_offsets_are_told_apart_by_name_only():
    dump = OffsetsDump()
    dump.read("a:0:5\n", "latest.txt")
    dump.read("a:0:5\nb:0:7\n", "earliest.txt")
    assert dump.start_and_end() == ({("a", 0): 5, ("b", 0): 7}, {("a", 0): 5})
    dump = OffsetsDump()
    dump.read("a:0:5\n", "1.txt")
    dump.read("b:0:7\n", "2.txt")
    assert dump.start_and_end("c") == ({}, {})
    assert [gap.what.code for gap in dump.gaps] == [FactCode.LACKS_KIND_OF_OFFSETS]
