"""Fold each symptom into its cause: one cause, one finding.

A cause explains a symptom if scoring without the cause no longer reports it (``WithoutCause``). A symptom has one
cause, the first in the order of ``EXPLANATIONS``. A cause of a cause takes all its symptoms, and is as severe as the
worst. Codes explain codes without a circle.

Example: brokers 7 and 11 restarted (``preferred_leaders_off``), so broker 3 leads half as much again as its share
(``leaders_piled_up``) and sends more than its share (``broker_rate_over_share``): one finding with two symptoms.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from kafka_assignors.coordinator.membership import group_partitions
from kafka_assignors.string_column import StringColumn
from kafka_rebalance.findings.broker_rules import election
from kafka_rebalance.findings.context import FindingContext, threshold
from kafka_rebalance.findings.finding import Finding, rank
from kafka_rebalance.findings.group_rules import dead_members
from kafka_rebalance.findings.placement_rules import median_of_siblings
from kafka_rebalance.groups.group_replay import LEAST_GAIN
from kafka_rebalance.resources import BALANCED
from kafka_rebalance.scoring.scores import ClusterScores
from kafka_rebalance.scoring.snapshot_scores import score_cluster
from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.snapshot.partition_table import PartitionLoads

_MOST_COOLED = 20
_OFFSETS_TOPIC = "__consumer_offsets"


@dataclass(eq=False)  # no slots: cached_property needs __dict__
class WithoutCause:
    """What-if scores, each computed once on demand."""

    context: FindingContext
    findings: Sequence[Finding] = ()
    _cooled: dict[str, ClusterScores] = field(default_factory=dict)

    @cached_property
    def elected(self) -> ClusterScores:
        return score_cluster(self._led_as_preferred(self.context.snapshot))

    @cached_property
    def calm(self) -> ClusterScores:
        snapshot = self._led_as_preferred(self.context.snapshot)
        for finding in self.findings:
            if finding.code == "hot_partition":
                snapshot = _with_median(snapshot, finding.subject)
        return score_cluster(snapshot)

    @cached_property
    def coordinated_once_elected(self) -> Counter[int]:
        """Groups of each coordinator: a group follows the leader of its partition of the offsets topic."""
        snapshot = self.context.snapshot
        numbers = [number for number, topic in enumerate(snapshot.topics) if topic.name == _OFFSETS_TOPIC]
        if not numbers:
            return Counter()
        begin, end = np.searchsorted(snapshot.partitions.topic, [numbers[0], numbers[0] + 1])
        leader = election(self.context).leader[begin:end]
        ids = [group.id for group in snapshot.groups if group.coordinator is not None]
        return Counter(leader[group_partitions(StringColumn.of(ids), len(leader))].tolist())

    def _led_as_preferred(self, snapshot: ClusterSnapshot) -> ClusterSnapshot:
        return replace(snapshot, partitions=replace(snapshot.partitions, leader=election(self.context).leader))

    def is_asked(self, partition: str, broker: int) -> bool:
        """Whether the broker holds the partition, and few enough were cooled: each costs a score of the cluster."""
        topic, _, number = partition.rpartition("-")
        row = self.context.snapshot.row_of[topic, int(number)]
        holds = broker in self.context.snapshot.partitions.replicas_of(row)
        return holds and (partition in self._cooled or len(self._cooled) < _MOST_COOLED)

    def cooled(self, partition: str) -> ClusterScores:
        if partition not in self._cooled:
            self._cooled[partition] = score_cluster(_with_median(self.context.snapshot, partition))
        return self._cooled[partition]


def over_share(scores: ClusterScores, broker: int, resource: str) -> float | None:
    for score in scores.of_resource(resource):
        if score.broker == broker and score.fair_share:
            return score.level / score.fair_share
    return None


def _with_median(snapshot: ClusterSnapshot, partition: str) -> ClusterSnapshot:
    topic, _, number = partition.rpartition("-")
    row = snapshot.row_of[topic, int(number)]
    columns = {}
    for kind, column in snapshot.loads.columns.items():
        values = column.values.copy()
        median = median_of_siblings(snapshot, kind, row)
        if median is not None:
            values[row] = min(float(values[row]), median)
        columns[kind] = replace(column, values=values)
    return replace(snapshot, loads=PartitionLoads(columns))


Question = Callable[[WithoutCause, Finding, Finding], bool]


@dataclass(frozen=True, slots=True)
class Explanation:
    """``explains(without_cause, cause, symptom)``."""

    cause: str
    symptom: str
    explains: Question


def same_subject(_without_cause: WithoutCause, cause: Finding, symptom: Finding) -> bool:
    return cause.subject == symptom.subject


def _if_elected(question: Question) -> Question:
    return lambda without_cause, cause, symptom: (
        bool(cause.evidence["elected_partitions"]) and question(without_cause, cause, symptom)
    )


def _leads_enough_itself(_without_cause: WithoutCause, _cause: Finding, symptom: Finding) -> bool:
    own, share = symptom.evidence["leaders_once_elected"], symptom.evidence["fair_share_leaders"]
    return float(own or 0) < threshold("leaders_piled_up", "over_share_ratio") * float(share or 0)


def _prefers_that_broker(without_cause: WithoutCause, cause: Finding, symptom: Finding) -> bool:
    """All preferred replicas are on lost or unresponsive brokers, some here."""
    whole = election(without_cause.context)
    rows = whole.elects | whole.waits
    if symptom.code == "leaders_piled_up":
        rows = rows & (without_cause.context.snapshot.partitions.leader == int(symptom.subject))
    preferred = whole.preferred[rows]
    unresponsive = [broker.id for broker in without_cause.context.snapshot.brokers if not broker.state.is_responsive]
    return bool(np.isin(preferred, unresponsive).all()) and int(cause.subject) in preferred.tolist()


def _too_many_by_placement(_without_cause: WithoutCause, cause: Finding, symptom: Finding) -> bool:
    """Without its excess by placement, the taken-over leaders would give no finding."""
    share, taken_over = float(symptom.evidence["fair_share_leaders"] or 0), symptom.evidence["taken_over_leaders"]
    least = threshold("leaders_piled_up", "over_share_ratio")
    return cause.subject == symptom.subject and share + float(taken_over or 0) < least * share


def _within_share_once_elected(without_cause: WithoutCause, _cause: Finding, symptom: Finding) -> bool:
    return _within_share(without_cause.elected, symptom)


def _within_share_here_once_elected(without_cause: WithoutCause, cause: Finding, symptom: Finding) -> bool:
    return cause.subject == symptom.subject and _within_share(without_cause.elected, symptom)


def _no_more_than_its_leaders(_without_cause: WithoutCause, cause: Finding, symptom: Finding) -> bool:
    """With its share of leaders of the same kind, it would not send too much."""
    over_share = [resource for resource in BALANCED if f"{resource}_over_share_ratio" in symptom.evidence]
    ratio = float(symptom.evidence["over_share_ratio"] or 0) / float(cause.evidence["over_share_ratio"] or 1)
    return (
        cause.subject == symptom.subject
        and over_share == ["out"]
        and ratio < threshold("broker_rate_over_share", "over_share_ratio")
    )


def _within_share_once_cooled(without_cause: WithoutCause, cause: Finding, symptom: Finding) -> bool:
    return without_cause.is_asked(cause.subject, int(symptom.subject)) and _within_share(
        without_cause.cooled(cause.subject), symptom
    )


def _takes_most_of_it(without_cause: WithoutCause, cause: Finding, symptom: Finding) -> bool:
    """Leaders and hot partitions together lift the broker over its share; this cause does most of it."""
    if not _within_share(without_cause.calm, symptom):
        return False
    broker, worst = int(symptom.subject), str(symptom.evidence["worst_resource"])
    left: dict[str, float] = {}
    for finding in without_cause.findings:
        if finding.code == "hot_partition" and without_cause.is_asked(finding.subject, broker):
            left[finding.finding_key] = over_share(without_cause.cooled(finding.subject), broker, worst) or 0.0
        elif finding.code == "preferred_leaders_off":
            left[finding.finding_key] = over_share(without_cause.elected, broker, worst) or 0.0
    return left.get(cause.finding_key) == min(left.values(), default=None)


def _coordinates_by_its_leaders(without_cause: WithoutCause, _cause: Finding, symptom: Finding) -> bool:
    """The groups came with taken-over leaders of the offsets topic."""
    once = without_cause.coordinated_once_elected
    least = threshold("coordinator_piled_up", "over_share_ratio")
    return bool(once) and once[int(symptom.subject)] < least * float(symptom.evidence["fair_share_groups"] or 0)


def _full_by_its_excess(_without_cause: WithoutCause, cause: Finding, symptom: Finding) -> bool:
    """With its share alone the broker's disks would not be nearly full."""
    used, total = float(cause.evidence["used_bytes"] or 0), float(cause.evidence["total_bytes"] or 0)
    held, share = float(symptom.evidence["disk_bytes"] or 0), float(symptom.evidence["fair_share_disk_bytes"] or 0)
    return (
        cause.subject == symptom.subject and used - (held - share) < threshold("broker_disk_full", "used_ratio") * total
    )


def _reads_that_partition(_without_cause: WithoutCause, cause: Finding, symptom: Finding) -> bool:
    return bool(cause.subject == symptom.evidence["partition"])


def _suffices_once_shared(_without_cause: WithoutCause, cause: Finding, symptom: Finding) -> bool:
    """Today's members would keep up with an even share; or some are idle only for this cause."""
    needed, has = symptom.evidence["members_needed"], symptom.evidence["members"]
    idle, idle_then = (cause.evidence.get(name) for name in ("idle_members", "advised_idle_members"))
    is_enough = needed is not None and int(needed) <= int(has or 0)
    return cause.subject == symptom.subject and (is_enough or int(idle or 0) > int(idle_then or 0))


def _is_written_too_fast(_without_cause: WithoutCause, cause: Finding, symptom: Finding) -> bool:
    return cause.subject == symptom.subject and cause.evidence["partition"] == symptom.evidence["hot_partition"]


def _reads_enough_elsewhere(_without_cause: WithoutCause, cause: Finding, symptom: Finding) -> bool:
    read, written = symptom.evidence["read_messages_per_s"], float(symptom.evidence["in_messages_per_s"] or 0)
    others = written - float(cause.evidence["in_messages_per_s"] or 0)
    least = threshold("lag_growing", "read_ratio")
    return cause.subject == symptom.subject and read is not None and float(read) >= least * others


def _holds_all_of_these(without_cause: WithoutCause, cause: Finding, symptom: Finding) -> bool:
    """Every partition of the symptom belongs to a dead member of the cause."""
    if cause.subject != symptom.subject:
        return False
    dead, _ = dead_members(without_cause.context, without_cause.context.group_inputs[cause.subject])
    return set(symptom.evidence["member_ids"]) <= {member.id for member in dead}


def _has_the_late_partition(_without_cause: WithoutCause, cause: Finding, symptom: Finding) -> bool:
    return cause.subject == symptom.subject and symptom.evidence["partition_names"] == (cause.evidence["partition"],)


def _has_all_partitions(_without_cause: WithoutCause, cause: Finding, symptom: Finding) -> bool:
    names = (set(finding.evidence["partition_names"]) for finding in (symptom, cause))
    return cause.subject == symptom.subject and next(names) <= next(names)


def _is_at_overloaded_members(_without_cause: WithoutCause, cause: Finding, symptom: Finding) -> bool:
    """Members that are behind have far more partitions than the mean."""
    evidence = symptom.evidence
    of_late = float(evidence["partitions_behind"] or 0) / float(evidence["members_behind"] or 1)
    mean = float(evidence["partitions"] or 0) / float(evidence["members"] or 1)
    is_at_members = evidence["concentrated_at"] == "members"
    return cause.subject == symptom.subject and is_at_members and of_late >= LEAST_GAIN * mean


def _lacks_replicas_there(without_cause: WithoutCause, cause: Finding, symptom: Finding) -> bool:
    """All missing replicas are on lost or unresponsive brokers, some here."""
    snapshot = without_cause.context.snapshot
    table = snapshot.partitions
    if table.in_sync is None:
        return False
    rows = _rows_of_topic(without_cause, symptom.subject)
    missing = table.replicas[~table.in_sync & rows[table.row_of_replica]]
    unresponsive = [broker.id for broker in snapshot.brokers if not broker.state.is_responsive]
    return len(missing) > 0 and bool(np.isin(missing, unresponsive).all()) and int(cause.subject) in missing.tolist()


def _is_all_that_runs(_without_cause: WithoutCause, cause: Finding, symptom: Finding) -> bool:
    running, others = symptom.evidence, cause.evidence
    return running["partitions"] == others["partitions"] and not running["replicas_between_log_dirs"]


def _is_all_that_it_holds(_without_cause: WithoutCause, _cause: Finding, symptom: Finding) -> bool:
    """After cancelling the reassignment, the broker has no replicas."""
    return bool(symptom.evidence["replicas"] == symptom.evidence["replicas_being_built"])


def _is_within_every_band(without_cause: WithoutCause, _cause: Finding, _symptom: Finding) -> bool:
    """No band was widened: without what cannot end, nothing would be to do."""
    plan = without_cause.context.plan
    return plan is not None and all(outcome.widened_to == (None, None) for outcome in plan.resources)


def _is_short_by_that_broker(without_cause: WithoutCause, cause: Finding, symptom: Finding) -> bool:
    """No partition lacks replicas; all out of sync are on unresponsive brokers, some here."""
    return not symptom.evidence["fewer_replicas_partitions"] and _lacks_replicas_there(without_cause, cause, symptom)


def _is_below_all_over(_without_cause: WithoutCause, cause: Finding, symptom: Finding) -> bool:
    evidence = symptom.evidence
    return (
        cause.subject == symptom.subject
        and evidence["below_min_isr_partitions"] == evidence["under_replicated_partitions"]
    )


def _led_from_there(without_cause: WithoutCause, cause: Finding, symptom: Finding) -> bool:
    """All leaderless partitions of the topic are wholly on unresponsive brokers, some here."""
    snapshot = without_cause.context.snapshot
    table = snapshot.partitions
    rows = _rows_of_topic(without_cause, symptom.subject) & (table.leader < 0)
    held = table.replicas[rows[table.row_of_replica]]
    unresponsive = [broker.id for broker in snapshot.brokers if not broker.state.is_responsive]
    return len(held) > 0 and bool(np.isin(held, unresponsive).all()) and int(cause.subject) in held.tolist()


def _rows_of_topic(without_cause: WithoutCause, subject: str) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    snapshot = without_cause.context.snapshot
    numbers = [number for number, topic in enumerate(snapshot.topics) if topic.name == subject]
    return np.isin(snapshot.partitions.topic, numbers) if numbers else np.ones(len(snapshot.partitions), dtype=np.bool_)


def _within_share(scores: ClusterScores, symptom: Finding) -> bool:
    least = threshold("broker_rate_over_share", "over_share_ratio")
    over = [resource for resource in BALANCED if f"{resource}_over_share_ratio" in symptom.evidence]
    return bool(over) and all((over_share(scores, int(symptom.subject), resource) or 0.0) < least for resource in over)


EXPLANATIONS: tuple[Explanation, ...] = (
    Explanation("reassignment_stuck", "reassignment_running", _is_all_that_runs),
    Explanation("reassignment_stuck", "dead_broker", _is_all_that_it_holds),
    Explanation("reassignment_stuck", "not_fixable_by_moving", _is_within_every_band),
    Explanation("dead_broker", "offline_partition", _led_from_there),
    Explanation("broker_not_heard", "offline_partition", _led_from_there),
    Explanation("dead_broker", "under_replicated", _lacks_replicas_there),
    Explanation("broker_not_heard", "under_replicated", _lacks_replicas_there),
    Explanation("dead_broker", "below_min_isr", _is_short_by_that_broker),
    Explanation("broker_not_heard", "below_min_isr", _is_short_by_that_broker),
    Explanation("below_min_isr", "under_replicated", _is_below_all_over),
    Explanation("dead_broker", "preferred_leaders_off", _prefers_that_broker),
    Explanation("broker_not_heard", "preferred_leaders_off", _prefers_that_broker),
    Explanation("dead_broker", "leaders_piled_up", _prefers_that_broker),
    Explanation("broker_not_heard", "leaders_piled_up", _prefers_that_broker),
    Explanation("preferred_leaders_off", "leaders_piled_up", _if_elected(_leads_enough_itself)),
    Explanation("leaders_over_share", "leaders_piled_up", _too_many_by_placement),
    Explanation("preferred_leaders_off", "coordinator_piled_up", _if_elected(_coordinates_by_its_leaders)),
    Explanation("preferred_leaders_off", "broker_rate_over_share", _if_elected(_within_share_once_elected)),
    Explanation("leaders_piled_up", "broker_rate_over_share", _within_share_here_once_elected),
    Explanation("hot_partition", "broker_rate_over_share", _within_share_once_cooled),
    Explanation("leaders_over_share", "broker_rate_over_share", _no_more_than_its_leaders),
    Explanation("preferred_leaders_off", "broker_rate_over_share", _if_elected(_takes_most_of_it)),
    Explanation("hot_partition", "broker_rate_over_share", _takes_most_of_it),
    Explanation("broker_disk_full", "broker_disk_over_share", _full_by_its_excess),
    Explanation("hot_partition", "group_hot_partition", _reads_that_partition),
    Explanation("sticky_endless", "assignor_uneven", same_subject),
    Explanation("sticky_endless", "idle_members", same_subject),
    Explanation("mixed_static_members", "assignor_uneven", same_subject),
    Explanation("mixed_static_members", "idle_members", same_subject),
    Explanation("unknown_topic_stops_group", "idle_members", same_subject),
    Explanation("unknown_topic_stops_group", "unread_partitions", same_subject),
    Explanation("mixed_static_members", "static_members_partly", same_subject),
    Explanation("dead_static_member", "partition_not_read", _holds_all_of_these),
    Explanation("dead_static_member", "lag_concentrated", _holds_all_of_these),
    Explanation("dead_static_member", "lag_growing", same_subject),
    Explanation("partition_not_read", "lag_growing", _reads_enough_elsewhere),
    Explanation("partition_not_read", "lag_concentrated", _has_all_partitions),
    Explanation("assignor_uneven", "lag_growing", _suffices_once_shared),
    Explanation("assignor_uneven", "lag_concentrated", _is_at_overloaded_members),
    Explanation("server_assignor_uneven", "lag_growing", _suffices_once_shared),
    Explanation("server_assignor_uneven", "lag_concentrated", _is_at_overloaded_members),
    Explanation("group_hot_partition", "lag_growing", _is_written_too_fast),
    Explanation("group_hot_partition", "lag_concentrated", _has_the_late_partition),
    Explanation("uneven_per_topic", "lag_growing", _suffices_once_shared),
    Explanation("lag_concentrated", "lag_growing", _suffices_once_shared),
    Explanation("group_hot_partition", "uneven_by_rate", same_subject),
    Explanation("rollover_half_done", "server_assignor_uneven", same_subject),
)


def fold(
    context: FindingContext, findings: Sequence[Finding], explanations: Iterable[Explanation] = EXPLANATIONS
) -> list[Finding]:
    by_code: dict[str, list[Finding]] = {}
    for finding in findings:
        by_code.setdefault(finding.code, []).append(finding)
    without_cause = WithoutCause(context, tuple(findings))
    cause_of: dict[str, Finding] = {}
    for explanation in explanations:
        for cause in by_code.get(explanation.cause, ()):
            for symptom in by_code.get(explanation.symptom, ()):
                if symptom.finding_key not in cause_of and explanation.explains(without_cause, cause, symptom):
                    cause_of[symptom.finding_key] = cause
    symptoms: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.finding_key in cause_of:
            symptoms.setdefault(_last(finding, cause_of).finding_key, []).append(finding)
    return [
        _with_symptoms(finding, symptoms.get(finding.finding_key, []))
        for finding in findings
        if finding.finding_key not in cause_of
    ]


def _last(finding: Finding, cause_of: dict[str, Finding]) -> Finding:
    while finding.finding_key in cause_of:
        finding = cause_of[finding.finding_key]
    return finding


def _with_symptoms(finding: Finding, symptoms: list[Finding]) -> Finding:
    if not symptoms:
        return finding
    worst = min((finding.severity, *(symptom.severity for symptom in symptoms)), key=lambda severity: severity.rank)
    return replace(finding, severity=worst, symptoms=rank(symptoms))
