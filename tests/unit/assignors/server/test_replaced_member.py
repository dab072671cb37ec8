"""Where a static member has just come back under another id, coordinators up to 4.3 may have had both in their map.

``TARGETS`` is what the ``TargetAssignmentBuilder`` of 4.3.1 handed to its assignor, with c109 replaced by c37.
"""

import pytest

from kafka_assignors.recorded_cases.cases import answer

MEMBERS = ["c47", "c72", "c9", "c52", "c0", "c78", "c7", "c10", "c76", "c1", "c79", "c37"]
TARGETS = ["c52", "c10", "c76", "c79", "c78", "c37", "c47", "c0", "c1", "c7", "c9", "c72"]
PLAIN = ["c52", "c10", "c76", "c7", "c79", "c78", "c9", "c37", "c47", "c0", "c1", "c72"]
TOPIC = "AAAAAAAAAAAAAAAAAAAAAQ"


@pytest.mark.parametrize(
    ("version", "replaced", "order"),
    [
        ("4.3.1", "c109", TARGETS),
        ("4.3.1", "c57", PLAIN),  # comes before c37 in a HashMap of both, so it leaves first
        ("4.4.0", "c109", PLAIN),
        ("4.3.1", None, PLAIN),
    ],
)
def test_twelve_members_and_a_replaced_one_have_a_larger_table(
    version: str, replaced: str | None, order: list[str]
) -> None:
    """A fresh group of 12 with 17 partitions: the last five of the map get two."""
    members = [{"id": name, "topics": [TOPIC]} for name in MEMBERS]
    if replaced is not None:
        members[-1]["replaces"] = replaced
    asked = {"version": version, "order": "hash", "subscriptionType": "HOMOGENEOUS", "members": members}
    asked["topics"] = [{"id": TOPIC, "n": 17}]
    output = answer({"id": "replaced", "strategy": "server_uniform", "input": asked})["output"]
    assert output["memberOrder"] == order
    assert {name for name, given in output["assignment"].items() if len(given[TOPIC]) == 2} == set(order[-5:])


def test_with_eleven_members_the_table_has_room_for_both() -> None:
    members = [{"id": name, "topics": []} for name in MEMBERS[1:]]
    members[-1]["replaces"] = "c109"
    asked = {"version": "4.3.1", "order": "hash", "subscriptionType": "HOMOGENEOUS", "members": members, "topics": []}
    output = answer({"id": "replaced", "strategy": "server_uniform", "input": asked})["output"]
    assert output["memberOrder"] == [name for name in PLAIN if name != "c47"]
