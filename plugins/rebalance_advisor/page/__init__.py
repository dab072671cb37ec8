"""The page: server-rendered HTML over the public views, without Airflow."""
