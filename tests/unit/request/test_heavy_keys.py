import json

import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.advisory.advise import with_heavy_keys
from kafka_rebalance.errors import UsageError
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.findings.finding import Finding, Severity, SubjectType
from kafka_rebalance.options.values import HeavyKeyOf
from rebalance_advisor.cli.arguments import heavy_keys_in_files
from rebalance_advisor.cli.main import main
from rebalance_advisor.request.run_request import RunRequest
from stack.demo.cluster import write_demo_cluster

HOT = HeavyKeyOf("t", 3, "device-7", 0.75)


def key_finding(code: str, subject: str, **more: object) -> Finding:
    kind = SubjectType.PARTITION if code == "hot_partition" else SubjectType.GROUP
    return Finding(
        code, Severity.HIGH, kind, subject, {"partition": "t-3"}, fact(FactCode.LEARN_STRATEGY, group="g"), **more
    )  # type: ignore[arg-type]


def test_findings_of_the_sampled_partition_name_its_key_symptoms_too() -> None:
    symptom = key_finding("group_hot_partition", "g")
    cause, other = key_finding("hot_partition", "t-3", symptoms=(symptom,)), key_finding("hot_partition", "t-4")
    annotated, same = with_heavy_keys([cause, other], [HeavyKeyOf("t", 3, "rare", 0.1), HOT])
    assert annotated.recommendation.args == {"group": "g", "heaviest_key": "device-7", "heaviest_key_share": 0.75}
    assert (annotated.evidence["heaviest_key"], annotated.evidence["heaviest_key_share_ratio"]) == ("device-7", 0.75)
    assert annotated.symptoms[0].evidence["heaviest_key"] == "device-7"
    assert same is other


def test_a_sample_of_the_command_keys_is_read_and_told_by_advise(tmp_path, capsys) -> None:
    # 6 of 8 records have one key. The command counts, advise names it for the partition that it hashes to.
    lines = [{"key": key} for key in ("hot",) * 6 + ("a", "b")]
    sample = tmp_path / "s.jsonl"
    sample.write_text("\n".join(map(json.dumps, lines)))
    arguments = [
        "keys",
        str(sample),
        "--topic",
        "clickstream.raw",
        "--partitions",
        "48",
        "--out",
        str(tmp_path / "keys.json"),
    ]
    assert main([*arguments, "--show-keys"]) == 0
    (hot,) = [key for key in heavy_keys_in_files([tmp_path / "keys.json"]) if key.key == "hot"]
    assert (hot.topic, hot.share) == ("clickstream.raw", 1.0)
    request = RunRequest(heavy_keys=(hot,))
    assert RunRequest.from_mapping(json.loads(json.dumps(request.document()))) == request
    document = json.loads((tmp_path / "keys.json").read_text())
    for key in document["heavy_keys"]:
        key["partitions"] = [17]
    document["placements"][0]["records"][17] = 8
    (tmp_path / "at17.json").write_text(json.dumps(document))
    demo = write_demo_cluster(tmp_path / "demo")
    capsys.readouterr()
    arguments = ["advise", str(demo), "--out", str(tmp_path / "out"), "--no-frontier", "--scenarios", "today"]
    assert main([*arguments, "--heavy-keys", str(tmp_path / "at17.json")]) == 0
    findings = json.loads((tmp_path / "out" / "findings.json").read_text())
    (partition,) = [
        finding for finding in findings if finding["finding_key"] == "hot_partition:partition:clickstream.raw-17"
    ]
    assert partition["evidence"]["heaviest_key"] == "hot"
    assert partition["evidence"]["heaviest_key_share_ratio"] == 0.75
    groups = [symptom for symptom in partition["symptoms"] if symptom["code"] == "group_hot_partition"]
    assert [group["evidence"]["heaviest_key"] for group in groups] == ["hot"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[]", "expected an object"),
        ('{"version": 2, "topic": "t"}', "version"),
        ('{"version": 1, "topic": "t"}', "placements: are missing"),
        ('{"version": 1, "topic": "t", "placements": [{"records": ["x"]}]}', "expected a whole number"),
        ('{"version": 1, "topic": "t", "placements": [{"records": [1]}], "heavy_keys": [{"records_at_least": -1}]}',
         "records_at_least"),
    ],
)  # fmt: skip
def test_what_is_no_sample_is_refused_with_its_place(tmp_path, text: str, expected: str) -> None:
    (tmp_path / "keys.json").write_text(text)
    with pytest.raises(InvalidInputError, match=expected):
        heavy_keys_in_files([tmp_path / "keys.json"])


@pytest.mark.parametrize(
    "value",
    [
        {"topic": "t", "partition": 1, "key": "k"},
        {"topic": "", "partition": 1, "key": "k", "share": 0.5},
        {"topic": "t", "partition": True, "key": "k", "share": 0.5},
        {"topic": "t", "partition": 1, "key": "k", "share": 0},
        {"topic": "t", "partition": 1, "key": "k", "share": float("nan")},
        "t-1",
    ],
)
def test_an_object_that_cannot_be_is_refused(value: object) -> None:
    with pytest.raises(UsageError, match=r"^--heavy-keys: "):
        RunRequest.from_mapping({"heavy_keys": [value]})
