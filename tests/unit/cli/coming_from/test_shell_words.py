from __future__ import annotations

import random
import shutil
import subprocess

import pytest

from kafka_assignors.errors import InvalidInputError
from rebalance_advisor.cli.coming_from import shell_commands

_PIECES = ("a", "b-1", "--c=d", " ", "  ", "\t", "'", '"', "\\", "\\\n", "#", "x.y", "$", "é", ",", "=")


def parsed_words(text: str) -> list[list[tuple[str, str]]]:
    return [[(word.location, word.text) for word in command] for command in shell_commands(text, "f")]


def texts(text: str) -> list[list[str]]:
    return [[word.text for word in command] for command in shell_commands(text, "f")]


def test_lines_go_on_after_a_backslash_and_words_know_where_they_began() -> None:
    text = "# why\na --b \\\n  'c d'\n\ne \"f\ng\" h\n"
    assert parsed_words(text) == [
        [("f:2", "a"), ("f:2", "--b"), ("f:3", "c d")],
        [("f:5", "e"), ("f:5", "f\ng"), ("f:6", "h")],
    ]


def test_a_command_ends_where_a_shell_ends_it() -> None:
    assert texts("a;b&&c|d>e 2>&1") == [["a"], ["b"], ["c"], ["d"], ["e"], ["1"]]
    assert texts("a '2'>e") == [["a", "2"], ["e"]]


def test_windows_line_ends_are_line_ends() -> None:
    assert texts("a \\\r\n b\r\nc\r\n") == [["a", "b"], ["c"]]


@pytest.mark.parametrize("text", ["a\nb 'c", 'a\nb "c', 'a\nb "\nc'])
def test_a_quote_without_an_end_is_refused_with_the_line_of_its_beginning(text: str) -> None:
    with pytest.raises(InvalidInputError, match=r"f:2.*quote"):
        shell_commands(text, "f")


@pytest.mark.parametrize("text", ["$NAME", '"a$NAME"', "${x}", "$(ls)", "`ls`", '"`ls`"', "a$1"])
def test_what_only_a_shell_knows_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(InvalidInputError, match=r"f:2.*expanded"):
        shell_commands(f"a\nb {text}", "f")


@pytest.mark.parametrize("text", ["'$NAME `x`'", r"\$NAME\`x\`", r'"\$NAME\`x\`"'])
def test_quoted_signs_are_signs(text: str) -> None:
    assert texts(text)[0][0].replace(" ", "") == "$NAME`x`"


def test_random_lines_are_taken_apart_as_a_real_shell_does() -> None:
    """300 lines with balanced quotes, in one call of sh; words are separated by a character that no line contains."""
    draw = random.Random(5)
    shell = shutil.which("sh")
    assert shell is not None
    lines: list[tuple[str, list[str]]] = []
    while len(lines) < 300:
        line = "".join(draw.choices(_PIECES, k=draw.randrange(1, 12))).removesuffix("\\") + " z"
        if "#" in line and "\n" in line:
            continue  # behind a comment, what follows would be run by the shell
        try:
            commands = texts(line)
        except InvalidInputError:
            continue
        lines.append((line, commands[0] if commands else []))
    script = "".join(f"printf '%s\\001' {line}\nprintf '\\002'\n" for line, _ in lines)
    printed = subprocess.run([shell, "-c", script], capture_output=True, check=True, text=True).stdout
    theirs = [part.split("\1")[:-1] for part in printed.split("\2")[:-1]]
    # printf prints one empty text where it is given none
    assert theirs == [result or [""] for _, result in lines]
