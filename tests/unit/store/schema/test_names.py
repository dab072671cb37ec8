"""Other names go into SQL text where they are names, and nowhere else."""

from __future__ import annotations

import pytest

from rebalance_advisor.store.schema.names import Names, NamesError


def test_default_names_leave_the_text_as_it_is() -> None:
    text = "SELECT 'store' FROM store.run -- store"
    assert Names().put_into(text) is text


def test_schemas_and_roles_are_replaced_as_whole_words() -> None:
    names = Names(store="s", contract="c", reader="r")
    given = (
        "GRANT SELECT ON store.run, advisor.run TO advisor_reader, advisor_writer; SELECT advisor_version, restore.x"
    )
    expected = "GRANT SELECT ON s.run, c.run TO r, advisor_writer; SELECT advisor_version, restore.x"
    assert names.put_into(given) == expected


def test_strings_quoted_identifiers_and_comments_stay() -> None:
    given = """SELECT 'store''s', "advisor" /* store. */ FROM store.x -- advisor.y\nJOIN advisor.z"""
    expected = """SELECT 'store''s', "advisor" /* store. */ FROM s.x -- advisor.y\nJOIN c.z"""
    assert Names(store="s", contract="c").put_into(given) == expected


def test_names_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADVISOR_SQL_CONTRACT", "kra")
    monkeypatch.setenv("ADVISOR_SQL_WRITER", "")
    assert Names.from_environment() == Names(contract="kra")


@pytest.mark.parametrize("name", ["", "Store", "a-b", "1st", 'x"y', "a" * 64])
def test_a_name_that_would_need_quotes_is_refused(name: str) -> None:
    with pytest.raises(NamesError, match="use lower-case letters"):
        Names(store=name)
