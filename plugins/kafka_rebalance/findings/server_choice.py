"""Which of the coordinator's own strategies would serve a KIP-848 group better than the one it asks for."""

from __future__ import annotations

from kafka_rebalance.groups.group_replay import LEAST_GAIN, GroupReplay
from kafka_rebalance.scoring.assignment_scores import GroupScore

_BUILT_IN = ("uniform", "range")


def better_server_strategy(replay: GroupReplay, least_gain: float = LEAST_GAIN) -> GroupScore | None:
    """The replay of the other built-in one where it makes the fullest member smaller by ``least_gain``, else None.

    Its members ask for it by name (``group.remote.assignor``). Rates change from day to day: one that is less even by
    count is not told for its rates.
    """
    today = replay.today
    others = [replay.score(name) for name in _BUILT_IN if name != today.assignor]
    for other in others:
        if other is None or other.error is not None or (other.skew_count or 0) > (today.skew_count or 0) + 1e-9:
            continue
        is_rate = today.skew_rate is not None and other.skew_rate is not None
        before, after = (today.skew_rate, other.skew_rate) if is_rate else (today.skew_count, other.skew_count)
        if after and (before or 0) / after >= least_gain:
            return other
    return None
