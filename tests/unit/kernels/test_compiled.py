import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kafka_assignors import kernels

INNER = """
from kafka_assignors.kernels import inner_kernel

@inner_kernel
def priced(number):
    return {price} * number
"""
BETWEEN = """
from kafka_assignors.inner import priced
"""
OUTER = """
from kafka_assignors.between import priced
from kafka_assignors.kernels import kernel

@kernel
def doubled(number):
    return 2 * priced(number)

print(doubled(7), sum(doubled.stats.cache_hits.values()))
"""


def library(folder: Path) -> Path:
    """A small library of the same name, with a copy of the real decorators."""
    package = folder / "kafka_assignors"
    package.mkdir()
    (package / "__init__.py").write_text("")
    shutil.copy(kernels.__file__, package)
    (package / "inner.py").write_text(INNER.format(price=3))
    (package / "between.py").write_text(BETWEEN)
    (package / "outer.py").write_text(OUTER)
    return package


def outer_answer(folder: Path, owner: str = "kafka_assignors") -> tuple[int, int]:
    """The answer of ``outer`` in the package ``owner``, and how many kernels it found on disk."""
    environment = {**os.environ, "PYTHONPATH": str(folder), "NUMBA_CACHE_DIR": str(folder / "cache")}
    command = [sys.executable, "-c", f"import {owner}.outer"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=1200)
    answer, hits = done.stdout.split()
    return int(answer), int(hits)


@pytest.mark.slow
@pytest.mark.parametrize("owner", ["kafka_assignors", "kafka_rebalance"])
def test_a_kernel_is_compiled_anew_when_what_it_calls_has_changed_in_another_file(tmp_path: Path, owner: str) -> None:
    package = library(tmp_path)
    (tmp_path / owner).mkdir(exist_ok=True)
    (tmp_path / owner / "__init__.py").touch()
    (package / "outer.py").rename(tmp_path / owner / "outer.py")
    assert outer_answer(tmp_path, owner) == (42, 0)
    assert outer_answer(tmp_path, owner) == (42, 1)
    (package / "inner.py").write_text(INNER.format(price=5))
    assert outer_answer(tmp_path, owner) == (70, 0)
    assert outer_answer(tmp_path, owner) == (70, 1)


THIRD = """
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_file_location

class Loader(SourceFileLoader):
    get_source = None  # as pytest's loader of tests

path = __path__[0] + "/outer.py"
specification = spec_from_file_location("third.outer", path, loader=Loader("third.outer", path))
sys.modules["third.outer"] = module_from_spec(specification)
specification.loader.exec_module(sys.modules["third.outer"])
"""


def test_a_kernel_of_a_third_package_is_compiled_anew_whatever_loads_it(tmp_path: Path) -> None:
    """Kernels of tests call those of ``kafka_rebalance``, and pytest's loader hands out no source."""
    package = library(tmp_path)
    for owner in ("kafka_rebalance", "third"):
        (tmp_path / owner).mkdir()
        (tmp_path / owner / "__init__.py").touch()
    (package / "inner.py").rename(tmp_path / "kafka_rebalance" / "inner.py")
    (tmp_path / "third" / "__init__.py").write_text(THIRD)
    outer = OUTER.replace("kafka_assignors.between", "kafka_rebalance.inner")
    (tmp_path / "third" / "outer.py").write_text(outer)
    assert outer_answer(tmp_path, "third") == (42, 0)
    assert outer_answer(tmp_path, "third") == (42, 1)
    (tmp_path / "kafka_rebalance" / "inner.py").write_text(INNER.format(price=5))
    assert outer_answer(tmp_path, "third") == (70, 0)


CHAIN = """
from kafka_assignors.kernels import inner_kernel, kernel

@inner_kernel
def bottom(number):
    return number + 1

@inner_kernel
def left(number):
    return bottom(number) * 2

@inner_kernel
def right(number):
    return bottom(left(number)) * 3

@kernel
def one(number):
    return right(number) + left(number)

@kernel
def other(number):
    return bottom(number) + one(number)

print(other(5), one(5), sum(one.stats.cache_hits.values()) + sum(other.stats.cache_hits.values()))
"""


@pytest.mark.slow
def test_kernels_share_what_they_call_and_one_another_compiled_and_from_disk(tmp_path: Path) -> None:
    (library(tmp_path) / "outer.py").write_text(CHAIN)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, "-c", "import kafka_assignors.outer"]
    runs = [
        subprocess.run(
            command, env=environment, capture_output=True, text=True, check=True, timeout=1200
        ).stdout.split()
        for _ in range(2)
    ]
    assert [answers[:2] for answers in runs] == [["57", "51"]] * 2  # (6·2 + 1)·3 + 6·2 = 51, and 6 more
    assert int(runs[1][2]) > int(runs[0][2]) == 0


SMALLEST = """
from kafka_assignors.kernels import has_folder, kernel

@kernel
def half(number):
    return number / 2

print(half(3), has_folder())
"""


def test_a_kernel_runs_where_no_folder_is_writable(tmp_path: Path) -> None:
    """A file blocks each folder that numba tries: permissions would not stop root."""
    package = library(tmp_path)
    (package / "outer.py").write_text(SMALLEST)
    in_the_way = package / "__pycache__"
    in_the_way.touch()
    variables = {key: value for key, value in os.environ.items() if not key.startswith("NUMBA_")}
    variables |= {"PYTHONPATH": str(tmp_path), "HOME": str(in_the_way), "XDG_CACHE_HOME": str(in_the_way)}
    command = [sys.executable, "-c", "import kafka_assignors.outer"]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=1200, check=False)
    assert (done.stdout, done.stderr) == ("1.5 False\n", "")


NAMED = """
from typing import NamedTuple

import numpy as np

from kafka_assignors.kernels import kernel

class {name}(NamedTuple):
    numbers: np.ndarray
{lines}
@kernel
def total(pair):
    return pair.numbers.sum()

print(total({name}(np.arange({count}))), sum(total.stats.cache_hits.values()))
"""


def test_code_whose_types_are_gone_is_not_read(tmp_path: Path) -> None:
    """Numba would look for the class of the kernel's argument, and fail; the kernel's line is the same."""
    package = library(tmp_path)
    (package / "outer.py").write_text(NAMED.format(name="Old", lines="", count=3))
    assert outer_answer(tmp_path) == (3, 0)
    (package / "outer.py").write_text(NAMED.format(name="New", lines="", count=4))
    assert outer_answer(tmp_path) == (6, 0)
    files = [*(tmp_path / "cache").rglob("*.nbi")]
    (package / "outer.py").write_text(NAMED.format(name="New", lines="\n", count=5))
    assert outer_answer(tmp_path) == (10, 0)
    assert [*(tmp_path / "cache").rglob("*.nbi")] == files
    assert outer_answer(tmp_path) == (10, 1)
