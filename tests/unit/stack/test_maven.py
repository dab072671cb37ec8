from pathlib import Path

import pytest

from stack.jvm import maven


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(maven, "CACHE", tmp_path / "maven")
    return tmp_path / "maven"


@pytest.mark.parametrize("wrong", ["kafka", "a:b", "a:b:1;rm -rf /", "a:b:c:d:e", ""])
def test_what_is_no_coordinate_is_refused_before_anything_is_asked(cache: Path, wrong: str):
    with pytest.raises(maven.MavenError, match="is no Maven coordinate"):
        maven.fetch([wrong])
    assert not cache.exists()


def test_without_maven_it_says_what_to_install(cache: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(maven.MavenError, match="apt-get install maven"):
        maven.fetch(["org.example:none:1"])
    assert list(cache.glob("none-*")) == []


def test_a_failed_download_leaves_no_folder_that_looks_complete(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    fake = tmp_path / "bin" / "mvn"
    fake.parent.mkdir()
    fake.write_text("#!/bin/sh\necho '[ERROR] Could not find artifact org.example:none:jar:1'\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}:/usr/bin:/bin")
    with pytest.raises(maven.MavenError, match="Could not find artifact"):
        maven.fetch(["org.example:none:1"])
    assert [path.name for path in cache.iterdir()] == [".lock"]


def test_a_silent_repository_is_asked_again(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    fake = tmp_path / "bin" / "mvn"
    fake.parent.mkdir()
    fake.write_text(
        '#!/bin/sh\ncase "$*" in *requestTimeout=20000*) ;; *) exit 9;; esac\n'
        f"echo x >> {tmp_path}/tries\n[ $(wc -l < {tmp_path}/tries) -lt 2 ] && exec sleep 60\n"
        "[ $(wc -l < " + str(tmp_path) + '/tries) -lt 3 ] && echo "[ERROR] Read timed out" && exit 1\n'
        'for a in "$@"; do case $a in -DoutputDirectory=*) d=${a#*=};; esac; done\nmkdir "$d"; touch "$d/a.jar"\n'
    )
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}:/usr/bin:/bin")
    monkeypatch.setattr(maven, "_TRY_SECONDS", 3.0)  # of a shell on a busy machine
    assert (maven.fetch(["org.example:some:1"]) / "a.jar").exists()
    assert (tmp_path / "tries").read_text().count("x") == 3


def test_a_repository_that_stays_silent_is_named_after_the_last_try(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    fake = tmp_path / "bin" / "mvn"
    fake.parent.mkdir()
    fake.write_text(f"#!/bin/sh\necho x >> {tmp_path}/tries\nexec sleep 60\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}:/usr/bin:/bin")
    monkeypatch.setattr(maven, "_TRY_SECONDS", 0.2)
    with pytest.raises(maven.MavenError, match="did not answer within"):
        maven.fetch(["org.example:some:1"])
    assert (tmp_path / "tries").read_text().count("x") == 4
    assert [path.name for path in cache.iterdir()] == [".lock"]


def test_what_is_there_is_not_fetched_again(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    fake = tmp_path / "bin" / "mvn"
    fake.parent.mkdir()
    fake.write_text(
        '#!/bin/sh\nfor a in "$@"; do case $a in -DoutputDirectory=*) d=${a#*=};; esac; done\n'
        'mkdir "$d"; touch "$d/a.jar"\n'
    )
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}:/usr/bin:/bin")
    first = maven.fetch(["org.example:some:1"])
    monkeypatch.setenv("PATH", "")
    assert maven.fetch(["org.example:some:1"]) == first
    assert maven.class_path(first) == str(first / "a.jar")


def test_another_list_has_another_folder(cache: Path):
    first = maven._folder_name(["g:a:1"], is_transitive=True)
    assert first != maven._folder_name(["g:a:1"], is_transitive=False)
    assert first != maven._folder_name(["g:a:1", "g:b:1"], is_transitive=True)


def test_an_old_java_is_refused_with_its_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\" 2019-01-15' >&2\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(maven.MavenError, match=r"is version 11, 17\+ is needed"):
        maven.find_java()
