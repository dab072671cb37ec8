"""Every variable that the code reads has its line in the one table, and the page is made of it."""

from __future__ import annotations

import re
from pathlib import Path

from rebalance_advisor.settings import SETTINGS, settings_page

ROOT = Path(__file__).resolve().parents[2]
# Names of schemas and roles are put together: ADVISOR_SQL_ and the field of ``store.schema.names.Names``.
PUT_TOGETHER = "ADVISOR_SQL_"


def named_in_code() -> set[str]:
    files = [file for folder in ("plugins", "dags", "spark_jobs") for file in (ROOT / folder).rglob("*.py")]
    texts = [file.read_text(encoding="utf-8") for file in files if file.name != "settings.py"]
    return {name for text in texts for name in re.findall(r"\b(?:AIRFLOW_CONN_)?ADVISOR_[A-Z_]*[A-Z]\b", text)}


def test_no_variable_is_read_that_the_table_does_not_have_and_none_stands_there_for_nothing() -> None:
    told = {setting.name for setting in SETTINGS}
    assert len(told) == len(SETTINGS)
    assert named_in_code() - told == set()
    assert {name for name in told - named_in_code() if not name.startswith(PUT_TOGETHER)} == set()


def test_schemas_and_roles_have_a_line_each() -> None:
    names = (ROOT / "plugins/rebalance_advisor/store/schema/names.py").read_text(encoding="utf-8")
    fields = set(re.findall(r"^    (\w+): str = ", names, re.MULTILINE))
    assert {name for name in (setting.name for setting in SETTINGS) if name.startswith(PUT_TOGETHER)} == {
        f"{PUT_TOGETHER}{field.upper()}" for field in fields
    }


def test_the_page_is_made_of_the_table() -> None:
    assert (ROOT / "docs/settings.md").read_text(encoding="utf-8") == settings_page()
