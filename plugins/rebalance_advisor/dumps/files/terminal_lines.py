"""What terminals, loggers and scripts mix into a dump: prompts with their commands, log lines, headings, notes.

A prompt is only taken for one where a command follows it, or nothing: a row of a dump may begin with any sign. Commands
go over several lines where these end in a backslash (or in what Windows' shells write for it).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

# Prompts that nothing else looks like: after them stands a command, whichever it is.
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
    rf"|\S*[$#>%]{_TOOL}(?:\.sh|\.bat|\.cmd)?\s.*--[a-z]"  # a prompt without a blank after it
    rf"|{_PREFIX}{_TOOL}(?:\.(?:sh|bat|cmd)(?=\s|$)|\s(?:.*\s)?--[a-z]|\s+[\\^`]$)"
    rf"|{_PREFIX}(?:kubectl|oc|docker|docker-compose|podman|nerdctl|ssh|java)\s.*"
    r"(?:kafka-[a-z-]+|GetOffsetShell|ConsumerOffsetChecker|zookeeper-shell|zkCli)(?:\.sh)?\s"
    r")"
)
_LONGEST_COMMAND = 4_000  # a line of JSON may hold a hundred million signs
_CONTINUES = re.compile(r".*(?:^|\s)[\\^`]\s*$")
# What log4j, Java, kubectl, scripts and the old group tool print beside a tool's own output.
_NOISE = re.compile(
    r"\s*(?:"
    r"\[\d{4}-\d\d-\d\d [\d:,.]+\] (?:TRACE|DEBUG|INFO|WARN|ERROR) "
    r"|\d{4}-\d\d-\d\d[ T][\d:,.]+Z? (?:\[\S+\] )?(?:TRACE|DEBUG|INFO|WARN|ERROR) "
    r"|\d{4}-\d\d-\d\d[ T][\d:,.]+Z? \[myid:[^\]]*\] - (?:TRACE|DEBUG|INFO|WARN|ERROR) "
    r"|(?:log4j|SLF4J)(?::| )"
    r"|WARNING: "
    r"|OpenJDK .* warning:"
    r"|Picked up \w*JAVA\w*: "
    r"|==+(?:>?\s|>?$)"
    r"|-{3,}\s*$"
    r"|Note: This will (?:not |only )+show (?:information|info) about "
    r"|Default(?:ed|ing) container "
    r"|Use 'kubectl describe "
    r"|If you don't see a command prompt, try pressing enter\."
    r"|Unable to use a TTY "
    r"|```[\w-]*\s*$"  # Markdown
    r"|(?:\x1b\[[\d;]*m)*kafka (?:\x1b\[[\d;]*m)*\s*\d\d:\d\d:\d\d\.\d+ "  # Bitnami's images
    r")"
)


@dataclass(frozen=True, slots=True)
class Command:
    """A command as it was typed, its lines joined."""

    place: str
    text: str

    def options(self, name: str) -> tuple[str, ...]:
        """The values given to ``--name``, in order, quotes taken off. A shell's variable is no value."""
        pattern = rf"(?:^|\s)--{re.escape(name)}(?:=|\s+)(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'|;&>]+))"
        values = (first or second or third for first, second, third in re.findall(pattern, self.text))
        return tuple(value for value in values if value and "$" not in value)

    def has(self, name: str) -> bool:
        """``--name`` stands in it."""
        return re.search(rf"(?:^|\s)--{re.escape(name)}(?=[\s=\"']|$)", self.text) is not None

    def runs(self, *tools: str) -> bool:
        """It calls one of ``tools``."""
        return any(re.search(rf"(?<![\w-]){re.escape(tool)}(?![\w-])", self.text) for tool in tools)


def begins_command(line: str) -> bool:
    """A command, with or without prompt; or a prompt without one."""
    return _COMMAND.match(line[:_LONGEST_COMMAND]) is not None


def continues(line: str) -> bool:
    """The command goes on in the next line."""
    return _CONTINUES.match(line[-_LONGEST_COMMAND:]) is not None


def without_continuation(line: str) -> str:
    """What of the line is command."""
    return line.rstrip().rstrip("\\^`").rstrip() if continues(line) else line


def is_noise(line: str) -> bool:
    """A line that no tool of Kafka's printed as a part of its answer."""
    return _NOISE.match(line) is not None
