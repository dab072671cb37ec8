"""kafka-get-offsets: topic:partition:offset."""

from __future__ import annotations

import pytest

from kafka_rebalance.errors import InvalidInputError
from rebalance_advisor.dumps.offsets_dump import OffsetsDump, looks_like_offsets


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
    dump = read(
        "Skip getting offsets for topic-partition a-1 due to error: not leader\na.b-c_d:0:9223372036854775807\n"
    )
    assert dump.start_and_end() == ({}, {("a.b-c_d", 0): 2**63 - 1})
    assert [(gap.subject_type, gap.subject, gap.reason) for gap in dump.gaps] == [("partition", "a-1", "not leader")]


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
