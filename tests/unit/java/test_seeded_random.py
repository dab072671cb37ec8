import numpy as np

from kafka_assignors.java.seeded_random import java_random, mock_random, next_bits, next_int, shuffle


def test_seed_42_draws_what_java_draws() -> None:
    state = java_random(42)
    assert [int(next_int(state, 10)) for _ in range(5)] == [0, 3, 8, 4, 0]


def test_seed_0_draws_the_recorded_numbers_and_shuffles() -> None:
    state = java_random(0)
    assert [int(next_bits(state, 32)) for _ in range(2)] == [-1155484576, -723955400]
    for expected in ([3, 6, 2, 1, 0, 5, 4], [0, 3, 4, 1, 5, 2, 6]):
        values = np.arange(7, dtype=np.int32)
        shuffle(state, values)
        assert values.tolist() == expected
    assert [int(next_int(state, bound)) for bound in (5, 1000)] == [0, 844]


def test_a_large_bound_draws_again_where_java_does() -> None:
    bound = 2**30 + 1
    state, raw = java_random(7), java_random(7)
    drawn = [int(next_int(state, bound)) for _ in range(50)]
    accepted = [value for value in (int(next_bits(raw, 31)) for _ in range(200)) if value < bound]
    assert drawn == accepted[:50]


def test_mock_random_draws_the_recorded_numbers() -> None:
    state = mock_random(-1)
    values = np.arange(11, dtype=np.int32)
    shuffle(state, values)
    assert values.tolist() == [9, 5, 8, 2, 10, 0, 4, 7, 6, 3, 1]
    assert int(next_bits(state, 32)) == 1653977728
    assert int(next_int(state, 1073741824)) == 353908342
