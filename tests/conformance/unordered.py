"""When an answer of a client that is not Java is the recorded one: as sets, and of a varying one what is stable.

Such a client's lists come out of maps without an order. Some of its strategies even follow the order of such maps, and
answer otherwise from run to run: ``{"varies": true, "seen": [answers]}``. Of those the sizes, the number of partitions
that stay where they were and the partitions given out are compared, each where all recorded runs agree on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Pairs = dict[str, list[tuple[str, int]]]  # of each member that has any, sorted
ASSIGNMENTS = ("assignment", "target")


def is_same_answer(output: Mapping[str, Any], recorded: Mapping[str, Any], asked: Mapping[str, Any]) -> bool:
    """``asked``: the input, which says who owned what."""
    if "seen" in recorded:
        return "assignment" in output and _is_as_stable(
            output, [_pairs(seen.get("assignment", seen)) for seen in recorded["seen"]], asked
        )
    if output.keys() - {"varies"} != recorded.keys():
        return False
    return all(
        _pairs(output[field]) == _pairs(value) if field in ASSIGNMENTS else output[field] == value
        for field, value in recorded.items()
    )


def _is_as_stable(output: Mapping[str, Any], seen: list[Pairs], asked: Mapping[str, Any]) -> bool:
    """An answer that claims never to vary has to be one that was seen."""
    result = _pairs(output["assignment"])
    if not output.get("varies"):
        return result in seen
    expected = [_facts(answer, asked) for answer in seen]
    stable = {name: value for name, value in expected[0].items() if all(facts[name] == value for facts in expected)}
    facts = _facts(result, asked)
    reads = {member["id"]: set(member["topics"]) for member in asked["members"]}
    is_lawful = all({topic for topic, _ in pairs} <= reads.get(member, set()) for member, pairs in result.items())
    return is_lawful and all(facts[name] == value for name, value in stable.items())


def _facts(answer: Pairs, asked: Mapping[str, Any]) -> dict[str, Any]:
    owned = {member["id"]: _owned(member) for member in asked["members"]}
    return {
        "sizes": sorted(map(len, answer.values())),
        "kept": sum(pair in owned.get(member, ()) for member, pairs in answer.items() for pair in pairs),
        "given out": sorted(pair for pairs in answer.values() for pair in pairs),
    }


def _owned(member: Mapping[str, Any]) -> set[tuple[str, int]]:
    """In the Subscription's own field, or in the user data that the sticky strategy decodes."""
    runs = member.get("owned") or (member.get("memberData") or {}).get("owned") or ()
    return {(topic, partition) for topic, partitions in runs for partition in partitions}


def _pairs(assignment: Mapping[str, Any]) -> Pairs:
    lists = {
        member: sorted((topic, partition) for topic, partitions in runs for partition in partitions)
        for member, runs in assignment.items()
    }
    return {member: pairs for member, pairs in lists.items() if pairs}
