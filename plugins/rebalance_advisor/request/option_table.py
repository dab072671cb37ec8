"""Every option of a run, once: its name in shell, form, REST call and store, its kind, its words, what it fills.

``remove_broker`` is ``--remove-broker`` in a shell, a field of the form, a key of a REST call and of a stored run, and
fills ``PlanOptions.remove_brokers``. Light to import: a DAG file makes its form of it.
"""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from enum import Enum
from typing import Any

from kafka_rebalance.errors import UsageError
from kafka_rebalance.options.limits import MOST_VALUES
from kafka_rebalance.options.loss_kind import LOSSES
from kafka_rebalance.options.preference import Preference
from kafka_rebalance.resources import BOUNDED, ON_REQUEST, RESOURCES, in_a_sentence
from kafka_rebalance.snapshot.load_kind import LoadStatistic
from kafka_rebalance.visible_text import excerpt
from rebalance_advisor.option_texts import once
from rebalance_advisor.request import value_kinds as kinds
from rebalance_advisor.request.heavy_key_kind import HEAVY_KEY
from rebalance_advisor.request.ownership_kinds import CLIENT, MUTE, OWNER
from rebalance_advisor.request.scenario_kind import SCENARIO
from rebalance_advisor.request.value_kinds import ValueKind

LATEST, FRESH = "latest", "fresh"
ALL, TODAY = "all", "today"


class Section(Enum):
    """Where an option stands in a help text and in a form."""

    RUN = "the run"
    WANTED = "what is wanted"
    COST = "what it may cost"
    KNOWN = "what else is known"


class Values(Enum):
    """What becomes of an option's values."""

    ONE = "one"
    SET = "set"
    LIST = "list"
    MAP = "map"  # each value is a pair of a key, given once, and what it stands for


@dataclass(frozen=True, slots=True)
class Option:
    """One option.

    field        of PlanOptions in PLAN_OPTIONS, of RunRequest in RUN_OPTIONS
    default      in a form, and what a help text need not tell; None: not given
    metavar      the value's name in a help text
    values       more than one: the option is repeated in a shell, a list in JSON
    is_inverted  a flag that switches its field off
    is_in_shell  INPUT stands for the others
    """

    name: str
    field: str
    section: Section
    kind: ValueKind
    title: str
    help: str
    metavar: str = ""
    values: Values = Values.ONE
    default: Any = None
    is_inverted: bool = False
    is_in_shell: bool = True

    @property
    def flag(self) -> str:
        """As people type it."""
        return f"--{self.name.replace('_', '-')}"

    @property
    def form_words(self) -> str:
        """The help text for a form, where nothing is given twice: a list is a list."""
        return self.help.removesuffix(" …")

    @property
    def is_repeated(self) -> bool:
        """Takes any number of values."""
        return self.values is not Values.ONE

    def read(self, value: Any) -> Any:
        """The parsed value, or list of them, of JSON. Raises UsageError with the option's name."""
        if self.is_repeated and not isinstance(value, list | tuple):
            raise UsageError.at(self.flag, f"{excerpt(value)} is no list")
        if self.is_repeated and len(value) > MOST_VALUES:
            raise UsageError.at(self.flag, f"{len(value):,} values are more than {MOST_VALUES:,}")
        try:
            return [self.kind.from_json(part) for part in value] if self.is_repeated else self.kind.from_json(value)
        except ArgumentTypeError as error:
            raise UsageError.at(self.flag, str(error)) from error

    def field_value(self, parsed: Any) -> Any:
        """What the field holds for parsed values. Raises UsageError where one name gets two values."""
        if self.values is Values.SET:
            return frozenset(parsed)
        if self.values is Values.LIST:
            return tuple(parsed)
        if self.values is Values.MAP:
            return once(self.flag, parsed)
        return not parsed if self.is_inverted else parsed

    def json_value(self, held: Any) -> Any:
        """JSON for what the field holds; the way back of ``read`` and ``field_value``."""
        if self.is_repeated:
            parts = held.items() if self.values is Values.MAP else held
            return [self.kind.to_json(part) for part in (parts if self.values is Values.LIST else sorted(parts))]
        if held is None:
            return None
        return not held if self.is_inverted else self.kind.to_json(held)

    def schema(self) -> dict[str, Any]:
        """The JSON schema of the option in a form; null stands for an option that is not given."""
        schema: dict[str, Any] = dict(self.kind.schema)
        if self.is_repeated:
            schema = {"type": ["array"], "items": {**schema, "type": _plain(schema["type"])}}
            schema["maxItems"] = MOST_VALUES
        if self.default is not None:
            return {**schema, "type": _plain(schema["type"])}
        choices = {"enum": [None, *schema["enum"]]} if "enum" in schema else {}
        return {**schema, **choices, "type": _plain(["null", *schema["type"]])}


def _plain(types: list[str]) -> str | list[str]:
    return types[0] if len(types) == 1 else types


_RUN, _WANTED, _COST, _KNOWN = Section
RUN_OPTIONS = (
    Option("cluster", "cluster", _RUN, kinds.NAME, "Cluster",
        "its name in clusters.toml; the DAG says which", is_in_shell=False),
    Option("snapshot", "snapshot", _RUN, kinds.one_of(LATEST, FRESH), "Snapshot",
        "the newest one that is stored, or a fresh reading", default=LATEST, is_in_shell=False),
    Option("age_limit", "age_limit_s", _RUN, kinds.SPAN, "Age limit",
        "an older reading gives no plan, but cannot_tell: 90min, 2h, 3d (twice the time between two collections)",
        is_in_shell=False),
    Option("load", "load", _RUN, kinds.one_of(*(statistic.value for statistic in LoadStatistic)), "Load",
        "mean, p95 or peak (the cluster's busiest hours) of a window's hours, not the last reading's rates",
        "mean|p95|peak"),
    Option("window", "window_hours", _RUN, kinds.WINDOW, "Window of history",
        "how far back the hours of the load go, e.g. 7d (default) or 36h", "7d"),
    Option("owners", "owners", _RUN, OWNER, "Owners",
        "whose each finding is: pattern, team, channel, tier; in a shell a TOML file with [[owners]]", "FILE",
        Values.LIST),
    Option("mutes", "mutes", _RUN, MUTE, "Mutes",
        "findings that are quiet until a day: code, pattern, until, reason; in a shell a file with [[mutes]]", "FILE",
        Values.LIST),
    Option("clients", "clients", _RUN, CLIENT, "Clients",
        "whose consumers groups run, where they do not show it: pattern, client, version; in a shell a file with "
        "[[clients]]", "FILE", Values.LIST),
    Option("scenarios", "scenarios", _RUN, kinds.one_of(ALL, TODAY), "Scenarios",
        "groups are led through joins, crashes, restarts, other sizes and topics (all), or asked about today alone",
        "all|today", default=ALL),
    Option("scenario", "own_scenarios", _RUN, SCENARIO, "Scenarios of one's own",
        "what if: the cluster and its groups as a file's changes leave them, beside today; in a shell only …", "FILE",
        Values.LIST),
    Option("heavy_keys", "heavy_keys", _RUN, HEAVY_KEY, "Heavy keys",
        "which key makes a partition hot: topic, partition, key, share; in a shell a keys.json of the command keys …",
        "FILE", Values.LIST),
    Option("rack_byte_price", "rack_byte_price", _RUN, kinds.PRICE, "Price of bytes across racks",
        "of a GB (10^9 bytes) that goes from one rack to another, in any currency: a finding tells what that comes to "
        "in 30 days, today and after the plan", "PRICE"),
    Option("new_rack", "new_racks", _WANTED, kinds.NAME, "New racks",
        "a rack that --add-broker names and that no broker is on yet …", "RACK", Values.SET),
    Option("seed", "seed", _RUN, kinds.COUNT, "Seed", "same input and seed, same plan (0)", "N", default=0),
    Option("own_strategy", "own_strategies", _RUN, kinds.PLACE, "Own strategies",
        "module:Class, in a shell FILE.py:Class too: groups are replayed with it; entry points are anyway (advise) …",
        "PLACE", Values.LIST),
    Option("own_strategy_seconds", "own_strategy_s", _RUN, kinds.NUMBER_FROM_1, "Seconds of an own strategy",
        "it may take for one group (10)", "N"),
    Option("own_strategy_memory", "own_strategy_bytes", _RUN, kinds.MEMORY, "Memory of an own strategy",
        "of its process, interpreter included, from 64MiB (1GiB)", "B"),
)  # fmt: skip
PLAN_OPTIONS = (
    Option("balance_within", "within", _WANTED, kinds.SHARE, "Tolerance",
        "band around each broker's fair share; given, it is an order", "10%"),
    Option("target", "targets", _WANTED, kinds.TARGET, "Targets",
        f"HIGH, LOW..HIGH or LOW.. × the mean for {in_a_sentence(RESOURCES)} …",
        "RESOURCE=RATIO", Values.MAP),
    Option("cap", "caps", _WANTED, kinds.CAP, "Caps",
        "what no broker may carry more of after the plan, as replicas=4000 or out=200MB/s …",
        "RESOURCE=AMOUNT", Values.MAP),
    Option("headroom", "headroom", _WANTED, kinds.HEADROOM, "Headroom",
        f"share of each broker's known capacity that stays free after the plan, for {in_a_sentence(BOUNDED)} …",
        "RESOURCE=SHARE", Values.MAP),
    Option("also_balance", "also_balance", _WANTED, kinds.one_of(*ON_REQUEST), "Also balanced",
        "gets the band of all others, too: what is produced to a broker's leaders (leader_in), or what it would send "
        "if it led all that it holds (potential_out) …", "RESOURCE", Values.SET),
    Option("survive", "survive", _WANTED, kinds.one_of(*LOSSES), "Losses to survive",
        "nobody is above its known capacity after the loss of any one broker, or rack: leaders go to the next of each "
        "list", "broker|rack"),
    Option("topic_brokers", "topic_brokers", _WANTED, kinds.TOPIC_BROKERS, "Brokers of topics",
        "topics of this pattern may be on these brokers alone, as pay-.*=1,2,3 or pay-.*=rack:a …",
        "RE=BROKERS", Values.LIST),
    Option("min_topic_leaders", "min_topic_leaders", _WANTED, kinds.TOPIC_LEADERS, "Least leaders of topics",
        "every broker that may lead leads so many partitions of each topic of this pattern, or as many as there are "
        "for each, as pay-.*=2 …", "RE=NUMBER", Values.LIST),
    Option("remove_rack", "remove_racks", _WANTED, kinds.NAME, "Racks to remove",
        "everything leaves all its brokers …", "RACK", Values.SET),
    Option("remove_broker", "remove_brokers", _WANTED, kinds.BROKER, "Brokers to remove",
        "everything leaves it …", "N", Values.SET),
    Option("add_broker", "add_brokers", _WANTED, kinds.NEW_BROKER, "Brokers to add",
        "a broker that is empty, or does not exist yet; with its rack where brokers have one …", "N:RACK", Values.MAP),
    Option("demote_broker", "demote_brokers", _WANTED, kinds.BROKER, "Brokers to demote",
        "it leads nothing …", "N", Values.SET),
    Option("exclude_broker", "exclude_brokers", _WANTED, kinds.BROKER, "Brokers to exclude",
        "it receives nothing; what it has may stay or leave …", "N", Values.SET),
    Option("replication_factor", "replication_factor", _WANTED, kinds.FACTOR, "Replication factor",
        "of all topics that may be touched; not above min.insync.replicas: a warning, and for internal topics a "
        "refusal unless an include_topic names the topic or matches internal ones alone", "N"),
    Option("leaders_only", "leaders_only", _WANTED, kinds.FLAG, "Leaders only", "no replica moves", default=False),
    Option("preferred_election", "preferred_election", _WANTED, kinds.FLAG, "Preferred election",
        "only give leadership back to the first replicas", default=False),
    Option("include_topic", "include_topics", _WANTED, kinds.PATTERN, "Topics in",
        "touch only these topics …", "RE", Values.LIST),
    Option("exclude_topic", "exclude_topics", _WANTED, kinds.PATTERN, "Topics out",
        "leave these topics alone …", "RE", Values.LIST),
    Option("dead_band", "dead_band", _WANTED, kinds.RATIO, "Dead band",
        "without an order nothing moves until a broker is so far from its fair share (20%)", "20%"),
    Option("least_gain_per_byte", "least_gain_per_byte", _WANTED, kinds.RATIO, "Least gain",
        "without an order: imbalance removed over bytes copied, as shares, that a plan must reach (0.05)", "RATIO"),
    Option("prefer", "prefer", _COST, kinds.one_of(*(cost.value for cost in Preference)), "What comes first",
        "bytes, moves, time or leaders: the cost to keep lowest, the others after it in this order",
        "bytes|moves|time|leaders", default=Preference.BYTES.value),
    Option("slack", "slack", _COST, kinds.SHARE, "Slack",
        "share of its own bound that a cost may stay above it for the sake of the next (5%)", "5%"),
    Option("max_move_bytes", "max_move_bytes", _COST, kinds.AMOUNT, "At most so many bytes copied",
        "bytes copied at most, e.g. 500GB", "B"),
    Option("max_moves", "max_moves", _COST, kinds.COUNT, "At most so many replicas moved",
        "replicas moved at most", "N"),
    Option("max_leader_changes", "max_leader_changes", _COST, kinds.COUNT, "At most so many leaders changed",
        "leaders changed at most", "N"),
    Option("max_hours", "max_hours", _COST, kinds.SPENT_HOURS, "At most so many hours",
        "hours that all waves take at the throttle, e.g. 6 or 1.5", "H"),
    Option("max_reorders", "max_reorders", _COST, kinds.COUNT, "At most so many lists reordered",
        "lists that stay which get their followers in another order, so that any lost broker's leaders spread evenly: "
        "copies nothing (0)", "N", default=0),
    Option("throttle", "throttle_bytes_per_s", _COST, kinds.RATE, "Throttle",
        "of each broker in each direction, e.g. 50MiB (default)", "BYTES_PER_S"),
    Option("moves_per_broker", "moves_per_broker", _COST, kinds.NUMBER_FROM_1, "Moves of a broker at a time",
        "partitions that a broker sends, and copies that it receives, in one wave (so many that waves stay few)", "N"),
    Option("partitions_per_wave", "partitions_per_wave", _COST, kinds.NUMBER_FROM_1, "Partitions in a wave",
        "rows of one wave's file at most (5000)", "N"),
    Option("max_leader_changes_per_wave", "max_leader_changes_per_wave", _COST, kinds.NUMBER_FROM_1,
        "Leaders of a broker changed in a wave",
        "leaders that change from a broker, and to it, in one wave at most (100)", "N"),
    Option("capacity", "capacities", _KNOWN, kinds.CAPACITY, "Capacities",
        "what brokers can carry: in a shell a file, CSV or Cruise Control's capacity JSON", "FILE"),
    Option("expires_after_hours", "expires_after_hours", _KNOWN, kinds.HOURS, "Hours until the plan expires",
        "hours from the snapshot until the plan expires (24)", "N"),
    Option("no_frontier", "with_frontier", _KNOWN, kinds.FLAG, "No frontier",
        "leave out what other bands would cost: quicker", default=False, is_inverted=True),
)  # fmt: skip
OPTIONS = (*RUN_OPTIONS, *PLAN_OPTIONS)


def require_known(names: Iterable[Any], known: Iterable[str]) -> None:
    """Raises UsageError for the first name that is no option's, with the one that may be meant."""
    options = list(known)
    for name in names:
        if name not in options:
            raise UsageError.at(excerpt(name), "is no option", nearest(name, options))


def nearest(name: Any, known: Iterable[str]) -> str:
    """``did you mean X?``, or all that are known where none is near."""
    options = list(known)
    near = get_close_matches(str(name), options, n=1)
    return f"did you mean {near[0]}?" if near else f"known: {', '.join(options)}"
