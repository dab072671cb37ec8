"""Each family's own answer to its smallest recorded case, past the dispatch by name."""

from __future__ import annotations

import json
from functools import partial

from kafka_assignors.recorded_cases import client, connect, fixed_readers, runtime, server, streams
from kafka_assignors.recorded_cases.client import Owned, request_of
from kafka_rebalance.placement import recorded_cases
from tests.conformance.recorded import cases, is_recorded_answer
from tests.sample import for_each

ANSWERS = {
    "client_range": partial(client.answer_plain, "range"),
    "client_roundrobin": partial(client.answer_plain, "roundrobin"),
    "client_rack_affinity": partial(client.answer_rack_affinity, "rack-affinity@kafka-go"),
    "legacy_range_2_0": partial(client.answer_plain, "range@2.0"),
    "legacy_roundrobin_2_0": partial(client.answer_plain, "roundrobin@2.0"),
    "client_sticky": partial(client.answer_sticky, "sticky"),
    "client_cooperative_sticky": partial(client.answer_cooperative_sticky, "cooperative-sticky"),
    "legacy_sticky_2_0": partial(client.answer_legacy_sticky, "sticky@2.0"), "java_random": runtime.answer_random,
    "java_hash_order": runtime.answer_hash_order, "group_partition": runtime.answer_group,
    "group_vote": partial(runtime.answer_vote, "scala"),
    "producer_partition": runtime.answer_producer, "metaq_default": client.answer_default,
    "metaq_consistent": client.answer_consistent, "metaq_hash": client.answer_hash,
    "admin_utils": recorded_cases.answer_admin_utils, "striped_replica_placer": recorded_cases.answer_striped,
    "reassign_generate": recorded_cases.answer_generate, "server_range": partial(server.answer, "server-range"),
    "server_uniform": partial(server.answer, "server-uniform@4.0.0"),
    "share_simple": partial(server.answer, "share-simple@4.0"),
    "connect_eager": partial(connect.answer_eager, "connect-eager"),
    "connect_cooperative": partial(connect.answer_cooperative, "connect-cooperative"),
    "flink_splits": fixed_readers.answer_flink, "mirror_maker_tasks": fixed_readers.answer_mirror_maker,
    "streams_sticky": partial(streams.answer_sticky, "streams-sticky"),
    "streams_high_availability": partial(streams.answer_high_availability, "streams-high-availability"),
}  # fmt: skip


@for_each("family", sorted(ANSWERS))
def test_the_smallest_case_of_a_family(family: str) -> None:
    answered = (case for case in cases(family) if "error" not in case["output"])
    case = min(answered, key=lambda case: len(json.dumps(case["input"])))
    output = json.loads(json.dumps(ANSWERS[family](case["input"])))
    assert is_recorded_answer(output, case["output"], case["strategy"], case["input"])


def test_the_columns_of_a_recorded_group() -> None:
    case = min(cases("client_range"), key=lambda case: len(json.dumps(case["input"])))["input"]
    request = request_of(case, Owned.SUBSCRIPTION)
    assert len(request.members) == len(case["members"])
    assert list(request.members.ids) == [member["id"] for member in case["members"]]
