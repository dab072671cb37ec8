"""What is drawn: one Vega-Lite specification a chart, and its SVG for a page that runs no script."""
