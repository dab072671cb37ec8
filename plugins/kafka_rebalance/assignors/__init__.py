"""Who reads what: every strategy of the field, one file each, behind one contract.

Start with ``contract.py`` (the input and output of a strategy) and ``registry.py`` (which there are, for which
versions). ``custom/custom_assignor.py`` is the easy way to bring one's own.
"""
