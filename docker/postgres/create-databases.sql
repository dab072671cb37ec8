-- Runs once, on an empty volume: Airflow's own database, and ours beside it.
CREATE DATABASE airflow;
CREATE DATABASE advisor;
