"""What each disk holds before and after the claimed moves, what was asked of it, and what nobody can beat."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

from kafka_rebalance.verify.faults import FaultList
from kafka_rebalance.verify.log_dirs.dir_bounds import broker_bound
from kafka_rebalance.verify.log_dirs.dir_moves import DirChange
from kafka_rebalance.verify.log_dirs.dir_places import BrokerDisks, Place

MOST_USED = 0.9
_FIELDS = ("total_bytes", "used_before", "used_after", "held_before", "held_after")


def check_levels(
    document: dict[str, Any], disks: dict[int, BrokerDisks], changes: list[DirChange], faults: FaultList
) -> None:
    """Every broker that the plan tells of, and that it leaves out none without a word."""
    within = document["parameters"]["balance_within"]
    named = [entry["broker"] for entry in document["brokers"]]
    if named != sorted(set(named)):
        faults.add("order", "plan.brokers", "are not in order, each once")
    _check_named(document, disks, named, faults)
    for change in changes:
        if change.broker not in named:
            faults.add("log_dir_levels", f"moves[{change.move}]", f"broker {change.broker} is not told")
    for number, entry in enumerate(document["brokers"]):
        mine = disks.get(entry["broker"])
        if mine is None or not mine.broker.state.stays:
            faults.add("broker_unknown", f"brokers[{number}]", f"{entry['broker']} has no dirs to choose from")
            continue
        own = [change for change in changes if change.broker == entry["broker"]]
        _check_broker(f"brokers[{number}]", entry, mine, own, within, faults)
    for broker in document["parameters"]["remove_log_dirs"]:
        if int(broker) not in named and document["verdict"] != "cannot_tell":
            faults.add("log_dir_left", f"broker {broker}", "a dir of it is to be emptied, and it is left out")


def _check_named(document: dict[str, Any], disks: dict[int, BrokerDisks], named: list[int], faults: FaultList) -> None:
    """Whoever something is asked of is told or left out for a reason, and nobody else is told."""
    parameters = document["parameters"]
    for broker, mine in disks.items():
        is_due = parameters["balance_within"] is not None or str(broker) in parameters["remove_log_dirs"]
        if is_due and broker not in named and str(broker) not in document["left_out"]:
            faults.add("log_dir_levels", f"broker {broker}", "is neither told nor left out with a reason")
        if broker in named and not is_due:
            faults.add("log_dir_levels", f"broker {broker}", "nothing was asked of it")
        is_told = mine.broker.state.stays and len(mine.places) > 1 and not is_unknown(document["parameters"], mine)
        if str(broker) in document["left_out"] and is_told and document["verdict"] != "cannot_tell":
            faults.add("log_dir_levels", f"left_out.{broker}", "all that is needed of it is known")


def is_unknown(parameters: dict[str, Any], mine: BrokerDisks) -> bool:
    """An option concerns a broker that has several disks, and it is not known what is on them or how large they are.

    To empty a dir no sizes are needed.
    """
    is_removed, is_balanced = str(mine.broker.id) in parameters["remove_log_dirs"], parameters["balance_within"]
    if not mine.broker.state.stays or len(mine.places) < 2 or (is_balanced is None and not is_removed):
        return False
    has_replicas = bool(mine.path_of or mine.unmovable_by_path)
    knows_places = not has_replicas or bool(mine.path_of or mine.unmovable_by_path.keys() - {""})
    return not knows_places or not (mine.total or is_removed)


def _check_broker(
    place: str,
    entry: dict[str, Any],
    mine: BrokerDisks,
    changes: list[DirChange],
    within: float | None,
    faults: FaultList,
) -> None:
    if [row["paths"] for row in entry["places"]] != [[one.path for one in p.dirs] for p in mine.places]:
        faults.add("log_dir_levels", f"{place}.places", "are not the broker's disks and dirs")
        return
    delta: Counter[int] = Counter()
    for change in changes:
        delta[id(change.source)] -= change.size
        delta[id(change.target)] += change.size
    limits = _limits(mine, within)
    for number, (row, found) in enumerate(zip(entry["places"], mine.places, strict=True)):
        here = f"{place}.places[{number}]"
        after = found.held + delta[id(found)]
        faults.require_equal("log_dir_levels", f"{here}.is_removed", row["is_removed"], found.is_removed)
        for name, value in zip(_FIELDS, _figures(mine, found, after), strict=True):
            faults.require_equal("log_dir_levels", f"{here}.{name}", row[name], value)
        _check_limits(here, row, limits[number], faults)
        _check_after(here, mine, found, after, changes, faults)
    faults.require_equal("cost", f"{place}.dir_bytes", entry["dir_bytes"], sum(change.size for change in changes))
    if not faults.has_any("log_dir_levels"):
        _check_bound(place, entry, mine, changes, faults)


def _figures(mine: BrokerDisks, found: Place, after: int) -> tuple[int | None, ...]:
    total = mine.total[found.disk] if mine.total else None
    if total is None or found.is_removed:
        return total, None, None, found.held, after
    return total, mine.used(found.disk), mine.others(found.disk) + after, found.held, after


def _limits(mine: BrokerDisks, within: float | None) -> list[tuple[int, int] | None]:
    """Floor and ceiling of what each disk should hold, by whomever; None where nothing is known or asked."""
    if not mine.total:
        return [None] * len(mine.places)
    staying = [place for place in mine.places if not place.is_removed]
    everything = sum(place.held for place in mine.places) + sum(mine.others(place.disk) for place in staying)
    capacity = sum(mine.total[place.disk] for place in staying)
    result: list[tuple[int, int] | None] = []
    for place in mine.places:
        if place.is_removed:
            result.append(None)
            continue
        others, total = mine.others(place.disk), mine.total[place.disk]
        high, low = max(math.floor(MOST_USED * total), others + place.held), others
        if within is not None:
            share = everything / capacity
            high = max(others, min(high, math.floor((share + within) * total)))
            low = min(high, max(others, math.ceil((share - within) * total))) if place.is_open else others
        result.append((low, high))
    return result


def _check_limits(here: str, row: dict[str, Any], found: tuple[int, int] | None, faults: FaultList) -> None:
    """A product of a share may be rounded to the next byte."""
    for name, value in zip(("floor_bytes", "ceiling_bytes"), found or (None, None), strict=True):
        claimed = row[name]
        if (claimed is None) != (value is None) or (value is not None and abs(claimed - value) > 1 + 1e-12 * value):
            faults.add("log_dir_levels", f"{here}.{name}", f"says {claimed}, recomputed {value}")


def _check_after(
    here: str, mine: BrokerDisks, found: Place, after: int, changes: list[DirChange], faults: FaultList
) -> None:
    if found.is_removed:
        gone = {change.row for change in changes if change.source is found}
        stays = [row for row in found.sizes if row not in gone]
        stuck = mine.unmovable_by_path.get(found.dirs[0].path, 0) + mine.unmovable_by_path.get("", 0)
        if stays or stuck:
            faults.add("log_dir_left", here, f"{len(stays) + stuck} replicas stay in {found.dirs[0].path}, or may")
        return
    if mine.total:
        others, total = mine.others(found.disk), mine.total[found.disk]
        if others + after > max(math.floor(MOST_USED * total), others + found.held):
            faults.add("log_dir_full", here, f"would hold {others + after} of {total} bytes")


def _check_bound(
    place: str, entry: dict[str, Any], mine: BrokerDisks, changes: list[DirChange], faults: FaultList
) -> None:
    """Empty replicas count as a byte, and what they count is taken off again."""
    gone = {(id(change.source), change.row) for change in changes}
    rows: list[tuple[list[int], int, int]] = []
    everything = sum(max(size, 1) for found in mine.places for size in found.sizes.values())
    for row, found in zip(entry["places"], mine.places, strict=True):
        sizes = [max(size, 1) for size in found.sizes.values()]
        stays = sum(max(size, 1) for at, size in found.sizes.items() if (id(found), at) not in gone)
        after = stays + sum(max(change.size, 1) for change in changes if change.target is found)
        others = mine.others(found.disk)
        low = 0 if row["floor_bytes"] is None else row["floor_bytes"] - others
        high = row["ceiling_bytes"]
        high = (0 if found.is_removed else everything) if high is None else high - others
        rows.append((sizes, min(low, after), max(high, after)))
    empties = sum(size == 0 for found in mine.places for size in found.sizes.values())
    proved = max(0, broker_bound(rows) - empties)
    if entry["lower_bound_bytes"] > entry["dir_bytes"]:
        faults.add("bound_above_cost", f"{place}.lower_bound_bytes", f"is above {entry['dir_bytes']}")
    if not 0 <= entry["lower_bound_bytes"] <= proved:
        faults.add("bound_not_proved", f"{place}.lower_bound_bytes", f"{entry['lower_bound_bytes']}, proved {proved}")
