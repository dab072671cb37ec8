from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.snapshot.model import BrokerState, LogDir
from rebalance_advisor.kafka.cluster_metadata import ClusterMetadata, SeenBroker, SeenPartition, SeenTopic
from rebalance_advisor.kafka.coverage import Coverage
from rebalance_advisor.kafka.read_cluster import Configs, Reading, Storage, assemble_snapshot, note_unseen
from rebalance_advisor.kafka.unresponsive import UnresponsiveBroker
from tests.unit.kafka.canned_cluster import gap_texts


def broker(number: int, *, is_fenced: bool = False) -> SeenBroker:
    return SeenBroker(number, f"b{number}", 9092, "r", is_fenced)


def partition(number: int, replicas: tuple[int, ...], offline: tuple[int, ...] = ()) -> SeenPartition:
    return SeenPartition("t", number, replicas[0], replicas, replicas, offline)


def test_states_and_gaps_of_brokers_and_replicas() -> None:
    """1 has a dead disk, 2 refuses, 3 is fenced and silent, 4 unknown, 5 fenced. Only 1 is a gap of replicas."""
    metadata = ClusterMetadata(
        "id", 1, (broker(1), broker(2), broker(3, is_fenced=True), broker(5, is_fenced=True)),
        (SeenTopic("t", "x", False),),
        (partition(0, (1, 2), (1,)), partition(1, (1, 3, 4), (1, 3, 4)), partition(2, (2, 1), (2,))),
    )  # fmt: skip
    unresponsive = {
        2: UnresponsiveBroker(BrokerState.REFUSED, fact(FactCode.AS_REPORTED, text="Connection refused")),
        3: UnresponsiveBroker(BrokerState.SILENT, fact(FactCode.NO_CONNECTION_IN_TIME)),
    }
    reading = Reading(metadata, Storage(), Configs(), {}, {}, unresponsive=unresponsive)
    coverage = Coverage("c")
    note_unseen(reading, coverage)
    assert gap_texts(coverage) == [
        "broker 4: lacks_everything: broker_not_registered",
        "broker 5: lacks_parts(parts=[lacks_log_dirs]): broker_is_fenced",
        "topic t: lacks_offline_replica: of_partitions(partitions=2, first=[0, 1], why=replica_is_offline(broker=1))",
    ]
    states = {seen.id: seen.state.value for seen in assemble_snapshot("c", reading).brokers}
    assert states == {1: "alive", 2: "refused", 3: "fenced", 4: "dead", 5: "fenced"}


def test_replicas_of_a_dead_log_dir_are_told_before_the_metadata_calls_them_offline() -> None:
    """Broker 1 reports the size of partition 0 and nothing of partition 1, which it should hold."""
    metadata = ClusterMetadata(
        "id", 1, (broker(1), broker(2)), (SeenTopic("t", "x", False),),
        (partition(0, (1, 2)), partition(1, (2, 1)), partition(2, (2,))),
    )  # fmt: skip
    dirs = (LogDir("/good", 10, 5), LogDir("/bad", error="KafkaStorage (56)"))
    storage = Storage({1: dirs, 2: (LogDir("/d", 10, 5),)}, {1: {("t", 0): 7}, 2: {("t", p): 7 for p in range(3)}})
    reading = Reading(metadata, storage, Configs(), {}, {})
    coverage = Coverage("c")
    note_unseen(reading, coverage)
    assert gap_texts(coverage) == [
        "topic t: lacks_replica_size: of_partitions(partitions=1, first=[1], why=log_dir_is_offline(broker=1))"
    ]
    assert assemble_snapshot("c", reading).partition(1).log_bytes == (7, None)


def test_a_reassignment_that_began_between_two_answers_is_told_and_left_out() -> None:
    """The metadata does not have broker 3 yet; the list of reassignments adds it."""
    metadata = ClusterMetadata(
        "id", 1, (broker(1), broker(2), broker(3)), (SeenTopic("t", "x", False),), (partition(0, (1, 2)),),
        {("t", 0): ((3,), (2,))},
    )  # fmt: skip
    reading = Reading(metadata, Storage(), Configs(), {}, {})
    coverage = Coverage("c")
    note_unseen(reading, coverage)
    assert gap_texts(coverage) == [
        "topic t: lacks_reassignments: of_partitions(partitions=1, first=[0], why=changed_while_read)"
    ]
    row = assemble_snapshot("c", reading).partition(0)
    assert (row.replicas, row.adding, row.removing) == ((1, 2), (), ())
