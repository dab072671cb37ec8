"""The options of a plan (DESIGN §7): one record, checked when built, and its document for ``parameters``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.options.contradictions import require_no_contradiction
from kafka_rebalance.options.preference import DEFAULT_SLACK, Preference
from kafka_rebalance.options.target import Target
from kafka_rebalance.options.topic_brokers import TopicBrokers
from kafka_rebalance.options.topic_leaders import TopicLeaders
from kafka_rebalance.options.value_ranges import require_values
from kafka_rebalance.snapshot.model import Capacity

DEFAULT_WITHIN = 0.10
DEFAULT_THROTTLE_BYTES_PER_S = 50 * 2**20
_PLAIN = (
    "max_move_bytes", "max_moves", "max_leader_changes", "replication_factor", "leaders_only", "preferred_election",
    "throttle_bytes_per_s", "moves_per_broker", "partitions_per_wave", "max_leader_changes_per_wave",
    "expires_after_hours", "dead_band", "least_gain_per_byte", "prefer", "slack", "max_reorders", "max_hours",
    "survive",
)  # fmt: skip
_SETS = ("remove_brokers", "demote_brokers", "exclude_brokers", "remove_racks", "also_balance")
_LISTS = ("include_topics", "exclude_topics")


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """What is asked of a plan. ``None`` = nothing said.

    within             band around each broker's fair share; None = the default of 10 %, held with a dead band. A band
                       or target that is given is an order: dead band and payback do not apply. So is a cap
    targets            resource → LOW..HIGH as multiples of the plain mean, in place of the band
    caps               resource → what no broker may carry more of, in the resource's own unit: a hard rule
    remove_racks       every broker on them is to be removed
    headroom           resource → share of each broker's capacity that stays free after the plan: a hard rule
    add_brokers        id → rack of brokers that do not exist yet (or do, and are empty)
    exclude_brokers    receive neither replicas nor leadership; what they have may stay or leave
    include_topics, exclude_topics  regular expressions that match whole names
    capacities         broker → what it can carry, before what the snapshot says
    moves_per_broker, partitions_per_wave  limits of one wave: partitions sent, copies received, rows of a file
    max_leader_changes_per_wave  leaders that change from a broker, and to it, in one wave; None: any number
    dead_band          without an order nothing is moved until some broker is this share of its fair share away
    least_gain_per_byte  without an order: share of imbalance removed over share of bytes copied that a plan must reach
    topic_brokers      topics whose replicas may be on some brokers alone; of those that may be touched
    min_topic_leaders  topics of which every broker that may lead leads so many partitions: a hard rule
    prefer             which cost comes first: bytes, moves, time or leaders
    max_reorders       lists of partitions that stay which may get their followers in another order, so that a lost
                       broker's leaders spread evenly; it copies nothing. Lists that change anyway get it in any case
    survive            ``broker`` or ``rack``: nobody is above its capacity after the loss of any one: a hard rule
    max_hours          of all waves, one after the other at the throttle; a part of an hour is a fraction
    also_balance       resources that get the common band though none has them by default: leader_in, potential_out
    slack              share of its own bound that each cost may stay above it for the sake of the next; None = 5 %, and
                       where bytes come first nothing of them is given for another cost
    """

    within: float | None = None
    targets: Mapping[str, Target] = field(default_factory=dict)
    caps: Mapping[str, float] = field(default_factory=dict)
    max_move_bytes: int | None = None
    max_moves: int | None = None
    max_leader_changes: int | None = None
    remove_brokers: frozenset[int] = frozenset()
    add_brokers: Mapping[int, str | None] = field(default_factory=dict)
    demote_brokers: frozenset[int] = frozenset()
    exclude_brokers: frozenset[int] = frozenset()
    replication_factor: int | None = None
    leaders_only: bool = False
    preferred_election: bool = False
    throttle_bytes_per_s: int = DEFAULT_THROTTLE_BYTES_PER_S
    include_topics: tuple[str, ...] = ()
    exclude_topics: tuple[str, ...] = ()
    capacities: Mapping[int, Capacity] = field(default_factory=dict)
    moves_per_broker: int | None = None
    partitions_per_wave: int = 5000
    max_leader_changes_per_wave: int | None = 100
    expires_after_hours: int = 24
    dead_band: float = 0.20
    least_gain_per_byte: float = 0.05
    with_frontier: bool = True
    remove_racks: frozenset[str] = frozenset()
    headroom: Mapping[str, float] = field(default_factory=dict)
    prefer: str = Preference.BYTES.value
    slack: float | None = None
    max_reorders: int = 0
    topic_brokers: tuple[TopicBrokers, ...] = ()
    max_hours: float | None = None
    survive: str | None = None
    also_balance: frozenset[str] = frozenset()
    min_topic_leaders: tuple[TopicLeaders, ...] = ()

    def __post_init__(self) -> None:
        """Raises UsageError for a value that cannot be and for options that contradict each other."""
        require_values(self)
        require_no_contradiction(self)

    @property
    def is_explicit(self) -> bool:
        """A band, target, cap or headroom was given: it is met whatever it takes."""
        return self.within is not None or bool(self.targets) or bool(self.caps) or bool(self.headroom)

    @property
    def has_budget(self) -> bool:
        """A plan may stop before everything is done."""
        limits = (self.max_move_bytes, self.max_moves, self.max_leader_changes, self.max_hours)
        return any(limit is not None for limit in limits)

    @property
    def band(self) -> float | None:
        """The band in force; None for a preferred election, which aims at none."""
        if self.preferred_election:
            return None
        return DEFAULT_WITHIN if self.within is None else self.within

    @property
    def weighs_costs(self) -> bool:
        """Something was said of which cost comes first or what may be given for it."""
        return self.prefer != Preference.BYTES or self.slack is not None

    @property
    def slack_in_force(self) -> float:
        """What each cost is measured by."""
        return DEFAULT_SLACK if self.slack is None else self.slack

    @property
    def moves_replicas(self) -> bool:
        """Replicas may be moved at all."""
        return not (self.leaders_only or self.preferred_election)

    def is_removed(self, broker: int, rack: str | None) -> bool:
        """The broker is to be emptied: by its own id, or with its rack."""
        return broker in self.remove_brokers or (rack is not None and rack in self.remove_racks)

    def is_topic_allowed(self, name: str) -> bool:
        """Included (or nothing is included by name), and not excluded."""
        is_in = not self.include_topics or any(re.fullmatch(pattern, name) for pattern in self.include_topics)
        return is_in and not any(re.fullmatch(pattern, name) for pattern in self.exclude_topics)

    def topic_patterns(self) -> Iterator[tuple[str, str]]:
        """Each option that holds a pattern of topics, as people type it, and the pattern."""
        yield from (("--include-topic", pattern) for pattern in self.include_topics)
        yield from (("--exclude-topic", pattern) for pattern in self.exclude_topics)
        yield from (("--topic-brokers", rule.pattern) for rule in self.topic_brokers)
        yield from (("--min-topic-leaders", rule.pattern) for rule in self.min_topic_leaders)

    def leaving_topics(self, names: Iterable[str]) -> PlanOptions:
        """The same options with these topics left alone, too."""
        patterns = (re.escape(name) for name in sorted(set(names)))
        # A name that was included letter by letter is no contradiction to what was found out of it.
        apart = (f"(?:{pattern})" if pattern in self.include_topics else pattern for pattern in patterns)
        return replace(self, exclude_topics=(*self.exclude_topics, *apart))

    def document(self) -> dict[str, Any]:
        """For ``parameters`` of plan.json: complete, so that a plan can be judged without its command line."""
        return {
            "balance_within": self.band,
            "is_explicit": self.is_explicit,
            "is_within_ordered": self.within is not None and self.band is not None,
            "targets": {name: [target.low, target.high] for name, target in sorted(self.targets.items())},
            "caps": dict(sorted(self.caps.items())),
            "max_move_bytes": self.max_move_bytes,
            "max_moves": self.max_moves,
            "max_leader_changes": self.max_leader_changes,
            "remove_brokers": sorted(self.remove_brokers),
            "add_brokers": {str(broker): self.add_brokers[broker] for broker in sorted(self.add_brokers)},
            "demote_brokers": sorted(self.demote_brokers),
            "exclude_brokers": sorted(self.exclude_brokers),
            "replication_factor": self.replication_factor,
            "leaders_only": self.leaders_only,
            "preferred_election": self.preferred_election,
            "throttle_bytes_per_s": self.throttle_bytes_per_s,
            "include_topics": list(self.include_topics),
            "exclude_topics": list(self.exclude_topics),
            "capacities": {str(broker): asdict(self.capacities[broker]) for broker in sorted(self.capacities)},
            "moves_per_broker": self.moves_per_broker,
            "partitions_per_wave": self.partitions_per_wave,
            "max_leader_changes_per_wave": self.max_leader_changes_per_wave,
            "expires_after_hours": self.expires_after_hours,
            "dead_band": self.dead_band,
            "least_gain_per_byte": self.least_gain_per_byte,
            "remove_racks": sorted(self.remove_racks),
            "headroom": dict(sorted(self.headroom.items())),
            "prefer": self.prefer,
            "slack": self.slack,
            "max_reorders": self.max_reorders,
            "also_balance": sorted(self.also_balance),
            "topic_brokers": [rule.document() for rule in self.topic_brokers],
            "min_topic_leaders": [rule.document() for rule in self.min_topic_leaders],
            "max_hours": self.max_hours,
            "survive": self.survive,
        }

    @classmethod
    def from_document(cls, parameters: Mapping[str, Any]) -> PlanOptions:
        """The options that ``parameters`` of a plan tell. Raises InvalidInputError where they cannot be read."""
        try:
            within = parameters["balance_within"] if parameters["is_within_ordered"] else None
            fields: dict[str, Any] = {"within": within} | {name: parameters[name] for name in _PLAIN}
            fields["targets"] = {name: Target(low, high) for name, (low, high) in parameters["targets"].items()}
            fields["caps"] = dict(parameters["caps"])
            fields["headroom"] = dict(parameters["headroom"])
            fields["add_brokers"] = {int(broker): rack for broker, rack in parameters["add_brokers"].items()}
            fields["capacities"] = {int(b): Capacity(**capacity) for b, capacity in parameters["capacities"].items()}
            fields["topic_brokers"] = tuple(_topic_brokers(rule) for rule in _list(parameters, "topic_brokers"))
            fields["min_topic_leaders"] = tuple(_topic_leaders(rule) for rule in _list(parameters, "min_topic_leaders"))
            fields |= {name: frozenset(_list(parameters, name)) for name in _SETS}
            fields |= {name: tuple(_list(parameters, name)) for name in _LISTS}
            return cls(**fields)
        except InvalidInputError as error:
            raise InvalidInputError.at("plan.parameters", str(error)) from error
        except KeyError as error:
            raise InvalidInputError.at("plan.parameters", f"{error} is missing") from error
        except (TypeError, ValueError, AttributeError, OverflowError) as error:
            raise InvalidInputError.at("plan.parameters", f"cannot be read ({error})") from error


def _topic_brokers(rule: Mapping[str, Any]) -> TopicBrokers:
    return TopicBrokers(rule["pattern"], frozenset(_list(rule, "brokers")), frozenset(_list(rule, "racks")))


def _topic_leaders(rule: Mapping[str, Any]) -> TopicLeaders:
    return TopicLeaders(rule["pattern"], rule["leaders"])


def _list(parameters: Mapping[str, Any], name: str) -> list[Any]:
    """A text would be read as a list of its letters."""
    if not isinstance(parameters[name], list):
        raise TypeError(f"{name} is no list")
    return list(parameters[name])
