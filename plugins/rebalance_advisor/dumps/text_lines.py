"""Lines of a dump without prompts, commands, log lines and headings; rows of small CSV files.

A prompt counts only before a command or at a line's end, because a row may begin with any character. Commands continue
after a backslash (or the sign of Windows' shells).
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass

from kafka_assignors.errors import InvalidInputError
from kafka_assignors.visible_text import excerpt
from kafka_rebalance.csv_text import unguarded

# Any command may follow them.
_SURE_PROMPT = (
    r"\[[^\]\s@]+@[^\]]+\]\s?[#$%>]"  # [root@host kafka]#
    r"|[\w.-]+@[\w.-]+(?::\S*| [~/]\S*)?\s?[#$%>]"  # user@host:~$
    r"|I have no name!@\S+[#$]"
    r"|(?:bash|sh|zsh)-\d[\d.]*[#$]"
    r"|(?:PS )?[A-Za-z]:\\[^>\t]*>"
    r"|\[zk: ?[^\]\s]+\([A-Z]+\) \d+\]"
)
_WEAK_PROMPT = r"(?:/\S* ?|~ ?)?[#$>%]"
_PREFIX = r"(?:sudo |time |exec |[A-Za-z_]\w*=\S* )*"
_TOOL = r"(?:\S*[/\\])?(?:kafka-[a-z-]+|zookeeper-shell|zkCli)"
_ANY_COMMAND = (
    rf"(?:{_TOOL}|(?:kubectl|oc|docker|docker-compose|podman|nerdctl|ssh|java|cat|less|head|tail|echo|cd|ls|for|while|do"
    r"|done|export|set|exit|clear|date|grep|tee|watch|vi|vim|nano)(?=\s|$)|\S*[/\\]\S*|\S+\.(?:sh|bat|cmd)(?=\s|$))"
)
_COMMAND = re.compile(
    r"\s*(?:"
    rf"(?:{_SURE_PROMPT})(?:\s.*|$)"
    rf"|(?:{_WEAK_PROMPT})\s*(?:{_PREFIX}{_ANY_COMMAND}.*|$)"
    rf"|\S*[$#>%]{_TOOL}(?:\.sh|\.bat|\.cmd)?\s.*--[a-z]"  # no blank after the prompt
    rf"|{_PREFIX}{_TOOL}(?:\.(?:sh|bat|cmd)(?=\s|$)|\s(?:.*\s)?--[a-z]|\s+[\\^`]$)"
    rf"|{_PREFIX}(?:kubectl|oc|docker|docker-compose|podman|nerdctl|ssh|java)\s.*"
    r"(?:kafka-[a-z-]+|GetOffsetShell|ConsumerOffsetChecker|zookeeper-shell|zkCli)(?:\.sh)?\s"
    r")"
)
_LONGEST_COMMAND = 4_000  # a line of JSON may have 10^8 characters
_CONTINUES = re.compile(r".*(?:^|\s)[\\^`]\s*$")
# Log lines beside a tool's output.
_STAMP = r"\[?(?:\d{4}-\d\d-\d\d[ T])?\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\]?"
_NOISE = re.compile(
    r"\s*(?:"
    rf"{_STAMP} (?:\[[^\]]+\] )?(?:- )?\[?(?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL)\b"
    r"|(?:log4j|SLF4J)(?::| )"
    r"|(?i:warning: )(?!\w+ group )"
    r"|(?:OpenJDK|Java HotSpot\(TM\)) .* warning:"
    r"|(?:NOTE: )?Picked up \w*(?:JAVA|JDK)\w*: "
    r"|DEPRECATED: A Log4j |To use a Log4j 2|You can also use the .*log4j2?\.(?:yaml|properties)"
    r"|==+(?:>?\s|>?$)"
    r"|-{3,}\s*$"
    r"|Note: This will (?:not |only )+show (?:information|info) about "
    r"|Default(?:ed|ing) container "
    r"|Use 'kubectl describe "
    r"|If you don't see a command prompt, try pressing enter\."
    r"|Unable to use a TTY "
    r'|time="\d{4}-\d\d-\d\dT[^"]*" level=|WARN\[\d+\] '  # docker compose
    r"|(?:real|user|sys)\s+\d+m[\d.,]+s\s*$"  # time
    r"|(?:```|~~~)[\w-]*\s*$"  # Markdown
    r"|</?(?:pre|code|details|summary)\b[^>]*>\s*$"
    r"|kafka \d\d:\d\d:\d\d\.\d+ "  # Bitnami's images
    r"|at [\w.$/@<>-]+\([^)]*\)\s*(?:~?\[.*\])?\s*$|\.\.\. \d+ (?:more|common frames omitted)\s*$"  # stack traces
    r"|\([a-z]\w*(?:\.\w+)+\)\s*$"  # logger's name below a message
    r")"
    r"|\s+[a-z][a-z0-9_.]* = "  # settings below "AdminClientConfig values:"
)
_LOG_LINE = re.compile(rf"\s*{_STAMP} (?:\[[^\]]+\] )?(?:- )?\[?(?:TRACE|DEBUG|INFO|WARN)\b")
_THROWN = re.compile(r"\s*(?:Caused by: |Suppressed: )?(?:[a-z]\w*\.)+[A-Z][\w$]*(?:Exception|Error)\b")
_FENCE = re.compile(r"(?m)^[ \t]*(?:```|~~~)[\w-]*[ \t]*$")
_ESCAPES = re.compile(r"\x1b(?:\[[\d;?]*[A-Za-z]|\][^\x07\n]*\x07)")
# By containers, log collectors and mail programs.
_PREFIXES = tuple(
    re.compile(form)
    for form in (
        r"[\w.-]+ *\|(?: |$)",  # docker compose
        r"\[(?:pod/)?[\w.-]+(?:/[\w.-]+)+\](?: |$)",  # kubectl logs --prefix
        r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)(?: |$)",  # kubectl logs --timestamps
        r">(?: |$)",  # a quote
    )
)


@dataclass(frozen=True, slots=True)
class Command:
    location: str
    text: str

    def options(self, name: str) -> tuple[str, ...]:
        pattern = rf"(?:^|\s)--{re.escape(name)}(?:=|\s+)(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'|;&>]+))"
        values = (first or second or third for first, second, third in re.findall(pattern, self.text))
        return tuple(value for value in values if value and "$" not in value)

    def has(self, name: str) -> bool:
        return re.search(rf"(?:^|\s)--{re.escape(name)}(?=[\s=\"']|$)", self.text) is not None

    def runs(self, *tools: str) -> bool:
        return any(re.search(rf"(?<![\w-]){re.escape(tool)}(?![\w-])", self.text) for tool in tools)


def begins_command(line: str) -> bool:
    return _COMMAND.match(line[:_LONGEST_COMMAND]) is not None


def continues(line: str) -> bool:
    return _CONTINUES.match(line[-_LONGEST_COMMAND:]) is not None


def without_continuation(line: str) -> str:
    return line.rstrip().rstrip("\\^`").rstrip() if continues(line) else line


def is_noise(line: str) -> bool:
    return _NOISE.match(line) is not None


def is_log_line(line: str) -> bool:
    """Below error level: an exception after it did not end the tool."""
    return _LOG_LINE.match(line) is not None


def is_thrown(line: str) -> bool:
    return _THROWN.match(line) is not None


def as_printed(text: str) -> str:
    """Remove colours and line prefixes; lines keep their number.

    Of Markdown only fenced text is kept. A prefix must be on every line that is not blank, command or noise.
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n").removesuffix("\r")
    if "\x1b" in text:
        text = _ESCAPES.sub("", text)
    while (shorter := _without_prefix(text)) is not None:
        text = shorter
    return _within_fences(text)


def _within_fences(text: str) -> str:
    parts = _FENCE.split(text) if "```" in text or "~~~" in text else [text]
    if len(parts) == 1 or len(parts) % 2 == 0:
        return text
    outside = [line for part in parts[::2] for line in _printed_lines(part)]
    if not outside or not all(map(_is_prose, outside)):
        return text
    return "".join(part if number % 2 else "\n" * part.count("\n") for number, part in enumerate(parts))


def _is_prose(line: str) -> bool:
    """Words with single blanks; a row has columns or numbers, a header capitals."""
    tokens = line.split()
    numbers = sum(re.fullmatch(r"-|-?\d+", word) is not None for word in tokens)
    return len(tokens) > 1 and "\t" not in line and "  " not in line.strip() and numbers <= 1 and not line.isupper()


def _without_prefix(text: str) -> str | None:
    first = next(_printed_lines(text), "")
    prefix = next((form for form in _PREFIXES if form.match(first)), None)
    if prefix is None or not all(prefix.match(line) for line in _printed_lines(text)):
        return None
    if not any(prefix.sub("", line, count=1).strip() for line in _printed_lines(text)):
        return None  # only a time
    return "\n".join(prefix.sub("", line, count=1) for line in text.split("\n"))


def _printed_lines(text: str) -> Iterator[str]:
    typed = False
    for match in re.finditer(r"[^\n]+", text):
        line = match[0]
        if typed or (begins_command(line) and not line.startswith(">")):
            typed = continues(line)
        elif line.strip() and not is_noise(line):
            yield line


LARGEST_ID = 2**31 - 1
LARGEST_LONG = 2**63 - 1
_LOOKED_AT = 4_000  # characters to search for a command

# The tool gave up, so its output is incomplete.
_FAILURE = re.compile(
    r"\s*(?:Error while executing|Error: Executing|Error occurred:|Exception in thread|Missing required argument"
    r"|Exiting due to: |java\.[\w.]+Exception|Caused by: |org\.apache\.(?:kafka|zookeeper)\.[\w.]+Exception)"
)

_OFFSET_ROW = re.compile(r"[\w.-]+:\d+:\d+$")


@dataclass(frozen=True, slots=True)
class Line:
    """``location``: ``file:line``."""

    location: str
    text: str

    def refuse(self, problem: str, hint: str = "") -> InvalidInputError:
        return InvalidInputError.at(self.location, problem, hint)


def dump_lines(text: str, location: str) -> Iterator[Line]:
    return (line for line in lines_and_commands(text, location) if isinstance(line, Line))


def lines_and_commands(text: str, location: str) -> Iterator[Line | Command]:
    typed: list[str] = []  # lines of an unfinished command
    begin = 0
    is_in_log = False  # below a log line: its exception
    for number, raw in enumerate(as_printed(text).split("\n"), 1):
        line = raw.rstrip("\r")
        if typed:
            typed.append(without_continuation(line))
            if not continues(line):
                yield Command(f"{location}:{begin}", " ".join(typed))
                typed = []
            continue
        # Fast path: neither noise nor failure.
        if line.startswith("\tTopic: ") or (_OFFSET_ROW.match(line) and not line.startswith(("java.", "org."))):
            yield Line(f"{location}:{number}", line)
            continue
        is_in_log = is_log_line(line) or (is_in_log and (is_noise(line) or is_thrown(line)))
        if is_in_log or is_noise(line):
            continue
        if _FAILURE.match(line):
            raise InvalidInputError.at(
                f"{location}:{number}",
                f"the tool gave up: {excerpt(line.strip())}",
                "dump it again, this one is a part",
            )
        if not begins_command(line):
            yield Line(f"{location}:{number}", line)
        elif continues(line):
            typed, begin = [without_continuation(line)], number
        else:
            yield Command(f"{location}:{number}", line)
    if typed:
        raise InvalidInputError.at(f"{location}:{begin}", "is a command that goes on after the end of the file")


def first_printed_line(text: str) -> str:
    typed = False
    for line in as_printed(text).split("\n"):
        if typed or begins_command(line):
            typed = continues(line)
        elif line.strip() and not is_noise(line) and not is_thrown(line):
            return line
    return ""


def without_commands(text: str) -> str:
    """Blank commands and noise, so that JSON after ``cat`` parses and keeps its line numbers."""
    first = re.search(r"\S", text)
    begin = first.start() if first else 0
    first_line = text[begin : begin + _LOOKED_AT].partition("\n")[0]
    if first_line.startswith(("{", "[{")) or not (begins_command(first_line) or is_noise(first_line)):
        return text
    lines = [""] * (text.count("\n") + 1)
    for line in dump_lines(text, ""):
        lines[int(line.location.removeprefix(":")) - 1] = line.text
    return "\n".join(lines)


def whole_number(text: str, line: Line, what: str, largest: int = LARGEST_ID) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 19 or int(text) > largest:
        raise line.refuse(f"expected {what}, found {excerpt(text)}")
    return int(text)


def broker_list(text: str, line: Line, what: str) -> tuple[int, ...]:
    """Parse ids; '' means no broker."""
    brokers = tuple(whole_number(part.strip(), line, f"a broker id in {what}") for part in text.split(",") if text)
    if len(set(brokers)) != len(brokers):
        raise line.refuse(f"a broker stands twice in {what} {excerpt(text)}")
    return brokers


Row = tuple[Line, dict[str, str]]


def csv_rows(text: str, location: str, required: tuple[str, ...], optional: tuple[str, ...]) -> list[Row]:
    """Return (line, column → stripped cell)."""
    lines = [line.rstrip("\r") for line in text.split("\n")]
    reader = csv.reader(lines)
    header: list[str] | None = None
    rows: list[Row] = []
    try:
        for raw in reader:
            line = Line(f"{location}:{reader.line_num}", lines[reader.line_num - 1])
            cells = [unguarded(cell.strip(" ")).strip() for cell in raw]
            if not any(cells):
                continue
            if header is None:
                header = _header(cells, line, required, optional)
                continue
            if len(cells) != len(header):
                raise line.refuse(f"has {len(cells)} cells, the header {len(header)}")
            rows.append((line, dict.fromkeys(optional, "") | dict(zip(header, cells, strict=True))))
    except csv.Error as error:
        raise InvalidInputError.at(f"{location}:{reader.line_num}", f"is no CSV ({error})") from error
    return rows


def _header(cells: list[str], line: Line, required: tuple[str, ...], optional: tuple[str, ...]) -> list[str]:
    names = [cell.lower() for cell in cells]
    columns = (*required, *optional)
    for name in required:  # first, so that a file of another kind is not quoted
        if name not in names:
            raise line.refuse(f"column {name!r} is missing", f"known: {', '.join(columns)}")
    for name in names:
        if name not in columns:
            raise line.refuse(f"unknown column {excerpt(name)}", f"known: {', '.join(columns)}")
        if names.count(name) > 1:
            raise line.refuse(f"column {name!r} stands twice")
    return names
