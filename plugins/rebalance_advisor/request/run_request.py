"""For shell, form, REST call, stored run and Spark job. Light to import, for DAG files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeAlias

from pydantic import AfterValidator, Field, PlainValidator, Strict, WithJsonSchema
from pydantic.dataclasses import dataclass

from kafka_assignors.errors import InvalidInputError
from kafka_assignors.visible_text import excerpt
from kafka_rebalance.errors import UsageError
from kafka_rebalance.findings.finding import CODES
from kafka_rebalance.options.option import Option, options_of
from kafka_rebalance.options.plan_options import PLAN_OPTIONS, PlanOptions
from kafka_rebalance.options.values import (
    AMOUNT_TEXT,
    CHECKED,
    MOST_WHOLE,
    Checked,
    ClientRule,
    Count,
    HeavyKeyOf,
    MuteRule,
    NumberFrom1,
    OneOf,
    OwnerRule,
    Price,
    Several,
    Span,
    Text,
    Value,
    Window,
    long_text,
    nearest,
    read_amount,
)
from kafka_rebalance.snapshot.figures import LoadStatistic
from rebalance_advisor.own_strategies.limits import LEAST_BYTES
from rebalance_advisor.own_strategies.targets import Kind, read_target

if TYPE_CHECKING:
    from kafka_rebalance.advisory.advise import AdviceRequest

LATEST, FRESH = "latest", "fresh"
ALL, TODAY = "all", "today"
DEFAULT_WINDOW_HOURS = 7 * 24


def _known_code(mute: MuteRule) -> MuteRule:
    if mute.code is not None and mute.code not in CODES:
        raise ValueError(f"code {excerpt(mute.code)} is no finding's; known: {', '.join(sorted(CODES))}")
    return mute


def _strategy_reference(text: str) -> str:
    return read_target(text, Kind.ASSIGNOR).reference


def _scenario(value: Any) -> Any:
    from kafka_rebalance.scenarios.scenario import (
        Scenario,
        scenario_from_document,  # heavy
    )

    return value if isinstance(value, Scenario) else scenario_from_document(value)


def _scenario_document(scenario: Any) -> dict[str, Any]:
    from kafka_rebalance.scenarios.scenario import scenario_document

    return scenario_document(scenario)


_Strategy: TypeAlias = Annotated[
    Text, AfterValidator(_strategy_reference), Value(schema=long_text("^.+:[A-Za-z_][A-Za-z0-9_.]*$"))
]
_Memory: TypeAlias = Annotated[
    int,
    Strict(),
    Field(ge=LEAST_BYTES, le=MOST_WHOLE),
    Value("is too little for an interpreter", "give 64MiB or more", read=read_amount, schema=AMOUNT_TEXT),
]
# Only the shell takes scenarios.
_Scenario: TypeAlias = Annotated[
    Any,
    PlainValidator(_scenario),
    WithJsonSchema({"type": "object", "maxProperties": 0}),
    Value(write=_scenario_document),
]


@dataclass(frozen=True, config=CHECKED)
class RunRequest(Checked):
    """``options``: the plan's; in a shell INPUT selects cluster and snapshot."""

    section: ClassVar[str] = "the run"
    refusal: ClassVar[type[InvalidInputError]] = UsageError

    cluster: Annotated[
        Text | None, Option("Cluster", "its name in clusters.toml; the DAG says which", is_in_shell=False)
    ] = None
    snapshot: Annotated[
        Annotated[str, OneOf((LATEST, FRESH))],
        Option("Snapshot", "the newest one that is stored, or a fresh one", is_in_shell=False),
    ] = LATEST
    seed: Annotated[Count, Option("Seed", "same input and seed, same plan", "N")] = 0
    options: PlanOptions = field(default_factory=PlanOptions)
    age_limit_s: Annotated[
        Span | None,
        Option(
            "Age limit",
            "an older snapshot gives no plan, but cannot_tell: 90min, 2h, 3d (twice the time between two collections)",
            name="age_limit",
            is_in_shell=False,
        ),
    ] = None
    load: Annotated[
        Annotated[str, OneOf(statistic.value for statistic in LoadStatistic)] | None,
        Option(
            "Load",
            "mean, p95 or peak (the cluster's busiest hours) of a window's hours, not the newest snapshot's rates",
            "mean|p95|peak",
        ),
    ] = None
    window_hours: Annotated[
        Window | None,
        Option(
            "Window of history", "how far back the hours of the load go, e.g. 7d (default) or 36h", "7d", name="window"
        ),
    ] = None
    owners: Annotated[
        Annotated[tuple[OwnerRule, ...], Several()],
        Option(
            "Owners",
            "whose each finding is: pattern, team, channel, tier; in a shell a TOML file with [[owners]]",
            "FILE",
            example='{"pattern": "pay-.*", "team": "payments", "channel": "#pay", "tier": 1, "subject_type": "topic"}',
        ),
    ] = ()
    mutes: Annotated[
        Annotated[tuple[Annotated[MuteRule, AfterValidator(_known_code)], ...], Several()],
        Option(
            "Mutes",
            "findings that are quiet until a day: code, pattern, until, reason; in a shell a file with [[mutes]]",
            "FILE",
            example='{"code": "idle_members", "pattern": "tmp-.*", "until": "2026-12-31", "reason": "…"}',
        ),
    ] = ()
    own_strategies: Annotated[
        Annotated[tuple[_Strategy, ...], Several()],
        Option(
            "Own strategies",
            "module:Class, in a shell FILE.py:Class too: groups are replayed with it; entry points are anyway "
            "(advise) …",
            "PLACE",
            name="own_strategy",
        ),
    ] = ()
    own_strategy_s: Annotated[
        NumberFrom1 | None,
        Option("Seconds of an own strategy", "it may take for one group (10)", "N", name="own_strategy_seconds"),
    ] = None
    own_strategy_bytes: Annotated[
        _Memory | None,
        Option(
            "Memory of an own strategy",
            "of its process, interpreter included, from 64MiB (1GiB)",
            "B",
            name="own_strategy_memory",
        ),
    ] = None
    clients: Annotated[
        Annotated[tuple[ClientRule, ...], Several()],
        Option(
            "Clients",
            "whose consumers groups run, where they do not show it: pattern, client, version; in a shell a file with "
            "[[clients]]",
            "FILE",
            example='{"pattern": "pay-.*", "client": "java", "version": "3.4.1"}',
        ),
    ] = ()
    scenarios: Annotated[
        Annotated[str, OneOf((ALL, TODAY))],
        Option(
            "Scenarios",
            "groups are led through joins, crashes, restarts, other sizes and topics (all), or asked about today alone",
            "all|today",
        ),
    ] = ALL
    own_scenarios: Annotated[
        Annotated[tuple[_Scenario, ...], Several()],
        Option(
            "Own scenarios",
            "what if: the cluster and its groups as a file's changes leave them, beside today; in a shell only …",
            "FILE",
            name="scenario",
        ),
    ] = ()
    heavy_keys: Annotated[
        Annotated[tuple[HeavyKeyOf, ...], Several()],
        Option(
            "Heavy keys",
            "which key makes a partition hot: topic, partition, key, share; in a shell a keys.json of the command "
            "keys …",
            "FILE",
        ),
    ] = ()
    rack_byte_price: Annotated[
        Price | None,
        Option(
            "Price of bytes across racks",
            "of a GB (10^9 bytes) that goes from one rack to another, in any currency: a finding tells what that comes "
            "to in 30 days, today and after the plan",
            "PRICE",
        ),
    ] = None

    def __post_init__(self) -> None:
        """The default window is a week."""
        if self.window_hours is not None and self.load is None:
            raise UsageError.at("--window", "says how far back, and no load is asked of it", "add --load p95")
        if self.load is not None and self.window_hours is None:
            object.__setattr__(self, "window_hours", DEFAULT_WINDOW_HOURS)

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, Any]) -> RunRequest:
        """Null means not given."""
        if not isinstance(mapping, Mapping):
            raise UsageError(f"{excerpt(mapping)} is no object of options and their values")
        require_known(mapping, (option.name for option in OPTIONS))
        given = [option for option in OPTIONS if mapping.get(option.name) is not None]
        fields = {option.field: option.read(mapping[option.name]) for option in given}
        of_run = {option.field: fields.pop(option.field) for option in RUN_OPTIONS if option.field in fields}
        return cls(**of_run, options=PlanOptions(**fields))

    def document(self) -> dict[str, Any]:
        holders = ((self, RUN_OPTIONS), (self.options, PLAN_OPTIONS))
        return {option.name: option.write(getattr(held, option.field)) for held, part in holders for option in part}

    @property
    def advice(self) -> AdviceRequest:
        """Its imports are too heavy for DAG files."""
        from kafka_rebalance.advisory.advise import AdviceRequest
        from kafka_rebalance.groups.group_replay import ReplayOptions
        from kafka_rebalance.groups.scenarios import SCENARIOS

        return AdviceRequest(
            options=self.options,
            replay=ReplayOptions(self.clients, SCENARIOS if self.scenarios == ALL else (), self.seed),
            owners=self.owners,
            mutes=self.mutes,
            heavy_keys=self.heavy_keys,
            rack_byte_price=self.rack_byte_price,
        )

    def leaving_topics(self, names: Iterable[str]) -> RunRequest:
        return replace(self, options=self.options.leaving_topics(names))

    def knowing_growth(self, disks: Mapping[int, int]) -> RunRequest:
        """``disks``: bytes a day of brokers; given ones outrank them."""
        return replace(self, options=replace(self.options, disk_growth={**disks, **self.options.disk_growth}))


RUN_OPTIONS = options_of(RunRequest)
OPTIONS: tuple[Option, ...] = (*RUN_OPTIONS, *PLAN_OPTIONS)


def require_known(names: Iterable[Any], allowed: Iterable[str]) -> None:
    options = list(allowed)
    for name in names:
        if name not in options:
            raise UsageError.at(excerpt(name), "is no option", nearest(name, options))
