import numpy as np
import numpy.typing as npt
import pytest

from kafka_rebalance.errors import UsageError
from kafka_rebalance.planner.log_dirs import (
    LogDirProblem,
    fewest_moved_bytes,
    lightest_cover_bytes,
    place_in_log_dirs,
    placed_in_whole_numbers,
)
from kafka_rebalance.planner.params import LOG_DIRS


def problem(
    sizes: list[int], dirs: list[int], limits: list[tuple[int, int]], closed: int | None = None
) -> LogDirProblem:
    return LogDirProblem(
        size_bytes=np.array(sizes, dtype=np.int64),
        dir_of=np.array(dirs, dtype=np.int64),
        floor_bytes=np.array([floor for floor, _ in limits], dtype=np.int64),
        ceiling_bytes=np.array([ceiling for _, ceiling in limits], dtype=np.int64),
        may_receive=np.array([number != closed for number in range(len(limits))]),
    )


def random_problem(random: np.random.Generator, largest: int) -> LogDirProblem:
    """Up to 7 replicas in 2 or 3 dirs: tight and wide limits, sometimes a dir to empty or a cordoned one."""
    dirs, replicas = int(random.integers(2, 4)), int(random.integers(1, 8))
    sizes = random.integers(1, largest, replicas)
    even = int(sizes.sum()) // dirs
    limits = []
    for _ in range(dirs):
        floor = int(even * random.uniform(0.0, 0.9))
        limits.append((floor, int(even * random.uniform(0.9, 1.6)) + 1))
    if random.random() < 0.3:
        limits[0] = (0, 0)
    closed = int(random.integers(dirs)) if random.random() < 0.2 else None
    return problem(sizes.tolist(), random.integers(0, dirs, replicas).tolist(), limits, closed)


def all_placements(asked: LogDirProblem) -> npt.NDArray[np.int64]:
    """Every placement without replicas on closed dirs, a row each."""
    dirs, replicas = len(asked.ceiling_bytes), len(asked.size_bytes)
    codes = np.arange(dirs**replicas)[:, None] // dirs ** np.arange(replicas)[None, :] % dirs
    is_allowed = asked.may_receive[codes] | (codes == asked.dir_of[None, :])
    return codes[is_allowed.all(axis=1)]


def all_costs(asked: LogDirProblem) -> npt.NDArray[np.int64]:
    """Over, under and moved bytes of every placement."""
    placements = all_placements(asked)
    dirs = len(asked.ceiling_bytes)
    loads = np.stack([((placements == number) * asked.size_bytes).sum(axis=1) for number in range(dirs)], axis=1)
    over = np.maximum(loads - asked.ceiling_bytes, 0).sum(axis=1)
    under = np.maximum(asked.floor_bytes - loads, 0).sum(axis=1)
    moved = ((placements != asked.dir_of) * asked.size_bytes).sum(axis=1)
    return np.stack([over, under, moved], axis=1)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("largest", [12, 2**40])
def test_no_bound_above_the_optimum_and_no_plan_below_it(seed: int, largest: int) -> None:
    """30 brokers a seed and size: the least violation of limits, then the fewest bytes."""
    random = np.random.default_rng(seed)
    for _ in range(30):
        asked = random_problem(random, largest)
        result = place_in_log_dirs(asked)
        costs = all_costs(asked)
        best = min(map(tuple, costs.tolist()))
        load = asked.load_bytes(result.dir_of)
        assert (result.over_bytes, result.under_bytes, result.moved_bytes) == asked.cost(result.dir_of)
        assert result.over_bytes == best[0]
        assert result.under_bytes == best[1]
        reached = LogDirProblem(
            asked.size_bytes,
            asked.dir_of,
            np.minimum(asked.floor_bytes, load),
            np.maximum(asked.ceiling_bytes, load),
            asked.may_receive,
        )
        optimum = min(map(tuple, all_costs(reached).tolist()))
        assert optimum[:2] == (0, 0)
        assert result.bound_bytes <= optimum[2] <= result.moved_bytes == best[2]
        closed = ~asked.may_receive[result.dir_of]
        assert (result.dir_of[closed] == asked.dir_of[closed]).all()


def test_the_example() -> None:
    result = place_in_log_dirs(problem([60, 50, 30], [0, 0, 0], [(0, 100), (0, 100)]))
    assert result.dir_of.tolist() == [0, 1, 0]
    assert (result.moved_bytes, result.bound_bytes, result.over_bytes) == (50, 50, 0)


def test_what_is_within_its_limits_stays() -> None:
    result = place_in_log_dirs(problem([60, 50, 30], [0, 1, 1], [(50, 100), (50, 100)]))
    assert result.dir_of.tolist() == [0, 1, 1]
    assert result.moved_bytes == result.bound_bytes == 0


def test_a_needless_move_is_taken_back_where_programs_are_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """The 3 relieve most a byte and move first. Then the 12 must move, and the 3 fit again."""
    monkeypatch.setattr("kafka_rebalance.planner.log_dirs.placed_in_whole_numbers", lambda _: None)
    placement = place_in_log_dirs(problem([3, 12], [0, 0], [(0, 10), (0, 20)]))
    assert (placement.dir_of.tolist(), placement.moved_bytes) == ([0, 1], 12)


def test_a_dir_is_emptied_and_a_cordoned_one_gets_nothing() -> None:
    result = place_in_log_dirs(problem([5, 1, 7], [0, 0, 1], [(0, 0), (0, 99), (0, 99)], closed=1))
    assert result.dir_of.tolist() == [2, 2, 1]
    assert result.moved_bytes == result.bound_bytes == 6


def test_what_the_others_cannot_hold_is_said() -> None:
    result = place_in_log_dirs(problem([10, 10], [0, 0], [(0, 0), (0, 15)]))
    assert (result.over_bytes, result.moved_bytes) == (5, 20) or (result.over_bytes, result.moved_bytes) == (10, 10)
    assert result.over_bytes == min(all_costs(problem([10, 10], [0, 0], [(0, 0), (0, 15)]))[:, 0])


def test_a_large_broker_ends_near_its_bound() -> None:
    """1,200 replicas in 8 dirs, one twice its limit: too many for the exact program."""
    random = np.random.default_rng(7)
    sizes, dirs = random.integers(1, 10**9, 1_200), random.integers(0, 8, 1_200)
    dirs[:120] = 0
    even = int(sizes.sum()) // 8
    asked = problem(sizes.tolist(), dirs.tolist(), [(int(0.9 * even), int(1.1 * even))] * 8)
    assert placed_in_whole_numbers(asked) is None
    result = place_in_log_dirs(asked)
    assert (result.over_bytes, result.under_bytes) == (0, 0)
    assert result.bound_bytes <= result.moved_bytes <= 1.01 * result.bound_bytes
    assert (result.dir_of == place_in_log_dirs(asked).dir_of).all()


def test_the_lightest_cover_is_that_of_all_sets() -> None:
    random = np.random.default_rng(3)
    for _ in range(200):
        sizes = random.integers(1, 50, int(random.integers(1, 9)))
        need = int(random.integers(1, int(sizes.sum()) + 1))
        chosen = np.arange(2 ** len(sizes))[:, None] >> np.arange(len(sizes)) & 1
        weights = (chosen * sizes).sum(axis=1)
        assert lightest_cover_bytes(sizes, need) == weights[weights >= need].min()


def test_rounding_to_units_never_lifts_the_cover() -> None:
    sizes = np.array([60, 50, 30], dtype=np.int64) * (LOG_DIRS.bound_units * 1_000 + 7)
    cover = lightest_cover_bytes(sizes, 70 * (LOG_DIRS.bound_units * 1_000 + 7))
    assert 70 * (LOG_DIRS.bound_units * 1_000 + 7) <= cover <= 80 * (LOG_DIRS.bound_units * 1_000 + 7)
    assert lightest_cover_bytes(sizes, 0) == lightest_cover_bytes(sizes, -5) == 0
    assert lightest_cover_bytes(sizes[:0], 9) == 9


def test_what_a_dir_lacks_counts_as_what_it_has_too_much() -> None:
    asked = problem([10, 10, 10], [0, 0, 0], [(0, 99), (15, 99)])
    assert fewest_moved_bytes(asked, asked.floor_bytes, asked.ceiling_bytes) == 20


def test_only_small_brokers_are_decided_in_whole_numbers() -> None:
    assert placed_in_whole_numbers(problem([], [], [(0, 1), (0, 1)])) is None
    many = LOG_DIRS.whole_cells // 2 + 1
    assert placed_in_whole_numbers(problem([1] * many, [0] * many, [(0, many), (0, many)])) is None


@pytest.mark.parametrize(
    ("sizes", "dirs", "limits", "message"),
    [
        ([1], [0, 1], [(0, 9), (0, 9)], "1 sizes of 2 replicas"),
        ([1], [2], [(0, 9), (0, 9)], "a replica in dir 2 of 2"),
        ([0], [0], [(0, 9), (0, 9)], "a replica of 0 bytes"),
        ([1], [0], [(8, 7), (0, 9)], "a floor above its ceiling"),
    ],
)
def test_what_contradicts_itself_is_refused(
    sizes: list[int], dirs: list[int], limits: list[tuple[int, int]], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        problem(sizes, dirs, limits)
