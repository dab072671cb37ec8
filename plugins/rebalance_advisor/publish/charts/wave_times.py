"""Waves on a time line: when each begins and ends if they run one after the other at the throttle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kafka_rebalance.amounts import bytes_in_words
from rebalance_advisor.publish.charts.drawing import Specification, data_of, look
from rebalance_advisor.publish.charts.palette import light

Document = Mapping[str, Any]
_WIDTH, _STEP, _HOUR = 560, 20, 3600.0


def wave_times_chart(waves: Sequence[Document]) -> Specification | None:
    """Vega-Lite, None where no wave takes any time or one's time is unknown."""
    if any(wave["seconds"] is None for wave in waves) or not any(wave["seconds"] for wave in waves):
        return None
    import altair as alt

    total = sum(wave["seconds"] for wave in waves)
    unit, name = (60.0, "minutes") if total < 2 * _HOUR else (_HOUR, "hours")
    rows, start = [], 0.0
    for number, wave in enumerate(waves, start=1):
        end = start + wave["seconds"] / unit
        what = f"{len(wave['moves']):,} partitions, {bytes_in_words(wave['bytes'])}"
        rows.append({"wave": f"{number:02d}", "start": start, "end": end, "words": what})
        start = end
    up = alt.Y("wave:O", title="wave", axis=alt.Axis(grid=False))
    base = alt.Chart(data_of(rows))
    span = alt.Scale(domain=[0, start * 1.35], nice=False)
    bars = base.mark_bar(color=light("after"), height=11).encode(
        x=alt.X("start:Q", title=f"{name} from the start", scale=span), x2="end:Q", y=up
    )
    words = base.mark_text(align="left", dx=6, color=light("quiet")).encode(
        x=alt.X("end:Q", scale=span), y=up, text="words:N"
    )
    chart = alt.layer(bars, words).properties(width=_WIDTH, height=alt.Step(_STEP))
    return dict(chart.to_dict(validate=False)) | {"config": look()}
