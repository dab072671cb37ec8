from __future__ import annotations

import numpy as np
import pytest

from kafka_rebalance.verify.waves import check_leader_steps, leader_changes
from tests.unit.verify.hand_claims import MOVE, WAVE, arrays, claims, faults_of, parameters


@pytest.mark.parametrize(
    ("change", "asked", "codes"),
    [
        ({}, {}, []),
        ({"leader_changes": 0}, {}, ["wave_leaders"]),
        ({"leader_changes": None}, {}, ["wave_leaders"]),
        ({"leader_changes": True}, {}, ["wave_leaders"]),
        ({"leader_in_bytes_per_s": 0.0}, {}, ["wave_leaders"]),  # unknown metric
        ({"leader_out_bytes_per_s": 1.0}, {}, ["wave_leaders"]),
        ({}, {"max_leader_changes_per_wave": 0}, ["wave_limit"]),
        ({}, {"max_leader_changes_per_wave": None}, ["wave_leaders"]),
        ({"leader_changes": None}, {"max_leader_changes_per_wave": None}, []),
    ],
)
def test_one_leader_goes_from_broker_0_to_2(change: dict, asked: dict, codes: list[str]) -> None:
    wave, given = WAVE | change, parameters()
    for name, value in asked.items():
        object.__setattr__(given, name, value)
    assert faults_of(check_leader_steps, "waves[0]", wave, claims(), arrays(), given) == codes


def test_who_stays_leader_gives_none() -> None:
    kept = MOVE | {"to": [0, 2], "leader_to": 0}
    assert leader_changes(claims(kept), arrays(), np.array([0])) == [0, 0, 0]
    assert leader_changes(claims(), arrays(), np.array([0])) == [1, 0, 1]
