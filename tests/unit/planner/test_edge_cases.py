from dataclasses import replace

import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.options.values import Target
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import Plan, Verdict, to_document
from kafka_rebalance.snapshot.figures import LoadKind
from kafka_rebalance.snapshot.model import Broker, BrokerState, Capacity, FutureReplica, LogDir
from kafka_rebalance.verify import verify_plan
from tests.facts_said import said
from tests.unit.planner.sample_clusters import GB, brokers, cluster, row


def planned(snapshot, options: PlanOptions | None = None) -> Plan:
    """The plan, verified."""
    plan = make_plan(snapshot, options or PlanOptions())
    faults = verify_plan(to_document(plan), snapshot).faults
    assert [str(fault) for fault in faults if fault.code != "bound_weak"] == []
    return plan


def test_one_broker_has_nowhere_to_move_to() -> None:
    plan = planned(cluster([row("t", p, [0]) for p in range(5)], brokers(1)))
    assert plan.verdict is Verdict.NOTHING_TO_DO
    assert fact(FactCode.ONLY_BROKER, broker=0) in plan.reasons


def test_where_no_broker_takes_replicas_only_leaders_change() -> None:
    """Broker 0 leads all: half of its leaderships go to broker 1, and no replica moves."""
    rows = [row("t", p, [0, 1], (1 + p % 3) * GB) for p in range(8)]
    plan = planned(cluster(rows, brokers(3)), PlanOptions(exclude_brokers=frozenset({0, 1, 2})))
    assert plan.cost.replica_moves == 0


@pytest.mark.parametrize("within", [0.0, 1e-8])
def test_a_band_of_nothing_is_come_as_near_to_as_can_be(within: float) -> None:
    rates = {LoadKind.IN_BYTES_PER_S: [5.0, 4.0, 6.0], LoadKind.OUT_BYTES_PER_S: [5.0, 4.0, 6.0]}
    rows = [row("t", 0, [0, 1], 6 * GB), row("t", 1, [0, 1], 4 * GB), row("t", 2, [0, 2], 5 * GB)]
    plan = planned(cluster(rows, brokers(3), rates=rates), PlanOptions(within=within))
    assert plan.cost.bytes == 4 * GB  # 15, 10 and 5 become 11, 10 and 9


def test_without_sizes_counts_are_balanced_and_bytes_are_unknown_never_zero() -> None:
    plan = planned(cluster([row("t", p, [0, 1], None) for p in range(30)], brokers(4)))
    assert plan.verdict is Verdict.REBALANCE
    assert plan.cost.bytes is None
    assert plan.cost.seconds is None
    assert plan.left_out["disk"] == fact(FactCode.FIGURE_NOT_MEASURED, figure="log_bytes")
    assert all(move.bytes is None for move in plan.moves if move.kind == "replica")


def test_partitions_of_zero_bytes_are_moved_for_their_count() -> None:
    plan = planned(cluster([row("t", p, [0, 1], 0) for p in range(30)], brokers(4)))
    assert plan.cost.bytes == 0
    assert plan.cost.replica_moves > 0
    assert fact(FactCode.ALL_PARTITIONS_EMPTY) in plan.reasons


def test_one_partition_larger_than_a_share_is_not_fixable_by_moving() -> None:
    rows = [row("huge", 0, [0], 900 * GB), *(row("small", p, [p % 3], GB) for p in range(3))]
    plan = planned(cluster(rows, brokers(3)), PlanOptions(within=0.1))
    assert plan.verdict is Verdict.NOT_FIXABLE_BY_MOVING
    (args,) = said(plan.reasons[:1], FactCode.PARTITION_ABOVE_BAND)
    assert args["partition"] == "huge-0"
    assert 2 < args["times_band"] < 3
    disk = next(outcome for outcome in plan.resources if outcome.resource == "disk")
    assert disk.widened_to[1] is not None
    assert not any(move.topic == "huge" and move.bytes for move in plan.moves)


def test_more_replicas_than_racks_are_spread_evenly_and_nothing_is_aborted() -> None:
    plan = planned(
        cluster([row("t", p, [0, 2, 4, 1]) for p in range(12)], brokers(6, racks=2)), PlanOptions(within=0.2)
    )
    assert said(plan.reasons, FactCode.MORE_REPLICAS_THAN_RACKS) == [
        {"partitions": 12, "replication_factor": 4, "racks": 2, "most_in_rack": 2}
    ]
    for move in plan.moves:
        racks = [broker % 2 for broker in move.to_replicas]
        assert sorted((racks.count(0), racks.count(1))) == [2, 2]


def test_an_empty_rack_takes_its_part() -> None:
    rows = [row("t", p, [0, 1]) for p in range(12)]
    sample = [Broker(0, "a"), Broker(1, "b"), Broker(2, "c")]
    plan = planned(cluster(rows, sample), PlanOptions(within=0.1))
    assert dict(next(outcome.after for outcome in plan.resources if outcome.resource == "replicas"))[2] >= 7
    assert fact(FactCode.RACK_EMPTY, rack="c") in plan.reasons


def test_all_brokers_full_is_told_and_nothing_overflows() -> None:
    """Two brokers of 100 GB hold 100 and 96: no second copy fits anywhere."""
    rows = [*(row("a", p, [0], 25 * GB) for p in range(4)), *(row("b", p, [1], 24 * GB) for p in range(4))]
    full = [Broker(n, capacity=Capacity(disk_bytes=100 * GB)) for n in range(2)]
    plan = planned(cluster(rows, full), PlanOptions(within=0.01))
    after = next(outcome.after for outcome in plan.resources if outcome.resource == "disk")
    assert max(after.values()) <= 100 * GB
    assert plan.verdict is Verdict.NOT_FIXABLE_BY_MOVING
    (args,) = said(plan.reasons[:1], FactCode.DISKS_FULL)
    assert args == {"freest_broker": 1, "free_bytes": 4 * GB, "broker": 0, "smallest_replica_bytes": 25 * GB}


def test_disks_that_offer_less_than_is_wanted_are_infeasible_and_say_what_is_missing() -> None:
    rows = [row("t", p, [p % 3], 20 * GB) for p in range(12)]
    full = [Broker(n, capacity=Capacity(disk_bytes=100 * GB)) for n in range(3)]
    plan = planned(cluster(rows, full), PlanOptions(replication_factor=2))
    assert plan.verdict is Verdict.INFEASIBLE
    assert plan.reasons[0] == fact(FactCode.DISKS_TOO_SMALL, brokers=3, capacity_bytes=300 * GB, needed_bytes=480 * GB)
    assert plan.reasons[1] == fact(FactCode.ADD_DISK, lacking_bytes=180 * GB, like_largest=2)


def test_an_excluded_topic_that_causes_the_skew_stays_and_is_named_by_count() -> None:
    rows = [*(row("big", p, [0], 50 * GB) for p in range(4)), *(row("small", p, [1 + p % 2], GB) for p in range(8))]
    plan = planned(cluster(rows, brokers(3)), PlanOptions(exclude_topics=("big",)))
    assert not any(move.topic == "big" for move in plan.moves)
    assert plan.verdict is Verdict.NOT_FIXABLE_BY_MOVING
    assert said(plan.reasons[:1], FactCode.IMMOVABLE_ABOVE_BAND) == [{"broker": 0, "topic": "big", "topic_share": 1.0}]
    assert fact(FactCode.PARTITIONS_LEFT_ALONE, why="excluded", partitions=4) in plan.reasons


def test_different_disks_are_filled_by_their_share_not_by_bytes() -> None:
    rows = [row("t", p, [p % 2], 10 * GB) for p in range(30)]
    sample = [Broker(0, capacity=Capacity(disk_bytes=1000.0 * GB)), Broker(1, capacity=Capacity(disk_bytes=500.0 * GB))]
    plan = planned(
        cluster(rows, sample),
        PlanOptions(targets={"replicas": Target(None, 2), "leaders": Target(None, 2)}, within=0.1),
    )
    disk = next(outcome for outcome in plan.resources if outcome.resource == "disk")
    assert disk.after[0] > 1.5 * disk.after[1]
    assert said(plan.reasons, FactCode.DISKS_DIFFER) == [
        {"smallest_bytes": 500 * GB, "smallest_broker": 1, "largest_bytes": 1000 * GB, "largest_broker": 0}
    ]


@pytest.mark.usefixtures("whole_search")
def test_counts_follow_disks_of_different_sizes() -> None:
    """Broker 0 needs more than 180 GB: 19 replicas of 10 GB, though its share is 15."""
    rows = [row("t", p, [p % 2], 10 * GB) for p in range(30)]
    sample = [Broker(0, capacity=Capacity(disk_bytes=1000.0 * GB)), Broker(1, capacity=Capacity(disk_bytes=500.0 * GB))]
    plan = planned(cluster(rows, sample), PlanOptions(within=0.1))
    disk, replicas, _ = plan.resources
    assert disk.widened_to == (None, None)
    assert replicas.widened_to == pytest.approx((11 / 15, 19 / 15))
    reported = [widened for widened in said(plan.reasons, FactCode.BAND_WIDENED) if widened["resource"] == "replicas"]
    way = fact(FactCode.BAND_GIVES_WAY, to="unequal_disks", resources=("disk",), is_default=False)
    assert [widened["cause"] for widened in reported] == [way, way]


def test_a_partition_that_is_being_reassigned_is_left_alone() -> None:
    rows = [row("t", p, [0], 10 * GB) for p in range(6)]
    rows[0] = replace(rows[0], replicas=(0, 1), adding=(1,), removing=(0,), log_bytes=(10 * GB, 0), isr=(0,))
    plan = planned(cluster(rows, brokers(3)))
    assert not any(move.partition == 0 for move in plan.moves)
    assert fact(FactCode.PARTITIONS_LEFT_ALONE, why="reassigning", partitions=1) in plan.reasons


def test_what_a_running_reassignment_copies_counts_in_full_where_it_goes() -> None:
    """Broker 1 will hold and lead t-0, though nothing has arrived yet: five others are placed around it."""
    rows = [row("t", p, [0], 10 * GB) for p in range(6)]
    rows[0] = replace(rows[0], replicas=(0, 1), adding=(1,), removing=(0,), log_bytes=(10 * GB, 0), isr=(0,))
    plan = planned(cluster(rows, brokers(3)))
    after = {outcome.resource: set(outcome.after.values()) for outcome in plan.resources}
    assert after == {"disk": {20 * GB}, "replicas": {2}, "leaders": {2}}


def test_what_is_still_to_arrive_takes_room_on_a_disk_that_is_nearly_full() -> None:
    """Broker 1 offers 25 GB, 20 of them for a running reassignment: no 10 GB more."""
    rows = [row("t", p, [0], 10 * GB) for p in range(9)]
    going = row("big", 0, [0], 20 * GB)
    going = replace(going, replicas=(0, 1), adding=(1,), removing=(0,), log_bytes=(20 * GB, 0), isr=(0,))
    dirs = [LogDir("/a", total_bytes=100 * GB, usable_bytes=free * GB) for free in (0, 25)]
    plan = planned(cluster([*rows, going], [Broker(n, log_dirs=(log_dir,)) for n, log_dir in enumerate(dirs)]))
    assert plan.cost.replica_moves == 0


@pytest.mark.parametrize(("strays", "moved"), [(0, 4), (50 * GB, 3)])
def test_strays_and_copies_between_dirs_take_room_from_a_disk(strays: int, moved: int) -> None:
    """Broker 2 of 100 GB holds 20 GB of a copy: of its share of four times 10 GB, strays leave room for three."""
    rows = [row("t", p, [p % 2], 10 * GB) for p in range(12)]
    rows.append(row("t", 12, [2], 0, future=(FutureReplica(2, 0, 20 * GB),)))
    dirs = (LogDir("/a", stray_logs=int(strays > 0), stray_bytes=strays),)
    disk = Capacity(disk_bytes=100.0 * GB)
    of = [replace(broker, capacity=disk, log_dirs=dirs if broker.id == 2 else ()) for broker in brokers(3)]
    plan = planned(cluster(rows, of), PlanOptions(within=0.01, with_frontier=False))
    assert sum(2 in move.to_replicas for move in plan.moves) == moved


def test_brokers_without_a_rack_beside_others_are_said() -> None:
    of = [replace(broker, rack=None) if broker.id > 3 else broker for broker in brokers(6, 3)]
    plan = planned(cluster([row("t", p, [p % 6, (p + 1) % 6]) for p in range(6)], of))
    assert fact(FactCode.BROKERS_WITHOUT_RACK, brokers=(4, 5)) in plan.reasons


def test_everything_leaves_a_dead_broker_and_rollback_says_that_it_cannot_go_back() -> None:
    rows = [replace(row("t", p, [0, 1, 2]), isr=(0, 1)) for p in range(9)]
    plan = planned(cluster(rows, brokers(4, b2=BrokerState.DEAD)))
    assert plan.verdict is Verdict.REBALANCE
    assert fact(FactCode.REPLICAS_MUST_LEAVE_BROKER, broker=2, state="dead", replicas=9) in plan.reasons
    assert all(2 not in move.to_replicas for move in plan.moves)
    assert plan.rollback is not None
    assert len(plan.rollback.not_undone) == 9


def test_a_partition_whose_only_replica_is_on_a_dead_broker_does_not_block_the_others() -> None:
    rows = [replace(row("lost", 0, [2]), leader=None, isr=()), *(row("t", p, [0]) for p in range(9))]
    plan = planned(cluster(rows, brokers(4, b2=BrokerState.DEAD)))
    assert plan.verdict is Verdict.REBALANCE
    assert fact(FactCode.PARTITIONS_LEFT_ALONE, why="leaderless", partitions=1) in plan.reasons


def test_a_factor_above_the_brokers_is_infeasible_and_names_cause_and_help() -> None:
    plan = planned(cluster([row("t", p, [0, 1]) for p in range(4)], brokers(2)), PlanOptions(replication_factor=3))
    assert plan.verdict is Verdict.INFEASIBLE
    (args,) = said(plan.reasons[:1], FactCode.TOO_FEW_BROKERS)
    assert (args["replication_factor"], args["brokers"], args["lacking"], args["partitions"]) == (3, 2, 1, 4)
    assert plan.reasons[1].args["brokers"] == 1


def test_removing_one_of_twenty_brokers_moves_one_replica() -> None:
    """Known optimum of kafka-assignment-optimizer's README; Kafka's own tool moves 20 of 20."""
    rows = [row("x.y.z.t", p, [p * 2 % 20, (p * 2 + 1) % 20]) for p in range(10)]
    rows[9] = row("x.y.z.t", 9, [18, 19])
    plan = planned(cluster(rows, brokers(20)), PlanOptions(remove_brokers=frozenset({19})))
    assert plan.cost.replica_moves == 1


def test_a_broker_that_does_not_exist_yet_receives_its_share() -> None:
    rows = [row("t", p, [p % 3, (p + 1) % 3]) for p in range(60)]
    plan = planned(cluster(rows, brokers(3)), PlanOptions(add_brokers={9: None}, within=0.1))
    assert 27 <= next(outcome.after for outcome in plan.resources if outcome.resource == "replicas")[9] <= 33
    assert fact(FactCode.ADDED_BROKERS_JOINED, brokers=(9,)) in plan.preconditions


def test_a_broker_that_nobody_knows_cannot_be_removed() -> None:
    with pytest.raises(
        InvalidInputError, match=r"^--remove-broker 7: broker 7 is not in the cluster; its brokers: 0, 1$"
    ):
        make_plan(cluster([row("t", 0, [0])], brokers(2)), PlanOptions(remove_brokers=frozenset({7})))


def test_a_preferred_election_moves_nothing_and_keeps_every_list() -> None:
    rows = [replace(row("t", p, [p % 3, (p + 1) % 3]), leader=(p + 1) % 3) for p in range(12)]
    plan = planned(cluster(rows, brokers(3)), PlanOptions(preferred_election=True))
    assert len(plan.moves) == 12
    assert all(move.from_replicas == move.to_replicas and move.kind == "leader" for move in plan.moves)
    assert (plan.cost.bytes, plan.cost.replica_moves) == (0, 0)


def test_inside_the_dead_band_there_is_nothing_to_do_and_an_order_is_carried_out_all_the_same() -> None:
    sizes = [11 * GB, 10 * GB, 10 * GB, 9 * GB]
    rows = [row("t", 10 * b + p, [b], sizes[b] // 10) for b in range(4) for p in range(10)]
    snapshot = cluster(rows, brokers(4))
    no_moves = planned(snapshot)
    assert no_moves.verdict is Verdict.NOTHING_TO_DO
    assert no_moves.reasons[0].code in (FactCode.ALL_INSIDE_BAND, FactCode.ALL_WITHIN_DEAD_BAND)
    ordered = planned(snapshot, PlanOptions(within=0.05))
    assert ordered.verdict is Verdict.REBALANCE


def test_an_unapplied_plan_that_still_holds_is_confirmed_and_not_replaced() -> None:
    rows = [row("t", p, [0] if p < 20 else [1 + p % 3], GB + p * GB // 50) for p in range(40)]
    snapshot = cluster(rows, brokers(4))
    first = planned(snapshot)
    grown = [replace(partition_row, log_bytes=(int(partition_row.log_bytes[0] * 1.02),)) for partition_row in rows]
    again = make_plan(cluster(grown, brokers(4)), PlanOptions(), previous=to_document(first))
    assert again.continues == first.plan_id
    assert [(m.topic, m.partition, m.to_replicas) for m in again.moves] == [
        (m.topic, m.partition, m.to_replicas) for m in first.moves
    ]
    assert again.reasons[0].code is FactCode.PLAN_CONFIRMED


def test_an_unapplied_plan_is_confirmed_also_where_no_plan_can_meet_the_band() -> None:
    rows = [row("huge", 0, [1], 60 * GB), *(row("t", p, [0], GB) for p in range(40))]
    snapshot = cluster(rows, brokers(4))
    first = planned(snapshot)
    assert first.verdict is Verdict.REBALANCE
    assert [reported["partition"] for reported in said(first.reasons, FactCode.PARTITION_ABOVE_BAND)][:1] == ["huge-0"]
    again = make_plan(snapshot, PlanOptions(), previous=to_document(first))
    assert again.continues == first.plan_id
    assert [move.to_replicas for move in again.moves] == [move.to_replicas for move in first.moves]
    assert again.reasons[0].code is FactCode.PLAN_CONFIRMED


@pytest.mark.slow
def test_a_hundred_thousand_tiny_topics_are_planned() -> None:
    rows = [row(f"t{n:06d}", 0, [n % 10 if n % 3 else 0], 1000) for n in range(100_000)]
    plan = make_plan(cluster(rows, brokers(10)), PlanOptions(within=0.1))
    after = next(outcome.after for outcome in plan.resources if outcome.resource == "replicas")
    assert max(after.values()) <= 11_000
    outside = [
        reported for reported in said(plan.reasons, FactCode.BROKERS_OUTSIDE_BAND) if reported["resource"] == "replicas"
    ]
    assert (outside[0]["brokers"], outside[0]["furthest_broker"]) == (1, 0)
    assert outside[0]["times_mean"] == pytest.approx(4.0, abs=0.005)
