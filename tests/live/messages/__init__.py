"""Message schemas of members, which the advisor never sends: a test's own streams member needs them (KIP-1071)."""

from kafka.protocol.api_message import ApiMessage

_PACKAGE = "tests.live.messages"


class StreamsGroupHeartbeatRequest(ApiMessage, load_json=_PACKAGE):
    """API key 88: joins, stays and leaves."""


class StreamsGroupHeartbeatResponse(ApiMessage, load_json=_PACKAGE):
    """The member's tasks."""
