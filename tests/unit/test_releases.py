import random
import re

import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_assignors.releases import broker_release, release_of, seen_release


@pytest.mark.parametrize(
    "text", ["", "3.7.0.1", "3.x", "latest", "-1.0", "٣.٧", 3.7, None, "99999.1", "3.9-IV0", "3.7\n"]
)
def test_a_release_that_is_asked_for_is_one_to_three_numbers(text: object) -> None:
    with pytest.raises(InvalidInputError, match="expected a release"):
        release_of(text)


SEEN = {
    "4.3.1": (4, 3, 1), "4.3": (4, 3), "4": (4,), "0.11.0.2": (0, 11, 0), "2.8.1": (2, 8, 1), "10.0": (10, 0),
    # Kafka's own: metadata.version, snapshots and release candidates
    "3.9-IV0": (3, 9), "4.0-IV3": (4, 0), "3.7.0-SNAPSHOT": (3, 7, 0), "4.1.0-rc1": (4, 1, 0),
    "3.7.0 (Commit:2ae524ed625438c5)": (3, 7, 0),
    # vendors
    "2.8.1.amzn.1": (2, 8, 1), "2.8.1.amzn": (2, 8, 1), "2.8.2.tiered": (2, 8, 2), "3.7.x": (3, 7),
    "3.7.x.kraft": (3, 7), "2.0.0.3.1.0.0-78": (2, 0, 0), "3.5.1+build5": (3, 5, 1), "3.6.0_1": (3, 6, 0),
    # Python's clients
    "2.1.5.dev0": (2, 1, 5), "3.0.0rc1": (3, 0, 0), "2.1.dev0": (2, 1), "3.0a2": (3, 0),
    # Confluent Platform counts otherwise: 7.6 is Kafka 3.6
    "7.6.0-ccs": (), "7.6.0-ce": (), "8.0.0-1-ccs": (), "7.6.0-0-ce": (), "7.6.0-ccs-SNAPSHOT": (),
    # no release
    "": (), None: (), "trunk": (), "latest": (), "v": (), "-1.0": (), ".9": (), "3.": (), "3..9": (), "3,9": (),
    "3x": (), "٣.٧": (), "IV0-3.9": (), "20261125.1": (), "3.99999": (), "1!3.7": (), " 3.7": (), "3.7-": (),
    "3.7\n": (), "3.7.0x": (), "3.7.0000001": (),
}  # fmt: skip


def test_a_version_that_is_seen_is_read_as_far_as_it_is_sure() -> None:
    assert {text: seen_release(text) for text in SEEN} == SEEN


@pytest.mark.parametrize(
    ("expected", "level", "release"),
    [
        ("4.3", 33, "4.4"), ("4.3", 31, "4.4"), ("4.3", 30, "4.3"), ("3.3", 8, "3.4"), ("3.3", 7, "3.3"),
        (None, 29, "4.2"), ("3.9", 21, "3.9"), ("2.8", 1, "3.0"),
        ("4.3", 25, "4.3"),  # brokers are newer than the level that was finalized
        ("4.3", 34, "4.4 or later"), ("5.0", 34, "5.0"),  # no level that is known
        ("3.9", None, "3.9"), ("3.9", 0, "3.9"), (None, None, None), ("trunk", 22, "4.0"),
    ],
)  # fmt: skip
def test_brokers_are_of_the_newer_of_what_requests_and_the_finalized_level_tell(expected, level, release) -> None:
    assert broker_release(expected, level) == release
    assert seen_release(release)[:2] >= seen_release(expected)[:2]


def test_random_versions_keep_their_numbers_whatever_a_vendor_adds() -> None:
    draw = random.Random(41)
    for _ in range(2000):
        numbers = (draw.randrange(100), *(draw.randrange(10_000) for _ in range(draw.randrange(3))))
        text = ".".join(map(str, numbers))
        assert seen_release(text) == release_of(text) == numbers
        suffix = "".join(draw.choices("abdefghijklmnopqrstuvwxyzIV0123456789.-_", k=draw.randint(1, 12)))
        for separator in "-+_":
            assert seen_release(f"{text}{separator}x{suffix}") == numbers
        assert seen_release(f"{text}-{draw.choice(['ccs', 'ce', '0-ce', '12-ccs'])}") == ()


def test_random_text_is_a_release_only_where_it_begins_with_its_numbers() -> None:
    draw, releases = random.Random(7), 0
    for _ in range(5000):
        text = "".join(draw.choices("0123456789.-+!vIVrcdev \n\u0663", k=draw.randint(0, 10)))
        result = seen_release(text)
        releases += bool(result)
        for index, number in enumerate(result):
            leading = re.match(r"[0-9]+", text.split(".")[index])
            assert leading is not None, text
            assert int(leading[0]) == number, text
    assert 200 < releases < 2500
