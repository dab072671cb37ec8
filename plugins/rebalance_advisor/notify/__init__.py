"""Who is told what, and in which words; sending is Airflow's part."""
