"""The rules of plain English that a program can count: long sentences, and idioms of this project's early texts.

Counted in the README, the manual (without internals and generated pages), rendered messages and public docstrings.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from kafka_rebalance.render import MESSAGES
from kafka_rebalance.render.remedies import WHAT_TO_DO
from tests.architecture.test_pages import DOCS, FURTHER, ROOT, TWELVE
from tests.unit.render.test_every_sentence import ANY_ARGUMENTS, states_of

LONGEST = 35
# What is left; lower them, never raise them.
LONG_MESSAGES, LONG_DOCSTRINGS = 6, 1
# Subjects that name no one, passives without an actor, and images for code or data; names of code are in backticks.
IDIOM = re.compile(
    r"\b(nobody|somebody|whoever|everybody|one's own|(?:is|are|was|were) (?:told|asked|said)|stands?|lies|foretold"
    r"|unheard|not heard|gone unsaid|goes home|gives? way|led through|nothing is (?:told|said))\b",
    re.IGNORECASE,
)
PACKAGES = ("kafka_assignors", "kafka_rebalance", "rebalance_advisor")
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *(DOCS / name for name in (*TWELVE, *FURTHER))]
PAGES += [ROOT / "plugins" / package / "README.md" for package in PACKAGES]
_WORD = re.compile(r"\S*[A-Za-z]\S*")
_ABBREVIATION = re.compile(r"\b(e\.g|i\.e|etc|vs)\.")


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text, without code in backticks and targets of links."""
    text = re.sub(r"`[^`]*`", "code", text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = _ABBREVIATION.sub(r"\1", text)
    yield from (part for part in re.split(r"(?<=[.!?])[)*\"”]*\s+", " ".join(text.split())) if part)


def prose(page: str) -> Iterator[str]:
    """Yield each paragraph, list item, heading and table cell of a page."""
    page = re.sub(r"```.*?```", "\n\n", page, flags=re.DOTALL)
    page = re.sub(r"<!--.*?-->", "", page, flags=re.DOTALL)
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:[-*] |\d+\. |#|\|))", page):
        if block.lstrip().startswith("|"):
            yield from (cell.strip() for cell in block.strip().strip("|").split("|"))
        else:
            yield re.sub(r"^\s*(?:[-*] |\d+\. |#+ )", "", block)


def too_long(texts: Iterable[str]) -> list[str]:
    """Return the sentences with more words than ``LONGEST``; a number or a sign is no word."""
    return [sentence for text in texts for sentence in sentences(text) if len(_WORD.findall(sentence)) > LONGEST]


def idioms(texts: Iterable[str]) -> list[str]:
    """Return the sentences with an idiom."""
    return [sentence for text in texts for sentence in sentences(text) if IDIOM.search(sentence)]


def messages() -> dict[str, list[str]]:
    """Return the texts of each message: every state that its arguments give."""
    return {
        code.value: [message(**args) for args in states_of(code, message)]
        for code, message in MESSAGES.items()
        if code not in ANY_ARGUMENTS
    } | {f"remedy {code}": [text] for code, text in WHAT_TO_DO.items()}


def public_docstrings() -> Iterator[str]:
    """Yield the paragraphs of docstrings of each package's public names, and of their public methods."""
    for package in PACKAGES:
        module = importlib.import_module(package)
        public = [getattr(module, name) for name in getattr(module, "__all__", ())]
        methods = [
            member
            for row in public
            if inspect.isclass(row)
            for name, member in vars(row).items()
            if not name.startswith("_") and inspect.isfunction(member)
        ]
        for item in [module, *public, *methods]:
            own = getattr(item, "__doc__", None)
            if own and not isinstance(item, (str, int, float, tuple, dict, frozenset)):
                yield from prose(re.sub(r"::\n\n(?:    .*\n|\n)+", "\n\n", inspect.cleandoc(own) + "\n"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_is_plain_english(page: Path) -> None:
    texts = list(prose(page.read_text("utf-8")))
    assert idioms(texts) == []
    assert too_long(texts) == []


def test_messages_are_plain_english() -> None:
    result = messages()
    assert {code for code, texts in result.items() if idioms(texts)} == set()
    assert len({code for code, texts in result.items() if too_long(texts)}) <= LONG_MESSAGES


def test_public_docstrings_are_plain_english() -> None:
    texts = list(public_docstrings())
    assert len(texts) > 20
    assert idioms(texts) == []
    assert len(too_long(texts)) <= LONG_DOCSTRINGS


@pytest.mark.parametrize(
    ("text", "is_idiom"),
    [
        ("A load that nobody measured.", True), ("It is told on stderr.", True), ("The file lies beside it.", True),
        ("The standby stands by.", True), ("`lies` is a name.", False), ("Standbys are copies.", False),
    ],
)  # fmt: skip
def test_idioms_are_found(text: str, is_idiom: bool) -> None:
    assert bool(idioms([text])) is is_idiom


def test_long_sentences_are_found() -> None:
    text = " ".join(["word"] * LONGEST)
    assert too_long([f"{text}. {text}."]) == []
    assert too_long([f"{text} and one."]) == [f"{text} and one."]
