"""A forgery: a function that changes one value of a plan or of the files beside it.

A changed document is sealed again, unless its hash is the change: a forger recomputes the hash. It is judged without
files, so that no file reveals it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

Document = dict[str, Any]
Files = dict[str, bytes]


class InapplicableError(Exception):
    """This plan has nothing of the kind that is to be spoiled."""


@dataclass(frozen=True)
class Forgery:
    """``rules``: one of them has to be named. ``harmless``: why it need not be caught; "" where it must.

    ``spoil`` changes a document, or the files by name.
    """

    name: str
    subject: str
    rules: tuple[str, ...]
    spoil: Callable[[Any], None]
    is_sealed: bool = True
    of_files: bool = False
    harmless: str = ""


CATALOGUE: dict[str, Forgery] = {}


def forges(
    *rules: str, is_sealed: bool = True, of_files: bool = False, harmless: str = ""
) -> Callable[[Callable[[Any], None]], Callable[[Any], None]]:
    """Enter a function into the catalogue under its name."""

    def enter(spoil: Callable[[Any], None]) -> Callable[[Any], None]:
        name, subject = spoil.__name__, spoil.__module__.rpartition(".")[2]
        assert name not in CATALOGUE, name
        CATALOGUE[name] = Forgery(name, subject, rules, spoil, is_sealed, of_files, harmless)
        return spoil

    return enter


def first(items: Iterable[Any], fits: Callable[[Any], Any] = lambda _: True) -> Any:
    """The first that fits."""
    for item in items:
        if fits(item):
            return item
    raise InapplicableError


def require(condition: object) -> None:
    """Only plans of which this is true can be spoiled so."""
    if not condition:
        raise InapplicableError


def any_move(document: Document) -> Document:
    """The first move."""
    return first(document["moves"])


def copying(document: Document) -> Document:
    """The first move that brings a replica to a broker."""
    return first(document["moves"], lambda move: set(move["to"]) - set(move["from"]))


def sized(document: Document) -> Document:
    """The first move that copies bytes."""
    return first(document["moves"], lambda move: move["bytes"])


def leading(document: Document) -> Document:
    """The first move that changes the leader alone."""
    return first(document["moves"], lambda move: move["kind"] == "leader")


def brokers_of(document: Document) -> list[int]:
    """Every broker of the cluster."""
    return sorted(map(int, first(document["before"].values())))


def outcome(document: Document, name: str) -> Document:
    """Outcome of one resource."""
    return first(document["resources"], lambda resource: resource["resource"] == name)


def bound(document: Document, cost: str) -> Document:
    """The bound of one cost."""
    return first(document["lower_bound"], lambda reported: reported["cost"] == cost)


def within_slack(document: Document, gap: float | None) -> bool | None:
    """Slack of a bound: given with options about costs, default 5 %."""
    first_cost, given = document["parameters"]["prefer"], document["parameters"]["slack"]
    if first_cost == "bytes" and given is None:
        return None
    return gap is not None and gap <= (0.05 if given is None else given)


def regap(document: Document, cost: str) -> None:
    """Recompute the gap of the changed bound; the frontier's point follows."""
    it, amount = bound(document, cost), document["cost"][cost]
    it["gap"] = (None if amount > 0 else 0.0) if it["value"] <= 0 else (amount - it["value"]) / it["value"]
    it["is_within_slack"] = within_slack(document, it["gap"])
    for point in document["frontier"]:
        if point["is_recommended"] and cost == "bytes":
            point["lower_bound_bytes"] = it["value"]


def copying_wave(document: Document) -> Document:
    """The first wave that copies bytes."""
    return first(document["waves"], lambda wave: wave["bytes"])


def back_wave(document: Document) -> Document:
    """The first wave of the rollback that copies bytes."""
    require(document["rollback"])
    return first(document["rollback"]["waves"], lambda wave: wave["bytes"])


def drop_move(document: Document, number: int) -> None:
    """Take a move out of the plan, and renumber the waves."""
    del document["moves"][number]
    for wave in (*document["waves"], *document["rollback"]["waves"]):
        wave["moves"] = [m - (m > number) for m in wave["moves"] if m != number]
    document["rollback"]["not_undone"] = [m - (m > number) for m in document["rollback"]["not_undone"] if m != number]
