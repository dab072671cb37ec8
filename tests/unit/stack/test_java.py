import subprocess

import pytest

from stack.jvm import java


def fake_java(folder, version, has_module=True):
    """A ``java`` that answers -version, and refuses the module where it has none."""
    launcher = folder / "bin" / "java"
    launcher.parent.mkdir(parents=True)
    refusal = "" if has_module else 'case "$*" in *incubator*) exit 1;; esac\n'
    launcher.write_text(f"#!/bin/sh\n{refusal}echo 'openjdk version \"{version}\" 2025-01-01' >&2\n")
    launcher.chmod(0o755)
    return folder


@pytest.fixture
def nothing_installed(monkeypatch, tmp_path):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))


@pytest.mark.parametrize("version", ["17.0.15", "25.0.2", "26"])
def test_an_installed_java_that_is_new_enough_is_used(nothing_installed, monkeypatch, tmp_path, version):
    home = fake_java(tmp_path / "jdk", version)
    monkeypatch.setenv("JAVA_HOME", str(home))
    assert java.java_home(tmp_path) == home


@pytest.mark.parametrize(("version", "has_module"), [("11.0.2", True), ("1.8.0_402", True), ("21.0.1", False)])
def test_one_that_cannot_run_spark_is_passed_over(nothing_installed, monkeypatch, tmp_path, version, has_module):
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path / "jdk", version, has_module)))
    assert java.java_home(tmp_path) == tmp_path / "java"


def test_an_old_java_home_does_not_hide_a_newer_java_on_the_path(nothing_installed, monkeypatch, tmp_path):
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path / "old", "11.0.2")))
    monkeypatch.setenv("PATH", f"{fake_java(tmp_path / 'new', '21.0.1')}/bin:/bin")
    assert java.java_home(tmp_path) == tmp_path / "new"


def test_the_wheels_java_starts_with_what_spark_asks_for(tmp_path):
    home = java.wheel_java_home(tmp_path / "java")
    done = subprocess.run(
        [home / "bin" / "java", "--add-modules=jdk.incubator.vector", "-Dx=a b", "-version"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert ' version "' in done.stderr
