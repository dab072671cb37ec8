"""Key → partition for each client and version. Start with ``contract.py`` and ``registry.py``."""
