"""After a failure, on the page: the brokers and racks whose loss hits leaders hardest, as replicas lie today."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Document = Mapping[str, Any]
SHOWN_OF_EACH = 8


def failure_section(advisory: Document) -> list[dict[str, str]]:
    """The worst brokers, then the worst racks; nothing where nobody knows who is in sync."""
    scores: Sequence[Document] = advisory.get("after_failure", ())
    rows = []
    for lost_type in ("broker", "rack"):
        worst = [score for score in scores if score["lost_type"] == lost_type and score["leaders"]]
        rows += [_row(score) for score in worst[:SHOWN_OF_EACH]]
    return rows


def _row(score: Document) -> dict[str, str]:
    taken = "nobody" if score["taken_by"] is None else f"broker {score['taken_by']}: {score['most_taken']:,}"
    return {
        "lost": f"{score['lost_type']} {score['lost']}",
        "leaders": f"{score['leaders']:,}",
        "leaderless": f"{score['leaderless']:,}",
        "taken": taken,
        "even": f"{score['even_taken']:,}",
    }
