from __future__ import annotations

import gzip
import random
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.snapshot.codec import snapshot_to_document
from kafka_rebalance.snapshot.figures import LoadKind, LoadSource
from kafka_rebalance.snapshot.model import BrokerState, GroupType
from rebalance_advisor.dumps import read_input
from rebalance_advisor.dumps.dump_folder import read_folder
from rebalance_advisor.input_bytes import ByteBudget
from tests.unit.dumps.dump_texts import BROKERS, DUMPS, LATEST, LOG_DIRS, MEMBERS, OFFSETS, STATE, TOPICS, write_folder

SIX = datetime(2026, 11, 20, 6, tzinfo=UTC)


def rows_by_name(snapshot):
    return {f"{row.topic}-{row.partition}": row for row in snapshot.each_partition()}


def gaps(snapshot):
    return {(gap.subject, gap.what.code) for gap in snapshot.coverage}


def test_partitions_get_sizes_offsets_and_configs_from_all_dumps(tmp_path):
    snapshot = read_input(write_folder(tmp_path / "prod"))
    assert (snapshot.cluster, snapshot.source, snapshot.captured_at) == ("prod", "dumps", SIX)
    rows = rows_by_name(snapshot)
    assert rows["orders-0"].replicas == (1, 2)
    assert rows["orders-0"].log_bytes == (1000, 999)
    assert (rows["orders-0"].start_offset, rows["orders-0"].end_offset) == (10, 100)
    assert rows["orders-1"].isr == (2,)
    assert rows["orders-1"].log_bytes == (None, 500), "the copy in another dir of broker 2 is no size of it"
    assert [tuple(copy) for copy in rows["orders-1"].future] == [(2, 1, 120)]
    assert (rows["orders-0"].log_dirs, rows["orders-1"].log_dirs) == ((0, 0), (None, 0))
    assert rows["orders-1"].offline == (3,), "the only dir of broker 3 failed"
    assert rows["audit-log-0"].leader is None
    orders = next(topic for topic in snapshot.topics if topic.name == "orders")
    assert orders.topic_id == "QmLwMsncTBWiSn2HoB0Kqg"
    assert orders.configs == {"retention.ms": "60000", "cleanup.policy": "compact,delete"}


def test_a_broker_that_nobody_lists_is_dead_and_keeps_its_replicas(tmp_path):
    brokers = {broker.id: broker for broker in read_input(write_folder(tmp_path)).brokers}
    assert sorted(brokers) == [1, 2, 3, 9]
    assert brokers[9].state is BrokerState.DEAD
    assert {brokers[broker].state for broker in (1, 2, 3)} == {BrokerState.ALIVE}
    assert (brokers[2].rack, brokers[2].host) == ("b", "h2.example")
    assert [log_dir.path for log_dir in brokers[2].log_dirs] == ["/data/a", "/data/b"]
    assert brokers[3].log_dirs[0].error.endswith("KafkaStorageException")


def test_groups_are_put_together_from_three_dumps(tmp_path):
    billing, nightly = read_input(write_folder(tmp_path)).groups
    assert (billing.type, billing.protocol, billing.state, billing.coordinator) == (
        GroupType.CLASSIC, "range", "Stable", 1,
    )  # fmt: skip
    assert [(m.id, m.instance_id, m.client_id, m.assigned) for m in billing.members] == [
        ("c-1", "pod-1", "my client", (("orders", (0,)),)),
        ("c-2", None, "my client", (("orders", (1,)),)),
        ("c-3", None, "my client", ()),
    ]
    assert [(commit.topic, commit.partition, commit.offset) for commit in billing.committed] == [("orders", 0, 90)]
    assert (nightly.state, nightly.coordinator, nightly.members) == ("Empty", 2, ())
    assert nightly.committed[0].offset == 7


def test_a_subscription_that_no_tool_prints_is_unknown(tmp_path):
    billing, _ = read_input(write_folder(tmp_path)).groups
    assert {member.subscription for member in billing.members} == {None}


def test_everything_is_covered_but_what_a_broker_refused(tmp_path):
    snapshot = read_input(write_folder(tmp_path))
    assert gaps(snapshot) == {("3", FactCode.LACKS_LOG_DIR)}


@pytest.mark.parametrize(
    ("left_out", "missing"),
    [
        ("brokers", {FactCode.LACKS_RACKS}),
        ("captured_at", {FactCode.LACKS_TIME}),
        ("log_dirs", {FactCode.LACKS_SIZES}),
    ],
)
def test_a_dump_that_is_not_there_is_a_gap_not_a_smaller_cluster(tmp_path, left_out, missing):
    snapshot = read_input(write_folder(tmp_path / "prod", **{left_out: None}))
    assert missing <= {what for subject, what in gaps(snapshot) if subject == "prod"}
    assert len(snapshot.partitions) == 3
    assert len(snapshot.groups) == 2


def test_without_offsets_dump_the_end_offsets_of_the_groups_count(tmp_path):
    snapshot = read_input(write_folder(tmp_path / "prod", latest=None, earliest=None))
    assert rows_by_name(snapshot)["orders-0"].end_offset == 100
    assert rows_by_name(snapshot)["orders-0"].start_offset is None
    assert ("prod", FactCode.LACKS_OFFSETS) in gaps(snapshot)


def test_one_offsets_dump_holds_end_offsets_and_the_order_of_two_does_not_matter(tmp_path):
    only = rows_by_name(read_input(write_folder(tmp_path / "a", earliest=None)))["orders-0"]
    assert (only.start_offset, only.end_offset) == (None, 100)
    turned = {**DUMPS, "earliest.txt": LATEST, "latest.txt": DUMPS["earliest.txt"]}
    row = rows_by_name(read_input(write_folder(tmp_path / "b", turned)))["orders-0"]
    assert (row.start_offset, row.end_offset) == (10, 100)


def test_without_broker_list_brokers_are_those_that_were_seen(tmp_path):
    brokers = {broker.id: broker.state for broker in read_input(write_folder(tmp_path, brokers=None)).brokers}
    assert brokers == dict.fromkeys((1, 2, 3), BrokerState.ALIVE) | {9: BrokerState.DEAD}, "nobody leads what 9 holds"
    led = TOPICS.replace("Leader: none", "Leader: 9")
    brokers = {
        broker.id: broker.state for broker in read_input(write_folder(tmp_path, brokers=None, topics=led)).brokers
    }
    assert brokers[9] is BrokerState.ALIVE


def test_names_of_files_do_not_matter_and_files_may_be_packed_or_joined(tmp_path):
    plain = read_input(write_folder(tmp_path / "plain"), cluster="c")
    odd = tmp_path / "odd"
    odd.mkdir()
    joined = [MEMBERS + STATE + OFFSETS, TOPICS, LOG_DIRS, LATEST, DUMPS["earliest.txt"], BROKERS, DUMPS["captured_at"]]
    for number, text in enumerate(joined):
        (odd / f"{number}.out.gz").write_bytes(gzip.compress(text.replace("\n", "\r\n").encode()))
    (odd / ".hidden").write_text("not read")
    other = read_input(odd, cluster="c")
    assert list(other.each_partition()) == list(plain.each_partition())
    assert (other.groups, other.brokers, other.coverage) == (plain.groups, plain.brokers, plain.coverage)


def test_a_capacity_file_in_the_folder_counts(tmp_path):
    folder = write_folder(tmp_path)
    (folder / "capacity.csv").write_text("broker,disk_bytes,cpu_percent\n2,5000,\n")
    brokers = {broker.id: broker for broker in read_input(folder).brokers}
    assert (brokers[2].capacity.disk_bytes, brokers[2].capacity.cpu_percent) == (5000, None)
    assert brokers[1].capacity.disk_bytes is None


def test_an_empty_dump_is_a_gap(tmp_path):
    snapshot = read_input(write_folder(tmp_path, members="", state="\n", offsets=""))
    assert snapshot.groups == ()
    assert FactCode.LACKS_GROUPS in {gap.what.code for gap in snapshot.coverage}
    empty = [gap.reason for gap in snapshot.coverage if gap.lacks(FactCode.LACKS_FILE)]
    assert empty == [fact(FactCode.FILE_EMPTY, file=f"{name}.txt") for name in ("members", "offsets", "state")]


@pytest.mark.parametrize("name", ["topics", "latest", "offsets"])
def test_a_dump_whose_last_line_may_be_cut_is_a_gap(tmp_path, name):
    files = {"topics": TOPICS, "latest": LATEST, "offsets": OFFSETS}
    snapshot = read_input(write_folder(tmp_path / "prod", **{name: files[name].rstrip("\n")}))
    gap = next(gap for gap in snapshot.coverage if gap.lacks(FactCode.LACKS_LAST_LINE))
    assert gap.reason == fact(FactCode.FILE_CUT, file=f"{name}.txt")


@pytest.mark.parametrize(
    ("name", "what"), [("latest", FactCode.LACKS_END_OFFSETS), ("earliest", FactCode.LACKS_START_OFFSETS)]
)
def test_a_partition_that_an_offsets_dump_does_not_hold_is_a_gap(tmp_path, name, what):
    text = DUMPS[f"{name}.txt"]
    snapshot = read_input(write_folder(tmp_path / "prod", **{name: text[: text.index("orders:1")]}))
    (gap,) = [gap for gap in snapshot.coverage if gap.what == fact(what)]
    assert gap.reason == fact(FactCode.PARTITIONS_NOT_IN_DUMP, missing=1, partitions=3, first="orders-1")
    skipped = text.replace("orders:1:", "Skip getting offsets for topic-partition orders-1 due to error: ")
    snapshot = read_input(write_folder(tmp_path / "prod", **{name: skipped}))
    assert {gap.subject for gap in snapshot.coverage} == {"orders-1", "3"}


def test_end_offsets_that_no_order_of_the_dumps_explains_are_said(tmp_path):
    later = LATEST.replace("orders:0:100", "orders:0:120").replace("orders:1:40", "orders:1:41")
    assert FactCode.LACKS_LAG not in {what for _, what in gaps(read_input(write_folder(tmp_path, latest=later)))}
    mixed = later.replace("orders:1:41", "orders:1:39")
    snapshot = read_input(write_folder(tmp_path, latest=mixed))
    (gap,) = [gap for gap in snapshot.coverage if gap.lacks(FactCode.LACKS_LAG)]
    counts = {"higher": 1, "first_higher": "orders-1", "lower": 1, "first_lower": "orders-0"}
    assert gap.reason == fact(FactCode.END_OFFSETS_DISAGREE, **counts)
    assert rows_by_name(snapshot)["orders-0"].end_offset == 120


def test_a_replica_that_no_log_dir_holds_is_a_gap(tmp_path):
    snapshot = read_input(write_folder(tmp_path, log_dirs=LOG_DIRS.replace("orders-1", "orders-7")))
    (gap,) = [gap for gap in snapshot.coverage if gap.subject == "2" and gap.lacks(FactCode.LACKS_SIZES)]
    assert gap.reason == fact(FactCode.REPLICAS_NOT_IN_DIRS, replicas=1)


def test_a_dump_cut_at_any_line_is_refused_or_says_what_is_missing(tmp_path):
    lines = TOPICS.splitlines(keepends=True)
    whole = {topic.name for topic in read_input(write_folder(tmp_path)).topics}
    for count in range(1, len(lines)):
        write_folder(tmp_path, topics="".join(lines[:count]), offsets=None, members=None, state=None)
        try:
            snapshot = read_input(tmp_path)
        except InvalidInputError:
            continue
        assert {topic.name for topic in snapshot.topics} < whole
        assert [gap.what for gap in snapshot.coverage if gap.subject_type == "topic"] == [
            fact(FactCode.LACKS_DESCRIPTION)
        ]


def test_two_readings_give_measured_rates(tmp_path):
    folder = tmp_path / "prod"
    write_folder(folder / "later")
    earlier_sizes = LOG_DIRS.replace('"size":1000', '"size":400')
    earlier = {**DUMPS, "log-dirs.txt": earlier_sizes, "captured_at": "2026-11-20T05:59:00+00:00", "brokers.csv": None}
    earlier["latest.txt"] = "audit-log:0:70\norders:0:70\norders:1:40\n"
    write_folder(folder / "earlier", earlier)
    (folder / "later" / "brokers.csv").unlink()
    (folder / "brokers.csv").write_text(BROKERS)
    snapshot = read_input(folder)
    assert snapshot.captured_at == SIX
    assert snapshot.brokers[0].rack == "a"
    orders_0 = list(rows_by_name(snapshot)).index("orders-0")
    assert snapshot.load(LoadKind.IN_BYTES_PER_S)[orders_0] == (1000 - 400) / 60
    assert snapshot.load(LoadKind.IN_MESSAGES_PER_S)[orders_0] == (100 - 70) / 60
    assert snapshot.loads.column(LoadKind.IN_MESSAGES_PER_S).window_s == 60
    assert snapshot.loads.column(LoadKind.IN_MESSAGES_PER_S).source is LoadSource.OFFSETS_TIMES_MESSAGE_SIZE


def test_of_three_readings_the_newest_two_count_whatever_their_folders_are_called(tmp_path):
    """orders-0 ends at 40, 70 and 100 messages at 5:58, 5:59 and 6:00: 30 in the last minute, 60 in two."""
    for name, minute, end in (("c", 58, 40), ("a", 59, 70)):
        latest = LATEST.replace("orders:0:100", f"orders:0:{end}")
        write_folder(tmp_path / name, latest=latest, offsets=None, captured_at=f"2026-11-20T05:{minute}:00Z\n")
    write_folder(tmp_path / "b")
    snapshot = read_folder(tmp_path, "prod")
    orders_0 = list(rows_by_name(snapshot)).index("orders-0")
    assert (snapshot.captured_at, snapshot.load(LoadKind.IN_MESSAGES_PER_S)[orders_0]) == (SIX, 30 / 60)


def test_all_files_of_a_folder_share_one_budget_of_bytes(tmp_path):
    """One byte less than they hold together, and the last one in the order of names is refused, none half-read."""
    folder = write_folder(tmp_path)
    total = sum(len(text.encode()) for text in DUMPS.values())
    budget = ByteBudget(total)
    assert len(read_folder(folder, "prod", budget).partitions) == 3
    assert (budget.used, budget.left) == (total, 0)
    last = max(DUMPS)
    with pytest.raises(InvalidInputError, match=rf"{last}: holds more than the [\d,]+ bytes that may be read beside"):
        read_folder(folder, "prod", ByteBudget(total - 1))


def test_several_readings_need_their_times(tmp_path):
    write_folder(tmp_path / "one")
    write_folder(tmp_path / "two", captured_at=None)
    with pytest.raises(InvalidInputError, match=r"two: has no captured_at"):
        read_input(tmp_path)


BROKEN = {
    "no topics": ({"topics.txt": None}, r"holds no kafka-topics --describe dump"),
    "time": ({"captured_at": "2026-13-20T06:00:00Z\n"}, r"captured_at:1: .* is no ISO 8601 time"),
    "zone": ({"captured_at": "2026-11-20T06:00:00\n"}, r"captured_at:1: .* is a time without a zone"),
    "two times": ({"taken": "2026-11-20T06:00:00Z\n"}, r"taken: is the second one: captured_at is already"),
    "two broker lists": ({"more.csv": BROKERS}, r"more\.csv: is the second one: brokers\.csv is already"),
    "broker missing": ({"brokers.csv": "id,rack\n2,b\n"}, r"brokers\.csv lacks broker 1, which leads orders-0"),
    "third offsets": ({"third.txt": LATEST}, r"third\.txt: is the third dump of offsets"),
    "topic twice": ({"zz-again.txt": TOPICS}, r"zz-again\.txt:2: topic orders is described twice"),
    "capacity stranger": ({"capacity.csv": "broker,disk_bytes\n77,5\n"}, r"broker 77 is not among the brokers"),
}


@pytest.mark.parametrize(("files", "message"), BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_folder_is_refused_with_its_place(tmp_path, files, message):
    folder = write_folder(tmp_path, {**DUMPS, **files})
    with pytest.raises(InvalidInputError, match=message) as refusal:
        read_input(folder)
    assert str(folder) in str(refusal.value)


def test_files_that_cannot_be_read_are_left_out_whole_and_by_name(tmp_path):
    """Random broken files beside a whole folder: the rest is read as without them; what a plan rests on is refused."""
    draw = random.Random(7)
    state = "GROUP COORDINATOR (ID) ASSIGNMENT-STRATEGY STATE #MEMBERS\nextra b1:9092 (1) range Stable 2\n"
    harmless = {
        "unknown": b"# Notes\ncall Bob\n",
        "image": b"\x89PNG\r\n\x1a\n\0\0\xff",
        "group": f"{state}extra b1:9092 (1)\n".encode(),
        "tool": b"\nError: Executing consumer group command failed due to timeout\n",
        "log dirs": b'{"version":1,"brokers":[{"broker":1,"logDirs":[',
    }
    needed = {
        "topics": b"Topic: more\tPartitionCount: 1\n\tTopic: more\tPartition: 0\tLeader: x\n",
        "topics with a wrong byte": b"Topic: more\xff\tPartitionCount: 1\tReplicationFactor: 1\tConfigs: \n",
        "capacity": b"broker,disk_bytes\n1,none\n",
        "gzip": b"\x1f\x8b\x08\0",
    }
    dumps = {key: text for key, text in DUMPS.items() if text is not None}
    whole = read_input(write_folder(tmp_path / "whole", dumps), "prod")
    for case in range(20):
        folder = write_folder(tmp_path / str(case), dumps)
        chosen = draw.sample(sorted(harmless), draw.randint(1, 3))
        names = [f"{draw.choice('az')}{at}.{draw.choice(('txt', 'md'))}" for at in range(len(chosen))]
        for name, kind in zip(names, chosen, strict=True):
            (folder / name).write_bytes(harmless[kind])
        (folder / "link").symlink_to("nowhere")
        snapshot = read_input(folder, "prod")
        left_out = {gap.what.args["file"] for gap in snapshot.coverage if gap.reason.code is FactCode.FILE_LEFT_OUT}
        assert left_out == {*names, "link"}, chosen
        assert snapshot_to_document(replace(snapshot, coverage=())) == snapshot_to_document(replace(whole, coverage=()))
        assert {*snapshot.coverage} >= {*whole.coverage}
        with pytest.raises(InvalidInputError):
            read_input(folder, "prod", is_strict=True)
        (folder / "needed").write_bytes(needed[draw.choice(sorted(needed))])
        with pytest.raises(InvalidInputError, match="needed"):
            read_input(folder, "prod")
    (tmp_path / "alone").mkdir()
    (tmp_path / "alone" / "notes.md").write_text("call Bob\n")
    with pytest.raises(InvalidInputError, match=r"notes\.md:1: is no known dump"):
        read_input(tmp_path / "alone")
