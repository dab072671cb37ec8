"""Moves that break a rule of Kafka or an option, or that differ from their description."""

from __future__ import annotations

import copy

from tests.unit.verify.forgeries.forging import (
    Document,
    InapplicableError,
    any_move,
    brokers_of,
    copying,
    drop_move,
    first,
    forges,
    leading,
    require,
)


@forges("partition_unknown")
def partition_that_is_not_there(document: Document) -> None:
    any_move(document)["partition"] = 999


@forges("partition_unknown")
def partition_below_nothing(document: Document) -> None:
    any_move(document)["partition"] = -1


@forges("partition_unknown")
def topic_that_is_not_there(document: Document) -> None:
    any_move(document)["topic"] += "-2"


@forges("partition_twice")
def partition_moved_twice(document: Document) -> None:
    document["moves"].append(copy.deepcopy(any_move(document)))
    document["waves"][0]["moves"].append(len(document["moves"]) - 1)


@forges("from_differs")
def from_another_order(document: Document) -> None:
    move = first(document["moves"], lambda move: len(move["from"]) > 1)
    move["from"] = move["from"][::-1]


@forges("from_differs")
def from_without_a_replica_that_goes(document: Document) -> None:
    move = first(document["moves"], lambda move: len(move["from"]) > 1 and move["from"][-1] not in move["to"])
    del move["from"][-1]


@forges("from_differs")
def from_another_leader(document: Document) -> None:
    move = first(document["moves"], lambda move: len(move["from"]) > 1)
    move["leader_from"] = first(move["from"], lambda broker: broker != move["leader_from"])


@forges("from_differs")
def from_nobody(document: Document) -> None:
    any_move(document)["leader_from"] = None


@forges("from_differs", "broker_twice")
def from_and_to_swapped(document: Document) -> None:
    move = copying(document)
    move["from"], move["to"] = move["to"], move["from"]
    move["leader_from"], move["leader_to"] = move["leader_to"], move["leader_from"]


@forges("from_differs", "before", "partition_twice")
def two_topics_swapped(document: Document) -> None:
    single = any_move(document)
    other = first(document["moves"], lambda move: move["topic"] != single["topic"] and move["from"] != single["from"])
    for name in ("topic", "partition"):
        single[name], other[name] = other[name], single[name]


@forges("broker_unknown")
def broker_out_of_nowhere(document: Document) -> None:
    any_move(document)["to"][-1] = 77


@forges("broker_unknown")
def broker_below_nothing(document: Document) -> None:
    any_move(document)["to"][-1] = -1


@forges("broker_twice")
def two_replicas_on_one_broker(document: Document) -> None:
    move = first(document["moves"], lambda move: len(move["to"]) > 1)
    move["to"][-1] = move["to"][0]


@forges("broker_gone")
def replica_onto_a_removed_broker(document: Document) -> None:
    gone = first(document["parameters"]["remove_brokers"])
    first(document["moves"], lambda move: gone not in move["to"])["to"][-1] = gone


@forges("broker_closed", "leader_forbidden", "broker_gone")
def replica_onto_an_excluded_broker(document: Document) -> None:
    closed = first(document["parameters"]["exclude_brokers"])
    move = first(document["moves"], lambda move: closed not in (*move["from"], *move["to"]))
    move["to"][-1] = closed


@forges("broker_left")
def removed_broker_keeps_a_replica(document: Document) -> None:
    gone = first(document["parameters"]["remove_brokers"])
    require(document["moves"])
    moves = document["moves"]
    drop_move(document, first(range(len(moves)), lambda number: gone in moves[number]["from"]))


@forges("leader_not_first")
def leader_second_in_the_list(document: Document) -> None:
    move = first(document["moves"], lambda move: len(move["to"]) > 1)
    move["to"][0], move["to"][1] = move["to"][1], move["to"][0]


@forges("leader_forbidden")
def leadership_onto_a_demoted_broker(document: Document) -> None:
    demoted = first(document["parameters"]["demote_brokers"])
    move = first(document["moves"], lambda move: demoted in move["to"])
    move["to"].remove(demoted)
    move["to"].insert(0, demoted)
    move["leader_to"] = demoted


@forges("leader_forbidden")
def demoted_broker_still_leads(document: Document) -> None:
    demoted = first(document["parameters"]["demote_brokers"])
    moves = document["moves"]
    drop_move(document, first(range(len(moves)), lambda number: moves[number]["leader_from"] == demoted))


@forges("leader_forbidden")
def leader_that_holds_no_replica(document: Document) -> None:
    move = any_move(document)
    move["leader_to"] = first(brokers_of(document), lambda broker: broker not in move["to"])


@forges("replication_factor", "scope")
def one_replica_fewer(document: Document) -> None:
    first(document["moves"], lambda move: len(move["to"]) > 1)["to"].pop()


@forges("replication_factor", "scope", "broker_twice")
def one_replica_more(document: Document) -> None:
    move = any_move(document)
    gone = document["parameters"]["remove_brokers"]
    move["to"].append(first(brokers_of(document), lambda broker: broker not in (*move["to"], *gone)))


@forges("replication_factor")
def no_replica_at_all(document: Document) -> None:
    any_move(document)["to"] = []


@forges("rack", "broker_closed", "broker_gone")
def two_replicas_in_one_rack(document: Document) -> None:
    for move in document["moves"]:
        require(move["kind"] == "replica")
        for other in brokers_of(document):
            if len(move["to"]) > 1 and other not in move["to"] and other % 3 == move["to"][0] % 3:
                move["to"][-1] = other
                return
    raise InapplicableError


@forges("move_idle", "scope", "broker_left", "replication_factor")
def move_that_changes_nothing(document: Document) -> None:
    move = leading(document)
    require(move["from"])
    move["to"], move["leader_to"] = list(move["from"]), move["leader_from"]


@forges("move_idle")
def kind_that_hides_a_copy(document: Document) -> None:
    copying(document)["kind"] = "leader"


@forges("move_idle")
def kind_that_promises_a_copy(document: Document) -> None:
    leading(document)["kind"] = "replica"


@forges("move_idle")
def kind_that_nobody_knows(document: Document) -> None:
    any_move(document)["kind"] = "REPLICA"


@forges("order")
def moves_in_another_order(document: Document) -> None:
    """The last two are swapped, with all references."""
    count = len(document["moves"])
    require(count > 1)
    document["moves"][-2:] = document["moves"][:-3:-1]
    swap = {count - 1: count - 2, count - 2: count - 1}
    for wave in (*document["waves"], *document["rollback"]["waves"]):
        wave["moves"] = sorted(swap.get(m, m) for m in wave["moves"])
    document["rollback"]["not_undone"] = sorted(swap.get(m, m) for m in document["rollback"]["not_undone"])


@forges(
    "cost", "after", "topic_excess", "explanation", "broker_left", "replication_factor", "scope", "bound_above_cost"
)
def last_move_forgotten(document: Document) -> None:
    any_move(document)
    drop_move(document, len(document["moves"]) - 1)


@forges("verdict", "before", "from_differs", "cost", "after")
def another_target_of_the_same_rack(document: Document) -> None:
    move = copying(document)
    new = first(move["to"], lambda broker: broker not in move["from"])
    other = first(brokers_of(document), lambda b: b % 3 == new % 3 and b not in (*move["to"], *move["from"]))
    move["to"][move["to"].index(new)] = other
    if move["leader_to"] == new:
        move["leader_to"] = other


@forges("follower_order")
def fewer_reorders_allowed_than_made(document: Document) -> None:
    made = sum(move["kind"] == "order" for move in document["moves"])
    require(made)
    document["parameters"]["max_reorders"] = made - 1


@forges("follower_order", "move_idle")
def change_of_a_leader_called_an_order(document: Document) -> None:
    first(document["moves"], lambda move: move["kind"] == "leader")["kind"] = "order"


@forges("move_idle")
def order_called_a_change_of_a_leader(document: Document) -> None:
    first(document["moves"], lambda move: move["kind"] == "order")["kind"] = "leader"
