"""The options of a plan: a checked dataclass for each section of a form, and ``PlanOptions`` with all of them."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field, fields, replace
from enum import StrEnum
from typing import Annotated, Any, ClassVar

from pydantic import TypeAdapter
from pydantic.dataclasses import dataclass

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.errors import UsageError
from kafka_rebalance.options.option import Option, options_of
from kafka_rebalance.options.values import (
    CHECKED,
    AlsoBalanced,
    Amount,
    Brokers,
    Capacities,
    Caps,
    Checked,
    Count,
    Factor,
    Flag,
    Growths,
    Headroom,
    Hours,
    NewBrokers,
    NumberFrom1,
    OneOf,
    Patterns,
    Racks,
    Rate,
    Ratio,
    Several,
    Share,
    Targets,
    TopicBrokersRule,
    TopicLeadersRule,
    Unflag,
    WholeHours,
)
from kafka_rebalance.resources import BOUNDED, LEADER_CARRIED, RESOURCES, in_a_sentence

# Not refused: limits that a plan keeps by doing less (``--leaders-only --max-moves 5``).


@dataclasses.dataclass(frozen=True, slots=True)
class Contradiction:
    """Two options and why no plan keeps both."""

    first: str
    second: str
    why: str
    detail: Callable[[PlanOptions], str | None] = lambda _: ""

    def message(self, options: PlanOptions, field_of: Mapping[str, str]) -> str | None:
        if not all(is_given(options, field_of[flag]) for flag in (self.first, self.second)):
            return None
        detail = self.detail(options)
        return None if detail is None else f"{self.first} and {self.second} contradict each other{detail}: {self.why}"


def _copied_resource(options: PlanOptions) -> str | None:
    return _first_copied(options.targets)


def _copied_cap(options: PlanOptions) -> str | None:
    return _first_copied(options.caps)


def _copied_headroom(options: PlanOptions) -> str | None:
    return _first_copied(options.headroom)


def _copied_also(options: PlanOptions) -> str | None:
    return _first_copied(options.also_balance)


def _first_copied(resources: Iterable[str]) -> str | None:
    name = next((name for name in sorted(resources) if name not in LEADER_CARRIED), None)
    return None if name is None else f" ({name})"


def _named_band(options: PlanOptions) -> str | None:
    return f" ({options.at})" if options.at in FRONTIER_POINTS else None


def _removed_and_added(options: PlanOptions) -> str | None:
    return _broker(options.remove_brokers & options.add_brokers.keys())


def _on_removed_rack(options: PlanOptions) -> str | None:
    broker = min((b for b, rack in options.add_brokers.items() if rack in options.remove_racks), default=None)
    return None if broker is None else f" (broker {broker} on {options.add_brokers[broker]})"


def _excluded_and_added(options: PlanOptions) -> str | None:
    return _broker(options.exclude_brokers & options.add_brokers.keys())


def _demoted_and_added(options: PlanOptions) -> str | None:
    return _broker(options.demote_brokers & options.add_brokers.keys())


def _included_and_excluded(options: PlanOptions) -> str | None:
    same = sorted(set(options.include_topics) & set(options.exclude_topics))
    return f" ({same[0]!r})" if same else None


def _broker(both: frozenset[int]) -> str | None:
    return f" (broker {min(both)})" if both else None


_NO_COPY = "what is wanted takes copies of replicas, and none may be moved"
_ELECTION = "an election only gives leadership back to the first replicas, and aims at nothing else"
_TWO_SEARCHES = "each is searched after the plan for balance, and neither search keeps what the other one reached"
_LED = f"leaders carry {in_a_sentence(LEADER_CARRIED, 'and')} alone"
CONTRADICTIONS = (
    Contradiction("--leaders-only", "--remove-broker", _NO_COPY),
    Contradiction("--leaders-only", "--remove-rack", _NO_COPY),
    Contradiction("--leaders-only", "--headroom", _LED, _copied_headroom),
    Contradiction("--leaders-only", "--add-broker", _NO_COPY),
    Contradiction("--leaders-only", "--replication-factor", _NO_COPY),
    Contradiction("--leaders-only", "--topic-brokers", _NO_COPY),
    Contradiction("--leaders-only", "--target", _LED, _copied_resource),
    Contradiction("--leaders-only", "--cap", _LED, _copied_cap),
    Contradiction("--leaders-only", "--also-balance", _LED, _copied_also),
    Contradiction("--preferred-election", "--remove-broker", _ELECTION),
    Contradiction("--preferred-election", "--remove-rack", _ELECTION),
    Contradiction("--preferred-election", "--headroom", _ELECTION),
    Contradiction("--preferred-election", "--add-broker", _ELECTION),
    Contradiction("--preferred-election", "--demote-broker", _ELECTION),
    Contradiction("--preferred-election", "--replication-factor", _ELECTION),
    Contradiction("--preferred-election", "--topic-brokers", _ELECTION),
    Contradiction("--preferred-election", "--balance-within", _ELECTION),
    Contradiction("--preferred-election", "--target", _ELECTION),
    Contradiction("--preferred-election", "--cap", _ELECTION),
    Contradiction("--preferred-election", "--max-reorders", _ELECTION),
    Contradiction("--preferred-election", "--survive", _ELECTION),
    Contradiction("--preferred-election", "--also-balance", _ELECTION),
    Contradiction("--preferred-election", "--min-topic-leaders", _ELECTION),
    Contradiction("--at", "--balance-within", "a point of the frontier has an allowed range of its own", _named_band),
    Contradiction("--survive", "--min-topic-leaders", _TWO_SEARCHES),
    Contradiction("--remove-broker", "--add-broker", "a broker comes or goes", _removed_and_added),
    Contradiction("--remove-rack", "--add-broker", "a rack is filled or emptied", _on_removed_rack),
    Contradiction("--exclude-broker", "--add-broker", "a new broker is there to receive", _excluded_and_added),
    Contradiction("--demote-broker", "--add-broker", "demote a new broker once it has joined", _demoted_and_added),
    Contradiction("--include-topic", "--exclude-topic", "touch these topics or leave them", _included_and_excluded),
)  # fmt: skip


def is_given(options: PlanOptions, field: str) -> bool:
    return bool(getattr(options, field) != getattr(type(options), field, {}))  # mappings have no default in the class


def require_no_contradiction(options: PlanOptions, field_of: Mapping[str, str]) -> None:
    """Raises UsageError for a contradiction; ``field_of`` maps fields to flags."""
    for pair in CONTRADICTIONS:
        message = pair.message(options, field_of)
        if message is not None:
            raise UsageError(message)


# A cost is met up to this share above its bound.
DEFAULT_SLACK = 0.05


class Preference(StrEnum):
    BYTES = "bytes"
    MOVES = "moves"
    TIME = "time"
    LEADERS = "leaders"


def order_of(first: str) -> tuple[Preference, ...]:
    """Return all four costs: ``time`` gives time, bytes, moves, leaders."""
    chosen = Preference(first)
    return chosen, *(preference for preference in Preference if preference is not chosen)


DEFAULT_WITHIN = 0.10
DEFAULT_THROTTLE_BYTES_PER_S = 50 * 2**20
LOSSES = ("broker", "rack")
STEPS = ("elect", "repair", "relieve", "even_out")
FRONTIER_POINTS = ("cheap", "knee", "even")
POINTS = (*STEPS, *FRONTIER_POINTS)
SECTION = CHECKED | {"defer_build": True}


@dataclass(frozen=True, kw_only=True, config=SECTION)
class BalanceOptions(Checked):
    """Balance to reach. Dead band and payback do not apply to a given band, target, cap or headroom."""

    section: ClassVar[str] = "the balance"

    within: Annotated[
        Share | None,
        Option(
            "Tolerance",
            "allowed range around each broker's share: 10% is 0.9 to 1.1 × its share; outranks every default",
            "10%",
            name="balance_within",
        ),
    ] = None
    targets: Annotated[
        Targets,
        Option(
            "Targets",
            f"HIGH, LOW..HIGH or LOW.. × the mean for {in_a_sentence(RESOURCES)} …",
            "RESOURCE=RATIO",
            name="target",
        ),
    ] = field(default_factory=dict)
    caps: Annotated[
        Caps,
        Option(
            "Caps",
            "what no broker may carry more of after the plan, as replicas=4000 or out=200MB/s …",
            "RESOURCE=AMOUNT",
            name="cap",
        ),
    ] = field(default_factory=dict)
    headroom: Annotated[
        Headroom,
        Option(
            "Headroom",
            f"share of each broker's known capacity that stays free after the plan, for {in_a_sentence(BOUNDED)} …",
            "RESOURCE=SHARE",
        ),
    ] = field(default_factory=dict)
    also_balance: Annotated[
        AlsoBalanced,
        Option(
            "Also balanced",
            "gets the allowed range of all others, too: what is produced to a broker's leaders (leader_in), or what it "
            "would send if it led all that it holds (potential_out) …",
            "RESOURCE",
        ),
    ] = frozenset()
    at: Annotated[
        Annotated[str, OneOf(POINTS, "is no step and no point of the frontier")] | None,
        Option(
            "Where the plan ends",
            "after this step, or at this point of the frontier: cheap, knee and even order its allowed range",
            "STEP|cheap|knee|even",
        ),
    ] = None
    survive: Annotated[
        Annotated[str, OneOf(LOSSES, "cannot be lost")] | None,
        Option(
            "Losses to survive",
            "no broker is above its known capacity after the loss of any one broker, or rack: leaders go to the next "
            "of each list",
            "broker|rack",
        ),
    ] = None
    min_topic_leaders: Annotated[
        Annotated[tuple[TopicLeadersRule, ...], Several()],
        Option(
            "Least leaders of topics",
            "every broker that may lead leads so many partitions of each topic of this pattern, or as many as there "
            "are for each, as pay-.*=2 …",
            "RE=NUMBER",
        ),
    ] = ()
    dead_band: Annotated[
        Ratio,
        Option(
            "Dead band",
            "without an order nothing moves until a broker is so far from its fair share, or nearly full",
            "20%",
        ),
    ] = 0.20
    least_gain_per_byte: Annotated[
        Ratio,
        Option(
            "Least gain",
            "without an order: imbalance removed over bytes copied, as shares, that a plan must reach",
            "RATIO",
        ),
    ] = 0.05


@dataclass(frozen=True, kw_only=True, config=SECTION)
class ScopeOptions(Checked):
    section: ClassVar[str] = "brokers and topics"

    remove_racks: Annotated[
        Racks, Option("Racks to remove", "everything leaves all its brokers …", "RACK", name="remove_rack")
    ] = frozenset()
    remove_brokers: Annotated[
        Brokers, Option("Brokers to remove", "move every replica and leader off it …", "N", name="remove_broker")
    ] = frozenset()
    add_brokers: Annotated[
        NewBrokers,
        Option(
            "Brokers to add",
            "a broker that is empty or does not exist yet, with its rack where brokers have racks …",
            "N:RACK",
            name="add_broker",
        ),
    ] = field(default_factory=dict)
    new_racks: Annotated[
        Racks,
        Option("New racks", "a rack that --add-broker names and that no broker is on yet …", "RACK", name="new_rack"),
    ] = frozenset()
    demote_brokers: Annotated[Brokers, Option("Brokers to demote", "it leads nothing …", "N", name="demote_broker")] = (
        frozenset()
    )
    exclude_brokers: Annotated[
        Brokers,
        Option(
            "Brokers to exclude", "it receives nothing; what it has may stay or leave …", "N", name="exclude_broker"
        ),
    ] = frozenset()
    topic_brokers: Annotated[
        Annotated[tuple[TopicBrokersRule, ...], Several()],
        Option(
            "Brokers of topics",
            "topics of this pattern may be on these brokers alone, as pay-.*=1,2,3 or pay-.*=rack:a …",
            "RE=BROKERS",
        ),
    ] = ()
    include_topics: Annotated[
        Patterns,
        Option(
            "Topics in",
            "touch only topics whose whole name matches this regular expression …",
            "RE",
            name="include_topic",
        ),
    ] = ()
    exclude_topics: Annotated[
        Patterns,
        Option(
            "Topics out",
            "leave topics alone whose whole name matches this regular expression …",
            "RE",
            name="exclude_topic",
        ),
    ] = ()
    replication_factor: Annotated[
        Factor | None,
        Option(
            "Replication factor",
            "of all topics that may be touched; not above min.insync.replicas: a warning, and for internal topics a "
            "refusal unless an include_topic names the topic or matches internal ones alone",
            "N",
        ),
    ] = None
    leaders_only: Annotated[Flag, Option("Leaders only", "no replica moves")] = False
    preferred_election: Annotated[
        Flag, Option("Preferred election", "only give leadership back to the first replicas")
    ] = False


@dataclass(frozen=True, kw_only=True, config=SECTION)
class CostOptions(Checked):
    """Costs and speed. The default slack allows no extra bytes where bytes come first."""

    section: ClassVar[str] = "what it may cost"

    prefer: Annotated[
        Annotated[str, OneOf((cost.value for cost in Preference), "is no cost")],
        Option(
            "What comes first",
            "bytes, moves, time or leaders: the cost to keep lowest, the others after it in this order",
            "bytes|moves|time|leaders",
        ),
    ] = Preference.BYTES.value
    slack: Annotated[
        Share | None,
        Option("Slack", "share of its own bound that a cost may stay above it for the sake of the next (5%)", "5%"),
    ] = None
    max_move_bytes: Annotated[
        Amount | None, Option("At most so many bytes copied", "bytes copied at most, e.g. 500GB", "B")
    ] = None
    max_moves: Annotated[Count | None, Option("At most so many replicas moved", "replicas moved at most", "N")] = None
    max_leader_changes: Annotated[
        Count | None, Option("At most so many leaders changed", "leaders changed at most", "N")
    ] = None
    max_hours: Annotated[
        Hours | None, Option("At most so many hours", "hours that all waves take at the throttle, e.g. 6 or 1.5", "H")
    ] = None
    night_hours: Annotated[
        Hours | None,
        Option(
            "Hours a night",
            "hours a night in which waves run, such as 2: each wave fits into one night, and the plan says how many it "
            "takes and what is left after the first",
            "H",
        ),
    ] = None
    max_reorders: Annotated[
        Count,
        Option(
            "At most so many lists reordered",
            "lists that stay which get their followers in another order, so that any lost broker's leaders spread "
            "evenly: copies nothing",
            "N",
        ),
    ] = 0
    throttle_bytes_per_s: Annotated[
        Rate,
        Option(
            "Throttle",
            "bytes a second that each broker sends and receives at most, e.g. 50MiB",
            "BYTES_PER_S",
            name="throttle",
        ),
    ] = DEFAULT_THROTTLE_BYTES_PER_S
    moves_per_broker: Annotated[
        NumberFrom1 | None,
        Option(
            "Moves of a broker at a time",
            "partitions that a broker sends, and copies that it receives, in one wave (so many that waves stay few)",
            "N",
        ),
    ] = None
    partitions_per_wave: Annotated[
        NumberFrom1, Option("Partitions in a wave", "rows of one wave's file at most", "N")
    ] = 5000
    max_leader_changes_per_wave: Annotated[
        NumberFrom1 | None,
        Option(
            "Leaders of a broker changed in a wave",
            "leaders that change from a broker, and to it, in one wave at most",
            "N",
        ),
    ] = 100


@dataclass(frozen=True, kw_only=True, config=SECTION)
class KnownOptions(Checked):
    section: ClassVar[str] = "what else is known"

    capacities: Annotated[
        Capacities,
        Option(
            "Capacities",
            "disk bytes and rates that brokers can carry: in a shell a file, CSV or Cruise Control's capacity JSON",
            "FILE",
            name="capacity",
            example='{"3": {"disk_bytes": 4e12}}',
        ),
    ] = field(default_factory=dict)
    disk_growth: Annotated[
        Growths,
        Option(
            "Growth of disks",
            "bytes a day by which a broker's disk fills, as 9=40GB: a disk that reaches 85 % within 30 days is "
            "relieved, too (stored runs take the line through the last 14 days) …",
            "BROKER=BYTES",
        ),
    ] = field(default_factory=dict)
    expires_after_hours: Annotated[
        WholeHours, Option("Hours until the plan expires", "hours from the snapshot until the plan expires", "N")
    ] = 24
    with_frontier: Annotated[
        Unflag, Option("No frontier", "leave out what other allowed ranges would cost: quicker", name="no_frontier")
    ] = True


SECTIONS = (BalanceOptions, ScopeOptions, CostOptions, KnownOptions)
PLAN_OPTIONS = tuple(option for section in SECTIONS for option in options_of(section))
OF_TOPICS = tuple(option for option in PLAN_OPTIONS if option.is_of_topics)
_FIELD_OF = {option.flag: option.field for option in PLAN_OPTIONS}
# plan.json lacks these or has another form.
_NOT_IN_PLAN = ("within", "with_frontier", "new_racks")


@dataclass(frozen=True, kw_only=True, config=CHECKED)
class PlanOptions(KnownOptions, CostOptions, ScopeOptions, BalanceOptions):
    """The options of a plan. ``None``: not given."""

    refusal: ClassVar[type[InvalidInputError]] = UsageError

    def __post_init__(self) -> None:
        require_no_contradiction(self, _FIELD_OF)

    @property
    def is_explicit(self) -> bool:
        """Whether a band, target, cap or headroom is given: it is met at any cost."""
        return self.within is not None or bool(self.targets) or bool(self.caps) or bool(self.headroom)

    @property
    def has_budget(self) -> bool:
        limits = (self.max_move_bytes, self.max_moves, self.max_leader_changes, self.max_hours)
        return any(limit is not None for limit in limits)

    @property
    def is_within_ordered(self) -> bool:
        return self.within is not None and self.band is not None

    @property
    def asks_of_loads(self) -> bool:
        return any((self.targets, self.caps, self.headroom, self.also_balance, self.survive))

    @property
    def asks_beyond_bands(self) -> bool:
        """Whether an option asks for more than a wider band can help."""
        return self.survive is not None or bool(self.min_topic_leaders)

    @property
    def depends_on_cluster(self) -> bool:
        brokers = (self.remove_brokers, self.add_brokers, self.demote_brokers, self.exclude_brokers)
        others = (self.remove_racks, self.topic_brokers, self.replication_factor, self.disk_growth)
        return self.asks_of_loads or any((*brokers, *others))

    @property
    def band(self) -> float | None:
        if self.preferred_election:
            return None
        return DEFAULT_WITHIN if self.within is None else self.within

    @property
    def weighs_costs(self) -> bool:
        return self.prefer != Preference.BYTES or self.slack is not None

    @property
    def slack_in_force(self) -> float:
        return DEFAULT_SLACK if self.slack is None else self.slack

    @property
    def moves_replicas(self) -> bool:
        return not (self.leaders_only or self.preferred_election)

    def is_removed(self, broker: int, rack: str | None) -> bool:
        return broker in self.remove_brokers or (rack is not None and rack in self.remove_racks)

    def is_topic_allowed(self, name: str) -> bool:
        is_in = not self.include_topics or any(re.fullmatch(pattern, name) for pattern in self.include_topics)
        return is_in and not any(re.fullmatch(pattern, name) for pattern in self.exclude_topics)

    def topic_patterns(self) -> Iterator[tuple[str, str]]:
        for option in OF_TOPICS:
            for held in getattr(self, option.field):
                yield option.flag, held if isinstance(held, str) else held.pattern

    def leaving_topics(self, names: Iterable[str]) -> PlanOptions:
        patterns = (re.escape(name) for name in sorted(set(names)))
        # An exact included name is no contradiction to a quarantine.
        apart = (f"(?:{pattern})" if pattern in self.include_topics else pattern for pattern in patterns)
        return replace(self, exclude_topics=(*self.exclude_topics, *apart))

    def document(self) -> dict[str, Any]:
        """Return complete ``parameters`` of plan.json."""
        held = _DOCUMENTS.dump_python(self, mode="json")
        document = {name: part for name, part in held.items() if name not in _NOT_IN_PLAN}
        return document | {
            "balance_within": self.band,
            "is_explicit": self.is_explicit,
            "is_within_ordered": self.is_within_ordered,
        }

    @classmethod
    def from_document(cls, parameters: Mapping[str, Any]) -> PlanOptions:
        """Return the options. Raises InvalidInputError."""
        names = [field.name for field in fields(cls) if field.name not in _NOT_IN_PLAN]
        try:
            within = parameters["balance_within"] if parameters["is_within_ordered"] else None
            return cls(within=within, **{name: parameters[name] for name in names})
        except KeyError as error:
            raise InvalidInputError.at("plan.parameters", f"{error} is missing") from error
        except InvalidInputError as error:
            raise InvalidInputError.at("plan.parameters", str(error)) from error


_DOCUMENTS = TypeAdapter(PlanOptions)


def parameters_schema() -> dict[str, Any]:
    schema = _DOCUMENTS.json_schema(mode="serialization", ref_template="#/$defs/{model}")
    properties = {name: part for name, part in schema["properties"].items() if name not in _NOT_IN_PLAN}
    properties |= {
        "balance_within": schema["properties"]["within"],
        "is_explicit": {"type": "boolean"},
        "is_within_ordered": {"type": "boolean"},
        "moves_per_broker": properties["moves_per_broker"]["anyOf"][0],
    }
    return schema | {"properties": properties, "required": list(properties)}
