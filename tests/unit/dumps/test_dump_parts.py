from __future__ import annotations

import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.facts import FactCode
from rebalance_advisor.dumps.any_input import (
    current_assignment,
    is_reassignment,
    read_placement_rows,
    read_reassignment,
)
from rebalance_advisor.dumps.groups_dump import (
    GroupOfTable,
    Kind,
    Role,
    partition_count,
    read_assignment,
    read_header,
    role_of_name,
    runs_of,
)
from rebalance_advisor.dumps.input_file import brace_depth, json_documents
from rebalance_advisor.dumps.text_lines import Line, csv_rows

LINE = Line("members.txt:3", "")


@pytest.mark.parametrize(
    ("cell", "runs"),
    [
        ("orders(0,1), payments(2)", (("orders", (0, 1)), ("payments", (2,)))),
        ("orders:0,1;payments:2", (("orders", (0, 1)), ("payments", (2,)))),
        ("t:1,t:0", (("t", (0, 1)),)),
        ("(0,1), (2)", None),
        ("-", ()),
        ("", ()),
    ],
)
def test_an_assignment_in_a_cell(cell: str, runs: object) -> None:
    assert read_assignment(cell, LINE) == runs


@pytest.mark.parametrize("cell", ["orders(0,0)", "orders(0", "0,1", "(0), t(1)"])
def test_a_cut_assignment_is_refused_at_its_line(cell: str) -> None:
    with pytest.raises(InvalidInputError, match=r"members\.txt:3"):
        read_assignment(cell, LINE)


def test_pairs_become_sorted_runs() -> None:
    runs = runs_of([("b", 2), ("a", 1), ("b", 0)])
    assert (runs, partition_count(runs)) == ((("a", (1,)), ("b", (0, 2))), 3)


def test_cells_stand_below_their_names() -> None:
    header = read_header("GROUP  CONSUMER-ID  HOST")
    assert header is not None
    assert header.cells(Line("x:1", "g      a b          /h")) == {"GROUP": "g", "CONSUMER-ID": "a b", "HOST": "/h"}
    assert header.cells(Line("x:2", "g a /h")) == {"GROUP": "g", "CONSUMER-ID": "a", "HOST": "/h"}
    with pytest.raises(InvalidInputError, match="x:3"):
        header.cells(Line("x:3", "g a"))
    assert read_header("Consumer group is empty") is None


def test_which_group_a_table_is_about() -> None:
    table = GroupOfTable("billing-members.txt")
    table.read_sentence("orders")
    assert table.name(Kind.MEMBERS, LINE) == ("orders", False)
    table.forget()
    assert table.name(Kind.MEMBERS, LINE) == ("billing", True)
    with pytest.raises(InvalidInputError, match="second table of members"):
        table.name(Kind.MEMBERS, LINE)
    with pytest.raises(InvalidInputError, match="no GROUP column"):
        GroupOfTable("groups.txt").name(Kind.OFFSETS, LINE)


@pytest.mark.parametrize(
    ("name", "role"),
    [("earliest.txt", Role.START), ("end-offsets.txt", Role.END), ("offsets.txt", Role.UNKNOWN),
     ("start-end.txt", Role.UNKNOWN)],
)  # fmt: skip
def test_the_role_of_offsets_by_the_files_name(name: str, role: Role) -> None:
    assert role_of_name(f"dumps/{name}").role is role


def test_rows_of_a_small_csv() -> None:
    ((line, row),) = csv_rows("Broker, disk\n\n 1 , 5 \n", "c.csv", ("broker",), ("disk", "cpu"))
    assert (row, line.location) == ({"broker": "1", "disk": "5", "cpu": ""}, "c.csv:3")
    for text in ("disk\n1\n", "broker,tape\n1,2\n", "broker,broker\n1,2\n", "broker\n1,2\n"):
        with pytest.raises(InvalidInputError, match=r"c\.csv"):
            csv_rows(text, "c.csv", ("broker",), ("disk",))


def test_json_objects_among_a_tools_prose() -> None:
    text = 'Querying brokers\n{"a": "{}",\n "b": 1}\nDone\n{"c": 2}\n'
    assert json_documents(text, "d.txt", lambda line: line == "Done") == [(2, '{"a": "{}",\n "b": 1}'), (5, '{"c": 2}')]
    with pytest.raises(InvalidInputError, match=r"d\.txt:4"):
        json_documents(text, "d.txt", lambda _line: False)
    assert [brace_depth(part) for part in ('{"a": "{"', "}", "{}")] == [1, -1, 0]


ROWS = [{"topic": "t", "partition": 0, "replicas": [2, 1]}, {"topic": "t", "partition": 1, "replicas": [1, 3]}]


def test_a_reassignment_tells_placement_and_nothing_more() -> None:
    document = {"version": 1, "partitions": ROWS}
    assert is_reassignment(document)
    assert not is_reassignment(document | {"brokers": []})
    snapshot = read_reassignment(document, "r.json", "c")
    assert [broker.id for broker in snapshot.brokers] == [1, 2, 3]
    assert snapshot.partitions.leader.tolist() == [2, 1]
    assert {gap.what.code for gap in snapshot.coverage} == {
        FactCode.LACKS_SIZES, FactCode.LACKS_RATES, FactCode.LACKS_RACKS, FactCode.LACKS_GROUPS,
    }  # fmt: skip
    for wrong in (document | {"version": 2}, document | {"more": 1}):
        with pytest.raises(InvalidInputError, match=r"r\.json"):
            read_reassignment(wrong, "r.json", "c")


def test_the_current_assignment_is_undone_where_a_terminal_wrapped_it() -> None:
    json_text = '{"version":1,"partitions":[{"topic":"orders","partition":0,"replicas":[1,2]}]}'
    wrapped = "\n".join(json_text[i : i + 50] for i in range(0, len(json_text), 50))
    text = f"Current partition replica assignment\n{wrapped}\n\nProposed partition reassignment configuration\n{{}}\n"
    assert current_assignment(text, "g.txt")["partitions"][0]["replicas"] == [1, 2]
    with pytest.raises(InvalidInputError, match=r"g\.txt"):
        current_assignment("nothing here", "g.txt")


@pytest.mark.parametrize(
    "row", [{"topic": "t", "partition": 0, "replicas": []}, {"topic": "t", "partition": 0, "replicas": [1, 1]},
            {"topic": "t", "partition": -1, "replicas": [1]}, {"topic": "t", "partition": 0, "tape": 1}],
)  # fmt: skip
def test_a_row_of_placement_that_cannot_be(row: dict[str, object]) -> None:
    with pytest.raises(InvalidInputError, match="rows"):
        read_placement_rows([row], "rows", frozenset(("topic", "partition", "replicas")))
