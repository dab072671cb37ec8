from kafka_assignors.coordinator.membership import group_hash_codes, group_partitions
from kafka_assignors.string_column import StringColumn


def test_the_least_hash_code_belongs_to_partition_0() -> None:
    groups = StringColumn.of(["polygenelubricants"])
    assert group_hash_codes(groups).tolist() == [-(2**31)]
    assert group_partitions(groups, 50).tolist() == [0]


def test_a_negative_hash_code_loses_its_sign_and_not_its_highest_bit() -> None:
    # A group id whose hash code is -1 is in partition 1, not in (2^31 - 1) % 50.
    groups = StringColumn.of(["", "a", "orders"])
    codes = group_hash_codes(groups).tolist()
    assert group_partitions(groups, 50).tolist() == [abs(code) % 50 for code in codes]
    assert codes[2] < 0
