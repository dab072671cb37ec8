"""Words of a shell's commands with their lines, as far as a file with commands typed by hand needs it.

Promises, in this order: quotes, backslashes and comments mean what they mean to a POSIX shell; a command ends where the
line, a pipe, a redirection or ``;`` and ``&`` end it; what only a shell can know (``$NAME``, ``$(…)``, backticks) is
refused with its line, never taken for a text.

Example: ``a --b 'c d' | tee log`` is two commands: a, --b, "c d", and tee, log.

Source: POSIX.1-2017, Shell Command Language, 2.2 and 2.3. Time is linear in the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from kafka_rebalance.errors import InvalidInputError

_ENDS = frozenset(";&|<>()")
_REDIRECTS = frozenset("<>")
_EXPANSION = re.compile(r"`|\$(?:\\\n)*[A-Za-z_0-9{(@*#?!$'\"-]")
_IN_DOUBLE_QUOTES = '$`"\\\n'  # what a backslash escapes there
_ANSWER = "write out what it stands for"


@dataclass(frozen=True, slots=True)
class Word:
    """One word without its quotes; ``place`` is ``file:line`` of its beginning."""

    place: str
    text: str


def shell_commands(text: str, source: str) -> list[list[Word]]:
    """The commands in ``text``, each with a word or more.

    Raises InvalidInputError with the line of a quote that never ends, and of what only a shell can expand.
    """
    reader = _Reader(text.replace("\r\n", "\n"), source)
    while reader.at < len(reader.text):
        reader.step()
    reader.end_command()
    return reader.commands


@dataclass(slots=True)
class _Reader:
    text: str
    source: str
    at: int = 0
    line: int = 1
    word: list[str] | None = None  # None between words: '' is a word, too
    place: str = ""
    is_quoted: bool = False
    words: list[Word] = field(default_factory=list)
    commands: list[list[Word]] = field(default_factory=list)

    def step(self) -> None:
        """One character, or all of a quote or comment."""
        char = self.text[self.at]
        if char == "\\":
            self._escaped()
        elif char == "'":
            self._quoted("'")
        elif char == '"':
            self._double_quoted()
        elif char == "#" and self.word is None:
            self.at = self._next("\n")
        elif char == "\n" or char in _ENDS:
            self._end_by(char)
        elif char in " \t":
            self._end_word()
            self.at += 1
        else:
            self._refuse_expansion()
            self._add(char)
            self.at += 1

    def end_command(self) -> None:
        """What was read is a command, if it is anything."""
        self._end_word()
        if self.words:
            self.commands.append(self.words)
            self.words = []

    def _end_by(self, char: str) -> None:
        if char in _REDIRECTS and self.word is not None and not self.is_quoted and "".join(self.word).isdigit():
            self.word = None  # 2 of 2>&1
        self.end_command()
        self.line += char == "\n"
        self.at += 1

    def _end_word(self) -> None:
        if self.word is not None:
            self.words.append(Word(self.place, "".join(self.word)))
        self.word, self.is_quoted = None, False

    def _add(self, part: str) -> None:
        if self.word is None:
            self.word, self.place = [], f"{self.source}:{self.line}"
        self.word.append(part)

    def _next(self, sign: str) -> int:
        found = self.text.find(sign, self.at)
        return len(self.text) if found < 0 else found

    def _escaped(self) -> None:
        follower = self.text[self.at + 1 : self.at + 2]
        if follower == "\n":
            self.line += 1
        else:
            self._add(follower)
            self.is_quoted = True
        self.at += 2

    def _quoted(self, sign: str) -> None:
        end = self.text.find(sign, self.at + 1)
        if end < 0:
            raise self._refusal("a quote begins that never ends")
        inside = self.text[self.at + 1 : end]
        self._add(inside)
        self.is_quoted = True
        self.line += inside.count("\n")
        self.at = end + 1

    def _double_quoted(self) -> None:
        self._add("")
        self.is_quoted = True
        begin = self.line
        self.at += 1
        while (char := self.text[self.at : self.at + 1]) != '"':
            if not char:
                self.line = begin
                raise self._refusal("a quote begins that never ends")
            follower = self.text[self.at + 1 : self.at + 2]
            if char == "\\" and follower and follower in _IN_DOUBLE_QUOTES:
                self._add("" if follower == "\n" else follower)
                self.line += follower == "\n"
                self.at += 2
                continue
            self._refuse_expansion(in_quotes=True)
            self._add(char)
            self.line += char == "\n"
            self.at += 1
        self.at += 1

    def _refuse_expansion(self, *, in_quotes: bool = False) -> None:
        found = _EXPANSION.match(self.text, self.at)
        if found is None or (in_quotes and found[0][-1] in "'\""):  # "x$" ends there
            return
        raise self._refusal(f"{found[0]}… is expanded by a shell")

    def _refusal(self, problem: str) -> InvalidInputError:
        hint = _ANSWER if "expanded" in problem else "end it"
        return InvalidInputError.at(f"{self.source}:{self.line}", problem, hint)
