"""Any input of the advisor → snapshot. What it is, is seen by its content, never by its name."""

from __future__ import annotations

import re
from pathlib import Path

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.snapshot.codec import FORMAT, snapshot_from_document
from kafka_rebalance.snapshot.model import ClusterSnapshot
from rebalance_advisor.dumps.cluster_model import is_cluster_model, read_cluster_model
from rebalance_advisor.dumps.dump_folder import read_folder, read_group_table
from rebalance_advisor.dumps.groups_dump import looks_like_groups
from rebalance_advisor.dumps.input_file import parse_json
from rebalance_advisor.dumps.reassignment import (
    CURRENT_TITLE,
    current_assignment,
    is_reassignment,
    read_reassignment,
)
from rebalance_advisor.dumps.text_lines import as_printed, without_commands
from rebalance_advisor.garbage_collection import without_collector
from rebalance_advisor.input_bytes import MAX_INPUT_BYTES, ByteBudget, is_folder, read_text

_JSON = re.compile(r"\s*[{\[]")
_DOCUMENT = re.compile(r"\s*(?:\{|\[\s*[\[{\"\]])")  # a log line begins with a bracket, too
_KNOWN = (
    "a snapshot JSON, a cluster-model JSON, a reassignment JSON (each plain or .gz), "
    "a kafka-consumer-groups --describe table, or a folder of dumps"
)


def read_input(
    path: str | Path, cluster: str | None = None, *, max_bytes: int = MAX_INPUT_BYTES, is_strict: bool = False
) -> ClusterSnapshot:
    """The snapshot in the file or folder ``path``; ``cluster`` names it where the input does not.

    ``max_bytes`` limits what all its files hold together once they are unpacked. A file of a folder that cannot be read
    becomes a gap where the rest suffices (``read_folder``), but not with ``is_strict``. Raises InvalidInputError with
    file, line or JSON path, and reason, for anything else that is not wholly right.
    """
    path, budget = Path(path), ByteBudget(max_bytes)
    try:
        with without_collector():
            if is_folder(path):
                return read_folder(path, cluster or _plain_name(path), budget, is_strict=is_strict)
            return _read_file(path, cluster or _plain_name(path), budget)
    except InvalidInputError as error:
        if error.place.startswith(str(path)):
            raise
        raise InvalidInputError.at(str(path), str(error)) from error  # the model's own checks know no file


def _read_file(path: Path, cluster: str, budget: ByteBudget) -> ClusterSnapshot:
    place = str(path)
    table = text = as_printed(read_text(path, budget))
    if not _DOCUMENT.match(text):
        text = without_commands(text)
    if not text or text.isspace():
        raise InvalidInputError.at(place, "is empty", f"give {_KNOWN}")
    if not _JSON.match(text):
        if looks_like_groups(text):
            return read_group_table(table, place, cluster)
        if CURRENT_TITLE not in text:
            raise InvalidInputError.at(f"{place}:1", "is none of the known inputs", f"give {_KNOWN}")
        return read_reassignment(current_assignment(text, place), place, cluster)
    document = parse_json(text, place)
    if isinstance(document, dict) and document.get("format") == FORMAT:
        return snapshot_from_document(document, place)
    if is_cluster_model(document):
        return read_cluster_model(document, place, cluster)
    if is_reassignment(document):
        return read_reassignment(document, place, cluster)
    raise InvalidInputError.at(
        f"{place}:1", f"is JSON of an unknown kind ({type(document).__name__})", f"give {_KNOWN}"
    )


def _plain_name(path: Path) -> str:
    """The file's name without ``.json`` and ``.gz``: the name of a cluster that has no other."""
    name = path.resolve().name
    for ending in (".gz", ".json"):
        name = name.removesuffix(ending)
    return name
