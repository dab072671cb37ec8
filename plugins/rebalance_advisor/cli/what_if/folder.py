"""What a what-if leaves behind: figures and their table, and no file that anybody could execute."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rebalance_advisor.publish.folders.whole_folder import replace_folder

JSON_FILE, TEXT_FILE = "what_if.json", "what_if.txt"


def write_what_if(out: Path, document: Mapping[str, Any], lines: Sequence[str]) -> Path:
    """Replace the folder whole; returns where its files are to be read. Raises UsageError where it is not ours."""
    text = json.dumps(document, indent=1, ensure_ascii=False).encode("utf-8", "backslashreplace")
    table = "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace")
    return replace_folder(out, {JSON_FILE: text, TEXT_FILE: table}, hashlib.sha256(text).hexdigest())
