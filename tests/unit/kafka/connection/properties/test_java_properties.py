from pathlib import Path

import pytest

from kafka_assignors.errors import InvalidInputError
from rebalance_advisor.kafka.connection.java_properties import parse_properties, read_properties


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a=b", {"a": "b"}),
        ("a = b ", {"a": "b "}),  # blanks after the value belong to it: a password may end with one
        ("a:b", {"a": "b"}),
        ("a b c", {"a": "b c"}),
        ("  a\t=\tb", {"a": "b"}),
        ("a=b=c", {"a": "b=c"}),
        ("a", {"a": ""}),
        ("a=", {"a": ""}),
        ("# c\n! d\n\na=b", {"a": "b"}),
        ("a=b\\\n   c", {"a": "bc"}),
        ("a=b\\\\\nc=d", {"a": "b\\", "c": "d"}),
        ("a=x\\ny\\tz", {"a": "x\ny\tz"}),
        ("a=\\u00fc\\=\\q", {"a": "ü=q"}),
        ("a\\=b=c", {"a=b": "c"}),
        ("a=b\\", {"a": "b"}),
        ("a=1\x0b2\u20283\rb=4\r\nc=5", {"a": "1\x0b2\u20283", "b": "4", "c": "5"}),
        ("", {}),
    ],
)
def test_it_reads_what_java_reads(text: str, expected: dict[str, str]):
    assert parse_properties(text, "f").values == expected


def test_each_property_knows_its_line():
    properties = parse_properties("# x\na=1\n\nb=2\\\n3\nc=4\n", "client.properties")
    assert properties.locations == {"a": "client.properties:2", "b": "client.properties:4", "c": "client.properties:6"}


def test_of_a_key_given_twice_the_last_stands_and_the_other_is_told():
    properties = parse_properties("a=1\nb=2\na=3\nb=2", "f")
    assert (properties.values, properties.locations["a"]) == ({"a": "3", "b": "2"}, "f:3")
    assert properties.overridden == ("a of f:1 is overridden by f:3",)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path):
    with pytest.raises(InvalidInputError, match=r"none\.properties: does not exist"):
        read_properties(tmp_path / "none.properties")
    (tmp_path / "binary").write_bytes(b"a=\xff\xfe")
    with pytest.raises(InvalidInputError, match="binary:1: is no utf-8 text"):
        read_properties(tmp_path / "binary")
