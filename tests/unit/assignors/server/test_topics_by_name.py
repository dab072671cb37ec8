"""The coordinator walks a member's topics in the order of a HashSet of their names, not of their ids.

Observed on brokers 4.4.0: names predict all of 23 joins and leaves of a share group, ids 21.
"""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np

from kafka_assignors.contract import MapOrder
from kafka_assignors.registry import by_name
from kafka_assignors.server.orders import name_hashes, subscription_of, topic_hashes
from tests.unit.assignors.groups import answer, group


def java_hash(text: str) -> int:
    code = 0
    for unit in text:
        code = (31 * code + ord(unit)) & 0xFFFFFFFF
    return code


def as_java_set(names: list[str]) -> list[str]:
    """``new HashSet<>(names)``: the table of (int)(n / 0.75f) + 1, bin by bin, in a bin as they come."""
    table = 16
    while table < int(len(names) / 0.75) + 1:
        table *= 2
    bins: list[list[str]] = [[] for _ in range(table)]
    for name in names:
        code = java_hash(name)
        bins[(code ^ code >> 16) & (table - 1)].append(name)
    return [name for chain in bins for name in chain]


def test_topics_of_a_member_come_by_name() -> None:
    """At 12 topics the set of a list has 32 bins, one that grew with them 16."""
    draw = random.Random(11)
    for count in (1, 2, 3, 7, 11, 12, 13, 24, 25, 40):
        for _ in range(20):
            names = [f"t-{number}" for number in draw.sample(range(10_000), count)]
            request = group(dict.fromkeys(names, 1), {"a": names}, order=MapOrder.LEADER)
            result = subscription_of(request, 0, topic_hashes(request), name_hashes(request))
            assert [names[topic] for topic in result.tolist()] == as_java_set(names)


def test_a_share_group_reads_its_partitions_in_the_order_of_names() -> None:
    """Ids follow the order of the columns, names do not: u (117 & 15 = 5) comes after p (112 & 15 = 0)."""
    by_order = {}
    for order in (MapOrder.HASH, MapOrder.LEADER):
        request = group({"u": 2, "p": 2}, dict.fromkeys("abc", ("u", "p")), order=order)
        names = name_hashes(request)
        listed = subscription_of(request, 0, topic_hashes(request), names)
        by_order[order] = [request.topics.names[topic] for topic in listed.tolist()]
    assert by_order == {MapOrder.HASH: ["u", "p"], MapOrder.LEADER: ["p", "u"]}


def test_of_two_topics_whose_ids_share_a_bin_uniform_deals_the_first_name_first() -> None:
    """Both ids are 1 and 17 behind equal zeros: one bin of 16. u is first in the list, p in the set of names."""
    request = group({"u": 1, "p": 1}, {"a": ["u", "p"], "b": ["u", "p"]})
    high = np.array([1, 17], dtype=np.int64)
    shared = replace(request, topics=replace(request.topics, uuid_msb=high))
    by_id = answer(shared, by_name("server-uniform").assign(shared))
    named = replace(shared, order=MapOrder.LEADER)
    assert by_id == {"a": [("u", 0)], "b": [("p", 0)]}
    assert answer(named, by_name("server-uniform").assign(named)) == {"a": [("p", 0)], "b": [("u", 0)]}


def test_twelve_partitions_of_a_topic_have_a_table_of_32_in_the_coordinator_and_of_16_in_a_set_that_grew() -> None:
    """Seen on brokers 4.4.0, which copy the list of a record: of 12 to 23 the first six stay, else 16 to 21."""
    kept = {}
    for order in (MapOrder.HASH, MapOrder.LEADER):
        held = {"a": [("t", number) for number in range(12, 24)], "b": [("t", number) for number in range(12)]}
        request = group({"t": 24}, dict.fromkeys("abcd", ("t",)), held, order=order)
        kept[order] = [number for _, number in answer(request, by_name("server-uniform").assign(request))["a"]]
    assert kept == {MapOrder.HASH: list(range(16, 22)), MapOrder.LEADER: list(range(12, 18))}


def test_of_two_topics_whose_ids_share_a_bin_a_member_keeps_what_the_coordinator_lists_first() -> None:
    held = [("u", 0), ("u", 1), ("p", 0), ("p", 1)]
    for first, second in (("u", "p"), ("p", "u")):
        listed = sorted(held, key=lambda pair: pair[0] != first)
        request = group({"u": 2, "p": 2}, {"a": ["u", "p"], "b": ["u", "p"]}, {"a": listed}, order=MapOrder.LEADER)
        shared = replace(request, topics=replace(request.topics, uuid_msb=np.array([1, 17], dtype=np.int64)))
        result = answer(shared, by_name("server-uniform").assign(shared))
        assert result == {"a": [(first, 0), (first, 1)], "b": [(second, 0), (second, 1)]}


def test_the_order_of_names_decides_who_reads_what_in_some_share_groups() -> None:
    """Partitions that share a bin are dealt in the order of their topics."""
    draw, differing = random.Random(23), 0
    for _ in range(150):
        names = [f"t-{number}" for number in draw.sample(range(1_000), draw.randint(3, 7))]
        members = {f"m{number}": names for number in range(draw.randint(2, 9))}
        request = group({name: draw.randint(1, 8) for name in names}, members, order=MapOrder.LEADER)
        high = np.array([draw.getrandbits(62) for _ in names], dtype=np.int64)
        named = replace(request, topics=replace(request.topics, uuid_msb=high))
        by_name_order, by_id_order = (
            answer(item, by_name("share-simple").assign(item)) for item in (named, replace(named, order=MapOrder.HASH))
        )
        assert sorted(map(len, by_name_order.values())) == sorted(map(len, by_id_order.values()))
        differing += by_name_order != by_id_order
    assert 0 < differing < 150
