"""A cluster of canned answers for the readers' tests, and the rows of which answers are made."""

from types import SimpleNamespace as Answer
from uuid import UUID

from kafka.errors import IncompatibleBrokerVersion
from kafka.protocol.metadata import ApiVersionsRequest

from kafka_rebalance.snapshot.coverage import RIGHT, Right, missing_rights
from rebalance_advisor.kafka.coverage import Coverage
from rebalance_advisor.kafka.request_sender import RequestSender


class Cluster:
    """Answers by (broker, request class): a value, an exception, or a list of them used up in turn.

    A broker with any answer is alive and refuses other requests; one without is silent.
    """

    def __init__(self, answers: dict, versions: dict | None = None) -> None:
        self.answers = answers
        self.versions = versions or {}
        self.asked: list[tuple[int, object]] = []
        self.pauses: list[float] = []
        self.now = 0.0

    def send(self, requests: dict, seconds: float) -> dict:
        return {key: self._one(broker, request) for key, (broker, request) in requests.items()}

    def _one(self, broker: int, request: object) -> object:
        self.asked.append((broker, request))
        nothing: object = TimeoutError("no answer")
        if any(known == broker for known, _ in self.answers):
            nothing = Answer() if isinstance(request, ApiVersionsRequest) else IncompatibleBrokerVersion("unknown")
        answer = self.answers.get((broker, type(request)), nothing)
        if isinstance(answer, list):
            answer = answer.pop(0) if len(answer) > 1 else answer[0]
        return answer(request) if callable(answer) else answer

    def version_of(self, request: type) -> int:
        return self.versions.get(request, 99)

    def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds

    def sender(self, *brokers: int, deadline: float = 60.0) -> RequestSender:
        return RequestSender(self, brokers, deadline, 5.0, clock=lambda: self.now, sleep=self.pause)

    def count(self, request: type) -> int:
        return sum(isinstance(sent, request) for _, sent in self.asked)


SILENT = "broker_unheard(state='silent', why=no_answer_in_time(seconds=5.0, text=None), address=None)"


def error(name: str, code: int) -> str:
    """Return the reason of a gap that is an error code of Kafka, as ``gap_texts`` has it."""
    return f"kafka_error(error={name!r}, error_code={code})"


def gap_texts(coverage: Coverage) -> list[str]:
    """Codes and arguments of all gaps but missing rights."""
    return [
        f"{gap.subject_type} {gap.subject}: {gap.what}: {gap.reason}"
        for gap in coverage.gaps
        if gap.subject_type != RIGHT
    ]


def rights(coverage: Coverage) -> tuple[Right, ...]:
    return missing_rights(coverage.gaps)


def partition(
    index: int, leader: int, replicas: list[int], isr: list[int] | None = None, offline: list[int] | None = None
):
    return Answer(
        partition_index=index, leader_id=leader, replica_nodes=replicas, isr_nodes=replicas if isr is None else isr,
        offline_replicas=offline or [],
    )  # fmt: skip


def metadata(*topics: tuple[str, list], errors: tuple = ()) -> Answer:
    rows = [
        Answer(name=name, error_code=0, topic_id=UUID(int=5), is_internal=False, partitions=partitions)
        for name, partitions in topics
    ]
    rows += [
        Answer(name=name, error_code=code, topic_id=None, is_internal=False, partitions=[]) for name, code in errors
    ]
    brokers = [Answer(node_id=i, host=f"b{i}", port=9092, rack="r") for i in (1, 2)]
    return Answer(brokers=brokers, topics=rows, cluster_id="id", controller_id=1, error_code=0)


def listing(*groups: tuple[str, str, str]) -> Answer:
    rows = [
        Answer(group_id=name, protocol_type="consumer", group_state=state, group_type=kind)
        for name, kind, state in groups
    ]
    return Answer(error_code=0, groups=rows)


def described(name: str, members: list, state: str = "Stable", error: int = 0) -> Answer:
    return Answer(
        group_id=name,
        error_code=error,
        group_state=state,
        protocol_type="consumer",
        protocol_data="range",
        members=members,
    )


def member(name: str, metadata_bytes: bytes = b"", assignment: bytes = b"") -> Answer:
    return Answer(
        member_id=name, group_instance_id=None, client_id="c", client_host="/h", member_metadata=metadata_bytes,
        member_assignment=assignment,
    )  # fmt: skip
