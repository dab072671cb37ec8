import numpy as np
from hypothesis import given
from hypothesis import strategies as some

from kafka_assignors.java.hash_order import DEFAULT_CAPACITY, PUT, REMOVE, JavaHashMap, order_after
from kafka_assignors.java.strings import hash_code

# Two letters each, many of one hash ("Aa", "BB") and many of one bin: tables of 16 and 32 double for a ninth key.
NAMES = tuple(
    dict.fromkeys(
        [*(a + b for a in "AB" for b in "aB"), *(f"m{i}" for i in range(40)), *(chr(97 + 16 * i) for i in range(60))]
    )
)


@given(some.lists(some.tuples(some.sampled_from((PUT, REMOVE)), some.integers(0, len(NAMES) - 1)), max_size=120))
def test_any_history_gives_the_order_of_the_recorded_model(history: list[tuple[int, int]]) -> None:
    places = JavaHashMap()
    for step, key in history:
        places = places.with_key(NAMES[key]) if step == PUT else places.without_key(NAMES[key])
    hashes = np.array([hash_code(name) for name in NAMES], np.int32)
    steps, keys = np.array(history, np.int32).reshape(-1, 2).T
    order = order_after(hashes, steps.astype(np.int8), keys.copy(), DEFAULT_CAPACITY)
    assert list(places.order()) == [NAMES[key] for key in order]


def test_a_table_that_grew_stays_large() -> None:
    """13 of 16 make it 32, where "q" (113) has bin 17 and "b" (98) bin 2; in 16 bins "q" would be first, in bin 1."""
    places = JavaHashMap()
    for number in range(13):
        places = places.with_key(f"member-{number}")
    for number in range(13):
        places = places.without_key(f"member-{number}")
    assert places.table == 32
    assert places.with_key("q").with_key("b").order() == ("b", "q")
    assert JavaHashMap().with_key("q").with_key("b").order() == ("q", "b")
