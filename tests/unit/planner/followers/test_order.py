from __future__ import annotations

from itertools import product

import numpy as np

from kafka_assignors.arrays import Flags, Floats, Ints
from kafka_rebalance.planner.followers import Staying, ordered_followers


def ordered(rows: list[list[int]], free: list[bool] | None = None, able: Flags | None = None) -> list[list[int]]:
    """Partitions of equal load; by default all are free and all brokers able."""
    replicas = np.array(rows, dtype=np.int32)
    is_free = np.ones(len(rows), dtype=np.bool_) if free is None else np.array(free)
    is_able = np.ones(replicas.shape, dtype=np.bool_) if able is None else able
    return ordered_followers(replicas, is_free, is_able, np.ones(len(rows)), int(replicas.max()) + 1).tolist()


def standbys(rows: list[list[int]] | Ints, brokers: int = 4) -> list[int]:
    """Partitions that each broker takes over."""
    return np.bincount(np.asarray(rows)[:, 1], minlength=brokers).tolist()


def test_the_worked_example_of_the_module() -> None:
    """Four with followers 1 and 2, two with 1 and 3: two for each of the three."""
    assert standbys(ordered([[0, 1, 2]] * 4 + [[0, 1, 3]] * 2)) == [0, 2, 2, 2]


def test_a_chain_of_exchanges_mends_a_first_choice() -> None:
    """Greedy by load leaves 1 with three; only a chain of exchanges gives it two."""
    replicas = np.array([[0, 1, 2], [0, 1, 2], [0, 1, 2], [0, 2, 3], [0, 1, 1]], dtype=np.int32)
    replicas[4] = (0, 1, -1)
    weight = np.array([9.0, 8, 7, 6, 5])
    result = ordered_followers(replicas, np.ones(5, np.bool_), replicas >= 0, weight, 4)
    assert sorted(standbys(result)) == [0, 1, 2, 2]


def test_what_is_not_free_counts_and_stays_and_who_is_not_able_is_no_standby() -> None:
    """Broker 1 is standby for two: both others go to 2. Where 2 is not in sync, 1 is chosen."""
    rows = [[0, 1, 2]] * 4
    free = [False, False, True, True]
    assert ordered(rows, free) == [[0, 1, 2], [0, 1, 2], [0, 2, 1], [0, 2, 1]]
    able = np.array([[True, True, False]] * 4)
    assert ordered(rows, free, able) == rows


def least_squares(rows: Ints, free: Flags, able: Flags, leader: int, brokers: int) -> int:
    """Least sum of squares over every choice of standbys of one leader's partitions."""
    members = [p for p in range(len(rows)) if rows[p, 0] == leader and able[p, 1:].any()]
    columns = [np.flatnonzero(able[p, 1:]) + 1 for p in members]
    chosen = [list(c) if free[p] else [c[0]] for p, c in zip(members, columns, strict=True)]
    return min(
        sum(n * n for n in np.bincount([rows[p, j] for p, j in zip(members, choice, strict=True)], minlength=brokers))
        for choice in product(*chosen)
    )


def random_case(seed: int) -> tuple[Ints, Flags, Flags, Floats, int]:
    """Up to 12 partitions of up to four replicas on up to six brokers of unequal load."""
    random = np.random.default_rng(seed)
    brokers, width = int(random.integers(3, 7)), int(random.integers(2, 4))
    chance = random.random(brokers) ** 2 + 0.05
    count = int(random.integers(1, 13))
    rows = [random.choice(brokers, width, replace=False, p=chance / chance.sum()) for _ in range(count)]
    replicas = np.array(rows, dtype=np.int32)
    able = random.random(replicas.shape) < 0.9
    return replicas, random.random(count) < 0.8, able, random.random(count), brokers


def test_no_order_is_more_even_on_random_clusters() -> None:
    for seed in range(200):
        replicas, free, able, weight, brokers = random_case(seed)
        result = ordered_followers(replicas, free, able, weight, brokers)
        assert np.array_equal(result[~free], replicas[~free]), seed
        assert np.array_equal(np.sort(result, axis=1), np.sort(replicas, axis=1)), seed
        assert np.array_equal(result[:, 0], replicas[:, 0]), seed
        for leader in range(brokers):
            takes = np.zeros(brokers, dtype=np.int64)
            for p in np.flatnonzero((replicas[:, 0] == leader) & able[:, 1:].any(axis=1)):
                able_after = [b for b in result[p, 1:] if able[p, replicas[p].tolist().index(b)]]
                takes[able_after[0]] += 1
            assert int((takes**2).sum()) == least_squares(replicas, free, able, leader, brokers), (seed, leader)


def changed(ints: Ints, replicas: Ints) -> int:
    return int((ints != replicas).any(axis=1).sum())


def test_a_list_that_would_stay_changes_only_where_that_spreads_something() -> None:
    """Of four with standby 1 two go to 2: at least that many lists change, and none where none may."""
    replicas = np.array([[0, 1, 2]] * 4, dtype=np.int32)
    nobody, weight = np.zeros(4, np.bool_), np.ones(4)
    for most, expected in ((9, 2), (2, 2), (1, 1), (0, 0)):
        result = ordered_followers(replicas, nobody, replicas >= 0, weight, 3, Staying(~nobody, most))
        assert changed(result, replicas) == expected, most


def test_the_broker_that_is_furthest_from_even_is_ordered_first() -> None:
    """Broker 0 leads two with standby 1, broker 3 six: of three changed lists all are broker 3's."""
    replicas = np.array([[0, 1, 2]] * 2 + [[3, 1, 2]] * 6, dtype=np.int32)
    nobody = np.zeros(8, np.bool_)
    result = ordered_followers(replicas, nobody, replicas >= 0, np.ones(8), 4, Staying(~nobody, 3))
    assert np.flatnonzero((result != replicas).any(axis=1)).min() >= 2
    assert standbys(result[2:]) == [0, 3, 3, 0]


def test_lists_that_stay_end_as_even_as_any_order_and_no_sooner_than_allowed() -> None:
    """Against every choice: least squares without a limit; with a limit, no more lists and no worse."""
    for seed in range(200):
        replicas, free, able, weight, brokers = random_case(seed)
        stays = ~free & (np.random.default_rng(seed).random(len(free)) < 0.7)
        result = ordered_followers(replicas, free, able, weight, brokers, Staying(stays, 99))
        assert np.array_equal(result[:, 0], replicas[:, 0]), seed
        for leader in range(brokers):
            squares = squares_of(result, replicas, able, leader, brokers)
            assert squares == least_squares(replicas, free | stays, able, leader, brokers), (seed, leader)
        most = int(stays.sum()) // 3
        some = ordered_followers(replicas, free, able, weight, brokers, Staying(stays, most))
        assert changed(some[stays], replicas[stays]) <= most, seed


def squares_of(ints: Ints, replicas: Ints, able: Flags, leader: int, brokers: int) -> int:
    """Sum of squares of standby loads of one leader's partitions."""
    takes = np.zeros(brokers, dtype=np.int64)
    for p in np.flatnonzero((replicas[:, 0] == leader) & able[:, 1:].any(axis=1)):
        takes[next(b for b in ints[p, 1:] if able[p, replicas[p].tolist().index(b)])] += 1
    return int((takes**2).sum())
