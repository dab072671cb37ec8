"""The compose file can work: its variables are all in .env.example, and whatever it builds, copies or mounts exists."""

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[3]
OFFICIAL = ("postgres", "python", "apache/airflow", "apache/kafka", "apache/spark", "grafana/grafana")
VARIABLE = re.compile(r"\$\{(\w+)\}")


def _environment() -> dict[str, str]:
    lines = (line.strip() for line in (ROOT / ".env.example").read_text().splitlines())
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def _compose() -> dict:
    values = _environment()
    text = (ROOT / "docker-compose.yml").read_text()
    missing = set(VARIABLE.findall(text)) - values.keys()
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
    name, _, tag = image.partition(":")
    assert name in OFFICIAL, image
    assert re.match(r"\d+\.\d", tag), f"{image} is not pinned by tag"


def test_every_part_of_the_stack_is_there() -> None:
    assert {
        "postgres",
        "airflow-apiserver",
        "airflow-scheduler",
        "airflow-dag-processor",
        "spark-master",
    } <= SERVICES.keys()
    racks = {
        service["environment"].get("KAFKA_BROKER_RACK")
        for name, service in SERVICES.items()
        if re.match(r"kafka-\d", name)
    }
    assert racks == {"rack-a", "rack-b", "rack-c"}


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_is_built_here_or_an_official_pinned_image(name: str) -> None:
    service = SERVICES[name]
    assert ("build" in service) != ("image" in service)
    if "image" in service:
        _assert_official_and_pinned(service["image"])


@pytest.mark.parametrize("name", SERVICES)
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
        for line in lines:
            if line.startswith("FROM "):
                _assert_official_and_pinned(line.split()[1])
            if line.startswith("COPY "):
                *sources, _ = [word for word in line.split()[1:] if not word.startswith("--")]
                assert all((ROOT / source).exists() for source in sources), line
