"""The resources of a broker, in the order in which they are named and reported."""

from __future__ import annotations

RESOURCES = ("disk", "in", "out", "cpu", "replicas", "leaders")
COUNTED = ("replicas", "leaders")
LEADER_CARRIED = ("out", "cpu", "leaders")
