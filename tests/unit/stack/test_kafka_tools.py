import pytest

from stack.kafka.tools import minor_of, tool_class

TOOLS = "org.apache.kafka.tools"


@pytest.mark.parametrize(
    ("version", "newest", "called"),
    [
        ("4.3.1", f"{TOOLS}.TopicCommand", f"{TOOLS}.TopicCommand"),
        ("3.9.2", f"{TOOLS}.GetOffsetShell", f"{TOOLS}.GetOffsetShell"),
        ("3.4.1", f"{TOOLS}.TopicCommand", "kafka.admin.TopicCommand"),
        ("2.8.2", f"{TOOLS}.consumer.group.ConsumerGroupCommand", "kafka.admin.ConsumerGroupCommand"),
        ("2.8.2", f"{TOOLS}.consumer.ConsoleConsumer", "kafka.tools.ConsoleConsumer"),
        ("4.3.1", f"{TOOLS}.ConfigCommand", "kafka.admin.ConfigCommand"),
        ("4.4.0", f"{TOOLS}.ConfigCommand", f"{TOOLS}.ConfigCommand"),
        ("3.9.2", f"{TOOLS}.AclCommand", "kafka.admin.AclCommand"),
    ],
)
def test_a_tool_has_the_name_of_its_release(version: str, newest: str, called: str) -> None:
    assert tool_class(version, newest) == called


def test_releases_are_compared_by_number() -> None:
    assert minor_of("3.10.0") > minor_of("3.9.2")
