"""Workers of Kafka Connect: bytes that Connect's own classes wrote, read from DescribeGroups."""

from types import SimpleNamespace

import pytest

from kafka_assignors.connect_work import NO_WORK, ConnectTask, Work
from kafka_rebalance.groups.connect_workers import running_work
from kafka_rebalance.groups.subscriptions import OddBytesError
from kafka_rebalance.snapshot.group import ConnectWorker, Group, Member
from rebalance_advisor.kafka.coverage import Coverage
from rebalance_advisor.kafka.groups import decode_worker, with_members

URL, LEADER_URL = "http://w2:8083/", "http://w1:8083/"
EAGER = bytes.fromhex("0000000f687474703a2f2f77323a383038332f0000000000000009")
EAGER_WORK = bytes.fromhex(
    "000000000009636f6e6e6563742d31000f687474703a2f2f77313a383038332f00000000000000090000000100066f7264657273"
    "00000002ffffffff00000000"
)
NEW = bytes.fromhex("0001000f687474703a2f2f77323a383038332f0000000000000009ffffffff")
SESSIONED = bytes.fromhex(
    "0002000f687474703a2f2f77323a383038332f00000000000000090000005c000200000009636f6e6e6563742d31000f687474703a2f2f"
    "77313a383038332f00000000000000070000000200066f726465727300000003ffffffff000000000000000100067061792dc3a9000000"
    "01000000020000000000000000"
)
SESSIONED_WORK = bytes.fromhex(
    "000200000009636f6e6e6563742d31000f687474703a2f2f77313a383038332f00000000000000090000000100036e657700000002ffff"
    "ffff000000000000000100066f726465727300000002ffffffff00000001000493e0"
)
MISMATCH = bytes.fromhex(
    "000200010009636f6e6e6563742d31000f687474703a2f2f77313a383038332f0000000000000009000000000000000000000000"
)


def orders(*numbers: int) -> tuple[ConnectTask, ...]:
    return tuple(ConnectTask("orders", number) for number in numbers)


def test_an_eager_worker_runs_what_it_was_given() -> None:
    worker = decode_worker(EAGER, EAGER_WORK)
    assert worker == ConnectWorker(
        version=0, url=URL, config_offset=9, leader="connect-1", leader_url=LEADER_URL, assigned_offset=9,
        assigned=Work(("orders",), orders(0)),
    )  # fmt: skip
    assert running_work(worker) == worker.assigned


def test_a_cooperative_worker_runs_what_it_had_and_was_given_without_what_was_revoked() -> None:
    worker = decode_worker(SESSIONED, SESSIONED_WORK)
    assert worker == ConnectWorker(
        version=2, url=URL, config_offset=9, leader="connect-1", leader_url=LEADER_URL, assigned_offset=9,
        joined_with=Work(("orders",), (*orders(0, 1), ConnectTask("pay-é", 2))),
        assigned=Work(("new",), (ConnectTask("new", 0),)), revoked=Work(("orders",), orders(1)), delay_ms=300_000,
    )  # fmt: skip
    assert running_work(worker) == Work(("new",), (ConnectTask("new", 0), *orders(0), ConnectTask("pay-é", 2)))


def test_a_new_worker_and_one_that_was_given_nothing_yet() -> None:
    assert decode_worker(NEW, b"") == ConnectWorker(version=1, url=URL, config_offset=9, joined_with=NO_WORK)
    assert running_work(decode_worker(NEW, b"")) is None
    assert running_work(decode_worker(NEW, SESSIONED_WORK)) == Work(("new",), (ConnectTask("new", 0),))


def test_the_work_of_a_worker_is_unknown_where_the_leader_could_not_assign() -> None:
    worker = decode_worker(SESSIONED, MISMATCH)
    assert (worker.error, worker.assigned, running_work(worker)) == (1, NO_WORK, None)


def test_fields_that_are_missing_at_the_end_have_their_defaults() -> None:
    """Connect's schemas tolerate it; the last fields are the delay, what is revoked, and the allocation."""
    assert decode_worker(NEW[:-4], SESSIONED_WORK[:-4]) == decode_worker(NEW, SESSIONED_WORK[:-4] + bytes(4))


@pytest.mark.parametrize("cut", range(1, len(SESSIONED)))
def test_bytes_that_end_early_are_odd_and_never_a_crash(cut: int) -> None:
    if cut == len(NEW) - 4:
        return  # as above: only the allocation is missing
    with pytest.raises(OddBytesError):
        decode_worker(SESSIONED[:cut], SESSIONED_WORK)


def described(*members: tuple[str, bytes, bytes]) -> SimpleNamespace:
    rows = [
        SimpleNamespace(
            member_id=name, group_instance_id=None, client_id="connect", client_host="/h",
            member_metadata=metadata, member_assignment=assignment,
        )
        for name, metadata, assignment in members
    ]  # fmt: skip
    return SimpleNamespace(group_state="Stable", protocol_type="connect", protocol_data="sessioned", members=rows)


def test_a_group_of_workers_is_read_member_by_member() -> None:
    coverage = Coverage()
    group = with_members(
        Group("connect"),
        described(("a", SESSIONED, SESSIONED_WORK), ("b", b"", b""), ("c", b"\x00\x01\x00", b"")),
        coverage,
        {},
    )
    read, waiting, odd = group.members
    assert read.worker == decode_worker(SESSIONED, SESSIONED_WORK)
    assert waiting == Member("b", client_id="connect", host="/h")
    assert odd.worker is None
    assert odd.decode_error == "worker: 2 bytes are wanted at byte 2 of 3"
    assert [gap.subject for gap in coverage.gaps] == ["connect/c"]
