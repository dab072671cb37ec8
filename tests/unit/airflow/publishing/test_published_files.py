from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from kafka_rebalance.errors import UsageError
from rebalance_advisor.airflow.publishing import FolderFiles, FolderTarget, ObjectFiles, ObjectStoreTarget
from rebalance_advisor.publish.folders import MARKER, check_folder, read_marker, replace_folder
from rebalance_advisor.publish.object_store import ObjectStoreError
from tests.object_storage import objects, publish_url, s3_connection

__all__ = ["objects", "publish_url", "s3_connection"]
pytestmark = pytest.mark.stack
FILES = {"plan.json": b"{}", "waves/01.json": b"[]"}


def test_a_folder_and_a_store_answer_alike(objects, tmp_path: Path) -> None:
    for target in (FolderTarget(tmp_path / "prod" / "run", "run"), ObjectStoreTarget(objects, "prod", "run")):
        assert target.find("p") is None
        assert "the files are gone" in target.show_as_latest("p")
        files = target.write(FILES, "p")
        assert target.find("p") == files
        assert (target.find("other"), target.show_as_latest("p")) == (None, None)
        files.replace({"outcome.json": b"1"})
        files.replace({"outcome.json": b"2"})
        assert {"outcome.json", *FILES} < set(files.names()), "and the marker, or the manifest"
        assert [files.read(name) for name in ("outcome.json", "waves/01.json")] == [b"2", b"[]"]
        assert target.find("p") == files


def test_another_run_replaces_no_file_of_a_folder_whose_marker_names_a_run(tmp_path: Path) -> None:
    FolderTarget(tmp_path / "run", "approved").write(FILES, "p")
    for run_id, plan_id in (("other", "q"), ("other", "p"), ("", "q")):
        with pytest.raises(UsageError, match=r"holds an advisory of run 'approved'; move it away"):
            FolderTarget(tmp_path / "run", run_id).write({"plan.json": b"other"}, plan_id)
        assert FolderTarget(tmp_path / "run", run_id).find("p") is None
    for attempt in (check_folder, lambda folder: replace_folder(folder, FILES, "q")):
        with pytest.raises(UsageError, match="of run 'approved'"):
            attempt(tmp_path / "run")
    assert FolderTarget(tmp_path / "run", "approved").find("p").read("plan.json") == FILES["plan.json"]
    FolderTarget(tmp_path / "run", "approved").write({"plan.json": b"[]"}, "q")
    assert FolderTarget(tmp_path / "run", "approved").find("q").names() == [MARKER, "plan.json"]


def test_a_folder_that_a_shell_wrote_is_no_runs(tmp_path: Path) -> None:
    replace_folder(tmp_path / "run", FILES, "p")
    for plan_id in ("p", "q"):
        with pytest.raises(UsageError, match="holds an advisory of no run; move it away"):
            FolderTarget(tmp_path / "run", "r").write(FILES, plan_id)
        assert FolderTarget(tmp_path / "run", "r").find(plan_id) is None
    assert read_marker(tmp_path / "run").run_id is None


def test_another_runs_objects_are_not_found(objects) -> None:
    ObjectStoreTarget(objects, "prod", "run").write(FILES, "p")
    key = next(key for key in objects.list("") if key.endswith("manifest.json"))
    objects.put(key, objects.read(key).replace(b'"run_id": "run"', b'"run_id": "other"'))
    assert ObjectStoreTarget(objects, "prod", "run").find("p") is None


def test_a_file_that_is_gone_is_told_with_its_address(objects, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=str(tmp_path)):
        FolderFiles(tmp_path).read("plan.json")
    with pytest.raises(ObjectStoreError, match=r"s3://bucket-.*/published/here/a/plan.json: is not there"):
        ObjectFiles(objects, "a").read("plan.json")


def test_a_link_in_the_way_is_told_and_stays(tmp_path: Path) -> None:
    target = FolderTarget(tmp_path / "prod" / "run", "run")
    target.write(FILES, "p")
    (tmp_path / "prod" / "latest").mkdir()
    assert target.show_as_latest("p") == f"{tmp_path / 'prod' / 'latest'} is no link and stays as it is"


def test_the_way_there_is_what_a_shell_takes(objects) -> None:
    class Odd:
        def address(self, key: str) -> str:
            return f"s3://bucket/it's; touch owned/{key}"

    fetch, go = ObjectFiles(Odd(), "run").way_there.splitlines()
    shown = subprocess.run(["sh", "-c", f"aws() {{ printf '%s|' \"$@\"; }}; {fetch}"], capture_output=True, check=True)
    assert shown.stdout.decode() == "s3|cp|--recursive|s3://bucket/it's; touch owned/run|plan|"
    assert go == "cd plan"
    assert ObjectFiles(objects, "run").way_there.startswith("aws s3 cp --recursive s3://bucket-")
