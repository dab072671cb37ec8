"""Programs around kafka-go's module (``tests/live/go``): by hand, with Go and its module proxy."""

import shutil
import subprocess
from functools import cache
from pathlib import Path

from stack.jvm.maven import RUN


@cache
def built_go() -> Path:
    """Folder with ``balancers`` and ``member``, built."""
    go, folder = shutil.which("go"), RUN / "go"
    assert go is not None, "this comparison needs Go 1.23 or newer"
    folder.mkdir(parents=True, exist_ok=True)
    command = [go, "build", "-o", f"{folder}/", "./..."]
    subprocess.run(command, cwd=Path(__file__).parent / "go", check=True, timeout=1_800)
    return folder
