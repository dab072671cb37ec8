"""A running cluster → ``ClusterSnapshot``, read-only.

``settings.py`` understands client properties, ``probe.py`` names what is wrong with a connection, ``client.py`` is the
one file that knows kafka-python's insides, ``read_cluster.py`` requests everything and puts it together. Nothing is
written, and what could not be read is coverage, never a smaller cluster.
"""
