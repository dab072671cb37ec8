"""Grafana boards over the public views, as code: ``docker/grafana/dashboards`` is made of it."""
