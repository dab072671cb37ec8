"""Without ``--show-keys`` keys appear only as 64-bit hashes (personal data)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from kafka_assignors.visible_text import excerpt
from kafka_rebalance.key_tally.plan import Pairing, Placement, read_together
from kafka_rebalance.key_tally.tally import (
    HeavyKey,
    KeyScores,
    KeyTally,
    MeetingScore,
    PairScore,
    PlacementScore,
    meeting_of,
    scores_of,
)
from rebalance_advisor.key_samples.request import KeyRequest

VERSION = 1
_SHOWN_KEYS = 5


@dataclass(frozen=True, slots=True)
class KeyReport:
    topic: str
    scores: KeyScores
    other: str | None = None
    other_scores: KeyScores | None = None
    meeting: MeetingScore | None = None
    other_placement: int = 0


def report_of(request: KeyRequest, tally: KeyTally, other: KeyTally | None) -> KeyReport:
    if request.other is None or other is None:
        return KeyReport(request.topic, scores_of(tally))
    own = read_together(request.plan).second
    scores = scores_of(other, own)
    return KeyReport(request.topic, scores_of(tally), request.other.name, scores, meeting_of(tally, other), own)


def document_of(report: KeyReport) -> dict[str, Any]:
    document = {"version": VERSION, "topic": report.topic, **_scores(report.scores)}
    if report.other_scores is not None and report.meeting is not None:
        meeting = report.meeting
        document["read_with"] = {
            "topic": report.other,
            "shared_keys": round(meeting.shared_keys),
            "sampled_shared_keys": meeting.sampled_keys,
            "is_exact": meeting.is_exact,
            "shared_key_ratio_apart": meeting.key_ratio,
            **_scores(report.other_scores),
        }
    return document


def _scores(scores: KeyScores) -> dict[str, Any]:
    return {
        "records": scores.records,
        "null_key_records": scores.null_keys,
        "empty_key_records": scores.empty_keys,
        "record_bytes": scores.bytes,
        "different_keys": {
            "count": round(scores.different_keys),
            "is_exact": scores.different_is_exact,
            "standard_error_ratio": scores.different_error,
        },
        "placements": [_placement(score, scores) for score in scores.placements],
        "observed_records": list(scores.observed) or None,
        "pairs": [_pair(score) for score in scores.pairs],
        "heavy_keys": [_key(key) for key in scores.heavy],
        "heavy_keys_error": scores.frequent_error,
    }


def _placement(score: PlacementScore, scores: KeyScores) -> dict[str, Any]:
    return {
        "partitioner": score.placement.rule.partitioner,
        "partitions": score.placement.partitions,
        "records": score.load.records.tolist(),
        "record_skew": score.load.record_skew,
        "bytes": None if scores.bytes is None else score.load.bytes.tolist(),
        "byte_skew": None if scores.bytes is None else score.load.byte_skew,
        "by_lot_records": score.by_lot_records,
        "agreeing_record_ratio": score.agreeing_ratio,
    }


def _pair(score: PairScore) -> dict[str, Any]:
    first, second = score.first, score.second
    return {
        "pairing": score.pairing.value,
        "partitioners": [first.rule.partitioner, second.rule.partitioner],
        "partitions": [first.partitions, second.partitions],
        "keyed_records": score.keyed_records,
        "records_apart": score.records_apart,
        "record_ratio_apart": score.record_ratio,
        "different_key_ratio_apart": score.key_ratio,
        "examples": [_key(key) for key in score.examples],
    }


def _key(key: HeavyKey) -> dict[str, Any]:
    key_texts = {} if key.key is None else {"key_hex": key.key.hex(), "key_text": key.key.decode("utf-8", "replace")}
    return {
        "identity": key.identity,
        **key_texts,
        "key_bytes": key.key_bytes,
        "records_at_least": key.records_at_least,
        "records_at_most": key.records_at_most,
        "partitions": [None if partition < 0 else partition for partition in key.partitions],
    }


def lines_of(report: KeyReport) -> Iterator[str]:
    yield from _topic_lines(report.topic, report.scores, report.scores.placements)
    for score in report.scores.pairs:
        yield f"  {_describe_pair(score, report.other)}"
    if report.other is not None and report.other_scores is not None and report.meeting is not None:
        meeting = report.meeting
        about = "" if meeting.is_exact else "about "
        yield (
            f"  {about}{meeting.shared_keys:,.0f} keys are in both topics; "
            f"{meeting.key_ratio:.1%} of them lie in other partitions of {report.other}"
        )
        own = report.other_scores.placements[report.other_placement]
        yield from _topic_lines(report.other, report.other_scores, [own])
    if report.scores.heavy:
        yield f"  heaviest keys (records, at most {report.scores.frequent_error:,} more):"
    for key in report.scores.heavy[:_SHOWN_KEYS]:
        yield f"    {_describe_key(key, report.scores.records)}"


def _topic_lines(topic: str, scores: KeyScores, placements: Sequence[PlacementScore]) -> Iterator[str]:
    about = "" if scores.different_is_exact else "about "
    within = "" if scores.different_is_exact else f" (standard error {scores.different_error:.1%})"
    yield (
        f"{topic}: {scores.records:,} records, {scores.null_keys:,} without key, {scores.empty_keys:,} with an empty "
        f"one, {about}{scores.different_keys:,.0f} different keys{within}"
    )
    for score in placements:
        load = score.load
        keyed = int(load.records.sum())
        if not keyed:
            yield f"  {_describe_placement(score.placement)}: no record goes by its key"
            continue
        fullest = int(load.records.argmax())
        by_bytes = "" if scores.bytes is None else f", by bytes {load.byte_skew:.2f} times"
        agreeing = "" if score.agreeing_ratio is None else f"; {score.agreeing_ratio:.1%} of the records lie there"
        yield (
            f"  {_describe_placement(score.placement)}: partition {fullest} has {load.records[fullest] / keyed:.1%} of "
            f"the keyed records, {load.record_skew:.2f} times the mean{by_bytes}{agreeing}"
        )


def _describe_placement(placement: Placement) -> str:
    return f"{placement.rule.partitioner}, {placement.partitions} partitions"


def _describe_pair(score: PairScore, other_topic: str | None) -> str:
    apart = f"{score.record_ratio:.1%} of the records and {score.key_ratio:.1%} of the different keys"
    match score.pairing:
        case Pairing.GROWN:
            return f"{score.second.partitions} partitions in place of {score.first.partitions}: {apart} go elsewhere"
        case Pairing.OTHER_CLIENT:
            return f"{score.second.rule.partitioner} beside {score.first.rule.partitioner}: they disagree on {apart}"
        case Pairing.READ_TOGETHER:
            return (
                f"read with {other_topic} ({_describe_placement(score.second)}): {apart} have another partition there"
            )


def _describe_key(key: HeavyKey, records: int) -> str:
    partition = "by lot" if key.partitions[0] < 0 else f"partition {key.partitions[0]}"
    name = key.identity if key.key is None else f"{excerpt(key.key)} ({key.identity})"
    return f"{key.records_at_least:>12,}  {key.records_at_least / records:6.1%}  {partition}  {name}"
