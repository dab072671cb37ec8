import json
from dataclasses import replace

from rebalance_advisor.publish.outcome_files import Carried, outcome_files
from tests.unit.plans.applied.test_applied_plan import DONE, PLAN, START, applied, row

CARRIED = Carried("apply_c.manual__1", "ada", "2026-11-22T12:00:00Z", 95.0, "told")
NAMED = replace(PLAN, cost=replace(PLAN.cost, seconds=100.0)).sealed()


def test_what_was_carried_out_is_told_in_figures() -> None:
    files = outcome_files(NAMED, applied(*DONE), CARRIED)
    document, text = json.loads(files["outcome.json"]), files["outcome.md"].decode()
    assert (document["state"], document["not_applied"], document["plan_id"]) == ("verified", [], NAMED.plan_id)
    assert document["bytes"] == {
        "predicted": 140, "realised": 142, "unsized_moves": 1,
        "brokers": [
            {"broker": 3, "predicted": 120, "realised": 121}, {"broker": 4, "predicted": 20, "realised": 21},
        ],
    }  # fmt: skip
    assert document["seconds"] == {"predicted": 100.0, "realised": 95.0, "basis": "told"}
    assert text.startswith(f"# Outcome of plan {NAMED.plan_id[:12]}: verified\n")
    assert "approved by ada" in text
    assert "| bytes of what is done | 140 B | 142 B (101" in text
    assert "not done" not in text


def test_what_is_left_is_named_and_what_nobody_knows_is_said() -> None:
    result = applied(
        row(0, (3, 2), 3, isr=(3,)), START[1], row(2, (4, 1), 4), configs={"leader.replication.throttled.rate": "9"}
    )
    nobody = Carried("apply_c.manual__2", None, None, None, None)
    files = outcome_files(NAMED, result, nobody)
    document, text = json.loads(files["outcome.json"]), files["outcome.md"].decode()
    assert document["state"] == "moved_by_others"
    assert [(move["partition"], move["state"]) for move in document["not_applied"]] == [
        (1, "open"), (2, "elsewhere"), (3, "gone"),
    ]  # fmt: skip
    assert document["short_isr"] == ["t-0"]
    assert document["throttles"] == [{"subject": "broker 3", "setting": "leader.replication.throttled.rate"}]
    assert "| time of the whole plan | 1 min 40 s | not known |" in text or "| not known |" in text
    for message in (
        "t-2 (wave 2): moved by somebody else",
        "t-3 (wave 2): not there any more",
        "- t-0\n",
        "broker 3: `leader",
    ):
        assert message in text


def test_a_long_list_is_cut_and_says_so() -> None:
    many = replace(NAMED, moves=tuple(replace(PLAN.moves[0], partition=n) for n in range(60))).sealed()
    from kafka_rebalance.plans.applied import compare
    from tests.unit.plans.applied.test_applied_plan import reading

    text = outcome_files(many, compare(many, reading(*(row(n, (1, 2), 1) for n in range(60)))), CARRIED)["outcome.md"]
    assert b"- and 10 more" in text
