"""Every sentence in every state: no ``None``, no "unknown the", counts that agree with their nouns.

Each function of ``MESSAGES`` gets a sample of each argument, then ``None`` for each optional one, and each count as
0, 1, 2 and 1,500.
"""

from __future__ import annotations

import inspect
import re
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from kafka_rebalance.facts import FactCode
from kafka_rebalance.render import MESSAGES
from tests.unit.render.plain_sentences import require_plain

_BROKEN = re.compile(r"unknown the|in unknown|in never|reached at|\{|\}|< *object")
_COUNTS = (0, 1, 2, 1_500)
_SCALARS: Mapping[Any, Any] = {int: 2, float: 0.5, str: "w", bool: True, object: "o"}
_BY_NAME = {"resource": "disk", "state": "dead", "verdict": "nothing_to_do"}
# Arguments that are codes: one that exists.
SAMPLES: dict[FactCode, dict[str, Any]] = {
    FactCode.BROKERS_OUTSIDE_BAND: {"side": "above", "when": "today", "proof": "none"},
    FactCode.PART_NOT_VERIFIED: {"part": "frontier"},
    FactCode.POINT_CHEAP: {"unit": "bytes"},
    FactCode.RIGHT_MISSING: {"right": "Describe on Cluster"},
    FactCode.PARTITIONS_LEFT_ALONE: {"why": "leaderless"},
    FactCode.BROKER_ABOVE_CAP: {"proof": "none"},
    FactCode.LOSS_NOT_SURVIVED: {"kind": "broker", "proof": "none"},
    FactCode.LEADERS_PILED_UP: {"way": "wait"},
    FactCode.PREFERRED_LEADERS_OFF: {"way": "wait"},
    FactCode.NO_CHOICE: {"kind": "share"},
    FactCode.CONNECT_WORKERS_UNKNOWN: {"missing": ("leader",)},
    FactCode.KEEP_STRATEGY: {"why": "even"},
    FactCode.ROLLOVER_STEP: {"action": "require", "why": "brokers_too_old"},
    FactCode.READ_TWICE: {"case": "commits_unknown"},
    FactCode.CANNOT_CHANGE: {"why": "strategy_unknown"},
    FactCode.CANNOT_CHANGE_KIND: {"kind": "share"},
    FactCode.RELEASES_OF_CLIENT: {"sign": "rule"},
    FactCode.STREAMS_NOT_REPLAYED: {"inputs": ("release",)},
    FactCode.STREAMS_AT_REST: {"standby_replicas": (0, 1), "tags": ("zone",), "unknown": ("instance_joins",)},
    FactCode.STREAMS_PARTS_UNKNOWN: {"inputs": ("release",)},
}
# Their words take any arguments: tests of their own walk their states.
ANY_ARGUMENTS = frozenset(
    {
        FactCode.BUDGET_ALLOWS_NOTHING,
        FactCode.BUDGET_CUTS_SHORT,
        FactCode.NOT_JUDGED,
        FactCode.CANNOT_CHANGE_NOW,
        FactCode.SPLIT_NOT_SURE,
    }
)
# Unknown together, or not at all.
TOGETHER: dict[FactCode, Mapping[str, Any]] = {
    FactCode.LOSSES_SURVIVED: {"highest_times_capacity": None, "resource": None},
    FactCode.MAY_BE_OUTSIDE_BAND: {"hidden_topics": 0, "first_hidden": None},
    FactCode.NO_ROOM_FOR_REPLICA: {"topic": None, "replica": None},
    FactCode.MIXED_REPLICATION_FACTOR: {"topic": None, "replication_factor": None},
    FactCode.IDLE_CAUSE: {"cause": "fewer_partitions", "better": None, "better_idle_members": None, "setting": None},
    FactCode.BROKER_CHANGES: {"resource": None, "times_share": None, "times_share_after": None},
    FactCode.HOT_PARTITION: {"heaviest_key": None, "heaviest_key_share": None},
    FactCode.GROUP_HOT_PARTITION: {"heaviest_key": None, "heaviest_key_share": None},
    FactCode.MOVES_ARE_LEFT: {"gain": None, "imbalance": None},
}
# "2 to 1 members" is a range, "2 of 1 members" more than there are, and 0 partitions have no share.
NO_COUNTS = frozenset(
    {
        (FactCode.GROUP_CHANGES, "members"),
        (FactCode.GROUP_CHANGES, "partitions"),
        (FactCode.MORE_THAN_A_PAGE, "partitions"),
        (FactCode.ASSIGNOR_UNEVEN, "members"),
        (FactCode.SERVER_ASSIGNOR_UNEVEN, "members"),
        (FactCode.PREFERRED_LEADERS_OFF, "partitions"),
    }
)


def sample_of(kind: Any) -> Any:
    """Return a value of an annotation."""
    if kind in _SCALARS:
        return _SCALARS[kind]
    origin, parts = typing.get_origin(kind), [part for part in typing.get_args(kind) if part is not type(None)]
    if origin in (typing.Union, types.UnionType):
        return sample_of(parts[0])
    if origin is tuple:
        return tuple(sample_of(part) for part in parts if part is not Ellipsis)
    return {sample_of(parts[0]): sample_of(parts[1])} if len(parts) == 2 else (sample_of(parts[0]),)


def states_of(code: FactCode, message: Callable[..., str]) -> Iterator[dict[str, Any]]:
    """Yield arguments: samples, then each unknown, then each count."""
    hints = typing.get_type_hints(message)
    names = list(inspect.signature(message).parameters)
    args = {name: _BY_NAME.get(name) or sample_of(hints.get(name, str)) for name in names} | SAMPLES.get(code, {})
    yield args
    together = TOGETHER.get(code, {})
    if together:
        yield args | together
    for name in names:
        kind = hints.get(name)
        is_union = typing.get_origin(kind) in (typing.Union, types.UnionType)
        parts = {*typing.get_args(kind)} if is_union else {kind}
        if type(None) in parts and name not in together:
            yield args | {name: None}
        if int in parts and (code, name) not in NO_COUNTS:
            yield from (args | {name: count} for count in _COUNTS)


@pytest.mark.parametrize("code", [code for code in MESSAGES if code not in ANY_ARGUMENTS])
def test_a_sentence_is_whole_in_every_state(code: FactCode) -> None:
    for args in states_of(code, MESSAGES[code]):
        text = MESSAGES[code](**args)
        assert not _BROKEN.search(text), (text, args)
        require_plain(text, args)


def test_only_words_of_any_arguments_are_left_out() -> None:
    any_arguments = {
        code
        for code, message in MESSAGES.items()
        if any(parameter.kind is parameter.VAR_KEYWORD for parameter in inspect.signature(message).parameters.values())
    }
    assert any_arguments == ANY_ARGUMENTS
