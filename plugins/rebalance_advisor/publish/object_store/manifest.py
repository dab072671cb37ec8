"""What says of objects that they are one advisory: in its own folder ``manifest.json``, and ``latest.json`` above.

Both are one document: ``format``, ``cluster``, ``run_id``, ``plan_id``, ``folder`` (as seen from ``latest.json``),
``written_at`` and ``files``, the sha-256 of each by its name in the folder. A reader of ``latest.json`` therefore knows
what there is to fetch, and whether it is what was published.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from kafka_rebalance.snapshot.times import time_text
from kafka_rebalance.visible_text import visible_json

MANIFEST, LATEST = "manifest.json", "latest.json"
_FORMAT = 1
_DIGEST_SHOWN = 16
# A name, or a name in one folder: a manifest that somebody else wrote cannot lead out of its own folder.
_NAME = re.compile(r"(?:[\w-]+/)?[\w-][\w.-]*", re.ASCII)
_TEXTS = ("cluster", "run_id", "plan_id", "folder", "written_at")


@dataclass(frozen=True, slots=True)
class Manifest:
    """One advisory as it lies in a store. ``folder`` is relative to the cluster's; ``files``: sha-256 by name."""

    cluster: str
    run_id: str
    plan_id: str
    folder: str
    written_at: datetime
    files: Mapping[str, str]

    def content(self) -> bytes:
        """The document."""
        document = {
            "format": _FORMAT, "cluster": self.cluster, "run_id": self.run_id, "plan_id": self.plan_id,
            "folder": self.folder, "written_at": time_text(self.written_at), "files": dict(sorted(self.files.items())),
        }  # fmt: skip
        return (visible_json(json.dumps(document, indent=1, ensure_ascii=False)) + "\n").encode()


def manifest_of(content: bytes | None) -> Manifest | None:
    """``None`` for what is not there, not whole, or not of a format that is known here."""
    try:
        document: Any = json.loads(content or b"")
        texts = {name: document[name] for name in _TEXTS}
        files = document["files"]
        is_ours = document["format"] == _FORMAT and all(isinstance(text, str) for text in texts.values())
        if not is_ours or not all(isinstance(sha, str) and _NAME.fullmatch(name) for name, sha in files.items()):
            return None
        texts["written_at"] = datetime.fromisoformat(texts["written_at"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return Manifest(files=files, **texts) if texts["written_at"].tzinfo is not None else None


def sha256_of(files: Mapping[str, bytes]) -> dict[str, str]:
    """The sha-256 of each file, in hex."""
    return {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}


def digest_of(sums: Mapping[str, str]) -> str:
    """A short name for these files with these contents: other bytes, another name."""
    lines = "".join(f"{sums[name]}  {name}\n" for name in sorted(sums))
    return hashlib.sha256(lines.encode()).hexdigest()[:_DIGEST_SHOWN]
