import random
from collections import Counter, defaultdict
from dataclasses import fields

import numpy as np
import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_assignors.partitioners.contract import RecordSample, TopicTarget
from kafka_assignors.partitioners.key_column import KeyColumn
from kafka_assignors.partitioners.registry import by_name
from kafka_rebalance.key_tally.plan import (
    KeyFacts,
    Pairing,
    TallyPlan,
    TopicLayout,
    batch_of_hashes,
    batch_of_keys,
    plan_for,
)
from kafka_rebalance.key_tally.tally import KeyTally, meeting_of, scores_of
from tests.sample import for_each
from tests.unit.key_tally.samples import Keys, skewed, tally_of

CLIENTS = ("librdkafka-consistent-random", "sarama-hash", "scala@0.8")


def placed(keys: Keys, partitioner: str, partitions: int) -> list[int]:
    """By the partitioner itself, one key at a time."""
    return by_name(partitioner).partition(RecordSample.of_keys(KeyColumn.of(keys)), TopicTarget(partitions)).tolist()


@for_each("seed", range(4))
def test_counts_are_those_of_plain_python(seed: int) -> None:
    keys = skewed(seed, 3000, 400)
    plan = plan_for(TopicLayout(7 + seed), clients=CLIENTS, grown_to=(12,))
    scores = scores_of(tally_of(keys, plan, batches=1 + seed))
    assert scores.records == len(keys)
    assert (scores.null_keys, scores.empty_keys) == (keys.count(None), keys.count(b""))
    assert scores.different_is_exact
    assert scores.different_keys == len({key for key in keys if key is not None})
    for score in scores.placements:
        name, n = score.placement.rule.partitioner, score.placement.partitions
        no_key = (None, b"") if name == "librdkafka-consistent-random" else (None,)
        expected = Counter(p for key, p in zip(keys, placed(keys, name, n), strict=True) if key not in no_key)
        assert score.load.records.tolist() == [expected[p] for p in range(n)]
        assert score.by_lot_records == sum(key in no_key for key in keys)
    for pair in scores.pairs:
        names = (pair.first.rule.partitioner, pair.second.rule.partitioner)
        by_lot = (None, b"") if "librdkafka-consistent-random" in names else (None,)
        keyed = [key for key in keys if key not in by_lot]
        one = placed(keyed, names[0], pair.first.partitions)
        other = placed(keyed, names[1], pair.second.partitions)
        differs = {key: p != q for key, p, q in zip(keyed, one, other, strict=True)}
        assert pair.keyed_records == len(keyed)
        assert pair.records_apart == sum(p != q for p, q in zip(one, other, strict=True))
        assert pair.key_ratio == pytest.approx(sum(differs.values()) / len(differs))


def test_batches_and_merging_and_travelling_change_nothing() -> None:
    keys = skewed(9, 5000, 3000)
    plan = plan_for(TopicLayout(6), clients=CLIENTS, grown_to=(8,), shown_bytes=4)
    whole = tally_of(keys, plan)
    parts = [tally_of(keys[start : start + 1250], plan, batches=2) for start in range(0, 5000, 1250)]
    random.Random(1).shuffle(parts)
    merged = KeyTally.none(plan)
    for part in parts:
        merged = merged.merged(KeyTally.from_bytes(part.to_bytes(), plan))
    for field in fields(merged.counts):
        assert np.array_equal(getattr(merged.counts, field.name), getattr(whole.counts, field.name))
    one, other = scores_of(merged), scores_of(whole)
    assert (one.heavy, one.frequent_error, one.different_keys) == (other.heavy, 0, other.different_keys)
    assert one.pairs == other.pairs


def test_heavy_keys_are_named_with_their_partitions_and_only_if_asked() -> None:
    keys = [b"hot-customer"] * 60 + [b"warm"] * 30 + [b"k%d" % i for i in range(10)] + [b""] * 5
    scores = scores_of(tally_of(keys, plan_for(TopicLayout(4), clients=CLIENTS[:1], shown_bytes=6)))
    hot, warm, empty = scores.heavy[:3]
    assert (hot.key, hot.key_bytes, hot.records_at_least, hot.records_at_most) == (b"hot-cu", 12, 60, 60)
    assert hot.partitions == tuple(placed([b"hot-customer"], name, 4)[0] for name in ("default", CLIENTS[0]))
    assert (warm.key, warm.records_at_least) == (b"warm", 30)
    assert (empty.key, empty.key_bytes, empty.partitions[1]) == (b"", 0, -1)  # librdkafka sends it by lot
    hidden = tally_of(keys, plan_for(TopicLayout(4)))
    assert {key.key for key in scores_of(hidden).heavy} == {None}


def test_bytes_are_those_of_key_and_value_and_unknown_where_one_batch_does_not_tell() -> None:
    """a: 1 + 10 and 1 + 20; null: 5; all in the one partition, but null by lot."""
    plan = plan_for(TopicLayout(1))
    batch = batch_of_keys(KeyColumn.of([b"a", b"a", None]), plan.hashes, np.array([10, 20, 5]))
    scores = scores_of(KeyTally.none(plan).added(batch))
    assert (scores.bytes, scores.placements[0].load.bytes.tolist()) == (37, [32])
    assert scores_of(KeyTally.none(plan).added(batch).merged(tally_of([b"b"], plan))).bytes is None


def test_a_sample_that_tells_its_partitions_shows_which_client_wrote_it() -> None:
    """Three of four records are where Java puts them, one a partition further."""
    keys: Keys = [b"k%d" % i for i in range(400)]
    places = np.array(placed(keys, "default", 5), np.int32)
    places[::4] = (places[::4] + 1) % 5
    plan = plan_for(TopicLayout(5), clients=("java@0.8.2",), grown_to=(9,))
    tally = KeyTally.none(plan).added(batch_of_keys(KeyColumn.of(keys), plan.hashes, observed=places))
    scores = scores_of(tally)
    assert [score.agreeing_ratio for score in scores.placements] == [0.75, 0.75, None]
    assert scores.observed == tuple(np.bincount(places).tolist())
    smaller = KeyTally.none(plan_for(TopicLayout(4)))
    smaller = smaller.added(batch_of_keys(KeyColumn.of(keys), plan.hashes, observed=places))
    with pytest.raises(InvalidInputError, match="a record lies in partition 4 of a topic with 4"):
        scores_of(smaller)


def test_hashes_are_as_good_as_keys_where_partitions_go_by_them() -> None:
    keys = [key for key in skewed(4, 2000, 200) if key is not None]
    plan = plan_for(TopicLayout(8), clients=("librdkafka-murmur2",), grown_to=(12,))
    by_keys = tally_of(keys, plan)
    hashes = batch_of_keys(KeyColumn.of(keys), plan.hashes).hashes[0]
    by_hashes = KeyTally.none(plan).added(batch_of_hashes(hashes, np.zeros(len(keys), np.bool_)))
    assert np.array_equal(by_keys.counts.records, by_hashes.counts.records)
    assert np.array_equal(by_keys.counts.apart, by_hashes.counts.apart)
    one, other = scores_of(by_keys), scores_of(by_hashes)
    assert one.different_keys == other.different_keys
    assert [key.records_at_least for key in one.heavy] == [key.records_at_least for key in other.heavy]
    assert {key.key_bytes for key in other.heavy} == {None}


def test_two_topics_meet_in_the_keys_that_both_have() -> None:
    """Of a to f, c d e f are in both; the partitioner decides which differ on 4 and 6 partitions."""
    left, right = [b"a", b"b", b"c", b"d", b"e", b"f"], [b"c", b"d", b"e", b"f", b"x"]
    plan = plan_for(TopicLayout(4), read_with=TopicLayout(6))
    meeting = meeting_of(tally_of(left, plan), tally_of(right, plan))
    shared = left[2:]
    apart = [p != q for p, q in zip(placed(shared, "default", 4), placed(shared, "default", 6), strict=True)]
    assert (meeting.shared_keys, meeting.sampled_keys, meeting.is_exact) == (4, 4, True)
    assert meeting.key_ratio == sum(apart) / 4
    alike = plan_for(TopicLayout(4), read_with=TopicLayout(4, "librdkafka-murmur2"))
    assert meeting_of(tally_of(left, alike), tally_of(right, alike)).key_ratio == 0.0


def test_shared_keys_of_large_topics_are_estimated() -> None:
    """20,000 and 20,000 different keys, 5,000 in both; about 5,000 / 35,000 of 4,096 sampled: 585, give or take 5 %."""
    left, right = ([b"k%d" % i for i in range(start, start + 20_000)] for start in (0, 15_000))
    plan = plan_for(TopicLayout(4), read_with=TopicLayout(5))
    meeting = meeting_of(tally_of(left, plan), tally_of(right, plan))
    assert not meeting.is_exact
    assert meeting.shared_keys == pytest.approx(5_000, rel=0.12)
    assert meeting.key_ratio == pytest.approx(0.8, abs=0.05)  # alike by chance in one of five


def test_plans_name_each_placement_once_and_refuse_what_cannot_be() -> None:
    plan = plan_for(TopicLayout(6), clients=("librdkafka-murmur2",), grown_to=(6, 12), read_with=TopicLayout(12))
    assert [(placement.rule.partitioner, placement.partitions) for placement in plan.placements] == [
        ("default", 6), ("librdkafka-murmur2", 6), ("default", 12),
    ]  # fmt: skip
    pairings = defaultdict(list)
    for pair in plan.pairs:
        pairings[pair.pairing].append((pair.first, pair.second))
    assert pairings == {
        Pairing.OTHER_CLIENT: [(0, 1)], Pairing.GROWN: [(0, 0), (0, 2)], Pairing.READ_TOGETHER: [(0, 2)]
    }  # fmt: skip
    for wrong in (0, -1, 1_000_001):
        with pytest.raises(InvalidInputError, match=f"partitions: {wrong}"):
            plan_for(TopicLayout(wrong))
    with pytest.raises(InvalidInputError, match="different plans"):
        KeyTally.none(plan).merged(KeyTally.none(TallyPlan(plan.placements)))


def test_nothing_counted_is_scored() -> None:
    scores = scores_of(KeyTally.none(plan_for(TopicLayout(3), grown_to=(4,))))
    assert (scores.records, scores.different_keys, scores.heavy) == (0, 0, ())
    assert (scores.placements[0].load.record_skew, scores.pairs[0].record_ratio) == (1.0, 0.0)
    assert len(KeyFacts.none(2, 4)) == 0


@pytest.mark.parametrize(("column", "value"), [("value_bytes", -1), ("value_bytes", 2**31), ("observed", -2)])
def test_sizes_and_partitions_that_cannot_be_are_refused(column: str, value: int) -> None:
    numbers = np.array([3, value])
    with pytest.raises(InvalidInputError, match=f"{value}"):
        batch_of_keys(KeyColumn.of([b"a", b"b"]), (), **{column: numbers})
    with pytest.raises(InvalidInputError, match="3 values, expected 2"):
        batch_of_keys(KeyColumn.of([b"a", b"b"]), (), observed=np.zeros(3, np.int32))
