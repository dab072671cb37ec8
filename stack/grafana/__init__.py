"""Grafana boards over the public views, as code: source of ``docker/grafana/dashboards``."""
