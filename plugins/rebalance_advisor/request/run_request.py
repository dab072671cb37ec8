"""What a run is asked for, whoever asks: shell, form, REST call, stored run and Spark job hold the same object."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from kafka_rebalance.errors import UsageError
from kafka_rebalance.options.client_rule import ClientRule
from kafka_rebalance.options.heavy_key import HeavyKeyOf
from kafka_rebalance.options.ownership import MuteRule, OwnerRule
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.visible_text import excerpt
from rebalance_advisor.request.option_table import ALL, FRESH, LATEST, OPTIONS, PLAN_OPTIONS, RUN_OPTIONS, require_known

if TYPE_CHECKING:
    from kafka_rebalance.groups.replay_options import ReplayOptions
    from kafka_rebalance.scenarios.scenario import Scenario

DEFAULT_WINDOW_HOURS = 7 * 24
_NAMES = tuple(option.name for option in OPTIONS)


@dataclass(frozen=True, slots=True)
class RunRequest:
    """One request.

    cluster      its name in clusters.toml; in a shell INPUT says which
    snapshot     ``latest``: the newest that is stored; ``fresh``: a reading of now; in a shell INPUT is the snapshot
    age_limit_s  an older reading gives no plan; None: no limit, as in a shell
    load         mean, p95 or peak of the hours before the snapshot; None: what the snapshot itself says
    window_hours how many hours; a week where nothing is said
    owners       whose findings are, the first that matches; mutes: which of them are quiet for a while
    own_strategies      classes of one's own that groups are replayed with, beside those that are installed
    own_strategy_s      how long one may take for a group; own_strategy_bytes: its memory; None: as usual
    clients      whose consumers groups run, the first that matches
    scenarios    ``all``: groups are led through every scenario of the catalogue; ``today``: none
    heavy_keys   what samples of records found: the key that makes a partition hot
    rack_byte_price     of a GB from one rack to another: what a month of it costs is told; None: it is not
    new_racks           racks of added brokers that no broker of the cluster is on: a rack that is mistyped is refused
    own_scenarios       changes of the cluster that are looked at beside it; nothing of them is ever executed
    """

    cluster: str | None = None
    snapshot: str = LATEST
    seed: int = 0
    options: PlanOptions = field(default_factory=PlanOptions)
    age_limit_s: int | None = None
    load: str | None = None
    window_hours: int | None = None
    owners: tuple[OwnerRule, ...] = ()
    mutes: tuple[MuteRule, ...] = ()
    own_strategies: tuple[str, ...] = ()
    own_strategy_s: int | None = None
    own_strategy_bytes: int | None = None
    clients: tuple[ClientRule, ...] = ()
    scenarios: str = ALL
    own_scenarios: tuple[Scenario, ...] = ()
    heavy_keys: tuple[HeavyKeyOf, ...] = ()
    rack_byte_price: float | None = None
    new_racks: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        """Raises UsageError for what no form and no shell can ask."""
        if self.snapshot not in (LATEST, FRESH):
            raise UsageError.at("snapshot", f"{excerpt(self.snapshot)} is none of {LATEST}, {FRESH}")
        if self.window_hours is not None and self.load is None:
            raise UsageError.at("--window", "says how far back, and no load is asked of it", "add --load p95")
        if self.load is not None and self.window_hours is None:
            object.__setattr__(self, "window_hours", DEFAULT_WINDOW_HOURS)
        for option in RUN_OPTIONS:
            held = getattr(self, option.field)
            if held is not None or option.default is not None:
                option.read(option.json_value(held))

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, Any]) -> RunRequest:
        """The request in a form, a REST call or a stored run; null, and what is left out, is not asked for.

        Raises UsageError for a key that is no option, a value that cannot be, and options that contradict each other.
        """
        if not isinstance(mapping, Mapping):
            raise UsageError(f"{excerpt(mapping)} is no object of options and their values")
        require_known(mapping, _NAMES)
        given = {option.name: mapping[option.name] for option in OPTIONS if mapping.get(option.name) is not None}
        return cls.from_parsed({option.name: option.read(given[option.name]) for option in _among(given)})

    @classmethod
    def from_parsed(cls, values: Mapping[str, Any]) -> RunRequest:
        """The request of values by option name that a shell's parser, or ``Option.read``, has read. Raises UsageError
        for options that contradict each other.
        """
        require_known(values, _NAMES)
        fields = {option.field: option.field_value(values[option.name]) for option in _among(values)}
        of_run = {option.field: fields.pop(option.field) for option in RUN_OPTIONS if option.field in fields}
        return cls(**of_run, options=PlanOptions(**fields))

    def document(self) -> dict[str, Any]:
        """Every option with its value, as JSON: what is stored with a run, and what ``from_mapping`` reads."""
        of_run = {option.name: option.json_value(getattr(self, option.field)) for option in RUN_OPTIONS}
        of_plan = {option.name: option.json_value(getattr(self.options, option.field)) for option in PLAN_OPTIONS}
        return of_run | of_plan

    @property
    def replay_options(self) -> ReplayOptions:
        """What groups are asked. Imports the library's half of it: not for DAG files."""
        from kafka_rebalance.groups.replay_options import ReplayOptions
        from kafka_rebalance.groups.scenarios.catalogue import SCENARIOS

        return ReplayOptions(self.clients, SCENARIOS if self.scenarios == ALL else (), self.seed)

    def leaving_topics(self, names: Iterable[str]) -> RunRequest:
        """The same with these topics left alone, too."""
        return replace(self, options=self.options.leaving_topics(names))


def _among(names: Iterable[str]) -> list[Any]:
    """The table's options of these names, in its order."""
    wanted = set(names)
    return [option for option in OPTIONS if option.name in wanted]
