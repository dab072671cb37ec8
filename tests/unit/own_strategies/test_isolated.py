from __future__ import annotations

import ctypes
import multiprocessing
import os
import random
import re
import sys
from pathlib import Path

import pytest

from kafka_assignors.contract import Assignment, AssignmentRequest
from kafka_assignors.custom import CustomAssignorAdapter
from kafka_assignors.errors import AssignorError
from kafka_assignors.partitioners.contract import RecordSample, TopicTarget
from kafka_assignors.partitioners.key_column import KeyColumn
from kafka_rebalance.groups.group_replay import GroupReplay, replay_group
from kafka_rebalance.snapshot.model import Member
from rebalance_advisor.own_strategies.kernel_guards import hide_environment, show_environment
from rebalance_advisor.own_strategies.limits import MIB, Limits
from rebalance_advisor.own_strategies.registering import (
    ChildProcess,
    Described,
    IsolatedAssignor,
    IsolatedPartitioner,
    own_strategies,
)
from rebalance_advisor.own_strategies.targets import Kind, Target, read_target
from stack.waiting import PATIENCE_S, wait_for
from tests.unit.assignors.groups import answer, group
from tests.unit.groups.test_group_replay import group_input
from tests.unit.own_strategies.broken_strategies import REASONS, TIMED, Good

FILE = Path(__file__).with_name("broken_strategies.py")
LIMITS = Limits(start_s=PATIENCE_S, answer_s=PATIENCE_S, memory_bytes=256 * MIB, most_ends=2)
SHORT = Limits(start_s=PATIENCE_S, answer_s=0.3, memory_bytes=256 * MIB, most_ends=1)
TWO = group({"t": 4}, {"a": ["t"], "b": ["t"]})


def target(attribute: str, kind: Kind = Kind.ASSIGNOR) -> Target:
    return read_target(f"{FILE}:{attribute}", kind)


def refusal(process: ChildProcess, attribute: str, request: AssignmentRequest = TWO) -> str:
    """The words of it."""
    with pytest.raises(AssignorError) as raised:
        IsolatedAssignor(Described(target(attribute), attribute), process).assign(request)
    return str(raised.value)


def replayed(strategy: str) -> GroupReplay:
    """A group whose first member reads everything: four partitions of t, which both subscribe to, and u."""
    members = [
        Member("a", subscription=("t", "u"), assigned=(("t", (0, 1, 2, 3)), ("u", (0,)))),
        Member("b", subscription=("t",)),
    ]
    return replay_group(group_input(members, {"t": 4, "u": 1}), (strategy, "roundrobin"))


@pytest.mark.parametrize("attribute", REASONS)
def test_a_broken_strategy_is_a_row_with_its_reason(attribute: str) -> None:
    with own_strategies([Described(target(attribute), attribute)], SHORT if attribute in TIMED else LIMITS):
        replay = replayed(attribute)
    row = replay.score(attribute)
    assert [score.assignor for score in replay.scores] == ["range", "roundrobin", attribute]
    assert row is not None
    assert row.error is not None
    kinds, part = REASONS[attribute]
    assert row.error.args["error"] in kinds.split("|")
    assert part in row.error.args["message"]
    assert (row.skew_count, row.is_advised, replay.advised) == (None, False, "roundrobin")


@pytest.mark.parametrize("attribute", ["Good", "Forks", "Prints", "Moves"])
def test_what_answers_right_is_believed_whatever_it_does_beside(attribute: str) -> None:
    rng = random.Random(5)
    with ChildProcess(target(attribute), LIMITS) as process:
        isolated = IsolatedAssignor(Described(target(attribute), attribute), process)
        for _ in range(10 if attribute == "Good" else 2):
            topics = {f"t{number}": rng.randint(0, 9) for number in range(rng.randint(1, 4))}
            request = group(topics, {f"m{number}": list(topics) for number in range(rng.randint(1, 6))})
            assert pairs(request, isolated.assign(request)) == pairs(
                request, CustomAssignorAdapter(Good()).assign(request)
            )


def pairs(request: AssignmentRequest, assignment: Assignment) -> dict[str, list[tuple[str, int]]]:
    return {member: list(given) for member, given in answer(request, assignment).items()}


def test_a_strategy_that_ends_its_process_gets_a_new_one_so_many_times() -> None:
    with ChildProcess(target("Ends"), LIMITS) as process:
        first, second, third = (refusal(process, "Ends") for _ in range(3))
    assert first == second == "Ended: ends its process with exit code 7"
    assert third == f"NotAsked: its process has ended 2 times, at last: {first}"


def test_one_that_raises_keeps_its_process_and_may_answer_the_next_group() -> None:
    # It gives u-0 to the second member: wrong in TWO, which does not read u, and right in a group that does.
    with ChildProcess(target("NotSubscribed"), LIMITS) as process:
        messages = [refusal(process, "NotSubscribed") for _ in range(4)]
        result = IsolatedAssignor(Described(target("NotSubscribed"), "n"), process).assign(
            group({"u": 1}, {"a": ["u"], "b": ["u"]})
        )
    assert set(messages) == {"UnknownPartition: gives 'u'-0 to 'b', and there is no such partition"}
    assert result.counts.tolist() == [0, 1]


def test_one_that_cannot_be_made_says_so_of_every_group_and_is_not_tried_again() -> None:
    with ChildProcess(target("Unmade"), LIMITS) as process:
        assert {refusal(process, "Unmade").partition(" (")[0] for _ in range(4)} == {
            "Raised: RuntimeError: no settings"
        }


def test_its_process_sees_nothing_of_the_advisors_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADVISOR_POSTGRES_DSN", "postgresql://u:secret@h/d")
    with ChildProcess(target("Environment"), LIMITS) as process:
        message = refusal(process, "Environment")
    assert "PYTHONHASHSEED" in message
    assert "ADVISOR" not in message


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no Landlock and no /proc")
def test_its_process_reads_no_environment_and_no_memory_of_any_process_above_it() -> None:
    if not has_landlock():
        pytest.skip("this kernel has no Landlock")
    with ChildProcess(target("Secrets"), LIMITS) as process:
        assert refusal(process, "Secrets").startswith("Raised: ValueError: [] (")


def has_landlock() -> bool:
    """Ask the kernel for its Landlock version, not our code: a guard that fails must fail the test, not skip it."""
    create_ruleset, ask_version = 444, 1
    return int(ctypes.CDLL(None).syscall(create_ruleset, None, 0, ask_version)) > 0


def _as_nobody() -> None:
    """Exits 0 where its environment is its user's own but while it is hidden, which two calls do as one."""
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
    ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)  # setuid made it unreadable
    owners = [Path("/proc/self/environ").stat().st_uid]
    for step in (hide_environment, hide_environment, show_environment, show_environment):
        step()
        owners.append(Path("/proc/self/environ").stat().st_uid)
    os._exit(0 if owners == [65534, 0, 0, 0, 65534] else 1)


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="changes its user")
def test_a_hidden_environment_belongs_to_root() -> None:
    process = multiprocessing.get_context("spawn").Process(target=_as_nobody)
    process.start()
    process.join(60)
    assert process.exitcode == 0


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can hide it")
def test_the_advisors_environment_is_hidden_while_a_class_has_a_process() -> None:
    seen = [is_dumpable()]
    with ChildProcess(target("Good"), LIMITS) as first, ChildProcess(target("Ends"), LIMITS) as other:
        first.hello()
        assert refusal(other, "Ends").startswith("Ended: ")
        seen.append(is_dumpable())
        first.hello()
        seen.append(is_dumpable())
    assert [*seen, is_dumpable()] == [True, False, False, True]


def is_dumpable() -> bool:
    return bool(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))


@pytest.mark.parametrize("attribute", ["LeavesBehind", "Escapes"])
def test_what_it_leaves_behind_ends_with_it(attribute: str) -> None:
    with ChildProcess(target(attribute), LIMITS) as process:
        match = re.search(r"ValueError: (\d+)", refusal(process, attribute))
        assert match is not None
        assert is_running(int(match[1]))
    wait_for("the killed one to end", lambda: not is_running(int(match[1])))


def is_running(pid: int) -> bool:
    """An ended process may wait for its parent: it does not run."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_one_without_a_process_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", os.devnull)
    with ChildProcess(target("Good"), LIMITS) as process:
        assert refusal(process, "Good").startswith("NotStarted: no process can be started: ")


def test_it_sees_what_the_reading_knows_of_members_and_topics() -> None:
    members = [
        Member(
            "a", "i1", "client", "/10.0.0.1", "r1", subscription=("t",), assigned=(("t", (1,)),), user_data=b"\x00{"
        ),
        Member("b", subscription=("t",)),
    ]
    with own_strategies([Described(target("Tells"), "tells")], LIMITS):
        row = replay_group(group_input(members, {"t": 2}, rates=[3, 4]), ("tells",)).score("tells")
    assert row is not None
    seen = (
        [
            ("a", ("t",), "i1", "r1", "/10.0.0.1", "client", (("t", 1),), b"\x00{"),
            ("b", ("t",), None, None, None, None, (), None),
        ],
        "(TopicView(name='t', partitions=2, racks=(), weights=(3.0, 4.0)),)",
    )
    assert row.error is not None
    assert row.error.args["message"].startswith(f"ValueError: ({seen[0]!r}, {seen[1]})")


def test_a_partitioner_is_asked_each_key_once_and_its_answers_are_checked() -> None:
    with ChildProcess(target("ByFirstByte", Kind.PARTITIONER), LIMITS) as process:
        own = IsolatedPartitioner(Described(target("ByFirstByte", Kind.PARTITIONER), "by-first-byte"), process)
        keys = [b"\x0c", None, b"\x0c", b""]
        assert own.partition(sample(*keys), TopicTarget(10)).tolist() == [2, 0, 2, 0]  # 12 mod 10, no key, none
        for key, message in {
            b"beyond": "UnknownPartition: answers 10 for key b'beyond', not 0 … 9",
            b"none": "UnknownPartition: answers None, which is no whole number",
            b"float": "UnknownPartition: answers 1.0, which is no whole number",
        }.items():
            with pytest.raises(AssignorError, match=re.escape(message)):
                own.partition(sample(b"a", key), TopicTarget(10))


def sample(*keys: bytes | None) -> RecordSample:
    return RecordSample.of_keys(KeyColumn.of(keys))
