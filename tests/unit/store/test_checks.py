import pytest

from rebalance_advisor.store.checks import Check

ROWS = tuple({"topic": "t", "partition": number} for number in range(5))


@pytest.mark.parametrize(
    ("check", "text"),
    [
        (Check("no_twins", "block", 0), "no_twins: passed"),
        (Check("no_twins", "warn", 1, ROWS[:1]), "no_twins (warn): topic t, partition 0"),
        (
            Check("no_twins", "block", 5, ROWS),
            "no_twins (block): topic t, partition 0; topic t, partition 1; topic t, partition 2 and 2 more",
        ),
    ],
)  # fmt: skip
def test_the_first_three_rows_are_named_and_the_others_counted(check, text):
    assert str(check) == text
    assert check.is_passed == (check.failed_rows == 0)
