"""Every kind of forgery is caught by the rule that it breaks, on plans of several kinds.

The fast tests put each forgery on one kind of plan. The slow tests put it on two others, and change each field of
each kind of plan. ``python -m tests.unit.verify.forgeries`` prints the table of all forgeries and plans.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import islice
from typing import Any

import pytest

from kafka_rebalance.verify import RULES, verify_folder, verify_plan
from tests.sample import for_each
from tests.unit.verify.forgeries import CATALOGUE, judged
from tests.unit.verify.forgeries.forging import Document, InapplicableError
from tests.unit.verify.plan_kinds import KINDS
from tests.unit.verify.sample_plans import SamplePlan, sealed_anyhow

MUST_BE_CAUGHT = sorted(name for name, forgery in CATALOGUE.items() if not forgery.harmless)
BROKEN_RULES = sorted({CATALOGUE[name].rules[0] for name in MUST_BE_CAUGHT})

# Ten times the size of the others, and as slow to be judged: the fast tests take them where no other plan will do.
LARGE = ("busy", "plain")


@for_each("kind", sorted(KINDS))
def test_every_kind_of_plan_is_right_with_all_its_files(kind: str) -> None:
    sample = KINDS[kind]()
    assert [str(fault) for fault in verify_folder(sample.files, sample.snapshot).wrong] == []


def applies(name: str, kind: str) -> bool:
    forgery, sample = CATALOGUE[name], KINDS[kind]()
    try:
        forgery.spoil(dict(sample.files) if forgery.of_files else sample.document)
    except InapplicableError:
        return False
    return True


def plans_for(name: str, *, is_fast: bool) -> Iterator[str]:
    """Yield the first kind of plan that a forgery applies to, or two others, in an order that its name decides."""
    kinds = sorted(KINDS)
    random.Random(name).shuffle(kinds)
    first = next(kind for kind in sorted(kinds, key=LARGE.__contains__) if applies(name, kind))
    others = (kind for kind in kinds if kind != first and applies(name, kind))
    return iter((first,)) if is_fast else islice(others, 2)


@pytest.mark.parametrize(
    "is_fast", [pytest.param(True, id="one plan"), pytest.param(False, id="two others", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("rule", BROKEN_RULES)
def test_a_forgery_is_caught_by_the_rule_that_it_breaks(rule: str, is_fast: bool) -> None:
    missed = {}
    for name in (name for name in MUST_BE_CAUGHT if CATALOGUE[name].rules[0] == rule):
        for kind in plans_for(name, is_fast=is_fast):
            outcome = judged(CATALOGUE[name], KINDS[kind]())
            if outcome.word != "caught":
                missed[f"{name} on {kind}"] = outcome.verification and sorted(outcome.verification.counts)
    assert missed == {}


def test_a_hundred_kinds_are_tried_over_all_rules_and_few_are_harmless() -> None:
    assert len(MUST_BE_CAUGHT) >= 100
    harmless = [forgery for forgery in CATALOGUE.values() if forgery.harmless]
    assert len(harmless) <= 5
    assert all(len(forgery.harmless) > 40 for forgery in harmless)
    tried = {rule for forgery in CATALOGUE.values() for rule in forgery.rules}
    with_tests_of_their_own = {
        "unmovable",
        "in_flight",
        "wave_order",
        "wave_night",
        "bound_weak",
        "survive",
        "min_topic_leaders",
        "out_of_sync",
    }
    of_log_dirs = {rule for rule in RULES if rule.startswith("log_dir_")}  # tests/unit/verify/log_dirs
    assert set(RULES) - tried <= with_tests_of_their_own | of_log_dirs
    assert tried <= set(RULES)


# Values that a plan may choose or word freely; a path matches by prefix, "*" is any step.
FREE = {
    ("plan_id",): "sealed anew",
    ("seed",): "the plan was drawn from it; another one that gives the same moves is as good",
    ("advisor_version",): "who made it, not what it says",
    ("reasons", "*"): "facts but for the figures of some, which have forgeries of their own",
    ("left_out", "*"): "facts that no move rests on",
    ("moves", "*", "worse_without", "args", "times_share_without"): "a level that would be: only that it is worse",
    ("moves", "*", "worse_without", "args", "load"): "a level that would be, after a loss",
    ("moves", "*", "worse_without", "args", "capacity"): "a level that would be, after a loss",
    ("lower_bound", "*"): "a bound that is weaker is still true; its proof is a code",
    ("certificate",): "prices prove a bound whatever they are",
    ("steps", "*", "certificate"): "prices prove a bound whatever they are",
    ("proofs",): "prices prove a bound whatever they are",
    ("frontier", "*"): "the plans behind other points are not in the document",
    ("robustness", "noise"): "any noise may be tried",
    ("robustness", "trials"): "any number of trials may be made",
    ("robustness", "verdict_stands"): "the planner's own estimate",
    ("trace", "*"): "how the planner came to the plan; the last step has forgeries of its own",
    ("parameters",): "a plan may be right for other options, too: it is judged by those that it tells",
    ("cost", "seconds_slot_filling"): "an estimate between two figures that are judged",
    ("rollback", "seconds_slot_filling"): "an estimate between two figures that are judged",
}


def leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Paths of all plain values."""
    if isinstance(value, dict):
        return [leaf for key, inner in value.items() for leaf in leaves(inner, (*path, key))]
    if isinstance(value, list):
        return [leaf for number, inner in enumerate(value) for leaf in leaves(inner, (*path, number))]
    return [path]


def is_free(path: tuple[Any, ...]) -> bool:
    return any(
        len(path) >= len(free) and all(step in ("*", own) for step, own in zip(free, path, strict=False))
        for free in FREE
    )


def forged_value(old: Any, draw: random.Random) -> Any:
    """Another value of the same kind, most often a little off."""
    if isinstance(old, bool):
        return not old
    if isinstance(old, int):
        return old + draw.choice([1, -1, max(abs(old) // 100, 1), 1000])
    if isinstance(old, float):
        return draw.choice([old * 1.01, old * 0.99, -old - 1.0]) if old else 1.0
    if isinstance(old, str):
        return draw.choice(["", old + "x", old[:-1]])
    return draw.choice([1, "x", 0.5])


def put(document: Document, path: tuple[Any, ...], value: Any) -> None:
    inner: Any = document
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value


def value_at(document: Document, path: tuple[Any, ...]) -> Any:
    inner: Any = document
    for step in path:
        inner = inner[step]
    return inner


def judged_paths(sample: SamplePlan) -> dict[tuple[Any, ...], list[tuple[Any, ...]]]:
    """Paths that are not free, by the names of their fields."""
    by_field: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {}
    for path in leaves(sample.document):
        if not is_free(path):
            field = tuple(step for step in path if isinstance(step, str) and not step.isdecimal())
            by_field.setdefault(field, []).append(path)
    return by_field


def missed_change(sample: SamplePlan, path: tuple[Any, ...], draw: random.Random) -> list[tuple[Any, ...]]:
    """The path with its old and its new value, where the verifier calls the changed document right."""
    document = sample.document
    old = value_at(document, path)
    new = forged_value(old, draw)
    put(document, path, new)
    return [(path, old, new)] if verify_plan(sealed_anyhow(document), sample.snapshot).is_right else []


@pytest.mark.slow
@for_each("kind", [kind for kind in sorted(KINDS) if kind not in LARGE])
def test_any_value_that_is_changed_is_caught_unless_it_is_free(kind: str) -> None:
    sample, draw = KINDS[kind](), random.Random(kind)
    missed = []
    fields = [alike for _, alike in sorted(judged_paths(sample).items())]
    for alike in draw.sample(fields, len(fields) // 3):  # each field of all plans is tried by the test below
        missed += missed_change(sample, draw.choice(alike), draw)
    assert missed == []


@pytest.mark.slow
def test_a_changed_value_of_each_field_is_caught_in_one_of_the_plans_that_have_it() -> None:
    draw = random.Random(12)
    plans: dict[tuple[Any, ...], list[tuple[str, list[tuple[Any, ...]]]]] = {}
    for kind in sorted(KINDS):
        for field, alike in judged_paths(KINDS[kind]()).items():
            plans.setdefault(field, []).append((kind, alike))
    assert len(plans) > 60
    missed = []
    for _, having in sorted(plans.items()):
        kind, alike = draw.choice([pair for pair in having if pair[0] not in LARGE] or having)
        missed += missed_change(KINDS[kind](), draw.choice(alike), draw)
    assert missed == []


STRANGE: list[Any] = [
    None, -1, 0, 10**12, 10**400, 0.5, -1e308, float("nan"), float("inf"), "", "x", "\ud800", "\x1b[2J", "9" * 5000, [],
    {}, True, [[]], [None], {"": None}, {"9" * 400: 1},
]  # fmt: skip


def test_nothing_that_stands_anywhere_crashes_the_verifier() -> None:
    """Any value, list or object of a plan replaced by something strange: faults in clean text, never an exception."""
    draw = random.Random(7)
    for kind in sorted(KINDS):
        sample = KINDS[kind]()
        paths = sorted({path[:cut] for path in leaves(sample.document) for cut in range(1, len(path) + 1)}, key=str)
        by_field = {
            tuple(step for step in path if isinstance(step, str) and not step.isdecimal()): path for path in paths
        }
        for path in draw.sample(sorted(by_field.values(), key=str), min(15, len(by_field))):
            document = sample.document
            put(document, path, draw.choice([value for value in STRANGE if value != value_at(document, path)]))
            verification = verify_plan(document, sample.snapshot)
            assert verification.counts or path[0] in {free[0] for free in FREE}, path
            assert all(str(fault).isprintable() for fault in verification.faults)


def test_what_is_inapplicable_says_so() -> None:
    document: Document = KINDS["nothing_to_do"]().document
    with pytest.raises(InapplicableError):
        CATALOGUE["move_in_two_waves"].spoil(document)
