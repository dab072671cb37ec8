from __future__ import annotations

from pathlib import Path

import pytest

from kafka_rebalance.errors import UsageError
from kafka_rebalance.key_tally.plan import TopicLayout, plan_for
from rebalance_advisor.input_bytes import ByteBudget
from rebalance_advisor.key_samples import files
from rebalance_advisor.key_samples.request import SampleColumns


def test_the_package_is_named_and_what_needs_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "keys.parquet").write_bytes(b"")
    monkeypatch.setattr(files, "find_spec", lambda _: None)
    with pytest.raises(UsageError, match=r"Parquet needs pyarrow.*pip install pyarrow, or give JSON lines or CSV"):
        files.tally_file(tmp_path / "keys.parquet", SampleColumns(), plan_for(TopicLayout(3)), ByteBudget())
