"""Forged files beside a valid plan: missing, of another plan, or with other content."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from typing import Any

from tests.unit.verify.forgeries.forging import Files, first, forges, require


def change(files: Files, name: str, spoil: Callable[[Any], None]) -> None:
    """Put a JSON file through ``spoil``."""
    document = json.loads(files[name])
    spoil(document)
    files[name] = json.dumps(document).encode()


def replace_once(files: Files, name: str, old: str, new: str) -> None:
    """Other text in a file; it has to be there."""
    text = files[name].decode()
    require(old in text)
    files[name] = text.replace(old, new, 1).encode()


def a_file(files: Files, folder: str) -> str:
    """The first file of a folder."""
    return first(sorted(files), lambda name: name.startswith(f"{folder}/"))


@forges("file", of_files=True)
def wave_file_missing(files: Files) -> None:
    del files[a_file(files, "waves")]


@forges("file", of_files=True)
def rollback_file_missing(files: Files) -> None:
    del files[a_file(files, "rollback")]


@forges("file", of_files=True)
def election_file_missing(files: Files) -> None:
    del files[a_file(files, "elections")]


@forges("file", of_files=True)
def all_folders_missing_together(files: Files) -> None:
    a_file(files, "waves")
    for name in [name for name in files if "/" in name]:
        del files[name]


@forges("file", of_files=True)
def commands_missing(files: Files) -> None:
    del files["commands.md"]


@forges("file", of_files=True)
def table_missing(files: Files) -> None:
    del files["moves.csv"]


@forges("file", of_files=True)
def wave_file_too_many(files: Files) -> None:
    files["waves/99.json"] = b'{"version":1,"partitions":[]}'


@forges("file", of_files=True)
def wave_file_under_another_number(files: Files) -> None:
    name = a_file(files, "waves")
    files["waves/1.json"] = files.pop(name)


@forges("file", of_files=True)
def two_wave_files_swapped(files: Files) -> None:
    require("waves/02.json" in files)
    files["waves/01.json"], files["waves/02.json"] = files["waves/02.json"], files["waves/01.json"]


@forges("file", of_files=True)
def rollback_file_that_holds_the_wave(files: Files) -> None:
    back, wave = a_file(files, "rollback"), a_file(files, "waves")
    require(files[back] != files[wave])
    files[back] = files[wave]


@forges("file", of_files=True)
def replicas_reordered_in_a_wave_file(files: Files) -> None:
    name = a_file(files, "waves")
    require(len(json.loads(files[name])["partitions"][0]["replicas"]) > 1)
    change(files, name, lambda wave: wave["partitions"][0]["replicas"].reverse())


@forges("file", of_files=True)
def other_broker_in_a_wave_file(files: Files) -> None:
    change(files, a_file(files, "waves"), lambda wave: wave["partitions"][0]["replicas"].__setitem__(-1, 77))


@forges("file", of_files=True)
def other_topic_in_a_wave_file(files: Files) -> None:
    change(files, a_file(files, "waves"), lambda wave: wave["partitions"][0].__setitem__("topic", "other"))


@forges("file", of_files=True)
def partition_dropped_from_a_wave_file(files: Files) -> None:
    change(files, a_file(files, "waves"), lambda wave: wave["partitions"].pop())


@forges("file", of_files=True)
def partition_twice_in_a_wave_file(files: Files) -> None:
    change(files, a_file(files, "waves"), lambda wave: wave["partitions"].append(wave["partitions"][0]))


@forges("file", of_files=True)
def log_dirs_added_to_a_wave_file(files: Files) -> None:
    change(files, a_file(files, "waves"), lambda wave: wave["partitions"][0].__setitem__("log_dirs", ["/dev/null"]))


@forges("file", of_files=True)
def version_of_a_wave_file_as_a_truth(files: Files) -> None:
    change(files, a_file(files, "waves"), lambda wave: wave.__setitem__("version", True))


@forges("file", of_files=True)
def partition_of_a_wave_file_with_a_fraction(files: Files) -> None:
    change(
        files,
        a_file(files, "waves"),
        lambda wave: wave["partitions"][0].__setitem__("partition", float(wave["partitions"][0]["partition"])),
    )


@forges("file", of_files=True)
def partition_dropped_from_an_election(files: Files) -> None:
    change(files, a_file(files, "elections"), lambda election: election["partitions"].pop())


@forges("file", of_files=True)
def election_of_another_partition(files: Files) -> None:
    change(files, a_file(files, "elections"), lambda election: election["partitions"][0].__setitem__("partition", 999))


@forges("file", of_files=True)
def partition_dropped_from_a_rollback(files: Files) -> None:
    change(files, a_file(files, "rollback"), lambda wave: wave["partitions"].pop())


@forges("file", of_files=True)
def wave_file_that_is_a_list(files: Files) -> None:
    files[a_file(files, "waves")] = b"[]"


@forges("json", "file", of_files=True)
def wave_file_cut_off(files: Files) -> None:
    name = a_file(files, "waves")
    files[name] = files[name][:-10]


@forges("json", "file", of_files=True)
def wave_file_emptied(files: Files) -> None:
    files[a_file(files, "waves")] = b""


@forges("json", "file", of_files=True)
def wave_file_nested_without_end(files: Files) -> None:
    files[a_file(files, "waves")] = b"[" * 200_000


@forges("key_twice", of_files=True)
def key_twice_in_the_plan(files: Files) -> None:
    text = files["plan.json"].decode()
    files["plan.json"] = text.replace("{", '{"verdict": "nothing_to_do",', 1).encode()


@forges("key_twice", of_files=True)
def key_twice_in_a_wave_file(files: Files) -> None:
    replace_once(files, a_file(files, "waves"), '"replicas":', '"replicas":[1,2,3],"replicas":')


@forges("key_twice", of_files=True)
def key_twice_in_an_election(files: Files) -> None:
    replace_once(files, a_file(files, "elections"), "{", '{"partitions":[],')


@forges("key_twice", of_files=True)
def key_twice_in_the_findings(files: Files) -> None:
    files["findings.json"] = b'[{"severity":"critical","severity":"ok"}]'


@forges("json", of_files=True)
def not_a_number_in_the_plan(files: Files) -> None:
    files["plan.json"] = re.sub(rb'"seed": \d+', b'"seed": NaN', files["plan.json"])


@forges("file", of_files=True)
def advisory_of_another_reading(files: Files) -> None:
    files["advisory.json"] = b'{"cluster":"another","cluster_id":null,"captured_at":null}'


@forges("file", of_files=True)
def digest_of_another_plan(files: Files) -> None:
    files["digest.md"] = b"plan `000000000000`: nothing has to be done"


@forges("file", of_files=True)
def commands_of_another_plan(files: Files) -> None:
    text = files["commands.md"].decode()
    files["commands.md"] = re.sub(r"[0-9a-f]{12}", "0" * 12, text, count=1).encode()


@forges("commands", of_files=True)
def command_that_nobody_asked_for(files: Files) -> None:
    text = files["commands.md"].decode()
    files["commands.md"] = (text + "\n```sh\nkafka-topics.sh --delete --topic '.*'\n```\n").encode()


@forges("commands", of_files=True)
def command_in_an_indented_block(files: Files) -> None:
    files["commands.md"] += b"\n    kafka-topics.sh --delete --topic '.*'\n"


@forges("commands", of_files=True)
def command_appended_to_a_command(files: Files) -> None:
    replace_once(files, "commands.md", " --verify\n", " --verify; rm -rf /\n")


@forges("commands", of_files=True)
def setting_that_runs_something(files: Files) -> None:
    replace_once(files, "commands.md", "BOOTSTRAP=broker:9092", "BOOTSTRAP=$(reboot)")


@forges("commands", of_files=True)
def throttle_of_a_command_changed(files: Files) -> None:
    text = files["commands.md"].decode()
    require("--throttle " in text)
    files["commands.md"] = re.sub(r"--throttle \d+", "--throttle 999999999999", text, count=1).encode()


@forges("commands", of_files=True)
def throttle_of_a_command_dropped(files: Files) -> None:
    text = files["commands.md"].decode()
    require("--throttle " in text)
    files["commands.md"] = re.sub(r" --throttle \d+", "", text, count=1).encode()


@forges("commands", of_files=True)
def wave_dropped_from_the_commands(files: Files) -> None:
    text = files["commands.md"].decode()
    require("## Wave 01" in text)
    begin = text.index("## Wave 01")
    end = min((at for at in (text.find("## Wave 02"), text.find("# Rollback")) if at >= 0), default=len(text))
    files["commands.md"] = (text[:begin] + text[end:]).encode()


@forges("commands", of_files=True)
def commands_name_a_file_that_is_not_there(files: Files) -> None:
    replace_once(files, "commands.md", "waves/01.json", "waves/77.json")


@forges("commands", of_files=True)
def commands_execute_the_rollback_first(files: Files) -> None:
    require("rollback/01.json" in files)
    replace_once(files, "commands.md", "waves/01.json --execute", "rollback/01.json --execute")


@forges("commands", of_files=True)
def election_dropped_from_the_commands(files: Files) -> None:
    text = files["commands.md"].decode()
    require("kafka-leader-election.sh" in text)
    pattern = r"kafka-leader-election\.sh.*?elections/\d+\.json\n"
    files["commands.md"] = re.sub(pattern, "", text, count=1, flags=re.DOTALL).encode()


@forges("commands", of_files=True)
def verify_dropped_from_the_commands(files: Files) -> None:
    text = files["commands.md"].decode()
    changed = re.sub(r"kafka-reassign-partitions\.sh [^\n]*\\\n[^\n]* --verify\n", "", text, count=1)
    require(changed != text)  # a plan of elections alone has the word, but no such command
    files["commands.md"] = changed.encode()


@forges("commands", of_files=True)
def cancel_dropped_from_the_commands(files: Files) -> None:
    text = files["commands.md"].decode()
    changed = re.sub(r"kafka-reassign-partitions\.sh [^\n]*\\\n[^\n]* --cancel\n", "", text, count=1)
    require(changed != text)  # a plan of elections alone has the word, but no such command
    files["commands.md"] = changed.encode()


@forges("commands", of_files=True)
def wave_cancelled_by_the_file_of_another(files: Files) -> None:
    require("rollback/01.json" in files)
    text = files["commands.md"].decode()
    changed = re.sub(r"waves/01\.json --cancel", "rollback/01.json --cancel", text)
    require(changed != text)
    files["commands.md"] = changed.encode()


@forges("commands", of_files=True)
def throttles_of_all_topics_taken_off(files: Files) -> None:
    replace_once(files, "commands.md", "--entity-name $TOPIC", "--entity-name orders")


@forges("commands", of_files=True)
def commands_for_a_plan_that_moves_nothing(files: Files) -> None:
    require("waves/01.json" not in files)
    files["commands.md"] += b"\n```sh\nkafka-reassign-partitions.sh --execute\n```\n"


@forges("commands", "file", of_files=True)
def commands_emptied(files: Files) -> None:
    files["commands.md"] = b""


@forges("commands", of_files=True)
def commands_that_are_no_text(files: Files) -> None:
    files["commands.md"] = b"\xff\xfe"


@forges("table", of_files=True)
def row_dropped_from_the_table(files: Files) -> None:
    lines = files["moves.csv"].decode().splitlines(keepends=True)
    require(len(lines) > 1)
    files["moves.csv"] = "".join(lines[:-1]).encode()


@forges("table", of_files=True)
def row_twice_in_the_table(files: Files) -> None:
    lines = files["moves.csv"].decode().splitlines(keepends=True)
    require(len(lines) > 1)
    files["moves.csv"] = "".join([*lines, lines[-1]]).encode()


@forges("table", of_files=True)
def rows_of_the_table_in_another_order(files: Files) -> None:
    lines = files["moves.csv"].decode().splitlines(keepends=True)
    require(len(lines) > 2)
    files["moves.csv"] = "".join([lines[0], *lines[:0:-1]]).encode()


@forges("table", of_files=True)
def bytes_changed_in_the_table(files: Files) -> None:
    text = files["moves.csv"].decode()
    changed = re.sub(r"(?m)^(\d+,[^,]+,\d+,replica,[\d ]+,[\d ]+,\d*,\d+,)\d+,", r"\g<1>1,", text, count=1)
    require(changed != text)
    files["moves.csv"] = changed.encode()


@forges("table", of_files=True)
def target_changed_in_the_table(files: Files) -> None:
    text = files["moves.csv"].decode()
    changed = re.sub(r"(?m)^(\d+,[^,]+,\d+,\w+,[\d ]+,)[\d ]+,", r"\g<1>9 8 7,", text, count=1)
    require(changed != text)
    files["moves.csv"] = changed.encode()


@forges("table", of_files=True)
def wave_counted_from_nought_in_the_table(files: Files) -> None:
    text = files["moves.csv"].decode()
    changed = re.sub(r"(?m)^\d+,", "0,", text, count=1)
    require(changed != text)
    files["moves.csv"] = changed.encode()


@forges("table", of_files=True)
def reason_changed_in_the_table(files: Files) -> None:
    rows = list(csv.reader(io.StringIO(files["moves.csv"].decode())))
    require(len(rows) > 1)
    rows[1][rows[0].index("reason_code")] = "separates_racks_not"
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    files["moves.csv"] = text.getvalue().encode()


@forges("table", of_files=True)
def formula_in_the_table(files: Files) -> None:
    lines = files["moves.csv"].decode().splitlines(keepends=True)
    require(len(lines) > 1)
    cells = lines[1].split(",")
    files["moves.csv"] = "".join([lines[0], ",".join([cells[0], "=" + cells[1], *cells[2:]]), *lines[2:]]).encode()


@forges("table", of_files=True)
def column_renamed_in_the_table(files: Files) -> None:
    replace_once(files, "moves.csv", "leader_from,leader_to", "leader_to,leader_from")


@forges("table", of_files=True)
def table_emptied(files: Files) -> None:
    files["moves.csv"] = b""
