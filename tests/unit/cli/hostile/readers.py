"""Structure and text of an output in a browser, a Markdown renderer and a terminal."""

from __future__ import annotations

import re
import unicodedata
from html.parser import HTMLParser

import pyte
from markdown_it import MarkdownIt

from kafka_assignors.visible_text import visible

_HASH = re.compile(r"\b(?:[0-9a-f]{64}|[0-9a-f]{12})\b")
_NUMBER = re.compile(r"\d[\d.,:]*")


class Page(HTMLParser):
    """Tags with their attributes in order, and the text between them."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.text: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(f"<{tag} {attributes}>")
        self.text.append(" ")

    def handle_endtag(self, tag: str) -> None:
        self.tags.append(f"</{tag}>")
        self.text.append(" ")

    def handle_comment(self, data: str) -> None:
        self.tags.append(f"<!--{data}-->")

    def handle_decl(self, decl: str) -> None:
        self.tags.append(f"<!{decl}>")

    def unknown_decl(self, data: str) -> None:
        self.tags.append(f"<![{data}]>")

    def handle_pi(self, data: str) -> None:
        self.tags.append(f"<?{data}>")

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def markdown(text: str) -> tuple[list[str], str]:
    """Kinds of the elements in order, and the text, as CommonMark with tables, strikethrough and raw HTML has them."""
    tokens = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).parse(text)
    kinds, texts = [], []
    for token in tokens:
        kinds.append(f"{token.type} {token.tag} {token.info}")
        if token.type in ("fence", "code_block", "html_block"):
            texts.append(token.content)
        for child in token.children or ():
            if child.type == "text":
                texts.append(child.content)
                continue
            kinds.append(f"{child.type} {child.attrs}")
            texts.append("\n" if child.type == "softbreak" else child.content)
        texts.append("\n")
    return kinds, "".join(texts)


def screen_lines(output: str) -> list[str]:
    """The lines that a terminal shows; asserts that nothing but text reached it."""
    # The emulator knows marks that combine canonically only, and drops a line's rest at any other one.
    output = "".join(
        character
        for character in output
        if unicodedata.category(character)[0] != "M" or unicodedata.combining(character)
    )
    lines = output.split("\n")
    columns, rows = 2 * max(map(len, lines)) + 2, len(lines) + 2
    screen = pyte.Screen(columns, rows)
    answers: list[str] = []
    screen.write_process_input = answers.append  # a terminal's replies
    pyte.Stream(screen).feed(output.replace("\n", "\r\n"))
    assert not answers
    assert not screen.title
    assert (screen.cursor.x, screen.cursor.y) == (0, len(lines) - 1)
    plain = {(c.fg, c.bg, c.bold, c.italics, c.underscore, c.strikethrough, c.reverse, c.blink)
             for row in screen.buffer.values() for c in row.values()}  # fmt: skip
    assert plain <= {("default", "default", False, False, False, False, False, False)}
    # The emulator composes a letter and its marks, and leaves alone what is one character of two forms.
    shown = [unicodedata.normalize("NFC", line).rstrip() for line in screen.display[: len(lines)]]
    assert shown == [unicodedata.normalize("NFC", line).rstrip() for line in lines]
    return shown


def without_name(text: str, name: str) -> str:
    """``text`` with the name, as it is shown, taken for a plain one; numbers and runs of blanks are all alike."""
    shown = visible(name)
    forms = sorted({shown, shown.strip(), unicodedata.normalize("NFC", shown)}, key=len, reverse=True)
    for form in forms:
        text = text.replace(form, "NAME")
    return figures_alike(text)


def figures_alike(text: str) -> str:
    """``text`` with every hash, number and run of blanks like every other; what took under a second is a time, too."""
    return " ".join(_NUMBER.sub("#", _HASH.sub("HASH", text.replace("under 1 s", "1 s"))).split())
