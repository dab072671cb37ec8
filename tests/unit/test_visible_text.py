from __future__ import annotations

import io
import json
import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_assignors.errors import AdvisorError, InvalidInputError, UnknownNameError
from kafka_assignors.visible_text import excerpt, is_hidden, visible, visible_json
from kafka_rebalance.csv_text import guarded, unguarded
from rebalance_advisor.airflow.task_log import task_log
from rebalance_advisor.publish.escape import html_value, markdown_line, markdown_text
from rebalance_advisor.terminal import write_json, write_lines
from tests.sample import for_each
from tests.unit.cli.hostile.names import HOSTILE
from tests.unit.cli.hostile.readers import markdown, screen_lines

# Anything that a text can hold, with what is dangerous more often than chance would have it.
TEXTS = st.lists(
    st.one_of(st.sampled_from(list(HOSTILE.values())), st.text(st.characters(), max_size=8)), max_size=4
).map("".join)


@given(TEXTS)
def test_what_is_visible_shows_and_stays_as_it_is(text: str) -> None:
    shown = visible(text)
    assert not [character for character in shown if is_hidden(character)]
    assert visible(shown) == shown


@pytest.mark.parametrize("text", ["orders", "a b", "größe", "日本語 שלום नमस्ते ไทย", "e\u0301", "→ ×2", "C:\\x1b", "🙂"])
def test_what_shows_is_left_alone(text: str) -> None:
    assert visible(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2J", r"\x1b[2J"),
        ("a\nb", r"a\nb"),
        ("\x9b", r"\x9b"),
        ("\u202e", r"\u202e"),
        ("\ud800", r"\ud800"),
        ("\U000e0041", r"\U000e0041"),
        ("a" + "\u0301" * 5, "a" + "\u0301" * 3 + r"\u0301" * 2),
        (" \u0301", r" \u0301"),
    ],
)
def test_what_does_not_show_is_written_out(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(TEXTS)
def test_json_keeps_the_value_and_hides_nothing(text: str) -> None:
    written = visible_json(json.dumps({text: [text]}, ensure_ascii=False, indent=1))
    assert json.loads(written) == {text: [text]}
    assert not [character for character in written if character != "\n" and is_hidden(character)]


@given(TEXTS)
def test_a_cell_comes_back_and_is_no_formula(text: str) -> None:
    cell = guarded(text)
    assert not cell.startswith(tuple("=+-@\t\r"))
    assert unguarded(cell) == text


@pytest.mark.parametrize("cell", ["'tis", "a", "", "12", "r'"])
def test_a_cell_of_others_is_read_as_it_is(cell: str) -> None:
    assert unguarded(cell) == cell


@given(TEXTS)
def test_markdown_is_one_paragraph_of_text(text: str) -> None:
    kinds, shown = markdown(f"- {markdown_line(text)}\n\nbefore **{markdown_text('x' + text)}**\n")
    inner = [] if visible(text).strip(" ") == "" else ["paragraph_open p ", "inline  ", "paragraph_close p "]
    assert [kind for kind in kinds if "strong" not in kind] == [
        "bullet_list_open ul ", "list_item_open li ", *inner, "list_item_close li ", "bullet_list_close ul ",
        "paragraph_open p ", "inline  ", "paragraph_close p ",
    ]  # fmt: skip
    assert _letters(shown) == _letters(visible(text) + "before " + visible(f"x{text}"))


@given(TEXTS)
def test_a_line_is_one_line_of_a_terminal(text: str) -> None:
    stream = io.StringIO()
    write_lines(stream, f"first {text}", "second")
    assert len(screen_lines(stream.getvalue())) == 3
    assert stream.getvalue().endswith("\nsecond\n")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8", "cp1252"])
def test_a_terminal_of_any_encoding_is_written_to(encoding: str) -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding, newline="\n")
    write_lines(stream, "1 → 2 日本 \ud800")
    write_json(stream, {"a": "→ \x9b \ud800"})
    stream.flush()
    line, document, _ = raw.getvalue().decode(encoding).split("\n")
    assert line.startswith("1 ")
    assert json.loads(document) == {"a": "→ \x9b \ud800"}


@given(TEXTS)
def test_an_error_is_one_visible_line(text: str) -> None:
    for error in (
        AdvisorError(text),
        InvalidInputError.at(text, text, text),
        UnknownNameError.among("group", text, [text]),
    ):
        assert not [character for character in str(error) if is_hidden(character)]


def test_an_error_is_short_and_keeps_place_and_hint() -> None:
    message = str(InvalidInputError.at("file:7", "expected a number, found " + "9" * 10_000, "give one"))
    assert message.startswith("file:7: expected a number, found 999")
    assert message.endswith("9…; give one")
    assert len(message) < 400
    assert excerpt("x" * 10_000) == repr("x" * 60) + "…"
    assert len(excerpt([10**9] * 10_000)) == 61


@for_each("name", HOSTILE.values())
def test_a_message_of_a_task_is_one_visible_line(name: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.clear()
    log = task_log("hostile.test")
    with caplog.at_level(logging.INFO, "hostile.test"):
        log.info("%s: %d partitions of %s", name, 3, name)
    (record,) = caplog.records
    assert record.getMessage() == f"{visible(name)}: 3 partitions of {visible(name)}"


def test_numbers_go_into_a_page_as_numbers() -> None:
    assert (html_value(3), html_value(None), html_value("a\u202eb")) == (3, None, r"a\u202eb")


def _letters(text: str) -> str:
    """Without blanks, and without the stars of a bold text that a blank at its end keeps from being bold."""
    return text.translate({ord(" "): "", ord("\n"): ""}).replace("**", "")
