"""The forms: one field for each option, with the option's default, words and schema."""

import pytest

from rebalance_advisor.airflow.clusters import ClusterEntry
from rebalance_advisor.request.run_request import OPTIONS, RunRequest
from tests.sample import for_each
from tests.unit.request.option_sets import OPTION_SETS

pytestmark = [pytest.mark.stack, pytest.mark.usefixtures("airflow_home")]


@pytest.fixture(autouse=True)
def publish_dir(tmp_path, monkeypatch):
    monkeypatch.setenv("ADVISOR_PUBLISH_DIR", str(tmp_path))


def test_the_form_of_advise_has_each_option_but_its_cluster_with_its_default_and_section():
    from rebalance_advisor.airflow.cluster_dags import advise_form

    form = advise_form(ClusterEntry("orders", connection="c"))
    assert list(form) == [option.name for option in OPTIONS if option.name != "cluster"]
    for option in OPTIONS[1:]:
        field = form[option.name]
        assert field.value == option.default, option.name
        assert (field.schema["title"], field.description) == (option.title, option.form_words)
        assert ("section" in field.schema) == (option.section != RunRequest.section), option.name
        assert field.resolve() == option.default, "a default passes its own schema"


@for_each("name", OPTION_SETS)
def test_the_options_of_a_clusters_table_are_defaults_that_pass_the_forms_own_schema(name):
    from rebalance_advisor.airflow.cluster_dags import advise_form

    request = RunRequest.from_mapping(OPTION_SETS[name][1])
    options = {key: value for key, value in request.document().items() if value is not None and key != "cluster"}
    form = advise_form(ClusterEntry("orders", connection="c", options=options))
    assert RunRequest.from_mapping({key: field.resolve() for key, field in form.items()}) == request


@pytest.mark.parametrize("days", [0, -1, 1.5, "90", None])
def test_history_is_kept_for_whole_days(days):
    from airflow.sdk.exceptions import ParamValidationError

    from rebalance_advisor.airflow.cluster_dags import prune_form

    form = prune_form()
    assert {name: field.value for name, field in form.items()} == {
        "keep_whole_days": 7, "keep_snapshots_days": 90, "keep_runs_days": 400
    }  # fmt: skip
    for field in form.values():
        with pytest.raises(ParamValidationError):
            field.resolve(value=days)
        assert field.resolve(value=1) == 1
