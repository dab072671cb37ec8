from __future__ import annotations

import json
from random import Random

import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.snapshot.model import BrokerState, Partition
from rebalance_advisor.dumps import read_input
from rebalance_advisor.dumps.broker_lists import BrokerListing, looks_like_listing
from rebalance_advisor.dumps.topic_znodes import TopicZnodes, looks_like_znodes
from tests.sample import for_each

ALIVE, DEAD, UNRESPONSIVE = BrokerState.ALIVE, BrokerState.DEAD, BrokerState.UNRESPONSIVE

API_VERSIONS = """localhost:9092 (id: 1 rack: rack one) -> (
\tProduce(0): 0 to 11 [usable: 11],
\tUNKNOWN(91): 0 to 1,
\tAlterPartition(56): UNSUPPORTED
)
b2.example:9093 (id: 2 rack: null isFenced: false) -> (
\tProduce(0): 0 to 12 [usable: 12]
)
b3.example:9094 (id: 3 rack: r3 isFenced: true) -> ERROR: org.apache.kafka.common.errors.TimeoutException: no
b4.example:9095 (id: 4 rack: null) -> ERROR: org.apache.kafka.common.errors.DisconnectException
"""
ENDPOINTS = """ID         HOST       PORT       RACK     STATE      ENDPOINT_TYPE  
1          b1.example 9092       rack one unfenced   broker         
2          b2.example 9093       null     unfenced   broker         
3          b3.example 9094       r3       fenced     broker         
"""  # noqa: W291
ZNODES = """[zk: localhost:2181(CONNECTED) 0] ls /brokers/ids
[1, 2]
[zk: localhost:2181(CONNECTED) 1] get /brokers/ids/1
{"features":{},"listener_security_protocol_map":{"X":"PLAINTEXT"},"endpoints":["X://b1.example:9092"],"jmx_port":-1,"port":9092,"host":"b1.example","rack":"rack one","version":5,"timestamp":"1700000000000"}
cZxid = 0x1a
[zk: localhost:2181(CONNECTED) 2] get /brokers/ids/2
{"jmx_port":-1,"timestamp":"1700000000000","endpoints":["SSL://b2.example:9093"],"host":null,"version":3,"port":-1}
"""  # noqa: E501


def topics(*rows: tuple[list[int], int | None, list[int]]) -> str:
    """Rows of replicas, leader and ISR of one topic as ``kafka-topics --describe`` prints them."""
    text = f"Topic: t\tPartitionCount: {len(rows)}\tReplicationFactor: 1\tConfigs: \n"
    for number, (replicas, leader, isr) in enumerate(rows):
        lists = [",".join(map(str, brokers)) for brokers in (replicas, isr)]
        who = "none" if leader is None else leader
        text += f"\tTopic: t\tPartition: {number}\tLeader: {who}\tReplicas: {lists[0]}\tIsr: {lists[1]}\n"
    return text


def log_dirs(*brokers: int) -> str:
    dirs = [{"logDir": "/d", "error": None, "partitions": []}]
    return json.dumps({"version": 1, "brokers": [{"broker": broker, "logDirs": dirs} for broker in brokers]})


def states(folder, files: dict[str, str]) -> dict[int, BrokerState]:
    folder.mkdir(exist_ok=True)
    for path in folder.iterdir():
        path.unlink()
    for name, text in files.items():
        (folder / name).write_text(text)
    return {broker.id: broker.state for broker in read_input(folder).brokers}


ONE_OF_THREE_DIED = topics(([1, 2, 3], 1, [1, 3]), ([2, 3], 3, [3]), ([3, 1], 3, [3, 1]))
CSV = "id,rack,host\n1,a,h1\n2,b,h2\n3,c,h3\n"


def test_a_broker_that_only_replica_lists_name_is_dead(tmp_path):
    """One of three died, and no file lists brokers (cruise-control #1423)."""
    assert states(tmp_path, {"topics": ONE_OF_THREE_DIED}) == {1: ALIVE, 2: DEAD, 3: ALIVE}


def test_the_last_isr_of_a_partition_without_a_leader_is_no_sign_of_life(tmp_path):
    """Brokers 4 and 5 were taken away while a move hung; what is on them alone has no leader (cruise-control #1800)."""
    rows = topics(([1, 4, 2], 1, [1, 2]), ([2, 5], 2, [2]), ([4], None, [4]), ([4, 5], None, [5]))
    assert states(tmp_path, {"topics": rows}) == {1: ALIVE, 2: ALIVE, 4: DEAD, 5: DEAD}


@pytest.mark.parametrize("with_log_dirs", [True, False])
def test_a_broker_of_brokers_csv_that_no_dump_hears_is_unresponsive(tmp_path, with_log_dirs):
    files = {"topics": ONE_OF_THREE_DIED, "brokers.csv": CSV} | ({"dirs": log_dirs(1, 3)} if with_log_dirs else {})
    assert states(tmp_path, files) == {1: ALIVE, 2: UNRESPONSIVE, 3: ALIVE}
    # It has the rack and the state; an empty state is unknown.
    brokers_csv = "id,rack,state\n1,a,\n2,b,dead\n3,c,drain\n"
    assert states(tmp_path, files | {"brokers.csv": brokers_csv}) == {1: ALIVE, 2: DEAD, 3: BrokerState.DRAINING}
    back = "id,rack,state\n1,a,\n2,b,alive\n3,c,\n"
    assert states(tmp_path, files | {"brokers.csv": back}) == {1: ALIVE, 2: ALIVE, 3: ALIVE}


def test_an_empty_broker_of_brokers_csv_lives_unless_all_others_told_their_log_dirs(tmp_path):
    files = {"topics": topics(([1, 2], 1, [1, 2])), "brokers.csv": "id,rack\n1,a\n2,b\n7,c\n"}
    assert states(tmp_path, files)[7] is ALIVE
    assert states(tmp_path, files | {"dirs": log_dirs(1, 2)})[7] is UNRESPONSIVE
    assert states(tmp_path, files | {"dirs": log_dirs(1, 2, 7)})[7] is ALIVE
    assert states(tmp_path, files | {"dirs": log_dirs(1, 2), "brokers.csv": "id,rack,state\n1,a,\n2,b,\n7,c,new\n"})[
        7
    ] is (BrokerState.NEW)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (API_VERSIONS, {1: ALIVE, 2: ALIVE, 3: BrokerState.FENCED, 4: UNRESPONSIVE}),
        (ENDPOINTS, {1: ALIVE, 2: ALIVE, 3: BrokerState.FENCED}),
        (ZNODES, {1: ALIVE, 2: ALIVE}),
    ],
    ids=["api versions", "endpoints", "znodes"],
)
def test_lists_of_living_brokers_tell_racks_and_states(tmp_path, text, expected):
    files = {"topics": topics(([1, 2], 1, [1, 2])), "listed.txt": text}
    assert states(tmp_path, files) == expected
    first, second, *_ = read_input(tmp_path).brokers
    assert (first.rack, first.port, second.rack) == ("rack one", 9092, None)
    # A broker with replicas that the list lacks is dead; one in another dump is unresponsive and gets nothing.
    rows = topics(([1, 2], 1, [1, 2]), ([1, 9], 1, [1]), ([8, 1], 8, [8, 1]))
    result = states(tmp_path, files | {"topics": rows})
    assert result == expected | {8: UNRESPONSIVE, 9: DEAD}
    assert [gap.what for gap in read_input(tmp_path).coverage if gap.subject == "8"] == [fact(FactCode.LACKS_LIVENESS)]
    # brokers.csv goes before the list for racks and states that it names, and not for brokers that it only lists.
    csv = "id,rack,state\n1,other,\n2,,drain\n5,x,\n"
    assert states(tmp_path, files | {"brokers.csv": csv}) == expected | {2: BrokerState.DRAINING, 5: UNRESPONSIVE}
    assert read_input(tmp_path).brokers[0].rack == "other"


def test_the_list_of_ids_is_known_by_its_command_or_by_holding_nothing_but_numbers():
    def ids(text):
        znodes = TopicZnodes()
        znodes.read(text, "zk.txt")
        return sorted(znodes.brokers.brokers), znodes.brokers.is_whole

    assert looks_like_znodes("Connecting to z:2181\n\nWATCHER::\n\n[0, 11]\n")
    assert ids("Connecting to z:2181\n\nWATCHER::\n\n[0, 11]\n") == ([0, 11], True)
    assert ids("$ bin/zookeeper-shell.sh z:2181 ls /kafka/brokers/ids\n[]\n") == ([], True)
    assert ids("$ bin/zookeeper-shell.sh z:2181 ls /brokers/topics\n[2024, 2025]\n") == ([], False)
    node = ZNODES.split("\n")[3]
    znodes = TopicZnodes()
    znodes.read(node, "broker/17.json")
    assert (sorted(znodes.brokers.brokers), znodes.brokers.is_whole) == ([17], False)
    with pytest.raises(InvalidInputError, match=r"b\.json:1: is a broker's znode, and no get /brokers/ids/"):
        TopicZnodes().read(node, "b.json")
    with pytest.raises(InvalidInputError, match=r"17:1: host and rack of a broker's znode are texts"):
        TopicZnodes().read(node.replace('"rack one"', "1"), "17")


def test_a_list_of_brokers_that_holds_another_line_is_refused():
    assert not looks_like_listing("Topic: t (id: 1")
    for text in (API_VERSIONS + "call Bob\n", ENDPOINTS + "x y\n"):
        with pytest.raises(InvalidInputError, match=r"list\.txt:\d+: is no line of a list of brokers"):
            BrokerListing().read(text, "list.txt")
    only = BrokerListing()
    only.read("ID HOST PORT RACK ENDPOINT_TYPE\n1 h 9093 null controller\n", "list.txt")
    assert only == BrokerListing()


def test_without_states_the_first_living_replica_counts_as_the_leader(tmp_path):
    """Topics' znodes name replicas only; a list of brokers shows that the first one is dead."""
    znodes = '[zk: z:1(CONNECTED) 0] get /brokers/topics/t\n{"version":1,"partitions":{"0":[3,2],"1":[3]}}\n'
    assert states(tmp_path, {"zk": znodes}) == {2: ALIVE, 3: ALIVE}
    assert states(tmp_path, {"zk": znodes, "ids": "[1, 2]\n"}) == {1: ALIVE, 2: ALIVE, 3: DEAD}
    assert [row.leader for row in read_input(tmp_path).each_partition()] == [2, None]


def test_brokers_without_a_rack_beside_others_are_a_gap_that_names_them(tmp_path):
    """Kafka's own tool refuses such a cluster (blueking-dbm #14096)."""
    rows = topics(([0, 3], 0, [0, 3]), ([4, 5], 4, [4, 5]))
    states(tmp_path, {"topics": rows, "brokers.csv": "id,rack\n0,1a\n3,\n4,\n5,\n"})
    gaps = {gap.what.code: gap.reason for gap in read_input(tmp_path).coverage}
    assert gaps[FactCode.LACKS_RACKS] == fact(FactCode.BROKERS_HAVE_NO_RACK, brokers=(3, 4, 5))
    states(tmp_path, {"topics": rows, "brokers.csv": "id,rack\n0,\n3,\n4,\n5,\n"})
    assert FactCode.LACKS_RACKS not in {gap.what.code for gap in read_input(tmp_path).coverage}


def drawn(random: Random) -> tuple[set[int], set[int], list[Partition]]:
    """All brokers, those that live, and rows as a cluster would have them: no dead broker leads or is in a live ISR."""
    brokers = sorted(random.sample(range(20), random.randint(2, 7)))
    alive = {broker for broker in brokers if random.random() < 0.7} or {brokers[0]}
    rows = []
    for number in range(random.randint(1, 12)):
        replicas = random.sample(brokers, random.randint(1, min(3, len(brokers))))
        living = [broker for broker in replicas if broker in alive]
        in_sync = [broker for broker in living if random.random() < 0.8]
        leader = random.choice(in_sync) if in_sync else None
        isr = in_sync or random.sample(replicas, random.randint(1, len(replicas)))  # else the last known one
        rows.append(Partition("t", number, tuple(replicas), leader, tuple(isr)))
    return set(brokers), alive, rows


def lists_of(alive: set[int], random: Random) -> dict[str, str]:
    """The living brokers as one of the tools lists them."""
    ids = random.sample(sorted(alive), len(alive))
    return random.choice(
        [
            {"ids": f"[{', '.join(map(str, ids))}]\n"},
            {
                "apis": "".join(
                    f"h{b}:9092 (id: {b} rack: null) -> (\n\tProduce(0): 0 to 9 [usable: 9]\n)\n" for b in ids
                )
            },
            {
                "ends": "ID HOST PORT RACK STATE ENDPOINT_TYPE\n"
                + "".join(f"{b} h{b} 9092 null unfenced broker\n" for b in ids)
            },
        ]
    )


@for_each("seed", range(400), range(60))
def test_no_disguise_makes_a_dead_broker_alive_or_a_living_one_dead(tmp_path, seed):
    random = Random(seed)
    brokers, alive, rows = drawn(random)
    placed = {broker for row in rows for broker in row.replicas}
    serving = {row.leader for row in rows} - {None}
    serving |= {broker for row in rows if row.leader is not None for broker in row.isr or ()}
    files = {"topics": topics(*((list(row.replicas), row.leader, list(row.isr or ())) for row in rows))}
    has_csv, has_dirs, has_list = (random.random() < 0.5 for _ in range(3))
    if has_csv:
        files["brokers.csv"] = "id,rack\n" + "".join(f"{broker},r{broker % 3}\n" for broker in sorted(brokers))
    if has_dirs:
        files["dirs"] = log_dirs(*sorted(alive))
    if has_list:
        files |= lists_of(alive, random)
    result = states(tmp_path / "c", files)
    assert {broker for broker in serving if result[broker] is not ALIVE} == set()
    unheard_of = {b for b in brokers - alive - placed if not has_dirs and not has_list}  # nothing speaks against these
    assert {b for b, state in result.items() if state.is_responsive} - alive - unheard_of == set()
    if has_dirs or has_list:
        assert {broker for broker in alive & result.keys() if result[broker] is not ALIVE} == set()
    for broker in (brokers - alive) & placed:
        assert result[broker] is (UNRESPONSIVE if has_csv and not has_list else DEAD)
