"""kafka-go's own balancers and ours answer the same fresh groups the same way: by hand, with Go and its module proxy.

``CONFORMANCE_CASES`` sets how many a balancer (2000), ``CONFORMANCE_SEED`` which ones. kafka-go walks Go's maps, whose
order is random, so that each case is run 200 times: each topic's assignment is among those that were seen, and where
ours says that it never varies, it is the only one.
"""

import json
import os
import subprocess
from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from kafka_assignors.recorded_cases.cases import answer
from tests.live.go_programs import built_go

RUNS = 200
CASES = int(os.environ.get("CONFORMANCE_CASES", "2000"))
SEED = int(os.environ.get("CONFORMANCE_SEED", "1"))
FAMILIES = ("client_range", "client_roundrobin", "client_rack_affinity")

Case = dict[str, Any]


def fresh_cases(family: str, reached: Counter[str]) -> Iterator[Case]:
    for i in range(CASES):
        random = Random(f"kafka-go-{family}-{SEED}-{i}")
        racks = ["az1", "az2", "az3", "\U0001f600", ""][: random.randint(1, 5)]
        topics = [
            {"topic": f"t{number}", "n": count, "leaderRacks": random.choices(racks, k=count)}
            for number in random.sample(range(20), random.randint(1, 5))
            for count in (random.choice((0, 1, 2, 5, 7, 12, 30)),)
        ]
        names = [topic["topic"] for topic in topics]
        prefixes = ("kafka-go-", "svc-\U0001f600", "svc-\uff01", "")
        members = []
        for number in random.sample(range(40), random.choice((1, 2, 3, 5, 8, 20))):
            listed = random.sample(names, random.randint(0, len(names)))
            if listed and random.random() < 0.05:
                listed.append(listed[0])
                reached["a topic listed twice"] += 1
            members.append({"id": f"{random.choice(prefixes)}{number}", "topics": listed})
            if random.random() < 0.8:
                members[-1]["rack"] = random.choice([*racks, "elsewhere"])
        asked = {"client": "kafka-go", "version": "0.4.51", "order": "given", "topics": topics, "members": members}
        yield {"id": f"{family}-{i}", "strategy": family, "input": asked}


@pytest.mark.matrix
@pytest.mark.parametrize("family", FAMILIES)
def test_kafka_gos_own_balancer_answers_fresh_groups_as_we_do(family: str, capsys: pytest.CaptureFixture[str]) -> None:
    reached: Counter[str] = Counter()
    cases = list(fresh_cases(family, reached))
    runs = RUNS if family == "client_rack_affinity" else 2
    lines = "".join(json.dumps(case) + "\n" for case in cases)
    command = [built_go() / "balancers", str(runs)]
    completed = subprocess.run(command, input=lines, capture_output=True, text=True, check=True).stdout
    wrong = []
    for case, line in zip(cases, completed.splitlines(), strict=True):
        output, seen = answer(case)["output"], json.loads(line)["seen"]
        varies = output.get("varies", False)
        reached["varying"] += varies
        reached["that never vary"] += not varies
        for topic, assignments in seen.items():
            listed = {
                member: sorted(numbers)
                for member, runs_of in output["assignment"].items()
                for name, numbers in runs_of
                if name == topic and len(numbers)
            }
            sorted_ones = [
                {member: sorted(numbers) for member, numbers in assignment.items()} for assignment in assignments
            ]
            reached["topics"] += 1
            reached["topics seen in several ways"] += len(sorted_ones) > 1
            is_only = all(item == listed for item in sorted_ones)
            if not (is_only if not varies else listed in sorted_ones):
                wrong.append((case["id"], topic))
    with capsys.disabled():
        print(f"\n{family} of kafka-go: {CASES} cases, seed {SEED}, {len(wrong)} differences; reached {dict(reached)}")
    assert not wrong
