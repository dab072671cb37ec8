"""Numba's own work is done cheaper while a kernel is compiled, and ends the same."""

import gc
import operator
import random

import pytest
from numba import njit, types
from numba.core.compiler import Flags
from numba.core.registry import cpu_target
from numba.core.targetconfig import TargetConfig
from numba.core.types.functions import BaseFunction

from kafka_assignors.kernels import cheap_compiling
from kafka_assignors.kernels.cheap_compiling import cheaply, hash_of_options, remembered_call_type, same_options

OPTIONS = ("nrt", "boundscheck", "forceinline", "no_cpython_wrapper", "error_model", "release_gil")


def some_flags(chance: random.Random) -> Flags:
    flags = Flags()
    for name in chance.sample(OPTIONS, chance.randint(0, 3)):
        setattr(flags, name, chance.choice(["python", "numpy"]) if name == "error_model" else chance.random() < 0.5)
    return flags


def test_flags_are_compared_and_hashed_as_numba_does_it() -> None:
    chance = random.Random(1)
    pairs = [(some_flags(chance), some_flags(chance)) for _ in range(3000)]
    answers = [TargetConfig.__eq__(one, other) for one, other in pairs]
    assert [same_options(one, other) for one, other in pairs] == answers
    assert {True, False} == set(answers)
    assert all(hash_of_options(one) == TargetConfig.__hash__(one) for one, _ in pairs)
    assert same_options(pairs[0][0], "flags") is NotImplemented


NUMBERS = (types.int64, types.uint8, types.float64, types.boolean, types.literal(3))


def test_an_operator_has_the_signature_that_numba_finds_the_first_and_the_second_time() -> None:
    context = cpu_target.typing_context
    context.refresh()
    for sign in (operator.add, operator.lt, operator.getitem, max):
        function = context.resolve_value_type(sign)
        for left in (*NUMBERS, types.float64[::1]):
            for right in NUMBERS:
                answers = []
                for look_up in (BaseFunction.get_call_type, remembered_call_type, remembered_call_type):
                    try:
                        answers.append(look_up(function, context, (left, right), {}))
                    except Exception as error:  # noqa: BLE001 - whatever numba raises must be raised again
                        answers.append(type(error))
                assert answers[0] == answers[1] == answers[2]


def test_all_is_as_before_after_a_kernel_was_compiled_and_after_one_was_refused() -> None:
    def state() -> tuple[object, ...]:
        return gc.get_threshold(), BaseFunction.get_call_type, TargetConfig.__eq__, TargetConfig.__hash__

    before = state()
    with cheaply(), cheaply():
        assert state() != before
        assert njit(lambda number: number + 1)(1) == 2
    assert state() == before
    with pytest.raises(ArithmeticError), cheaply():
        raise ArithmeticError
    assert state() == before


def test_a_kernel_is_compiled_cheaply(monkeypatch: pytest.MonkeyPatch) -> None:
    from kafka_assignors.kernels.decorators import inner_kernel, kernel

    seen: list[object] = []
    plain = cheap_compiling.remembered_call_type
    monkeypatch.setattr(cheap_compiling, "remembered_call_type", lambda *words: (seen.append(words), plain(*words))[1])

    @inner_kernel
    def twice(number: int) -> int:
        return 2 * number

    @kernel
    def more(number: int) -> int:
        return twice(number) + 1

    assert more(20) == 41
    assert seen
