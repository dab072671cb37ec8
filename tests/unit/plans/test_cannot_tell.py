from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from kafka_rebalance.advisory.advise import AdviceRequest, advise
from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.pipeline import make_plan, plan_of_unfit_reading
from kafka_rebalance.plans.plan import Plan, Verdict, to_document
from kafka_rebalance.render import render
from kafka_rebalance.snapshot.codec import snapshot_to_document
from kafka_rebalance.snapshot.coverage import Right, right_gap
from kafka_rebalance.snapshot.figures import LoadKind, LoadSource
from kafka_rebalance.snapshot.model import Broker, BrokerState, ClusterSnapshot, CoverageGap, LogDir
from kafka_rebalance.snapshot.partition_table import LoadColumn, Partition, PartitionLoads
from kafka_rebalance.snapshot.times import too_old
from kafka_rebalance.verify import verify_plan
from rebalance_advisor.cli.main import main
from rebalance_advisor.publish.escape import markdown_line
from tests.coverage_gaps import gap_of
from tests.facts_said import said
from tests.sample import for_each
from tests.unit.planner.sample_clusters import GB, brokers, cluster, row

DEAD, FENCED = BrokerState.DEAD, BrokerState.FENCED


def even(count: int = 9, size: int | None = GB, **more: object) -> list[Partition]:
    """Replicas and leaders of three brokers as even as can be."""
    return [row("t", p, [p % 3, (p + 1) % 3], size, **more) for p in range(count)]


LOST = even(leader=None, isr=())


def answers(*states: tuple[str, int]) -> Fact:
    return fact(FactCode.NO_BROKER_ANSWERS, brokers_by_state=states)


UNUSABLE = {
    "all dead": (cluster(LOST, brokers(3, b0=DEAD, b1=DEAD, b2=DEAD)), answers(("dead", 3))),
    "all dead, leaders said": (cluster(even(), brokers(3, b0=DEAD, b1=DEAD, b2=DEAD)), answers(("dead", 3))),
    "dead and fenced": (cluster(LOST, brokers(3, b0=DEAD, b1=FENCED, b2=FENCED)), answers(("dead", 1), ("fenced", 2))),
    "no broker": (cluster([], []), fact(FactCode.NO_BROKER_SEEN, has_groups_alone=False)),
    "no partition": (cluster([], brokers(3)), fact(FactCode.NO_PARTITION_SEEN)),
    "no leader": (cluster(LOST, brokers(3)), fact(FactCode.NO_PARTITION_USABLE, partitions=9)),
    "every replica offline": (
        cluster([row("t", p, [0, 1], offline=(0, 1)) for p in range(4)], brokers(3)),
        fact(FactCode.NO_PARTITION_USABLE, partitions=4),
    ),
    "every log dir offline": (
        cluster(even(), [Broker(b, log_dirs=(LogDir("/d", error="KAFKA_STORAGE_ERROR"),)) for b in range(3)]),
        answers(("without_log_dir", 3)),
    ),
    "all unheard": (
        cluster(even(size=None), brokers(3, b0=BrokerState.SILENT, b1=BrokerState.SILENT, b2=BrokerState.REFUSED)),
        answers(("silent", 2), ("refused", 1)),
    ),
}


def planned(snapshot: ClusterSnapshot, options: PlanOptions | None = None) -> Plan:
    plan = make_plan(snapshot, options or PlanOptions(with_frontier=False))
    assert [str(fault) for fault in verify_plan(to_document(plan), snapshot).wrong] == []
    return plan


def with_gaps(snapshot: ClusterSnapshot, *gaps: CoverageGap) -> ClusterSnapshot:
    return replace(snapshot, coverage=gaps)


def with_rates(snapshot: ClusterSnapshot, values: Sequence[float]) -> ClusterSnapshot:
    column = LoadColumn(np.array(values), LoadSource.LOG_DIR_GROWTH)
    return replace(snapshot, loads=PartitionLoads({LoadKind.IN_BYTES_PER_S: column}))


@for_each("name", UNUSABLE)
@pytest.mark.parametrize(
    "options",
    [PlanOptions(), PlanOptions(within=0.05), PlanOptions(preferred_election=True), PlanOptions(leaders_only=True)],
    ids=["default", "order", "election", "leaders"],
)
def test_where_nothing_usable_was_seen_nobody_can_tell_whatever_is_asked(name: str, options: PlanOptions) -> None:
    snapshot, reason = UNUSABLE[name]
    plan = planned(snapshot, options)
    assert plan.verdict is Verdict.CANNOT_TELL
    assert plan.reasons[0] == reason
    assert plan.moves == plan.frontier == ()


@pytest.mark.parametrize("name", UNUSABLE)
def test_plan_and_advise_agree_and_end_with_4(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    snapshot, reason = UNUSABLE[name]
    file = tmp_path / "snapshot.json"
    file.write_text(json.dumps(snapshot_to_document(snapshot)), encoding="utf-8")
    for command in ("plan", "advise"):
        assert main([command, str(file), "--out", str(tmp_path / command)]) == 4
        assert capsys.readouterr().out.startswith("Verdict: cannot tell")
        document = json.loads((tmp_path / command / "plan.json").read_text(encoding="utf-8"))
        assert document["verdict"] == "cannot_tell"
        assert document["reasons"][0] == reason.document()
        assert main(["verify", str(tmp_path / command), str(file)]) == 0
        capsys.readouterr()
    digest = (tmp_path / "advise" / "digest.md").read_text(encoding="utf-8")
    assert "Cannot tell whether anything has to move" in digest
    assert markdown_line(render(reason)) in digest
    codes = {
        finding["code"] for finding in json.loads((tmp_path / "advise" / "findings.json").read_text(encoding="utf-8"))
    }
    assert "cannot_tell" in codes
    assert "nothing_to_do" not in codes


def test_what_nobody_measured_is_left_out_and_the_rest_is_balanced() -> None:
    codes = (FactCode.LACKS_SIZES, FactCode.LACKS_RACKS, FactCode.LACKS_GROUPS, FactCode.LACKS_TIME)
    gaps = [CoverageGap("cluster", "test", fact(code), fact(FactCode.NO_DUMP, of="groups")) for code in codes]
    plan = planned(with_gaps(cluster(even(size=None), brokers(3)), *gaps))
    assert plan.verdict is Verdict.NOTHING_TO_DO
    assert plan.left_out["disk"] == fact(FactCode.FIGURE_NOT_MEASURED, figure="log_bytes")


def test_one_broker_that_does_not_tell_its_log_dirs_may_hide_a_full_disk() -> None:
    """Nothing is hidden if followers elsewhere show the sizes of its leaders."""
    gap = gap_of("broker", "2", FactCode.LACKS_LOG_DIRS, "timed out")
    changed_changeds = [
        replace(changed, log_bytes=tuple(None if b == 2 else GB for b in changed.replicas)) for changed in even()
    ]
    assert planned(with_gaps(cluster(changed_changeds, brokers(3)), gap)).verdict is Verdict.NOTHING_TO_DO
    rows = [row("t", p, [p % 3], None if p % 3 == 2 else GB) for p in range(9)]
    plan = planned(with_gaps(cluster(rows, brokers(3)), gap))
    assert plan.verdict is Verdict.CANNOT_TELL
    (changed_changeds,) = said(plan.reasons[:1], FactCode.FIGURE_KNOWN_FOR_FEW)
    assert (changed_changeds["figure"], changed_changeds["known_share"]) == ("log_bytes", pytest.approx(2 / 3))
    assert plan.reasons[1].code is FactCode.OF_WHAT_WAS_SEEN


def test_a_few_unknown_sizes_on_one_broker_may_fill_it_and_one_among_many_may_not() -> None:
    many = [row("t", p, [0 if p >= 90 else p % 3]) for p in range(93)]
    changed_changeds = [replace(changed, log_bytes=(None,)) if changed.partition == 0 else changed for changed in many]
    eight = [
        replace(changed, log_bytes=(None,)) if changed.partition in range(0, 24, 3) else changed for changed in many
    ]
    assert planned(cluster(changed_changeds, brokers(3))).verdict is Verdict.NOTHING_TO_DO
    plan = planned(cluster(eight, brokers(3)))
    assert plan.verdict is Verdict.CANNOT_TELL
    assert plan.reasons[0] == fact(
        FactCode.MAY_BE_OUTSIDE_BAND, resource="disk", broker=0, unknown_partitions=8, hidden_topics=0,
        first_hidden=None,
    )  # fmt: skip


def test_a_new_partition_without_a_rate_is_no_reason_and_rates_of_a_third_are() -> None:
    snapshot = cluster([row("t", p, [p % 3]) for p in range(90)], brokers(3))
    assert planned(with_rates(snapshot, [np.nan, *[5.0] * 89])).verdict is Verdict.NOTHING_TO_DO
    plan = planned(with_rates(snapshot, [5.0 if p < 30 else np.nan for p in range(90)]))
    assert plan.verdict is Verdict.CANNOT_TELL
    assert (plan.reasons[0].code, plan.reasons[0].args["resource"]) == (FactCode.RESOURCE_LEFT_OUT, "in")


def test_a_hidden_topic_among_few_is_a_reason_and_among_many_is_none() -> None:
    gap = gap_of("topic", "secret", FactCode.LACKS_ALL_BUT_SIZE, "no right to describe it")
    few = with_gaps(cluster(even(), brokers(3)), gap)
    rows = [row(f"t{number:03d}", p, [p % 3, (p + 1) % 3]) for number in range(60) for p in range(3)]
    assert planned(few).verdict is Verdict.CANNOT_TELL
    assert planned(few).reasons[0].args["first_hidden"] == "secret"
    assert planned(with_gaps(cluster(rows, brokers(3)), gap)).verdict is Verdict.NOTHING_TO_DO


def test_without_describe_on_the_cluster_nothing_to_do_is_never_said() -> None:
    """Any number of topics may be hidden. What does not change placement (configs, members of groups) is no reason."""
    even_one = cluster(even(), brokers(3))
    blind = planned(with_gaps(even_one, right_gap(Right.DESCRIBE_CLUSTER), right_gap(Right.TOPIC_CONFIGS)))
    assert blind.verdict is Verdict.CANNOT_TELL
    assert blind.reasons[0] == fact(FactCode.TOPICS_MAY_BE_HIDDEN)
    assert said(blind.reasons, FactCode.RIGHT_MISSING) == [
        {"right": "Describe on Cluster"}, {"right": "DescribeConfigs on Topic"},
    ]  # fmt: skip
    others = (Right.TOPIC_CONFIGS, Right.BROKER_CONFIGS, Right.DESCRIBE_GROUPS)
    assert planned(with_gaps(even_one, *map(right_gap, others))).verdict is Verdict.NOTHING_TO_DO
    election = PlanOptions(preferred_election=True)
    assert planned(with_gaps(even_one, right_gap(Right.DESCRIBE_CLUSTER)), election).verdict is Verdict.CANNOT_TELL
    nothing = planned(with_gaps(cluster([], brokers(3)), right_gap(Right.DESCRIBE_TOPICS)))
    assert nothing.reasons[1] == fact(FactCode.RIGHT_MISSING, right="Describe on Topic")


def test_the_first_line_says_what_the_verdict_does_not_cover(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gaps = (
        CoverageGap("topic", "secret", fact(FactCode.LACKS_CONFIGS, kind=None), fact(FactCode.AS_REPORTED, text="no")),
        gap_of("member", "g/m", FactCode.LACKS_SUBSCRIPTION, "odd bytes"),
    )
    file = tmp_path / "snapshot.json"
    file.write_text(json.dumps(snapshot_to_document(with_gaps(cluster(even(), brokers(3)), *gaps))), encoding="utf-8")
    unseen = "parts of topic secret; parts of group g"
    text = f"does not cover {unseen}"
    for command, reported in (("plan --verbose", f" ({text})"), ("advise", f" ({text})"), ("plan", "")):
        name, *more = command.split()
        assert main([name, str(file), "--out", str(tmp_path / name), *more]) == 0
        shown = capsys.readouterr().out
        assert shown.startswith(f"Verdict: nothing to do{reported}")
        assert (f"  blind spots: {unseen}\n" in shown) is (command == "plan")
    assert text in (tmp_path / "advise" / "report.html").read_text(encoding="utf-8").replace("<bdi>", "")
    assert text in (tmp_path / "advise" / "digest.md").read_text(encoding="utf-8").splitlines()[0]


def test_a_dead_broker_whose_partitions_nobody_leads_is_not_balanced() -> None:
    rows = [row("t", p, [p % 3], **({"leader": None, "isr": ()} if p % 3 == 2 else {})) for p in range(9)]
    plan = planned(cluster(rows, brokers(3, b2=DEAD)))
    assert plan.verdict is Verdict.CANNOT_TELL
    assert plan.reasons[0] == fact(FactCode.LEADERLESS_ON_GONE_BROKER, broker=2, state="dead", partitions=3)


def test_what_was_seen_still_has_its_own_verdicts() -> None:
    """Broken rules stay infeasible, work stays work, and what a user excludes is no blindness."""
    one_left = cluster(even(isr=(0,), leader=0)[:1], brokers(2, b1=DEAD))
    assert planned(one_left).verdict is Verdict.INFEASIBLE
    skewed = with_gaps(
        cluster([row("t", p, [0, 1]) for p in range(30)], brokers(3)),
        gap_of("topic", "x", FactCode.LACKS_PARTITIONS, "no"),
    )
    assert planned(skewed).verdict is Verdict.REBALANCE
    assert planned(cluster(even(), brokers(3)), PlanOptions(exclude_topics=(".*",))).verdict is Verdict.NOTHING_TO_DO
    drained = PlanOptions(remove_brokers=frozenset({0, 1, 2}))
    assert planned(cluster(even(), brokers(3)), drained).verdict is Verdict.INFEASIBLE


def test_advise_of_a_cluster_without_brokers_holds_nothing_and_says_why() -> None:
    advice = advise(cluster([], []), AdviceRequest())
    assert advice.plan.verdict is Verdict.CANNOT_TELL
    assert advice.scores.brokers == ()
    assert advice.topics == ()


def test_verify_refuses_a_blind_verdict_and_blindness_without_a_cause() -> None:
    snapshot, _ = UNUSABLE["all dead"]
    document = to_document(replace(make_plan(snapshot, PlanOptions()), verdict=Verdict.NOTHING_TO_DO).sealed())
    assert "verdict" in verify_plan(document, snapshot).counts
    seen = cluster(even(), brokers(3))
    plan = replace(make_plan(seen, PlanOptions(with_frontier=False)), verdict=Verdict.CANNOT_TELL).sealed()
    assert "verdict" in verify_plan(to_document(plan), seen).counts


@pytest.mark.parametrize("name", ["even", "uneven", *UNUSABLE])
def test_a_reading_that_is_too_old_gives_no_moves_whatever_it_shows(name: str) -> None:
    """All replicas of the uneven one are on two of three brokers, 21 days ago."""
    shown = {
        "even": cluster(even(), brokers(3)),
        "uneven": cluster([row("t", p, [0, 1]) for p in range(9)], brokers(3)),
    }
    snapshot = shown[name] if name in shown else UNUSABLE[name][0]
    assert snapshot.captured_at is not None
    reason = too_old(snapshot.captured_at, snapshot.captured_at + timedelta(days=21), timedelta(hours=2))
    assert reason is not None
    plan = plan_of_unfit_reading(snapshot, PlanOptions(), (reason,))
    assert (plan.verdict, plan.moves, plan.frontier, plan.reasons[0]) == (Verdict.CANNOT_TELL, (), (), reason)
    assert [str(fault) for fault in verify_plan(to_document(plan), snapshot).wrong] == []
