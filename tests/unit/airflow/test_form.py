"""The forms: one field for each option, with the option's default, words and schema."""

import pytest

from rebalance_advisor.request.option_table import OPTIONS, Section

pytestmark = [pytest.mark.stack, pytest.mark.usefixtures("airflow_home")]


def test_the_form_of_advise_has_each_option_with_its_default_and_section():
    from rebalance_advisor.airflow.form import advise_form

    form = advise_form()
    assert list(form) == [option.name for option in OPTIONS]
    for option in OPTIONS:
        field = form[option.name]
        assert field.value == option.default, option.name
        assert (field.schema["title"], field.description) == (option.title, option.form_words)
        assert ("section" in field.schema) == (option.section is not Section.RUN), option.name
        assert field.resolve() == option.default, "a default passes its own schema"


def test_collecting_asks_for_the_cluster_alone():
    from rebalance_advisor.airflow.form import advise_form, collect_form

    assert list(collect_form()) == ["cluster"]
    assert collect_form()["cluster"].dump() == advise_form()["cluster"].dump()


@pytest.mark.parametrize("days", [0, -1, 1.5, "90", None])
def test_history_is_kept_for_whole_days(days):
    from airflow.sdk.exceptions import ParamValidationError

    from rebalance_advisor.airflow.form import prune_form

    form = prune_form()
    assert {name: field.value for name, field in form.items()} == {"keep_snapshots_days": 90, "keep_runs_days": 400}
    for field in form.values():
        with pytest.raises(ParamValidationError):
            field.resolve(value=days)
        assert field.resolve(value=1) == 1
