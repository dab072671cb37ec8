from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kafka_assignors.visible_text import excerpt
from kafka_rebalance.errors import UsageError
from kafka_rebalance.options.values import nearest

GOAL, MORE = "goal", "more"
FORM_OPTIONS = (
    "remove_broker", "add_broker", "balance_within", "exclude_topic", "max_move_bytes", "max_hours", "throttle",
    "snapshot",
)  # fmt: skip


@dataclass(frozen=True)
class Goal:
    """``needs``: options required of the user; ``sets``: the goal's; ``unless_given``: its defaults."""

    title: str
    needs: str | None = None
    sets: Mapping[str, Any] = field(default_factory=dict)
    unless_given: Mapping[str, Any] = field(default_factory=dict)


RECOMMENDED = "recommended"
GOALS = {
    RECOMMENDED: Goal("What is recommended"),
    "relieve": Goal("Relieve full disks", sets={"at": "relieve"}),
    "even_out": Goal("Even out", unless_given={"balance_within": "10%"}),
    "drain_broker": Goal("Drain brokers", needs="remove_broker"),
    "add_broker": Goal("Add brokers", needs="add_broker"),
    "leaders_only": Goal("Leaders only, nothing is copied", sets={"leaders_only": True}),
}
_NEEDED = {goal.needs for goal in GOALS.values() if goal.needs}


def options_of_form(params: Mapping[str, Any], table: Mapping[str, Any]) -> dict[str, Any]:
    """``table``: the cluster's options, which null removes. Raises UsageError."""
    given = dict(params)
    name, more = given.pop(GOAL, None) or RECOMMENDED, given.pop(MORE, None) or {}
    if not isinstance(name, str) or name not in GOALS:
        raise UsageError.at(GOAL, f"{excerpt(name)} is no goal", nearest(name, list(GOALS)))
    if not isinstance(more, Mapping):
        raise UsageError.at(MORE, f"{excerpt(more)} is no object of options and their values")
    goal = GOALS[name]
    for option in more:
        if option in FORM_OPTIONS or given.get(option) is not None:
            raise UsageError.at(f"{MORE}.{excerpt(option)}", "has a field of its own", "fill in that field instead")
    chosen = {option: value for option, value in {**given, **more}.items() if value not in (None, [], {})}
    for option in goal.sets:
        if option in chosen:
            raise UsageError.at(GOAL, f"{name} gives {option} itself", f"leave {option} out, or the goal")
    if goal.needs and goal.needs not in chosen:
        raise UsageError.at(GOAL, f"{name} needs {goal.needs}", "name the brokers in that field")
    if name != RECOMMENDED:
        for option in sorted((_NEEDED - {goal.needs}) & chosen.keys()):
            raise UsageError.at(GOAL, f"{name} takes no {option}", f"leave {option} out, or the goal")
    options = {**table, **given, **more, **goal.sets}
    return options | {option: value for option, value in goal.unless_given.items() if options.get(option) is None}
