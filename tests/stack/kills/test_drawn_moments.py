from collections import Counter

from tests.stack.kills.drawn_moments import DrawnMoment, draw
from tests.stack.kills.kinds import KINDS


def test_each_kind_is_killed_four_times_once_in_each_quarter():
    drawn = draw(tuple(KINDS), seed=1)
    assert [moment.number for moment in drawn] == list(range(1, 41))
    quarters = Counter((moment.kind, int(4 * moment.fraction)) for moment in drawn)
    assert quarters == Counter({(kind, quarter): 1 for kind in KINDS for quarter in range(4)})


def test_a_seed_gives_the_same_list_and_another_one_another():
    assert draw(tuple(KINDS), seed=1) == draw(tuple(KINDS), seed=1) != draw(tuple(KINDS), seed=2)


def test_the_drawn_process_is_one_of_those_that_are_there():
    picks = [DrawnMoment(1, "task", 0.5, pick).one_of([30, 10, 20]) for pick in (0.0, 0.34, 0.99)]
    assert picks == [10, 20, 30]
