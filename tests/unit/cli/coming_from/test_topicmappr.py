from __future__ import annotations

import random
import re
import tomllib
from pathlib import Path

import pytest

from kafka_assignors.errors import InvalidInputError
from rebalance_advisor.airflow.clusters import read_clusters
from rebalance_advisor.cli.coming_from import Imported, import_topicmappr, whole_name_pattern
from rebalance_advisor.cli.main import main
from rebalance_advisor.request.run_request import RunRequest

# One of each flag, as the README of 4.x lists them.
REBUILD = """topicmappr rebuild --brokers 1,2,3 --chunk-step-size 3 --chunked --force-rebuild --leader-evac-brokers 3
--leader-evac-topics a,b --map-string {} --metrics-age 60 --min-rack-ids 2 --optimize storage --optimize-leadership
--out-file f --out-path p --partition-size-factor 1.1 --phased-reassignment --placement storage --replication 3
--skip-no-ops --sub-affinity --topics a,b --topics-exclude c --use-meta --ignore-warns --zk-addr z
--zk-metrics-prefix m --zk-prefix k --kafka-addr b --kafka-sasl-password hunter2""".replace("\n", " ")
REBALANCE = """topicmappr rebalance --brokers 1,2,3 --locality-scoped --metrics-age 60 --optimize-leadership
--out-file f --out-path p --partition-limit 30 --partition-size-threshold 512 --storage-threshold 0.2
--storage-threshold-gb 5 --tolerance 0.1 --topics .* --topics-exclude c --verbose --zk-metrics-prefix m
--ignore-warns""".replace("\n", " ")
SCALE = """topicmappr scale --brokers 1,2,3 --locality-scoped --metrics-age 60 --optimize-leadership --out-file f
--out-path p --partition-limit 30 --partition-size-threshold 512 --tolerance 0.1 --topics .* --topics-exclude c
--verbose""".replace("\n", " ")


def imported(text: str) -> Imported:
    return import_topicmappr(text, "run.sh")


def rebuilt(flags: str) -> Imported:
    return imported(f"topicmappr rebuild --topics a --brokers 1 {flags}")


def test_what_rebuild_is_told_becomes_topics_brokers_factor_and_leaders() -> None:
    assert imported(REBUILD).options == {
        "include_topic": ["a", "b"],
        "exclude_topic": ["c"],
        "topic_brokers": ["a=1,2,3", "b=1,2,3"],
        "replication_factor": 3,
        "demote_broker": [3],
        "age_limit": "60min",
    }


@pytest.mark.parametrize("text", [REBALANCE, SCALE])
def test_what_rebalance_and_scale_are_told_becomes_a_band_of_disk(text: str) -> None:
    assert imported(text).options == {
        "include_topic": [".*"],
        "exclude_topic": ["c"],
        "topic_brokers": [".*=1,2,3"],
        "target": ["disk=0.9..1.1"],
        "age_limit": "60min",
    }


@pytest.mark.parametrize(("text", "taken"), [(REBUILD, 7), (REBALANCE, 5), (SCALE, 5)])
def test_every_flag_is_taken_over_or_listed(text: str, taken: int) -> None:
    left_out = imported(text).left_out
    flags = re.findall(r" (--[a-z-]+)", text)
    listed = [flag for line in left_out for flag in dict.fromkeys(flags) if f"'{flag}'" in line]
    assert len(listed) == len(flags) - taken
    assert listed == [flag for flag in flags if flag in listed]
    assert all(line.startswith("run.sh:1  ") for line in left_out)


def test_no_value_is_listed_for_it_may_be_a_password() -> None:
    assert "hunter2" not in repr(imported(REBUILD))


def test_a_variable_before_the_command_is_listed() -> None:
    result = imported("TOPICMAPPR_ZK_ADDR=zk:2181 OTHER=1 ./topicmappr rebuild --topics a --brokers 1\n")
    assert [line.split(" (")[0] for line in result.left_out] == ["run.sh:1  'TOPICMAPPR_ZK_ADDR'"]


def test_the_command_is_found_among_others_with_its_lines() -> None:
    text = "set -e\nssh h sudo /opt/topicmappr --zk-addr z rebuild \\\n --topics a \\\n --brokers 1 | tee log\nrm log\n"
    result = imported(text)
    assert result.options == {"include_topic": ["a"], "topic_brokers": ["a=1"]}
    assert [line.split("  ")[0] for line in result.left_out] == ["run.sh:2"]


def test_the_last_of_two_flags_counts_and_it_is_said() -> None:
    result = rebuilt("--replication 2 --replication=3")
    assert result.options["replication_factor"] == 3
    assert "--replication is given again" in result.notes[0]


def test_all_brokers_of_the_cluster_are_no_rule() -> None:
    result = imported("topicmappr rebuild --topics a --brokers -2")
    assert result.options == {"include_topic": ["a"]}
    assert result.left_out == ("run.sh:1  '--brokers' (-2, all brokers of the cluster, is ours without topic_brokers)",)


def test_brokers_of_today_are_not_guessed() -> None:
    result = imported("topicmappr scale --topics a --brokers -1,7")
    assert (result.options, len(result.left_out)) == ({"include_topic": ["a"]}, 1)


def test_nought_is_what_it_is_there() -> None:
    result = imported("topicmappr scale --topics a --brokers 1 --tolerance 0 --metrics-age 0")
    assert set(result.options) == {"include_topic", "topic_brokers"}
    assert len(result.left_out) == 2
    assert "replication_factor" not in rebuilt("--replication 0").options


def test_a_wide_tolerance_ends_at_nothing() -> None:
    result = imported("topicmappr scale --topics a --brokers 1 --tolerance 1.5")
    assert result.options["target"] == ["disk=0..2.5"]


def test_leaders_of_other_topics_than_the_plans_are_left() -> None:
    result = rebuilt("--leader-evac-brokers 1 --leader-evac-topics b")
    assert "demote_broker" not in result.options
    assert len(result.left_out) == 2


def test_a_map_needs_no_topics() -> None:
    result = imported("""topicmappr rebuild --map-string '{"version":1,"partitions":[]}' --brokers 1,2""")
    assert result.options == {"topic_brokers": [".*=1,2"]}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("ls\n", "holds no command of topicmappr"),
        ("topicmappr version", "'version' is no command"),
        ("topicmappr --zk-addr z", "without a command"),
        ("topicmappr rebuild --topics a", "no --brokers"),
        ("topicmappr rebuild --brokers 1", "no --topics"),
        ("topicmappr rebalance --map-string {} --brokers 1", "has no flag '--map-string'"),
        ("topicmappr rebuild --topics a --brokers 1 --replicaton 3", "did you mean --replication"),
        ("topicmappr rebuild -topics a --brokers 1", "has no flag '-topics'"),
        ("topicmappr rebuild --topics a --brokers", "--brokers has no value"),
        ("topicmappr rebuild --topics a --brokers 1, 2", "'2' belongs to no flag"),
        ("topicmappr rebuild --topics a --brokers 1,,2", "--brokers: '' cannot be"),
        ("topicmappr rebuild --topics a --brokers 1,x", "--brokers: 'x' cannot be"),
        ("topicmappr rebuild --topics a --brokers -3", "--brokers: '-3' cannot be"),
        ("topicmappr rebuild --topics a --brokers 99999999999", "cannot be"),
        ("topicmappr rebuild --topics a,,b --brokers 1", "--topics: holds an empty name"),
        ("topicmappr rebuild --topics 'a(' --brokers 1", "no regular expression"),
        ("topicmappr rebuild --topics '[[:alpha:]]+' --brokers 1", "means something else"),
        ("topicmappr rebuild --topics a --brokers 1 --use-meta=maybe", "neither true nor false"),
        ("topicmappr rebuild --topics a --brokers 1 --replication 1.5", "--replication: '1.5' cannot be"),
        ("topicmappr scale --topics a --brokers 1 --tolerance=-0.1", "--tolerance: '-0.1' cannot be"),
        ("topicmappr scale --topics a --brokers 1 --tolerance nan", "--tolerance: 'nan' cannot be"),
        ("topicmappr scale --topics a --brokers 1 --tolerance .", "cannot be"),
    ],
)
def test_what_cannot_be_is_refused_with_its_place(text: str, says: str) -> None:
    with pytest.raises(InvalidInputError, match=r"run\.sh") as refused:
        imported(text)
    assert says in str(refused.value)


def test_a_second_command_is_refused_with_its_line() -> None:
    command = "topicmappr rebuild --topics a --brokers 1\n"
    with pytest.raises(InvalidInputError, match=r"run\.sh:2: is the second command"):
        imported(command + command)


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [("pay-in", "pay-in"), ("a.b", ".*a.b.*"), ("^a.*", "a.*"), ("^a|b$", ".*(?:^a|b$).*"), (r"a\$.", r".*a\$..*")],
)
def test_patterns_are_told_as_whole_names(theirs: str, ours: str) -> None:
    assert whole_name_pattern(theirs) == ours


def test_random_patterns_match_the_same_topics_as_there() -> None:
    """There: a plain name is ``^name$``, any other is looked for anywhere in a topic's name."""
    draw = random.Random(3)
    pieces = ("a", "b", "-", ".", ".*", "^", "$", "|", "[ab]", "b+", r"\.", "(a|b)", r"\-")
    topics = ["".join(draw.choices("ab.-", k=draw.randrange(1, 6))) for _ in range(60)]
    counts = [0, 0]
    for _ in range(1500):
        theirs = "".join(draw.choices(pieces, k=draw.randrange(1, 6)))
        is_plain = re.fullmatch(r"[\w\\-]+", theirs, re.ASCII) is not None
        try:
            wanted = re.compile(f"^{theirs}$" if is_plain else theirs)
        except re.error:
            continue  # refused by our own reader of options
        ours = re.compile(whole_name_pattern(theirs))
        for topic in topics:
            assert (ours.fullmatch(topic) is None) == (wanted.search(topic) is None), (theirs, topic)
            counts[ours.fullmatch(topic) is None] += 1
    assert min(counts) > 5000


def test_the_table_is_read_back_by_our_own_reader(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "run.sh").write_text(REBUILD)
    assert main(["import", "topicmappr", str(tmp_path / "run.sh"), "--cluster", "orders"]) == 0
    printed = capsys.readouterr().out
    (tmp_path / "clusters.toml").write_text(printed)
    assert read_clusters(tmp_path / "clusters.toml").refused == {}
    table = tomllib.loads(printed)["clusters"]["orders"]
    table.pop("connection")
    request = RunRequest.from_mapping(table)
    assert request.age_limit_s == 3600
    assert request.options.demote_brokers == frozenset({3})
    shell = next(line for line in printed.splitlines() if line.startswith("# In a shell"))
    assert "--age-limit" not in shell
    assert "--topic-brokers a=1,2,3 --topic-brokers b=1,2,3" in shell
