"""Sets of replicas that do not fit on a broker, which prove a bound on bytes."""

from __future__ import annotations

from tests.unit.verify.forgeries.forging import Document, bound, first, forges, regap, require


def proof(document: Document) -> Document:
    """The proof of bytes."""
    require("bytes" in document["proofs"])
    reported: Document = document["proofs"]["bytes"]
    return reported


def cover(document: Document) -> Document:
    """The first one."""
    reported: Document = first(proof(document)["covers"])
    return reported


@forges("certificate", "bound_not_proved")
def cover_of_a_broker_that_is_not_there(document: Document) -> None:
    cover(document)["broker"] = 99


@forges("certificate", "bound_not_proved")
def cover_of_no_resource(document: Document) -> None:
    cover(document)["resource"] = "memory"


@forges("certificate", "bound_not_proved")
def cover_without_a_price(document: Document) -> None:
    cover(document)["price"] = 0


@forges("certificate", "bound_not_proved")
def cover_at_a_price_below_nothing(document: Document) -> None:
    cover(document)["price"] *= -1.0


@forges("certificate")
def cover_that_names_a_partition_that_is_not_there(document: Document) -> None:
    cover(document)["come"]["nowhere"] = [0]


@forges("certificate")
def cover_that_names_a_partition_twice(document: Document) -> None:
    reported = cover(document)
    topic, numbers = first((reported["gone"] | reported["come"]).items())
    reported["gone"][topic] = reported["come"][topic] = numbers


@forges("certificate")
def proof_of_bytes_without_covers(document: Document) -> None:
    proof(document)["covers"] = []


@forges("bound_not_proved")
def proof_of_bytes_left_out(document: Document) -> None:
    del document["proofs"][first(document["proofs"], lambda cost: cost == "bytes")]


@forges("certificate", "bound_not_proved")
def covers_told_of_moves(document: Document) -> None:
    document["proofs"]["replica_moves"] = proof(document)
    del document["proofs"]["bytes"]


@forges("certificate")
def shares_in_a_proof_of_bytes(document: Document) -> None:
    proof(document)["receiving"]["0"] = 1.0


@forges("bound_not_proved")
def cover_at_a_thousand_times_its_price(document: Document) -> None:
    cover(document)["price"] *= 1e3


@forges("bound_not_proved")
def covers_for_half_their_prices(document: Document) -> None:
    for reported in proof(document)["covers"]:
        reported["price"] *= 0.5


@forges("bound_not_proved")
def price_so_large_that_rounding_would_prove_anything(document: Document) -> None:
    cover(document)["price"] = 1e280
    it = bound(document, "bytes")
    require(it["gap"])
    it["value"] = float(document["cost"]["bytes"])
    regap(document, "bytes")


@forges("bound_not_proved")
def more_claimed_of_covers_than_they_prove(document: Document) -> None:
    proof(document)
    it = bound(document, "bytes")
    require(it["gap"])
    it["value"] = it["value"] * 0.9 + document["cost"]["bytes"] * 0.1
    regap(document, "bytes")


@forges("bound_not_proved")
def covers_whose_sets_are_left_without_their_own(document: Document) -> None:
    """Everything that is there today is gone: what is left fits."""
    for reported in proof(document)["covers"]:
        reported["gone"] = {topic: list(range(1_000)) for topic in document["topic_ids"]}


@forges("shape")
def cover_without_its_set(document: Document) -> None:
    del cover(document)["come"]


@forges("shape")
def cover_at_a_price_in_words(document: Document) -> None:
    cover(document)["price"] = "dear"


@forges("shape")
def cover_that_names_partitions_by_names(document: Document) -> None:
    cover(document)["gone"]["topic-00"] = ["first"]
