"""Checks of plan.json as a document: shape, parameters, hash, identity, expiry, unambiguous JSON.

The JSON schema is made from ``Plan``, docstrings included. Reading is strict: a bool is no number, 5.0 is no whole
number. Duplicate keys, invalid numbers and endless nesting are faults.

A plan is judged by its own ``parameters``, so meaningless ones (a negative limit) are faults, too.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Annotated, Any, Final, Literal, TypeAlias

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

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.snapshot.codec import snapshot_id
from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.snapshot.times import optional_time_text
from kafka_rebalance.verify.faults import Fault, FaultList

FORMAT_VERSION = 1
MOST = 2**63 - 1
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


_TAGS = {bool: "<flag>", int: "<number>", float: "<number>", str: "<text>", type(None): "<null>", list: "<list>"}


def _kind(value: Any) -> str | None:
    return "<fact>" if isinstance(value, dict) else _TAGS.get(type(value))


def _nested(value: Any, inner: Callable[[Any], Any], info: ValidationInfo[dict[str, int]]) -> Any:
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
    """A code, known or not, and its arguments by name: plain values, lists of these, and facts."""

    code: Annotated[str, Field(pattern="^[a-z][a-z0-9_]{0,60}$")]
    args: dict[str, Argument]


@exactly
class Wave(TypedDict):
    """One wave, forward or back: numbers of its moves, from 0, and its cost."""

    moves: list[Whole]
    bytes: Whole | None
    seconds: Number | None
    throttle_bytes_per_s: Whole
    free_disk_needed: dict[BrokerKey, Whole]
    leader_changes: Whole | None
    leader_in_bytes_per_s: Number | None
    leader_out_bytes_per_s: Number | None


Move = TypedDict(  # "from" is a keyword
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
    """Cost of all moves."""

    replica_moves: Whole
    bytes: Whole | None
    leader_changes: Whole
    seconds: Number | None
    seconds_slot_filling: Number | None


@exactly
class Rollback(Cost):
    """Cost of the rollback, its waves, and the moves that cannot be undone."""

    waves: list[Wave]
    not_undone: list[Whole]


@exactly
class Bound(TypedDict):
    """Lower bound of one cost."""

    cost: str
    value: Number
    gap: Number | None
    proof: str
    is_within_slack: bool | None


@exactly
class Takeover(TypedDict):
    """The broker with most leaders after a loss."""

    lost: str
    broker: Whole
    leaders: Whole
    even_leaders: Whole


@exactly
class LossLoad(TypedDict):
    """The highest load over capacity after a loss."""

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
    """Leaders of each broker after a preferred election, without and with the plan."""

    before: dict[BrokerKey, Whole]
    after: dict[BrokerKey, Whole]


@exactly
class Cover(TypedDict):
    """A cover inequality: replicas that do not fit on a broker together."""

    broker: Whole
    resource: str
    price: Number
    gone: dict[str, list[Whole]]
    come: dict[str, list[Whole]]


@exactly
class Proof(TypedDict):
    """Proof of the bound of one cost."""

    prices: dict[str, ByBroker]
    receiving: ByBroker
    sending: ByBroker
    covers: list[Cover]


@exactly
class WithinBudget(TypedDict):
    """Imbalance under a budget, and the least of any plan within it."""

    imbalance_before: Number
    imbalance_after: Number
    least_imbalance: Number | None
    prices: dict[str, ByBroker]
    charges: dict[str, Number]


@exactly
class Watched(TypedDict):
    """A rate that is not evened out: its fullest broker and that broker's capacity."""

    broker: Whole
    load: Number
    capacity: Number
    is_assumed: bool


@exactly
class ResourceOutcome(TypedDict):
    """One balanced resource."""

    resource: str
    unit: str
    source: str
    mean_level: Number
    basis: str
    band_asked: Pair
    watched: Watched | None
    widened_to: Pair
    is_ordered: bool
    skew_before: Number
    skew_after: Number
    capacity: ByBroker | None


@exactly
class FrontierPoint(TypedDict):
    """Cost of another band."""

    tolerance: Number | None
    bytes: Whole | None
    replica_moves: Whole
    leader_changes: Whole
    lower_bound_bytes: Number | None
    skew: dict[str, Number]
    seconds: Number | None
    name: str | None
    is_recommended: bool
    reasons: list[Fact]


@exactly
class Robustness(TypedDict):
    """Number of trials with random loads in which the verdict holds."""

    trials: Whole
    noise: Number
    verdict_stands: Whole


@exactly
class Step(TypedDict):
    """Cost after one stage."""

    stage: str
    replica_moves: Whole
    bytes: Whole | None
    leader_changes: Whole


@exactly
class Preconditions(TypedDict):
    """State of the cluster in the snapshot."""

    broker_racks: dict[BrokerKey, str | None]
    dead_brokers: list[Whole]
    topic_partitions: dict[str, Whole]
    reassigning: list[
        list[Annotated[Annotated[str, Tag("<text>")] | Annotated[Whole, Tag("<number>")], Discriminator(_kind)]]
    ]


@exactly
class StepOutcome(TypedDict):
    """One resource before and after a step."""

    resource: str
    skew_before: Number
    skew_after: Number
    fullest_before: Whole
    load_before: Number
    fullest_after: Whole
    load_after: Number
    widened_to: Pair


@exactly
class StepCost(TypedDict):
    """Cost of a step's waves."""

    replica_moves: Whole
    bytes: Whole | None
    leader_changes: Whole
    seconds: Number | None


@exactly
class PlanStep(TypedDict):
    """Waves that belong together; an operator may stop after them."""

    kind: str
    waves: list[Whole]
    cost: StepCost
    resources: list[StepOutcome]
    lower_bound_bytes: Number | None
    gap: Number | None
    certificate: dict[str, ByBroker]


@exactly
class Plan(TypedDict):
    """A plan. ``parameters`` are read by ``verify/document.py``."""

    format_version: FormatVersion
    plan_id: str
    cluster: str
    cluster_id: str | None
    snapshot_id: str
    captured_at: str | None
    expires_at: str | None
    topic_ids: dict[str, str | None]
    seen: Preconditions
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
    steps: list[PlanStep]
    rollback: Rollback | None
    preconditions: list[Fact]
    explanations: list[Fact]
    robustness: Robustness | None
    after_failure: AfterFailure | None
    preferred_leaders: PreferredLeaders | None
    continues: str | None
    trace: list[Step]


def check_shape(document: Any, faults: FaultList, kind: Any = Plan) -> bool:
    version = document.get("format_version") if isinstance(document, dict) else None
    if type(version) is int and version != FORMAT_VERSION:  # all fields may differ
        message = f"{version} is unknown, this advisor reads {FORMAT_VERSION}: make the plan anew"
        faults.add("shape", "plan.format_version", message)
        return False
    try:
        adapter_of(kind).validate_python(document, context={"depth": 0})
    except ValidationError as error:
        for fault in error.errors(include_url=False):
            faults.add("shape", _path_text(fault["loc"])[:120], _problem(fault))
    return not faults.has_any("shape")


@cache
def adapter_of(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def _path_text(path: tuple[int | str, ...]) -> str:
    steps = (step for step in path if step != "[key]" and step not in _LEFT_OUT)
    return "plan" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)


_LEFT_OUT = {"<fact>", *_TAGS.values()}


def _problem(fault: Any) -> str:
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


_CODE, _PLACE = "parameter", "parameters"


def read_parameters(parameters: dict[str, Any], faults: FaultList) -> PlanOptions | None:
    try:
        options = PlanOptions.from_document(parameters)
    except InvalidInputError as error:
        faults.add(_CODE, _PLACE, str(error).removeprefix("plan.parameters: "))
        return None
    meant = options.document()
    if unknown := sorted(parameters.keys() - meant.keys()):
        faults.add(_CODE, f"{_PLACE}.{unknown[0]}"[:120], "is no option")
        return None
    if options.moves_per_broker is None:
        faults.add(_CODE, f"{_PLACE}.moves_per_broker", "is no number: waves are judged by it")
        return None
    for name, value in parameters.items():
        if value != meant[name] or isinstance(value, bool) is not isinstance(meant[name], bool):
            faults.add(_CODE, f"{_PLACE}.{name}", "is not what the other parameters say, in order, each once")
            return None
    return options


def is_topic_allowed(parameters: PlanOptions, topic: str) -> bool:
    is_in = not parameters.include_topics or any(re.fullmatch(pattern, topic) for pattern in parameters.include_topics)
    return is_in and not any(re.fullmatch(pattern, topic) for pattern in parameters.exclude_topics)


def may_be_on(parameters: PlanOptions, topic: str, broker: int, rack: str | None) -> bool:
    mine = (rule for rule in parameters.topic_brokers if re.fullmatch(rule.pattern, topic))
    return all(broker in rule.brokers or (rack is not None and rack in rule.racks) for rule in mine)


_SNAPSHOT_PLACE = "plan.snapshot_id"
_ID = re.compile(r"[0-9a-f]{64}")


def check_seal(document: dict[str, Any], faults: FaultList) -> None:
    """Check ``plan_id``: sha256 of the rest, UTF-8, sorted keys, no spaces."""
    rest = {key: value for key, value in document.items() if key != "plan_id"}
    try:
        text = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        faults.add("hash", "plan", f"cannot be written as JSON ({error})")
        return
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    faults.require_equal("hash", "plan.plan_id", document.get("plan_id"), digest)


def check_identity(document: dict[str, Any], snapshot: ClusterSnapshot, faults: FaultList) -> None:
    """Check cluster and snapshot; for another snapshot only that is reported."""
    recomputed = snapshot_id(snapshot)
    if document["snapshot_id"] != recomputed:
        faults.add("identity", _SNAPSHOT_PLACE, _made_from_another(document["snapshot_id"], recomputed))
    else:
        faults.require_equal("identity", "plan.cluster", document["cluster"], snapshot.cluster)
        faults.require_equal("identity", "plan.cluster_id", document["cluster_id"], snapshot.cluster_id)
        written = optional_time_text(snapshot.captured_at)
        faults.require_equal("identity", "plan.captured_at", document["captured_at"], written)
    if document["continues"] is not None and not _ID.fullmatch(document["continues"]):
        faults.add("identity", "plan.continues", f"{document['continues'][:80]!r} is no plan_id")


def is_of_another_snapshot(faults: Iterable[Fault]) -> bool:
    return any(fault.location == _SNAPSHOT_PLACE for fault in faults)


def _made_from_another(claimed: str, recomputed: str) -> str:
    return (
        f"this plan was made from snapshot {claimed[:8]}, INPUT is {recomputed[:8]}, not what it was made from: "
        "whether it still holds, or is done, tells `rebalance-advisor check PLAN INPUT`"
    )


UNREADABLE: Final = object()


def read_json(content: bytes, location: str, faults: FaultList) -> Any:
    """Return the value, or ``UNREADABLE`` with a fault. Never raises."""
    try:
        text = content.decode("utf-8")
        return json.loads(
            text, object_pairs_hook=lambda pairs: _object(pairs, location, faults), parse_constant=_refuse_constant
        )
    except UnicodeDecodeError as error:
        faults.add("json", location, f"byte {error.start} is no UTF-8")
    except RecursionError:
        faults.add("json", location, "is nested too deeply")
    except ValueError as error:
        faults.add("json", location, f"cannot be read ({str(error)[:100]})")
    return UNREADABLE


def _object(pairs: list[tuple[str, Any]], location: str, faults: FaultList) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        keys: set[str] = set()
        for key, _ in pairs:
            if key in keys:
                faults.add("key_twice", location, f"the key {key[:60]!r} stands twice in an object")
            keys.add(key)
    return result


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON")


_TIME = re.compile(r"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)(Z|[+-]\d\d:?\d\d)?", re.ASCII)


def check_expiry(document: dict[str, Any], faults: FaultList) -> None:
    """Check ``expires_at`` = ``captured_at`` + ``expires_after_hours``; both null, or none."""
    captured, expires = document["captured_at"], document["expires_at"]
    if captured is None or expires is None:
        if captured is not expires:
            faults.add("expiry", "plan.expires_at", f"{expires!r}, captured at {captured!r}")
        return
    begin, end = _instant(captured), _instant(expires)
    hours = document["parameters"]["expires_after_hours"]
    try:
        expected = None if begin is None else (begin[0] + timedelta(hours=hours), *begin[1:])
    except OverflowError:
        expected = None
    if expected is None or end != expected:
        faults.add("expiry", "plan.expires_at", f"says {expires!r}, {captured!r} and {hours} hours were asked")


def _instant(text: str) -> tuple[datetime, int, str] | None:
    match = _TIME.fullmatch(text)
    if match is None:
        return None
    whole, _, fraction = match[1].replace(" ", "T").partition(".")
    try:
        moment = datetime.fromisoformat(whole).replace(tzinfo=UTC)
    except ValueError:
        return None
    return moment, int(fraction.ljust(9, "0")), match[2] or ""


def reason_args(document: dict[str, Any], code: str) -> dict[str, Any] | None:
    """Return the arguments of the first reason with this code."""
    return next((reason["args"] for reason in document["reasons"] if reason["code"] == code), None)


def stops_at_step(document: dict[str, Any]) -> dict[str, Any] | None:
    return reason_args(document, "stops_at_step")
