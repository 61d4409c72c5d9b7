"""Trials over the nodes of a Ray cluster: `--executor ray`.

The driver keeps all that makes a run: its order, budgets, signals, retries and its folder. A node plays single trials:
it has its own sandboxes, asks the endpoint itself, and gives the result back. Ray is imported only where it is used.
"""
