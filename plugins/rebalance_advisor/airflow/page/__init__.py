"""The advisor's page inside Airflow: where it hangs, who may see it, which database it reads."""
