"""Message schemas that kafka-python lacks, after Kafka's protocol guide (KIP-848, KIP-932, KIP-1071).

API keys 69, 77, 89 and 90.
"""

from kafka.protocol.api_message import ApiMessage

_PACKAGE = "rebalance_advisor.kafka.messages"


class ConsumerGroupDescribeRequest(ApiMessage, load_json=_PACKAGE):  # type: ignore[call-arg]
    """Members of groups of type ``consumer``."""


class ConsumerGroupDescribeResponse(ApiMessage, load_json=_PACKAGE):  # type: ignore[call-arg]
    """Current and target assignment, epochs, subscription of each member; errors group by group."""


class ShareGroupDescribeRequest(ApiMessage, load_json=_PACKAGE):  # type: ignore[call-arg]
    """Members of groups of type ``share``."""


class ShareGroupDescribeResponse(ApiMessage, load_json=_PACKAGE):  # type: ignore[call-arg]
    """Epochs, subscription and assignment of each member; errors group by group."""


class StreamsGroupDescribeRequest(ApiMessage, load_json=_PACKAGE):  # type: ignore[call-arg]
    """Members of groups of type ``streams``."""


class StreamsGroupDescribeResponse(ApiMessage, load_json=_PACKAGE):  # type: ignore[call-arg]
    """Epochs, topology, and current and target tasks of each member; errors group by group."""


class DescribeShareGroupOffsetsRequest(ApiMessage, load_json=_PACKAGE):  # type: ignore[call-arg]
    """Where the records in flight of share groups begin."""


class DescribeShareGroupOffsetsResponse(ApiMessage, load_json=_PACKAGE):  # type: ignore[call-arg]
    """Start offset and, from version 1 on, lag of each partition; errors by group and by partition."""
