import numpy as np
import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_assignors.java.keys import (
    optional_hash,
    topic_id_partition_hashes,
    topic_partition_hash,
    uuid_columns,
    uuid_hash_codes,
)
from kafka_assignors.java.strings import hash_code

UUIDS = ["X9wa00c3OxmEYMafPJ0rCg", "Jo9rvTMV2rjTCBGGgxdxAw", "6F8C6LjslyvcVN49_61QEw", "J7Z9J3m3P0Z2kdWG7-Y8Hw"]


def test_uuid_hash_codes_are_those_recorded() -> None:
    assert uuid_hash_codes(*uuid_columns(UUIDS)).tolist() == [-1609118625, 1166397824, 1934236653, -948524040]


@pytest.mark.parametrize("text", ["", "short", "X9wa00c3OxmEYMafPJ0r g", "X9wa00c3OxmEYMafPJ0rCgAA"])
def test_what_is_not_a_uuid_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError, match="base64url"):
        uuid_columns([text])


def test_topic_partition_hash_wraps_to_32_bits() -> None:
    assert int(topic_partition_hash(hash_code("t28"), 195)) == 31 * (31 + 195) + hash_code("t28")
    assert int(topic_partition_hash(2**31 - 1, 0)) == (2**31 - 1 + 961) - 2**32
    hashes = topic_id_partition_hashes(np.array([2**30], np.int32), np.array([7], np.int32))
    assert hashes.tolist() == [(31 * 2**30 + 7 + 2**31) % 2**32 - 2**31]


def test_an_empty_optional_hashes_to_zero() -> None:
    assert (optional_hash(None), optional_hash("rack")) == (0, hash_code("rack"))
