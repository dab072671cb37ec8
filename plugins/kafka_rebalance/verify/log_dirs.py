"""Checks of a plan between log dirs, by its snapshot alone; faults of shape stop the rest.

In order: shape and parameters; moves; disk levels before and after, and the bound; waves (with room for both copies);
files and commands.

Bound (``broker_bound``): a place above its ceiling loses whole replicas that weigh at least the excess, one below its
floor gets such. Each lightest cover is a knapsack in thousandths of the need, sizes rounded up, so no cover weighs
less.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from typing_extensions import TypedDict

from kafka_rebalance.snapshot.model import Broker, ClusterSnapshot, LogDir, Partition
from kafka_rebalance.verify.document import (
    UNREADABLE,
    BrokerKey,
    Fact,
    FormatVersion,
    Number,
    Whole,
    check_identity,
    check_seal,
    check_shape,
    exactly,
    is_of_another_snapshot,
    read_json,
)
from kafka_rebalance.verify.faults import Fault, FaultList


@exactly
class _Parameters(TypedDict):
    balance_within: Number | None
    remove_log_dirs: dict[BrokerKey, list[str]]
    throttle_bytes_per_s: Whole
    partitions_per_wave: Whole


@exactly
class _Disk(TypedDict):
    paths: list[str]
    is_removed: bool
    total_bytes: Whole | None
    used_before: Whole | None
    used_after: Whole | None
    held_before: Whole
    held_after: Whole
    floor_bytes: Whole | None
    ceiling_bytes: Whole | None


@exactly
class _Broker(TypedDict):
    broker: Whole
    dir_bytes: Whole
    lower_bound_bytes: Whole
    places: list[_Disk]


@exactly
class _Move(TypedDict):
    topic: str
    partition: Whole
    replicas: list[Whole]
    dirs_from: list[str | None]
    dirs_to: list[str | None]
    dir_bytes: Whole
    reasons: list[Fact]
    wave: Whole
    kind: str


@exactly
class _Wave(TypedDict):
    moves: list[Whole]
    dir_bytes: Whole
    seconds: Number


@exactly
class _DirPlan(TypedDict):
    format_version: FormatVersion
    plan_id: str
    cluster: str
    cluster_id: str | None
    snapshot_id: str
    captured_at: str | None
    advisor_version: str
    verdict: Literal["rebalance", "nothing_to_do", "not_fixable_by_moving", "cannot_tell"]
    reasons: list[Fact]
    parameters: _Parameters
    topic_ids: dict[str, str | None]
    replica_moves: Whole
    dir_bytes: Whole
    lower_bound_bytes: Whole
    seconds: Number
    brokers: list[_Broker]
    moves: list[_Move]
    waves: list[_Wave]
    left_out: dict[str, Fact]


def check_dir_shape(document: Any, faults: FaultList) -> bool:
    if not check_shape(document, faults, _DirPlan):
        return False
    _check_parameters(document["parameters"], faults)
    return not faults.has_any()


def _check_parameters(parameters: dict[str, Any], faults: FaultList) -> None:
    within, removed = parameters["balance_within"], parameters["remove_log_dirs"]
    if within is not None and not 0 <= within < 1:
        faults.add("parameter", "parameters.balance_within", f"{within} is no share")
    if within is None and not removed:
        faults.add("parameter", "parameters", "ask for nothing")
    for broker, paths in removed.items():
        if not paths or paths != sorted(set(paths)):
            faults.add("parameter", f"parameters.remove_log_dirs.{broker}", "are no paths in order, each once")
    for name in ("throttle_bytes_per_s", "partitions_per_wave"):
        if parameters[name] < 1:
            faults.add("parameter", f"parameters.{name}", f"{parameters[name]} is below 1")


@dataclass(slots=True)
class DirGroup:
    """A disk with its remaining dirs, or one dir to empty.

    ``sizes`` of movable replicas by partition row.
    """

    dirs: list[LogDir]
    is_removed: bool
    disk: int
    sizes: dict[int, int] = field(default_factory=dict)

    @property
    def held(self) -> int:
        return sum(self.sizes.values())

    @property
    def is_open(self) -> bool:
        return not self.is_removed and any(not log_dir.is_cordoned for log_dir in self.dirs)


@dataclass(slots=True)
class BrokerDisks:
    """``places`` in the order of dirs; ``total`` and ``usable`` bytes by disk, empty where unknown."""

    broker: Broker
    places: list[DirGroup]
    total: list[int]
    usable: list[int]
    unmovable_by_path: dict[str, int] = field(default_factory=dict)  # replicas; "" where the dir is unknown
    path_of: dict[int, str] = field(default_factory=dict)

    def place_at(self, path: str) -> DirGroup | None:
        return next((group for group in self.places if any(log_dir.path == path for log_dir in group.dirs)), None)

    def used(self, disk: int) -> int:
        if self.total:
            return max(self.total[disk] - self.usable[disk], 0)
        return sum(group.held for group in self.places if group.disk == disk)

    def others(self, disk: int) -> int:
        return max(self.used(disk) - sum(group.held for group in self.places if group.disk == disk), 0)


def disks_of(snapshot: ClusterSnapshot, parameters: dict[str, Any]) -> dict[int, BrokerDisks]:
    """Return responsive brokers with several dirs."""
    disks = {}
    for broker in snapshot.brokers:
        if len(broker.log_dirs) > 1 and broker.state.is_responsive:
            disks[broker.id] = _places(broker, set(parameters["remove_log_dirs"].get(str(broker.id), ())))
    for row, partition in enumerate(snapshot.each_partition()):
        for number, replica in enumerate(partition.replicas):
            if replica in disks:
                _put(disks[replica], row, partition, number)
    return disks


def _places(broker: Broker, removed: set[str]) -> BrokerDisks:
    working = [log_dir for log_dir in broker.log_dirs if log_dir.error is None]
    is_known = all(log_dir.total_bytes and log_dir.usable_bytes is not None for log_dir in working)
    disks: list[Any] = []
    places: dict[Any, DirGroup] = {}
    for log_dir in working:
        disk = (log_dir.total_bytes, log_dir.usable_bytes) if is_known else log_dir.path
        if disk not in disks:
            disks.append(disk)
        key = (log_dir.path, disk) if log_dir.path in removed else disk
        places.setdefault(key, DirGroup([], log_dir.path in removed, disks.index(disk))).dirs.append(log_dir)
    total, usable = ([disk[n] for disk in disks] if is_known else [] for n in (0, 1))
    return BrokerDisks(broker, list(places.values()), total, usable)


def _put(disks: BrokerDisks, row: int, partition: Partition, number: int) -> None:
    index = partition.log_dirs[number] if partition.log_dirs else None
    size = partition.log_bytes[number] if partition.log_bytes else None
    path = "" if index is None else disks.broker.log_dirs[index].path
    group = disks.place_at(path)
    if group is not None and size is not None and may_move(partition):
        group.sizes[row], disks.path_of[row] = size, path
    else:
        disks.unmovable_by_path[path] = disks.unmovable_by_path.get(path, 0) + 1


def may_move(partition: Partition) -> bool:
    busy = (partition.adding, partition.removing, partition.future, partition.observers, partition.offline)
    return not any(busy)


@dataclass(frozen=True, slots=True)
class DirChange:
    move: int
    row: int
    broker: int
    source: DirGroup
    target: DirGroup
    size: int


def read_dir_moves(
    document: dict[str, Any], snapshot: ClusterSnapshot, disks: dict[int, BrokerDisks], faults: FaultList
) -> list[DirChange]:
    row_of, changes = snapshot.row_of, list[DirChange]()
    rows: list[int] = []
    for number, move in enumerate(document["moves"]):
        name = f"moves[{number}] {move['topic']}-{move['partition']}"
        row = row_of.get((move["topic"], move["partition"]))
        if row is None:
            faults.add("partition_unknown", name, "is not in the snapshot")
            continue
        if row in rows:
            faults.add("partition_twice", name, "moves twice")
        rows.append(row)
        changes += _changes(number, name, move, (row, snapshot), disks, faults)
        if not move["reasons"]:
            faults.add("explanation", name, "no reason")
    if rows != sorted(rows):
        faults.add("order", "plan.moves", "are not in the snapshot's order")
    return changes


def _changes(
    number: int,
    name: str,
    move: dict[str, Any],
    at: tuple[int, ClusterSnapshot],
    disks: dict[int, BrokerDisks],
    faults: FaultList,
) -> list[DirChange]:
    row, snapshot = at
    partition = snapshot.partition(row)
    if move["kind"] != "log_dir":
        faults.add("move_idle", name, f"kind {move['kind']!r} should be 'log_dir'")
    if move["replicas"] != list(partition.replicas):
        faults.add("from_differs", name, f"replicas {move['replicas']} are not what the snapshot holds")
        return []
    if not len(move["dirs_from"]) == len(move["dirs_to"]) == len(partition.replicas):
        faults.add("log_dir_way", name, "dirs do not run along the replicas")
        return []
    changes = []
    for broker, old, new in zip(move["replicas"], move["dirs_from"], move["dirs_to"], strict=True):
        if old is None and new is None:
            continue
        change = _change(number, name, (row, broker, old, new), disks, faults)
        changes += [] if change is None else [change]
    if all(new is None for new in move["dirs_to"]):
        faults.add("move_idle", name, "changes nothing")
    copied = sum(change.size for change in changes)
    if move["dir_bytes"] != copied:
        faults.add("move_bytes", name, f"says {move['dir_bytes']}, {copied} are copied")
    return changes


def _change(
    number: int,
    name: str,
    way: tuple[int, int, str | None, str | None],
    disks: dict[int, BrokerDisks],
    faults: FaultList,
) -> DirChange | None:
    row, broker, old, new = way
    location = f"{name} on broker {broker}"
    mine = disks.get(broker)
    source, target = (None if mine is None or path is None else mine.place_at(path) for path in (old, new))
    if source is None or target is None or mine is None:
        faults.add("log_dir_way", location, f"from {old} to {new}: not both are dirs of it that work")
        return None
    if row not in source.sizes:
        faults.add("log_dir_way", location, f"is not in {old}, or may not be moved now")
        return None
    if not any(log_dir.path == new and not log_dir.is_cordoned for log_dir in target.dirs) or target.is_removed:
        faults.add("log_dir_closed", location, f"goes to {new}, which is cordoned or to be emptied")
    if mine.path_of[row] != old:
        faults.add("log_dir_way", location, f"is not in {old}")
    if source is target:
        faults.add("move_idle", location, f"{old} and {new} share a disk")
    return DirChange(number, row, broker, source, target, source.sizes[row])


UNITS = 1_000
_NEVER = 2**62


def lightest_cover(sizes: Sequence[int], need: int) -> int:
    """Return a lower bound on the weight of any set of at least ``need``."""
    if need <= 0:
        return 0
    if sum(sizes) < need:
        return need
    unit = max(1, need // UNITS)
    cells = (need + unit - 1) // unit
    least = np.full(cells, _NEVER, dtype=np.int64)  # [u]: of sets of exactly u units
    least[0], covered = 0, _NEVER
    for size in sizes:
        step = (size + unit - 1) // unit
        reaching = least[max(cells - step, 0) :].min(initial=_NEVER)
        covered = min(covered, int(reaching) + size)
        if 0 < step < cells:
            least[step:] = np.minimum(least[step:], least[:-step] + size)
    return max(need, covered)


def broker_bound(places: Sequence[tuple[Sequence[int], int, int]]) -> int:
    """Return a lower bound on bytes. ``places``: sizes, floor and ceiling, widened to the plan's result."""
    leaves = arrives = 0
    for number, (sizes, floor, ceiling) in enumerate(places):
        load = sum(sizes)
        others = [size for other, (theirs, _, _) in enumerate(places) if other != number for size in theirs]
        leaves += lightest_cover(sizes, load - ceiling)
        arrives += lightest_cover(others, floor - load)
    return max(leaves, arrives)


MOST_USED = 0.9
_FIELDS = ("total_bytes", "used_before", "used_after", "held_before", "held_after")


def check_levels(
    document: dict[str, Any], disks: dict[int, BrokerDisks], changes: list[DirChange], faults: FaultList
) -> None:
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
    """Brokers that an option concerns are listed or left out with a reason; no others are."""
    parameters = document["parameters"]
    for broker, mine in disks.items():
        is_due = parameters["balance_within"] is not None or str(broker) in parameters["remove_log_dirs"]
        if is_due and broker not in named and str(broker) not in document["left_out"]:
            faults.add("log_dir_levels", f"broker {broker}", "is neither told nor left out with a reason")
        if broker in named and not is_due:
            faults.add("log_dir_levels", f"broker {broker}", "nothing was asked of it")
        is_listable = mine.broker.state.stays and len(mine.places) > 1 and not is_unknown(document["parameters"], mine)
        if str(broker) in document["left_out"] and is_listable and document["verdict"] != "cannot_tell":
            faults.add("log_dir_levels", f"left_out.{broker}", "all that is needed of it is known")


def is_unknown(parameters: dict[str, Any], mine: BrokerDisks) -> bool:
    """Whether sizes or contents that an option needs are unknown; emptying a dir needs no sizes."""
    is_removed, is_balanced = str(mine.broker.id) in parameters["remove_log_dirs"], parameters["balance_within"]
    if not mine.broker.state.stays or len(mine.places) < 2 or (is_balanced is None and not is_removed):
        return False
    has_replicas = bool(mine.path_of or mine.unmovable_by_path)
    knows_places = not has_replicas or bool(mine.path_of or mine.unmovable_by_path.keys() - {""})
    return not knows_places or not (mine.total or is_removed)


def _check_broker(
    location: str,
    entry: dict[str, Any],
    mine: BrokerDisks,
    changes: list[DirChange],
    within: float | None,
    faults: FaultList,
) -> None:
    if [row["paths"] for row in entry["places"]] != [[log_dir.path for log_dir in p.dirs] for p in mine.places]:
        faults.add("log_dir_levels", f"{location}.places", "are not the broker's disks and dirs")
        return
    delta: Counter[int] = Counter()
    for change in changes:
        delta[id(change.source)] -= change.size
        delta[id(change.target)] += change.size
    limits = _limits(mine, within)
    for number, (row, group) in enumerate(zip(entry["places"], mine.places, strict=True)):
        item_location = f"{location}.places[{number}]"
        after = group.held + delta[id(group)]
        faults.require_equal("log_dir_levels", f"{item_location}.is_removed", row["is_removed"], group.is_removed)
        for name, value in zip(_FIELDS, _figures(mine, group, after), strict=True):
            faults.require_equal("log_dir_levels", f"{item_location}.{name}", row[name], value)
        _check_limits(item_location, row, limits[number], faults)
        _check_after(item_location, mine, group, after, changes, faults)
    faults.require_equal("cost", f"{location}.dir_bytes", entry["dir_bytes"], sum(change.size for change in changes))
    if not faults.has_any("log_dir_levels"):
        _check_bound(location, entry, mine, changes, faults)


def _figures(mine: BrokerDisks, group: DirGroup, after: int) -> tuple[int | None, ...]:
    total = mine.total[group.disk] if mine.total else None
    if total is None or group.is_removed:
        return total, None, None, group.held, after
    return total, mine.used(group.disk), mine.others(group.disk) + after, group.held, after


def _limits(mine: BrokerDisks, within: float | None) -> list[tuple[int, int] | None]:
    if not mine.total:
        return [None] * len(mine.places)
    staying = [group for group in mine.places if not group.is_removed]
    everything = sum(group.held for group in mine.places) + sum(mine.others(group.disk) for group in staying)
    capacity = sum(mine.total[group.disk] for group in staying)
    result: list[tuple[int, int] | None] = []
    for group in mine.places:
        if group.is_removed:
            result.append(None)
            continue
        others, total = mine.others(group.disk), mine.total[group.disk]
        high, low = max(math.floor(MOST_USED * total), others + group.held), others
        if within is not None:
            share = everything / capacity
            high = max(others, min(high, math.floor((share + within) * total)))
            low = min(high, max(others, math.ceil((share - within) * total))) if group.is_open else others
        result.append((low, high))
    return result


def _check_limits(location: str, row: dict[str, Any], limits: tuple[int, int] | None, faults: FaultList) -> None:
    """A product of a share may be rounded to the next byte."""
    for name, value in zip(("floor_bytes", "ceiling_bytes"), limits or (None, None), strict=True):
        claimed = row[name]
        if (claimed is None) != (value is None) or (value is not None and abs(claimed - value) > 1 + 1e-12 * value):
            faults.add("log_dir_levels", f"{location}.{name}", f"says {claimed}, recomputed {value}")


def _check_after(
    location: str, mine: BrokerDisks, group: DirGroup, after: int, changes: list[DirChange], faults: FaultList
) -> None:
    if group.is_removed:
        gone = {change.row for change in changes if change.source is group}
        stays = [row for row in group.sizes if row not in gone]
        stuck = mine.unmovable_by_path.get(group.dirs[0].path, 0) + mine.unmovable_by_path.get("", 0)
        if stays or stuck:
            faults.add("log_dir_left", location, f"{len(stays) + stuck} replicas stay in {group.dirs[0].path}, or may")
        return
    if mine.total:
        others, total = mine.others(group.disk), mine.total[group.disk]
        if others + after > max(math.floor(MOST_USED * total), others + group.held):
            faults.add("log_dir_full", location, f"would hold {others + after} of {total} bytes")


def _check_bound(
    location: str, entry: dict[str, Any], mine: BrokerDisks, changes: list[DirChange], faults: FaultList
) -> None:
    """An empty replica counts as a byte, which is subtracted again."""
    gone = {(id(change.source), change.row) for change in changes}
    rows: list[tuple[list[int], int, int]] = []
    everything = sum(max(size, 1) for group in mine.places for size in group.sizes.values())
    for row, group in zip(entry["places"], mine.places, strict=True):
        sizes = [max(size, 1) for size in group.sizes.values()]
        stays = sum(max(size, 1) for at, size in group.sizes.items() if (id(group), at) not in gone)
        after = stays + sum(max(change.size, 1) for change in changes if change.target is group)
        others = mine.others(group.disk)
        low = 0 if row["floor_bytes"] is None else row["floor_bytes"] - others
        high = row["ceiling_bytes"]
        high = (0 if group.is_removed else everything) if high is None else high - others
        rows.append((sizes, min(low, after), max(high, after)))
    empties = sum(size == 0 for group in mine.places for size in group.sizes.values())
    proved = max(0, broker_bound(rows) - empties)
    if entry["lower_bound_bytes"] > entry["dir_bytes"]:
        faults.add("bound_above_cost", f"{location}.lower_bound_bytes", f"is above {entry['dir_bytes']}")
    if not 0 <= entry["lower_bound_bytes"] <= proved:
        faults.add(
            "bound_not_proved", f"{location}.lower_bound_bytes", f"{entry['lower_bound_bytes']}, proved {proved}"
        )


def check_dir_waves(
    document: dict[str, Any], disks: dict[int, BrokerDisks], changes: list[DirChange], faults: FaultList
) -> None:
    """Check waves in order: what a wave frees is free in the next one."""
    if not _check_members(document, faults):
        return
    free = {(broker, disk): usable for broker, mine in disks.items() for disk, usable in enumerate(mine.usable)}
    throttle, most = (document["parameters"][name] for name in ("throttle_bytes_per_s", "partitions_per_wave"))
    for number, wave in enumerate(document["waves"]):
        location, members = f"waves[{number}]", set(wave["moves"])
        own = [change for change in changes if change.move in members]
        arriving: Counter[tuple[int, int]] = Counter()
        leaving: Counter[tuple[int, int]] = Counter()
        by_broker: Counter[int] = Counter()
        for change in own:
            arriving[change.broker, change.target.disk] += change.size
            leaving[change.broker, change.source.disk] += change.size
            by_broker[change.broker] += change.size
        for disk, amount in arriving.items():
            if disk in free and amount > free[disk]:
                faults.add(
                    "log_dir_room", location, f"{amount} bytes come to a disk of broker {disk[0]}, {free[disk]} fit"
                )
        for disk in free:
            free[disk] += leaving[disk] - arriving[disk]
        if len(members) > most:
            faults.add("wave_limit", location, f"{len(members)} partitions, {most} allowed in one file")
        faults.require_equal("wave_bytes", f"{location}.dir_bytes", wave["dir_bytes"], sum(by_broker.values()))
        seconds = max(by_broker.values(), default=0) / throttle
        faults.require_close("wave_seconds", f"{location}.seconds", wave["seconds"], seconds)
    whole = sum(wave["seconds"] for wave in document["waves"])
    faults.require_close("cost", "plan.seconds", document["seconds"], whole)


def _check_members(document: dict[str, Any], faults: FaultList) -> bool:
    moves = document["moves"]
    listed = [(member, number) for number, wave in enumerate(document["waves"], 1) for member in wave["moves"]]
    if sorted(member for member, _ in listed) != list(range(len(moves))):
        faults.add("wave_members", "plan.waves", "hold not each move once")
        return False
    for member, number in listed:
        if moves[member]["wave"] != number:
            faults.add("wave_members", f"moves[{member}]", f"names wave {moves[member]['wave']}, is in {number}")
    for number, wave in enumerate(document["waves"]):
        if not wave["moves"] or wave["moves"] != sorted(wave["moves"]):
            faults.add("order", f"waves[{number}].moves", "is empty or not in order")
    return not faults.has_any("wave_members")


COMMANDS = "commands.md"
_REASSIGN = "kafka-reassign-partitions.sh --bootstrap-server $BOOTSTRAP $CONFIG --reassignment-json-file"


def check_dir_files(document: Mapping[str, Any], contents: Mapping[str, bytes], faults: FaultList) -> None:
    expected = _expected(document)
    for name in sorted((expected.keys() | {COMMANDS}) - contents.keys()):
        faults.add("file", name, "is missing")
    for name in sorted(contents.keys() - expected.keys() - {COMMANDS}):
        faults.add("file", name, "does not belong to the plan")
    for name in sorted(expected.keys() & contents.keys()):
        value = read_json(contents[name], name, faults)
        if value is not UNREADABLE and value != expected[name]:
            faults.add("file", name, "does not say what the plan says")
    if COMMANDS in contents:
        _check_commands(document, contents[COMMANDS].decode("utf-8", "replace"), faults)


def _expected(document: Mapping[str, Any]) -> dict[str, Any]:
    waves, moves, files = document["waves"], document["moves"], dict[str, Any]()
    digits = max(2, len(str(len(waves))))
    for number, wave in enumerate(waves, start=1):
        members = [moves[m] for m in wave["moves"]]
        files[f"waves/{number:0{digits}d}.json"] = _reassignment(members, "dirs_to")
        files[f"rollback/{len(waves) + 1 - number:0{digits}d}.json"] = _reassignment(members, "dirs_from")
    return files


def _reassignment(members: list[dict[str, Any]], dirs: str) -> dict[str, Any]:
    rows = [
        {
            "topic": move["topic"],
            "partition": move["partition"],
            "replicas": move["replicas"],
            "log_dirs": ["any" if path is None else path for path in move[dirs]],
        }
        for move in members
    ]
    return {"version": 1, "partitions": rows}


def _check_commands(document: Mapping[str, Any], text: str, faults: FaultList) -> None:
    """Check lines that call Kafka's tool, in order."""
    lines = [" ".join(line.split()) for line in text.replace("\\\n", " ").splitlines()]
    commands = [line for line in lines if line.startswith("kafka-")]
    throttle = document["parameters"]["throttle_bytes_per_s"]
    names = sorted(_expected(document), key=lambda name: (name.startswith("rollback/"), name))
    expected = [
        f"{_REASSIGN} {name} --{verb}"
        for name in names
        for verb in (f"execute --replica-alter-log-dirs-throttle {throttle}", "verify", "cancel")
    ]
    if commands != expected:
        faults.add(
            "commands",
            COMMANDS,
            f"holds {len(commands)} commands of Kafka's tool that are not the plan's {len(expected)}",
        )
    if document["plan_id"][:12] not in text:
        faults.add("commands", COMMANDS, "does not name this plan")


def check_log_dir_plan(
    document: Any, snapshot: ClusterSnapshot, files: Mapping[str, bytes] | None = None
) -> tuple[Fault, ...]:
    """Return the faults. Never raises. ``files``: the folder's other files by path."""
    faults = FaultList()
    if not check_dir_shape(document, faults):
        return tuple(faults.faults)
    check_seal(document, faults)
    check_identity(document | {"continues": None}, snapshot, faults)
    if is_of_another_snapshot(faults.faults):
        return tuple(faults.faults)
    disks = disks_of(snapshot, document["parameters"])
    for broker, paths in document["parameters"]["remove_log_dirs"].items():
        mine = disks.get(int(broker))
        for path in paths:
            if mine is None or mine.place_at(path) is None:
                faults.add("parameter", f"parameters.remove_log_dirs.{broker}", f"{path} is no dir of it that works")
    changes = read_dir_moves(document, snapshot, disks, faults)
    _check_costs(document, changes, snapshot, faults)
    check_levels(document, disks, changes, faults)
    check_dir_waves(document, disks, changes, faults)
    unknown = {str(broker) for broker, mine in disks.items() if is_unknown(document["parameters"], mine)}
    if document["parameters"]["balance_within"] is not None:
        alive = [broker for broker in snapshot.brokers if broker.state.is_responsive and broker.state.stays]
        unknown |= {str(broker.id) for broker in alive if not broker.log_dirs}
    _check_verdict(document, unknown, faults)
    if files is not None:
        check_dir_files(document, files, faults)
    return tuple(faults.faults)


def _check_costs(
    document: dict[str, Any], changes: list[DirChange], snapshot: ClusterSnapshot, faults: FaultList
) -> None:
    faults.require_equal("cost", "plan.replica_moves", document["replica_moves"], len(changes))
    faults.require_equal("cost", "plan.dir_bytes", document["dir_bytes"], sum(change.size for change in changes))
    bounds = sum(entry["lower_bound_bytes"] for entry in document["brokers"])
    faults.require_equal("gap", "plan.lower_bound_bytes", document["lower_bound_bytes"], bounds)
    ids = {topic.name: topic.topic_id for topic in snapshot.topics}
    moved = {move["topic"] for move in document["moves"]}
    faults.require_equal("identity", "plan.topic_ids", document["topic_ids"], {name: ids.get(name) for name in moved})


def _check_verdict(document: dict[str, Any], unknown: set[str], faults: FaultList) -> None:
    verdict, is_moved, parameters = document["verdict"], bool(document["moves"]), document["parameters"]
    outside = [
        group
        for entry in document["brokers"]
        for group in entry["places"]
        if None not in (limits := (group["floor_bytes"], group["used_after"], group["ceiling_bytes"]))
        and not limits[0] <= limits[1] <= limits[2]
        and document["parameters"]["balance_within"] is not None
    ]
    right = "rebalance" if is_moved else "not_fixable_by_moving" if outside else "nothing_to_do"
    if unknown & parameters["remove_log_dirs"].keys() or (unknown and right == "nothing_to_do"):
        right = "cannot_tell"
    if verdict != right:
        faults.add("verdict", "plan.verdict", f"says {verdict}, it is {right}")
    if not document["reasons"]:
        faults.add("verdict", "plan.reasons", "no reason is given")
