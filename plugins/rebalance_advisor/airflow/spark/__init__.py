"""Our Spark jobs as tasks of Airflow: spark-submit, where a connection says.

Not by Airflow's Spark provider: it asks for ``pyspark-client``, which writes other files into the folder of the full
``pyspark`` that spark-submit comes from, and whichever pip installs last wins; and it hands a job's environment to
drivers elsewhere as ``--conf``, a password among them.
"""
