"""The options that every command has which reads an INPUT."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from rebalance_advisor.input_bytes import MAX_INPUT_BYTES
from rebalance_advisor.option_texts import rate

if TYPE_CHECKING:
    from kafka_rebalance.snapshot.model import ClusterSnapshot


def add_input_options(parser: argparse.ArgumentParser) -> None:
    """``--max-input-bytes``: what the files of one input may hold together once they are unpacked; ``--strict``."""
    parser.add_argument(
        "--max-input-bytes", type=rate, default=MAX_INPUT_BYTES, metavar="B",
        help="what INPUT may hold, unpacked, e.g. 20GiB (8GiB)",
    )  # fmt: skip
    parser.add_argument(
        "--strict", action="store_true",
        help="refuse a folder with a file that cannot be read; else it is left out by name if the rest suffices",
    )  # fmt: skip


def read_given(path: Path, arguments: argparse.Namespace) -> ClusterSnapshot:
    """Return the snapshot of ``path``, read as the options of ``add_input_options`` say."""
    from rebalance_advisor.dumps.any_input import read_input

    return read_input(path, max_bytes=arguments.max_input_bytes, is_strict=getattr(arguments, "strict", False))
