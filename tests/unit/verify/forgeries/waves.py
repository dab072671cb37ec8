"""Waves and the way back: members, bytes, times, throttles, free disk, order."""

from __future__ import annotations

import copy

from tests.unit.verify.forgeries.forging import (
    Document,
    any_move,
    back_wave,
    copying_wave,
    first,
    forges,
    require,
)


@forges("wave_members")
def move_in_no_wave(document: Document) -> None:
    first(document["waves"][::-1])["moves"].pop()


@forges("wave_members")
def move_in_two_waves(document: Document) -> None:
    require(len(document["waves"]) > 1)
    document["waves"][-1]["moves"].insert(0, document["waves"][0]["moves"][0])


@forges("wave_members")
def move_that_names_another_wave(document: Document) -> None:
    any_move(document)["wave"] += 1


@forges("wave_members")
def wave_of_a_move_that_is_not_there(document: Document) -> None:
    first(document["waves"])["moves"].append(len(document["moves"]))


@forges("wave_members")
def wave_of_a_move_counted_from_the_end(document: Document) -> None:
    first(document["waves"])["moves"].insert(0, -1)


@forges("wave_members")
def empty_wave(document: Document) -> None:
    document["waves"].append(copy.deepcopy(first(document["waves"])) | {"moves": []})


@forges("wave_members")
def wave_dropped(document: Document) -> None:
    first(document["waves"])
    document["waves"].pop()


@forges("order")
def members_of_a_wave_in_another_order(document: Document) -> None:
    first(document["waves"], lambda wave: len(wave["moves"]) > 1)["moves"].reverse()


@forges("wave_bytes")
def wave_bytes_one_fewer(document: Document) -> None:
    copying_wave(document)["bytes"] -= 1


@forges("wave_bytes")
def wave_bytes_said_to_be_known(document: Document) -> None:
    first(document["waves"], lambda wave: wave["bytes"] is None)["bytes"] = 0


@forges("wave_seconds")
def wave_time_halved(document: Document) -> None:
    copying_wave(document)["seconds"] /= 2


@forges("wave_seconds")
def wave_time_below_nothing(document: Document) -> None:
    copying_wave(document)["seconds"] *= -1


@forges("wave_throttle")
def throttle_below_the_write_rate(document: Document) -> None:
    wave = copying_wave(document)
    wave["seconds"] *= wave["throttle_bytes_per_s"] / 10
    wave["throttle_bytes_per_s"] = 10


@forges("wave_throttle")
def throttle_doubled(document: Document) -> None:
    wave = copying_wave(document)
    wave["seconds"] /= 2
    wave["throttle_bytes_per_s"] *= 2


@forges("wave_throttle", "wave_seconds")
def throttle_one_byte_more(document: Document) -> None:
    first(document["waves"])["throttle_bytes_per_s"] += 1


@forges("wave_throttle")
def no_throttle(document: Document) -> None:
    first(document["waves"])["throttle_bytes_per_s"] = 0


@forges("wave_throttle")
def throttle_below_nothing(document: Document) -> None:
    first(document["waves"])["throttle_bytes_per_s"] *= -1


@forges("wave_disk")
def free_disk_one_byte_less(document: Document) -> None:
    needed = copying_wave(document)["free_disk_needed"]
    needed[first(needed)] -= 1


@forges("wave_disk")
def free_disk_of_a_receiver_left_out(document: Document) -> None:
    needed = copying_wave(document)["free_disk_needed"]
    del needed[first(needed)]


@forges("wave_disk")
def free_disk_of_a_broker_that_receives_nothing(document: Document) -> None:
    first(document["waves"])["free_disk_needed"]["99"] = 1


@forges("wave_disk")
def free_disk_of_two_receivers_swapped(document: Document) -> None:
    needed = first(document["waves"], lambda wave: len(set(wave["free_disk_needed"].values())) > 1)["free_disk_needed"]
    single = first(needed)
    other = first(needed, lambda broker: needed[broker] != needed[single])
    needed[single], needed[other] = needed[other], needed[single]


@forges("rollback_order", "wave_order", "wave_seconds")
def waves_in_another_order(document: Document) -> None:
    """The waves in reverse order, the way back as it was."""
    count = len(document["waves"])
    require(count > 1)
    document["waves"].reverse()
    for move in document["moves"]:
        move["wave"] = count + 1 - move["wave"]


@forges("rollback_order")
def rollback_in_the_order_of_the_plan(document: Document) -> None:
    require(document["rollback"] and len(document["rollback"]["waves"]) > 1)
    document["rollback"]["waves"].reverse()


@forges("rollback_order")
def rollback_forgets_a_move(document: Document) -> None:
    require(document["rollback"])
    first(document["rollback"]["waves"])["moves"].pop()


@forges("rollback_order")
def rollback_of_a_move_that_is_not_there(document: Document) -> None:
    require(document["rollback"])
    first(document["rollback"]["waves"])["moves"].append(len(document["moves"]))


@forges("rollback_order")
def no_rollback(document: Document) -> None:
    require(document["rollback"])
    document["rollback"] = None


@forges("rollback_order")
def rollback_of_nothing(document: Document) -> None:
    require(not document["moves"])
    document["rollback"] = document["cost"] | {"waves": [], "not_undone": []}


@forges("rollback_cost")
def rollback_cheaper_than_it_is(document: Document) -> None:
    require(document["rollback"] and document["rollback"]["bytes"])
    document["rollback"]["bytes"] -= 1


@forges("rollback_cost")
def rollback_moves_miscounted(document: Document) -> None:
    require(document["rollback"])
    document["rollback"]["replica_moves"] += 1


@forges("rollback_cost")
def rollback_leaders_miscounted(document: Document) -> None:
    require(document["rollback"])
    document["rollback"]["leader_changes"] -= 1


@forges("rollback_undone")
def rollback_onto_a_dead_broker_promised(document: Document) -> None:
    require(document["rollback"] and document["rollback"]["not_undone"])
    document["rollback"]["not_undone"] = []


@forges("rollback_undone")
def rollback_of_a_move_given_up(document: Document) -> None:
    require(document["rollback"] and 0 not in document["rollback"]["not_undone"])
    document["rollback"]["not_undone"].insert(0, 0)


@forges("wave_seconds")
def rollback_time_halved(document: Document) -> None:
    back_wave(document)["seconds"] /= 2


@forges("cost")
def rollback_time_as_a_whole_cut_short(document: Document) -> None:
    require(document["rollback"] and document["rollback"]["seconds"])
    document["rollback"]["seconds"] *= 0.99


@forges("wave_throttle")
def rollback_throttle_doubled(document: Document) -> None:
    wave = back_wave(document)
    wave["seconds"] /= 2
    wave["throttle_bytes_per_s"] *= 2


@forges("wave_disk")
def rollback_disk_one_byte_less(document: Document) -> None:
    needed = back_wave(document)["free_disk_needed"]
    needed[first(needed)] -= 1


@forges("wave_bytes")
def rollback_wave_bytes_one_fewer(document: Document) -> None:
    back_wave(document)["bytes"] -= 1


@forges("wave_leaders")
def leader_changes_of_a_wave_one_fewer(document: Document) -> None:
    _leading_wave(document)["leader_changes"] -= 1


@forges("wave_leaders")
def leader_changes_of_a_wave_not_told(document: Document) -> None:
    _leading_wave(document)["leader_changes"] = None


@forges("wave_leaders")
def leaders_change_on_the_way_back_alone(document: Document) -> None:
    rollback = document["rollback"]
    require(rollback)
    first(rollback["waves"], lambda wave: wave["leader_changes"])["leader_changes"] += 1


@forges("wave_leaders")
def what_producers_write_halved(document: Document) -> None:
    first(document["waves"], lambda wave: wave["leader_in_bytes_per_s"])["leader_in_bytes_per_s"] /= 2


@forges("wave_leaders")
def what_consumers_read_said_to_be_unknown(document: Document) -> None:
    first(document["waves"], lambda wave: wave["leader_out_bytes_per_s"])["leader_out_bytes_per_s"] = None


@forges("wave_leaders")
def what_is_written_and_read_swapped(document: Document) -> None:
    wave = first(
        document["waves"],
        lambda wave: wave["leader_in_bytes_per_s"] and wave["leader_in_bytes_per_s"] != wave["leader_out_bytes_per_s"],
    )
    written = wave["leader_in_bytes_per_s"]
    wave["leader_in_bytes_per_s"], wave["leader_out_bytes_per_s"] = wave["leader_out_bytes_per_s"], written


@forges("wave_limit")
def more_leaders_in_a_wave_than_asked_for(document: Document) -> None:
    given = [
        sum(document["moves"][m]["leader_from"] == broker != document["moves"][m]["leader_to"] for m in wave["moves"])
        for wave in document["waves"]
        for broker in map(int, document["seen"]["broker_racks"])
    ]
    require(max(given, default=0) > 1)
    document["parameters"]["max_leader_changes_per_wave"] = max(given) - 1


def _leading_wave(document: Document) -> Document:
    return first(document["waves"], lambda wave: wave["leader_changes"])
