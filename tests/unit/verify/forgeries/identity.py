"""Another plan, another cluster, another time; fields that are not there or of no kind."""

from __future__ import annotations

from kafka_rebalance.plans.plan import FORMAT_VERSION
from tests.unit.verify.forgeries.forging import Document, any_move, first, forges, require


@forges("hash", is_sealed=False)
def hash_of_another_plan(document: Document) -> None:
    document["plan_id"] = "0" * 64


@forges("hash", is_sealed=False)
def hash_emptied(document: Document) -> None:
    document["plan_id"] = ""


@forges("hash", is_sealed=False)
def hash_in_capitals(document: Document) -> None:
    document["plan_id"] = document["plan_id"].upper()


@forges("hash", is_sealed=False)
def seed_changed_after_sealing(document: Document) -> None:
    document["seed"] += 1


@forges("hash", is_sealed=False)
def reason_reworded_after_sealing(document: Document) -> None:
    document["reasons"][0]["args"]["more"] = 1


@forges("hash", is_sealed=False)
def moves_reordered_after_sealing(document: Document) -> None:
    require(len(document["moves"]) > 1)
    document["moves"].reverse()


@forges("shape")
def field_missing(document: Document) -> None:
    del document["waves"]


@forges("shape")
def field_unknown(document: Document) -> None:
    document["comment"] = "trust me"


@forges("shape")
def field_of_a_move_missing(document: Document) -> None:
    del any_move(document)["worse_without"]


@forges("shape")
def field_of_a_move_unknown(document: Document) -> None:
    any_move(document)["approved"] = True


@forges("shape")
def number_as_text(document: Document) -> None:
    document["cost"]["replica_moves"] = str(document["cost"]["replica_moves"])


@forges("shape")
def truth_as_number(document: Document) -> None:
    any_move(document)["partition"] = True


@forges("shape")
def count_with_a_fraction(document: Document) -> None:
    document["cost"]["replica_moves"] += 0.5


@forges("shape")
def number_beyond_all(document: Document) -> None:
    document["cost"]["leader_changes"] = 10**400


@forges("shape")
def load_of_a_thousand_digits(document: Document) -> None:
    first(document["after"].values())["0"] = 10**1000


@forges("shape")
def lists_as_objects(document: Document) -> None:
    document["moves"] = dict(enumerate(map(str, document["moves"])))


@forges("shape")
def broker_id_with_a_leading_zero(document: Document) -> None:
    loads = first(document["before"].values())
    loads["00"] = loads.pop("0")


@forges("shape")
def version_from_the_future(document: Document) -> None:
    document["format_version"] = FORMAT_VERSION + 1


@forges("shape")
def verdict_that_nobody_knows(document: Document) -> None:
    document["verdict"] = "approved"


@forges("identity")
def other_cluster(document: Document) -> None:
    document["cluster"] = "another"


@forges("identity")
def other_cluster_id(document: Document) -> None:
    document["cluster_id"] = "another-id"


@forges("identity")
def cluster_id_forgotten(document: Document) -> None:
    document["cluster_id"] = None


@forges("identity")
def other_snapshot(document: Document) -> None:
    document["snapshot_id"] = "f" * 64


@forges("identity")
def captured_later(document: Document) -> None:
    document["captured_at"] = "2026-11-21T12:00:00Z"
    document["expires_at"] = "2026-11-22T12:00:00Z"


@forges("identity")
def continues_what_is_no_plan(document: Document) -> None:
    document["continues"] = "yesterday's"


@forges("expiry")
def expired_before_it_began(document: Document) -> None:
    document["expires_at"] = "2026-11-19T12:00:00Z"


@forges("expiry")
def expires_a_second_later(document: Document) -> None:
    document["expires_at"] = document["expires_at"].replace(":00Z", ":01Z")


@forges("expiry")
def expires_next_year(document: Document) -> None:
    document["expires_at"] = "2027-11-21T12:00:00Z"


@forges("expiry")
def expires_in_another_zone(document: Document) -> None:
    document["expires_at"] = document["expires_at"].replace("Z", "-11:00")


@forges("expiry")
def expires_never(document: Document) -> None:
    document["expires_at"] = None


@forges("expiry")
def expires_at_no_time(document: Document) -> None:
    document["expires_at"] = "when it is done"


@forges("expiry")
def hours_longer_than_told(document: Document) -> None:
    document["parameters"]["expires_after_hours"] += 1
