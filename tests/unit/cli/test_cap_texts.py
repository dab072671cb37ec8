"""What people type after ``--cap`` becomes a number in the unit of its resource."""

import pytest

from rebalance_advisor.option_texts import cap


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("disk=2TB", ("disk", 2 * 10**12)),
        ("potential_out=200MB/s", ("potential_out", 200 * 10**6)),
        ("leader_in=1MiB", ("leader_in", 2**20)),
        ("replicas=4000", ("replicas", 4000)),
        ("cpu=80%", ("cpu", 80.0)),
        ("cpu=12.5", ("cpu", 12.5)),
    ],
)
def test_an_amount_is_read_in_the_unit_of_its_resource(text: str, expected: tuple[str, float]) -> None:
    assert cap(text) == expected
