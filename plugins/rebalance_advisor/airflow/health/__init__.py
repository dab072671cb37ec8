"""What Airflow does for the advisor's own health: the file for Prometheus, failures into the store."""
