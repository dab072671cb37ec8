from __future__ import annotations

import pytest

from kafka_assignors.errors import InvalidInputError
from rebalance_advisor.dumps.dump_folder import LogDirsDump, looks_like_log_dirs
from tests.unit.dumps.dump_texts import LOG_DIRS


def read(text):
    assert looks_like_log_dirs(text)
    dump = LogDirsDump()
    dump.read(text, "dirs.txt")
    return dump


def test_sizes_are_those_of_each_replica():
    assert read(LOG_DIRS).log_bytes == {("orders", 0, 1): 1000, ("orders", 0, 2): 999, ("orders", 1, 2): 500}


def test_a_dash_in_a_topics_name_belongs_to_the_name():
    assert ("a-b-7", 0, 1) in read(LOG_DIRS.replace("orders-0", "a-b-7-0")).log_bytes


def test_json_alone_and_json_on_one_line_are_read():
    only = LOG_DIRS[LOG_DIRS.index("{") :]
    assert read(only).log_bytes == read(only.replace("\n", "")).log_bytes == read(LOG_DIRS).log_bytes


BROKEN = {
    "no json": (LOG_DIRS[: LOG_DIRS.index("{")], r"dirs\.txt: holds no JSON"),
    "cut": (LOG_DIRS[:400], r"dirs\.txt:\d+: is no JSON"),
    "version": (LOG_DIRS.replace('"version":1', '"version":2'), r"dirs\.txt\.version: 2 is unknown"),
    "broker": (LOG_DIRS.replace('"broker":2', '"broker":"2"'), r"brokers\[1\]\.broker: expected a whole number"),
    "broker twice": (LOG_DIRS.replace('"broker":2', '"broker":1'), r"brokers\[1\]: broker 1 is listed twice"),
    "no dirs": (LOG_DIRS.replace('"logDirs"', '"dirs"', 1), r"brokers\[0\]: 'logDirs' is missing"),
    "name": (LOG_DIRS.replace("orders-0", "orders"), r"\[0\]\.partition: expected topic-number, found 'orders'"),
    "size": (LOG_DIRS.replace('"size":1000', '"size":-1'), r"partitions\[0\]\.size: expected a whole number, found -1"),
    "no size": (LOG_DIRS.replace('"size":1000,', ""), r"partitions\[0\]: 'size' is missing"),
    "future": (LOG_DIRS.replace("false", "0", 1), r"isFuture: expected true or false, found 0"),
    "twice": (LOG_DIRS.replace("orders-1", "orders-0", 1), r"partitions\[1\]: orders-0 stands twice on broker 2"),
    "key twice": (LOG_DIRS.replace('"size":1000', '"size":1000,"size":2'), r"dirs\.txt:\d+: a key stands twice"),
    "a dict": (
        LOG_DIRS.replace('"partitions":[]', '"partitions":{}'), r"logDirs\[0\]\.partitions: expected a list, found dict"
    ),
    "trailing": (LOG_DIRS + "{}", r"dirs\.txt:13\.version: None is unknown"),
    "tool gave up": (
        "Querying brokers for log directories information\njava.util.concurrent.TimeoutException: x\n",
        r"dirs\.txt:2: the tool gave up",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "message"), BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_dump_is_refused_with_its_place(text, message):
    with pytest.raises(InvalidInputError, match=message):
        read(text)
