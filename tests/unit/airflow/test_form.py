"""The forms: a goal, the options that goals need, and one field for all others."""

import pytest

from kafka_rebalance.errors import UsageError
from rebalance_advisor.airflow.clusters import ClusterEntry
from rebalance_advisor.request.goals import FORM_OPTIONS, GOALS, options_of_form
from rebalance_advisor.request.run_request import OPTIONS, RunRequest
from tests.sample import for_each
from tests.unit.request.option_sets import OPTION_SETS

pytestmark = [pytest.mark.stack, pytest.mark.usefixtures("airflow_home")]


@pytest.fixture(autouse=True)
def publish_dir(tmp_path, monkeypatch):
    monkeypatch.setenv("ADVISOR_PUBLISH_DIR", str(tmp_path))


def form_of(options=None):
    from rebalance_advisor.airflow.cluster_dags import advise_form

    return advise_form(ClusterEntry("orders", connection="c", options=options or {}))


def test_the_form_of_advise_has_a_goal_the_options_that_it_needs_and_one_field_for_all_others():
    form = form_of()
    assert list(form) == ["goal", *FORM_OPTIONS, "more"]
    assert set(form["goal"].schema["values_display"]) == set(GOALS)
    for option in OPTIONS:
        if option.name in FORM_OPTIONS:
            field = form[option.name]
            assert (field.schema["title"], field.description) == (option.title, option.form_help)
            assert field.resolve() == field.value == option.default, "a default passes its own schema"
    shown = {key: field.resolve() for key, field in form.items()}
    assert RunRequest.from_mapping(options_of_form(shown, {})) == RunRequest()


@for_each("name", OPTION_SETS)
def test_the_options_of_a_clusters_table_are_defaults_that_pass_the_forms_own_schema(name):
    request = RunRequest.from_mapping(OPTION_SETS[name][1])
    options = {key: value for key, value in request.document().items() if value is not None and key != "cluster"}
    shown = {key: field.resolve() for key, field in form_of(options).items()}
    assert RunRequest.from_mapping(options_of_form(shown, options)) == request


@for_each("name", OPTION_SETS)
def test_a_form_asks_what_a_rest_call_asks_that_names_each_option(name):
    """Options without a field of their own are in ``more``; an empty field takes back what the table says."""
    asked = OPTION_SETS[name][1]
    of_fields = {key: value for key, value in asked.items() if key in FORM_OPTIONS}
    rest = {key: value for key, value in asked.items() if key not in FORM_OPTIONS}
    table = {"throttle": "1MiB", "max_hours": 9, "exclude_topic": ["x"]}
    shown = {key: field.value for key, field in form_of().items()} | of_fields | {"more": rest}
    assert RunRequest.from_mapping(options_of_form(shown, table)) == RunRequest.from_mapping(asked)
    assert RunRequest.from_mapping(options_of_form(asked, {})) == RunRequest.from_mapping(asked)


@pytest.mark.parametrize(
    ("asked", "options"),
    [
        ({"goal": "relieve", "max_hours": 6}, {"at": "relieve", "max_hours": 6}),
        ({"goal": "even_out"}, {"balance_within": 0.1}),
        ({"goal": "even_out", "balance_within": "5%"}, {"balance_within": 0.05}),
        ({"goal": "drain_broker", "remove_broker": ["3"]}, {"remove_broker": [3]}),
        ({"goal": "add_broker", "add_broker": ["7:rack-1"]}, {"add_broker": ["7:rack-1"]}),
        ({"goal": "leaders_only", "more": {"seed": 3}}, {"leaders_only": True, "seed": 3}),
        ({"goal": None, "more": None}, {}),
    ],
)
def test_a_goal_gives_its_options(asked, options):
    assert RunRequest.from_mapping(options_of_form(asked, {})) == RunRequest.from_mapping(options)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"goal": "even"}, "goal: 'even' is no goal; did you mean even_out"),
        ({"goal": ["relieve"]}, "is no goal"),
        ({"goal": "drain_broker", "remove_broker": []}, "goal: drain_broker needs remove_broker; name the brokers"),
        ({"goal": "relieve", "remove_broker": ["1"]}, "goal: relieve takes no remove_broker"),
        ({"goal": "leaders_only", "more": {"leaders_only": False}}, "goal: leaders_only gives leaders_only itself"),
        ({"more": {"max_hours": 3}}, "more.'max_hours': has a field of its own"),
        ({"more": {"seed": 3}, "seed": 4}, "more.'seed': has a field of its own"),
        ({"more": [1]}, "more: .* is no object"),
    ],
)
def test_a_goal_that_cannot_be_is_refused_in_words(asked, message):
    with pytest.raises(UsageError, match=message):
        options_of_form(asked, {})


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
