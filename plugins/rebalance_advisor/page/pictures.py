"""Facts of the pictures, from rows of the views: which parts each has, how long, in which look, with which link.

Charts draw them (``page/charts.py``); their words are made in ``page/rendering.py``. A value that is NULL in a view
gives no part and no figure.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rebalance_advisor.page import rendering as words
from rebalance_advisor.page.charts import Cell, Grid, Look
from rebalance_advisor.page.charts import Row as GridRow

Row = Mapping[str, Any]
Band = tuple[float | None, float | None]
Link = Callable[..., str]
"""``address`` of the request: path parts, then the query."""

RESOURCES = ("disk", "in", "out", "leaders", "replicas")
FULL_SHARE = 0.85
"""Of the capacity; the view broker_disk_forecast has the same limit."""
_FAR = 1.5


def bands(resources: Sequence[Row]) -> dict[str, Band]:
    """Return the range in which the plan keeps each resource that it balances, in multiples of the share: as asked, or
    as widened. A resource that is only watched has none. ``resources``: rows of ``plan_resource``.
    """
    return {
        row["resource"]: (
            row["band_asked_low"] if row["widened_low"] is None else row["widened_low"],
            row["band_asked_high"] if row["widened_high"] is None else row["widened_high"],
        )
        for row in resources
        if row["exclusion_reason_code"] is None and row["watched_broker"] is None
    }


def look_of(times_share: float | None, capacity_share: float | None, band: Band | None) -> Look:
    """Return the look of a load: nearly full before all else, then by its allowed range; plain where none is known."""
    if capacity_share is not None and capacity_share >= FULL_SHARE:
        return Look.FULL
    if times_share is None or band is None:
        return Look.PLAIN
    low, high = band
    if high is not None and times_share > high:
        return Look.FAR_ABOVE if times_share > _FAR * high else Look.ABOVE
    return Look.BELOW if low is not None and times_share < low else Look.INSIDE


def heat_map(levels: Sequence[Row], allowed: Mapping[str, Band], link: Link) -> Grid | None:
    """Brokers by rack × resources, today and after the plan; None without a broker. ``levels``: of ``ask.heat``."""
    of_broker: dict[tuple[str, int], dict[str, Row]] = defaultdict(dict)
    for row in levels:
        of_broker[row["rack"] or "", row["broker"]][row["resource"]] = row
    if not of_broker:
        return None
    rows, last_rack = [], None
    for (rack, broker), loads in sorted(of_broker.items()):
        places = [_level_cells(broker, name, loads.get(name), allowed.get(name)) for name in RESOURCES]
        heading = "" if rack == last_rack else words.rack_words(rack)
        rows.append(
            GridRow(
                label=str(broker), places=places, words=f"broker {broker}", href=link("broker", id=broker),
                heading=heading,
            )
        )  # fmt: skip
        last_rack = rack
    return Grid(words="Load of brokers by resource, as multiples of their share", columns=RESOURCES, rows=rows)


def _level_cells(broker: int, resource: str, row: Row | None, band: Band | None) -> list[Cell]:
    """One cell for today, and one for afterwards where the plan balances the resource."""
    if row is None or row["times_share"] is None:
        return [Cell(text=None, look=Look.PLAIN, words=words.level_words(broker, resource, row))]
    said = words.level_words(broker, resource, row)
    cells = [_level_cell(row["load"], row["times_share"], row, band, said)]
    if row["load_after"] is not None:
        cells.append(_level_cell(row["load_after"], row["times_share_after"], row, band, said))
    return cells


def _level_cell(load: float, times_share: float, row: Row, band: Band | None, said: str) -> Cell:
    look = look_of(times_share, load / row["capacity"] if row["capacity"] else None, band)
    mark = "!" if look is Look.FULL else ""
    return Cell(text=f"{times_share:.2f}{mark}", look=look, words=said)
