"""Messages to people by Airflow's providers for SMTP and Slack."""
