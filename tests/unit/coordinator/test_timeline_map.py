"""The order of Kafka's TimelineHashMap, by hand and against what the real class answered (4.3.1 and 3.9.2 alike)."""

import pytest

from kafka_assignors.coordinator.membership import TimelineMap

# Histories of put (+) and remove (-), and the order in which the real class gave its keys back.
RECORDED = (
    ("-m0 +m4 +m0 -m2 +m0 +m3 -m2 +m1 +m4 +m1 +m4 +m2 +m1 +m0 +m3 +m4 -m2", "m0 m4 m1 m3"),
    (
        "+m760240 +m1045330 -m997815 +m1330420 +m950300 +m1140360 -m1425450",
        "m1330420 m1140360 m950300 m1045330 m760240",
    ),
    (
        "-m1583825 +m1647178 +m950295 -m1077001 +m1077001 +m633530 -m443471 +m443471",
        "m950295 m443471 m633530 m1647178 m1077001",
    ),
    ("+m609770 +m0 -m1480870 -m1132430 +m348440 +m958210 +m871100", "m348440 m0 m609770 m958210 m871100"),
    (
        "+m3135942 -m2090628 +m2439066 +m2439066 -m871095 +m1916409 +m3135942 +m1567971 +m3484380 +m696876",
        "m1567971 m1916409 m696876 m3484380 m2439066 m3135942",
    ),
    ("+m2280684 +m1140342 -m4181254 +m4181254", "m4181254 m1140342 m2280684"),
)


@pytest.mark.parametrize(("history", "order"), RECORDED)
def test_the_real_classes_order(history: str, order: str) -> None:
    places = TimelineMap()
    for step in history.split():
        places = places.with_key(step[1:]) if step[0] == "+" else places.without_key(step[1:])
    assert " ".join(places.order()) == order


def test_keys_of_one_slot_come_newest_first() -> None:
    """ "Aa" and "BB" hash to 2112, so they share every slot; a key that is put again keeps its place."""
    both = TimelineMap().with_key("Aa").with_key("BB")
    assert both.order() == ("BB", "Aa")
    assert both.with_key("Aa").order() == ("BB", "Aa")


def test_slots_double_at_four_thirds_and_a_settled_map_has_those_of_one_more() -> None:
    """(keys + 1) · ¾ > slots: 2 slots until a third key, 4 until a sixth; a put of one of five counts as a sixth."""
    places = TimelineMap()
    slots = []
    for key in "abcdef":
        places = places.with_key(key)
        slots.append(places.slots)
    assert slots == [2, 2, 4, 4, 4, 8]
    assert [TimelineMap.settled("abcde"[:count]).slots for count in range(6)] == [2, 2, 4, 4, 4, 8]


def test_putting_everybody_again_settles_a_map() -> None:
    for count in range(1, 40):
        keys = [f"member-{number}" for number in range(count)]
        places = TimelineMap()
        for key in keys + keys:
            places = places.with_key(key)
        assert TimelineMap.settled(keys) == places
