"""``apply_NAME`` on a real cluster in a real Airflow: Kafka's own tool, run by the test, moves; each end is told."""

import json
import time
from collections.abc import Iterator

import pytest

from kafka_rebalance.plans.plan import Plan
from stack.demo.run_plan import run_rollback, run_wave, run_waves
from stack.installed_code import CHECKOUT
from stack.waiting import wait_for
from tests.live.applied_cluster import (
    CLUSTER,
    DAG,
    RUN,
    AppliedCluster,
    applied_cluster,
    placement,
    planned_placement,
)

pytestmark = [pytest.mark.live, pytest.mark.stack]


@pytest.fixture(scope="module")
def applied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppliedCluster]:
    run = CHECKOUT / ".run" / "test-apply"
    with applied_cluster(tmp_path_factory.mktemp("apply") / "cluster", run) as started:
        yield started


def test_approved_and_carried_out_it_is_verified_and_realised_is_as_predicted(applied: AppliedCluster) -> None:
    run_id = applied.ask()
    applied.wait(run_id, "approve")
    asked = applied.client.required_action(DAG, run_id, "approve")
    assert asked["subject"] == "Carry out a plan for cluster live?"
    assert applied.plan.plan_id[:12] in asked["body"]
    commands = applied.approve(run_id)
    assert f"cd {applied.folder}\n" in commands
    assert f"BOOTSTRAP={applied.cluster.bootstrap}" in commands
    assert "waves/01.json --execute --throttle 20000000" in commands
    assert len(applied.plan.waves) >= 2
    before = time.monotonic()
    run_waves(applied.cluster.tools, applied.folder)
    took = time.monotonic() - before
    applied.answer(run_id, "carried_out", "Carried out", took_seconds=round(took, 1))
    state, row = applied.ended(run_id)
    assert (state, row["state"], row["check_status"]) == ("success", "verified", "valid")
    assert placement(applied.settled()) == planned_placement(applied)
    assert (row["applied_count"], row["move_count"]) == (len(applied.plan.moves),) * 2
    assert (row["short_isr"], row["throttles"], row["unsized_move_count"]) == ([], [], 0)
    assert row["predicted_bytes"] == applied.plan.cost.bytes
    assert abs(row["realised_bytes"] / row["predicted_bytes"] - 1) <= 0.02
    assert (row["realised_seconds"], row["seconds_basis"]) == (round(took, 1), "told")
    assert row["answered_by"] == "admin"
    outcome = json.loads((applied.folder / "outcome.json").read_text())
    assert (outcome["state"], outcome["bytes"]["realised"]) == ("verified", row["realised_bytes"])
    assert (applied.folder / "outcome.md").read_text().startswith("# Outcome of plan")
    print(f"\napproved: {row['state']}, {row['realised_bytes']:,} of {row['predicted_bytes']:,} bytes, {took:.0f} s")
    run_rollback(applied.cluster.tools, applied.folder)
    assert placement(applied.settled()) == placement(applied.start)


@pytest.mark.matrix
def test_rejected_nothing_is_run_and_the_run_ends_well(applied: AppliedCluster) -> None:
    run_id = applied.ask(advisory=RUN)
    applied.answer(run_id, "approve", "Reject")
    state, row = applied.ended(run_id)
    assert (state, row["state"], row["answered_by"]) == ("success", "rejected", "admin")
    assert (row["check_status"], row["commands_shown_at"], row["verified_at"]) == (None, None, None)
    states = {task["task_id"]: task["state"] for task in applied.client.task_instances(DAG, run_id)}
    assert {states[name] for name in ("check_again", "show_commands", "carried_out", "verify")} == {"skipped"}
    print(f"\nrejected: {row['state']}: {row['answered_by']}")


@pytest.mark.matrix
def test_nobody_answers_in_time_and_the_run_says_so(applied: AppliedCluster) -> None:
    run_id = applied.ask(answer_within_minutes=0.05)
    state, row = applied.ended(run_id)
    assert (state, row["state"], row["answered_by"]) == ("failed", "timed_out", None)
    assert "nobody answered in time" in applied.log_of(run_id, "outcome")
    print(f"\ntimed out: {row['state']}: {row['answered_by']}")


@pytest.mark.matrix
def test_a_broker_dies_between_waves_and_what_is_done_and_what_is_not_is_told(applied: AppliedCluster) -> None:
    """The first waves are done, then a broker that they gave a replica to is killed, and whoever runs them stops."""
    run_id = applied.ask()
    applied.approve(run_id)
    first, victim = done_before_it_dies(applied.plan)
    for number in range(1, max(applied.plan.moves[m].wave for m in first) + 1):
        run_wave(applied.cluster.tools, applied.folder, number)
    applied.cluster.kill_broker(victim)
    try:
        _until_gone(applied, victim)
        applied.answer(run_id, "carried_out", "Stopped", took_seconds=None)
        state, row = applied.ended(run_id)
        assert (state, row["state"], row["seconds_basis"]) == ("failed", "partly_applied", "at_most")
        held = {f"{m.topic}-{m.partition}" for n, m in enumerate(applied.plan.moves)
                if victim in (m.to_replicas if n in first else m.from_replicas)}  # fmt: skip
        assert set(row["short_isr"]) == held
        assert row["move_count"] == len(applied.plan.moves)
        assert row["applied_count"] + row["placed_count"] == len(first)
        assert row["open_count"] == len(applied.plan.moves) - len(first)
        assert "partly applied" in applied.log_of(run_id, "outcome")
        again, refused = applied.ended(_approved(applied))
        assert (again, refused["state"], refused["check_status"]) == ("failed", "refused", "harmful or in conflict")
        assert refused["commands_shown_at"] is None
        print(f"\nbroker {victim} killed: {row['state']}, {row['applied_count']} of {row['move_count']} applied, "
              f"{len(held)} not in sync; asked again: {refused['state']}, {refused['check_status']}")  # fmt: skip
    finally:
        applied.cluster.start_broker(victim)
    applied.settled()
    run_rollback(applied.cluster.tools, applied.folder)
    leaders = "org.apache.kafka.tools.LeaderElectionCommand"  # also of partitions that the plan leaves alone
    applied.cluster.tools.run(leaders, "--election-type", "preferred", "--all-topic-partitions")
    assert placement(applied.settled()) == placement(applied.start)


@pytest.mark.matrix
def test_somebody_else_moves_a_partition_and_it_is_told_before_and_after(applied: AppliedCluster) -> None:
    """After the commands were shown: the outcome says so. Before: the check on a fresh reading does."""
    run_id = applied.ask()
    applied.approve(run_id)
    run_waves(applied.cluster.tools, applied.folder)
    move = next(m for m in applied.plan.moves if len(m.to_replicas) == 2 and m.bytes)
    stranger = next(b for b in (1, 2, 3, 4) if b not in {*move.from_replicas, *move.to_replicas})
    elsewhere = {"topic": move.topic, "partition": move.partition, "replicas": [stranger, move.to_replicas[1]]}
    file = applied.cluster.folder / "elsewhere.json"
    file.write_text(json.dumps({"version": 1, "partitions": [elsewhere]}))
    tools = applied.cluster.tools
    tools.execute_reassignment(file)
    wait_for(
        "the stranger's move to be done", lambda: tools.verify_reassignment(file),
        until=lambda said: "still in progress" not in said,
    )  # fmt: skip
    applied.answer(run_id, "carried_out", "Carried out", took_seconds=None)
    state, row = applied.ended(run_id)
    assert (state, row["state"], row["elsewhere_count"]) == ("failed", "moved_by_others", 1)
    assert row["applied_count"] == len(applied.plan.moves) - 1
    outcome = json.loads((applied.folder / "outcome.json").read_text())
    assert [(m["topic"], m["partition"], m["state"]) for m in outcome["not_applied"]] == [
        (move.topic, move.partition, "elsewhere")
    ]
    again, refused = applied.ended(_approved(applied))
    assert (again, refused["state"], refused["check_status"]) == ("failed", "refused", "stale")
    moved = [said["args"].get("partition") for reason in refused["check_reasons"] for said in reason["facts"]]
    assert f"{move.topic}-{move.partition}" in moved
    print(f"\nmoved by somebody else: {row['state']}, {row['applied_count']} of {row['move_count']} applied; "
          f"asked again: {refused['state']}, {refused['check_status']}")  # fmt: skip
    assert row["cluster"] == CLUSTER


def done_before_it_dies(plan: Plan) -> tuple[set[int], int]:
    """A broker that an early wave copies to and that is to hold more later on; the moves up to that wave."""
    number, victim = min(
        (move.wave, broker)
        for move in plan.moves
        for broker in set(move.to_replicas) - set(move.from_replicas)
        if any(later.wave > move.wave and broker in later.to_replicas for later in plan.moves)
    )
    return {at for at, move in enumerate(plan.moves) if move.wave <= number}, victim


def _approved(applied: AppliedCluster) -> str:
    run_id = applied.ask()
    applied.answer(run_id, "approve", "Approve")
    return run_id


def _until_gone(applied: AppliedCluster, broker: int) -> None:
    """Metadata shows a dead broker for some seconds more."""

    def in_sync_with_it() -> list[tuple[str, int]]:
        rows = applied.read().each_partition()
        return [(row.topic, row.partition) for row in rows if broker in (row.isr or ())]

    wait_for(f"broker {broker} to leave every ISR", in_sync_with_it, until=lambda left: not left)
