"""All that the wheel and its extras install, as CycloneDX 1.5, read from the lock by uv."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from uv import find_uv_bin

ROOT = Path(__file__).parents[2]
EXPORT = ("export", "--frozen", "--offline", "--quiet", "--no-dev", "--all-extras", "--format", "cyclonedx1.5")


def locked_document() -> dict[str, Any]:
    """Document of uv without its random number and time: the same lock gives the same bytes."""
    done = subprocess.run([find_uv_bin(), *EXPORT], cwd=ROOT, check=True, capture_output=True, text=True)
    document: dict[str, Any] = json.loads(done.stdout)
    document.pop("serialNumber", None)
    document.get("metadata", {}).pop("timestamp", None)
    return document


def locked_components() -> list[dict[str, Any]]:
    components: list[dict[str, Any]] = locked_document()["components"]
    return components
