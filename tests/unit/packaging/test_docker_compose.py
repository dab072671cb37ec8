import base64
import json
import re
import shlex
import stat
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.tags import Tag, compatible_tags, cpython_tags
from packaging.utils import parse_wheel_filename

from stack.compose.env_file import env_text, write_env
from tests.sample import for_each

ROOT = Path(__file__).parents[3]
OFFICIAL = ("postgres", "python", "apache/airflow", "apache/kafka", "apache/spark", "grafana/grafana")
VARIABLE = re.compile(r"(?<!\$)\$\{(\w+)(?P<demand>:\?[^}]+)?\}")
EXAMPLE = (ROOT / ".env.example").read_text()
ONCE = {"airflow-init"}
# The images: CPython 3.12 on Debian bookworm (glibc 2.36), without a compiler.
IMAGE_PYTHON = (3, 12)
IMAGE = {
    "sys_platform": "linux", "platform_system": "Linux", "platform_machine": "x86_64", "os_name": "posix",
    "python_version": "3.12", "python_full_version": "3.12.0",
    "implementation_name": "cpython", "platform_python_implementation": "CPython",
}  # fmt: skip
# Python alone: the source is unpacked, nothing is compiled.
PURE_SOURCES = {"pyspark"}


def _environment(text: str | None = None) -> dict[str, str]:
    lines = (line.strip() for line in (text or env_text(EXAMPLE)).splitlines())
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def _compose(values: dict[str, str] | None = None) -> dict:
    values = values or _environment()
    text = (ROOT / "docker-compose.yml").read_text()
    missing = {match[1] for match in VARIABLE.finditer(text)} - values.keys()
    assert not missing, f"not in .env.example: {missing}"
    return yaml.safe_load(VARIABLE.sub(lambda match: values[match[1]], text))


SERVICES = _compose()["services"]


def _dockerfiles() -> set[Path]:
    return {
        ROOT / service["build"]["context"] / service["build"]["dockerfile"]
        for service in SERVICES.values()
        if "build" in service
    }


def _assert_official_and_pinned(image: str) -> None:
    parts = re.fullmatch(r"(?P<name>[a-z/]+):\d+\.\d[\w.-]*(@sha256:[0-9a-f]{64})?", image)
    assert parts, f"{image} is not pinned by tag"
    assert parts["name"] in OFFICIAL, image


def test_every_part_of_the_stack_is_there() -> None:
    assert {
        "postgres",
        "airflow-apiserver",
        "airflow-scheduler",
        "airflow-dag-processor",
        "airflow-triggerer",
        "spark-master",
    } <= SERVICES.keys()
    racks = {
        service["environment"].get("KAFKA_BROKER_RACK")
        for name, service in SERVICES.items()
        if re.match(r"kafka-\d", name)
    }
    assert racks == {"rack-a", "rack-b", "rack-c"}


@for_each("name", SERVICES)
def test_a_service_is_built_here_or_an_official_pinned_image(name: str) -> None:
    service = SERVICES[name]
    assert ("build" in service) != ("image" in service)
    if "image" in service:
        _assert_official_and_pinned(service["image"])


@for_each("name", SERVICES)
def test_what_a_service_mounts_and_needs_exists(name: str) -> None:
    volumes = _compose()["volumes"]
    for mount in SERVICES[name].get("volumes", []):
        source = mount.split(":")[0]
        assert (ROOT / source).exists() if source.startswith(".") else source in volumes, mount
    for needed in SERVICES[name].get("depends_on", []):
        assert needed in SERVICES


def test_whatever_ends_is_started_again_but_what_runs_once() -> None:
    again = {name: service.get("restart") for name, service in _compose()["services"].items()}
    assert {name for name, policy in again.items() if policy != "unless-stopped"} == {"airflow-init"}
    assert again["airflow-init"] == "no"


def test_readings_are_taken_wherever_advice_is_given() -> None:
    """Airflow's own default leaves every new DAG switched off."""
    for name in ("airflow-scheduler", "airflow-dag-processor", "airflow-apiserver"):
        assert SERVICES[name]["environment"]["AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION"] == "false"


def test_dockerfiles_copy_what_exists_from_official_pinned_images() -> None:
    assert len(_dockerfiles()) == 2
    for dockerfile in _dockerfiles():
        lines = dockerfile.read_text().splitlines()
        (image,) = (line.removeprefix("ARG ") for line in lines if line.startswith("ARG "))
        name, _, shipped = image.partition("=")
        assert shipped == _environment(EXAMPLE)[name], f"{name} of {dockerfile.parent.name} and .env.example differ"
        assert [line for line in lines if line.startswith("FROM ")] == [f"FROM ${{{name}}}"]
        _assert_official_and_pinned(shipped)
        for line in lines:
            if line.startswith("COPY "):
                *sources, _ = [word for word in line.split()[1:] if not word.startswith("--")]
                assert all((ROOT / source).exists() for source in sources), line


def _image_tags() -> set[Tag]:
    old = ("manylinux2014", "manylinux2010", "manylinux1", "linux")
    platforms = [f"{name}_x86_64" for name in (*(f"manylinux_2_{minor}" for minor in range(36, 4, -1)), *old)]
    return {
        *cpython_tags(IMAGE_PYTHON, ["cp312"], platforms),
        *compatible_tags(IMAGE_PYTHON, "cp312", platforms),
    }


def _exports(dockerfile: Path) -> list[list[str]]:
    """The words of each ``uv export`` of the file, without where it writes to."""
    lines = re.findall(r"\buv export ([^\n&\\]+)", dockerfile.read_text())
    return [shlex.split(re.sub(r"--output-file \S+", "", line)) for line in lines]


def _exported(arguments: list[str]) -> list[Requirement]:
    """Packages that this export installs into an image."""
    uv = Path(sys.executable).with_name("uv")
    plain = ("--no-hashes", "--no-annotate", "--no-header", "--quiet", "--offline")
    run = subprocess.run([uv, "export", *arguments, *plain], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    asked = [Requirement(line) for line in run.stdout.splitlines()]
    return [item for item in asked if item.marker is None or item.marker.evaluate(IMAGE)]


def _wheels() -> dict[tuple[str, str], list[str]]:
    packages: list[dict[str, Any]] = tomllib.loads((ROOT / "uv.lock").read_text())["package"]
    return {
        (package["name"], package["version"]): [wheel["url"].rsplit("/", 1)[1] for wheel in package.get("wheels", [])]
        for package in packages
        if "version" in package
    }


@pytest.mark.parametrize("dockerfile", sorted(_dockerfiles()), ids=lambda path: path.parent.name)
def test_nothing_is_compiled_in_an_image(dockerfile: Path) -> None:
    """Neither has a compiler: each package that its export names has a wheel for it."""
    wheels, tags = _wheels(), _image_tags()
    (export,) = _exports(dockerfile)
    result = _exported(export)
    without = {
        item.name
        for item in result
        for version in (next(iter(item.specifier)).version,)
        if not any(parse_wheel_filename(name)[3] & tags for name in wheels[item.name, version])
    }
    assert len(result) > 20
    assert without <= PURE_SOURCES


def test_no_variable_has_a_default_and_no_secret_a_value_in_the_repository() -> None:
    text = (ROOT / "docker-compose.yml").read_text()
    assert all(match["demand"] for match in VARIABLE.finditer(text)), "every one is demanded: ${NAME:?words}"
    reported = _environment(EXAMPLE)
    assert not [name for name, value in reported.items() if value and re.search("PASSWORD|SECRET|KEY", name)]


def test_make_env_writes_secrets_of_its_own_once_for_its_owner_alone(tmp_path: Path) -> None:
    (tmp_path / ".env.example").write_text(EXAMPLE)
    target = write_env(tmp_path)
    values = _environment(target.read_text())
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    secrets = [value for name, value in values.items() if re.search("PASSWORD|SECRET|KEY", name)]
    assert len(set(secrets)) == len(secrets) >= 7
    assert min(map(len, secrets)) >= 32
    assert len(base64.urlsafe_b64decode(values["AIRFLOW_FERNET_KEY"])) == 32
    assert len(base64.urlsafe_b64decode(values["KAFKA_CLUSTER_ID"] + "==")) == 16
    assert values["AIRFLOW_UID"].isdigit()
    assert all(values.values())
    with pytest.raises(FileExistsError):
        write_env(tmp_path)
    assert _environment(target.read_text()) == values
    with pytest.raises(ValueError, match="SOMETHING_NEW has no value"):
        env_text("SOMETHING_NEW=\n")


def test_nobody_but_the_migration_has_more_rights_than_it_needs() -> None:
    """The superuser's password is known to the database's container alone, the owner's to what migrates."""
    password = _compose()["services"]["postgres"]["environment"]
    for name, service in SERVICES.items():
        message = str(service.get("environment", {}))
        assert "advisor_owner:" not in message or name in ONCE
        assert "//postgres:" not in message
        assert password["POSTGRES_USER"] != "advisor_writer"
    writer = SERVICES["airflow-scheduler"]["environment"]["AIRFLOW_CONN_ADVISOR_POSTGRES"]
    assert writer.startswith("postgresql://advisor_writer:")


@pytest.mark.parametrize("name", sorted(SERVICES.keys() - ONCE - {"spark-worker-1", "spark-worker-2"}))
def test_whatever_goes_on_is_asked_whether_it_is_well(name: str) -> None:
    check = SERVICES[name].get("healthcheck", {})
    assert check.get("test"), name


def test_an_image_is_named_in_env_alone_and_may_have_a_digest() -> None:
    names = {name for name in _environment(EXAMPLE) if name.endswith("_IMAGE")}
    pinned = {name: f"{_environment(EXAMPLE)[name]}@sha256:{number:064x}" for number, name in enumerate(sorted(names))}
    used = set()
    for name, service in _compose(_environment() | pinned)["services"].items():
        (image,) = [service["image"]] if "image" in service else service["build"]["args"].values()
        assert image in pinned.values(), name
        _assert_official_and_pinned(image)
        used.add(image)
        dockerfile = ROOT / service["build"]["dockerfile"] if "build" in service else None
        if dockerfile is not None:
            assert f"ARG {next(iter(service['build']['args']))}=" in dockerfile.read_text(), name
    assert used == set(pinned.values())


def test_no_service_has_rights_of_root_but_those_that_its_image_needs_to_start() -> None:
    added = {}
    for name, service in SERVICES.items():
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert not {"privileged", "pid", "network_mode", "devices", "userns_mode"} & service.keys(), name
        added[name] = service.get("cap_add", [])
    assert {name: rights for name, rights in added.items() if rights} == {
        "postgres": ["CHOWN", "DAC_OVERRIDE", "FOWNER", "SETGID", "SETUID"]
    }


def test_spark_asks_for_a_secret_that_no_command_line_holds_and_publishes_nothing() -> None:
    spark = [service for name, service in SERVICES.items() if name.startswith("spark-")]
    assert len(spark) == 3
    given = {service["environment"]["SPARK_AUTH_SECRET"] for service in spark}
    driver = json.loads(SERVICES["airflow-scheduler"]["environment"]["AIRFLOW_CONN_SPARK_DEFAULT"])["extra"]["conf"]
    assert given == {driver["spark.authenticate.secret"]}
    assert driver["spark.authenticate"] is driver["spark.network.crypto.enabled"] is True
    for service in spark:
        assert "ports" not in service
        assert not set(given) & set(service["command"])
    assert 'ENTRYPOINT ["bash", "/opt/advisor/start.sh"]' in (ROOT / "docker/spark/Dockerfile").read_text()


def test_what_must_outlive_a_container_lies_in_a_volume() -> None:
    kept = {name: [mount.split(":")[0] for mount in service.get("volumes", [])] for name, service in SERVICES.items()}
    for name in ("kafka-1", "kafka-2", "kafka-3", "kafka-controller", "postgres"):
        assert name in kept[name]
    assert {"published", "airflow-logs"} <= set(kept["airflow-scheduler"])
    dockerfile = (ROOT / "docker/airflow/Dockerfile").read_text()
    assert re.search(r"chmod g\+rwX .*/opt/airflow/published", dockerfile), "AIRFLOW_UID writes through group 0"


def test_the_profiles_in_the_header_are_those_of_the_services() -> None:
    header = (ROOT / "docker-compose.yml").read_text().split("name:")[0]
    profiles = {profile for service in SERVICES.values() for profile in service.get("profiles", [])}
    assert set(re.findall(r"--profile (\w+)", header)) == profiles
