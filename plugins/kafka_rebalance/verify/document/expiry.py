"""When the plan ends to hold: the time of its snapshot and so many hours, to the instant."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

from kafka_rebalance.verify.faults import FaultList

_TIME = re.compile(r"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)(Z|[+-]\d\d:?\d\d)?", re.ASCII)


def check_expiry(document: dict[str, Any], faults: FaultList) -> None:
    """``expires_at`` = ``captured_at`` + ``expires_after_hours``, in the same zone; both null, or none."""
    captured, expires = document["captured_at"], document["expires_at"]
    if captured is None or expires is None:
        if captured is not expires:
            faults.add("expiry", "plan.expires_at", f"{expires!r}, captured at {captured!r}")
        return
    begin, end = _instant(captured), _instant(expires)
    hours = document["parameters"]["expires_after_hours"]
    try:
        wanted = None if begin is None else (begin[0] + timedelta(hours=hours), *begin[1:])
    except OverflowError:
        wanted = None
    if wanted is None or end != wanted:
        faults.add("expiry", "plan.expires_at", f"says {expires!r}, {captured!r} and {hours} hours were asked")


def _instant(text: str) -> tuple[datetime, int, str] | None:
    """The time to the second, its billionths, and the zone as written; None where it is no time."""
    match = _TIME.fullmatch(text)
    if match is None:
        return None
    whole, _, fraction = match[1].replace(" ", "T").partition(".")
    try:
        moment = datetime.fromisoformat(whole).replace(tzinfo=UTC)
    except ValueError:
        return None
    return moment, int(fraction.ljust(9, "0")), match[2] or ""
