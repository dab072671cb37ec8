"""Rules as expectations on one batch: what holds, what is broken by which rows, and what could not be asked."""

import pytest

from rebalance_advisor.gates.expectations import Unexpected, unexpected_rows

pytestmark = pytest.mark.stack

BATCH = "SELECT 3 AS largest"
# Numbers above the batch's ``largest``: as a rule's query is, one row of what is broken, none where it holds.
ABOVE = """
SELECT count(*) AS failed_rows, jsonb_agg(jsonb_build_object('number', number) ORDER BY number) AS sample,
       {subjects} AS subjects
FROM (SELECT number FROM {{batch}} AS subject, generate_series(1, {last}) AS number
      WHERE number > subject.largest) AS broken
HAVING count(*) > 0
"""


def above(last: int, subjects: str = "NULL::jsonb") -> str:
    return ABOVE.format(last=last, subjects=subjects)


def test_each_rule_tells_its_own_rows(dsn) -> None:
    found = unexpected_rows(
        dsn,
        BATCH,
        {"holds": above(3), "two": above(5), "named": above(4, "jsonb_agg('n-' || number)")},
    )
    assert found == {
        "holds": Unexpected(0, (), ()),
        "two": Unexpected(2, ({"number": 4}, {"number": 5}), ()),
        "named": Unexpected(1, ({"number": 4},), ("n-4",)),
    }


def test_the_batch_is_the_query_that_was_given(dsn) -> None:
    assert unexpected_rows(dsn, "SELECT 4 AS largest", {"rule": above(5)})["rule"].rows == ({"number": 5},)


def test_a_rule_that_cannot_be_asked_has_not_been_kept(dsn) -> None:
    with pytest.raises(RuntimeError, match=r"rule broken could not be asked: .*no_such_table"):
        unexpected_rows(dsn, BATCH, {"holds": above(3), "broken": "SELECT * FROM no_such_table, {batch}"})
