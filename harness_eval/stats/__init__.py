"""Worst, spread and why: arrays in, numbers out. Knows no other module of the package.

Names of arrays end in their dimensions: T tasks, H harnesses, R repeats, I posterior draws, C chains, B bootstrap
replicates, K contrasts or mixture clusters, P coefficients, L levels. NaN in an array of cell means is a cell without
a judged trial. A result that cannot be estimated is None.
"""
