import random
from heapq import heapify, heappop

from kafka_assignors.java.priority_queue import PriorityQueue


def polled(queue: PriorityQueue) -> list[int]:
    return [queue.poll() for _ in range(len(queue))]


def test_equal_keys_leave_in_the_order_of_javas_heap() -> None:
    """The last of three goes to the head after a poll. Python's heap would lift item 1 over it."""
    assert polled(PriorityQueue([0.0, 0.0, 0.0], range(3))) == [0, 2, 1]
    python = [(0, 0), (0, 1), (0, 2)]
    heapify(python)
    assert [heappop(python)[1] for _ in range(3)] == [0, 1, 2]


def test_the_left_child_goes_up_where_both_are_equal() -> None:
    """[0, 1, 2, 3] with keys 0, 1, 1, 2: after item 0, item 3 goes down to the left, behind item 1."""
    assert polled(PriorityQueue([0.0, 1.0, 1.0, 2.0], range(4))) == [0, 1, 2, 3]


def test_keys_leave_in_order_and_may_change_outside() -> None:
    lots = random.Random(5)
    keys = [float(lots.randrange(9)) for _ in range(50)]
    queue = PriorityQueue(keys, range(50))
    for _ in range(200):
        item = queue.poll()
        assert keys[item] == min(keys)
        keys[item] += lots.randrange(4)
        queue.add(item)
    assert [keys[item] for item in polled(queue)] == sorted(keys)
