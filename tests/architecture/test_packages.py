"""The three packages: public names, READMEs, and what each needs to be imported."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

PLUGINS = Path(__file__).parents[2] / "plugins"
PACKAGES = ("kafka_assignors", "kafka_rebalance", "rebalance_advisor")

# Runs a script where nothing but the standard library, numpy and numba can be imported.
ALONE = """
import sys
ALLOWED = {"numpy", "numba", "llvmlite", "kafka_assignors", *sys.stdlib_module_names}
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in ALLOWED:
            raise ImportError(f"{name} is not part of numpy and numba")
sys.meta_path.insert(0, Refuse())
"""
ALL_MODULES = """
import importlib, pkgutil, kafka_assignors
names = [module.name for module in pkgutil.walk_packages(kafka_assignors.__path__, "kafka_assignors.")]
for name in names:
    importlib.import_module(name)
print(len(names))
"""


def readme(package: str) -> str:
    return (PLUGINS / package / "README.md").read_text("utf-8")


@pytest.mark.parametrize("package", PACKAGES[:2])
def test_each_public_name_is_there(package: str) -> None:
    module = importlib.import_module(package)
    assert module.__all__
    assert [name for name in module.__all__ if not hasattr(module, name)] == []
    with pytest.raises(AttributeError, match="no_such_name"):
        module.no_such_name  # noqa: B018


@pytest.mark.parametrize("package", PACKAGES)
def test_a_readme_names_every_package_inside(package: str) -> None:
    inside = {path.parent.name for path in (PLUGINS / package).glob("*/__init__.py")}
    assert sorted(name for name in inside if f"`{name}`" not in readme(package)) == []


def test_the_assignors_need_numpy_and_numba_alone() -> None:
    (block,) = re.findall(r"```python\n(.*?)```", readme("kafka_assignors"), re.DOTALL)
    script = f"{ALONE}\n{block}\n{ALL_MODULES}"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 30
