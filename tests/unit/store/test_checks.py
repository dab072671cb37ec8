"""What a gate found, in words, and the query that one rule becomes."""

import pytest

from rebalance_advisor.store.checks import Check, rule_query
from rebalance_advisor.store.schema import sql_files

ROWS = tuple({"topic": "t", "partition": number} for number in range(5))


@pytest.mark.parametrize(
    ("check", "words"),
    [
        (Check("no_twins", "block", 0), "no_twins: passed"),
        (Check("no_twins", "warn", 1, ROWS[:1]), "no_twins (warn): topic t, partition 0"),
        (
            Check("no_twins", "block", 5, ROWS),
            "no_twins (block): topic t, partition 0; topic t, partition 1; topic t, partition 2 and 2 more",
        ),
    ],
)  # fmt: skip
def test_the_first_three_rows_are_named_and_the_others_counted(check, words):
    assert str(check) == words
    assert check.is_passed == (check.failed_rows == 0)


def test_a_rules_query_holds_its_sql_and_no_placeholder():
    """Every rule of both gates."""
    queries = {rule: rule_query(rule) for rule in sql_files.check_names()}
    assert [rule for rule, query in queries.items() if sql_files.check(rule) not in query] == []
    assert [rule for rule, query in queries.items() if "[rule]" in query or "[subjects]" in query] == []


def test_subjects_are_gathered_where_somebody_is_held_in_quarantine():
    rule = sql_files.check_names()[0]
    plain, held = rule_query(rule), rule_query(rule, has_subjects=True)
    assert "NULL::jsonb" in plain
    assert sql_files.query("subjects_of_rule").strip() in held
