"""Two message schemas that kafka-python lacks, after Kafka's protocol guide (KIP-848, KIP-932): API keys 69 and 77."""

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
