"""One sample file of any of the three formats, counted in this process."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from kafka_rebalance.errors import UsageError
from kafka_rebalance.partitioners.tally.plan import TallyPlan
from kafka_rebalance.partitioners.tally.tally import KeyTally
from rebalance_advisor.input_bytes import ByteBudget
from rebalance_advisor.key_samples.columns import SampleColumns
from rebalance_advisor.key_samples.request import format_of


def tally_file(
    path: Path, columns: SampleColumns, plan: TallyPlan, budget: ByteBudget, told: str | None = None
) -> KeyTally:
    """Raises InvalidInputError with file and line, UsageError where the format is not told or cannot be read here."""
    match format_of(str(path), told):
        case "json":
            from rebalance_advisor.key_samples.text_files import read_json_lines

            return KeyTally.none(plan).added(read_json_lines(path, columns, plan, budget))
        case "csv":
            from rebalance_advisor.key_samples.text_files import read_csv

            return KeyTally.none(plan).added(read_csv(path, columns, plan, budget))
    if find_spec("pyarrow") is None:
        raise UsageError.at(
            str(path),
            "Parquet needs pyarrow",
            "pip install pyarrow, or give JSON lines or CSV",
        )
    from rebalance_advisor.key_samples.parquet_files import parquet_files, row_groups, tally_of

    return tally_of(row_groups(parquet_files(path), columns), columns, plan)
