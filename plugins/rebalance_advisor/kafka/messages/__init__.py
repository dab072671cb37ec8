"""Messages that kafka-python lacks (KIP-848, KIP-932, KIP-1071)."""

from kafka.protocol.api_message import ApiMessage

_PACKAGE = "rebalance_advisor.kafka.messages"


class ConsumerGroupDescribeRequest(ApiMessage, load_json=_PACKAGE):  # type: ignore[call-arg]
    """API key 69."""


class ConsumerGroupDescribeResponse(ApiMessage, load_json=_PACKAGE):  # type: ignore[call-arg]
    """Errors by group."""


class ShareGroupDescribeRequest(ApiMessage, load_json=_PACKAGE):  # type: ignore[call-arg]
    """API key 77."""


class ShareGroupDescribeResponse(ApiMessage, load_json=_PACKAGE):  # type: ignore[call-arg]
    """Errors by group."""


class StreamsGroupDescribeRequest(ApiMessage, load_json=_PACKAGE):  # type: ignore[call-arg]
    """API key 89."""


class StreamsGroupDescribeResponse(ApiMessage, load_json=_PACKAGE):  # type: ignore[call-arg]
    """Errors by group."""


class DescribeShareGroupOffsetsRequest(ApiMessage, load_json=_PACKAGE):  # type: ignore[call-arg]
    """API key 90."""


class DescribeShareGroupOffsetsResponse(ApiMessage, load_json=_PACKAGE):  # type: ignore[call-arg]
    """Lag from version 1."""
