"""JSON as a verifier has to read it: a key twice, a number that is none, or nesting without end is a fault.

Two readers may each see another value under a key that stands twice: one shows it to a person, the other runs it.
"""

from __future__ import annotations

import json
from typing import Any, Final

from kafka_rebalance.verify.faults import FaultList

UNREADABLE: Final = object()


def read_json(content: bytes, place: str, faults: FaultList) -> Any:
    """The value, or ``UNREADABLE`` where there is none (then a fault names the reason). Never raises."""
    try:
        text = content.decode("utf-8")
        return json.loads(
            text, object_pairs_hook=lambda pairs: _object(pairs, place, faults), parse_constant=_refuse_constant
        )
    except UnicodeDecodeError as error:
        faults.add("json", place, f"byte {error.start} is no UTF-8")
    except RecursionError:
        faults.add("json", place, "is nested too deeply")
    except ValueError as error:
        faults.add("json", place, f"cannot be read ({str(error)[:100]})")
    return UNREADABLE


def _object(pairs: list[tuple[str, Any]], place: str, faults: FaultList) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                faults.add("key_twice", place, f"the key {key[:60]!r} stands twice in an object")
            seen.add(key)
    return result


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON")
