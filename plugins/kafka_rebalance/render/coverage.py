"""Sentences for coverage gaps and their causes, and for broken rules of a gate."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from kafka_rebalance.amounts import counted
from kafka_rebalance.facts import FactCode
from kafka_rebalance.snapshot.coverage import Right

RULE_TEXTS: Mapping[FactCode, str] = MappingProxyType(
    {
        FactCode.PARTITION_LISTED_TWICE: "a partition is listed more than once",
        FactCode.BROKER_TWICE_IN_REPLICAS: "a replica list is empty or names a broker twice",
        FactCode.REPLICA_ON_UNKNOWN_BROKER: "a replica is on a broker that is not listed",
        FactCode.REPLICA_LISTS_DISAGREE: (
            "leader, ISR or reassignment name a broker that holds no replica, or sizes do not fit the replicas"
        ),
        FactCode.ROWS_ARE_MISSING: "the snapshot announces other numbers of rows than it has",
        FactCode.LOAD_IMPOSSIBLE: "a load is negative, infinite or of an unknown partition",
        FactCode.GROUP_VANISHED: "the group was deleted while the cluster was read",
        FactCode.MEMBER_READS_UNSUBSCRIBED: "a member owns or reads a topic that it does not subscribe to",
        FactCode.PARTITION_READ_TWICE: "two members read the same partition",
        FactCode.OFFSETS_BACKWARDS: "a partition starts behind its end",
        FactCode.COMMITTED_BEYOND_END: "a group committed behind the end of a partition",
        FactCode.CLOCK_AHEAD: (
            "the snapshot is ahead of the store's clock: set the clock of the machine that read the cluster right"
        ),
        FactCode.MOVE_DISAGREES_WITH_SNAPSHOT: (
            "a move does not start where the snapshot shows its partition, or moves it twice"
        ),
        FactCode.MOVE_TO_UNFIT_BROKER: (
            "a move goes to a broker that does not stay, names one twice, or has its leader outside"
        ),
        FactCode.PLAN_DOES_NOT_ADD_UP: "the plan's cost is not the sum of its moves",
        FactCode.SCORES_DO_NOT_ADD_UP: "totals, skew or the plan's start differ from broker loads",
        FactCode.GROUP_SCORES_ARE_INCOMPLETE: (
            "a group is not scored as it is today exactly once, is unknown, or is advised though in quarantine"
        ),
        FactCode.MEMBER_SCORES_DO_NOT_ADD_UP: "a group's members read more partitions than it has, or are unknown",
        FactCode.FINDING_OF_UNKNOWN_SUBJECT: "a finding is about something that was not read",
    }
)


def _constant(text: str) -> Callable[..., str]:
    return lambda: text


GATES: Mapping[FactCode, Callable[..., str]] = MappingProxyType(
    {code: _constant(text) for code, text in RULE_TEXTS.items()}
)


RIGHT_HIDES = MappingProxyType(
    {
        Right.DESCRIBE_CLUSTER.value: "log dirs and sizes, running reassignments, and the lists of topics and groups",
        Right.DESCRIBE_TOPICS.value: "partitions, leaders and offsets of topics, and groups that read them",
        Right.DESCRIBE_GROUPS.value: "members, assignments and commits of groups",
        Right.TOPIC_CONFIGS.value: "configs of topics",
        Right.BROKER_CONFIGS.value: "configs of brokers, throttles among them, and client quotas",
        Right.GROUP_CONFIGS.value: "configs of groups of the newer types",
    }
)
_SMALLEST_SHARE = 0.005
_NAME_THE_FILE = "name the file earliest or latest, or keep the command in it"
_DUMPS = MappingProxyType(
    {
        "groups": "no kafka-consumer-groups dump in the folder, or no groups",
        "captured_at": "no captured_at in the folder",
        "log_dirs": "no kafka-log-dirs dump in the folder",
        "brokers": "no brokers.csv (id,rack,host) and no list of brokers in the folder",
        "offsets": "no kafka-get-offsets dump in the folder",
        "earliest_offsets": "no kafka-get-offsets --time earliest dump: bytes that retention deleted are unknown",
        "latest_offsets": "no kafka-get-offsets --time latest dump: only groups show end offsets",
        "group_state": "no --state dump of the group",
        "group_members": "no --members --verbose dump of the group",
        "group_offsets": "no offsets dump of the group",
    }
)
_CAUSES = MappingProxyType(
    {
        "share_group": "a share group commits no offsets",
        "commits_in_part": "a group of type {group_type} does not commit all that it reads",
        "commits_not_read": "its committed offsets were not read",
        "some_commits_not_read": "some of its offsets were not read",
    }
)


def _noun(text: str) -> Callable[..., str]:
    return lambda: text


def _lacks_right(*, right: str) -> str:
    return RIGHT_HIDES.get(right, right)


def _lacks_parts(*, parts: Sequence[str]) -> str:
    return ", ".join(parts)


def _lacks_file(*, file: str) -> str:
    return f"file {file}"


def _lacks_last_line(*, file: str) -> str:
    return f"last line of {file}"


def _lacks_configs(*, kind: str | None) -> str:
    return "configs" if kind is None else f"{kind} configs"


def _lacks_log_dir(*, path: str) -> str:
    return f"log dir {path}"


def _lacks_offsets_of(*, partitions: int) -> str:
    return f"offsets of {counted(partitions, 'partition')} that it leads"


_LOADS = MappingProxyType(
    {
        "log_bytes": "size",
        "in_bytes_per_s": "rate of writes",
        "out_bytes_per_s": "rate of reads",
        "cpu_percent": "CPU",
        "in_messages_per_s": "rate of messages",
    }
)


def describe_load(kind: str) -> str:
    return _LOADS.get(kind, kind)


def _lacks_load(*, kind: str) -> str:
    return describe_load(kind)


def _lacks_members_of(*, groups: int) -> str:
    return f"members of {counted(groups, 'group')} that it coordinates"


def _lacks_commit(*, topic: str, partition: int) -> str:
    return f"committed offset of {topic}-{partition}"


def _lacks_commits_of(*, groups: int) -> str:
    return f"committed offsets of {counted(groups, 'group')} that it coordinates"


def _lacks_lag(*, topic: str | None) -> str:
    return "lag" if topic is None else f"lag of topic {topic}"


# Replies of brokers, tools and servers.


def _as_reported(*, text: str) -> str:
    return text


def _kafka_error(*, error: str, error_code: int) -> str:
    return f"{error} ({error_code})"


def _request_failed(*, kind: str, text: str) -> str:
    return text if text == kind else f"{kind}: {text}"


def _broker_unheard(*, state: str, why: str, address: str | None) -> str:
    return f"{state} ({why})" if address is None else f"{state} ({why} at {address})"


def _no_answer_in_time(*, seconds: float, text: str | None) -> str:
    clause = f"no answer within {seconds:g} s"
    return clause if text is None else f"{clause}: {text}"


def _no_address(*, address: str) -> str:
    return f"{address} is no address"


def _host_not_resolved(*, host: str, text: str) -> str:
    return f"the host name {host!r} does not resolve ({text})"


def _right_not_held(*, right: str) -> str:
    return f"this login does not have it; {_grant(right)}"


def _right_not_told(*, right: str) -> str:
    return f"no broker said whether this login has it; {_grant(right)}"


def _grant(right: str) -> str:
    return f"to grant it: {Right(right).command}" if right in RIGHT_HIDES else "unknown right"


# Changes and odd states.


def _of_partitions(*, partitions: int, first: Sequence[int], why: str) -> str:
    more = partitions - len(first)
    return f"partition {', '.join(map(str, first))}{f' and {more:,} more' if more > 0 else ''}: {why}"


def _not_told_again(*, why: str) -> str:
    return f"no broker gave the metadata again: {why}"


def _replica_is_offline(*, broker: int) -> str:
    return f"the one on broker {broker} is offline"


def _log_dir_is_offline(*, broker: int) -> str:
    return f"a log dir of broker {broker} is offline"


def _offsets_topic_leaderless(*, topic: str, leaderless: int, partitions: int) -> str:
    has = "has" if leaderless == 1 else "have"
    return f"{leaderless} of {counted(partitions, 'partition')} of {topic} {has} no leader"


def _groups_not_listed(*, broker: int, why: str) -> str:
    return f"broker {broker} did not list the groups that it coordinates: {why}"


def _group_rebalancing(*, state: str | None) -> str:
    return "the group was rebalancing" if state is None else f"the group was rebalancing ({state})"


def _group_type_not_read(*, group_type: str) -> str:
    return f"members of {group_type} groups are not read yet"


def _topic_on_disk(*, why: str | None, is_refused: bool) -> str:
    reason = why or ("no right to describe it" if is_refused else "created or deleted during the reading")
    return f"{reason}; log dirs hold it"


def _topic_named_by_group(*, group: str, why: str | None, is_refused: bool) -> str:
    if is_refused:
        return f"group {group} names it, and there is no right to describe it, or it does not exist"
    return f"group {group} names it: {why or 'it was created during the reading'}"


def _commits_outside_log(*, commits: int, is_beyond_end: bool, offset: int, partition: str, limit: int) -> str:
    where, edge = ("beyond the end", "ends") if is_beyond_end else ("below the start", "begins")
    return f"{counted(commits, 'committed offset')} {where}, such as {offset} of {partition}, which {edge} at {limit}"


def _more_than_a_page(*, partitions: int, topic: str) -> str:
    return (
        f"more than {partitions:,} partitions are in topics that are short of in-sync replicas; read up to topic "
        f"{topic}"
    )


# Gaps of dumps.


def _not_in_reassignment(*, is_of_ids: bool) -> str:
    return "a reassignment names brokers by id only" if is_of_ids else "a reassignment holds placement only"


def _no_dump(*, of: str) -> str:
    return _DUMPS.get(of, of)


def _partitions_not_shown(*, missing: int, partitions: int) -> str:
    return (
        f"{missing:,} of the first {partitions:,} are in no group table, groups may read them or not; run kafka-topics "
        "--describe"
    )


def _partitions_not_in_dump(*, missing: int, partitions: int, first: str) -> str:
    return f"{missing:,} of {counted(partitions, 'partition')} are not in the dump: {first}, …"


def _replicas_not_in_dirs(*, replicas: int) -> str:
    return f"its log dirs do not hold {counted(replicas, 'replica')} that kafka-topics places there"


def _brokers_have_no_rack(*, brokers: Sequence[int]) -> str:
    is_one = len(brokers) == 1
    names = ", ".join(map(str, brokers))
    return f"{'broker' if is_one else 'brokers'} {names} {'has' if is_one else 'have'} no rack"


def _file_left_out(*, file: str, line: int | None, text: str) -> str:
    return f"{file} is left out: {text}" if line is None else f"{file} is left out: line {line}: {text}"


def _file_empty(*, file: str) -> str:
    return f"the tool printed nothing into {file}"


def _file_cut(*, file: str) -> str:
    return f"{file} does not end with a line break: its last line may be cut"


def _offsets_of_other_time(*, file: str) -> str:
    return f"{file} is of another time: it holds neither start nor end offsets and is left out"


def _offsets_kind_unknown(*, file: str) -> str:
    return f"{file} holds start or end offsets: nothing tells which, so it is left out; {_NAME_THE_FILE}"


def _offsets_kind_guessed(*, file: str) -> str:
    return f"{file} holds start offsets, by what the other dumps show; {_NAME_THE_FILE}"


def _offsets_misnamed(*, file: str, kind: str) -> str:
    return f"{file} holds {kind} offsets, whatever its name says: the other dump of offsets shows it"


def _offsets_undecided(*, files: Sequence[str]) -> str:
    names = " and ".join(map(str, files))
    return f"{names} share no partition and neither is named: both are left out; {_NAME_THE_FILE}"


def _end_offsets_disagree(*, higher: int, first_higher: str, lower: int, first_lower: str) -> str:
    return (
        f"the groups' rows show end offsets above the dump's for {counted(higher, 'partition')} ({first_higher}, …) "
        f"and below for {lower:,} ({first_lower}, …). Lag is computed from the dump: it is not that of the LAG column"
    )


def _end_offsets_older(*, partitions: int) -> str:
    return (
        f"commits of {counted(partitions, 'partition')} are beyond the dump of end offsets, but not beyond the end in "
        "their own rows: that dump is older"
    )


def _member_counts_differ(*, stated: int, shown: int) -> str:
    return f"--state says {stated}, the other dumps show {shown}"


def _lags_differ(*, wrong: int, rows: int, first: str, lag: int, computed: int) -> str:
    return (
        f"{wrong} of {rows} rows print another one than LOG-END-OFFSET - CURRENT-OFFSET, the offsets count; first: "
        f"{first}: LAG {lag:,}, computed {computed:,}"
    )


def _reader_not_member(*, member: str) -> str:
    return f"{member} reads in the offsets dump, but is no member any more"


def _assignments_differ(*, member: str) -> str:
    return f"member {member} differs between two dumps: the group was rebalancing"


def _assignment_not_shown(*, member: str, partitions: int) -> str:
    return f"member {member} has {counted(partitions, 'partition')}, no dump says which"


# Unknown metrics.


def _retention_not_seen(*, unseen: int, partitions: int, without_rate: int, with_lower_bound: int) -> str:
    partial = f", {with_lower_bound:,} one that is a lower bound" if with_lower_bound else ""
    return (
        f"start offsets of {unseen:,} of {counted(partitions, 'partition')} are not known in both snapshots, so bytes "
        f"that retention deleted are unknown: {without_rate:,} have no rate{partial}"
    )


def _group_reads_unseen(*, cause: str, group_type: str, unknown_partitions: int, partitions: int) -> str:
    why = _CAUSES[cause].format(group_type=group_type) if cause in _CAUSES else cause
    return f"{why}: reads of {unknown_partitions:,} of {counted(partitions, 'partition')} are unknown"


def _hours_not_measured(*, seen: int, hours: int, flattened: int, unseen_partitions: int) -> str:
    parts = []
    if seen < hours:
        parts.append(f"{seen:,} of {counted(hours, 'hour')} were measured; the others do not count")
    if flattened:
        parts.append(f"{flattened:,} of them by snapshots more than two hours apart, which flattens their peaks")
    if unseen_partitions:
        verb = "was" if unseen_partitions == 1 else "were"
        parts.append(
            f"{counted(unseen_partitions, 'partition')} {verb} in none of them: the newest snapshot gives the figure"
        )
    return "; ".join(parts)


def _no_series(*, kind: str, metrics: Sequence[str]) -> str:
    return f"{describe_load(kind)}: no series of {', '.join(map(str, metrics))}"


def _split_not_sure(*, kind: str, **shares: float | None) -> str:
    return f"{describe_load(kind)} of partitions is not sure: {describe_split(**shares)}"


def describe_split(
    *,
    exact: float | None,
    by_messages: float | None,
    by_size: float | None,
    evenly: float | None,
    elsewhere: float | None,
    spread: float | None,
) -> str:
    parts = (
        (exact, "exact"), (by_messages, "split by messages"), (by_size, "split by size"), (evenly, "split evenly"),
        (elsewhere, "counted where no leader is"),
    )  # fmt: skip
    text = ", ".join(
        f"{share:.0%} {method}" for share, method in parts if share is not None and share >= _SMALLEST_SHARE
    )
    return text if spread is None else f"{text}; splits by messages and by size differ by {spread:.0%}"


def _sources_without_broker(*, sources: int, first: str) -> str:
    return f"{counted(sources, 'source')} name no broker of this cluster ({first}): name them under [brokers]"


def _left_out_by_checks(*, rule: str) -> str:
    return f"left out: {RULE_TEXTS[FactCode(rule)] if rule in RULE_TEXTS else rule}"


_STREAMS_PARTS = {
    "settled_state": "a state in which no task moves",
    "topology": "the topology",
    "partition_counts": "partitions of the topics that it reads",
    "process_ids": "process ids of the members",
    "tasks": "tasks of the members",
    "release": "a release of the brokers that is replayed (Kafka 4.2 to 4.4)",
    "standby_replicas": "the number of standbys (streams.num.standby.replicas)",
    "application_settings": "the application's settings (too many may give today's tasks)",
    "client_release": "threads of a release that is replayed (Kafka Streams 3.2 to 4.4)",
    "rack_strategy": "rack.aware.assignment.strategy (each thread names its rack, so it may be set)",
    "tasks_at_rest": (
        "tasks as HighAvailabilityTaskAssignor leaves them at rest (a warm-up or another assignor explains them)"
    ),
    "assignor": "a task assignor that is replayed (sticky)",
    "task_offsets": "task offsets of the members (StreamsGroupDescribe 1, Kafka 4.4)",
}


def streams_parts_unknown(*, inputs: Sequence[str]) -> str:
    return f"the input lacks {'; '.join(str(_STREAMS_PARTS.get(part, part)) for part in inputs)}"


COVERAGE: Mapping[FactCode, Callable[..., str]] = MappingProxyType(
    {
        FactCode.LACKS_RIGHT: _lacks_right,
        FactCode.LACKS_PLACEMENT: _noun("partitions and replicas"),
        FactCode.LACKS_EVERYTHING: _noun("everything"),
        FactCode.LACKS_REST: _noun("the rest of the reading"),
        FactCode.LACKS_PARTS: _lacks_parts,
        FactCode.LACKS_ANSWER_FOR_CLUSTER: _noun("an answer that any broker can give"),
        FactCode.LACKS_LATER_CHANGES: _noun("changes during the reading"),
        FactCode.LACKS_TIME: _noun("time"),
        FactCode.LACKS_FILE: _lacks_file,
        FactCode.LACKS_LAST_LINE: _lacks_last_line,
        FactCode.LACKS_FENCED_BROKERS: _noun("fenced brokers and the rights of this login"),
        FactCode.LACKS_CONTROLLER: _noun("controller"),
        FactCode.LACKS_FEATURES: _noun("features"),
        FactCode.LACKS_QUOTAS: _noun("client quotas"),
        FactCode.LACKS_CONFIGS: _lacks_configs,
        FactCode.LACKS_RACKS: _noun("racks"),
        FactCode.LACKS_LIVENESS: _noun("liveness"),
        FactCode.LACKS_LOG_DIRS: _noun("log dirs"),
        FactCode.LACKS_LOG_DIR: _lacks_log_dir,
        FactCode.LACKS_SIZES: _noun("sizes"),
        FactCode.LACKS_SIZES_AND_OFFSETS: _noun("sizes and offsets"),
        FactCode.LACKS_REPLICA_SIZE: _noun("replica size"),
        FactCode.LACKS_OFFLINE_REPLICA: _noun("offline replica"),
        FactCode.LACKS_REASSIGNMENTS: _noun("running reassignments"),
        FactCode.LACKS_LEADERS: _noun("leaders and in-sync replicas"),
        FactCode.LACKS_ELIGIBLE_LEADERS: _noun("eligible leader replicas"),
        FactCode.LACKS_DESCRIPTION: _noun("description"),
        FactCode.LACKS_ALL_BUT_SIZE: _noun("everything but its size"),
        FactCode.LACKS_PARTITIONS: _noun("partitions"),
        FactCode.LACKS_OFFSETS: _noun("offsets"),
        FactCode.LACKS_OFFSETS_OF_PARTITIONS: _lacks_offsets_of,
        FactCode.LACKS_START_OFFSETS: _noun("start offsets"),
        FactCode.LACKS_END_OFFSETS: _noun("end offsets"),
        FactCode.LACKS_LOCAL_START_OFFSETS: _noun("start offset on disk"),
        FactCode.LACKS_KIND_OF_OFFSETS: _noun("kind of offsets"),
        FactCode.LACKS_RATES: _noun("rates"),
        FactCode.LACKS_LOAD: _lacks_load,
        FactCode.LACKS_METRICS: _noun("Prometheus metrics"),
        FactCode.LACKS_HOURS: _noun("every hour of the window"),
        FactCode.LACKS_GROUPS: _noun("consumer groups"),
        FactCode.LACKS_GROUPS_OF_BROKER: _noun("the list of groups that it coordinates"),
        FactCode.LACKS_GROUP: _noun("group"),
        FactCode.LACKS_GROUP_NAME: _noun("name"),
        FactCode.LACKS_GROUP_STATE: _noun("state, strategy and coordinator"),
        FactCode.LACKS_MEMBERS: _noun("members"),
        FactCode.LACKS_MEMBERS_OF_GROUPS: _lacks_members_of,
        FactCode.LACKS_IDLE_MEMBERS: _noun("members that read nothing, instance ids"),
        FactCode.LACKS_ASSIGNMENT: _noun("assignment"),
        FactCode.LACKS_SUBSCRIPTION: _noun("subscription and assignment"),
        FactCode.LACKS_COMMITS: _noun("committed offsets"),
        FactCode.LACKS_COMMIT: _lacks_commit,
        FactCode.LACKS_COMMITS_OF_GROUPS: _lacks_commits_of,
        FactCode.LACKS_LAG: _lacks_lag,
        FactCode.LACKS_ADVICE: _noun("advice"),
        FactCode.LACKS_STREAMS_REPLAY: _noun("what an instance's death or join changes"),
        FactCode.AS_REPORTED: _as_reported,
        FactCode.KAFKA_ERROR: _kafka_error,
        FactCode.REQUEST_FAILED: _request_failed,
        FactCode.BROKER_UNHEARD: _broker_unheard,
        FactCode.BROKER_IS_FENCED: _noun("is fenced"),
        FactCode.BROKER_NOT_REGISTERED: _noun("replicas are placed on it, and the cluster does not know it"),
        FactCode.BROKER_JOINED_LATE: _noun("it joined during the reading"),
        FactCode.BROKER_LEFT_EARLY: _noun("it left the cluster during the reading"),
        FactCode.NO_ANSWER_IN_TIME: _no_answer_in_time,
        FactCode.NO_CONNECTION_IN_TIME: _noun("nothing answers (time ran out)"),
        FactCode.NO_ADDRESS: _no_address,
        FactCode.HOST_NOT_RESOLVED: _host_not_resolved,
        FactCode.DEADLINE_PASSED: _noun("the time of the reading ended before this request"),
        FactCode.NO_BROKER_LEFT_TO_ASK: _noun("no broker answers"),
        FactCode.BROKERS_DO_NOT_TELL: _noun("the brokers do not report it"),
        FactCode.RIGHT_NOT_HELD: _right_not_held,
        FactCode.RIGHT_NOT_TOLD: _right_not_told,
        FactCode.OF_PARTITIONS: _of_partitions,
        FactCode.CHANGED_WHILE_READ: _noun("it changed during the reading"),
        FactCode.CHANGED_AGAIN: _noun("it changed again during the second reading"),
        FactCode.NOT_TOLD_AGAIN: _not_told_again,
        FactCode.DELETED_WHILE_READ: _noun("it was deleted during the reading, or hidden"),
        FactCode.BEING_DELETED: _noun("it is being deleted (MarkedForDeletion) and is left out"),
        FactCode.REPLICA_IS_OFFLINE: _replica_is_offline,
        FactCode.LOG_DIR_IS_OFFLINE: _log_dir_is_offline,
        FactCode.NO_LEADER: _noun("no leader"),
        FactCode.OFFSETS_TOPIC_LEADERLESS: _offsets_topic_leaderless,
        FactCode.GROUPS_NOT_LISTED: _groups_not_listed,
        FactCode.GROUP_GONE: _noun("the group vanished during the reading"),
        FactCode.GROUP_REBALANCING: _group_rebalancing,
        FactCode.GROUP_TYPE_NOT_READ: _group_type_not_read,
        FactCode.TOPIC_ON_DISK: _topic_on_disk,
        FactCode.TOPIC_NAMED_BY_GROUP: _topic_named_by_group,
        FactCode.COMMITS_OUTSIDE_LOG: _commits_outside_log,
        FactCode.MORE_THAN_A_PAGE: _more_than_a_page,
        FactCode.NOT_IN_REASSIGNMENT: _not_in_reassignment,
        FactCode.NO_DUMP: _no_dump,
        FactCode.NO_DUMP_OF_TOPICS: _noun(
            "no kafka-topics dump: run kafka-topics --describe; only partitions that a group has committed or reads "
            "are known"
        ),
        FactCode.PARTITIONS_NOT_SHOWN: _partitions_not_shown,
        FactCode.PARTITIONS_NOT_IN_DUMP: _partitions_not_in_dump,
        FactCode.REPLICAS_NOT_IN_DIRS: _replicas_not_in_dirs,
        FactCode.BROKER_NOT_IN_DUMP: _noun("the kafka-log-dirs dump does not hold this broker"),
        FactCode.TOPIC_NOT_IN_DUMP: _noun(
            "log dirs or offsets name it, kafka-topics does not: it was deleted meanwhile, or the dump was cut"
        ),
        FactCode.ZNODE_MISSING: _noun("its znode does not exist"),
        FactCode.ZNODES_WITHOUT_STATES: _noun(
            "znodes of topics name replicas only: the first replica counts as the leader, the ISR is unknown"
        ),
        FactCode.BROKER_NOT_LISTED: _noun(
            "a dump shows it alive, the list of brokers lacks it: it died or was started between the two"
        ),
        FactCode.BROKERS_HAVE_NO_RACK: _brokers_have_no_rack,
        FactCode.FILE_LEFT_OUT: _file_left_out,
        FactCode.FILE_EMPTY: _file_empty,
        FactCode.FILE_CUT: _file_cut,
        FactCode.OFFSETS_OF_OTHER_TIME: _offsets_of_other_time,
        FactCode.OFFSETS_KIND_UNKNOWN: _offsets_kind_unknown,
        FactCode.OFFSETS_KIND_GUESSED: _offsets_kind_guessed,
        FactCode.OFFSETS_MISNAMED: _offsets_misnamed,
        FactCode.OFFSETS_UNDECIDED: _offsets_undecided,
        FactCode.END_OFFSETS_DISAGREE: _end_offsets_disagree,
        FactCode.END_OFFSETS_OLDER: _end_offsets_older,
        FactCode.GROUP_NAMED_BY_FILE: _noun(
            "no dump tells the group of a table without GROUP column: the file's name counts as the group"
        ),
        FactCode.MEMBER_COUNTS_DIFFER: _member_counts_differ,
        FactCode.OWNERS_NOT_MEMBERS: _noun(
            "the old tool names owners: members of one client id and host count as one here"
        ),
        FactCode.LAGS_DIFFER: _lags_differ,
        FactCode.READER_NOT_MEMBER: _reader_not_member,
        FactCode.ASSIGNMENTS_DIFFER: _assignments_differ,
        FactCode.ASSIGNMENT_NOT_SHOWN: _assignment_not_shown,
        FactCode.RETENTION_NOT_SEEN: _retention_not_seen,
        FactCode.GROUPS_MAY_BE_HIDDEN: _noun("not all groups were listed: their reads are unknown"),
        FactCode.GROUP_READS_UNSEEN: _group_reads_unseen,
        FactCode.HOURS_NOT_MEASURED: _hours_not_measured,
        FactCode.NO_SERIES: _no_series,
        FactCode.SPLIT_NOT_SURE: _split_not_sure,
        FactCode.SOURCES_WITHOUT_BROKER: _sources_without_broker,
        FactCode.LEFT_OUT_BY_CHECKS: _left_out_by_checks,
        FactCode.STREAMS_PARTS_UNKNOWN: streams_parts_unknown,
    }
)
