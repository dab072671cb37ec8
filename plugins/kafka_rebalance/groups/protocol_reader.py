"""Reading Kafka's consumer protocol byte by byte: numbers, names, lists, topics with partitions."""

from __future__ import annotations

import struct

from kafka_rebalance.snapshot.group import TopicPartitions

_MOST_ENTRIES = 10_000_000


class OddBytesError(ValueError):
    """These bytes are not what the consumer protocol says."""


class ProtocolReader:
    """Reads forward; every lack is an OddBytesError that names the place."""

    def __init__(self, data: bytes) -> None:
        self._data = bytes(data)
        self._at = 0

    @property
    def is_at_end(self) -> bool:
        """Nothing is left."""
        return self._at == len(self._data)

    def _take(self, size: int) -> bytes:
        end = self._at + size
        if size < 0 or end > len(self._data):
            raise OddBytesError(f"{size} bytes are wanted at byte {self._at} of {len(self._data)}")
        part = self._data[self._at : end]
        self._at = end
        return part

    def _number(self, kind: str, size: int) -> int:
        return int(struct.unpack(kind, self._take(size))[0])

    def int32(self) -> int:
        """Big-endian, signed."""
        return self._number(">i", 4)

    def version(self) -> int:
        """An int16 that is not negative."""
        version = self._number(">h", 2)
        if version < 0:
            raise OddBytesError(f"version {version}")
        return version

    def count(self) -> int:
        """Entries of the list that follows."""
        count = self.int32()
        if not 0 <= count <= _MOST_ENTRIES:
            raise OddBytesError(f"a list of {count} entries")
        return count

    def string(self) -> str:
        """UTF-8 behind its int16 length."""
        text = self.nullable_string()
        if text is None:
            raise OddBytesError("a name is missing")
        return text

    def nullable_string(self) -> str | None:
        """A length of −1 is none."""
        size = self._number(">h", 2)
        try:
            return None if size < 0 else self._take(size).decode()
        except UnicodeDecodeError:
            raise OddBytesError(f"a name before byte {self._at} is no UTF-8") from None

    def nullable_bytes(self) -> bytes | None:
        """Behind an int32 length; −1 is none."""
        size = self.int32()
        return None if size < 0 else self._take(size)

    def topic_partitions(self) -> TopicPartitions:
        """Each topic once, in the order of first appearance: librdkafka repeats it for every partition."""
        found: dict[str, list[int]] = {}
        for _ in range(self.count()):
            found.setdefault(self.string(), []).extend(self.int32() for _ in range(self.count()))
        return tuple((topic, tuple(partitions)) for topic, partitions in found.items())
