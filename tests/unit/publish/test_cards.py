from __future__ import annotations

from rebalance_advisor.publish.cards import label_cells

TABLE = (
    '<table><thead><tr><th scope="col">Topic</th><th class="n"><a href="?sort=size">Size</a></th>'
    '<th><span class="unseen">Picture</span></th></tr></thead><tbody>'
    '<tr><th scope="row">orders</th><td class="n">4 GiB</td><td><svg><text>td</text></svg></td></tr>'
    '<tr><th colspan="3">others</th></tr>'
    "<tr><th>&lt;td&gt;</th><td>unknown</td><td></td></tr></tbody></table>"
)


def test_each_cell_has_the_heading_of_its_column_and_a_picture_none() -> None:
    labelled = (
        TABLE.replace('<th scope="row"', '<th data-label="Topic" scope="row"')
        .replace("<th colspan", '<th data-label="Topic" colspan')
        .replace("<th>&lt;", '<th data-label="Topic">&lt;')
        .replace('<td class="n"', '<td data-label="Size" class="n"')
        .replace("<td>unknown", '<td data-label="Size">unknown')
    )
    assert label_cells(f"<p>a</p>{TABLE}<p>b</p>{TABLE}") == f"<p>a</p>{labelled}<p>b</p>{labelled}"


def test_a_table_without_a_head_and_a_page_without_a_table_stay_as_they_are() -> None:
    assert label_cells("<table><tr><td>1</td></tr></table>") == "<table><tr><td>1</td></tr></table>"
    assert label_cells("<p>td</p>") == "<p>td</p>"
