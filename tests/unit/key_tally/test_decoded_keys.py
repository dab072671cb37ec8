"""Keys written as hexadecimal or base64: what Python's own decoders read, and rows that cannot be read by number."""

import base64
import random

import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_assignors.partitioners.key_column import KeyColumn
from kafka_rebalance.key_tally.tally import KeyEncoding, decode_keys
from tests.sample import for_each


@for_each("seed", range(5))
def test_keys_come_back(seed: int) -> None:
    draw = random.Random(seed)
    keys = [None if draw.random() < 0.1 else draw.randbytes(draw.randrange(0, 12)) for _ in range(300)]
    hexes = [
        None if key is None else (key.hex().upper() if draw.random() < 0.5 else key.hex()).encode() for key in keys
    ]
    codes = (base64.b64encode, base64.urlsafe_b64encode, lambda key: base64.b64encode(key).rstrip(b"="))
    bases = [None if key is None else draw.choice(codes)(key) for key in keys]
    for written, encoding in ((hexes, KeyEncoding.HEX), (bases, KeyEncoding.BASE64), (keys, KeyEncoding.PLAIN)):
        column = decode_keys(KeyColumn.of(written), encoding)
        assert [column.key(i) for i in range(len(keys))] == keys


@pytest.mark.parametrize(
    ("written", "encoding"),
    [
        *((written, KeyEncoding.HEX) for written in (b"abc", b"0g")),
        *((written, KeyEncoding.BASE64) for written in (b"YQ==YQ", b"YWFhY", b"Y Q", "é".encode())),
    ],
)
def test_a_row_that_cannot_be_read_is_named(written: bytes, encoding: KeyEncoding) -> None:
    with pytest.raises(InvalidInputError, match=f"row 12: its key is not {encoding.value}; --key-encoding"):
        decode_keys(KeyColumn.of([b"", written, b"!"]), encoding, first_row=10)
