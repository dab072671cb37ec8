"""The advisor's page: server-rendered HTML over the public views. Knows FastAPI and SQL, nothing of Airflow."""
