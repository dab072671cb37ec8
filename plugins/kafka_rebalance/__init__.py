"""What Kafka does with replicas, leaders and consumers, and how to do it better: a pure library.

Start with ``model.py`` (a snapshot of one cluster) and ``load.py`` (what its partitions carry); then
``assignors/``, ``partitioners/``, ``coordinator/`` and ``placement/`` replay Kafka's own decisions, ``planner/`` finds
better ones, ``verify/`` checks any plan without believing the planner, ``findings/`` says it in words.

Nothing in here touches a file, a socket, a database or a clock.
"""
