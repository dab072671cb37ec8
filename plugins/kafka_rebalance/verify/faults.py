"""Faults of a plan: one code for each kind, with the broken rule."""

from __future__ import annotations

from dataclasses import dataclass, field

from kafka_assignors.errors import UnknownNameError

RULES = {
    # document
    "shape": "plan.json has exactly the fields of its format_version, each of its kind",
    "hash": "plan_id is the sha256 of everything else",
    "identity": "the plan is of this cluster and this snapshot, captured when it says",
    "parameter": "each parameter is of its kind and in its range, and none contradicts another",
    "expiry": "expires_at is captured_at and expires_after_hours",
    "order": "moves, members of waves and resources stand in the order of the snapshot",
    "verdict": "the verdict agrees with what is planned, and with what the brokers carry",
    # rules of Kafka and options
    "partition_unknown": "a moved partition is in the snapshot",
    "partition_twice": "a partition moves once",
    "from_differs": "`from` is today's replica list and leader_from today's leader",
    "broker_unknown": "only brokers of the snapshot, or added on purpose, are used",
    "broker_twice": "the replicas of a partition are on distinct brokers",
    "broker_gone": "nothing is placed on a dead, fenced or removed broker",
    "broker_closed": "nothing new is placed on an excluded or cordoned broker, or on an unresponsive one",
    "broker_left": "nothing that could leave stays on a dead, fenced or removed broker",
    "leader_forbidden": "nobody leads who is demoted, excluded, gone, or no replica",
    "leader_not_first": "leader_to is the first of `to`: the preferred leader",
    "replication_factor": "the replication factor is as asked, else as it was",
    "rack": "replicas are spread over racks as evenly as racks allow, or no worse than before",
    "capacity": "no broker is lifted above its capacity",
    "topic_excluded": "excluded topics, and all but the included ones, are left alone",
    "in_flight": "a partition that is being reassigned is left alone",
    "unmovable": "a partition without a leader cannot be copied",
    "out_of_sync": "a replica that is out of sync does not lead, and stays in no list whose replicas change",
    "scope": "leaders only, or a preferred election only, moves no replicas",
    "budget": "the plan costs no more than was allowed",
    "follower_order": "lists that stay get another order only as asked, and so that lost leaders spread more evenly",
    "move_idle": "each move changes something, and its kind says what",
    # between log dirs
    "log_dir_way": "a replica leaves the dir that it is in for another one of its broker, and may move",
    "log_dir_closed": "nothing goes to a dir that is cordoned or to be emptied",
    "log_dir_left": "a dir that is to be emptied holds nothing afterwards",
    "log_dir_levels": "levels of each disk before and after, and the requested limits, are right",
    "log_dir_full": "no disk is filled beyond the most that it may be used",
    "log_dir_room": "in each wave both copies fit on every disk",
    # numbers
    "move_bytes": "bytes of a move = new replicas × the leader's replica size; null where unknown",
    "cost": "the costs are the sums over the moves",
    "trace": "the last step of the trace costs what the plan costs",
    "resource": "every known resource is balanced, every unknown one is left out with the reason",
    "before": "`before` is what the brokers carry in the snapshot",
    "after": "`after` is what they carry once all moves are done",
    "mean": "mean_level is the plain mean",
    "skew": "skew = highest level / plain mean",
    "band": "after the plan every broker is inside its allowed range, or was widened",
    "topic_excess": "replicas of a topic above its even share are counted rightly",
    "robustness": "the trials and those in which the verdict holds are counts that can be",
    "after_failure": "the worst loss of a broker and of a rack, before and after, is right",
    "preferred_leaders": "the plan counts rightly who leads after a preferred election, without it and with it",
    "survive": "nobody is above its capacity after any loss of the kind that is to be survived",
    "min_topic_leaders": "every broker that may lead leads as many partitions of each topic as were asked for",
    "within_budget": "what a budget leaves outside, and what no plan within it comes below, can be recomputed",
    "precondition": "the preconditions name the brokers and the disk space that the moves need",
    "explanation": "each move says what it repairs and what gets worse without it",
    # lower bounds
    "bound_missing": "each cost has its bound",
    "bound_above_cost": "no bound is above the cost",
    "bound_not_proved": "a bound can be recomputed from snapshot and prices",
    "bound_weak": "a bound is at least what simple counting proves",
    "certificate": "prices are of balanced resources and brokers of the cluster, and only where something moves",
    "gap": "gap = (cost - bound) / bound",
    "frontier": "the frontier's points are in order, named once, none below its bound",
    # waves
    "wave_members": "each move is in exactly one wave, the one that it names",
    "wave_bytes": "bytes of a wave are the sum of its moves'",
    "wave_seconds": "a wave lasts as long as its busiest broker's bytes in or out over the throttle",
    "wave_throttle": "the throttle is the one asked for, raised only where what is written needs it",
    "wave_limit": "no broker sends or receives more moves at a time than allowed, nor changes more leaders in a wave",
    "wave_night": "each wave fits into a night, and the plan says how many it takes and what is left after the first",
    "wave_leaders": "a wave says how many leaders change, and what is written to and read from their partitions",
    "wave_disk": "free disk suffices while both copies exist, and free_disk_needed says how much",
    "wave_order": "in each step under-replicated partitions go first",
    "step_bound": "the bound of a step can be recomputed from snapshot and prices",
    "step": "steps are in order, each is what its kind says, and none breaks a rule if it is the last one done",
    "slot_filling": "a driver that keeps slots full is not slower than waves, nor faster than its busiest broker",
    # rollback
    "rollback_order": "rollback undoes the waves in reverse order, each move once",
    "rollback_cost": "the rollback's own cost is what copying back takes",
    "rollback_undone": "only moves away from brokers that are gone cannot be undone",
    # files
    "file": "the files beside the plan are all there and say what the plan says",
    "commands": "commands.md holds the commands of the plan, in order, and no other",
    "table": "moves.csv has one row for each move, and says what the move says",
    "json": "every file is JSON in UTF-8 with finite numbers",
    "key_twice": "no key stands twice in an object",
}

# Notes: true, but weaker than possible.
NOTES = frozenset(("bound_weak",))

SHOWN_PER_CODE = 20
_LONGEST = 400


@dataclass(frozen=True, slots=True)
class Fault:
    code: str
    location: str
    message: str

    def __str__(self) -> str:
        return f"{self.code}: {self.location}: {self.message}"


@dataclass(slots=True)
class FaultList:
    """Collects faults: keeps the first ``SHOWN_PER_CODE`` of each code, counts all."""

    faults: list[Fault] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)

    def add(self, code: str, location: str, message: str) -> None:
        """Raises UnknownNameError for a code without a rule."""
        if code not in RULES:
            raise UnknownNameError.among("fault code", code, RULES)
        self.counts[code] = self.counts.get(code, 0) + 1
        if self.counts[code] <= SHOWN_PER_CODE:
            self.faults.append(Fault(code, _printable(location), _printable(message)))

    def has_any(self, *codes: str) -> bool:
        return any(code in self.counts for code in codes) if codes else bool(self.counts)

    def require_equal(self, code: str, location: str, claimed: object, recomputed: object) -> None:
        if claimed != recomputed or isinstance(claimed, bool) is not isinstance(recomputed, bool):
            self.add(code, location, f"says {claimed!r}, recomputed {recomputed!r}")

    def require_close(
        self, code: str, location: str, claimed: float | None, recomputed: float | None, scale: float = 0.0
    ) -> None:
        """Add a fault where numbers differ by more than 1e-9 of the greater one (or of ``scale``)."""
        if claimed is None or recomputed is None:
            self.require_equal(code, location, claimed, recomputed)
        elif abs(claimed - recomputed) > 1e-9 * max(abs(claimed), abs(recomputed), scale):
            self.add(code, location, f"says {claimed!r}, recomputed {recomputed!r}")


def _printable(text: str) -> str:
    """Escape characters of a document that could control a terminal."""
    shortened = text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."
    return (
        shortened if shortened.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in shortened)
    )
