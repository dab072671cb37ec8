"""What may be lost at once of which nobody may be above its capacity then: any single one of a kind."""

from __future__ import annotations

LOSSES = ("broker", "rack")
