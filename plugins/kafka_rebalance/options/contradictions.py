"""Options that contradict each other: every pair is kept as it stands, or refused with both named.

A limit that a plan keeps by doing less is no contradiction: ``--leaders-only --max-moves 5`` moves no replica at all.
Nor are two ways to say the same: ``--preferred-election --leaders-only``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kafka_rebalance.errors import UsageError
from kafka_rebalance.resources import LEADER_CARRIED, in_a_sentence

if TYPE_CHECKING:
    from kafka_rebalance.options.plan_options import PlanOptions


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two options and why no plan keeps both; ``detail`` names the value that clashes, None where none does."""

    first: str
    second: str
    why: str
    detail: Callable[[PlanOptions], str | None] = lambda _: ""

    def words(self, options: PlanOptions, field_of: Mapping[str, str]) -> str | None:
        """What is wrong with the options, None where they do not clash."""
        if not all(is_given(options, field_of[flag]) for flag in (self.first, self.second)):
            return None
        detail = self.detail(options)
        return None if detail is None else f"{self.first} and {self.second} contradict each other{detail}: {self.why}"


def _copied_resource(options: PlanOptions) -> str | None:
    return _first_copied(options.targets)


def _copied_cap(options: PlanOptions) -> str | None:
    return _first_copied(options.caps)


def _copied_headroom(options: PlanOptions) -> str | None:
    return _first_copied(options.headroom)


def _copied_also(options: PlanOptions) -> str | None:
    return _first_copied(options.also_balance)


def _first_copied(resources: Iterable[str]) -> str | None:
    name = next((name for name in sorted(resources) if name not in LEADER_CARRIED), None)
    return None if name is None else f" ({name})"


def _removed_and_added(options: PlanOptions) -> str | None:
    return _broker(options.remove_brokers & options.add_brokers.keys())


def _on_removed_rack(options: PlanOptions) -> str | None:
    broker = min((b for b, rack in options.add_brokers.items() if rack in options.remove_racks), default=None)
    return None if broker is None else f" (broker {broker} on {options.add_brokers[broker]})"


def _excluded_and_added(options: PlanOptions) -> str | None:
    return _broker(options.exclude_brokers & options.add_brokers.keys())


def _demoted_and_added(options: PlanOptions) -> str | None:
    return _broker(options.demote_brokers & options.add_brokers.keys())


def _included_and_excluded(options: PlanOptions) -> str | None:
    same = sorted(set(options.include_topics) & set(options.exclude_topics))
    return f" ({same[0]!r})" if same else None


def _broker(both: frozenset[int]) -> str | None:
    return f" (broker {min(both)})" if both else None


_NO_COPY = "what is wanted takes copies of replicas, and none may be moved"
_ELECTION = "an election only gives leadership back to the first replicas, and aims at nothing else"
_TWO_SEARCHES = "each is searched after the plan for balance, and neither search keeps what the other one reached"
_LED = f"leaders carry {in_a_sentence(LEADER_CARRIED, 'and')} alone"
CONTRADICTIONS = (
    Contradiction("--leaders-only", "--remove-broker", _NO_COPY),
    Contradiction("--leaders-only", "--remove-rack", _NO_COPY),
    Contradiction("--leaders-only", "--headroom", _LED, _copied_headroom),
    Contradiction("--leaders-only", "--add-broker", _NO_COPY),
    Contradiction("--leaders-only", "--replication-factor", _NO_COPY),
    Contradiction("--leaders-only", "--topic-brokers", _NO_COPY),
    Contradiction("--leaders-only", "--target", _LED, _copied_resource),
    Contradiction("--leaders-only", "--cap", _LED, _copied_cap),
    Contradiction("--leaders-only", "--also-balance", _LED, _copied_also),
    Contradiction("--preferred-election", "--remove-broker", _ELECTION),
    Contradiction("--preferred-election", "--remove-rack", _ELECTION),
    Contradiction("--preferred-election", "--headroom", _ELECTION),
    Contradiction("--preferred-election", "--add-broker", _ELECTION),
    Contradiction("--preferred-election", "--demote-broker", _ELECTION),
    Contradiction("--preferred-election", "--replication-factor", _ELECTION),
    Contradiction("--preferred-election", "--topic-brokers", _ELECTION),
    Contradiction("--preferred-election", "--balance-within", _ELECTION),
    Contradiction("--preferred-election", "--target", _ELECTION),
    Contradiction("--preferred-election", "--cap", _ELECTION),
    Contradiction("--preferred-election", "--max-reorders", _ELECTION),
    Contradiction("--preferred-election", "--survive", _ELECTION),
    Contradiction("--preferred-election", "--also-balance", _ELECTION),
    Contradiction("--preferred-election", "--min-topic-leaders", _ELECTION),
    Contradiction("--survive", "--min-topic-leaders", _TWO_SEARCHES),
    Contradiction("--remove-broker", "--add-broker", "a broker comes or goes", _removed_and_added),
    Contradiction("--remove-rack", "--add-broker", "a rack is filled or emptied", _on_removed_rack),
    Contradiction("--exclude-broker", "--add-broker", "a new broker is there to receive", _excluded_and_added),
    Contradiction("--demote-broker", "--add-broker", "demote a new broker once it has joined", _demoted_and_added),
    Contradiction("--include-topic", "--exclude-topic", "touch these topics or leave them", _included_and_excluded),
)  # fmt: skip


def is_given(options: PlanOptions, field: str) -> bool:
    """The field does not hold its default."""
    return bool(
        getattr(options, field) != getattr(type(options), field, {})
    )  # only mappings have no default in the class


def require_no_contradiction(options: PlanOptions, field_of: Mapping[str, str]) -> None:
    """Raises UsageError that names the first two options of which no plan keeps both; ``field_of`` each flag."""
    for pair in CONTRADICTIONS:
        words = pair.words(options, field_of)
        if words is not None:
            raise UsageError(words)
