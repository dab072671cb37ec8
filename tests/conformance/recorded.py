"""Recorded cases of the real strategies, and when an answer is the recorded one."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.conformance.unordered import is_same_answer

SELECTION = Path(__file__).parent / "vectors"


def families() -> list[str]:
    """Names of the recorded files that the repository keeps a selection of."""
    return sorted(path.name.removesuffix(".jsonl.gz") for path in SELECTION.glob("*.jsonl.gz"))


def cases(family: str, folder: Path = SELECTION) -> Iterator[dict[str, Any]]:
    """The cases of one file, in its order."""
    with gzip.open(folder / f"{family}.jsonl.gz", "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def is_recorded_answer(
    output: dict[str, Any], recorded: dict[str, Any], strategy: str, asked: dict[str, Any] | None = None
) -> bool:
    """Exactly the recorded fields and values; the message of a refusal is free. ``asked``: the case's input.

    In answers for share groups an empty partition list equals an absent one; lists of clients other than Java are sets.
    """
    if "error" in recorded:
        return output.get("error") == recorded["error"] and set(output) <= {"error", "message"}
    if strategy == "share_simple":
        return _without_empty_lists(output) == _without_empty_lists(recorded)
    if asked is not None and asked.get("client", "java") != "java":
        return is_same_answer(output, recorded, asked)
    return output == recorded


def _without_empty_lists(output: dict[str, Any]) -> dict[str, Any]:
    assignment = {
        member: {topic: partitions for topic, partitions in lists.items() if partitions}
        for member, lists in output.get("assignment", {}).items()
    }
    return {**output, "assignment": assignment}
