from __future__ import annotations

import re
from pathlib import Path

from rebalance_advisor.settings import SETTINGS, settings_page

ROOT = Path(__file__).resolve().parents[2]


def named_in_code() -> set[str]:
    files = [file for folder in ("plugins", "dags", "spark_jobs") for file in (ROOT / folder).rglob("*.py")]
    texts = [file.read_text(encoding="utf-8") for file in files if file.name != "settings.py"]
    return {name for text in texts for name in re.findall(r"\b(?:AIRFLOW_CONN_)?ADVISOR_[A-Z_]*[A-Z]\b", text)}


def test_no_variable_is_read_that_the_table_does_not_have_and_none_stands_there_for_nothing() -> None:
    reported = {setting.name for setting in SETTINGS}
    assert len(reported) == len(SETTINGS)
    assert named_in_code() - reported == set()
    assert reported - named_in_code() == set()


def test_the_page_is_made_of_the_table() -> None:
    assert (ROOT / "docs/settings.md").read_text(encoding="utf-8") == settings_page()
