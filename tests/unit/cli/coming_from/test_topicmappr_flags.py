from __future__ import annotations

import pytest

from rebalance_advisor.cli.coming_from import SCALE, Command, only_command, shell_commands


def command(text: str) -> Command:
    return only_command(shell_commands(text, "f"), "f")


def test_flags_before_and_behind_the_name_are_of_one_command() -> None:
    read = command("X=1 TOPICMAPPR_A=b topicmappr --zk-addr rebuild scale \\\n --topics=a=b --verbose")
    assert (read.name, read.location) == (SCALE, "f:1")
    assert read.values == {"zk-addr": "rebuild", "topics": "a=b", "verbose": "true"}
    assert list(read.locations.items()) == [("zk-addr", "f:1"), ("topics", "f:2"), ("verbose", "f:2")]
    assert read.variables == (("f:1", "TOPICMAPPR_A"),)


@pytest.mark.parametrize(("text", "says"), [("", True), ("=t", True), ("=True", True), ("=0", False), ("=F", False)])
def test_yes_and_no_are_said_as_in_go(text: str, says: bool) -> None:
    assert command(f"topicmappr scale --verbose{text}").values == {"verbose": "true" if says else "false"}


def test_the_short_word_for_help_is_a_flag() -> None:
    assert command("topicmappr scale -h").values == {"help": "true"}


def test_a_value_may_begin_like_a_flag() -> None:
    assert command("topicmappr scale --brokers -1").values == {"brokers": "-1"}


def test_of_two_flags_the_last_is_kept_with_its_place() -> None:
    read = command("topicmappr scale --topics a \\\n --topics b")
    assert (read.values, read.locations) == ({"topics": "b"}, {"topics": "f:2"})
    assert read.overridden == ("f:1  --topics is given again in f:2: the last counts",)
