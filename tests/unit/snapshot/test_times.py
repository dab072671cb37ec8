from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.plans.check import check_plan
from kafka_rebalance.snapshot.codec import snapshot_from_document, snapshot_id, snapshot_to_document
from kafka_rebalance.snapshot.times import parse_time, time_text
from rebalance_advisor.dumps import read_input
from tests.sample import for_each
from tests.unit.dumps.dump_texts import write_folder
from tests.unit.plans.check.plans_to_check import planned, resealed

MOMENTS = st.datetimes(datetime(2000, 1, 2), datetime(2199, 12, 30))  # noqa: DTZ001
OFFSETS = st.integers(-23 * 60 - 59, 23 * 60 + 59)
# Forms of six o'clock in the morning, UTC, each of which one reader took and another refused before.
FORMS = [
    "2026-11-20T06:00:00Z", "2026-11-20T07:00:00+0100", "20261120T060000Z", "2026-11-20 06:00Z", "2026-11-20T06:00:00",
    "2026-11-20T06:00:00.000000000+00", "2026-11-20T11:30:00+05:30", "20261119T230000-0700", "2026-11-20T06:00:00,0Z",
]  # fmt: skip


def _forms(moment: datetime) -> list[str]:
    """How tools write one moment to the microsecond."""
    zone = moment.isoformat()[-6:]
    extended, basic = f"{moment:%Y-%m-%dT%H:%M:%S.%f}", f"{moment:%Y%m%dT%H%M%S.%f}"
    zones = [zone, zone.replace(":", ""), *(["Z"] if zone == "+00:00" else []), *([zone[:3]] * zone.endswith("00"))]
    texts = [extended, extended.replace("T", " "), extended.replace(".", ","), extended + "999", basic]
    return [text + ending for text in texts for ending in zones]


@given(MOMENTS, OFFSETS)
def test_every_form_of_a_moment_is_that_moment(naive, minutes):
    moment = naive.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    for text in _forms(moment):
        time = parse_time(text, "here", needs_zone=True)
        assert (time, time.utcoffset()) == (moment, moment.utcoffset()), text
    assert parse_time(time_text(moment), "here") == moment
    assert time_text(parse_time(time_text(moment), "here")) == time_text(moment)


@given(st.text(alphabet="0123456789-:TZ+., ", max_size=30))
def test_any_text_is_a_time_or_is_refused_with_its_place(text):
    try:
        moment = parse_time(text, "here")
    except InvalidInputError as error:
        assert str(error).startswith("here: ")  # noqa: PT017
    else:
        assert moment.tzinfo is not None
        assert parse_time(time_text(moment), "here") == moment


@for_each("text", ["", "yesterday", "2026-02-30T00:00Z", "2026-01-01T25:00Z", "2026-01-01T00:60Z", "2026-01-01",
             "2026-01-01T00:00+99:00", "2026-01-01T00:00+01:60", "2026-1120T06:00Z", "2026-11-20T0600:00Z",
             "2026-11-20T06:00:00z", "2026-11-20T06:00:00Z ", "٢٠٢٦-01-01T00:00Z", "0000-01-01T00:00Z"])  # fmt: skip
def test_what_no_clock_shows_is_refused(text):
    with pytest.raises(InvalidInputError, match=r"here: .* is no ISO 8601 time; write 2026-01-31T06:00:00Z"):
        parse_time(text, "here")


@pytest.mark.parametrize("form", FORMS)
def test_the_codec_reads_every_form_alike(form):
    document = snapshot_to_document(planned().snapshot)
    as_told = snapshot_from_document(document | {"captured_at": form})
    assert as_told.captured_at == datetime(2026, 11, 20, 6, tzinfo=UTC)
    again = snapshot_from_document(json.loads(json.dumps(snapshot_to_document(as_told))))
    assert (again.captured_at, snapshot_id(again)) == (as_told.captured_at, snapshot_id(as_told))


@pytest.mark.parametrize("form", FORMS)
def test_dumps_read_every_form_that_has_a_zone(tmp_path, form):
    folder = write_folder(tmp_path / "dumps", captured_at=f"{form}\n")
    if form == "2026-11-20T06:00:00":
        with pytest.raises(InvalidInputError, match=r"captured_at:1: .* is a time without a zone"):
            read_input(folder, cluster="prod")
    else:
        assert read_input(folder, cluster="prod").captured_at == datetime(2026, 11, 20, 6, tzinfo=UTC)


@pytest.mark.parametrize("form", FORMS)
def test_check_reads_every_form_alike(form):
    plan = planned()
    document = resealed(plan.document | {"expires_at": form})
    snapshot = snapshot_from_document(snapshot_to_document(plan.snapshot) | {"captured_at": form})
    just_after = replace(plan.snapshot, captured_at=datetime(2026, 11, 20, 6, microsecond=1, tzinfo=UTC))
    reported = {"captured_at": None}
    assert "expired" not in {code.value for code in check_plan(resealed(document | reported), snapshot).codes}
    assert "expired" in {code.value for code in check_plan(resealed(document | reported), just_after).codes}
