from pathlib import Path

import pytest

from tests import sample
from tests.sample import for_each


def batches_of(test) -> dict[str, tuple]:
    (mark,) = test.pytestmark
    assert mark.name == "parametrize"
    return {batch.id: batch.values for batch in mark.args[1]}


def test_all_cases_run_and_the_first_failure_names_all_that_failed() -> None:
    ran = []

    @for_each("number, word", [(1, "a"), (2, "b"), (3, "c")])
    def test(number: int, word: str) -> None:
        ran.append(number)
        assert word == "b", "not b"

    (values,) = batches_of(test).values()
    with pytest.raises(AssertionError, match="not b") as raised:
        test(number=values[0], word=values[1])
    assert ran == [1, 2, 3]
    assert raised.value.__notes__ == [
        "2 of 3 cases failed, the first of them above: number=1, word='a'; number=3, word='c'"
    ]


def test_a_case_that_should_raise_and_does_not_is_a_failure() -> None:
    @for_each("number", [1])
    def test(number: int) -> None:
        with pytest.raises(ValueError):
            int(number)

    with pytest.raises(pytest.fail.Exception, match="DID NOT RAISE"):
        test(number=[1])


def test_sample_and_rest_are_the_whole_table() -> None:
    @for_each("seed", range(10), fast=range(3), whole_step=1)
    def test(seed: int) -> None:
        """Never called."""

    assert batches_of(test) == {"sample": ((0, 1, 2),), "rest": ((3, 4, 5, 6, 7, 8, 9),)}
    assert [batch.marks for batch in test.pytestmark[0].args[1]] == [(), (pytest.mark.slow,)]


def test_the_rest_in_two_items_is_the_same_table() -> None:
    @for_each("seed", range(5), fast=[0], rest_items=2)
    def test(seed: int) -> None:
        """Never called."""

    assert batches_of(test) == {"sample": ((0,),), "rest 1": ((1, 3),), "rest 2": ((2, 4),)}


@pytest.mark.parametrize(
    ("is_brief", "whole_step", "asked"),
    [(True, 3, (0, 1, 2, 3, 4)), (True, None, (0, 1, 2, 3, 4)), (False, 3, (0, 3)), (False, None, (0, 4))],
)
def test_the_whole_search_is_asked_of_some_of_the_sample(
    monkeypatch: pytest.MonkeyPatch, *, is_brief: bool, whole_step: int | None, asked: tuple[int, ...]
) -> None:
    monkeypatch.setattr(sample, "_is_search_brief", lambda: is_brief)

    @for_each("seed", range(7), fast=range(5), whole_step=whole_step)
    def test(seed: int) -> None:
        """Never called."""

    assert batches_of(test) == {"sample": (asked,), "rest": ((5, 6),)}


def test_each_case_has_a_folder_of_its_own(tmp_path: Path) -> None:
    folders = []

    @for_each("seed", range(3))
    def test(tmp_path: Path, seed: int) -> None:
        folders.append(tmp_path)
        assert list(tmp_path.iterdir()) == []
        (tmp_path / "file").touch()

    test(tmp_path=tmp_path, seed=[0, 1, 2])
    assert len(set(folders)) == 3
