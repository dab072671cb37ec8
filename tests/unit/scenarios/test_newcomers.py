from __future__ import annotations

import re

import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.scenarios.changes import Newcomers, lots_of, restart
from kafka_rebalance.snapshot.model import Member

_UUID = "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"


def test_lots_are_those_of_a_group_a_scenario_and_a_seed() -> None:
    drawn = {lots_of(*key).integers(10**12) for key in (("g", "s", 0), ("h", "s", 0), ("g", "t", 0), ("g", "s", 1))}
    assert len(drawn) == 4
    assert lots_of("g", "s", 0).integers(10**12) in drawn
    lots_of("\udce4", "s", 0)  # a name that is no UTF-8 has lots, too
    with pytest.raises(InvalidInputError, match="seed: is -1"):
        lots_of("g", "s", -1)


@pytest.mark.parametrize(
    ("like", "shape"),
    [
        (Member("app-7f", client_id="app"), f"app-{_UUID}"),
        (Member("pod-3-7f", instance_id="pod-3", client_id="app"), f"pod-4-{_UUID}"),
        (Member("3kPq", client_id="app"), "[A-Za-z0-9_-]{22}"),  # KIP-848: the client's own Uuid
        (Member("application-7f", client_id="app"), "[A-Za-z0-9_-]{22}"),
        (Member("x-1", client_id=""), "[A-Za-z0-9_-]{22}"),
    ],
)
def test_ids_are_drawn_as_those_of_the_others_were(like: Member, shape: str) -> None:
    newcomers, lots = Newcomers((like,), lots_of("g", "s", 0)), lots_of("g", "s", 1)
    first, second = newcomers.one_like(like), newcomers.one_like(like)
    assert re.fullmatch(shape, first.id)
    assert first.id != second.id
    assert restart(like, lots).id not in (like.id, first.id, second.id)


def test_a_restart_without_instance_id_keeps_the_service_in_the_id() -> None:
    """A known client id is part of the new one; else the old instance is."""
    lots = lots_of("g", "s", 0)
    back = restart(Member("pod-3-7f", instance_id="pod-3", client_id="app", rack="r", host="/h"), lots)
    assert re.fullmatch(f"app-{_UUID}", back.id)
    assert (back.instance_id, back.rack, back.host) == (None, "r", "/h")
    assert re.fullmatch(f"pod-3-{_UUID}", restart(Member("pod-3-7f", instance_id="pod-3"), lots).id)


def test_instance_numbers_go_on_after_the_highest_of_their_service() -> None:
    """pod-2 and pod-11: 12 is next. One without a number counts as 0 of its service."""
    names = ("pod-2", "pod-11", "job", "7", "a1-b-005")
    members = tuple(Member(name, instance_id=name) for name in names)
    newcomers = Newcomers(members, lots_of("g", "s", 0))
    found = [newcomers.one_like(members[place]).instance_id for place in (0, 1, 2, 2, 3, 4)]
    assert found == ["pod-12", "pod-13", "job-1", "job-2", "8", "a1-b-6"]
    assert newcomers.one_like(Member("dynamic")).instance_id is None


def test_newcomers_go_to_the_rack_with_the_fewest_members_first_by_name() -> None:
    """r1 has two, r2 and r3 one each: r2, r3, then all have two: r1, r2. One like a member without rack has none."""
    members = tuple(Member(f"m{n}", rack=rack) for n, rack in enumerate(["r1", "r3", "r1", "r2", None, ""]))
    newcomers = Newcomers(members, lots_of("g", "s", 0))
    assert [newcomers.one_like(members[0]).rack for _ in range(4)] == ["r2", "r3", "r1", "r2"]
    assert [newcomers.one_like(members[place]).rack for place in (4, 5)] == [None, None]


def test_a_newcomer_has_the_others_subscription_and_nothing_of_what_it_read() -> None:
    like = Member("m", subscription=("t",), assigned=(("t", (0,)),), owned=(("t", (0,)),), user_data=b"x")
    new = Newcomers((like,), lots_of("g", "s", 0)).one_like(like)
    assert (new.subscription, new.assigned, new.owned, new.user_data) == (("t",), (), None, None)
