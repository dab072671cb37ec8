"""The shape of plan.json: every field there, none unknown, each of its kind.

``Plan`` and its parts are what pydantic holds a document to, and what the JSON schema is made from. A document is
read strictly: a bool is no number, 5.0 is no whole number, and every number is one that Kafka could count to.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    WrapValidator,
    with_config,
)
from typing_extensions import TypedDict

from kafka_rebalance.verify.faults import FaultList

FORMAT_VERSION = 1
MOST = 2**63 - 1  # what Kafka can count to; no figure of a plan comes near it
_GREATEST = 1e300
_DEEPEST_FACT = 3

exactly = with_config(ConfigDict(strict=True, extra="forbid"))


def _countable(value: Any) -> Any:
    if isinstance(value, int) and abs(value) > MOST:
        raise ValueError("beyond 2^63")
    return value


Whole: TypeAlias = Annotated[int, Field(ge=-MOST, le=MOST)]
Number: TypeAlias = Annotated[
    float, Field(ge=-_GREATEST, le=_GREATEST, allow_inf_nan=False), BeforeValidator(_countable)
]
BrokerKey: TypeAlias = Annotated[str, Field(pattern="^(0|[1-9][0-9]{0,9})$")]
FormatVersion: TypeAlias = Annotated[int, Field(ge=FORMAT_VERSION, le=FORMAT_VERSION)]  # ``Literal[1]`` takes true
Pair: TypeAlias = Annotated[list[Number | None], Field(min_length=2, max_length=2)]
ByBroker: TypeAlias = dict[BrokerKey, Number]


# A value's kind, which ``_place`` leaves out.
_TAGS = {bool: "<flag>", int: "<number>", float: "<number>", str: "<text>", type(None): "<null>", list: "<list>"}


def _kind(value: Any) -> str | None:
    return "<fact>" if isinstance(value, dict) else _TAGS.get(type(value))


def _nested(value: Any, inner: Callable[[Any], Any], info: ValidationInfo[dict[str, int]]) -> Any:
    """A fact in a fact; ``context`` counts how deep."""
    depth = info.context["depth"] + 1
    if depth > _DEEPEST_FACT:
        raise ValueError("facts are nested too deep")
    info.context["depth"] = depth
    try:
        return inner(value)
    finally:
        info.context["depth"] = depth - 1


_Plain: TypeAlias = (
    Annotated[bool, Tag("<flag>")]
    | Annotated[Number, Tag("<number>")]
    | Annotated[str, Tag("<text>")]
    | Annotated[None, Tag("<null>")]
    | Annotated["Fact", WrapValidator(_nested), Tag("<fact>")]
)
_Item: TypeAlias = Annotated[_Plain, Discriminator(_kind)]
_Listed: TypeAlias = Annotated[_Plain | Annotated[list[_Item], Tag("<list>")], Discriminator(_kind)]
Argument: TypeAlias = Annotated[_Plain | Annotated[list[_Listed], Tag("<list>")], Discriminator(_kind)]


@exactly
class Fact(TypedDict):
    """A code, which need not be known, and its arguments by name: plain values, lists of these, and facts."""

    code: Annotated[str, Field(pattern="^[a-z][a-z0-9_]{0,60}$")]
    args: dict[str, Argument]


@exactly
class Wave(TypedDict):
    """One wave, forward or back: numbers of its moves, from 0, and what it takes."""

    moves: list[Whole]
    bytes: Whole | None
    seconds: Number | None
    throttle_bytes_per_s: Whole
    free_disk_needed: dict[BrokerKey, Whole]
    leader_changes: Whole | None
    leader_in_bytes_per_s: Number | None
    leader_out_bytes_per_s: Number | None


Move = TypedDict(  # "from" is no name of Python's
    "Move",
    {
        "topic": str,
        "partition": Whole,
        "from": list[Whole],
        "to": list[Whole],
        "leader_from": Whole | None,
        "leader_to": Whole,
        "kind": str,
        "bytes": Whole | None,
        "wave": Whole,
        "reason": Fact,
        "worse_without": Fact,
    },
)
exactly(Move)


@exactly
class Cost(TypedDict):
    """What all moves take."""

    replica_moves: Whole
    bytes: Whole | None
    leader_changes: Whole
    seconds: Number | None
    seconds_slot_filling: Number | None


@exactly
class Rollback(Cost):
    """What going back takes, its waves, and the moves that cannot be undone."""

    waves: list[Wave]
    not_undone: list[Whole]


@exactly
class Bound(TypedDict):
    """What no plan comes below, of one cost."""

    cost: str
    value: Number
    gap: Number | None
    proof: str
    is_within_slack: bool | None


@exactly
class Takeover(TypedDict):
    """Who leads most once a broker or rack is lost."""

    lost: str
    broker: Whole
    leaders: Whole
    even_leaders: Whole


@exactly
class LossLoad(TypedDict):
    """Who is nearest to its capacity once a broker or rack is lost, or furthest above it."""

    lost: str
    broker: Whole
    resource: str
    load: Number
    capacity: Number


@exactly
class WorstLoss(TypedDict):
    """The worst loss, by leaders and by load."""

    takeover: Takeover | None
    load: LossLoad | None


@exactly
class Losses(TypedDict):
    """The worst loss of a broker, and of a rack."""

    broker: WorstLoss | None
    rack: WorstLoss | None


@exactly
class AfterFailure(TypedDict):
    """Losses before and after the plan."""

    before: Losses
    after: Losses


@exactly
class PreferredLeaders(TypedDict):
    """Leaders of each broker after a preferred election, without the plan and with it."""

    before: dict[BrokerKey, Whole]
    after: dict[BrokerKey, Whole]


@exactly
class Cover(TypedDict):
    """A cover inequality: what must leave a broker leaves whole."""

    broker: Whole
    resource: str
    price: Number
    gone: dict[str, list[Whole]]
    come: dict[str, list[Whole]]


@exactly
class Proof(TypedDict):
    """What proves the bound of one cost."""

    prices: dict[str, ByBroker]
    receiving: ByBroker
    sending: ByBroker
    covers: list[Cover]


@exactly
class WithinBudget(TypedDict):
    """What a budget leaves outside the bands, and what no plan within it comes below."""

    imbalance_before: Number
    imbalance_after: Number
    least_imbalance: Number | None
    prices: dict[str, ByBroker]
    charges: dict[str, Number]


@exactly
class ResourceOutcome(TypedDict):
    """One balanced resource."""

    resource: str
    unit: str
    source: str
    mean_level: Number
    basis: str
    band_asked: Pair
    widened_to: Pair
    is_ordered: bool
    skew_before: Number
    skew_after: Number
    capacity: ByBroker | None


@exactly
class FrontierPoint(TypedDict):
    """What another band would cost."""

    tolerance: Number | None
    bytes: Whole | None
    replica_moves: Whole
    leader_changes: Whole
    lower_bound_bytes: Number | None
    skew: dict[str, Number]
    name: str | None
    is_recommended: bool
    reasons: list[Fact]


@exactly
class Robustness(TypedDict):
    """In how many trials the verdict holds with every load off at random."""

    trials: Whole
    noise: Number
    verdict_stands: Whole


@exactly
class Step(TypedDict):
    """What one stage left."""

    stage: str
    replica_moves: Whole
    bytes: Whole | None
    leader_changes: Whole


@exactly
class Seen(TypedDict):
    """What the snapshot told of the cluster."""

    broker_racks: dict[BrokerKey, str | None]
    dead_brokers: list[Whole]
    topic_partitions: dict[str, Whole]
    reassigning: list[
        list[Annotated[Annotated[str, Tag("<text>")] | Annotated[Whole, Tag("<number>")], Discriminator(_kind)]]
    ]


@exactly
class Plan(TypedDict):
    """A plan. ``parameters`` are read by ``verify/document/parameters.py``."""

    format_version: FormatVersion
    plan_id: str
    cluster: str
    cluster_id: str | None
    snapshot_id: str
    captured_at: str | None
    expires_at: str | None
    topic_ids: dict[str, str | None]
    seen: Seen
    parameters: dict[str, Any]
    seed: Whole
    advisor_version: str
    verdict: Literal["rebalance", "nothing_to_do", "cannot_tell", "infeasible", "not_fixable_by_moving"]
    reasons: list[Fact]
    resources: list[ResourceOutcome]
    left_out: dict[str, Fact]
    before: dict[str, ByBroker]
    after: dict[str, ByBroker]
    topic_excess_replicas: Annotated[list[Whole], Field(min_length=2, max_length=2)]
    cost: Cost
    lower_bound: list[Bound]
    certificate: dict[str, ByBroker]
    proofs: dict[str, Proof]
    within_budget: WithinBudget | None
    frontier: list[FrontierPoint]
    moves: list[Move]
    waves: list[Wave]
    rollback: Rollback | None
    preconditions: list[Fact]
    explanations: list[Fact]
    robustness: Robustness | None
    after_failure: AfterFailure | None
    preferred_leaders: PreferredLeaders | None
    continues: str | None
    trace: list[Step]


def check_shape(document: Any, faults: FaultList, kind: Any = Plan) -> bool:
    """Whether the document can be read at all as ``kind``; each place that is wrong is named."""
    version = document.get("format_version") if isinstance(document, dict) else None
    if type(version) is int and version != FORMAT_VERSION:  # that is the one fault, for all fields may differ
        words = f"{version} is unknown, this advisor reads {FORMAT_VERSION}: make the plan anew"
        faults.add("shape", "plan.format_version", words)
        return False
    try:
        adapter_of(kind).validate_python(document, context={"depth": 0})
    except ValidationError as error:
        for fault in error.errors(include_url=False):
            faults.add("shape", _place(fault["loc"])[:120], _words(fault))
    return not faults.has_any("shape")


@cache
def adapter_of(kind: Any) -> TypeAdapter[Any]:
    """Return what reads documents of a kind, and makes their JSON schema."""
    return TypeAdapter(kind)


def _place(path: tuple[int | str, ...]) -> str:
    """``plan.moves[3].from``: without the kinds of arguments that pydantic tried."""
    steps = (step for step in path if step != "[key]" and step not in _LEFT_OUT)
    return "plan" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)


_LEFT_OUT = {"<fact>", *_TAGS.values()}


def _words(fault: Any) -> str:
    kind, value, is_key = fault["type"], fault["input"], fault["loc"][-1:] == ("[key]",)
    if kind in ("missing", "extra_forbidden"):
        return "missing" if kind == "missing" else "unknown field"
    if is_key:
        return "the key is no broker id"
    if kind == "value_error":
        return f"{_short(value)}: {fault['ctx']['error']}"
    if kind in ("too_short", "too_long"):
        return f"{len(value)} values"
    if kind == "literal_error":
        return f"{_short(value)} is none of {fault['ctx']['expected']}"
    return f"{_short(value)} is of the wrong kind"


def _short(value: Any) -> str:
    if isinstance(value, list | dict):
        return f"{'a list' if isinstance(value, list) else 'an object'} of {len(value)}"
    text = ascii(value) if not isinstance(value, int) or abs(value) <= MOST else "a number beyond 2^63"
    return text if len(text) <= 60 else text[:57] + "..."
