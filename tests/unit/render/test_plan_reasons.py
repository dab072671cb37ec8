from __future__ import annotations

import pytest

from kafka_rebalance.errors import InfeasibleError, UsageError
from kafka_rebalance.facts import BoundProof, Fact, FactCode, fact
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.render import describe_error, render, render_document
from kafka_rebalance.render.infeasible import INFEASIBLE
from kafka_rebalance.render.plan_reasons import PLAN_REASONS, PROOFS
from kafka_rebalance.snapshot.model import BrokerState
from tests.facts_said import all_facts
from tests.properties.clusters_with_everything import cluster_with_everything
from tests.properties.unhealthy_clusters import unhealthy_cluster
from tests.sample import for_each

GIB = 2**30
NEAR = fact(FactCode.NOTHING_NEARER_FOUND)
LOSS = fact(FactCode.LOSS_NOT_SURVIVED, kind="broker", lost="0", broker=1, resource="out", load=80.0, capacity=60.0)
SAMPLES: list[tuple[Fact, str]] = [
    (
        fact(FactCode.REPLICAS_MUST_LEAVE_BROKER, broker=3, state="dead", replicas=1),
        "broker 3 is dead: 1 replica must leave it",
    ),
    (
        fact(FactCode.REPLICAS_MUST_LEAVE_BROKER, broker=3, state="draining", replicas=1200),
        "broker 3 is to be removed: 1,200 replicas must leave it",
    ),
    (
        fact(FactCode.REPLICAS_ON_OFFLINE_DIRS, replicas=2),
        "2 replicas are on log dirs that are offline",
    ),
    (
        fact(FactCode.REPLICAS_OUTSIDE_TOPIC_BROKERS, replicas=1),
        "1 replica is on brokers that their topics may not use",
    ),
    (
        fact(FactCode.REPLICATION_FACTOR_DIFFERS, partitions=2),
        "2 partitions have another replication factor than you asked for",
    ),
    (
        fact(FactCode.RACKS_UNUSED, partitions=2),
        "the replicas of 2 partitions are on fewer racks than they could be",
    ),
    (
        fact(FactCode.DEMOTED_BROKER_LEADS, broker=3, partitions=2),
        "broker 3 is demoted and leads 2 partitions",
    ),
    (
        fact(FactCode.DEMOTED_BROKER_IS_PREFERRED, broker=3, partitions=1),
        "broker 3 is demoted and is the preferred leader of 1 partition that other brokers lead",
    ),
    (
        fact(FactCode.WAITS_FOR_SYNC, reason=fact(FactCode.RACKS_UNUSED, partitions=1)),
        (
            "the replicas of 1 partition are on fewer racks than they could be; this waits until replicas "
            "that are out of sync have caught up"
        ),
    ),
    (
        fact(
            FactCode.REASSIGNMENT_FILLS_BROKER,
            broker=3,
            state="dead",
            is_gone=True,
            partitions=1,
            first=("t-0",),
            cancel_json="{}",
        ),
        (
            "broker 3 will not be empty: the running reassignments of 1 partition (t-0) end with a replica "
            "on it; it is dead, so they end only if it comes back: cancel them (kafka-reassign-partitions.sh "
            "--bootstrap-server HOST:9092 --reassignment-json-file cancel.json --cancel, with cancel.json: "
            "{})"
        ),
    ),
    (
        fact(
            FactCode.REASSIGNMENT_FILLS_BROKER,
            broker=3,
            state="draining",
            is_gone=False,
            partitions=30,
            first=("t-0", "t-1"),
            cancel_json=None,
        ),
        (
            "broker 3 will not be empty: the running reassignments of 30 partitions (t-0, t-1 and 28 more) "
            "end with a replica on it; wait until they are done and plan again, or cancel them "
            "(kafka-reassign-partitions.sh --bootstrap-server HOST:9092 --reassignment-json-file cancel.json "
            "--cancel, with cancel.json: all that kafka-reassign-partitions.sh --list names for it)"
        ),
    ),
    (
        fact(FactCode.ALL_INSIDE_BAND),
        "every broker is inside its allowed range",
    ),
    (
        fact(FactCode.ALL_WITHIN_DEAD_BAND, dead_band=0.2, broker=3, resource="disk", times_share=1.15),
        "every broker is within 20% of its share; the furthest is broker 3: its disk holds 1.15 × its share",
    ),
    (
        fact(FactCode.RATE_IS_WATCHED, resource="in", broker=2, load=21e6, capacity_share=0.29, is_assumed=True),
        (
            "in is watched and not evened out: broker 2 carries the most, 20.0 MiB/s, 29% of the capacity that is "
            "assumed (the busiest broker's rate and the throttle); --balance-within evens it out"
        ),
    ),
    (
        fact(
            FactCode.STOPS_AT_STEP,
            step="relieve",
            is_asked=False,
            left_replica_moves=1,
            left_bytes=None,
            left_leader_changes=0,
        ),
        (
            "the plan ends after the step relieve, all brokers are near enough to their share: 1 replica move and 0 "
            "leader changes of later steps are left out"
        ),
    ),
    (
        fact(
            FactCode.BROKERS_NEARLY_FULL,
            resource="disk",
            brokers=1,
            broker=9,
            capacity_share=0.93,
            mean_share=0.6,
            relieved_to=0.8,
        ),
        "disk: broker 9 uses 93% of capacity, the mean is 60%; no broker should end above 80%",
    ),
    (
        fact(
            FactCode.BROKERS_NEARLY_FULL,
            resource="disk",
            brokers=1,
            broker=9,
            capacity_share=0.93,
            mean_share=None,
            relieved_to=0.8,
        ),
        (
            "disk: broker 9 uses 93% of capacity, the capacities of others are unknown; no broker of known capacity "
            "should end above 80%"
        ),
    ),
    (
        fact(
            FactCode.BROKERS_NEARLY_FULL,
            resource="disk",
            brokers=3,
            broker=9,
            capacity_share=0.93,
            mean_share=0.92,
            relieved_to=None,
        ),
        (
            "disk: broker 9 uses 93% of capacity, the fullest of 3 that are nearly full, the mean is 92%, so moves do "
            "not help: add capacity, or keep less"
        ),
    ),
    (
        fact(
            FactCode.STOPS_AT_STEP,
            step="even_out",
            is_asked=True,
            left_replica_moves=1,
            left_bytes=2**30,
            left_leader_changes=2,
        ),
        (
            "the plan ends after the step even out, as asked: 1 replica move (1.0 GiB) and 2 leader changes of later "
            "steps are left out"
        ),
    ),
    (
        fact(
            FactCode.POINT_LEAVES_RATES,
            replica_moves=152,
            leader_changes=-3,
            copied_bytes=96 * 2**30,
            resource="in",
            times_mean=1.27,
            further_times_mean=1.1,
            capacity_share=0.18,
            is_assumed=False,
        ),
        (
            "+152 replica moves (96.0 GiB) and -3 leader changes would lower the highest in rate from 1.27 × to 1.10 × "
            "the mean, on brokers at 18% of their capacity or less"
        ),
    ),
    (
        fact(
            FactCode.BROKERS_OUTSIDE_BAND, resource="disk", side="high", brokers=2, furthest_broker=3, times_mean=1.684
        ),
        "disk: 2 brokers are above the allowed range, the furthest is broker 3 at 1.68 × the mean",
    ),
    (
        fact(
            FactCode.BROKERS_OUTSIDE_BAND,
            resource="in",
            side="low",
            brokers=1,
            furthest_broker=3,
            times_mean=0.5,
            when="after_plan",
        ),
        "in: 1 broker is below the allowed range, the furthest is broker 3 at 0.50 × the mean, after this plan",
    ),
    (
        fact(
            FactCode.BROKERS_OUTSIDE_BAND,
            resource="in",
            side="low",
            brokers=1,
            furthest_broker=3,
            times_mean=0.5,
            proof="whole_numbers",
        ),
        (
            "in: 1 broker is below the allowed range, the furthest is broker 3 at 0.50 × the mean, and no plan is "
            "inside all allowed ranges (proved by a program in whole numbers)"
        ),
    ),
    (
        fact(FactCode.BAND_WIDENED, resource="disk", asked_times_mean=1.1, used_times_mean=1.234, cause=NEAR),
        "the allowed range of disk is widened from 1.1 to 1.23 × the mean: the search found nothing nearer",
    ),
    (
        fact(FactCode.BAND_NOT_MET, resource="disk", cause=NEAR),
        "disk: the search found nothing nearer",
    ),
    (
        fact(FactCode.DOES_NOT_PAY, copied_bytes=2.0 * GIB, copied_share=0.125, imbalance_removed=0.0012),
        (
            "a plan would not pay: it copies 2.0 GiB (12.5% of all bytes) and takes 0.0012 off the imbalance "
            "(share of load outside its allowed range, summed over resources)"
        ),
    ),
    (
        fact(
            FactCode.BUDGET_ALLOWS_NOTHING,
            max_move_bytes=5 * GIB,
            max_moves=1,
            max_leader_changes=None,
            max_hours=1.5,
            imbalance=0.25,
        ),
        (
            "the budget (at most 5.0 GiB, at most 1 replica move, at most 1.5 h at the throttle) allows no "
            "move and no leader change that lowers the imbalance (share of load outside its allowed range, summed "
            "over resources) of 0.25"
        ),
    ),
    (
        fact(
            FactCode.BUDGET_CUTS_SHORT,
            max_move_bytes=None,
            max_moves=5,
            max_leader_changes=0,
            max_hours=None,
            imbalance_before=0.25,
            imbalance_after=0.1,
        ),
        (
            "within the budget (at most 5 replica moves, at most 0 leader changes) the imbalance (share of "
            "load outside its allowed range, summed over resources) goes from 0.25 to 0.1"
        ),
    ),
    (
        fact(FactCode.REST_NEEDS_MORE_BUDGET),
        "the rest needs more than the budget: plan again afterwards, with this plan as --previous",
    ),
    (
        fact(FactCode.LEAST_IMBALANCE_IN_BUDGET, imbalance=0.125),
        "no plan within the budget can come below an imbalance of 0.125 (weak duality)",
    ),
    (
        fact(FactCode.IMBALANCE_CHANGES, imbalance_before=0.25, imbalance_after=0.1),
        "the imbalance (share of load outside its allowed range, summed over resources) is 0.25, afterwards 0.1",
    ),
    (
        fact(FactCode.WAITS_FOR_ELECTION),
        "leaders are more even once preferred replicas that are out of sync have caught up and are elected: wait",
    ),
    (
        fact(FactCode.PREFERRED_REPLICAS_ELECTED),
        "the first replica of each list becomes the leader again",
    ),
    (
        fact(FactCode.ELECTION_LESS_EVEN, is_asked=True, skew_before=1.1, skew_after=1.5),
        (
            "once preferred replicas are elected, leaders are less even than today (a plan without "
            "--preferred-election reorders lists instead): highest over mean 1.10, afterwards 1.50"
        ),
    ),
    (
        fact(FactCode.BOUNDS_OF_WIDENED_BANDS, is_proved=True, least_bytes_as_asked=None),
        (
            "bounds and gaps are for the widened ranges: no plan meets those that you asked for (proved "
            "by a program in whole numbers)"
        ),
    ),
    (
        fact(FactCode.BOUNDS_OF_WIDENED_BANDS, is_proved=False, least_bytes_as_asked=3.0 * GIB),
        (
            "bounds and gaps are for the widened ranges: no plan was found that meets those that you "
            "asked for; a plan that met them could not copy less than 3.0 GiB"
        ),
    ),
    (
        fact(
            FactCode.THROTTLE_RAISED, throttle_bytes_per_s=2**20, highest_bytes_per_s=5 * 2**20, raised_waves=1, waves=2
        ),
        (
            "the throttle of 1.0 MiB/s is below what producers write to partitions that move, so their "
            "copies would never catch up: 1 of 2 waves uses up to 5.0 MiB/s"
        ),
    ),
    (
        fact(
            FactCode.DISKS_FILL_SOON,
            broker=9,
            growth_bytes_per_day=5 * 2**30,
            days=25.6,
            load=7.0 * 2**40,
            load_after=6.0 * 2**40,
            most=8.5 * 2**40,
            capacity=10.0 * 2**40,
            disks=3,
            horizon_days=30.0,
            full_brokers=1,
        ),
        (
            "after 1 full broker, step relieve takes 1.0 TiB off the disk of broker 9, and 2 more that fill within 30 "
            "days: it grows by 5.0 GiB a day and reaches 85 % of its capacity in 26 days"
        ),
    ),
    (
        fact(
            FactCode.NIGHTS_NEEDED,
            nights=5,
            night_hours=2.0,
            first_waves=3,
            left_replica_moves=120,
            left_bytes=2**40,
            left_leader_changes=1,
        ),
        (
            "the waves take 5 nights of 2 h: the first runs 3 waves and leaves 120 replica moves (1.0 TiB) and 1 "
            "leader change"
        ),
    ),
    (
        fact(
            FactCode.NIGHTS_NEEDED,
            nights=1,
            night_hours=1.5,
            first_waves=3,
            left_replica_moves=0,
            left_bytes=0,
            left_leader_changes=0,
        ),
        "the waves fit into one night of 1.5 h",
    ),
    (
        fact(FactCode.WAVES_LONGER_THAN_NIGHT, waves=1, longest_seconds=10800.0, night_hours=2.0),
        (
            "1 wave with a partition that is too large for a night of 2 h: up to 3 h 0 min; raise --throttle, or "
            "exclude its topic"
        ),
    ),
    (
        fact(FactCode.LONGER_THAN_VALID, seconds=10800.0, valid_hours=2),
        (
            "the plan takes 3 h 0 min at the throttle, longer than it is valid (2 h): raise --throttle, or "
            "plan again from time to time with this plan as --previous"
        ),
    ),
    (
        fact(FactCode.MOVES_WITHOUT_ROOM, moves=2),
        "2 moves are left out: no order of them has room for both copies on every disk",
    ),
    (
        fact(FactCode.FOLLOWERS_REORDERED, partitions=12),
        "12 partitions get their followers in another order, so that the leaders of a lost broker spread evenly",
    ),
    (
        fact(FactCode.LOSSES_SURVIVED, kind="rack", highest_times_capacity=0.889, resource="out"),
        "no broker is above its capacity after the loss of any rack: at most 0.89 × it (out)",
    ),
    (
        fact(
            FactCode.CHANGED_TO_SURVIVE, kind="broker", replica_moves=1, leader_changes=2, new_orders=3, otherwise=LOSS
        ),
        (
            "no broker is above its capacity after the loss of any broker, with 1 replica move, 2 leader "
            "changes and 3 new orders in all; else without broker 0 broker 1 would carry 80 B/s of out, the "
            "capacity is 60 B/s: 20 B/s is lacking"
        ),
    ),
    (
        fact(FactCode.TOPIC_LEADERS_KEPT, topics=1),
        "each broker that may lead has the leaders that you asked for of each of 1 topic",
    ),
    (
        fact(FactCode.TOPIC_LEADERS_FEWER_THAN_ASKED, topics=2, first="few", leaders=0, asked=1),
        "2 topics have too few partitions for that, such as few: each broker leads 0 instead of 1",
    ),
    (
        fact(FactCode.TOPIC_LEADERS_ASKED_OF_NONE),
        "the patterns of --min-topic-leaders match no topic that may move",
    ),
    (
        fact(
            FactCode.CHANGED_FOR_TOPIC_LEADERS,
            replica_moves=0,
            leader_changes=2,
            replica_moves_for_balance=1,
            leader_changes_for_balance=0,
        ),
        (
            "the leaders that you asked for on each broker take 0 replica moves and 2 leader changes in all; "
            "balance alone takes 1 and 0"
        ),
    ),
    (
        fact(FactCode.PLAN_CONFIRMED, plan_id="e" * 64, done_moves=3, moves=5),
        "plan eeeeeeeeeeee still holds and is confirmed: 3 of 5 moves done",
    ),
    (
        fact(FactCode.PLAN_CONTINUED, plan_id="e" * 64, left_moves=5),
        "plan eeeeeeeeeeee is continued: the cluster has changed, so what is left of it (5 moves) was adapted",
    ),
    (
        fact(FactCode.BOUND_OF_VERIFIER, cost="replica_moves"),
        "the bound on replica moves is the verifier's: a higher one was not proved",
    ),
    (
        fact(FactCode.PART_NOT_VERIFIED, part="frontier"),
        "the frontier is left out: the verifier could not confirm one of its points",
    ),
    (
        fact(FactCode.BAND_GIVES_WAY, to="caps", resources=("disk",), is_default=False),
        "the cap of disk outranks this range: caps come first",
    ),
    (
        fact(FactCode.BAND_GIVES_WAY, to="ordered_bands", resources=("disk", "in"), is_default=True),
        "the allowed range of disk and in outranks this default range: you asked for that one",
    ),
    (
        fact(FactCode.BAND_GIVES_WAY, to="unequal_disks", resources=("disk",), is_default=True),
        "the allowed range of disk outranks this default range: disks of different sizes come first",
    ),
    (
        fact(FactCode.PARTITION_ABOVE_BAND, partition="t-0", times_band=2.08),
        (
            "t-0 alone is more than the allowed range of any broker holds; what helps: spread its keys over at least "
            "3 times as many partitions"
        ),
    ),
    (
        fact(FactCode.PARTITION_ABOVE_BAND, partition="t-0", leaves_others_short=True),
        "t-0 alone holds so much that too little is left for the other brokers",
    ),
    (
        fact(FactCode.ALL_PARTITIONS_ABOVE_BAND),
        "every partition is larger than the allowed range of this broker; what helps: more, smaller partitions",
    ),
    (
        fact(FactCode.IMMOVABLE_ABOVE_BAND, broker=3, topic="t", topic_share=0.5),
        (
            "partitions that may not move fill the allowed range of broker 3 alone, 50% of that are of topic t; what "
            "helps: let that topic move"
        ),
    ),
    (
        fact(FactCode.MOSTLY_IMMOVABLE, share=0.75, topic="t"),
        "75% of all load may not move, most of it is of topic t; what helps: let that topic move",
    ),
    (
        fact(FactCode.NOTHING_MOVABLE),
        "no partition may move",
    ),
    (
        fact(FactCode.NO_OTHER_LEADER, broker=3, partitions=2),
        "2 partitions that broker 3 leads have no other replica that may lead; what helps: let replicas move",
    ),
    (
        fact(FactCode.TOO_FEW_RECEIVERS, brokers=1),
        "only one broker may receive; what helps: exclude fewer brokers",
    ),
    (
        fact(FactCode.DISKS_FULL, freest_broker=1, free_bytes=1.0 * GIB, broker=3, smallest_replica_bytes=2.0 * GIB),
        (
            "the disks are full: broker 1 has most room, 1.0 GiB, and the smallest replica that may leave "
            "broker 3 takes 2.0 GiB; what helps: more disk, another broker or shorter retention"
        ),
    ),
    (
        fact(
            FactCode.COUNT_BAND_BINDS,
            broker=3,
            counted="replicas",
            count=14,
            resource="disk",
            side="high",
            times_edge=1.27,
        ),
        (
            "the allowed range of replicas gives broker 3 at least 14, and even the smallest bring it to "
            "1.27 × the edge of its allowed range of disk; what helps: a wider one of replicas"
        ),
    ),
    (
        fact(FactCode.NOTHING_NEARER_FOUND),
        "the search found nothing nearer",
    ),
    (
        fact(FactCode.POINT_IN_BUDGET),
        "the most even plan found that the budget allows",
    ),
    (
        fact(FactCode.POINT_AS_ASKED, asked="targets", band=None, is_as_far_as_possible=False),
        "you asked for the targets",
    ),
    (
        fact(FactCode.POINT_AS_ASKED, asked="default_band", band=0.1, is_as_far_as_possible=True),
        "it is inside the default range of ±10.0%, as far as that can be met",
    ),
    (
        fact(FactCode.POINT_CHEAP, unit="bytes", is_free=False, is_beside_forced=False),
        "the most evenness for each byte that is copied",
    ),
    (
        fact(FactCode.POINT_CHEAP, unit="replica_moves", is_free=True, is_beside_forced=False),
        "it evens out without moving a replica",
    ),
    (
        fact(FactCode.POINT_KNEE),
        "beyond it each further step costs more than it evens out",
    ),
    (
        fact(FactCode.POINT_EVEN),
        "the most even one that was found",
    ),
    (
        fact(FactCode.SNAPSHOT_TOO_OLD, age_s=21 * 86_400, limit_s=7200),
        "the snapshot is too old, take a fresh one: it is 21 days old, the limit is 2 h",
    ),
    (
        fact(FactCode.SNAPSHOT_TOO_OLD, age_s=7201, limit_s=7200),
        "the snapshot is too old, take a fresh one: it is 7,201 s old, the limit is 7,200 s",
    ),
    (
        fact(FactCode.NO_BROKER_SEEN, has_groups_alone=False),
        "the snapshot has no broker",
    ),
    (
        fact(FactCode.NO_BROKER_SEEN, has_groups_alone=True),
        "the snapshot has no broker and no replica, only consumer groups: add kafka-topics --describe",
    ),
    (
        fact(FactCode.NO_BROKER_ANSWERS, brokers_by_state=(("dead", 2), ("without_log_dir", 1), ("refused", 3))),
        (
            "no broker is alive and answers: 2 brokers are dead; 1 broker has no log dir that works; 3 "
            "brokers refused the connection"
        ),
    ),
    (
        fact(FactCode.NO_PARTITION_SEEN),
        "the snapshot has no partition: the cluster is empty, or this login may describe none of its topics",
    ),
    (
        fact(FactCode.NO_PARTITION_USABLE, partitions=9),
        "none of 9 partitions has a leader and a replica on a log dir that works",
    ),
    (
        fact(FactCode.RIGHT_MISSING, right="Describe on Topic"),
        (
            "the right Describe on Topic is missing (partitions, leaders and offsets of topics, and groups "
            "that read them); to grant it: kafka-acls.sh --bootstrap-server HOST:PORT --add "
            "--allow-principal User:NAME --operation Describe --topic '*'"
        ),
    ),
    (
        fact(FactCode.TOPICS_MAY_BE_HIDDEN),
        "without the right Describe on Cluster Kafka may hide topics",
    ),
    (
        fact(FactCode.TOPICS_NOT_DESCRIBED, topics=2, first="secret"),
        "2 topics (secret, …) could not be described: their leaders are not known",
    ),
    (
        fact(
            FactCode.MAY_BE_OUTSIDE_BAND,
            resource="disk",
            broker=3,
            unknown_partitions=8,
            hidden_topics=1,
            first_hidden="secret",
        ),
        (
            "disk is not known for 8 partitions, and topic secret could not be described: disk of broker 3 "
            "may be outside its allowed range"
        ),
    ),
    (
        fact(FactCode.LEADERLESS_ON_GONE_BROKER, broker=3, state="dead", partitions=2),
        "broker 3 is dead and 2 partitions on it have no leader: nothing can be copied until it comes back",
    ),
    (
        fact(FactCode.RESOURCE_LEFT_OUT, resource="disk", why=fact(FactCode.FIGURE_NOT_MEASURED, figure="log_bytes")),
        "disk is left out: size is not measured",
    ),
    (
        fact(FactCode.RESOURCE_LEFT_OUT, resource="out", gap="not all groups were listed"),
        "out is left out: not all groups were listed",
    ),
    (
        fact(FactCode.OF_WHAT_WAS_SEEN, reason=fact(FactCode.ALL_INSIDE_BAND)),
        "by what the snapshot shows: every broker is inside its allowed range",
    ),
    (
        fact(FactCode.FIGURE_NOT_MEASURED, figure="log_bytes"),
        "size is not measured",
    ),
    (
        fact(FactCode.FIGURE_KNOWN_FOR_FEW, figure="log_bytes", known_share=0.67, needed_share=0.9),
        "size is known for 67% of the partitions, 90% are needed",
    ),
    (
        fact(FactCode.RESTS_ON_UNKNOWN_FIGURE, figures=("in_bytes_per_s",)),
        "it is computed from rate of writes, which is not known",
    ),
    (
        fact(FactCode.REPLICAS_STAY),
        "only leaders change, so the load of replicas stays where it is",
    ),
    (
        fact(FactCode.BROKER_UNRESPONSIVE, broker=3, state="silent"),
        "broker 3 did not answer in time: it gets no replicas and no leaders until a later snapshot reaches it",
    ),
    (
        fact(FactCode.CORDONED_GETS_NOTHING, broker=3),
        "broker 3 is cordoned: it gets no replica",
    ),
    (
        fact(FactCode.ONLY_BROKER, broker=3),
        "broker 3 is the only one: replicas and leaders have nowhere else to go",
    ),
    (
        fact(FactCode.BROKERS_WITHOUT_RACK, brokers=(3,)),
        "broker 3 has no rack: it counts as a rack of its own",
    ),
    (
        fact(FactCode.BROKERS_WITHOUT_RACK, brokers=(3, 4)),
        "brokers 3, 4 have no rack: each counts as a rack of its own",
    ),
    (
        fact(FactCode.MORE_REPLICAS_THAN_RACKS, partitions=12, replication_factor=4, racks=2, most_in_rack=2),
        "12 partitions have more replicas than there are racks (4 over 2): they are spread evenly, at most 2 in a rack",
    ),
    (
        fact(FactCode.RACK_EMPTY, rack="c"),
        "rack c holds no replica yet: its brokers get their share",
    ),
    (
        fact(
            FactCode.DISKS_DIFFER,
            smallest_bytes=1.0 * GIB,
            smallest_broker=1,
            largest_bytes=2.0 * GIB,
            largest_broker=3,
        ),
        "disks differ, from 1.0 GiB (broker 1) to 2.0 GiB (broker 3): shares of disk follow them",
    ),
    (
        fact(FactCode.ALL_PARTITIONS_EMPTY),
        "every partition is empty: moving them costs no bytes, and only counts and rates are balanced",
    ),
    (
        fact(FactCode.CAPACITY_ASSUMED_MEAN, resource="disk", broker=3),
        "disk: broker 3 is assumed to have the mean capacity of the others",
    ),
    (
        fact(FactCode.CAPACITIES_ASSUMED_EQUAL, resources=("disk", "in")),
        "capacities are assumed to be equal for disk and in: that of some broker is not known",
    ),
    (
        fact(FactCode.PARTITIONS_LEFT_ALONE, why="reassigning", partitions=1),
        "1 partition stays as it is: being reassigned already",
    ),
    (
        fact(FactCode.PARTITIONS_LEFT_ALONE, why="out_of_sync", partitions=3, first=("t-0", "t-1")),
        (
            "3 partitions (t-0, t-1 and 1 more) stay as they are: a replica is out of sync, and no "
            "reassignment ends before it has caught up"
        ),
    ),
    (
        fact(FactCode.PARTITIONS_UNDER_REPLICATED, partitions=3, first=("t-0", "t-1")),
        "3 partitions are under-replicated: t-0, t-1 and 1 more",
    ),
    (
        fact(FactCode.OUT_OF_SYNC_REPLICA_LEAVES, partitions=1, first=("t-0",)),
        (
            "1 partition has a replica out of sync on a broker that stays; that replica may not lead, nor be "
            "in a list that changes: t-0"
        ),
    ),
    (
        fact(FactCode.FACTOR_AT_MIN_ISR, replication_factor=2, is_below=False, topics=3, first=("a", "b")),
        (
            "warning: replication factor 2 is not above min.insync.replicas of a, b and 1 more: one failure "
            "stops writes with acks=all there"
        ),
    ),
    (
        fact(FactCode.PATTERN_MATCHES, option="--exclude-topic", pattern="tmp-.*", matched=0, topics=2),
        "--exclude-topic 'tmp-.*' matches none of 2 topics",
    ),
    (
        fact(FactCode.MORE_PATTERNS, patterns=2),
        "2 more patterns of topics were given",
    ),
    (
        fact(FactCode.BALANCER_MAY_INTERFERE, balancer="Confluent's balancer", sign="topic _confluent-x"),
        (
            "Confluent's balancer may work against this plan (sign: topic _confluent-x): set "
            "confluent.balancer.enable=false before you execute it"
        ),
    ),
    (
        fact(FactCode.COPIES_BETWEEN_DIRS, replicas=2),
        "2 replicas are being moved between log dirs: until that ends both copies take disk",
    ),
    (
        fact(FactCode.THROTTLES_SET, topics=2, brokers=1),
        "replication throttles are set on 2 topics and 1 broker already: they slow this plan down, too",
    ),
    (
        fact(
            FactCode.HOURS_OUTSIDE_BAND,
            hours=4,
            judged=3,
            outside_before=2,
            outside_after=0,
            mean_brokers_before=1.0,
            mean_brokers_after=0.0,
        ),
        (
            "in 2 of the last 3 hours some broker was outside its allowed range of in, out or cpu; with this plan it "
            "would have been in 0 (1.0 → 0.0 brokers an hour), 1 more were not measured"
        ),
    ),
    (
        fact(FactCode.DIRS_MOVE, replicas=2, copied_bytes=60, least_bytes=60),
        "2 replicas move between log dirs of their own broker: 60 B, at least 60 B needed, none over the network",
    ),
    (
        fact(FactCode.DIRS_AS_ASKED),
        "every dir that you want empty is empty, and every disk is within its allowed range",
    ),
    (
        fact(FactCode.DIR_STAYS_OUTSIDE, broker=3, paths=("/d0",), used_share=0.5),
        "/d0 of broker 3 stays at 50.0%, outside its allowed range: whole replicas come no nearer",
    ),
    (
        fact(FactCode.DIRS_LEFT_OUT, why="one_disk", broker=3),
        "broker 3 is left out: its dirs that work share one disk",
    ),
    (
        fact(FactCode.DIRS_LEFT_OUT, why="state", state="dead"),
        "it is dead",
    ),
    (
        fact(FactCode.DISK_SIZES_UNKNOWN, broker=3),
        "the disk sizes of broker 3 are unknown: replicas are spread by what its dirs hold",
    ),
    (
        fact(FactCode.DIRS_NOT_KNOWN, brokers=(3, 4), is_to_empty=False),
        "too little is known of brokers 3, 4 to tell whether the disks are within their allowed range",
    ),
    (
        fact(FactCode.EMPTIES_DIR, broker=3, path="/d0"),
        "empties /d0 of broker 3",
    ),
    (
        fact(FactCode.EVENS_DISKS, broker=3, path="/d1"),
        "evens out the disks of broker 3: /d1 has room",
    ),
    (
        fact(FactCode.FACTOR_ABOVE_BROKERS, replication_factor=6, brokers=4),
        "replication factor 6 on 4 brokers: a broker holds one replica of a partition",
    ),
    (
        fact(
            FactCode.TOO_FEW_BROKERS,
            replication_factor=3,
            brokers=2,
            lacking=1,
            partitions=4,
            partition="t-0",
            is_confined=False,
        ),
        (
            "replication factor 3 needs as many brokers that may hold a replica, and only 2 may: 1 broker is "
            "lacking for 4 partitions (t-0, for example)"
        ),
    ),
    (
        fact(FactCode.IMMOVABLE_ON_LEAVING_BROKER, broker=3, partitions=2, partition="t-0"),
        "2 partitions (for example t-0) may not move, but broker 3 must be emptied",
    ),
    (
        fact(FactCode.SIZES_UNKNOWN, option="--max-hours", partitions=2),
        "--max-hours cannot be kept: the size of 2 partitions is not known",
    ),
    (
        fact(FactCode.DISKS_TOO_SMALL, brokers=3, capacity_bytes=3.0 * GIB, needed_bytes=4.0 * GIB),
        "the disks of the 3 brokers that stay offer 3.0 GiB, all replicas take 4.0 GiB",
    ),
    (
        fact(
            FactCode.DISKS_LACK_ROOM,
            rack="b",
            brokers=(3,),
            broker_count=1,
            is_all=False,
            needed_bytes=6.0 * GIB,
            free_bytes=5.0 * GIB,
            held_bytes=0.0,
            limit_bytes=5.0 * GIB,
            leaving_brokers=(7,),
        ),
        (
            "the disks of rack b need 120.0%: 6.0 GiB must be copied there beside what they hold, 5.0 GiB is "
            "free, 1.0 GiB is lacking; broker 7 leaves its replicas to them"
        ),
    ),
    (
        fact(
            FactCode.DISKS_LACK_ROOM,
            rack=None,
            brokers=(1, 2),
            broker_count=2,
            is_all=False,
            needed_bytes=6.0 * GIB,
            free_bytes=5.0 * GIB,
            is_by_program=True,
        ),
        (
            "the disks of brokers 1, 2: 6.0 GiB must be copied there by the rules on racks and brokers, 5.0 "
            "GiB is free, 1.0 GiB is lacking"
        ),
    ),
    (
        fact(FactCode.COPY_TOO_LARGE, partition="t-0", replica_bytes=2.0 * GIB, broker=3, free_bytes=1.0 * GIB),
        (
            "a replica of t-0 takes 2.0 GiB, and of the brokers that may get it broker 3 has most left, 1.0 "
            "GiB: 1.0 GiB is lacking"
        ),
    ),
    (
        fact(FactCode.LIMITS_TOO_LOW, resource="disk", needed=4.0 * GIB, limit=3.0 * GIB, brokers=3),
        "the 3 brokers that stay may carry 3.0 GiB of disk together, 4.0 GiB is needed: 1.0 GiB is lacking",
    ),
    (
        fact(FactCode.LIMITS_TOO_LOW, resource="replicas", needed=6.0, limit=4.0, brokers=1, racks=("a",)),
        (
            "the 1 broker of rack a may carry 4 of replicas together, 6 is needed, with replicas spread "
            "evenly over racks: 2 is lacking"
        ),
    ),
    (
        fact(FactCode.LIMITS_TOO_LOW, resource="disk", needed=4.0 * GIB, limit=3.0 * GIB, brokers=2, headroom=0.7),
        (
            "with 70.0% of disk left free the 2 brokers that stay may carry 3.0 GiB of disk together, 4.0 "
            "GiB is needed: 1.0 GiB is lacking"
        ),
    ),
    (
        fact(FactCode.NO_ROOM_FOR_REPLICA, partition="t-0", is_proved=True),
        (
            "a replica of t-0 finds no broker with room for it; no placement keeps every rule (proved by a "
            "program in whole numbers)"
        ),
    ),
    (
        fact(FactCode.NO_ROOM_FOR_REPLICA, topic="t", replica=1, replica_bytes=2.0 * GIB),
        "topic t: no broker has room for replica 1 of 2.0 GiB",
    ),
    (
        fact(FactCode.PARTITION_ABOVE_LIMIT, partition="t-0", resource="in", load=10.0, limit=9.0),
        "t-0 alone brings its leader's broker 10 B/s of in, 1 B/s above the highest cap, 9 B/s",
    ),
    (
        fact(FactCode.BROKER_ABOVE_CAP, broker=3, resource="in", load=10.0, cap=9.0),
        "broker 3 would carry 10 B/s of in, its cap is 9 B/s",
    ),
    (
        fact(FactCode.BROKER_ABOVE_CAP, broker=3, resource="in", load=10.0, cap=9.0, proof="none", is_limited=True),
        "broker 3 would carry 10 B/s of in, its cap is 9 B/s: no plan was found that keeps its cap within the budget",
    ),
    (
        fact(FactCode.BROKER_ABOVE_CAPACITY, broker=3, resource="in", load=10.0, capacity=9.0),
        (
            "no plan was found in which every broker can carry what must move: in the nearest one broker 3 "
            "would carry 10 B/s of in, its limit is 9 B/s"
        ),
    ),
    (
        fact(FactCode.BUDGET_TOO_SMALL, copied_bytes=2.0 * GIB, replica_moves=2, leader_changes=1, is_proved=True),
        (
            "what must move costs 2.0 GiB, 2 replica moves and 1 leader change, more than the budget allows "
            "(proved by a program in whole numbers)"
        ),
    ),
    (
        fact(FactCode.HOURS_TOO_FEW, seconds=7200.0),
        "what must move takes 2 h 0 min at the throttle, more than --max-hours allows",
    ),
    (
        LOSS,
        "without broker 0 broker 1 would carry 80 B/s of out, the capacity is 60 B/s: 20 B/s is lacking",
    ),
    (
        fact(
            FactCode.LOSS_NOT_SURVIVED,
            kind="rack",
            lost="a",
            broker=None,
            resource="out",
            load=120.0,
            capacity=100.0,
            proof="all_tried",
            is_limited=True,
        ),
        (
            "without rack a all other brokers together would carry 120 B/s of out, the capacity is 100 B/s: "
            "20 B/s is lacking in the best placement found within the budget, and every other one leaves "
            "some broker above its capacity"
        ),
    ),
    (
        fact(
            FactCode.TOPIC_LEADERS_LACKING,
            broker=3,
            topic="t",
            leaders=0,
            asked=2,
            lacking_in_all=3,
            is_limited=True,
            is_proved=True,
        ),
        (
            "broker 3 would lead 0 partitions of t and you asked for 2: 2 are lacking, 3 over all brokers "
            "and topics, in the best placement found within the budget, and no other one lacks fewer"
        ),
    ),
    (
        fact(FactCode.TOPIC_LEADERS_BREAK_LIMITS),
        "no plan was found that has every leader of a topic and keeps caps and hours",
    ),
    (
        fact(FactCode.DIR_NOT_EMPTIED, broker=3, paths=("/d0",), lacking_bytes=5, most_used_share=0.9),
        "broker 3: /d0 cannot be emptied: its other disks lack 5 B to stay below 90%",
    ),
    (
        fact(FactCode.DIR_HOLDS_IMMOVABLE, broker=3, replicas=1),
        (
            "broker 3: 1 replica that is or may be in a dir to be emptied cannot move: of unknown size or "
            "dir, offline, with observers, or moving already"
        ),
    ),
    (
        fact(FactCode.DIR_MOVES_WITHOUT_ROOM, moves=1),
        "no order of 1 move between log dirs has room for both copies on their disks",
    ),
    (
        fact(FactCode.LOWER_FACTOR, replication_factor=4),
        "ask for replication factor 4 at most",
    ),
    (
        fact(FactCode.ADD_BROKERS, brokers=1, is_confined=True, or_replication_factor=2),
        "add 1 broker where its topic may be, or ask for replication factor 2",
    ),
    (
        fact(FactCode.ADD_DISK, lacking_bytes=1.0 * GIB, like_largest=2),
        (
            "add at least 1.0 GiB of disk there (2 brokers like the largest), or keep less: a shorter "
            "retention or fewer replicas"
        ),
    ),
    (
        fact(FactCode.ADD_DISK, lacking_bytes=1.0 * GIB, or_smaller_partitions=True),
        "add at least 1.0 GiB of disk there, or make more, smaller partitions",
    ),
    (
        fact(FactCode.ADD_BROKER_OR_DISK),
        "add a broker or disk, or exclude fewer brokers",
    ),
    (
        fact(FactCode.LET_MOVE, broker=3, partitions=2),
        "let them move, or keep broker 3",
    ),
    (
        fact(FactCode.LIMIT_MOVES_OR_GIVE_SIZES),
        "give --max-moves, or an input with the sizes of replicas",
    ),
    (
        fact(FactCode.RAISE_LIMIT, resource="in"),
        "raise the cap on in",
    ),
    (
        fact(FactCode.RAISE_LIMIT, resource="in", limit=10.0, or_smaller_partitions=True),
        "a limit of at least 10 B/s for each broker, or more, smaller partitions",
    ),
    (
        fact(FactCode.RAISE_LIMIT, resource="in", lacking=10.0),
        "raise limits by 10 B/s of in, or add a broker",
    ),
    (
        fact(FactCode.LOWER_HEADROOM, headroom=0.6),
        "a headroom of at most 60.0%, or more brokers",
    ),
    (
        fact(FactCode.RAISE_BUDGET),
        "a larger budget",
    ),
    (
        fact(FactCode.RAISE_HOURS),
        "more hours, or a higher throttle",
    ),
    (
        fact(FactCode.ADD_CAPACITY),
        "that much more capacity, or less load",
    ),
    (
        fact(FactCode.ASK_FEWER_LEADERS),
        "ask for fewer leaders of each topic, or let more brokers hold its replicas",
    ),
    (
        fact(FactCode.RAISE_CAP_OR_HOURS),
        "a higher cap, or more hours",
    ),
    (
        fact(FactCode.FREE_DIR),
        "move replicas to other brokers first, or add a disk",
    ),
    (
        fact(FactCode.WAIT_FOR_DIR_MOVES),
        "wait until nothing moves, read all log dirs, and plan again",
    ),
]


def test_every_code_of_a_plan_has_a_sample() -> None:
    sampled = {sample.code for sample, _ in SAMPLES}
    assert sampled == PLAN_REASONS.keys() | INFEASIBLE.keys()


@pytest.mark.parametrize(("sample", "message"), SAMPLES, ids=lambda value: getattr(value, "code", ""))
def test_words(sample: Fact, message: str) -> None:
    assert render(sample) == message
    assert render_document(sample.document()) == message


def test_every_state_and_every_proof_has_words() -> None:
    for state in BrokerState:
        assert render(fact(FactCode.BROKER_UNRESPONSIVE, broker=1, state=state.value)).startswith("broker 1 ")
    assert PROOFS.keys() == set(BoundProof)


def test_an_error_for_people_is_its_cause_and_what_would_help() -> None:
    error = InfeasibleError(fact(FactCode.NOTHING_MOVABLE), fact(FactCode.RAISE_BUDGET))
    assert describe_error(error) == "no partition may move; a larger budget"
    assert describe_error(UsageError.at("--slack", "is below 0")) == "--slack: is below 0"


def plain(value: object) -> bool:
    """JSON's types, without numpy numbers."""
    if isinstance(value, tuple):
        return all(map(plain, value))
    return value is None or type(value) in (bool, int, float, str, Fact)


@for_each("seed", range(12), fast=range(4))
def test_facts_of_random_plans_have_plain_arguments_and_words(seed: int) -> None:
    for snapshot, options in (cluster_with_everything(seed), unhealthy_cluster(seed)):
        plan = make_plan(snapshot, options)
        facts = [*plan.reasons, *plan.left_out.values(), *(why for point in plan.frontier for why in point.reasons)]
        for all_fact in all_facts(facts):
            assert all(map(plain, all_fact.args.values())), all_fact
            assert render(all_fact)
